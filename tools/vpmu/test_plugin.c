// SPDX-License-Identifier: GPL-2.0
/*
 * The device as a whole, plugin.c, under a QEMU of a few lines: what is executed and
 * accessed is told to it by us, and what it does to its BAR is looked at.
 */
#include "plugin.c"

#include "../vpath/fake-qemu.h"

#define CPUS	4U
#define RING	64U
#define ENTRY	(sizeof(struct vpmu_record) + VPMU_CALLERS * sizeof(uint64_t))
#define BYTES	(VPMU_UNIT_OFFSET + CPUS * (VPMU_UNIT_STRIDE + RING * ENTRY))
#define USER	0x400000ULL
#define KERNEL	0xffffffff81000000ULL

/* The machine */

static char *bar;

static struct vpmu_unit *unit(unsigned int cpu)
{
	return (void *)(bar + VPMU_UNIT_OFFSET + cpu * VPMU_UNIT_STRIDE);
}

static const struct vpmu_record *record_of(unsigned int cpu, uint32_t i)
{
	return (struct vpmu_record *)(bar + VPMU_UNIT_OFFSET + CPUS * VPMU_UNIT_STRIDE) +
	       cpu * RING + i % RING;
}

static int install(const char *more)
{
	char *argv[4], fd[32], ring[32];
	FILE *memory = tmpfile();
	int rc;

	assert_non_null(memory);
	assert_int_equal(ftruncate(fileno(memory), BYTES), 0);
	bar = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(memory), 0);
	snprintf(fd, sizeof(fd), "shm=%d", fileno(memory));
	snprintf(ring, sizeof(ring), "ring=%u", RING);
	argv[0] = fd;
	argv[1] = ring;
	argv[2] = (char *)"geometry=2chip,memory=1G";
	argv[3] = (char *)more;
	rc = qemu_plugin_install(1, NULL, more ? 4 : 3, argv);
	fclose(memory);
	return rc;
}

static struct block *blocks[1024];
static unsigned int nr_blocks;

static void uninstall(void)
{
	if (at_exit)
		at_exit(1, NULL);
	while (nr_blocks)
		free(blocks[--nr_blocks]);
	vpmu_counters_free(counters);
	vpmu_machine_free(machine);
	vpmu_callers_free(callers);
	munmap(bar, BYTES);
	counters = NULL;
	machine = NULL;
	callers = NULL;
	memset(units, 0, sizeof(units));
	fuzz = 0;
	translate = NULL;
	at_exit = NULL;
}

static int setup(void **state)
{
	(void)state;
	return install(NULL);
}

static int teardown(void **state)
{
	(void)state;
	uninstall();
	return 0;
}

/* A block of @n times the instruction with @bytes, translated */
static struct qemu_plugin_tb block_of(uint64_t ip, size_t n, const void *bytes, size_t size)
{
	struct qemu_plugin_tb tb = { .vaddr = ip, .n = n };
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(tb.insns[i].bytes, bytes, size);
		tb.insns[i].size = size;
		tb.insns[i].vaddr = ip + i * size;
	}
	translate(1, &tb);
	assert_true(nr_blocks < 1024);
	blocks[nr_blocks++] = tb.data;
	return tb;
}

static void command_at(uint64_t ip, unsigned int cpu, unsigned int nr)
{
	uint8_t bytes[7] = { 0x0f, 0x1f, 0x80 };
	uint32_t disp = VPMU_COMMAND(nr);
	struct qemu_plugin_tb tb;

	memcpy(bytes + 3, &disp, sizeof(disp));
	tb = block_of(ip, 1, bytes, sizeof(bytes));
	assert_non_null(tb.insns[0].exec);
	assert_null(tb.insns[0].mem);
	tb.insns[0].exec(cpu, tb.insns[0].exec_data);
}

static void command(unsigned int cpu, unsigned int nr)
{
	command_at(KERNEL, cpu, nr);
}

static const uint8_t mov[3] = { 0x48, 0x8b, 0x00 };

static void execute(unsigned int cpu, uint64_t ip, size_t n)
{
	struct qemu_plugin_tb tb = block_of(ip, n, mov, sizeof(mov));

	tb.exec(cpu, tb.data);
}

static void access_by(uint64_t ip, unsigned int cpu, uint64_t addr, uint32_t info)
{
	struct qemu_plugin_tb tb = block_of(ip, 1, mov, sizeof(mov));

	tb.exec(cpu, tb.data);
	tb.insns[0].mem(cpu, info, addr, tb.insns[0].data);
}

static void count(unsigned int cpu, unsigned int k, uint32_t event, uint32_t flags, uint64_t period)
{
	struct vpmu_unit *r = unit(cpu);

	r->control = VPMU_ENABLE;
	r->event[k] = event;
	r->flags[k] = flags;
	r->period[k] = period;
	r->start[k] = period;
	command(cpu, VPMU_PROGRAM);
}

static uint64_t value(unsigned int cpu, unsigned int k)
{
	command(cpu, VPMU_READ);
	return unit(cpu)->value[k];
}

#define BOTH	(VPMU_USER | VPMU_KERNEL)

/* Tests */

static void test_header(void **state)
{
	const struct vpmu_device *d = (void *)bar;
	unsigned int i;

	(void)state;
	assert_int_equal(d->magic, VPMU_MAGIC);
	assert_int_equal(d->version, VPMU_VERSION);
	assert_int_equal(d->units, CPUS);
	assert_int_equal(d->chips, 2);
	assert_int_equal(d->counters, VPMU_COUNTERS);
	assert_int_equal(d->ring_entries, RING);
	assert_int_equal(d->ring_offset, VPMU_UNIT_OFFSET + CPUS * VPMU_UNIT_STRIDE);
	assert_int_equal(d->ring_stride, RING * sizeof(struct vpmu_record));
	assert_int_equal(d->line_bytes, 64);
	assert_int_equal(d->latency[VPMU_REMOTE_L2], 120);
	assert_int_equal(d->clock, VPMU_NO_CLOCK);
	assert_int_equal(d->placement[VPMU_NONE], 0);
	assert_int_equal(d->placement[VPMU_INSNS], 63);
	assert_int_equal(d->placement[VPMU_EVENTS - 1], 0);
	for (i = 0; i < CPUS; i++) {
		command(i, VPMU_IDENTIFY);
		assert_int_equal(d->unit, i);
	}
}

/* Nothing is counted before the driver says so, nor what others do. */
static void test_off(void **state)
{
	(void)state;
	execute(1, USER, 3);
	count(1, 0, VPMU_INSNS, BOTH, 0);
	assert_int_equal(unit(1)->status, VPMU_OK);
	assert_int_equal(value(1, 0), 0);
	execute(1, USER, 3);
	execute(2, USER, 4);
	assert_int_equal(value(1, 0), 3);
	unit(1)->control = 0;
	command(1, VPMU_PROGRAM);
	execute(1, USER, 3);
	assert_int_equal(value(1, 0), 0);
}

/* An interrupt comes while a program runs. QEMU tells of the last instruction with an access. */
static void test_interrupts(void **state)
{
	struct qemu_plugin_tb tb;

	(void)state;
	count(1, 0, VPMU_LOADS, BOTH | VPMU_SAMPLE, 1);
	count(1, 1, VPMU_STORES, BOTH, 0);
	tb = block_of(KERNEL, 1, mov, sizeof(mov));
	tb.exec(1, tb.data);
	execute(1, USER, 3);
	tb.insns[0].mem(1, 3, KERNEL + 0x2010, tb.insns[0].data);
	access_by(USER, 1, KERNEL + 0x3ff8, STORE | 3);
	assert_int_equal(unit(1)->head, 0);
	assert_int_equal(value(1, 1), 0);
	access_by(USER, 1, 0x20000, 3);
	access_by(KERNEL, 1, KERNEL + 0x3ff8, STORE | 3);
	assert_int_equal(unit(1)->head, 1);
	assert_int_equal(value(1, 1), 1);
}

static void test_modes(void **state)
{
	(void)state;
	count(0, 0, VPMU_INSNS, BOTH, 0);
	count(0, 1, VPMU_INSNS, VPMU_USER, 0);
	count(0, 2, VPMU_INSNS, VPMU_KERNEL, 0);
	execute(0, USER, 3);
	execute(0, KERNEL, 4);
	execute(0, USER, 1);
	assert_int_equal(value(0, 0), 8);
	assert_int_equal(value(0, 1), 4);
	assert_int_equal(value(0, 2), 4);
}

static void test_stop(void **state)
{
	(void)state;
	count(0, 0, VPMU_INSNS, BOTH, 100);
	execute(0, USER, 4);
	command(0, VPMU_STOP);
	assert_int_equal(unit(0)->value[0], 4);
	assert_int_equal(unit(0)->left[0], 96);
	execute(0, USER, 4);
	assert_int_equal(value(0, 0), 4);
	/* a counter starts anew */
	command(0, VPMU_PROGRAM);
	execute(0, USER, 2);
	assert_int_equal(value(0, 0), 2);
}

/* Loads and stores, in RAM, on two pages, and of devices */
static void test_accesses(void **state)
{
	(void)state;
	count(0, 0, VPMU_LOADS, BOTH, 0);
	count(0, 1, VPMU_STORES, BOTH, 0);
	count(0, 2, VPMU_L1D_MISS, BOTH, 0);
	access_by(USER, 0, 0x10000, 3);
	access_by(USER, 0, 0x10008, 3);
	access_by(USER, 0, 0x20000, STORE | 2);
	assert_int_equal(value(0, 0), 2);
	assert_int_equal(value(0, 1), 1);
	assert_int_equal(value(0, 2), 2);
	access_by(USER, 0, 0x30ffc, 3);
	assert_int_equal(value(0, 0), 3);
	assert_int_equal(value(0, 2), 3);
	access_by(USER, 0, IO, 3);
	access_by(USER, 0, IO, 3);
	assert_int_equal(value(0, 0), 5);
	assert_int_equal(value(0, 2), 3);
}

/* Memory of both nodes, and a line that the other chip has */
static void test_sources(void **state)
{
	(void)state;
	count(0, 0, VPMU_D_SRC + VPMU_LOCAL_MEMORY, BOTH, 0);
	count(0, 1, VPMU_D_SRC + VPMU_REMOTE_MEMORY, BOTH, 0);
	count(2, 0, VPMU_D_SRC + VPMU_REMOTE_L2, BOTH, 0);
	access_by(USER, 0, 0x10000, 3);
	access_by(USER, 0, (512 << 20) + 0x10000, 3);
	access_by(USER, 0, (512 << 20) + 0x20000, STORE | 3);
	assert_int_equal(value(0, 0), 1);
	assert_int_equal(value(0, 1), 2);
	access_by(USER, 2, (512 << 20) + 0x20000, 3);
	assert_int_equal(value(2, 0), 1);
}

/* A new address space: the same virtual page may be another one. */
static void test_flush(void **state)
{
	static const uint8_t flushes[][4] = {
		{ 0x0f, 0x22, 0xd8 }, { 0x0f, 0x22, 0xe0 }, { 0x0f, 0x01, 0x38 },
		{ 0x41, 0x0f, 0x22, 0xd8 },
	};
	struct qemu_plugin_tb tb;
	size_t i;

	(void)state;
	count(0, 0, VPMU_DTLB_MISS, BOTH, 0);
	access_by(USER, 0, 0x10000, 3);
	access_by(USER, 0, 0x10000, 3);
	assert_int_equal(value(0, 0), 1);
	for (i = 0; i < sizeof(flushes) / sizeof(*flushes); i++) {
		tb = block_of(KERNEL, 1, flushes[i], 4);
		assert_non_null(tb.insns[0].exec);
		tb.insns[0].exec(0, tb.insns[0].exec_data);
		access_by(USER, 0, 0x10000, 3);
		assert_int_equal(value(0, 0), i + 2);
	}
	/* mov to cr0 does not, nor does lgdt */
	assert_null(block_of(KERNEL, 1, "\x0f\x22\xc0", 3).insns[0].exec);
	assert_null(block_of(KERNEL, 1, "\x0f\x01\x10", 3).insns[0].exec);
}

static void test_samples(void **state)
{
	const struct vpmu_record *r = record_of(3, 0);
	unsigned int i;

	(void)state;
	unit(3)->context = 77;
	count(3, 2, VPMU_STORES, BOTH | VPMU_SAMPLE, 3);
	for (i = 0; i < 10; i++)
		access_by(i < 5 ? USER : KERNEL, 3, 0x10000 + i * 64, STORE | 3);
	assert_int_equal(unit(3)->head, 3);
	assert_int_equal(r[0].addr, 0x10000 + 2 * 64);
	assert_int_equal(r[0].ip, USER);
	assert_int_equal(r[0].phys, 0x10000 + 2 * 64);
	assert_int_equal(r[0].context, 77);
	assert_int_equal(r[0].counter, 2);
	assert_int_equal(r[0].source, VPMU_REMOTE_MEMORY);
	assert_int_equal(r[0].latency, 307);
	assert_int_equal(r[0].flags, VPMU_RECORD_STORE | VPMU_RECORD_PHYS);
	assert_int_equal(r[1].flags, VPMU_RECORD_STORE | VPMU_RECORD_PHYS | VPMU_RECORD_KERNEL);
	assert_int_equal(r[1].stamp, r[0].stamp + 1);
	assert_int_equal(value(3, 2), 10);
	assert_int_equal(unit(3)->left[2], 2);
}

/* Instructions that lock their line, in the program and in the kernel; and the same without */
static void test_locked(void **state)
{
	static const uint8_t add[] = { 0xf0, 0x48, 0x01, 0x07 };
	static const uint64_t ip[] = { USER, KERNEL };
	const struct vpmu_record *r = record_of(0, 0);
	struct qemu_plugin_tb tb;
	unsigned int i;

	(void)state;
	count(0, 0, VPMU_STORES, BOTH | VPMU_SAMPLE, 1);
	for (i = 0; i < 4; i++) {
		tb = block_of(ip[i / 2], 1, add + i % 2, sizeof(add) - i % 2);
		tb.exec(0, tb.data);
		tb.insns[0].mem(0, STORE | 3, 0x10000 + i / 3 * 64, tb.insns[0].data);
	}
	assert_int_equal(unit(0)->head, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(r[i].ip, ip[i / 2]);
		assert_int_equal(!!(r[i].flags & VPMU_RECORD_LOCKED), !(i % 2));
	}
}

static void stack_access(uint64_t ip, const void *bytes, size_t size, uint64_t sp, uint32_t info)
{
	struct qemu_plugin_tb tb = block_of(ip, 1, bytes, size);

	tb.exec(3, tb.data);
	if (tb.insns[0].exec)
		tb.insns[0].exec(3, tb.insns[0].exec_data);
	tb.insns[0].mem(3, info, sp, tb.insns[0].data);
	if (tb.insns[0].then)
		tb.insns[0].then(3, info, sp, tb.insns[0].then_data);
}

/* Calls and returns are followed, those of programs where samples are taken. */
static void test_callers(void **state)
{
	const uint64_t (*of)[VPMU_CALLERS] = (void *)record_of(CPUS, 0);
	const uint64_t sp = KERNEL + 0x10ff8, user_sp = 0x10ff8;
	struct qemu_plugin_tb tb;

	(void)state;
	of += 3 * RING;
	count(3, 2, VPMU_LOADS, BOTH, 0);
	stack_access(USER, "\xe8\0\0\0\0", 5, user_sp + 8, STORE | 3);
	count(3, 2, VPMU_LOADS, BOTH | VPMU_SAMPLE, 1);
	stack_access(USER, "\xe8\0\0\0\0", 5, user_sp, STORE | 3);
	/* an interrupt at a call */
	tb = block_of(USER, 1, "\xe8\0\0\0\0", 5);
	tb.exec(3, tb.data);
	tb.insns[0].then(3, STORE | 3, sp + 16, tb.insns[0].then_data);
	stack_access(KERNEL, "\xe8\0\0\0\0", 5, sp, STORE | 3);
	/* through a register, and through memory, which is read first */
	stack_access(KERNEL + 16, "\x41\xff\xd3", 3, sp - 8, STORE | 3);
	tb = block_of(KERNEL + 32, 1, "\xff\x10", 2);
	tb.exec(3, tb.data);
	tb.insns[0].exec(3, tb.insns[0].exec_data);
	tb.insns[0].mem(3, 3, sp - 128, tb.insns[0].data);
	tb.insns[0].then(3, 3, sp - 128, tb.insns[0].then_data);
	tb.insns[0].then(3, STORE | 3, sp - 16, tb.insns[0].then_data);
	/* an interrupt */
	tb.insns[0].then(3, STORE | 3, sp - 24, tb.insns[0].then_data);
	access_by(KERNEL, 3, 0x20000, 3);
	access_by(USER, 3, 0x20000, 3);
	stack_access(KERNEL, "\xc3", 1, sp - 16, 3);
	access_by(KERNEL, 3, 0x20000, 3);
	/* samples: the pointer, two of 0x20000, the return, one of 0x20000 */
	assert_int_equal(unit(3)->head, 5);
	assert_int_equal(record_of(3, 1)->callers, 3);
	assert_int_equal(of[1][0], KERNEL + 34);
	assert_int_equal(of[1][1], KERNEL + 19);
	assert_int_equal(of[1][2], KERNEL + 5);
	assert_int_equal(record_of(3, 1)->user_callers, 1);
	assert_int_equal(of[1][3], USER + 5);
	assert_int_equal(record_of(3, 2)->callers, 0);
	assert_int_equal(record_of(3, 2)->user_callers, 1);
	assert_int_equal(of[2][0], USER + 5);
	assert_int_equal(record_of(3, 4)->callers, 2);
	assert_int_equal(of[4][0], KERNEL + 19);
}

/* A full ring loses records, and counts them. */
static void test_full(void **state)
{
	unsigned int i;

	(void)state;
	count(0, 0, VPMU_LOADS, BOTH | VPMU_SAMPLE, 1);
	for (i = 0; i < RING + 5; i++)
		access_by(USER, 0, 0x10000 + i, 0);
	assert_int_equal(unit(0)->head, RING);
	assert_int_equal(unit(0)->lost, 5);
	unit(0)->tail = 1;
	access_by(USER, 0, 0x20000, 0);
	assert_int_equal(unit(0)->head, RING + 1);
	assert_int_equal(record_of(0, RING)->addr, 0x20000);
	/* a tail that is ahead is a full ring */
	unit(0)->tail = RING + 2;
	access_by(USER, 0, 0x30000, 0);
	assert_int_equal(unit(0)->head, RING + 1);
	assert_int_equal(unit(0)->lost, 6);
}

static void test_bad_settings(void **state)
{
	(void)state;
	count(0, 0, VPMU_INSNS, BOTH, 0);
	count(0, 5, VPMU_LOADS, BOTH, 0);	/* for the first four */
	assert_int_equal(unit(0)->status, VPMU_BAD_EVENT);
	execute(0, USER, 3);
	assert_int_equal(value(0, 0), 3);	/* goes on as it was */
	unit(0)->event[5] = VPMU_NONE;
	unit(0)->control = 3;
	command(0, VPMU_PROGRAM);
	assert_int_equal(unit(0)->status, VPMU_BAD_CONTROL);
	command_at(USER, 0, VPMU_STOP);
	command(0, 40);
	assert_int_equal(unit(0)->ignored, 2);
	execute(0, USER, 3);
	assert_int_equal(value(0, 0), 6);
}

static void test_reset(void **state)
{
	(void)state;
	count(0, 0, VPMU_INSNS, BOTH, 0);
	command(0, 40);
	execute(0, USER, 3);
	command(1, VPMU_RESET);
	execute(0, USER, 3);
	assert_int_equal(value(0, 0), 0);
	assert_int_equal(unit(0)->ignored, 0);
	count(0, 0, VPMU_INSNS, BOTH, 0);
	execute(0, USER, 3);
	assert_int_equal(value(0, 0), 3);
}

/* All counts, also those that no counter has */
static void test_truth(void **state)
{
	char file[] = "/tmp/vpmu-truth-XXXXXX", more[64], line[64];
	int fd = mkstemp(file);
	FILE *lines;

	(void)state;
	snprintf(more, sizeof(more), "truth=%s", file);
	assert_int_equal(install(more), 0);
	count(2, 0, VPMU_CYCLES, BOTH, 0);
	execute(2, USER, 3);
	execute(2, KERNEL, 4);
	command_at(USER, 2, VPMU_MARK + 9);
	uninstall();
	lines = fdopen(fd, "r");
	do
		assert_non_null(fgets(line, sizeof(line), lines));
	while (strncmp(line, "9 2 2 ", 6));
	assert_string_equal(line, "9 2 2 3 4\n");
	fclose(lines);
	unlink(file);
}

static void test_arguments(void **state)
{
	(void)state;
	assert_int_equal(install("ring=63"), -1);
	uninstall();
	assert_int_equal(install("geometry=line=7"), -1);
	uninstall();
	assert_int_equal(install("shm=-1"), -1);
	uninstall();
	assert_int_equal(install("nonsense=1"), -1);
	uninstall();
}

/* Four CPUs at 1/4 GHz */
static void test_turns(void **state)
{
	struct vpmu_turns t = { .cpus = 4 };
	uint64_t ns = 0;
	unsigned int i;

	(void)state;
	/* one that runs alone: each cycle takes 4 ns, of which QEMU knows those of instructions */
	for (i = 0; i < 100; i++)
		ns += 1500 + vpmu_turn_ns(&t, 0, 2000, 1500);
	assert_int_equal(ns, 100 * 2000 * 4);
	/* all four: no longer */
	ns = 0;
	t = (struct vpmu_turns){ .cpus = 4 };
	for (i = 0; i < 400; i++)
		ns += 1500 + vpmu_turn_ns(&t, i % 4, 2000, 1500);
	assert_in_range(ns, 100 * 2000 * 4, 101 * 2000 * 4);
}

/* Of more than 2.75 GiB of RAM, all but 2 GiB lies above 4 GiB (hw/i386/pc_q35.c). */
static void test_addresses(void **state)
{
	(void)state;
	geometry.memory = 2815ULL << 20;
	assert_int_equal(guest_address(2814ULL << 20), 2814ULL << 20);
	geometry.memory = 2816ULL << 20;
	assert_int_equal(guest_address((2048ULL << 20) - 1), (2048ULL << 20) - 1);
	assert_int_equal(guest_address(2048ULL << 20), 4096ULL << 20);
	assert_int_equal(guest_address(2815ULL << 20), (4096ULL + 767) << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_header, setup, teardown),
		cmocka_unit_test_setup_teardown(test_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_modes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interrupts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stop, setup, teardown),
		cmocka_unit_test_setup_teardown(test_accesses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sources, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flush, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_locked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_settings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reset, setup, teardown),
		cmocka_unit_test(test_truth),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_turns),
		cmocka_unit_test_setup_teardown(test_addresses, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
