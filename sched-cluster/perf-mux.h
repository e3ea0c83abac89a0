/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns of perf's events in random order, and as short as wanted (thesis 2.4). For
 * kernel/events/core.c, which includes it: it needs what is static there.
 *
 * Groups of events that share a PMU are in a tree, in the order of group_index. At the end of
 * an interval perf moves one of those that had counters behind all others. So each round is
 * as the one before, and a program whose phases take as long as a round always shows an
 * event the same phase. Here all that had counters move into the next round, to a place that
 * is drawn at random. The upper bits of group_index are the number of the round. Contexts of a PMU
 * have rounds of their own, with numbers out of those of the tree. An event with a weight has so
 * many turns in a round, each at a random place in its part of the round.
 *
 * An interval is PERF_MUX_REST times as long as its end takes, or longer, so that a CPU gets its
 * work done however dear that is.
 */
#ifdef CONFIG_PERF_MUX
#include <linux/prandom.h>

#define PERF_MUX_ROUND	20	/* at 20 us there are rounds for eleven years */
#define PERF_MUX_PLACES	BIT(PERF_MUX_ROUND)
#define PERF_MUX_LEAST	20	/* us */
#define PERF_MUX_MOST	USEC_PER_SEC
#define PERF_MUX_REST	4
#define PERF_MUX_HEAVY	64	/* turns in a round, at most */
#define PERF_MUX_DEAR	(25 * NSEC_PER_MSEC)	/* no end of a turn is taken to take longer */

/* of core.c, below */
static bool __group_less(struct rb_node *a, const struct rb_node *b);
static void perf_event_groups_delete(struct perf_event_groups *groups, struct perf_event *event);

static DEFINE_PER_CPU(struct rnd_state, perf_mux_random);
static DEFINE_MUTEX(perf_mux_mutex);

static bool perf_mux_on(const struct pmu *pmu)
{
	return READ_ONCE(pmu->mux_interval_us);
}

/* Places between two turns of @event. While weights are written it may be another's for a turn. */
static u32 perf_mux_step(const struct perf_event *event)
{
	const struct pmu *pmu = event->pmu;
	/* pairs with perf_mux_set_weights(): these have been written */
	unsigned int nr = smp_load_acquire(&pmu->mux_nr_weights), i;

	for (i = 0; i < nr; i++)
		if (READ_ONCE(pmu->mux_weight[i].config) == event->attr.config)
			return PERF_MUX_PLACES / READ_ONCE(pmu->mux_weight[i].turns);
	return PERF_MUX_PLACES;
}

static void perf_mux_move(struct perf_event_groups *groups, struct perf_event *event, u64 place,
			  u32 step)
{
	u32 random = prandom_u32_state(this_cpu_ptr(&perf_mux_random));

	perf_event_groups_delete(groups, event);
	event->group_index = place + (mul_u32_u32(random, step) >> 32);
	rb_add(&event->group_node, &groups->tree, __group_less);
	/* a new event, and perf's own rotation, go on behind it */
	groups->index = max(groups->index, event->group_index);
}

/* To its next turn in the round it is in. Returns false if this was the last one. */
static bool perf_mux_again(struct perf_event_groups *groups, struct perf_event *event)
{
	u64 round = event->group_index >> PERF_MUX_ROUND << PERF_MUX_ROUND;
	u32 step = perf_mux_step(event), place = event->group_index - round;

	place = (place / step + 1) * step;
	if (place + step > PERF_MUX_PLACES)
		return false;
	perf_mux_move(groups, event, round + place, step);
	return true;
}

static void perf_mux_to_round(struct perf_event_groups *groups, struct perf_event *event,
			      u64 round)
{
	perf_mux_move(groups, event, round << PERF_MUX_ROUND, perf_mux_step(event));
}

/*
 * The turn of those that have counters is over. If there are none, @first could not have
 * what it needs. Who was not of this round, but of the one that mux_round tells, had a counter
 * that nobody else wanted: then this one is over, too. An event with many turns may be behind
 * by then, and has those of the round after its own. One that was off for long is behind by more,
 * and has no more than a round of what it missed. Called with the locks of the contexts, interrupts
 * off.
 */
static void perf_mux_end_turn(struct perf_event_pmu_context *pmu_ctx, struct perf_event *first)
{
	struct perf_event_groups *groups = &pmu_ctx->ctx->flexible_groups;
	u64 round = pmu_ctx->mux_round, next = (groups->index >> PERF_MUX_ROUND) + 1, own;
	struct perf_event *event;

	/* the inheritance of events walks the tree */
	if (!first || !perf_mux_on(pmu_ctx->pmu) || pmu_ctx->ctx->rotate_disable)
		return;
	if (list_empty(&pmu_ctx->flexible_active))
		perf_mux_to_round(groups, first, next);
	list_for_each_entry(event, &pmu_ctx->flexible_active, active_list) {
		own = event->group_index >> PERF_MUX_ROUND;
		if (own + 1 >= round && perf_mux_again(groups, event))
			continue;
		if (own < round) {
			perf_mux_to_round(groups, event, max(own + 1, round - 1));
		} else {
			perf_mux_to_round(groups, event, next);
			pmu_ctx->mux_round = next;
		}
	}
}

/* Until the timer ends the next turn. It is its handler that asks, at its end. */
static ktime_t perf_mux_interval(const struct perf_cpu_pmu_context *cpc, struct hrtimer *timer)
{
	ktime_t cost;

	if (!perf_mux_on(cpc->epc.pmu))
		return cpc->hrtimer_interval;
	cost = ktime_sub(hrtimer_cb_get_time(timer), hrtimer_get_expires(timer));
	return max(cpc->hrtimer_interval, PERF_MUX_REST * min(cost, PERF_MUX_DEAR));
}

/* On the CPU of @arg: what is left of a long turn must not delay short ones. */
static int perf_mux_restart(void *arg)
{
	struct perf_cpu_pmu_context *cpc = arg;

	raw_spin_lock(&cpc->hrtimer_lock);
	cpc->hrtimer_active = 1;
	hrtimer_start(&cpc->hrtimer, cpc->hrtimer_interval, HRTIMER_MODE_REL_PINNED_HARD);
	raw_spin_unlock(&cpc->hrtimer_lock);
	return 0;
}

/* 0: perf rotates, as it does without us */
static void perf_mux_set(struct pmu *pmu, unsigned int us)
{
	u64 ns = us ? us * NSEC_PER_USEC : pmu->hrtimer_interval_ms * NSEC_PER_MSEC;
	struct perf_cpu_pmu_context *cpc;
	int cpu;

	lockdep_assert_held(&perf_mux_mutex);
	for_each_possible_cpu(cpu)
		prandom_seed_state(per_cpu_ptr(&perf_mux_random, cpu), get_random_u64());
	WRITE_ONCE(pmu->mux_interval_us, us);
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		cpc = per_cpu_ptr(pmu->cpu_pmu_context, cpu);
		cpc->hrtimer_interval = ns_to_ktime(ns);
		if (cpu_online(cpu))
			cpu_function_call(cpu, perf_mux_restart, cpc);
	}
	cpus_read_unlock();
}

/* Who asks for an interval of perf's own rotation gets it. */
static void perf_mux_end(struct pmu *pmu)
{
	mutex_lock(&perf_mux_mutex);
	if (perf_mux_on(pmu))
		perf_mux_set(pmu, 0);
	mutex_unlock(&perf_mux_mutex);
}

static ssize_t perf_event_mux_interval_us_show(struct device *dev, struct device_attribute *attr,
					       char *page)
{
	const struct pmu *pmu = dev_get_drvdata(dev);

	return sysfs_emit(page, "%u\n", READ_ONCE(pmu->mux_interval_us));
}

static ssize_t perf_event_mux_interval_us_store(struct device *dev, struct device_attribute *attr,
						const char *buf, size_t count)
{
	unsigned int us;
	int ret = kstrtouint(buf, 0, &us);

	if (ret)
		return ret;
	if (us && (us < PERF_MUX_LEAST || us > PERF_MUX_MOST))
		return -EINVAL;
	mutex_lock(&perf_mux_mutex);
	perf_mux_set(dev_get_drvdata(dev), us);
	mutex_unlock(&perf_mux_mutex);
	return count;
}
static DEVICE_ATTR_RW(perf_event_mux_interval_us);

/* CONFIG:TURNS ... */
static int perf_mux_parse_weight(struct perf_mux_weight *weight, char *word)
{
	char *config = strsep(&word, ":");
	u32 turns = 0;
	int ret = word ? kstrtou64(config, 0, &weight->config) : -EINVAL;

	ret = ret ?: kstrtou32(word, 0, &turns);
	if (!ret && (!turns || turns > PERF_MUX_HEAVY))
		ret = -ERANGE;
	weight->turns = turns;
	return ret;
}

static int perf_mux_parse_weights(struct perf_mux_weight *weight, char *text)
{
	unsigned int nr = 0, i;
	char *word;
	int ret;

	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		if (nr == PERF_MUX_WEIGHTS)
			return -E2BIG;
		ret = perf_mux_parse_weight(&weight[nr], word);
		if (ret)
			return ret;
		for (i = 0; i < nr; i++)
			if (weight[i].config == weight[nr].config)
				return -EEXIST;
		nr++;
	}
	return nr;
}

static void perf_mux_set_weights(struct pmu *pmu, const struct perf_mux_weight *weight,
				 unsigned int nr)
{
	unsigned int i;

	lockdep_assert_held(&perf_mux_mutex);
	WRITE_ONCE(pmu->mux_nr_weights, 0);
	for (i = 0; i < nr; i++) {
		WRITE_ONCE(pmu->mux_weight[i].config, weight[i].config);
		WRITE_ONCE(pmu->mux_weight[i].turns, weight[i].turns);
	}
	/* pairs with perf_mux_step() */
	smp_store_release(&pmu->mux_nr_weights, nr);
}

static ssize_t perf_event_mux_weights_show(struct device *dev, struct device_attribute *attr,
					   char *page)
{
	const struct pmu *pmu = dev_get_drvdata(dev);
	unsigned int i;
	int len = 0;

	mutex_lock(&perf_mux_mutex);
	for (i = 0; i < pmu->mux_nr_weights; i++)
		len += sysfs_emit_at(page, len, i ? " 0x%llx:%u" : "0x%llx:%u",
				     pmu->mux_weight[i].config, pmu->mux_weight[i].turns);
	mutex_unlock(&perf_mux_mutex);
	return len + sysfs_emit_at(page, len, "\n");
}

static ssize_t perf_event_mux_weights_store(struct device *dev, struct device_attribute *attr,
					    const char *buf, size_t count)
{
	struct perf_mux_weight weight[PERF_MUX_WEIGHTS];
	char *text;
	int nr;

	/* what is longer has been cut, maybe in a number */
	if (count >= PAGE_SIZE)
		return -E2BIG;
	text = kstrdup(buf, GFP_KERNEL);
	nr = text ? perf_mux_parse_weights(weight, text) : -ENOMEM;
	kfree(text);
	if (nr < 0)
		return nr;
	mutex_lock(&perf_mux_mutex);
	perf_mux_set_weights(dev_get_drvdata(dev), weight, nr);
	mutex_unlock(&perf_mux_mutex);
	return count;
}
static DEVICE_ATTR_RW(perf_event_mux_weights);

#else

static inline bool perf_mux_on(const struct pmu *pmu)
{
	return false;
}

static inline void perf_mux_end_turn(struct perf_event_pmu_context *pmu_ctx,
				     struct perf_event *first)
{
}

static inline ktime_t perf_mux_interval(const struct perf_cpu_pmu_context *cpc,
					struct hrtimer *timer)
{
	return cpc->hrtimer_interval;
}

static inline void perf_mux_end(struct pmu *pmu)
{
}

#endif
