// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual performance monitoring unit as a QEMU plugin; the device is specified in
 * Documentation/mm/path/vpmu-device.rst.
 *
 * QEMU calls us for each block of instructions and each access to memory. machine.c
 * models what the caches do, counters.c counts it; here is what stands between them,
 * QEMU and the guest. QEMU runs one CPU at a time (thread=single), so nothing is locked.
 * What the guest may write (all of the BAR) is read once, checked, and never used to
 * find our way: heads, sizes and addresses are kept here.
 *
 * Arguments: shm=FD (the BAR), geometry=TEXT (see vpmu_geometry_parse()), ring=ENTRIES,
 * turn=CYCLES (after which the next CPU runs; 0: when QEMU likes), truth=FILE (all counts at
 * each mark), slice=INSNS (also after so many of each CPU in user mode, from its mark 0 on),
 * fuzz=SEED (lie to the driver, for its tests).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/vpmu.h>

#include "../vpath/qemu-plugin-api.h"
#include "callers.h"
#include "clock.h"
#include "counters.h"
#include "decode.h"
#include "machine.h"
#include "stream.h"

#define EXPORT		__attribute__((visibility("default")))
#define noinline	__attribute__((noinline))
#define __aligned(n)	__attribute__((aligned(n)))
#define KERNEL_HALF	(1ULL << 63)
#define SLICE		(VPMU_COMMANDS - VPMU_MARK)	/* in the truth: not a mark */

/* RAM of the machine q35: so much from 0 on when there is more than LOW_MOST, and the rest above HIGH */
#define LOW_MOST	(2816ULL << 20)
#define LOW		(2048ULL << 20)
#define HIGH		(4096ULL << 20)

/* What the specification says, and what the driver was built with */
_Static_assert(offsetof(struct vpmu_device, ring_offset) == 24, "vpmu_device");
_Static_assert(offsetof(struct vpmu_device, placement) == 104, "vpmu_device");
_Static_assert(sizeof(struct vpmu_device) == 360, "vpmu_device");
_Static_assert(offsetof(struct vpmu_unit, tail) == 80, "tail");
_Static_assert(offsetof(struct vpmu_unit, period) == 88, "period");
_Static_assert(offsetof(struct vpmu_unit, status) == 256, "status");
_Static_assert(sizeof(struct vpmu_unit) == 376, "vpmu_unit");
_Static_assert(sizeof(struct vpmu_record) == 64, "vpmu_record");

EXPORT int qemu_plugin_version = QEMU_API;

struct block;

/**
 * struct unit - of one virtual CPU
 * @on: looks at what the CPU does
 * @calls: executes a call of the kernel
 * @samples: a counter takes samples
 * @context: for records
 * @block: the last one, with VPMU_DAR
 * @reg: its registers
 * @ring: its ring
 * @callers: those of each record
 * @head: the next record's place
 * @lost: records that found no room
 * @turn_cycles: cycles of the CPU when its turn began
 * @turn_insns: its instructions then
 * @slice_end: its instructions in user mode when a slice ends; 0: there are none
 */
struct unit {
	bool on, calls, samples;
	uint32_t context;
	const struct block *block;
	struct vpmu_unit *reg;
	struct vpmu_record *ring;
	uint64_t (*callers)[VPMU_CALLERS];
	uint32_t head;
	uint64_t lost;
	uint64_t turn_cycles, turn_insns;
	uint64_t slice_end;
} __aligned(64);

/**
 * struct block - a translated block; they are kept, for QEMU does not tell when one goes
 * @b: what the machine is told
 * @kernel: it is the kernel's
 * @insn: its instructions, for a machine that asks for them
 */
struct block {
	struct vpmu_block b;
	bool kernel;
	struct vpmu_insn insn[];
};

static struct unit units[VPMU_MAX_CPUS];
static struct vpmu_geometry geometry;
static struct vpmu_machine *machine;
static struct vpmu_counters *counters;
static struct vpmu_callers *callers;
static struct vpmu_device *device;
static uint32_t ring_entries = 4096;
static uint64_t node_bytes;
/* QEMU's own turns are a thousand times as long, and hide that CPUs share lines. */
static uint32_t turn = 2000;
static bool can_end_turns;
static struct vpmu_turns turns;
static FILE *truth;
static uint64_t slice;
static uint64_t fuzz;

/* QEMU's own, which exports it */
static uint64_t (*ram_addr_from_host)(void *host);

/* Lies: what a broken device might do to its registers and its ring. */

static uint64_t random_number(void)
{
	fuzz ^= fuzz << 13;
	fuzz ^= fuzz >> 7;
	fuzz ^= fuzz << 17;
	return fuzz;
}

static void lie(struct unit *u)
{
	uint64_t r = random_number(), word = random_number();

	if (r % 16)
		return;
	switch (random_number() % 4) {
	case 0:
		u->reg->head = word;	/* until the next record */
		break;
	case 1:
		u->reg->value[r % VPMU_COUNTERS] = word;
		break;
	case 2:
		((uint64_t *)&u->ring[word % ring_entries])[(r >> 8) % 8] = word;
		break;
	case 3:
		((uint32_t *)u->reg)[(r >> 8) % (sizeof(*u->reg) / 4)] = word;
		break;
	}
}

/* The ring */

/* The guest's address of what is RAM's byte number @ram */
static uint64_t guest_address(uint64_t ram)
{
	return geometry.memory < LOW_MOST || ram < LOW ? ram : HIGH + ram - LOW;
}

/* Callers in the kernel, and behind them those in user mode */
static void find_callers(struct unit *u, const struct vpmu_sample *s, struct vpmu_record *r)
{
	uint64_t *to = u->callers[u->head & (ring_entries - 1)];

	if (s->kernel)
		r->callers = vpmu_callers(callers, s->cpu, true, to, VPMU_CALLERS);
	r->user_callers = vpmu_callers(callers, s->cpu, false, to + r->callers,
				       VPMU_CALLERS - r->callers);
}

static void append(struct unit *u, const struct vpmu_sample *s)
{
	uint32_t fill = u->head - __atomic_load_n(&u->reg->tail, __ATOMIC_ACQUIRE);
	const struct vpmu_miss *miss = &s->where.miss;
	struct vpmu_record *r;
	bool known = miss->paddr && miss->paddr < geometry.memory;

	if (fill >= ring_entries) {
		u->reg->lost = ++u->lost;
		return;
	}
	r = &u->ring[u->head & (ring_entries - 1)];
	*r = (struct vpmu_record){
		.addr = s->where.addr, .ip = s->where.ip, .phys = known ? guest_address(miss->paddr) : 0,
		.cycles = s->cycles, .context = u->context, .stamp = s->stamp,
		.latency = miss->latency < UINT16_MAX ? miss->latency : UINT16_MAX,
		.source = miss->source, .counter = s->counter,
		.flags = (s->where.store ? VPMU_RECORD_STORE : 0) |
			 (s->kernel ? VPMU_RECORD_KERNEL : 0) | (known ? VPMU_RECORD_PHYS : 0) |
			 (miss->modified ? VPMU_RECORD_MODIFIED : 0) |
			 (s->where.locked ? VPMU_RECORD_LOCKED : 0) |
			 (s->right ? VPMU_RECORD_RIGHT : 0),
	};
	find_callers(u, s, r);
	__atomic_store_n(&u->reg->head, ++u->head, __ATOMIC_RELEASE);
	if (fuzz)
		lie(u);
}

static void append_all(unsigned int vcpu)
{
	struct vpmu_sample s;

	while (vpmu_sample_take(counters, vcpu, &s))
		append(&units[vcpu], &s);
}

static noinline void overflow(unsigned int vcpu, const struct vpmu_where *where)
{
	vpmu_counters_overflow(counters, vcpu, where);
	append_all(vcpu);
}

/* Interrupts of overflows, with VPMU_DAR. None waits for the other mode. */
static void take_interrupts(unsigned int vcpu, uint64_t ip, bool at_once)
{
	vpmu_counters_look(counters, vcpu, ip, at_once);
	append_all(vcpu);
}

/* Time */

static bool have_clock(unsigned int vcpu)
{
	if (!vpmu_clock_found(vcpu))
		return false;
	device->cpu_khz = 1000000 / geometry.cpus;
	device->clock = VPMU_PARALLEL_CLOCK;
	return true;
}

static noinline void end_turn(struct unit *u, unsigned int vcpu)
{
	uint64_t cycles = vpmu_cycles(machine, vcpu) - u->turn_cycles;
	uint64_t insns = vpmu_total(machine, vcpu, VPMU_INSNS) - u->turn_insns;

	u->turn_cycles += cycles;
	u->turn_insns += insns;
	if (have_clock(vcpu))
		vpmu_clock_advance(vpmu_turn_ns(&turns, vcpu, cycles, insns));
	vpmu_clock_end_turn(vcpu);
}

/* Ground truth */

static void tell(unsigned int nr, unsigned int cpu)
{
	unsigned int event;

	for (event = 1; truth && event < VPMU_EVENTS; event++)
		if (vpmu_total(machine, cpu, event))
			fprintf(truth, "%u %u %u %llu %llu\n", nr, cpu, event,
				(unsigned long long)machine->cpu[cpu].count[0][event],
				(unsigned long long)machine->cpu[cpu].count[1][event]);
}

/* A slice ends in this block. What has not completed counts for the next one. */
static noinline void end_slice(struct unit *u, unsigned int vcpu)
{
	tell(SLICE, vcpu);
	u->slice_end += slice;
}

/* What the CPU does */

static void on_block(unsigned int vcpu, void *data)
{
	const struct block *block = data;
	struct unit *u = &units[vcpu];

	if (!u->on)
		return;
	if (machine->cpu[vcpu].kernel != block->kernel)
		vpmu_mode(machine, vcpu, block->kernel);
	if (block->kernel)
		vpmu_resumed(callers, vcpu, block->b.vaddr);
	vpmu_execute(machine, vcpu, &block->b);
	if (vpmu_pending(machine, vcpu))
		overflow(vcpu, &(struct vpmu_where){
			.ip = block->b.vaddr, .miss.source = VPMU_NO_SOURCE });
	if (u->slice_end && machine->cpu[vcpu].count[0][VPMU_INSNS] >= u->slice_end)
		end_slice(u, vcpu);
	if (can_end_turns && vpmu_cycles(machine, vcpu) - u->turn_cycles >= turn)
		end_turn(u, vcpu);
}

static void on_block_dar(unsigned int vcpu, void *data)
{
	const struct block *block = data;
	struct unit *u = &units[vcpu];
	bool same = machine->cpu[vcpu].kernel == block->kernel;

	if (u->on)
		take_interrupts(vcpu, same ? block->b.vaddr : u->block->b.vaddr, !same);
	u->block = block;
	on_block(vcpu, data);
}

/*
 * Address of an access in RAM as if all of it were one piece from 0 on. QEMU 7.2 adds the place
 * of the piece of RAM (of a node) that it lies in twice. Beyond memory: I/O.
 */
static uint64_t physical(qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	const struct qemu_plugin_hwaddr *h = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t address;

	if (!h || qemu_plugin_hwaddr_is_io(h))
		return geometry.memory;
	address = qemu_plugin_hwaddr_phys_addr(h);
	return address - address / (2 * node_bytes) * node_bytes;
}

/*
 * What an access is told of its instruction: the address, of which bits 62 and 63 are the same.
 * They differ if it locks the line. So the way of most accesses, which hit, has nothing more to do.
 */
#define LOCKED_BIT	(1ULL << 62)

static uint64_t tag_of(uint64_t ip, const uint8_t *bytes)
{
	return locks_line(bytes) ? ip ^ LOCKED_BIT : ip;
}

static bool tag_is_locked(uint64_t tag)
{
	return (tag ^ tag << 1) >> 63;
}

static uint64_t tag_ip(uint64_t tag)
{
	return tag_is_locked(tag) ? tag ^ LOCKED_BIT : tag;
}

/* Instructions of a block are taken to be of one size. */
static void missed_l1(unsigned int vcpu, const struct vpmu_where *where)
{
	const struct vpmu_block *b = &units[vcpu].block->b;
	uint64_t bytes = b->end - b->vaddr, left = b->end - where->ip;

	vpmu_counters_missed(counters, vcpu, where, left < bytes ? left * b->insns / bytes : 0);
	append_all(vcpu);
}

/* Of an access to two pages QEMU tells the place of the first one only. */
static noinline void miss_l1(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
			     uint64_t tag)
{
	bool store = qemu_plugin_mem_is_store(info);
	struct vpmu_where where = { .ip = tag_ip(tag), .addr = vaddr, .store = store,
				    .locked = tag_is_locked(tag) };
	unsigned int size = 1U << qemu_plugin_mem_size_shift(info);
	uint64_t to_end = (1U << VPMU_PAGE_SHIFT) - (vaddr & ((1U << VPMU_PAGE_SHIFT) - 1));

	if (size > to_end)
		size = to_end;
	vpmu_access(machine, vcpu, vaddr, physical(info, vaddr), size,
		    store ? VPMU_STORE : VPMU_LOAD, &where.miss);
	if (geometry.sampling == VPMU_DAR && where.miss.source != VPMU_NO_SOURCE)
		missed_l1(vcpu, &where);
	if (vpmu_pending(machine, vcpu))
		overflow(vcpu, &where);
}

/*
 * What a CPU reads and writes to take an interrupt is no instruction's. QEMU 7.2 tells it as if an
 * earlier instruction did it, which may even be one of the kernel while the program runs. The
 * program itself cannot have the kernel's half.
 */
static bool takes_interrupt(unsigned int vcpu, uint64_t vaddr)
{
	return !machine->cpu[vcpu].kernel && vaddr >> 63;
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *tag)
{
	bool store = qemu_plugin_mem_is_store(info);

	if (!units[vcpu].on || takes_interrupt(vcpu, vaddr))
		return;
	if (!vpmu_hit_l1(machine, vcpu, vaddr, 1U << qemu_plugin_mem_size_shift(info), store))
		miss_l1(vcpu, info, vaddr, (uintptr_t)tag);
	else if (vpmu_pending(machine, vcpu))
		overflow(vcpu, &(struct vpmu_where){ .ip = tag_ip((uintptr_t)tag), .addr = vaddr,
			 .store = store, .locked = tag_is_locked((uintptr_t)tag),
			 .miss.source = VPMU_NO_SOURCE });
}

/* The same, on an out-of-order core, which has to know by which instruction */
static void on_access_by(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	const struct vpmu_insn *insn = data;

	on_access(vcpu, info, vaddr, (void *)(uintptr_t)insn->tag);
	if (units[vcpu].on && !takes_interrupt(vcpu, vaddr))
		vpmu_stream_access(machine->cpu[vcpu].stream, insn, vaddr,
				   qemu_plugin_mem_is_store(info));
}

/*
 * Calls of the kernel, and its returns: the access to the return address tells where it lies.
 * QEMU 7.2 tells what an interrupt stores as if the instruction before it did.
 */

static void before_call(unsigned int vcpu, void *unused)
{
	(void)unused;
	units[vcpu].calls = true;
}

static void on_call(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *end)
{
	struct unit *u = &units[vcpu];

	if (!u->on || !u->calls || !qemu_plugin_mem_is_store(info))
		return;
	u->calls = false;
	vpmu_called(callers, vcpu, vaddr, (uintptr_t)end);
}

static void on_return(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *unused)
{
	(void)unused;
	if (units[vcpu].on && !qemu_plugin_mem_is_store(info))
		vpmu_returned(callers, vcpu, vaddr);
}

/*
 * The same in user mode. Only where samples are taken: then the driver tells whose code it is
 * whenever the task changes.
 */
static void on_user_call(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *end)
{
	if (units[vcpu].samples && qemu_plugin_mem_is_store(info) && !takes_interrupt(vcpu, vaddr))
		vpmu_called(callers, vcpu, vaddr, (uintptr_t)end);
}

static void on_user_return(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
			   void *unused)
{
	(void)unused;
	if (units[vcpu].samples && !qemu_plugin_mem_is_store(info))
		vpmu_returned(callers, vcpu, vaddr);
}

/* A new address space, or other pages in it */
static void on_flush(unsigned int vcpu, void *unused)
{
	(void)unused;
	if (units[vcpu].on)
		vpmu_flush_virtual(machine, vcpu, VPMU_ALL_PAGES);
}

/* Commands */

static uint32_t program(struct unit *u, unsigned int vcpu)
{
	const struct vpmu_unit r = *(volatile struct vpmu_unit *)u->reg;
	struct vpmu_selection selection[VPMU_COUNTERS];
	unsigned int i;

	if (r.control & ~VPMU_ENABLE)
		return VPMU_BAD_CONTROL;
	for (i = 0; i < VPMU_COUNTERS; i++)
		selection[i] = (struct vpmu_selection){
			.event = r.event[i], .flags = r.flags[i], .sources = r.sources[i],
			.period = r.period[i], .random_mask = r.random_mask[i],
			.start = r.start[i] ? r.start[i] : r.period[i],
		};
	if (vpmu_counters_program(counters, vcpu, selection))
		return VPMU_BAD_EVENT;
	if (!u->on && r.control & VPMU_ENABLE)
		vpmu_flush_virtual(machine, vcpu, VPMU_ALL_PAGES);
	u->on = r.control & VPMU_ENABLE;
	u->samples = false;
	for (i = 0; i < VPMU_COUNTERS; i++)
		u->samples |= u->on && r.event[i] && r.flags[i] & VPMU_SAMPLE;
	return VPMU_OK;
}

static void set_context(struct unit *u, unsigned int vcpu)
{
	uint32_t context = u->reg->context;

	if (context == u->context)
		return;
	u->context = context;
	vpmu_context(machine, vcpu, context);
	vpmu_callers_context(callers, vcpu, context);
}

static void show(struct unit *u, unsigned int vcpu)
{
	unsigned int i;

	for (i = 0; i < VPMU_COUNTERS; i++) {
		u->reg->value[i] = vpmu_counter_value(counters, vcpu, i);
		u->reg->left[i] = vpmu_counter_left(counters, vcpu, i);
	}
	if (fuzz)
		lie(u);
}

/* All units: what one CPU has in its caches concerns the others. Rings and registers stay. */
static void reset(void)
{
	unsigned int i;

	vpmu_machine_reset(machine);
	vpmu_counters_reset(counters);
	vpmu_callers_reset(callers);
	for (i = 0; i < geometry.cpus; i++) {
		units[i].on = false;
		units[i].samples = false;
		units[i].turn_cycles = 0;
		units[i].turn_insns = 0;
		units[i].slice_end = 0;
		units[i].lost = 0;
		units[i].reg->lost = 0;
		units[i].reg->ignored = 0;
	}
}

/* The guest's own counts of what the counters could only count some of the time */
static void mark(unsigned int vcpu, unsigned int nr)
{
	unsigned int cpu;

	for (cpu = 0; cpu < geometry.cpus; cpu++)
		tell(nr, cpu);
	if (slice && !nr)
		units[vcpu].slice_end = machine->cpu[vcpu].count[0][VPMU_INSNS] + slice;
}

static void obey(struct unit *u, unsigned int vcpu, unsigned int nr)
{
	switch (nr) {
	case VPMU_PROGRAM:
		u->reg->status = program(u, vcpu);
		set_context(u, vcpu);
		have_clock(vcpu);
		break;
	case VPMU_STOP:
		if (geometry.sampling == VPMU_DAR)
			take_interrupts(vcpu, u->block->b.vaddr, true);
		show(u, vcpu);
		vpmu_counters_stop(counters, vcpu);
		break;
	case VPMU_READ:
		show(u, vcpu);
		break;
	case VPMU_CONTEXT:
		set_context(u, vcpu);
		break;
	case VPMU_IDENTIFY:
		device->unit = vcpu;
		break;
	case VPMU_RESET:
		reset();
		break;
	default:
		u->reg->ignored++;
		break;
	}
}

#define FROM_USER	256	/* in the data of a command */

static void on_command(unsigned int vcpu, void *data)
{
	unsigned int nr = (uintptr_t)data;
	struct unit *u = &units[vcpu];

	if ((nr & ~FROM_USER) >= VPMU_MARK)
		mark(vcpu, (nr & ~FROM_USER) - VPMU_MARK);
	else if (nr & FROM_USER)
		u->reg->ignored++;
	else
		obey(u, vcpu, nr);
}

/* Translation */

#define MAX_INSN	16

/* Bytes of an instruction, and 0 behind them */
static size_t read_padded(const struct qemu_plugin_insn *insn, uint8_t *to)
{
	size_t size = qemu_plugin_insn_size(insn);

	memset(to, 0, MAX_INSN);
	if (size > MAX_INSN)
		size = MAX_INSN;
	read_insn(insn, to, size);
	return size;
}

/* The number of a command, or -1: nopl disp32(%rax) is 0f 1f 80 and disp32. */
static int command_of(const uint8_t *bytes, size_t size)
{
	uint32_t disp;

	memcpy(&disp, bytes + 3, sizeof(disp));
	if (size != 7 || memcmp(bytes, "\x0f\x1f\x80", 3) ||
	    disp - VPMU_COMMAND(0) >= VPMU_COMMANDS)
		return -1;
	return disp - VPMU_COMMAND(0);
}

/* mov to cr3 or cr4 (0f 22 /3, /4), invlpg (0f 01 /7 in memory), invpcid (66 0f 38 82) */
static bool flushes_tlb(const uint8_t *b)
{
	unsigned int reg;

	b += *b == 0x66;
	b += (*b & 0xf0) == 0x40;
	if (*b != 0x0f)
		return false;
	reg = b[2] >> 3 & 7;
	return (b[1] == 0x22 && (reg == 3 || reg == 4)) ||
	       (b[1] == 0x01 && reg == 7 && b[2] < 0xc0) || (b[1] == 0x38 && b[2] == 0x82);
}

/* jcc: 70 to 7f, 0f 80 to 0f 8f; loop and jcxz: e0 to e3 */
static bool is_conditional(const uint8_t *b)
{
	return (*b & 0xf0) == 0x70 || (*b == 0x0f && (b[1] & 0xf0) == 0x80) ||
	       (*b & 0xfc) == 0xe0;
}

/* e8: call, ff /2: call through a register or memory */
static bool is_call(const uint8_t *b)
{
	b += (*b & 0xf0) == 0x40;
	return *b == 0xe8 || (*b == 0xff && (b[1] >> 3 & 7) == 2);
}

static bool is_return(const uint8_t *b)
{
	return *b == 0xc3 || *b == 0xc2;
}

/* Static costs, as far as the first bytes tell them */
static void add_costs(struct vpmu_block *block, const uint8_t *b)
{
	unsigned int reg;

	while (*b == 0x66 || *b == 0xf2 || *b == 0xf3 || (*b & 0xf0) == 0x40)
		b++;
	reg = b[1] >> 3 & 7;
	if ((*b & 0xfe) == 0xf6 && reg >= 4)
		block->iu += reg >= 6 ? 20 : 3;		/* div, mul */
	else if (*b == 0x69 || *b == 0x6b || (*b == 0x0f && b[1] == 0xaf))
		block->iu += 3;				/* imul */
	else if ((*b & 0xf8) == 0xd8)
		block->fpu += 4;			/* x87 */
	else if (*b == 0x0f && (b[1] == 0x51 || b[1] == 0x5e))
		block->fpu += 18;			/* sqrt, div */
	else if (*b == 0x0f && (b[1] == 0x58 || b[1] == 0x59 || b[1] == 0x5c))
		block->fpu += 4;			/* add, mul, sub */
}

/* A code line of the block, if it is another one than the last */
static void add_line(struct vpmu_block *block, const struct qemu_plugin_insn *insn, size_t nr)
{
	void *host = qemu_plugin_insn_haddr(insn);
	uint64_t address;

	if (!host || !ram_addr_from_host || block->lines == VPMU_BLOCK_LINES)
		return;
	address = ram_addr_from_host(host);
	if (address < geometry.memory &&
	    (!block->lines || address / geometry.line != block->code[block->lines - 1] / geometry.line)) {
		block->first[block->lines] = nr;
		block->code[block->lines++] = address;
	}
}

/* What an out-of-order core wants to know of an instruction */
static void describe(struct vpmu_insn *insn, uint64_t ip, const uint8_t *bytes)
{
	struct vpmu_block alone = { 0 };
	struct decoded d;

	decode(bytes, &d);
	add_costs(&alone, bytes);
	*insn = (struct vpmu_insn){
		.tag = tag_of(ip, bytes), .reads = d.reads, .writes = d.writes, .addr = d.addr,
		.move = d.move,
		.cycles = 1 + alone.iu + alone.fpu,
		.unit = d.branch ? OOO_BU : d.vector ? OOO_FPU : OOO_IU,
	};
}

static void translate_insn(struct block *block, struct qemu_plugin_insn *insn, size_t i)
{
	uint64_t ip = qemu_plugin_insn_vaddr(insn);
	uint8_t bytes[MAX_INSN];
	size_t size = read_padded(insn, bytes);
	int nr = command_of(bytes, size);

	block->b.end = ip + size;
	block->b.conditional = is_conditional(bytes);
	add_line(&block->b, insn, i);
	add_costs(&block->b, bytes);
	if (geometry.model != OOO_OFF)
		describe(&block->insn[i], ip, bytes);
	if (nr >= 0) {
		uintptr_t data = nr | (block->kernel ? 0 : FROM_USER);

		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_command, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)data);
		return;
	}
	if (flushes_tlb(bytes))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_flush, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	if (geometry.model != OOO_OFF)
		qemu_plugin_register_vcpu_mem_cb(insn, on_access_by, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, &block->insn[i]);
	else
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW,
						 (void *)(uintptr_t)tag_of(ip, bytes));
	if (block->kernel && is_call(bytes)) {
		qemu_plugin_register_vcpu_insn_exec_cb(insn, before_call, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, on_call, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)(ip + size));
	}
	if (!block->kernel && is_call(bytes))
		qemu_plugin_register_vcpu_mem_cb(insn, on_user_call, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW,
						 (void *)(uintptr_t)(ip + size));
	if (is_return(bytes))
		qemu_plugin_register_vcpu_mem_cb(insn, block->kernel ? on_return : on_user_return,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb), told = geometry.model != OOO_OFF ? n : 0;
	struct block *block = calloc(1, sizeof(*block) + told * sizeof(*block->insn));

	(void)id;
	if (!block)
		return;
	block->b.vaddr = qemu_plugin_tb_vaddr(tb);
	block->b.insns = n;
	block->b.insn = block->insn;
	block->kernel = block->b.vaddr & KERNEL_HALF;
	for (i = 0; i < n; i++)
		translate_insn(block, qemu_plugin_tb_get_insn(tb, i), i);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, geometry.sampling == VPMU_DAR ? on_block_dar :
					     on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

/* Start and end */

static int complain(const char *what, int error)
{
	fprintf(stderr, "vpmu: %s%s%s\n", what, error ? ": " : "", error ? strerror(error) : "");
	return -1;
}

static void *map_bar(int fd)
{
	size_t want = VPMU_UNIT_OFFSET + (size_t)geometry.cpus * VPMU_UNIT_STRIDE +
		      (size_t)geometry.cpus * ring_entries *
		      (sizeof(struct vpmu_record) + VPMU_CALLERS * sizeof(uint64_t));
	struct stat st;
	void *bar;

	if (fstat(fd, &st) || (size_t)st.st_size < want) {
		errno = EINVAL;
		return NULL;
	}
	bar = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return bar == MAP_FAILED ? NULL : bar;
}

static void start_device(char *bar)
{
	char *rings = bar + VPMU_UNIT_OFFSET + geometry.cpus * VPMU_UNIT_STRIDE;
	struct vpmu_record *end = (struct vpmu_record *)rings + (size_t)geometry.cpus * ring_entries;
	unsigned int i;

	for (i = 0; i < geometry.cpus; i++) {
		units[i].reg = (void *)(bar + VPMU_UNIT_OFFSET + i * VPMU_UNIT_STRIDE);
		units[i].ring = (struct vpmu_record *)rings + (size_t)i * ring_entries;
		units[i].callers = (uint64_t (*)[VPMU_CALLERS])end + (size_t)i * ring_entries;
	}
	device = (void *)bar;
	device->version = VPMU_VERSION;
	device->units = geometry.cpus;
	device->chips = geometry.chips;
	device->counters = geometry.counters;
	device->ring_entries = ring_entries;
	device->ring_offset = rings - bar;
	device->ring_stride = (uint64_t)ring_entries * sizeof(struct vpmu_record);
	device->callers = VPMU_CALLERS;
	device->sampling = geometry.sampling;
	device->line_bytes = geometry.line;
	device->l1d_kb = geometry.l1d.bytes >> 10;
	device->l1i_kb = geometry.l1i.bytes >> 10;
	device->l2_kb = geometry.l2.bytes >> 10;
	device->l3_kb = geometry.l3.bytes >> 10;
	memcpy(device->latency, geometry.latency, sizeof(device->latency));
	for (i = 0; i < VPMU_EVENTS; i++)
		device->placement[i] = vpmu_event_placement(counters, i);
	__atomic_store_n(&device->magic, VPMU_MAGIC, __ATOMIC_RELEASE);
}

static void on_exit_qemu(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (truth && fclose(truth))
		complain("ground truth", errno);
	truth = NULL;
}

static bool number(const char *text, const char *key, unsigned long *value)
{
	size_t len = strlen(key);
	char *end;

	if (strncmp(text, key, len) || text[len] != '=')
		return false;
	text += len + 1;
	*value = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end;
}

static int parse(const char *arg, int *shm, const char **text)
{
	unsigned long value;

	if (number(arg, "shm", &value)) {
		*shm = value;
	} else if (number(arg, "ring", &value) && value >= 64 && value <= 1U << 20 &&
		   !(value & (value - 1))) {
		ring_entries = value;
	} else if (number(arg, "turn", &value) && value <= UINT32_MAX) {
		turn = value;
	} else if (number(arg, "slice", &value)) {
		slice = value;
	} else if (number(arg, "fuzz", &value)) {
		fuzz = value;
	} else if (!strncmp(arg, "geometry=", 9)) {
		*text = arg + 9;
	} else if (!strncmp(arg, "truth=", 6)) {
		truth = fopen(arg + 6, "w");
		if (!truth)
			return complain(arg, errno);
	} else {
		fprintf(stderr, "vpmu: what is %s?\n", arg);
		return -1;
	}
	return 0;
}

static int start_machine(const char *text)
{
	char *error;

	if (vpmu_geometry_parse(text, &geometry, &error)) {
		complain(error ? error : "geometry", 0);
		free(error);
		return -1;
	}
	node_bytes = geometry.memory / geometry.chips;
	machine = vpmu_machine_new(&geometry);
	counters = machine ? vpmu_counters_new(machine, 64, 1) : NULL;
	callers = vpmu_callers_new();
	return counters && callers ? 0 : complain("the machine", ENOMEM);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	const char *text = "";
	int i, shm = -1;
	char *bar;

	(void)info;
	for (i = 0; i < argc; i++)
		if (parse(argv[i], &shm, &text))
			return -1;
	if (start_machine(text))
		return -1;
	bar = map_bar(shm);
	if (!bar)
		return complain("the BAR", errno);
	ram_addr_from_host = (uint64_t (*)(void *))dlsym(dlopen(NULL, RTLD_LAZY),
							 "qemu_ram_addr_from_host");
	turns.cpus = geometry.cpus;
	can_end_turns = vpmu_clock_init() && turn;
	start_device(bar);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_qemu, NULL);
	return 0;
}
