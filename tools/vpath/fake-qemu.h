/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A QEMU of a few lines, for tests of plugins: they say what it translates, and call what the
 * plugin has registered. To be included behind the plugin.
 */
#ifndef _TOOLS_VPATH_FAKE_QEMU_H
#define _TOOLS_VPATH_FAKE_QEMU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "qemu-plugin-api.h"

struct qemu_plugin_insn {
	uint8_t bytes[16];
	size_t size;
	uint64_t vaddr;
	qemu_plugin_mem_cb mem;
	qemu_plugin_exec_cb exec;
	void *data, *exec_data;
	qemu_plugin_mem_cb then;	/* the second one for its accesses */
	void *then_data;
};

struct qemu_plugin_tb {
	uint64_t vaddr;
	size_t n;
	struct qemu_plugin_insn insns[4];
	qemu_plugin_exec_cb exec;
	void *data;
};

/* Virtual addresses are physical ones, but what lies from here on is I/O */
#define IO	0x3f000000ULL

struct qemu_plugin_hwaddr {
	uint64_t address;
};

static qemu_plugin_tb_cb translate;
static qemu_plugin_exit_cb at_exit;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_cb cb)
{
	(void)id;
	translate = cb;
}

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_exit_cb cb, void *data)
{
	(void)id;
	(void)data;
	at_exit = cb;
}

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_exec_cb cb,
					  enum qemu_plugin_cb_flags flags, void *data)
{
	assert_int_equal(flags, QEMU_PLUGIN_CB_NO_REGS);
	tb->exec = cb;
	tb->data = data;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_cb cb,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *data)
{
	assert_int_equal(flags, QEMU_PLUGIN_CB_NO_REGS);
	assert_int_equal(rw, QEMU_PLUGIN_MEM_RW);
	if (insn->mem) {
		insn->then = cb;
		insn->then_data = data;
		return;
	}
	insn->mem = cb;
	insn->data = data;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_exec_cb cb,
					    enum qemu_plugin_cb_flags flags, void *data)
{
	assert_int_equal(flags, QEMU_PLUGIN_CB_NO_REGS);
	insn->exec = cb;
	insn->exec_data = data;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	return tb->n;
}

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb)
{
	return tb->vaddr;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i)
{
	return (struct qemu_plugin_insn *)&tb->insns[i];
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return insn->size;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->vaddr;
}

void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn)
{
	(void)insn;
	return NULL;
}

#if QEMU_API >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t len)
{
	memcpy(to, insn->bytes, len);
	return len;
}
#else
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn)
{
	return insn->bytes;
}
#endif

/* An access: bit 31 a store, and the log of its size below */
#define STORE	(1U << 31)

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info)
{
	return info & STORE;
}

unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
	return info & 15;
}

struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	static struct qemu_plugin_hwaddr h;

	(void)info;
	h.address = vaddr;
	return &h;
}

bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *h)
{
	return h->address >= IO;
}

/* As QEMU 7.2 does: the place of the piece of RAM (512 MiB, of a node) is added twice. */
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *h)
{
	return h->address + (h->address >> 29 << 29);
}

#endif
