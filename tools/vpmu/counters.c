// SPDX-License-Identifier: GPL-2.0
/*
 * See counters.h.
 *
 * A counter sums up cells of the machine's counts: events times modes. An overflow has to be
 * seen at the access that makes it, at no cost for the accesses between. So each of n cells
 * gets a limit that is its share, the n-th part rounded up, of what is left to count:
 * while no cell has reached its limit the sum is too small, and when one has, we look and
 * share out again.
 */
#include <errno.h>
#include <stdlib.h>

#include "counters.h"

#define COUNTED		(VPMU_USER | VPMU_KERNEL)
#define BIT(n)		(1ULL << (n))

/**
 * struct counter - a counter of a CPU
 * @s: what it is to do; s.event is VPMU_NONE: nothing
 * @events: cells of the machine that it sums up, a bit for each enum vpmu_event
 * @base: their sum when it was programmed
 * @next: value at which it overflows; UINT64_MAX: never
 */
struct counter {
	struct vpmu_selection s;
	uint64_t events;
	uint64_t base, next;
};

/**
 * struct dar - the data address register of a CPU
 * @addr: of the last miss of L1D, or what a wrong path has left
 * @nr: number of that miss, 0: of no access that was completed
 * @misses: of L1D so far
 * @br_misses: wrong paths so far
 * @left: instructions of the block, counted already, that come behind the last miss
 * @due: counters whose overflow is to be an interrupt, a bit for each
 * @at: number of instructions at which it is
 * @of: number of the miss that made the counter overflow, 0: it was none
 */
struct dar {
	uint64_t addr, nr, misses, br_misses, left;
	uint32_t due;
	uint64_t at[VPMU_COUNTERS], of[VPMU_COUNTERS];
};

/**
 * struct unit - counters and ring of a CPU
 * @counter: counters
 * @stopped: values when they were stopped
 * @running: they count
 * @random: state of the generator
 * @dar: with VPMU_DAR
 * @ring: samples
 * @head: samples written, modulo 2^32
 * @tail: samples taken, modulo 2^32
 * @lost: samples for which there was no room
 */
struct unit {
	struct counter counter[VPMU_COUNTERS];
	uint64_t stopped[VPMU_COUNTERS];
	bool running;
	uint64_t random;
	struct dar dar;
	struct vpmu_sample *ring;
	uint32_t head, tail;
	uint64_t lost;
};

struct vpmu_counters {
	struct vpmu_machine *m;
	uint64_t seed;
	uint32_t ring_entries;
	uint32_t stamp;
	struct unit unit[VPMU_MAX_CPUS];
};

/**
 * vpmu_counters_new() - counters for a machine
 * @m: the machine
 * @ring_entries: samples that the ring of a CPU can hold, a power of two
 * @seed: the same seed gives the same random periods
 *
 * Return: the counters, for vpmu_counters_free(), or NULL without memory.
 */
struct vpmu_counters *vpmu_counters_new(struct vpmu_machine *m, uint32_t ring_entries,
					uint64_t seed)
{
	struct vpmu_counters *k = calloc(1, sizeof(*k));
	unsigned int i;

	if (!k)
		return NULL;
	k->m = m;
	k->seed = seed;
	k->ring_entries = ring_entries;
	for (i = 0; i < m->g.cpus; i++) {
		k->unit[i].ring = calloc(ring_entries, sizeof(struct vpmu_sample));
		if (!k->unit[i].ring) {
			vpmu_counters_free(k);
			return NULL;
		}
	}
	vpmu_counters_reset(k);
	return k;
}

void vpmu_counters_free(struct vpmu_counters *k)
{
	unsigned int i;

	if (!k)
		return;
	for (i = 0; i < VPMU_MAX_CPUS; i++)
		free(k->unit[i].ring);
	free(k);
}

/**
 * vpmu_counters_reset() - stop all counters, empty the rings
 * @k: counters
 *
 * To be called after vpmu_machine_reset().
 */
void vpmu_counters_reset(struct vpmu_counters *k)
{
	static const struct vpmu_selection nothing[VPMU_COUNTERS];
	unsigned int i;

	k->stamp = 0;
	for (i = 0; i < k->m->g.cpus; i++) {
		k->unit[i] = (struct unit){ .ring = k->unit[i].ring, .random = k->seed + i };
		vpmu_counters_program(k, i, nothing);
	}
}

/**
 * vpmu_event_placement() - which counters can count an event?
 * @k: counters
 * @event: enum vpmu_event
 *
 * As in real units not every counter can count everything (thesis 2.1): misses, sources and
 * the like are for the first four counters, stalls for the last four, cycles and instructions
 * for any.
 *
 * Return: a bit for each counter, 0: there is no such event.
 */
uint32_t vpmu_event_placement(const struct vpmu_counters *k, unsigned int event)
{
	uint32_t first = 0xf, all = BIT(k->m->g.counters) - 1, last = all & ~3U;

	switch (event) {
	case VPMU_CYCLES:
	case VPMU_INSNS:
		return all;
	case VPMU_LOADS ... VPMU_PREFETCH_USED:
	case VPMU_D_SRC ... VPMU_D_SRC + VPMU_SOURCES - 1:
	case VPMU_I_SRC ... VPMU_I_SRC + VPMU_SOURCES - 1:
		return first;
	case VPMU_STALL_D ... VPMU_STALL_OTHER:
	case VPMU_STALL_D_SRC ... VPMU_STALL_D_SRC + VPMU_SOURCES - 1:
		return last;
	}
	return 0;
}

static uint64_t events_of(const struct vpmu_selection *s)
{
	if (!s->sources)
		return BIT(s->event);
	switch (s->event) {
	case VPMU_L1D_MISS:
		return (uint64_t)s->sources << VPMU_D_SRC;
	case VPMU_L1I_MISS:
		return (uint64_t)s->sources << VPMU_I_SRC;
	case VPMU_STALL_D:
		return (uint64_t)s->sources << VPMU_STALL_D_SRC;
	}
	return 0;
}

static bool selection_good(const struct vpmu_counters *k, unsigned int nr,
			   const struct vpmu_selection *s)
{
	if (s->event == VPMU_NONE)
		return true;
	return s->event < VPMU_EVENTS && vpmu_event_placement(k, s->event) & BIT(nr) &&
	       s->flags & COUNTED && !(s->flags & ~(COUNTED | VPMU_SAMPLE)) &&
	       !(s->sources & ~VPMU_ALL_SOURCES) && events_of(s) &&
	       (!s->period || (s->start && s->period < BIT(63) && s->start < BIT(63) &&
			       s->random_mask < BIT(62)));
}

static uint64_t sum(const struct vpmu_cpu *c, const struct counter *counter)
{
	uint64_t left, n = 0;
	unsigned int e;

	for (left = counter->events; left; left &= left - 1) {
		e = __builtin_ctzll(left);
		if (counter->s.flags & VPMU_USER)
			n += c->count[0][e];
		if (counter->s.flags & VPMU_KERNEL)
			n += c->count[1][e];
	}
	return n;
}

static void limit(struct vpmu_cpu *c, unsigned int kernel, unsigned int event, uint64_t share)
{
	uint64_t at = c->count[kernel][event] + share;

	if (at < c->limit[kernel][event])
		c->limit[kernel][event] = at;
}

static void share_out(struct vpmu_cpu *c, const struct counter *counter)
{
	uint64_t cells = (uint64_t)__builtin_popcountll(counter->events) *
			 __builtin_popcount(counter->s.flags & COUNTED);
	uint64_t to_go = counter->next - (sum(c, counter) - counter->base);
	uint64_t share = (to_go + cells - 1) / cells, left;

	for (left = counter->events; left; left &= left - 1) {
		if (counter->s.flags & VPMU_USER)
			limit(c, 0, __builtin_ctzll(left), share);
		if (counter->s.flags & VPMU_KERNEL)
			limit(c, 1, __builtin_ctzll(left), share);
	}
}

static void no_limits(struct vpmu_cpu *c)
{
	unsigned int e;

	for (e = 0; e < VPMU_EVENTS; e++)
		c->limit[0][e] = c->limit[1][e] = UINT64_MAX;
	c->pending = 0;
}

static void set_limits(struct vpmu_counters *k, unsigned int cpu)
{
	unsigned int i;

	no_limits(&k->m->cpu[cpu]);
	for (i = 0; i < k->m->g.counters; i++)
		if (k->unit[cpu].counter[i].next != UINT64_MAX)
			share_out(&k->m->cpu[cpu], &k->unit[cpu].counter[i]);
}

/**
 * vpmu_counters_program() - let all counters of a CPU do something else
 * @k: counters
 * @cpu: the CPU
 * @selection: of each counter; all start at 0
 *
 * Return: 0, or -EINVAL when a counter cannot do what it is to, and then nothing changed.
 */
int vpmu_counters_program(struct vpmu_counters *k, unsigned int cpu,
			  const struct vpmu_selection *selection)
{
	struct unit *u = &k->unit[cpu];
	unsigned int i;

	for (i = 0; i < k->m->g.counters; i++)
		if (!selection_good(k, i, &selection[i]))
			return -EINVAL;
	for (i = 0; i < VPMU_COUNTERS; i++) {
		struct counter *counter = &u->counter[i];

		*counter = (struct counter){ .next = UINT64_MAX };
		if (i >= k->m->g.counters || selection[i].event == VPMU_NONE)
			continue;
		counter->s = selection[i];
		counter->events = events_of(&selection[i]);
		counter->base = sum(&k->m->cpu[cpu], counter);
		if (selection[i].period)
			counter->next = selection[i].start;
	}
	u->dar.due = 0;
	u->running = true;
	set_limits(k, cpu);
	return 0;
}

/**
 * vpmu_counters_stop() - counters of a CPU keep their values from now on
 * @k: counters
 * @cpu: the CPU
 */
void vpmu_counters_stop(struct vpmu_counters *k, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < VPMU_COUNTERS; i++)
		k->unit[cpu].stopped[i] = vpmu_counter_value(k, cpu, i);
	k->unit[cpu].running = false;
	no_limits(&k->m->cpu[cpu]);
}

/**
 * vpmu_counter_value() - what a counter has counted since it was programmed
 * @k: counters
 * @cpu: the CPU
 * @nr: of the counter
 */
uint64_t vpmu_counter_value(const struct vpmu_counters *k, unsigned int cpu, unsigned int nr)
{
	const struct unit *u = &k->unit[cpu];

	if (!u->running)
		return u->stopped[nr];
	return sum(&k->m->cpu[cpu], &u->counter[nr]) - u->counter[nr].base;
}

/**
 * vpmu_counter_left() - what a counter has to count until it overflows
 * @k: counters
 * @cpu: the CPU
 * @nr: of the counter
 *
 * Return: counts, 0: it never will. 1 when it is to overflow as soon as the caller looks.
 */
uint64_t vpmu_counter_left(const struct vpmu_counters *k, unsigned int cpu, unsigned int nr)
{
	uint64_t next = k->unit[cpu].counter[nr].next, value = vpmu_counter_value(k, cpu, nr);

	if (next == UINT64_MAX)
		return 0;
	return next > value ? next - value : 1;
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void record(struct vpmu_counters *k, unsigned int cpu, unsigned int nr,
		   const struct vpmu_where *where, bool right)
{
	const struct vpmu_cpu *c = &k->m->cpu[cpu];
	struct unit *u = &k->unit[cpu];
	uint32_t stamp = k->stamp++;

	if (u->head - u->tail >= k->ring_entries) {
		u->lost++;
		return;
	}
	u->ring[u->head++ & (k->ring_entries - 1)] = (struct vpmu_sample){
		.where = *where, .cycles = vpmu_cycles(k->m, cpu), .context = c->context,
		.stamp = stamp, .cpu = cpu, .counter = nr, .kernel = c->kernel, .right = right,
	};
}

static uint64_t executed(const struct vpmu_counters *k, unsigned int cpu)
{
	return vpmu_total(k->m, cpu, VPMU_INSNS) - k->unit[cpu].dar.left;
}

/* The interrupt of an overflow comes when so many instructions have followed. */
static void make_due(struct vpmu_counters *k, unsigned int cpu, unsigned int nr,
		     const struct vpmu_where *where)
{
	struct dar *d = &k->unit[cpu].dar;

	if (d->due & BIT(nr))
		return;
	d->due |= BIT(nr);
	d->at[nr] = executed(k, cpu) + k->m->g.skid;
	d->of[nr] = where->miss.source == VPMU_NO_SOURCE ? 0 : d->misses;
}

static void take_interrupt(struct vpmu_counters *k, unsigned int cpu, unsigned int nr, uint64_t ip)
{
	struct dar *d = &k->unit[cpu].dar;
	struct vpmu_where where = {
		.ip = ip, .addr = d->addr, .miss.source = VPMU_NO_SOURCE,
	};

	d->due &= ~BIT(nr);
	record(k, cpu, nr, &where, d->nr && d->nr == d->of[nr]);
}

static void take_interrupts(struct vpmu_counters *k, unsigned int cpu, uint64_t ip, bool at_once)
{
	struct dar *d = &k->unit[cpu].dar;
	unsigned int i;

	for (i = 0; d->due && i < k->m->g.counters; i++)
		if (d->due & BIT(i) && (at_once || executed(k, cpu) >= d->at[i]))
			take_interrupt(k, cpu, i, ip);
}

/*
 * What the core has executed behind a branch that went the other way. That is as long as its
 * penalty, an instruction a cycle, and misses as often as the program does, on the page that it
 * was on.
 */
static void follow_wrong_path(struct vpmu_counters *k, unsigned int cpu)
{
	uint64_t insns = vpmu_total(k->m, cpu, VPMU_INSNS), line = k->m->g.line;
	uint64_t page = 1ULL << VPMU_PAGE_SHIFT;
	struct unit *u = &k->unit[cpu];

	if (next_random(&u->random) % (insns + 1) >= u->dar.misses * k->m->g.br_miss)
		return;
	u->dar.addr = (u->dar.addr & ~(page - 1)) | (next_random(&u->random) & (page - line));
	u->dar.nr = 0;
}

static void follow_wrong_paths(struct vpmu_counters *k, unsigned int cpu)
{
	uint64_t br_misses = vpmu_total(k->m, cpu, VPMU_BR_MISS);
	struct dar *d = &k->unit[cpu].dar;

	for (; d->br_misses != br_misses; d->br_misses++)
		follow_wrong_path(k, cpu);
}

/**
 * vpmu_counters_missed() - an access has missed L1D
 * @k: counters with VPMU_DAR
 * @cpu: whose access
 * @where: the access
 * @left: instructions of its block that come after it
 *
 * To be called before vpmu_counters_overflow().
 */
void vpmu_counters_missed(struct vpmu_counters *k, unsigned int cpu,
			  const struct vpmu_where *where, unsigned int left)
{
	struct dar *d = &k->unit[cpu].dar;

	d->left = left;
	/* of the branch that led here */
	follow_wrong_paths(k, cpu);
	take_interrupts(k, cpu, where->ip, false);
	d->addr = where->addr;
	d->nr = ++d->misses;
}

/**
 * vpmu_counters_look() - take interrupts that are due
 * @k: counters with VPMU_DAR
 * @cpu: the CPU, before its next block
 * @ip: where it is
 * @at_once: do not wait for more instructions
 */
void vpmu_counters_look(struct vpmu_counters *k, unsigned int cpu, uint64_t ip, bool at_once)
{
	k->unit[cpu].dar.left = 0;
	follow_wrong_paths(k, cpu);
	take_interrupts(k, cpu, ip, at_once);
}

/**
 * vpmu_counters_overflow() - an event has reached its limit
 * @k: counters
 * @cpu: on this CPU; vpmu_pending() said so
 * @where: what it is doing
 *
 * A counter that has passed several periods in one step, as cycles can, overflows once.
 */
void vpmu_counters_overflow(struct vpmu_counters *k, unsigned int cpu,
			    const struct vpmu_where *where)
{
	struct unit *u = &k->unit[cpu];
	unsigned int i;

	if (!u->running)
		return;
	for (i = 0; i < k->m->g.counters; i++) {
		struct counter *counter = &u->counter[i];
		uint64_t value = vpmu_counter_value(k, cpu, i);

		if (value < counter->next)
			continue;
		while (counter->next <= value)
			counter->next += counter->s.period +
					 (next_random(&u->random) & counter->s.random_mask);
		if (!(counter->s.flags & VPMU_SAMPLE))
			continue;
		if (k->m->g.sampling == VPMU_DAR)
			make_due(k, cpu, i, where);
		else
			record(k, cpu, i, where, false);
	}
	set_limits(k, cpu);
}

/**
 * vpmu_sample_take() - take the oldest sample out of a ring
 * @k: counters
 * @cpu: whose ring
 * @sample: result
 *
 * Return: was there one?
 */
bool vpmu_sample_take(struct vpmu_counters *k, unsigned int cpu, struct vpmu_sample *sample)
{
	struct unit *u = &k->unit[cpu];

	if (u->head == u->tail)
		return false;
	*sample = u->ring[u->tail++ & (k->ring_entries - 1)];
	return true;
}

/* Samples of a CPU for which its ring had no room, since reset */
uint64_t vpmu_samples_lost(const struct vpmu_counters *k, unsigned int cpu)
{
	return k->unit[cpu].lost;
}
