// SPDX-License-Identifier: GPL-2.0
/*
 * The device as a whole, plugin.c, under a QEMU of a few lines: what is executed and
 * accessed is told to it by us, and what it does to its BAR and its vectors is looked at.
 */
#include <sys/eventfd.h>

#include "plugin.c"

#include "fake-qemu.h"

#define CPUS	3U
#define LOG	64U
#define BYTES	(VPATH_UNIT_OFFSET + CPUS * (VPATH_UNIT_STRIDE + LOG * sizeof(struct vpath_record)))
#define USER	0x400000ULL
#define KERNEL	0xffffffff81000000ULL

/* The machine */

static char *bar;
static int vectors[CPUS];

static struct vpath_unit *unit(unsigned int cpu)
{
	return (void *)(bar + VPATH_UNIT_OFFSET + cpu * VPATH_UNIT_STRIDE);
}

static const struct vpath_record *record_of(unsigned int cpu, uint32_t i)
{
	return (struct vpath_record *)(bar + VPATH_UNIT_OFFSET + CPUS * VPATH_UNIT_STRIDE) +
	       cpu * LOG + i % LOG;
}

static int install(char *const *more, int nr)
{
	char *argv[16], fd[32], cpus[32], log[32], vec[CPUS][32];
	FILE *memory = tmpfile();
	int i, argc = 0;

	assert_non_null(memory);
	snprintf(fd, sizeof(fd), "shm=%d", fileno(memory));
	assert_int_equal(ftruncate(fileno(memory), BYTES), 0);
	bar = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(memory), 0);
	snprintf(cpus, sizeof(cpus), "cpus=%u", CPUS);
	snprintf(log, sizeof(log), "log=%u", LOG);
	argv[argc++] = fd;
	argv[argc++] = cpus;
	argv[argc++] = log;
	for (i = 0; i < (int)CPUS; i++) {
		vectors[i] = eventfd(0, EFD_NONBLOCK);
		snprintf(vec[i], sizeof(vec[i]), "vec=%d", vectors[i]);
		argv[argc++] = vec[i];
	}
	for (i = 0; i < nr; i++)
		argv[argc++] = more[i];
	i = qemu_plugin_install(1, NULL, argc, argv);
	fclose(memory);
	return i;
}

static void uninstall(void)
{
	unsigned int i;

	if (at_exit)
		at_exit(1, NULL);
	for (i = 0; i < CPUS; i++) {
		vpath_stages_destroy(&units[i].st);
		close(vectors[i]);
	}
	munmap(bar, BYTES);
	memset(units, 0, sizeof(units));
	nr_units = nr_vectors = 0;
	stamp = 0;
	fuzz = 0;
	translate = NULL;
	at_exit = NULL;
}

static int setup(void **state)
{
	(void)state;
	return install(NULL, 0);
}

static int teardown(void **state)
{
	(void)state;
	uninstall();
	return 0;
}

/* The instruction with @bytes, at @ip, as QEMU would have it executed */
static struct qemu_plugin_insn insn(uint64_t ip, const void *bytes, size_t size)
{
	struct qemu_plugin_tb tb = { .vaddr = ip, .n = 1, .insns[0].size = size };

	memcpy(tb.insns[0].bytes, bytes, size);
	translate(1, &tb);
	return tb.insns[0];
}

static void command_at(uint64_t ip, unsigned int cpu, unsigned int nr)
{
	uint8_t bytes[7] = { 0x0f, 0x1f, 0x80 };
	uint32_t disp = VPATH_COMMAND(nr);
	struct qemu_plugin_insn i;

	memcpy(bytes + 3, &disp, sizeof(disp));
	i = insn(ip, bytes, sizeof(bytes));
	assert_non_null(i.exec);
	assert_null(i.mem);
	i.exec(cpu, i.exec_data);
}

static void command(unsigned int cpu, unsigned int nr)
{
	command_at(KERNEL, cpu, nr);
}

static void access_by(uint64_t ip, unsigned int cpu, uint64_t addr, uint32_t info)
{
	const uint8_t mov[3] = { 0x48, 0x8b, 0x00 };
	struct qemu_plugin_insn i = insn(ip, mov, sizeof(mov));

	assert_null(i.exec);
	assert_non_null(i.mem);
	i.mem(cpu, info, addr, i.data);
}

static void read_page(unsigned int cpu, uint64_t page)
{
	access_by(USER, cpu, page << VPATH_PAGE_SHIFT, 3);
}

/* Small, and everything that misses is logged */
static void enable(unsigned int cpu, uint32_t control, uint32_t context)
{
	struct vpath_unit *r = unit(cpu);

	r->tlb_entries = 4;
	r->tlb_ways = 4;
	r->pab_entries = 128;
	r->pab_ways = 128;
	r->filter_entries = 0;
	r->control = VPATH_ENABLE | control;
	r->context = context;
	command(cpu, VPATH_SYNC);
	assert_int_equal(r->status, VPATH_OK);
}

/* Tests */

static void test_header(void **state)
{
	const struct vpath_device *d = (void *)bar;
	unsigned int i;

	(void)state;
	assert_int_equal(d->magic, VPATH_MAGIC);
	assert_int_equal(d->version, VPATH_VERSION);
	assert_int_equal(d->units, CPUS);
	assert_int_equal(d->log_entries, LOG);
	assert_int_equal(d->log_offset, VPATH_UNIT_OFFSET + CPUS * VPATH_UNIT_STRIDE);
	assert_int_equal(d->log_stride, LOG * sizeof(struct vpath_record));
	for (i = 0; i < CPUS; i++) {
		assert_int_equal(unit(i)->control, 0);
		assert_int_equal(unit(i)->tlb_entries, 128);
		assert_int_equal(unit(i)->tlb_ways, 16);
		assert_int_equal(unit(i)->pab_entries, 2048);
		assert_int_equal(unit(i)->pab_ways, 16);
		assert_int_equal(unit(i)->filter_entries, 64);
		command(i, VPATH_IDENTIFY);
		assert_int_equal(d->unit, i);
	}
}

/* Nothing is looked at but user addresses of a context that is enabled. */
static void test_who(void **state)
{
	struct vpath_unit *r = unit(1);

	(void)state;
	r->context = 5;
	command(1, VPATH_CONTEXT);
	read_page(1, 7);	/* not enabled */
	assert_int_equal(r->counters.accesses, 0);
	enable(1, 0, 0);
	read_page(1, 7);	/* no context */
	assert_int_equal(r->counters.accesses, 0);
	enable(1, 0, 5);
	access_by(KERNEL, 1, KERNEL + 0x100000, 3);
	assert_int_equal(r->counters.accesses, 0);
	read_page(1, 7);
	read_page(1, 7);
	assert_int_equal(r->counters.accesses, 1);
	assert_int_equal(record_of(1, 0)->addr, 7ULL << VPATH_PAGE_SHIFT);
	assert_int_equal(record_of(1, 0)->context, 5);
	r->only_context = 6;
	command(1, VPATH_SYNC);
	read_page(1, 8);
	assert_int_equal(r->counters.accesses, 1);
	r->context = 6;
	command(1, VPATH_CONTEXT);
	read_page(1, 8);
	assert_int_equal(r->counters.accesses, 2);
	assert_int_equal(record_of(1, 1)->context, 6);
	assert_int_equal(r->head, 2);
	/* another CPU is no business of ours */
	read_page(0, 9);
	assert_int_equal(unit(0)->head, 0);
}

static void test_flags(void **state)
{
	struct vpath_unit *r = unit(0);

	(void)state;
	enable(0, 0, 1);
	access_by(USER, 0, 0x10000, 3);
	access_by(USER, 0, 0x20000, STORE | 3);
	access_by(KERNEL, 0, 0x30000, 0);
	access_by(KERNEL, 0, 0x40000, STORE | 0);
	/* 8 bytes from the last 4 of a page on, and up to its last byte */
	access_by(USER, 0, 0x50ffc, STORE | 3);
	access_by(USER, 0, 0x60ff8, 3);
	assert_int_equal(r->head, 7);
	assert_int_equal(record_of(0, 0)->addr, 0x10000);
	assert_int_equal(record_of(0, 1)->addr, 0x20000 | VPATH_RECORD_WRITE);
	assert_int_equal(record_of(0, 2)->addr, 0x30000 | VPATH_RECORD_KERNEL);
	assert_int_equal(record_of(0, 3)->addr,
			 0x40000 | VPATH_RECORD_KERNEL | VPATH_RECORD_WRITE);
	assert_int_equal(record_of(0, 4)->addr, 0x50000 | VPATH_RECORD_WRITE);
	assert_int_equal(record_of(0, 5)->addr, 0x51000 | VPATH_RECORD_WRITE);
	assert_int_equal(record_of(0, 6)->addr, 0x60000);
}

static uint64_t tlb_misses_of_return(uint32_t control)
{
	struct vpath_unit *r = unit(0);
	uint64_t before;

	enable(0, control, 1);
	read_page(0, 1);
	read_page(0, 2);
	r->context = 2;
	command(0, VPATH_CONTEXT);
	read_page(0, 3);
	r->context = 1;
	command(0, VPATH_CONTEXT);
	before = r->counters.tlb_misses;
	read_page(0, 1);
	read_page(0, 2);
	return r->counters.tlb_misses - before;
}

static void test_tagged(void **state)
{
	(void)state;
	assert_int_equal(tlb_misses_of_return(0), 2);
	command(0, VPATH_RESET);
	assert_int_equal(tlb_misses_of_return(VPATH_TAGGED_TLB), 0);
}

static void test_lookup(void **state)
{
	struct vpath_unit *r = unit(0);

	(void)state;
	enable(0, 0, 1);
	read_page(0, 7);
	r->lookup_context = 1;
	r->lookup_page = 7;
	command(0, VPATH_LOOKUP);
	assert_int_equal(r->lookup_result, 1);
	r->lookup_context = 2;
	command(0, VPATH_LOOKUP);
	assert_int_equal(r->lookup_result, 0);
	r->lookup_context = 1;
	command(0, VPATH_RESET);
	command(0, VPATH_LOOKUP);
	assert_int_equal(r->lookup_result, 0);
}

static void test_reset(void **state)
{
	static const struct vpath_counters none;
	struct vpath_unit *r = unit(0);

	(void)state;
	enable(0, 0, 1);
	read_page(0, 7);
	command(0, VPATH_RESET);
	assert_memory_equal(&r->counters, &none, sizeof(none));
	/* what is in the log stays, and the registers */
	assert_int_equal(r->head, 1);
	assert_int_equal(r->tlb_entries, 4);
	/* the page that was accessed last is an event again */
	read_page(0, 7);
	assert_int_equal(r->head, 2);
	assert_int_equal(r->counters.logged, 1);
}

/* A unit that is told nonsense says so, and goes on as it was. */
static void test_nonsense(void **state)
{
	static const struct { size_t at; uint32_t value, status; } bad[] = {
		{ offsetof(struct vpath_unit, control), 8, VPATH_BAD_CONTROL },
		{ offsetof(struct vpath_unit, sample_shift), 25, VPATH_BAD_CONTROL },
		{ offsetof(struct vpath_unit, duty_on), 1, VPATH_BAD_CONTROL },
		{ offsetof(struct vpath_unit, tlb_entries), 3, VPATH_BAD_GEOMETRY },
		{ offsetof(struct vpath_unit, tlb_ways), 8, VPATH_BAD_GEOMETRY },
		{ offsetof(struct vpath_unit, pab_entries), 64, VPATH_BAD_GEOMETRY },
		{ offsetof(struct vpath_unit, pab_entries), UINT32_MAX, VPATH_BAD_GEOMETRY },
		{ offsetof(struct vpath_unit, filter_entries), 1025, VPATH_BAD_GEOMETRY },
	};
	struct vpath_unit *r = unit(0);
	uint32_t *reg, was, head;
	size_t i;

	(void)state;
	enable(0, 0, 1);
	read_page(0, 7);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		reg = (void *)((char *)r + bad[i].at);
		was = *reg;
		*reg = bad[i].value;
		r->context = 2;
		command(0, VPATH_SYNC);
		assert_int_equal(r->status, bad[i].status);
		*reg = was;
		head = r->head;
		read_page(0, 8 + i);
		assert_int_equal(r->head, head + 1);
		assert_int_equal(record_of(0, head)->context, 1);
		/* the stages have not been emptied either */
		read_page(0, 7);
		assert_int_equal(r->head, head + 1);
	}
	/* nor does the geometry they have */
	r->context = 1;
	command(0, VPATH_SYNC);
	assert_int_equal(r->status, VPATH_OK);
	head = r->head;
	read_page(0, 9);
	read_page(0, 8);
	assert_int_equal(r->head, head);
	/* another empties them, and is no reset */
	r->pab_ways = 64;
	command(0, VPATH_SYNC);
	read_page(0, 9);
	assert_int_equal(r->head, head + 1);
	assert_true(r->counters.logged > 1);
}

/* A full log loses records, and counts them. */
static void test_full(void **state)
{
	struct vpath_unit *r = unit(0);
	uint32_t i;

	(void)state;
	enable(0, 0, 1);
	for (i = 0; i < LOG + 10; i++)
		read_page(0, 100 + i);
	assert_int_equal(r->head, LOG);
	assert_int_equal(r->counters.logged, LOG);
	assert_int_equal(r->counters.overflowed, 10);
	assert_int_equal(record_of(0, 0)->addr >> VPATH_PAGE_SHIFT, 100);
	r->tail = 3;
	for (i = 0; i < 5; i++)
		read_page(0, 1000 + i);
	assert_int_equal(r->head, LOG + 3);
	assert_int_equal(record_of(0, LOG + 2)->addr >> VPATH_PAGE_SHIFT, 1002);
	assert_int_equal(r->counters.overflowed, 12);
	/* a tail that cannot be */
	r->tail = r->head + 1;
	read_page(0, 2000);
	assert_int_equal(r->head, LOG + 3);
	assert_int_equal(r->counters.overflowed, 13);
}

static unsigned int rung(unsigned int cpu)
{
	uint64_t n;

	return read(vectors[cpu], &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void test_interrupt(void **state)
{
	unsigned int cpu, other;
	struct vpath_unit *r;
	uint32_t i;

	(void)state;
	for (cpu = 0; cpu < CPUS; cpu++) {
		r = unit(cpu);
		r->threshold = 8;
		enable(cpu, VPATH_INTERRUPT, 1);
		for (i = 0; i < 7; i++)
			read_page(cpu, 100 + i);
		assert_int_equal(rung(cpu), 0);
		read_page(cpu, 100 + i++);
		assert_int_equal(rung(cpu), 1);
		/* once; and again when as much has come while it stayed so */
		for (; i < 15; i++)
			read_page(cpu, 100 + i);
		assert_int_equal(rung(cpu), 0);
		read_page(cpu, 100 + i++);
		assert_int_equal(rung(cpu), 1);
		/* not below it */
		r->tail = r->head;
		for (; i < 23; i++)
			read_page(cpu, 100 + i);
		assert_int_equal(rung(cpu), 0);
		assert_int_equal(r->counters.interrupts, 2);
		for (other = 0; other < CPUS; other++)
			assert_int_equal(rung(other), 0);
		/* nor when it is not asked for */
		enable(cpu, 0, 1);
		for (; i < 60; i++)
			read_page(cpu, 100 + i);
		assert_int_equal(rung(cpu), 0);
	}
}

/* Who may command what; and what looks like a command and is none */
static void test_commands(void **state)
{
	static const uint8_t others[][7] = {
		{ 0x0f, 0x1f, 0x80, 0x00, 0x54, 0x41, 0x51 },
		{ 0x0f, 0x1f, 0x80, 0x80, 0x54, 0x41, 0x50 },
		{ 0x0f, 0x1f, 0x81, 0x00, 0x54, 0x41, 0x50 },
		{ 0x0f, 0x1f, 0x80, 0xff, 0x53, 0x41, 0x50 },
	};
	struct vpath_unit *r = unit(0);
	size_t i;

	(void)state;
	enable(0, 0, 1);
	read_page(0, 7);
	for (i = 0; i < VPATH_MARK; i++)
		command_at(USER, 0, i);
	assert_int_equal(r->counters.ignored, VPATH_MARK);
	assert_int_equal(r->counters.logged, 1);
	command(0, VPATH_RESET + 1);
	assert_int_equal(r->counters.ignored, VPATH_MARK + 1);
	command_at(USER, 0, VPATH_MARK);
	command(0, VPATH_MARK + 63);
	assert_int_equal(r->counters.ignored, VPATH_MARK + 1);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_null(insn(KERNEL, others[i], sizeof(others[i])).exec);
	assert_null(insn(KERNEL, "\x0f\x1f\x80\x00\x54\x41\x50\x00", 8).exec);
}

static uint64_t held_back(const struct vpath_counters *c)
{
	return c->unsampled + c->paused + c->logged + c->overflowed;
}

/*
 * Under settings that change at random: no record is lost that is not counted, each stage sees
 * no more than the one before, and the order of the records of all units is known.
 */
static void test_counted(void **state)
{
	unsigned int seed = 11, i, cpu;
	uint64_t marks[CPUS] = { 0 }, before;
	const struct vpath_counters *c;
	struct vpath_unit *r;
	uint32_t last = 0;

	(void)state;
	for (i = 0; i < 200000; i++) {
		cpu = rand_r(&seed) % CPUS;
		r = unit(cpu);
		c = &r->counters;
		if (rand_r(&seed) % 500 == 0) {
			r->sample_shift = rand_r(&seed) % 3;
			r->duty_period = rand_r(&seed) % 2 * 300;
			r->duty_on = r->duty_period / 3;
			r->relog = rand_r(&seed) % 2 * 20;
			enable(cpu, rand_r(&seed) % 2 ? VPATH_TAGGED_TLB : 0, 1 + rand_r(&seed) % 2);
		}
		if (rand_r(&seed) % 40 == 0)
			r->tail = r->head;
		before = c->logged;
		access_by(rand_r(&seed) % 4 ? USER : KERNEL, cpu,
			  (uint64_t)(rand_r(&seed) % 600) << VPATH_PAGE_SHIFT,
			  rand_r(&seed) % 3 ? 0 : STORE);
		for (; before < c->logged; before++) {
			const struct vpath_record *rec =
				record_of(cpu, r->head - (c->logged - before));

			assert_true(!last || rec->stamp == last + 1);
			last = rec->stamp;
			marks[cpu] += !!(rec->addr & VPATH_RECORD_RESUMED);
		}
		assert_true(c->accesses >= c->tlb_misses && c->tlb_misses >= c->pab_misses &&
			    c->pab_misses >= c->filter_misses);
		assert_int_equal(c->filter_misses + c->relogged, held_back(c) - marks[cpu]);
	}
	/* or nothing was seen */
	for (cpu = 0; cpu < CPUS; cpu++) {
		c = &unit(cpu)->counters;
		assert_true(marks[cpu] > 10 && c->relogged > 100 && c->unsampled > 100 &&
			    c->paused > 100 && c->overflowed > 100);
	}
}

/* One page in so many, and those the kernel takes for sampled */
static void test_sampled(void **state)
{
	struct vpath_unit *r = unit(0);
	uint32_t i, head = 0, want;

	(void)state;
	r->sample_shift = 4;
	enable(0, 0, 1);
	for (i = 0; i < 4096; i++) {
		read_page(0, 0x1000 + i);
		want = head + mmpath_sampled(0x1000 + i, 4);
		assert_int_equal(r->head, want);
		head = r->tail = r->head;
	}
	assert_int_equal(head, 256);
	assert_int_equal(r->counters.unsampled, 4096 - 256);
}

static void test_duty(void **state)
{
	struct vpath_unit *r = unit(0);
	uint32_t i;

	(void)state;
	r->duty_period = 20;
	r->duty_on = 5;
	enable(0, 0, 1);
	for (i = 0; i < 200; i++)
		read_page(0, 1000 + i);
	/* 10 periods, the first of which begins with an access that is counted already */
	assert_int_equal(r->counters.paused, 150);
	assert_int_equal(r->counters.logged, 50 + 10);
	for (i = 0; i < 4; i++)
		assert_false(record_of(0, i)->addr & VPATH_RECORD_RESUMED);
	assert_true(record_of(0, 4)->addr == VPATH_RECORD_RESUMED);
	assert_int_equal(record_of(0, 5)->addr >> VPATH_PAGE_SHIFT, 1019);
}

/* A page is told once it is left, of the context that touched it, written if it ever was. */
static void test_truth(void **state)
{
	static const struct truth_event want[] = {
		{ TRUTH_WRITE, 1, 7 }, { TRUTH_READ, 1, 8 }, { TRUTH_MARK, 1, 5 },
		{ TRUTH_READ, 1, 9 }, { TRUTH_WRITE, 2, 9 }, { TRUTH_READ, 2, 3 },
	};
	char file[] = "/tmp/test-plugin-XXXXXX", arg[64], *more[] = { arg };
	struct truth_reader *reader;
	struct truth_event ev;
	size_t i;

	(void)state;
	close(mkstemp(file));
	snprintf(arg, sizeof(arg), "truth=%s", file);
	assert_int_equal(install(more, 1), 0);
	enable(0, 0, 1);
	read_page(0, 7);
	access_by(USER, 0, 7 << VPATH_PAGE_SHIFT, STORE | 3);
	read_page(0, 7);
	read_page(0, 8);
	command_at(USER, 0, VPATH_MARK + 5);
	read_page(0, 9);
	unit(0)->context = 2;
	command(0, VPATH_CONTEXT);
	access_by(USER, 0, 9 << VPATH_PAGE_SHIFT, STORE | 3);
	read_page(0, 3);
	unit(0)->context = 0;
	command(0, VPATH_CONTEXT);
	read_page(0, 4);
	uninstall();
	reader = truth_open(file);
	assert_non_null(reader);
	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_int_equal(truth_next(reader, &ev), 1);
		assert_int_equal(ev.type, want[i].type);
		assert_int_equal(ev.context, want[i].context);
		assert_int_equal(ev.value, want[i].value);
	}
	assert_int_equal(truth_next(reader, &ev), 0);
	truth_close(reader);
	unlink(file);
}

/* Whatever the guest writes into its registers, the plugin stays in its memory (ASan). */
static void test_hostile(void **state)
{
	char arg[] = "fuzz=3", *more[] = { arg };
	unsigned int seed = 5, i, cpu;
	uint32_t *words;

	(void)state;
	assert_int_equal(install(more, 1), 0);
	words = (uint32_t *)bar;
	for (i = 0; i < 300000; i++) {
		cpu = rand_r(&seed) % CPUS;
		if (i % 1000 == 0) {
			memset(unit(cpu), 0, offsetof(struct vpath_unit, status));
			enable(cpu, VPATH_INTERRUPT, 1);
		}
		if (rand_r(&seed) % 8 == 0)
			words[rand_r(&seed) % (BYTES / 4)] = (uint32_t)rand_r(&seed) * 3;
		if (rand_r(&seed) % 50 == 0)
			command(cpu, rand_r(&seed) % 8);
		access_by(USER, cpu, (uint64_t)rand_r(&seed) << rand_r(&seed) % 32,
			  rand_r(&seed) % 5);
	}
	uninstall();
}

static void test_arguments(void **state)
{
	static const char *const bad[] = {
		"cpus=0", "cpus=65", "log=63", "log=100", "log=33554432", "pab=7", "tlb_ways=3",
		"foo=1", "tlb=x", "truth=/nonexistent/x", "log=1048576", "filter=", "cpus=+2",
		"relog=-18446744073709551615",
	};
	size_t i;
	char *more[1];

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const struct vpath_geometry was = geometry;

		more[0] = (char *)bad[i];
		if (!install(more, 1))
			fail_msg("%s is taken", bad[i]);
		geometry = was;
		log_entries = LOG;
		uninstall();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_header, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tagged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lookup, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reset, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_commands, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sampled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_duty, setup, teardown),
		cmocka_unit_test(test_truth),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
