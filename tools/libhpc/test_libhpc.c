// SPDX-License-Identifier: GPL-2.0
/*
 * libhpc, on a log in memory that a kernel might have written.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include <uapi/linux/hpc.h>

#include "counters.h"
#include "hpc.h"
#include "private.h"

#define PIECES	64
#define EVENTS	"cycles=10:1 stall.d=10:2 source.d.l2=10:3@14 source.d.mem=10:4@280 stall.i=10:5 insns=10:6"

static char sys[] = "/tmp/test_libhpc.XXXXXX";

static void put_events(const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/events", sys);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A handle on a log of two groups: cycles stall.d l2 mem, and cycles stall.i insns */
static struct hpc *fake(void)
{
	struct hpc *h = calloc(1, sizeof(*h));

	h->fd = -1;
	h->size = 4096 + PIECES * sizeof(struct hpc_log_piece);
	h->size = (h->size + 4095) & ~4095UL;
	h->log = mmap(NULL, h->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(h->log, MAP_FAILED);
	h->log->pieces = h->pieces = PIECES;
	h->log->offset = 4096;
	h->piece = (void *)((char *)h->log + 4096);
	h->log->epoch = 2;
	h->log->round = 2;
	h->log->set[0] = 0x0f;
	h->log->set[1] = 0x31;
	put_events(EVENTS);
	return h;
}

/* The kernel writes a piece of 1000 cycles: 300 for data, of which 280 of memory, 100 for code. */
static void write_piece(struct hpc *h, uint64_t from, uint64_t to)
{
	static const uint64_t count[2][4] = { { 1000, 300, 1, 1 }, { 1000, 100, 700, 0 } };
	uint64_t head = h->log->head;
	struct hpc_log_piece *p = (struct hpc_log_piece *)&h->piece[head % PIECES];

	*p = (struct hpc_log_piece){ .from = from, .to = to, .group = head % 2,
				     .seen = head % 2 ? 7 : 15, .epoch = h->log->epoch,
				     .slice = head };
	memcpy(p->count, count[head % 2], sizeof(count[0]));
	h->log->head++;
}

static void write_pieces(struct hpc *h, unsigned int nr, uint64_t region)
{
	for (; nr; nr--) {
		write_piece(h, region, region);
		if (h->log->head - h->log->tail == PIECES)
			hpc_update(h);
	}
	hpc_update(h);
}

static struct hpc_cycles cycles_of(struct hpc *h, unsigned int region)
{
	struct hpc_cycles c;

	assert_int_equal(hpc_cycles(h, region, &c), 0);
	return c;
}

static struct hpc_value cause(struct hpc *h, unsigned int region, const char *name)
{
	struct hpc_value v;
	unsigned int n;

	for (n = 0; !hpc_cause(h, region, n, &v); n++)
		if (!strcmp(v.name, name))
			return v;
	fail_msg("no %s", name);
	return v;
}

static void test_estimates(void **state)
{
	struct hpc *h = fake();
	struct hpc_value v;

	write_pieces(h, 100, 3);
	assert_int_equal(cycles_of(h, 3).cycles + cycles_of(h, 3).pending, 100000);
	assert_int_equal(cycles_of(h, 3).unknown, 0);
	assert_int_equal(cycles_of(h, HPC_THREAD).cycles, cycles_of(h, 3).cycles);
	assert_int_equal(cycles_of(h, 2).cycles + cycles_of(h, 2).pending, 0);
	v = cause(h, 3, "completion");
	assert_true(v.known);
	assert_int_equal(v.value, cycles_of(h, 3).cycles * 6 / 10);
	assert_int_equal(cause(h, 3, "d").value, cycles_of(h, 3).cycles * 3 / 10);
	assert_int_equal(cause(h, 3, "i").value, cycles_of(h, 3).cycles / 10);
	/* 280 of 294 for each access to memory */
	assert_true(cause(h, 3, "d.mem").value > cause(h, 3, "d.l2").value * 19);
	assert_int_equal(cause(h, 3, "d.l2").counted, 50);
	assert_false(cause(h, 2, "d").known);
	assert_int_equal(hpc_event(h, 3, 5, &v), 0);
	assert_string_equal(v.name, "insns");
	assert_int_equal(v.value, cycles_of(h, 3).cycles * 7 / 10);
	assert_int_equal(hpc_event(h, 3, 6, &v), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(hpc_cause(h, 65, 0, &v), -1);
	assert_int_equal(errno, EINVAL);
	hpc_close(h);
	(void)state;
}

/* Causes come with their sources behind them, as in cpu.stalls. */
static void test_order(void **state)
{
	static const char *const names[] = { "completion", "d", "d.l2", "d.mem", "i" };
	struct hpc *h = fake();
	struct hpc_value v;
	unsigned int n;

	write_pieces(h, 40, 1);
	for (n = 0; n < 5; n++) {
		assert_int_equal(hpc_cause(h, 1, n, &v), 0);
		assert_string_equal(v.name, names[n]);
	}
	assert_int_equal(hpc_cause(h, 1, n, &v), -1);
	hpc_close(h);
	(void)state;
}

static void test_regions(void **state)
{
	struct hpc *h = fake();
	uint64_t word;
	unsigned int i;

	hpc_begin(h, 5);
	word = h->log->region;
	assert_int_equal(word % HPC_REGIONS, 5);
	hpc_begin(h, 7);
	assert_int_equal(h->log->region % HPC_REGIONS, 7);
	hpc_begin(h, HPC_REGIONS + 1);
	assert_int_equal(h->log->region % HPC_REGIONS, 0);
	hpc_end(h);
	hpc_end(h);
	assert_int_equal(h->log->region % HPC_REGIONS, 5);
	/* it was left meanwhile */
	assert_int_not_equal(h->log->region, word);
	hpc_end(h);
	hpc_end(h);
	assert_int_equal(h->log->region % HPC_REGIONS, 0);
	for (i = 0; i < 100; i++)
		hpc_begin(h, 1 + i % 60);
	for (; i > DEPTH; i--)
		hpc_end(h);
	assert_int_equal(h->log->region % HPC_REGIONS, 0);
	hpc_end(h);
	assert_int_equal(h->log->region % HPC_REGIONS, DEPTH - 1);
	hpc_close(h);
	(void)state;
}

static void test_mixed(void **state)
{
	struct hpc *h = fake();
	unsigned int i;

	for (i = 0; i < 40; i++) {
		write_piece(h, 64 * i + 3, i % 4 ? 64 * i + 3 : 64 * i + 67);
		hpc_update(h);
	}
	assert_int_equal(cycles_of(h, 3).mixed, 10000);
	assert_int_equal(cycles_of(h, 3).cycles + cycles_of(h, 3).pending, 30000);
	assert_int_equal(cycles_of(h, HPC_THREAD).cycles + cycles_of(h, HPC_THREAD).pending, 40000);
	hpc_close(h);
	(void)state;
}

/* The log is emptied before it is full, though nobody asks. */
static void test_is_emptied(void **state)
{
	struct hpc *h = fake();
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		hpc_begin(h, 1);
		write_piece(h, h->log->region, h->log->region);
		hpc_end(h);
		assert_true(h->log->head - h->log->tail <= PIECES / 2 + 1);
	}
	hpc_update(h);
	assert_int_equal(cycles_of(h, 1).cycles + cycles_of(h, 1).pending, 1000000);
	hpc_close(h);
	(void)state;
}

/* Between a call that fails, and who asks why */
static void test_errno(void **state)
{
	struct hpc *h = fake();
	unsigned int i;

	/* the kernel writes the groups just now */
	h->log->epoch = 3;
	for (i = 0; i < 40; i++)
		write_piece(h, 1, 1);
	errno = 42;
	hpc_begin(h, 1);
	assert_int_equal(errno, 42);
	assert_int_equal(h->log->tail, 40);
	hpc_close(h);
	(void)state;
}

/* What was counted of other events is forgotten, and pieces of them are not taken for these. */
static void test_new_epoch(void **state)
{
	struct hpc *h = fake();
	struct hpc_value v;

	assert_int_equal(hpc_update(h), -1);
	assert_int_equal(errno, EAGAIN);
	write_pieces(h, 40, 1);
	write_piece(h, 1, 1);
	put_events("cycles=10:1 stall.x=10:9");
	h->log->epoch = 4;
	h->log->round = 1;
	memset(h->log->set, 0, sizeof(h->log->set));
	h->log->set[0] = h->log->set[1] = 3;
	assert_int_equal(hpc_update(h), 0);
	write_pieces(h, 40, 1);
	assert_int_equal(cycles_of(h, 1).cycles + cycles_of(h, 1).pending, 40000);
	assert_int_equal(hpc_cause(h, 1, 1, &v), 0);
	assert_string_equal(v.name, "x");
	assert_int_equal(hpc_cause(h, 1, 2, &v), -1);
	/* nor of those that came and went meanwhile */
	h->log->epoch = 6;
	write_piece(h, 1, 1);
	h->log->epoch = 8;
	hpc_update(h);
	assert_int_equal(cycles_of(h, 1).cycles + cycles_of(h, 1).pending, 40000);
	/* the kernel is about to write them */
	h->log->epoch = 9;
	write_piece(h, 1, 1);
	hpc_update(h);
	assert_int_equal(h->epoch, 4);
	assert_int_equal(cycles_of(h, 1).cycles + cycles_of(h, 1).pending, 40000);
	hpc_close(h);
	(void)state;
}

static void test_nonsense(void **state)
{
	struct hpc *h = fake();
	struct hpc_log_piece *p;
	unsigned int i;

	write_pieces(h, 2, 1);
	for (i = 0; i < 3; i++) {
		p = (struct hpc_log_piece *)&h->piece[h->log->head % PIECES];
		write_piece(h, ~0ULL, ~0ULL);
		if (i == 0)
			p->group = 0xffff;
		if (i == 1)
			p->group = 5;
		if (i == 2)
			p->seen = 6;
		hpc_update(h);
	}
	assert_int_equal(cycles_of(h, HPC_THREAD).pending, 2000);
	write_pieces(h, 1, ~0ULL);
	assert_int_equal(cycles_of(h, 63).pending, 1000);
	hpc_close(h);
	(void)state;
}

static void test_bad_events(void **state)
{
	static const char *const bad[] = {
		"cycles", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1:1",
	};
	char text[4096] = "";
	struct events e;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		strcpy(text, bad[i]);
		assert_false(events_parse(&e, text));
	}
	text[0] = '\0';
	for (i = 0; i < 65; i++)
		sprintf(text + strlen(text), "e%u=1:1\n", i);
	assert_false(events_parse(&e, text));
	/* of no stall that there is */
	strcpy(text, "cycles=1:1 source.d.l2=1:2@3 source.x=1:2 stall.x=1:3");
	assert_true(events_parse(&e, text));
	assert_int_equal(e.set.nr, 4);
	assert_int_equal(e.set.role[1], HPC_PLAIN);
	assert_int_equal(e.set.role[2], HPC_PLAIN);
	assert_int_equal(e.set.role[3], HPC_STALL);
	(void)state;
}

/* A program runs as without the library. */
static void test_no_handle(void **state)
{
	struct hpc_cycles c;
	struct hpc_value v;

	hpc_begin(NULL, 1);
	hpc_end(NULL);
	hpc_close(NULL);
	assert_int_equal(hpc_update(NULL), -1);
	assert_int_equal(hpc_cycles(NULL, 1, &c), -1);
	assert_int_equal(hpc_cause(NULL, 1, 0, &v), -1);
	assert_int_equal(hpc_event(NULL, 1, 0, &v), -1);
	assert_int_equal(hpc_print(NULL, 1, stdout), -1);
	assert_true(hpc_ended(NULL));
	(void)state;
}

static void test_print(void **state)
{
	struct hpc *h = fake();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write_pieces(h, 34, 1);
	hpc_print(h, 1, out);
	fclose(out);
	assert_non_null(strstr(text, "cycles 33000\npending 1000\nunknown 0\n"
				     "completion cycles=19800 error=0\n"
				     "d cycles=9900 error=0 counted=51\n"));
	free(text);
	hpc_close(h);
	(void)state;
}

static int make_sys(void **state)
{
	if (!mkdtemp(sys))
		return -1;
	setenv("LIBHPC_SYS", sys, 1);
	(void)state;
	return 0;
}

static int remove_sys(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/events", sys);
	unlink(path);
	rmdir(sys);
	(void)state;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_is_emptied),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_new_epoch),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_bad_events),
		cmocka_unit_test(test_no_handle),
		cmocka_unit_test(test_print),
	};

	cmocka_set_test_filter(getenv("UNIT_FILTER"));
	return cmocka_run_group_tests_name("libhpc", tests, make_sys, remove_sys);
}
