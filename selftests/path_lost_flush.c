// SPDX-License-Identifier: GPL-2.0
/*
 * When a page is made inaccessible, its TLB entries must be flushed before reclaim
 * can see it. Reclaim takes an inaccessible entry for one that no CPU has cached.
 * It does not flush, and frees the page while another CPU still writes to it.
 *
 * One thread counts in every page, round and round, while another one has the
 * pages reclaimed. If a write goes to a page that was freed, a count is missing at
 * the end. Without the flush in emul_protect(), for a page that falls out of the
 * buffer, or in emul_walk_pmd(), for all pages when tracking begins, the case of
 * that name fails.
 *
 * MADV_PAGEOUT would prove nothing: it reclaims between tlb_gather_mmu() and
 * tlb_finish_mmu(). Meanwhile mm->tlb_flush_pending is set, and pte_accessible()
 * takes inaccessible entries for cached ones. So all entries are flushed.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "path_util.h"

#define NR_PAGES	256UL
#define PAB		16
#define SECONDS		4	/* or more, until all pages were swapped out once */
#define MOST_SECONDS	40

static char *cg, *mem;
static __volatile__ bool stop;
static __volatile__ unsigned long rounds;

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *count(void *arg)
{
	size_t i;

	on_cpu(0);
	while (!stop) {
		for (i = 0; i < NR_PAGES; i++)
			++*(__volatile__ unsigned long *)(mem + i * PAGE + i * 8);
		rounds++;
	}
	return NULL;
}

static void take_some(void)
{
	path_cg_write(cg, "memory.reclaim", "1M");
}

/* All pages become inaccessible at once, while the other thread uses them. */
static void begin_and_take(void)
{
	path_track(cg, false);
	path_sleep_ms(10);
	path_track(cg, true);
	take_some();
}

static size_t wrong(void)
{
	size_t i, bad = 0;

	for (i = 0; i < NR_PAGES; i++)
		bad += *(__volatile__ unsigned long *)(mem + i * PAGE + i * 8) != rounds;
	return bad;
}

static long long swapped_out(void)
{
	char *text = path_slurp("/proc/vmstat");
	long long pages = path_text_key(text, "pswpout");

	free(text);
	return pages;
}

static int fight(void *arg)
{
	void (*take)(void) = *(void (**)(void))arg;
	unsigned long start = path_now_ms(), ms;
	long long before = swapped_out();
	size_t i, bad, takes = 0;
	pthread_t thread;
	/* a debug kernel on a busy machine reclaims once in 1.5 s */
	unsigned long most_ms = MOST_SECONDS * (path_slow() ? 5000 : 1000);

	mem = path_map(NR_PAGES * PAGE, false);
	/* not zero: a page of zeros would be swapped without being written */
	for (i = 0; i < NR_PAGES; i++)
		memset(mem + i * PAGE + 2048, 0x11 + i, 2048);
	if (pthread_create(&thread, NULL, count, NULL))
		return KSFT_FAIL;
	on_cpu(1);
	do {
		take();
		takes++;
		ms = path_now_ms() - start;
	} while (ms < SECONDS * 1000 ||
		 (swapped_out() - before < (long long)NR_PAGES && ms < most_ms));
	stop = true;
	pthread_join(thread, NULL);
	bad = wrong();
	ksft_print_msg("%lu rounds, %zu times reclaimed, %zu of %lu pages wrong\n", rounds, takes,
		       bad, NR_PAGES);
	return bad || !rounds ? KSFT_FAIL : KSFT_PASS;
}

static void test(const char *name, void (*take)(void))
{
	long long before = swapped_out();
	int ret;

	cg = path_cg(NULL, "flush");
	ret = path_run(cg, fight, &take, MOST_SECONDS + 30);
	if (swapped_out() - before < (long long)NR_PAGES)
		ksft_print_msg("only %lld pages were swapped out\n", swapped_out() - before);
	ksft_test_result(path_eq(ret, 0) && path_ge(swapped_out() - before, (long long)NR_PAGES),
			 "%s\n", name);
	path_cg_remove(cg);
}

int main(void)
{
	path_start(2, 200);
	if (!path_have_swap() || sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		ksft_test_result_skip("needs swap and two CPUs\n");
		ksft_test_result_skip("needs swap and two CPUs\n");
		ksft_finished();
	}
	path_exact(PAB);
	/* no page may stay accessible only because nothing pushes it out */
	path_set("epoch_ms", "100");
	test("reclaim while pages fall out of the buffer", take_some);
	/* a large buffer, and no scan later: pages become inaccessible only at the beginning */
	path_exact(1024);
	path_set("epoch_ms", "60000");
	test("reclaim when tracking has begun", begin_and_take);
	ksft_finished();
}
