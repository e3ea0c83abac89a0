// SPDX-License-Identifier: GPL-2.0
/*
 * Lines that come from other chips: events of perf on each CPU. To count them costs nothing, and
 * tells whether there is anything to learn. When there is, they sample: their handler puts the
 * address and the task into a ring (Azimi 2007, 3.2.1).
 *
 * Loads alone do not show all that is shared. Who fills a ring for another thread reads little of
 * what that has written: it asks for permission to write lines that it has. So there is an event
 * for such stores, too, where a PMU can count them.
 *
 * The handlers may run in an NMI, or in the middle of a context switch. So they take no lock and
 * look nothing up. Those of a CPU run one after the other, and are the only writers of its ring.
 * The worker is the only reader.
 *
 * Perf takes cpus_read_lock() when an event is created or released. So a CPU that comes or goes
 * only leaves a note, and the worker does the rest in its next round.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpuset.h>
#include <linux/device.h>
#include <linux/kernel_stat.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/sched/isolation.h>
#include <linux/tick.h>
#include <linux/vmalloc.h>
#include "taskcluster.h"

#define RING_ENTRIES	2048U

/**
 * struct taskcluster_ring - the samples of a CPU
 * @head: samples written, modulo 2^32
 * @tail: samples read, modulo 2^32
 * @sample: sample i is in entry i modulo RING_ENTRIES
 */
struct taskcluster_ring {
	u32 head;
	u32 tail;
	struct taskcluster_sample sample[RING_ENTRIES];
};

/**
 * struct taskcluster_source - the events of a CPU
 * @event: NULL while there are none
 * @ring: where their samples go, kept while they only count; NULL: there were none yet
 * @counted: their counts when they were last read
 * @since: when that was, or they were opened
 * @idle_ns: idle time of the CPU so far, then
 * @rate: of all of them in a second, between the last two times
 * @share: of its time that the CPU lost to them
 * @asked: when the second of these was
 * @remembered: @share when taskcluster_remember_shares() was called
 * @stale: the CPU was offline: the events are dead
 */
struct taskcluster_source {
	struct perf_event *event[TASKCLUSTER_EVENTS];
	struct taskcluster_ring *ring;
	u64 counted[TASKCLUSTER_EVENTS];
	ktime_t since, asked;
	u64 idle_ns;
	u32 rate, share, remembered;
	bool stale;
};

static DEFINE_PER_CPU(struct taskcluster_source, taskcluster_sources);
static unsigned int taskcluster_opened;	/* period of the events that are open; 0: they count */
static bool taskcluster_cpuhp;	/* the notes of CPUs that come and go are wanted */

/* Some PMUs cannot select by source. Data from no other chip's cache says nothing of sharing. */
static bool sample_is_local(const struct perf_sample_data *data)
{
	union perf_mem_data_src src = data->data_src;

	if (!(data->sample_flags & PERF_SAMPLE_DATA_SRC) || src.val == PERF_MEM_NA)
		return false;
	return !src.mem_remote &&
	       !(src.mem_lvl & (PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2));
}

static bool sample_is_locked(const struct perf_sample_data *data)
{
	return data->sample_flags & PERF_SAMPLE_DATA_SRC &&
	       data->data_src.mem_lock == PERF_MEM_LOCK_LOCKED;
}

static void sample_put(const struct perf_event *event, const struct perf_sample_data *data, u64 ip)
{
	struct taskcluster_ring *ring = event->overflow_handler_context;
	u32 head = ring->head;
	struct taskcluster_sample *s = &ring->sample[head % RING_ENTRIES];

	/* pairs with taskcluster_drain_ring(), which has read what was there */
	if (head - smp_load_acquire(&ring->tail) >= RING_ENTRIES) {
		this_cpu_inc(taskcluster_stats[TASKCLUSTER_LOST]);
		return;
	}
	s->start = current->start_time;
	s->pid = current->pid;
	s->exec_id = READ_ONCE(current->self_exec_id);
	s->ran_ns = READ_ONCE(current->se.sum_exec_runtime);
	s->addr = data->addr;
	s->phys = data->sample_flags & PERF_SAMPLE_PHYS_ADDR ? data->phys_addr : 0;
	s->code = ip;
	/* who reads it may have chosen another period since */
	s->period = event->attr.sample_period;
	s->cpu = smp_processor_id();
	s->locked = sample_is_locked(data);
	/* pairs with taskcluster_drain_ring(), which then reads the entry */
	smp_store_release(&ring->head, head + 1);
	this_cpu_inc(taskcluster_stats[TASKCLUSTER_SAMPLES]);
}

static void taskcluster_overflow(struct perf_event *event, struct perf_sample_data *data,
				 struct pt_regs *regs)
{
	const u64 wanted = PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR;

	if (current->flags & (PF_KTHREAD | PF_EXITING))
		return;
	/* perf looks up what the PMU has not told */
	if (~data->sample_flags & wanted)
		perf_prepare_sample(data, event, regs);
	sample_put(event, data, perf_instruction_pointer(regs));
}

/* A store that asks for permission brings no data, so it has no source. */
static void taskcluster_overflow_load(struct perf_event *event, struct perf_sample_data *data,
				      struct pt_regs *regs)
{
	if (sample_is_local(data))
		this_cpu_inc(taskcluster_stats[TASKCLUSTER_LOCAL]);
	else
		taskcluster_overflow(event, data, regs);
}

static void taskcluster_drain_ring(struct taskcluster_ring *ring,
				   void (*note)(const struct taskcluster_sample *s))
{
	u32 head = smp_load_acquire(&ring->head);	/* pairs with sample_put() */
	u32 tail = ring->tail;

	for (; tail != head; tail++)
		note(&ring->sample[tail % RING_ENTRIES]);
	/* pairs with sample_put(), which then writes over the entries */
	smp_store_release(&ring->tail, tail);
}

/**
 * taskcluster_drain() - take the samples out of all rings
 * @note: called for each of them
 *
 * Context: process, taskcluster_mutex held.
 */
void taskcluster_drain(void (*note)(const struct taskcluster_sample *s))
{
	struct taskcluster_source *source;
	int cpu;

	lockdep_assert_held(&taskcluster_mutex);
	for_each_possible_cpu(cpu) {
		source = per_cpu_ptr(&taskcluster_sources, cpu);
		if (source->ring)
			taskcluster_drain_ring(source->ring, note);
	}
}

/* The bus of all PMUs. It has no name elsewhere, but each PMU is on it. */
static const struct bus_type *taskcluster_pmu_bus(struct perf_event *event)
{
	const struct device *dev = event->pmu->dev;

	return IS_ERR_OR_NULL(dev) ? NULL : dev->bus;
}

/**
 * taskcluster_pmu_type() - find a PMU
 * @name: its name in /sys/bus/event_source/devices
 *
 * Context: process. Return: its type, or -ENODEV if there is none with this name.
 */
int taskcluster_pmu_type(const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr), .disabled = 1,
	};
	const struct bus_type *bus;
	struct perf_event *event;
	struct device *dev = NULL;
	struct pmu *pmu;
	int type = -ENODEV;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	bus = taskcluster_pmu_bus(event);
	if (bus)
		dev = bus_find_device_by_name(bus, NULL, name);
	if (dev) {
		pmu = dev_get_drvdata(dev);
		type = pmu->type;
		put_device(dev);
	}
	perf_event_release_kernel(event);
	return type;
}

static void source_close(struct taskcluster_source *source)
{
	unsigned int i;

	for (i = 0; i < TASKCLUSTER_EVENTS; i++) {
		if (source->event[i])
			perf_event_release_kernel(source->event[i]);
		source->event[i] = NULL;
		source->counted[i] = 0;
	}
}

/* Samples that were not read are lost, and nobody asks for them any more. */
static void source_end(struct taskcluster_source *source)
{
	source_close(source);
	vfree(source->ring);
	source->ring = NULL;
	source->asked = 0;
}

/*
 * Some PMUs, as PEBS of Intel's, tell the address of an access only where precise samples are
 * asked for. Others refuse that, and so do all for an event that only counts.
 */
static struct perf_event *source_event(struct taskcluster_source *source, int cpu,
				       struct perf_event_attr *attr,
				       perf_overflow_handler_t handler)
{
	struct perf_event *event;

	if (attr->sample_period) {
		attr->precise_ip = 2;
		event = perf_event_create_kernel_counter(attr, cpu, NULL, handler, source->ring);
		if (!IS_ERR(event))
			return event;
		attr->precise_ip = 0;
	}
	return perf_event_create_kernel_counter(attr, cpu, NULL, handler, source->ring);
}

/* As /proc/stat has it. Where the tick is periodic it is known by the tick. */
static u64 cpu_idle_ns(int cpu)
{
	const u64 *stat = kcpustat_cpu(cpu).cpustat;
	u64 idle_us = get_cpu_idle_time_us(cpu, NULL), wait_us = get_cpu_iowait_time_us(cpu, NULL);

	if (idle_us == U64_MAX || wait_us == U64_MAX)
		return stat[CPUTIME_IDLE] + stat[CPUTIME_IOWAIT];
	return (idle_us + wait_us) * NSEC_PER_USEC;
}

static int source_open(struct taskcluster_source *source, int cpu, unsigned int period)
{
	struct perf_event_attr attr = {
		.type = taskcluster_config.type, .size = sizeof(attr),
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
			       PERF_SAMPLE_PHYS_ADDR,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	perf_overflow_handler_t handler;
	struct perf_event *event;
	unsigned int i;

	if (period && !source->ring) {
		source->ring = vzalloc_node(sizeof(*source->ring), cpu_to_node(cpu));
		if (!source->ring)
			return -ENOMEM;
	}
	for (i = 0; i < taskcluster_config.nr_events; i++) {
		attr.config = taskcluster_config.event[i];
		handler = i ? taskcluster_overflow : taskcluster_overflow_load;
		event = source_event(source, cpu, &attr, period ? handler : NULL);
		if (IS_ERR(event)) {
			source_close(source);
			return PTR_ERR(event);
		}
		source->event[i] = event;
	}
	source->since = ktime_get();
	source->idle_ns = cpu_idle_ns(cpu);
	return 0;
}

static int taskcluster_cpu_online(unsigned int cpu)
{
	WRITE_ONCE(per_cpu(taskcluster_sources, cpu).stale, true);
	return 0;
}

static int taskcluster_watch_cpus(void)
{
	int ret;

	if (taskcluster_cpuhp)
		return 0;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "sched/taskcluster:online",
					taskcluster_cpu_online, NULL);
	taskcluster_cpuhp = ret >= 0;
	return min(ret, 0);
}

static void taskcluster_visit_sources(void (*fn)(struct taskcluster_source *source))
{
	int cpu;

	for_each_possible_cpu(cpu)
		fn(per_cpu_ptr(&taskcluster_sources, cpu));
}

/*
 * CPUs in no domain of the scheduler are no home of any thread, and are not to be interrupted.
 * Those of nohz_full are homes, where they are in one.
 */
static bool source_is_wanted(int cpu)
{
	return cpu_online(cpu) && housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) &&
	       !cpuset_cpu_is_isolated(cpu);
}

/*
 * Open the events of CPUs that have come, and close those of CPUs that have gone. The PMU may be
 * one of some CPUs only.
 */
static int taskcluster_open_all(void)
{
	struct taskcluster_source *source;
	int cpu, ret, none = 0;
	bool some = false;

	for_each_possible_cpu(cpu) {
		source = per_cpu_ptr(&taskcluster_sources, cpu);
		if (xchg(&source->stale, false) || !source_is_wanted(cpu))
			source_end(source);
		if (!source->event[0] && source_is_wanted(cpu)) {
			ret = source_open(source, cpu, taskcluster_opened);
			if (ret == -ENOENT || ret == -ENODEV)
				none = ret;
			/* a CPU may have gone meanwhile */
			else if (ret && cpu_online(cpu))
				return ret;
		}
		some = some || source->event[0];
	}
	return some ? 0 : none;
}

/**
 * taskcluster_watch() - count or sample on all CPUs that are online and not isolated
 * @period: one sample in this many; 0: count only
 *
 * Called again in each round. Context: process, taskcluster_mutex held.
 *
 * Return: 0, or the error of the PMU; then nothing is watched.
 */
int taskcluster_watch(unsigned int period)
{
	int ret;

	lockdep_assert_held(&taskcluster_mutex);
	if (period != taskcluster_opened)
		taskcluster_visit_sources(source_close);
	taskcluster_opened = period;
	ret = taskcluster_watch_cpus() ?: taskcluster_open_all();
	if (ret)
		taskcluster_visit_sources(source_end);
	return ret;
}

/**
 * taskcluster_unwatch() - leave no event open
 *
 * The next call of taskcluster_watch() opens them again, with what is set then. Context: process,
 * taskcluster_mutex held.
 */
void taskcluster_unwatch(void)
{
	lockdep_assert_held(&taskcluster_mutex);
	taskcluster_visit_sources(source_end);
}

/* A CPU that is idle takes no lines, and is not woken up for what it has counted before. */
static bool source_counts(int cpu, void *unused)
{
	return per_cpu(taskcluster_sources, cpu).event[0] && !idle_cpu(cpu);
}

/* What an event has counted since the last time. One that goes back is a PMU that lies. */
static u64 source_count(struct taskcluster_source *source, unsigned int i)
{
	u64 now, before = source->counted[i];

	if (!source->event[i] || perf_event_read_local(source->event[i], &now, NULL, NULL))
		return 0;
	source->counted[i] = now;
	return now > before ? now - before : 0;
}

/* Events in a second. A PMU that lies may count anything, and no product may overflow for that. */
static u32 events_in_second(u64 count, u64 ns)
{
	count = min_t(u64, count, U32_MAX);
	return min_t(u64, div64_u64(count * NSEC_PER_SEC, ns), U32_MAX);
}

/* On the CPU of the events: one interrupt reads all of them, and all CPUs at the same time. */
static void source_read(void *time)
{
	struct taskcluster_source *source = this_cpu_ptr(&taskcluster_sources);
	ktime_t now = *(const ktime_t *)time;
	u64 ns = max_t(s64, ktime_sub(now, source->since), 1), count = 0;
	u64 idle_ns = cpu_idle_ns(smp_processor_id());
	unsigned int i;

	for (i = 0; i < TASKCLUSTER_EVENTS; i++)
		count += source_count(source, i);
	source->rate = events_in_second(count, ns);
	source->share = taskcluster_time_lost(count, taskcluster_config.latency_ns, ns,
					      idle_ns - source->idle_ns);
	source->idle_ns = idle_ns;
	source->since = now;
	source->asked = now;
}

/**
 * taskcluster_look() - how many lines come from other chips, and what they cost
 * @look: of the CPUs that have most, so that two threads that share are seen on a large machine
 *
 * Since the last call. A CPU that is idle now is not asked. It counts as it did when it was asked
 * last, for two rounds at most: who sleeps for a moment goes on afterwards.
 *
 * Context: process, taskcluster_mutex held.
 */
void taskcluster_look(struct taskcluster_look *look)
{
	ktime_t now = ktime_get(), recent;
	const struct taskcluster_source *source;
	int cpu;

	lockdep_assert_held(&taskcluster_mutex);
	*look = (struct taskcluster_look){ };
	recent = ktime_sub_ms(now, 2ULL * READ_ONCE(taskcluster_config.round_ms));
	on_each_cpu_cond(source_counts, source_read, &now, true);
	for_each_online_cpu(cpu) {
		source = per_cpu_ptr(&taskcluster_sources, cpu);
		if (!ktime_after(source->asked, recent))
			continue;
		look->rate = max(look->rate, source->rate);
		look->share = max(look->share, source->share);
	}
}

static void source_remember(struct taskcluster_source *source)
{
	source->remembered = source->share;
}

/**
 * taskcluster_remember_shares() - for taskcluster_shares_differ()
 *
 * Context: process, taskcluster_mutex held.
 */
void taskcluster_remember_shares(void)
{
	lockdep_assert_held(&taskcluster_mutex);
	taskcluster_visit_sources(source_remember);
}

/**
 * taskcluster_shares_differ() - has the share of a CPU changed since shares were remembered?
 *
 * Context: process, taskcluster_mutex held.
 *
 * Return: true if by more than a quarter of what it was, or of arm_percent if that is more
 */
bool taskcluster_shares_differ(void)
{
	u32 least = READ_ONCE(taskcluster_config.arm_percent) * (TASKCLUSTER_WHOLE / 100);
	const struct taskcluster_source *source;
	int cpu;

	lockdep_assert_held(&taskcluster_mutex);
	for_each_possible_cpu(cpu) {
		source = per_cpu_ptr(&taskcluster_sources, cpu);
		if (abs_diff(source->share, source->remembered) >
		    max(source->remembered, least) / 4)
			return true;
	}
	return false;
}
