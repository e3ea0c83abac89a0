// SPDX-License-Identifier: GPL-2.0
/*
 * blocks - which instructions of the kernel are executed, as a QEMU plugin. What counters and perf
 * cannot tell: while a PMU's driver reads its samples, it counts nothing.
 *
 * Argument: out=FILE. Between marks 0 and 1 of the virtual PMU (nopl in user mode) each block of
 * instructions is counted, and mark 1 writes FILE.0, then FILE.1 and so on: a line "address
 * instructions times" for each block. tools/bench/functions sums them up. QEMU runs one CPU at a
 * time (thread=single), so nothing is locked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/vpmu.h>

#include "../vpath/qemu-plugin-api.h"

#define EXPORT	__attribute__((visibility("default")))
#define BUCKETS	65536

EXPORT int qemu_plugin_version = QEMU_API;

struct block {
	struct block *next;
	uint64_t address, insns, times;
};

static struct block *buckets[BUCKETS];
static const char *out;
static unsigned int runs;

static void on_block(unsigned int vcpu, void *data)
{
	struct block *block = data;

	(void)vcpu;
	block->times++;
}

/* QEMU translates a block anew when it likes. */
static struct block *find_block(uint64_t address, uint64_t insns)
{
	struct block **bucket = &buckets[address * 0x9e3779b97f4a7c15ULL >> 48], *block;

	for (block = *bucket; block; block = block->next)
		if (block->address == address && block->insns == insns)
			return block;
	block = calloc(1, sizeof(*block));
	if (!block)
		abort();
	block->address = address;
	block->insns = insns;
	block->next = *bucket;
	*bucket = block;
	return block;
}

/* Calls @fn for each block and begins anew. */
static void take(void (*fn)(FILE *file, const struct block *block), FILE *file)
{
	struct block *block;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		for (block = buckets[i]; block; block = block->next) {
			if (fn && block->times)
				fn(file, block);
			block->times = 0;
		}
}

static void print(FILE *file, const struct block *block)
{
	fprintf(file, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", block->address, block->insns,
		block->times);
}

static void on_mark(unsigned int vcpu, void *data)
{
	char name[4096];
	FILE *file;

	(void)vcpu;
	if (!data) {
		take(NULL, NULL);
		return;
	}
	snprintf(name, sizeof(name), "%s.%u", out, runs++);
	file = fopen(name, "w");
	if (!file)
		abort();
	take(print, file);
	fclose(file);
}

/* The number of the mark that an instruction makes, or -1 */
static int mark_of(const struct qemu_plugin_insn *insn)
{
	static const uint8_t nopl[] = { 0x0f, 0x1f, 0x80 };
	uint8_t bytes[7];
	uint32_t command;

	if (qemu_plugin_insn_size(insn) != sizeof(bytes))
		return -1;
	read_insn(insn, bytes, sizeof(bytes));
	memcpy(&command, bytes + sizeof(nopl), sizeof(command));
	command -= VPMU_COMMAND(VPMU_MARK);
	return memcmp(bytes, nopl, sizeof(nopl)) || command > 1 ? -1 : (int)command;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	size_t i, insns = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *insn;
	int mark;

	(void)id;
	if (address >> 63) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
						     find_block(address, insns));
		return;
	}
	for (i = 0; i < insns; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		mark = mark_of(insn);
		if (mark >= 0)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(intptr_t)mark);
	}
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "blocks: out=FILE\n");
		return 1;
	}
	out = strdup(argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
