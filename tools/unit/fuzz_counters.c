// SPDX-License-Identifier: GPL-2.0
/*
 * Random events, pieces and windows, from a PMU that tells the truth or does not: whatever was
 * counted, the parts of the cycles add up to the cycles, and no estimate is invented. See fuzz.h.
 */
#include <string.h>

#include "counters.h"
#include "fuzz.h"

static const char *const fuzz_name = "fuzz_counters", *const fuzz_claim = "cycles add up";

/* An estimate in the wide numbers that the kernel does not have */
static void check_estimate(const struct hpc_count *c, u64 cycles)
{
	unsigned __int128 value;
	struct hpc_estimate e;

	if (!hpc_estimate(c, cycles, &e)) {
		CHECK(c->slices < HPC_LEAST || !c->cycles);
		return;
	}
	value = (unsigned __int128)c->count * cycles / c->cycles;
	CHECK(e.value == (value >> 64 ? U64_MAX : (u64)value));
	CHECK(c->cycles < cycles || !e.var);
}

static void check_totals(const struct hpc_totals *t, const struct hpc_set *set)
{
	u64 sum = t->completion + t->unknown, parts;
	unsigned int i, k;

	for (i = 0; i < set->nr; i++) {
		CHECK(t->event[i].counted <= t->event[i].cycles);
		CHECK(t->event[i].cycles <= t->cycles);
		if (set->role[i] != HPC_STALL)
			continue;
		sum += t->event[i].stall;
		parts = 0;
		for (k = 0; k < set->nr; k++)
			if (set->role[k] == HPC_SOURCE && set->of[k] == i)
				parts += t->event[k].stall;
		CHECK(parts <= t->event[i].stall);
	}
	CHECK(sum == t->cycles);
}

static void some_set(struct source *src, struct hpc_set *set)
{
	unsigned int i, stalls;

	memset(set, 0, sizeof(*set));
	set->nr = 1 + draw(src, 20);
	set->longest = 1 + draw(src, 200);
	stalls = set->nr > 1 ? draw(src, set->nr) : 0;
	for (i = 1; i < set->nr; i++) {
		set->role[i] = i <= stalls ? HPC_STALL : HPC_SOURCE;
		set->of[i] = set->role[i] == HPC_SOURCE && stalls ? 1 + draw(src, stalls) : 0;
		set->latency[i] = draw(src, 10) ? draw(src, 1000) : U32_MAX;
		if (set->role[i] == HPC_SOURCE && !stalls)
			set->role[i] = HPC_PLAIN;
	}
}

/* Some events are counted in this piece, and each of them so often. */
static void piece(struct source *src, struct hpc_window *w, const struct hpc_set *set, bool lies)
{
	u64 cycles = 1 + draw(src, lies && !draw(src, 8) ? 1ULL << 47 : 100000), events = 1;
	unsigned int i, n, which = draw(src, 4);
	u64 count[HPC_AT_ONCE] = { cycles };
	static u32 slice;

	for (i = n = 1; i < set->nr && n < HPC_AT_ONCE; i++) {
		if (i % 4 != which && draw(src, 10))
			continue;
		events |= 1ULL << i;
		count[n] = draw(src, cycles / (lies ? 1 : set->nr) + 1);
		if (lies && !draw(src, 50))
			count[n] = draw(src, 1ULL << 48);
		n++;
	}
	slice += !!draw(src, 4);
	hpc_window_add(w, slice, events,
		       draw(src, 8) ? (1U << n) - 1 : 1 | (u32)draw(src, 1 << n), count);
}

static void one_round(struct source *src)
{
	static struct hpc_totals t;
	static struct hpc_window w;
	bool lies = draw(src, 2);
	u64 steps = 200 + draw(src, 400);
	struct hpc_set set;
	unsigned int i;

	memset(&t, 0, sizeof(t));
	memset(&w, 0, sizeof(w));
	some_set(src, &set);
	for (; steps && !source_ends(src); steps--) {
		piece(src, &w, &set, lies);
		for (i = 0; i < set.nr; i++)
			check_estimate(&w.event[i], w.cycles);
		if (!hpc_window_due(&w, &set))
			continue;
		hpc_window_close(&w, &set, &t);
		check_totals(&t, &set);
	}
}
