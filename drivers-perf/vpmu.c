// SPDX-License-Identifier: GPL-2.0
/*
 * Perf on the virtual performance monitoring unit, a device of QEMU.
 *
 * Each CPU has a unit with six counters, and a ring in memory that it shares with the
 * kernel. See Documentation/mm/path/vpmu-device.rst.
 *
 *	pmu_disable   the unit stops. What it counted is added to the events, and what is in
 *	              the ring is delivered
 *	add, del, ... change which event has which counter, in memory only
 *	pmu_enable    the unit is told all of it by one command
 *
 * Samples wait in the ring. A timer of the CPU drains it. Perf disables the PMU when the task
 * changes, so a sample is delivered while the task that caused it is current. The device
 * sends no interrupt: when it arrived would depend on the host.
 *
 * A unit looks at its CPU while there is any event on any CPU, because caches are coherent
 * only if all units look.
 *
 * The device is not trusted. What it writes is read once and checked. What cannot be is
 * counted in stats/lies and used for nothing else.
 *
 * Locks: vpmu_lock, inside of cpus_read_lock(), is for the number of events and for CPUs that
 * come. The rest of a CPU is used on that CPU only, with interrupts off.
 */
#define pr_fmt(fmt) "vpmu: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/nospec.h>
#include <linux/pci.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include "vpmu.h"

/* Time until a ring is looked at again: twice as long each time that little is in it. */
#define VPMU_DRAIN_NS	(250 * NSEC_PER_USEC)
#define VPMU_DRAIN_MOST_NS	(8 * NSEC_PER_MSEC)
/* More than a counter can count until it is read. */
#define VPMU_MOST	BIT_ULL(48)
#define VPMU_ALL	GENMASK(VPMU_COUNTERS - 1, 0)

/**
 * struct vpmu_cpu - a CPU and its unit
 * @reg: registers of the unit, NULL when the CPU has none
 * @ring: records of the unit
 * @callers: return addresses of each record; NULL: the device has none
 * @tail: first record that was not drained
 * @online: the CPU is, or is about to be
 * @halted: perf has disabled the PMU on this CPU
 * @reading: perf reads several events in one go
 * @changed: counters that the unit has to be told of anew, a bit for each
 * @events: who has which counter
 * @seen: what the counter had counted when it was read last
 * @sampling: number of @events that take samples
 * @timer: drains the ring while there are such
 * @drain_ns: time until @timer looks at the ring again
 */
struct vpmu_cpu {
	struct vpmu_unit *reg;
	const struct vpmu_record *ring;
	const u64 (*callers)[VPMU_CALLERS];
	u32 tail;
	bool online, halted, reading;
	u32 changed;
	struct perf_event *events[VPMU_COUNTERS];
	u64 seen[VPMU_COUNTERS];
	unsigned int sampling;
	struct hrtimer timer;
	u32 drain_ns;
};

static DEFINE_PER_CPU(struct vpmu_cpu, vpmu_cpus);

static DEFINE_MUTEX(vpmu_lock);

struct vpmu vpmu;

/* Commands are instructions, which do nothing on a CPU without the device. */
static __always_inline void vpmu_do(const unsigned int nr)
{
	asm volatile("nopl %c0(%%rax)" : : "i" (VPMU_COMMAND(nr)) : "memory");
}

/* Samples */

/* The event a record belongs to, NULL if the record cannot be or is of another task. */
static struct perf_event *vpmu_owner(struct vpmu_cpu *c, struct vpmu_record *r)
{
	struct perf_event *event = r->counter < VPMU_COUNTERS ? c->events[r->counter] : NULL;
	bool kernel = vpmu_in_kernel(r->ip);

	if (!event || !is_sampling_event(event) || (kernel && event->attr.exclude_kernel) ||
	    (!kernel && (event->attr.exclude_user || r->ip >= TASK_SIZE_MAX))) {
		vpmu_lie();
		return NULL;
	}
	if (r->context != current->pid) {
		atomic64_inc(&vpmu.late);
		return NULL;
	}
	if (vpmu_is_vague())
		atomic64_inc(r->flags & VPMU_RECORD_RIGHT ? &vpmu.right : &vpmu.wrong);
	/* an event of user space must not tell an address of the kernel */
	if (event->attr.exclude_kernel && vpmu_in_kernel(r->addr))
		r->addr = 0;
	return event;
}

/*
 * Deliver what is in the ring. Of each counter the last record is held back until the end,
 * which counts as an interrupt if this is one. The unit has stopped, and c->events are those
 * that it has counted for.
 */
static void vpmu_drain(struct vpmu_cpu *c, bool interrupt)
{
	struct perf_event *last[VPMU_COUNTERS] = { }, *event;
	struct vpmu_record kept[VPMU_COUNTERS], r;
	const u64 *callers[VPMU_COUNTERS] = { };
	u32 burst[VPMU_COUNTERS] = { };
	u32 head, mask = vpmu.header.ring_entries - 1;
	unsigned int k;

	/* pairs with the device: it writes head after the records */
	head = smp_load_acquire(&c->reg->head);
	if (head - c->tail > vpmu.header.ring_entries) {
		vpmu_lie();
		head = c->tail;		/* it may come to its senses */
	}
	for (; c->tail != head; c->tail++) {
		/* once, so that the values used are those checked */
		memcpy(&r, &c->ring[c->tail & mask], sizeof(r));
		barrier();
		event = vpmu_owner(c, &r);
		if (!event)
			continue;
		if (burst[r.counter]++)
			vpmu_deliver(event, &kept[r.counter], callers[r.counter], 0);
		last[r.counter] = event;
		kept[r.counter] = r;
		callers[r.counter] = c->callers ? c->callers[c->tail & mask] : NULL;
	}
	for (k = 0; k < VPMU_COUNTERS; k++)
		if (last[k])
			vpmu_deliver(last[k], &kept[k], callers[k], interrupt ? burst[k] : 0);
	/* pairs with the device: the slots may be written again */
	smp_store_release(&c->reg->tail, c->tail);
}

/* Counters */

static bool vpmu_counts(const struct perf_event *event)
{
	return event && !(event->hw.state & PERF_HES_STOPPED);
}

/*
 * Of an event, hw.config is its number, .config_base the flags, .event_base the random mask and
 * .extra_reg.config the sources.
 */
static u64 vpmu_longest(struct perf_event *event)
{
	return event->hw.sample_period + event->hw.event_base;
}

/* Number of counts until the next sample. Perf may have changed the period since it was set. */
static u64 vpmu_left(struct perf_event *event)
{
	u64 left = local64_read(&event->hw.period_left);

	return left && left <= vpmu_longest(event) ? left : event->hw.sample_period;
}

/* Add to the events what was counted since the last time. The unit has been read. */
static void vpmu_update(struct vpmu_cpu *c)
{
	struct perf_event *event;
	unsigned int k;
	u64 value;

	for (k = 0; k < VPMU_COUNTERS; k++) {
		event = c->events[k];
		if (!vpmu_counts(event))
			continue;
		value = READ_ONCE(c->reg->value[k]);
		/* one that went back as well */
		if (value - c->seen[k] > VPMU_MOST) {
			vpmu_lie();
			continue;
		}
		local64_add(value - c->seen[k], &event->count);
		c->seen[k] = value;
		if (is_sampling_event(event))
			local64_set(&event->hw.period_left, READ_ONCE(c->reg->left[k]));
	}
}

static void vpmu_set_counter(struct vpmu_cpu *c, unsigned int k)
{
	struct perf_event *event = c->events[k];
	bool on = vpmu_counts(event) && event->hw.config_base;
	bool samples = on && is_sampling_event(event);
	struct vpmu_unit *reg = c->reg;

	reg->event[k] = on ? event->hw.config : VPMU_NONE;
	reg->flags[k] = on ? event->hw.config_base : 0;
	reg->sources[k] = on ? event->hw.extra_reg.config : 0;
	reg->period[k] = 0;
	if (!samples)
		return;
	reg->flags[k] |= VPMU_SAMPLE;
	reg->period[k] = event->hw.sample_period;
	reg->random_mask[k] = event->hw.event_base;
	reg->start[k] = vpmu_left(event);
	event->hw.last_period = event->hw.sample_period;
}

/* Counters of which the unit has to be told: those that changed, and when the next sample is due */
static u32 vpmu_news(const struct vpmu_cpu *c)
{
	u32 news = c->changed;
	unsigned int k;

	for (k = 0; c->sampling && k < VPMU_COUNTERS; k++)
		if (c->events[k] && is_sampling_event(c->events[k]))
			news |= BIT(k);
	return news;
}

/* Tell the unit what is new, and let it count. */
static void vpmu_program(struct vpmu_cpu *c)
{
	unsigned long news = vpmu_news(c);
	unsigned int k;

	for_each_set_bit(k, &news, VPMU_COUNTERS)
		vpmu_set_counter(c, k);
	c->changed = 0;
	memset(c->seen, 0, sizeof(c->seen));
	c->reg->control = c->online && READ_ONCE(vpmu.events) ? VPMU_ENABLE : 0;
	c->reg->context = current->pid;
	WRITE_ONCE(c->reg->status, U32_MAX);
	vpmu_do(VPMU_PROGRAM);
	if (READ_ONCE(c->reg->status) != VPMU_OK) {
		vpmu_lie();
		c->changed = VPMU_ALL;
	}
}

static bool vpmu_usable(const struct vpmu_cpu *c)
{
	return c->reg && !READ_ONCE(vpmu.gone);
}

static void vpmu_halt(struct vpmu_cpu *c, bool interrupt)
{
	if (!vpmu_usable(c))
		return;
	vpmu_do(VPMU_STOP);
	vpmu_update(c);
	if (READ_ONCE(c->reg->head) != c->tail)
		vpmu_drain(c, interrupt);
}

static void vpmu_resume(struct vpmu_cpu *c)
{
	if (vpmu_usable(c))
		vpmu_program(c);
}

/* Perf calls it also when the task changes, see above. Interrupts are off. */
static void vpmu_disable(struct pmu *pmu)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	vpmu_halt(c, false);
	c->halted = true;
}

static void vpmu_enable(struct pmu *pmu)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	c->halted = false;
	vpmu_resume(c);
}

static enum hrtimer_restart vpmu_timer(struct hrtimer *timer)
{
	struct vpmu_cpu *c = container_of(timer, struct vpmu_cpu, timer);
	u32 found;

	/* the timers of a CPU that goes offline move to another */
	if (c != this_cpu_ptr(&vpmu_cpus) || !c->sampling || !vpmu_usable(c))
		return HRTIMER_NORESTART;
	found = READ_ONCE(c->reg->head) - c->tail;
	if (!c->halted && found) {
		vpmu_halt(c, true);
		vpmu_resume(c);
	}
	c->drain_ns = found > vpmu.header.ring_entries / 32 ? VPMU_DRAIN_NS :
		      min(2 * c->drain_ns, VPMU_DRAIN_MOST_NS);
	hrtimer_forward_now(timer, ns_to_ktime(c->drain_ns));
	return HRTIMER_RESTART;
}

static void vpmu_start_timer(struct vpmu_cpu *c)
{
	c->drain_ns = VPMU_DRAIN_NS;
	hrtimer_start(&c->timer, ns_to_ktime(c->drain_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Perf calls pmu_disable before and pmu_enable after it: there the ring is drained. */
static void vpmu_sched_task(struct perf_event_pmu_context *ctx, struct task_struct *task,
			    bool sched_in)
{
}

/**
 * vpmu_lost() - samples of all CPUs that found their ring full
 *
 * Context: any.
 */
u64 vpmu_lost(void)
{
	const struct vpmu_unit *reg;
	u64 lost = 0;
	int cpu;

	for_each_cpu(cpu, &vpmu.cpus) {
		reg = per_cpu(vpmu_cpus, cpu).reg;
		if (reg && !READ_ONCE(vpmu.gone))
			lost += READ_ONCE(reg->lost);
	}
	return lost;
}

/* Who gets which counter */

/*
 * Find a counter for @event, which may move others to other counters. @tried are counters that
 * are spoken for, or were changed. Kuhn's algorithm: it finds a place if there is one. At most
 * VPMU_COUNTERS deep. None is moved while there is one that is free.
 */
static bool vpmu_place(struct perf_event **at, struct perf_event *event, u32 *tried)
{
	u32 may = vpmu.header.placement[event->hw.config];
	unsigned int k;

	for (k = 0; k < VPMU_COUNTERS; k++) {
		if (at[k] || !(may & BIT(k)))
			continue;
		*tried |= BIT(k);
		at[k] = event;
		return true;
	}
	for (k = 0; k < VPMU_COUNTERS; k++) {
		if (!(may & ~*tried & BIT(k)))
			continue;
		*tried |= BIT(k);
		if (vpmu_place(at, at[k], tried)) {
			at[k] = event;
			return true;
		}
	}
	return false;
}

static bool vpmu_fits(struct perf_event **at, struct perf_event *event, const struct pmu *pmu)
{
	u32 tried = 0;

	return event->pmu != pmu || vpmu_place(at, event, &tried);
}

/* Can the group of @event be on the counters at the same time? */
static bool vpmu_group_fits(struct perf_event *event)
{
	struct perf_event *at[VPMU_COUNTERS] = { }, *sibling;

	if (!vpmu_fits(at, event, event->pmu))
		return false;
	if (event->group_leader == event)
		return true;
	if (!vpmu_fits(at, event->group_leader, event->pmu))
		return false;
	for_each_sibling_event(sibling, event->group_leader)
		if (!vpmu_fits(at, sibling, event->pmu))
			return false;
	return true;
}

/* struct pmu */

/* Halt the unit if perf has not, around a change. */
static void vpmu_change_begin(struct vpmu_cpu *c)
{
	if (!c->halted)
		vpmu_halt(c, false);
}

static void vpmu_change_end(struct vpmu_cpu *c)
{
	if (!c->halted)
		vpmu_resume(c);
}

static void vpmu_start(struct perf_event *event, int flags)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	vpmu_change_begin(c);
	event->hw.state = 0;
	c->changed = VPMU_ALL;
	vpmu_change_end(c);
}

static void vpmu_stop(struct perf_event *event, int flags)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	vpmu_change_begin(c);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	c->changed = VPMU_ALL;
	vpmu_change_end(c);
}

static void vpmu_read_unit(struct vpmu_cpu *c)
{
	if (c->halted || !vpmu_usable(c))
		return;
	vpmu_do(VPMU_READ);
	vpmu_update(c);
}

static void vpmu_read(struct perf_event *event)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	if (!c->reading)
		vpmu_read_unit(c);
}

/* One read of the unit serves all events that are read in one go. */
static void vpmu_start_txn(struct pmu *pmu, unsigned int flags)
{
	if (flags == PERF_PMU_TXN_READ)
		this_cpu_ptr(&vpmu_cpus)->reading = true;
	else
		perf_pmu_disable(pmu);
}

static void vpmu_cancel_txn(struct pmu *pmu)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	if (!c->reading)
		perf_pmu_enable(pmu);
	c->reading = false;
}

static int vpmu_commit_txn(struct pmu *pmu)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	if (c->reading)
		vpmu_read_unit(c);
	vpmu_cancel_txn(pmu);
	return 0;
}

/* What user space has mapped of the event, if it has */
static void vpmu_tell_user(struct perf_event *event)
{
	if (READ_ONCE(event->rb))
		perf_event_update_userpage(event);
}

/* The counter that it had last, if that is free, or any. It may lead others to other counters. */
static bool vpmu_take(struct vpmu_cpu *c, struct perf_event *event)
{
	unsigned int last = event->hw.idx;
	u32 tried = 0;

	if (last < VPMU_COUNTERS && !c->events[last]) {
		c->events[last] = event;
		c->changed |= BIT(last);
		return true;
	}
	if (!vpmu_place(c->events, event, &tried))
		return false;
	c->changed |= tried;
	return true;
}

/* Perf has disabled the PMU. */
static int vpmu_add(struct perf_event *event, int flags)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	if (!vpmu_usable(c) || !vpmu_take(c, event))
		return -EAGAIN;
	event->hw.state = flags & PERF_EF_START ? 0 : PERF_HES_STOPPED | PERF_HES_UPTODATE;
	vpmu_tell_user(event);
	if (!is_sampling_event(event))
		return 0;
	perf_sched_cb_inc(event->pmu);
	if (!c->sampling++)
		vpmu_start_timer(c);
	return 0;
}

/* The counter that it has: the one that it had last, unless another event led it elsewhere */
static unsigned int vpmu_counter_of(const struct vpmu_cpu *c, const struct perf_event *event)
{
	unsigned int k = event->hw.idx;

	if (k < VPMU_COUNTERS && c->events[k] == event)
		return k;
	for (k = 0; k < VPMU_COUNTERS - 1; k++)
		if (c->events[k] == event)
			break;
	return k;
}

/* Perf has disabled the PMU, so what was counted has been added to the event. */
static void vpmu_del(struct perf_event *event, int flags)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);
	unsigned int k = vpmu_counter_of(c, event);

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	event->hw.idx = k;
	c->events[k] = NULL;
	c->changed |= BIT(k);
	if (is_sampling_event(event)) {
		perf_sched_cb_dec(event->pmu);
		c->sampling--;
	}
	vpmu_tell_user(event);
}

static void vpmu_program_this(void *unused)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	if (c->halted)
		return;		/* pmu_enable does it */
	vpmu_halt(c, false);
	vpmu_resume(c);
}

/* The first event switches all units on, and the last one off. */
static void vpmu_count_events(int change)
{
	bool on, was;

	mutex_lock(&vpmu_lock);
	was = vpmu.events;
	WRITE_ONCE(vpmu.events, vpmu.events + change);
	on = vpmu.events;
	if (on != was)
		on_each_cpu(vpmu_program_this, NULL, 1);
	mutex_unlock(&vpmu_lock);
}

static void vpmu_destroy(struct perf_event *event)
{
	vpmu_count_events(-1);
}

static bool vpmu_can_sample(struct perf_event *event)
{
	/* a signal would come late */
	return !event->attr.sigtrap && !has_branch_stack(event) &&
	       event->attr.sample_period < BIT_ULL(62);
}

/* What @event is to count. -ENOENT: it is not for us */
static int vpmu_choose(struct perf_event *event, struct vpmu_choice *choice)
{
	const struct perf_event_attr *attr = &event->attr;

	*choice = (struct vpmu_choice){ attr->config, attr->config2 };
	if (attr->type != event->pmu->type)
		return vpmu_generic(attr, choice);
	if (choice->event >= VPMU_EVENTS || attr->config1 > U32_MAX ||
	    choice->sources >= BIT(VPMU_SOURCES))
		return -EINVAL;
	choice->event = array_index_nospec(choice->event, VPMU_EVENTS);
	return 0;
}

/*
 * A sample of an access is of the very instruction. Other events are counted for a block of
 * instructions, and what is sampled is its first one.
 */
static bool vpmu_is_precise(u64 event)
{
	const u64 accesses = BIT_ULL(VPMU_LOADS) | BIT_ULL(VPMU_STORES) |
			     BIT_ULL(VPMU_L1D_MISS) | BIT_ULL(VPMU_UPGRADE_LOCAL) |
			     BIT_ULL(VPMU_UPGRADE_REMOTE) | BIT_ULL(VPMU_DTLB_MISS) |
			     GENMASK_ULL(VPMU_D_SRC + VPMU_SOURCES - 1, VPMU_D_SRC);

	return accesses & BIT_ULL(event);
}

/*
 * The machine has no guests and no hypervisor, so what is to leave those out is obeyed. It does
 * not know when it is idle, and nothing happens in guests only.
 */
static bool vpmu_can_exclude(const struct perf_event_attr *attr)
{
	return !attr->exclude_idle && !attr->exclude_host;
}

static int vpmu_event_init(struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;
	struct vpmu_choice choice;
	int ret = vpmu_choose(event, &choice);
	bool own;

	if (ret)
		return ret;
	own = attr->type == event->pmu->type;
	/* a generic event is another PMU's then */
	if (READ_ONCE(vpmu.gone))
		return own ? -ENODEV : -ENOENT;
	if (!vpmu.header.placement[choice.event])
		return own ? -EINVAL : -ENOENT;
	if (!vpmu_can_sample(event) || !vpmu_can_exclude(attr) ||
	    (attr->precise_ip && (vpmu_is_vague() || !vpmu_is_precise(choice.event))))
		return -EOPNOTSUPP;
	if (event->cpu >= 0 && !cpumask_test_cpu(event->cpu, &vpmu.cpus))
		return -ENODEV;
	event->hw.idx = -1;
	event->hw.config = choice.event;
	event->hw.config_base = (attr->exclude_user ? 0 : VPMU_USER) |
				(attr->exclude_kernel ? 0 : VPMU_KERNEL);
	event->hw.event_base = own ? attr->config1 : 0;
	event->hw.extra_reg.config = choice.sources;
	/* perf calls sched_task() of a CPU's event only for who says so */
	if (is_sampling_event(event))
		event->attach_state |= PERF_ATTACH_SCHED_CB;
	if (!vpmu_group_fits(event))
		return -EINVAL;
	event->destroy = vpmu_destroy;
	vpmu_count_events(1);
	return 0;
}

static struct pmu vpmu_pmu = {
	.task_ctx_nr = perf_hw_context,
	.attr_groups = vpmu_groups,
	.pmu_enable = vpmu_enable,
	.pmu_disable = vpmu_disable,
	.event_init = vpmu_event_init,
	.add = vpmu_add,
	.del = vpmu_del,
	.start = vpmu_start,
	.stop = vpmu_stop,
	.read = vpmu_read,
	.start_txn = vpmu_start_txn,
	.commit_txn = vpmu_commit_txn,
	.cancel_txn = vpmu_cancel_txn,
	.sched_task = vpmu_sched_task,
};

/* CPUs */

static bool vpmu_taken(const struct vpmu_unit *reg)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu_ptr(&vpmu_cpus, cpu)->reg == reg && cpu != smp_processor_id())
			return true;
	return false;
}

/* Those of unit @nr lie behind all rings. */
static u64 vpmu_callers_offset(const struct vpmu_device *d, u32 nr)
{
	return d->ring_offset + d->units * d->ring_stride +
	       (u64)nr * d->ring_entries * VPMU_CALLERS * sizeof(u64);
}

/* Use unit @nr for this CPU, unless there is no such unit or another CPU has it. */
static void vpmu_claim(struct vpmu_cpu *c, u32 nr)
{
	const struct vpmu_device *d = &vpmu.header;
	struct vpmu_unit *reg = NULL;

	if (nr < d->units)
		reg = (void *)(vpmu.bar + VPMU_UNIT_OFFSET + nr * VPMU_UNIT_STRIDE);
	if (!reg || vpmu_taken(reg)) {
		vpmu_lie();
		return;
	}
	c->reg = reg;
	c->ring = (void *)(vpmu.bar + d->ring_offset + nr * d->ring_stride);
	c->callers = d->callers ? (void *)(vpmu.bar + vpmu_callers_offset(d, nr)) : NULL;
	c->tail = READ_ONCE(reg->head);
	WRITE_ONCE(reg->tail, c->tail);
	cpumask_set_cpu(smp_processor_id(), &vpmu.cpus);
	c->changed = VPMU_ALL;
	vpmu_program(c);
}

/* Find the unit of this CPU. Only a command to the device can tell: one CPU at a time. */
static void vpmu_identify(struct vpmu_cpu *c)
{
	struct vpmu_device *device = (struct vpmu_device *)vpmu.bar;

	WRITE_ONCE(device->unit, U32_MAX);
	vpmu_do(VPMU_IDENTIFY);
	vpmu_claim(c, READ_ONCE(device->unit));
}

static int vpmu_cpu_online(unsigned int cpu)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);
	unsigned long flags;

	mutex_lock(&vpmu_lock);
	local_irq_save(flags);
	c->online = true;
	if (c->reg) {
		vpmu_halt(c, false);
		vpmu_resume(c);
	} else if (!vpmu.gone) {
		vpmu_identify(c);
	}
	local_irq_restore(flags);
	mutex_unlock(&vpmu_lock);
	return 0;
}

/* The CPU keeps its unit, and perf takes the events off it later. */
static int vpmu_cpu_offline(unsigned int cpu)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);
	unsigned long flags;

	local_irq_save(flags);
	c->online = false;
	vpmu_program_this(NULL);
	local_irq_restore(flags);
	return 0;
}

/* The device */

static_assert(offsetof(struct vpmu_device, ring_offset) == 24);
static_assert(offsetof(struct vpmu_device, placement) == 104);
static_assert(sizeof(struct vpmu_device) == 360);
static_assert(offsetof(struct vpmu_unit, tail) == 80);
static_assert(offsetof(struct vpmu_unit, period) == 88);
static_assert(offsetof(struct vpmu_unit, status) == 256);
static_assert(sizeof(struct vpmu_unit) == 376);
static_assert(sizeof(struct vpmu_record) == 64);

/* Read each field once, so that the value checked is the one used. */
static void vpmu_read_header(struct vpmu_device *d, const char *bar)
{
	const struct vpmu_device *device = (const struct vpmu_device *)bar;
	unsigned int i;

	d->magic = READ_ONCE(device->magic);
	d->version = READ_ONCE(device->version);
	d->units = READ_ONCE(device->units);
	d->chips = READ_ONCE(device->chips);
	d->counters = READ_ONCE(device->counters);
	d->ring_entries = READ_ONCE(device->ring_entries);
	d->ring_offset = READ_ONCE(device->ring_offset);
	d->ring_stride = READ_ONCE(device->ring_stride);
	d->callers = READ_ONCE(device->callers);
	d->sampling = READ_ONCE(device->sampling);
	d->line_bytes = READ_ONCE(device->line_bytes);
	d->l1d_kb = READ_ONCE(device->l1d_kb);
	d->l1i_kb = READ_ONCE(device->l1i_kb);
	d->l2_kb = READ_ONCE(device->l2_kb);
	d->l3_kb = READ_ONCE(device->l3_kb);
	for (i = 0; i < VPMU_SOURCES; i++)
		d->latency[i] = READ_ONCE(device->latency[i]);
	for (i = 0; i < VPMU_EVENTS; i++)
		d->placement[i] = READ_ONCE(device->placement[i]) &
				  (BIT(min(d->counters, VPMU_COUNTERS)) - 1);
	d->placement[VPMU_NONE] = 0;
}

static bool vpmu_header_good(const struct vpmu_device *d, u64 bytes)
{
	return d->magic == VPMU_MAGIC && d->version == VPMU_VERSION &&
	       d->units && d->units <= VPMU_MAX_UNITS &&
	       d->counters && d->counters <= VPMU_COUNTERS &&
	       is_power_of_2(d->ring_entries) && d->ring_entries >= 2 &&
	       d->ring_entries <= 1U << 20 &&
	       d->ring_stride >= d->ring_entries * sizeof(struct vpmu_record) &&
	       d->ring_stride <= bytes && d->ring_offset <= bytes &&
	       d->ring_offset >= VPMU_UNIT_OFFSET + d->units * VPMU_UNIT_STRIDE &&
	       d->ring_offset + d->units * d->ring_stride <= bytes &&
	       (!d->callers || (d->callers == VPMU_CALLERS &&
				vpmu_callers_offset(d, d->units) <= bytes));
}

static int vpmu_register(void)
{
	struct hrtimer *timer;
	int cpu, state, ret;

	for_each_possible_cpu(cpu) {
		timer = per_cpu_ptr(&vpmu_cpus.timer, cpu);
		hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		timer->function = vpmu_timer;
	}
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf:vpmu", vpmu_cpu_online,
				  vpmu_cpu_offline);
	if (state < 0)
		return state;
	ret = perf_pmu_register(&vpmu_pmu, "vpmu", -1);
	if (ret)
		cpuhp_remove_state(state);
	return ret;
}

/* The first time. Perf cannot be without the PMU again, unless it has refused it. */
static int vpmu_begin(char *bar, const struct vpmu_device *header, resource_size_t start)
{
	int cpu, ret;

	vpmu.header = *header;
	vpmu.bar = bar;
	vpmu.start = start;
	ret = vpmu_register();
	if (!ret)
		return 0;
	for_each_possible_cpu(cpu)
		per_cpu_ptr(&vpmu_cpus, cpu)->reg = NULL;
	cpumask_clear(&vpmu.cpus);
	vpmu.bar = NULL;
	return ret;
}

static void vpmu_return(void *unused)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);

	if (!c->reg) {
		vpmu_identify(c);	/* came online meanwhile */
		return;
	}
	c->tail = READ_ONCE(c->reg->head);
	WRITE_ONCE(c->reg->tail, c->tail);
	c->changed = VPMU_ALL;
	if (!c->halted)
		vpmu_program(c);
	if (c->sampling)
		vpmu_start_timer(c);
}

/* The device is back. It must be the same one: events and units of CPUs are still there. */
static int vpmu_rebind(const struct vpmu_device *header, resource_size_t start)
{
	int cpu;

	if (!vpmu.gone)
		return -EBUSY;		/* there is one vpmu */
	if (start != vpmu.start || memcmp(header, &vpmu.header, sizeof(*header)))
		return -ENODEV;
	cpus_read_lock();
	mutex_lock(&vpmu_lock);
	WRITE_ONCE(vpmu.gone, false);
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, vpmu_return, NULL, 1);
	mutex_unlock(&vpmu_lock);
	cpus_read_unlock();
	return 0;
}

static int vpmu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	resource_size_t start = pci_resource_start(pdev, 2), bytes = pci_resource_len(pdev, 2);
	struct vpmu_device header = { };
	char *bar;
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	if (bytes < VPMU_UNIT_OFFSET + VPMU_UNIT_STRIDE)
		return -ENODEV;
	bar = memremap(start, bytes, MEMREMAP_WB);
	if (!bar)
		return -ENOMEM;
	vpmu_read_header(&header, bar);
	/* other software uses ivshmem devices, too */
	if (!vpmu_header_good(&header, bytes))
		ret = -ENODEV;
	else if (vpmu.bar)
		ret = vpmu_rebind(&header, start);
	else
		ret = vpmu_begin(bar, &header, start);
	if (ret || vpmu.bar != bar)
		memunmap(bar);
	if (ret)
		return ret;
	pci_info(pdev, "virtual PMU, %u units, rings of %u records\n", header.units,
		 header.ring_entries);
	return 0;
}

/* The unit counts for nobody. What it has counted until now is kept. */
static void vpmu_leave(void *unused)
{
	struct vpmu_cpu *c = this_cpu_ptr(&vpmu_cpus);
	unsigned int k;

	if (!c->reg)
		return;
	vpmu_do(VPMU_STOP);
	vpmu_update(c);
	vpmu_drain(c, false);
	for (k = 0; k < VPMU_COUNTERS; k++)
		c->reg->event[k] = VPMU_NONE;
	c->reg->control = 0;
	vpmu_do(VPMU_PROGRAM);
}

/* Events stay, and count no more: perf cannot take a PMU away from under them. */
static void vpmu_remove(struct pci_dev *pdev)
{
	mutex_lock(&vpmu_lock);
	WRITE_ONCE(vpmu.gone, true);
	on_each_cpu(vpmu_leave, NULL, 1);
	mutex_unlock(&vpmu_lock);
}

static const struct pci_device_id vpmu_ids[] = {
	{ PCI_DEVICE(0x1af4, 0x1110) },	/* ivshmem */
	{ }
};

static struct pci_driver vpmu_pci_driver = {
	.name = "vpmu",
	.id_table = vpmu_ids,
	.probe = vpmu_probe,
	.remove = vpmu_remove,
};

builtin_pci_driver(vpmu_pci_driver);
