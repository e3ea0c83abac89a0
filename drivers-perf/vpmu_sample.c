// SPDX-License-Identifier: GPL-2.0
/* From a record of the virtual PMU to a sample of perf. See vpmu.c. */
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched/task_stack.h>
#include <asm/ptrace.h>
#include "vpmu.h"

#define VPMU_LEVEL(level)	((u64)(PERF_MEM_LVL_HIT | PERF_MEM_LVL_##level) << \
				 PERF_MEM_LVL_SHIFT)
#define VPMU_NUMBER(level)	((u64)PERF_MEM_LVLNUM_##level << PERF_MEM_LVLNUM_SHIFT)
#define VPMU_REMOTE		((u64)PERF_MEM_REMOTE_REMOTE << PERF_MEM_REMOTE_SHIFT | \
				 (u64)PERF_MEM_HOPS_2 << PERF_MEM_HOPS_SHIFT)

#define VPMU_NOT_AN_ACCESS	((u64)PERF_MEM_OP_NA << PERF_MEM_OP_SHIFT | \
				 (u64)PERF_MEM_LVL_NA << PERF_MEM_LVL_SHIFT | \
				 (u64)PERF_MEM_LVLNUM_NA << PERF_MEM_LVLNUM_SHIFT)

static const u64 vpmu_sources[VPMU_SOURCES] = {
	[VPMU_LOCAL_L2]		= VPMU_LEVEL(L2) | VPMU_NUMBER(L2),
	[VPMU_LOCAL_L3]		= VPMU_LEVEL(L3) | VPMU_NUMBER(L3),
	[VPMU_REMOTE_L2]	= VPMU_LEVEL(REM_CCE1) | VPMU_NUMBER(L2) | VPMU_REMOTE,
	[VPMU_REMOTE_L3]	= VPMU_LEVEL(REM_CCE1) | VPMU_NUMBER(L3) | VPMU_REMOTE,
	[VPMU_LOCAL_MEMORY]	= VPMU_LEVEL(LOC_RAM) | VPMU_NUMBER(RAM),
	[VPMU_REMOTE_MEMORY]	= VPMU_LEVEL(REM_RAM1) | VPMU_NUMBER(RAM) | VPMU_REMOTE,
};

static u64 vpmu_data_source(const struct vpmu_record *r)
{
	u64 op = r->flags & VPMU_RECORD_STORE ? PERF_MEM_OP_STORE : PERF_MEM_OP_LOAD;
	u64 snoop = r->flags & VPMU_RECORD_MODIFIED ? PERF_MEM_SNOOP_HITM :
		    r->source == VPMU_REMOTE_L2 || r->source == VPMU_REMOTE_L3 ?
		    PERF_MEM_SNOOP_HIT : PERF_MEM_SNOOP_NONE;
	u64 lock = r->flags & VPMU_RECORD_LOCKED ? PERF_MEM_LOCK_LOCKED : 0;

	if (!r->addr)
		return VPMU_NOT_AN_ACCESS;
	return op << PERF_MEM_OP_SHIFT | snoop << PERF_MEM_SNOOP_SHIFT |
	       lock << PERF_MEM_LOCK_SHIFT |
	       (r->source < VPMU_SOURCES ? vpmu_sources[r->source] :
					   VPMU_LEVEL(L1) | VPMU_NUMBER(L1));
}

/*
 * The registers when the event happened are not known, but those that user space has now. An
 * unwinder that is told that these are registers, without a stack, stops at once, and does not show
 * who drains the ring.
 */
static void vpmu_set_regs(struct pt_regs *regs, const struct vpmu_record *r)
{
	bool kernel = vpmu_in_kernel(r->ip);

	if (!kernel && current->mm)
		*regs = *task_pt_regs(current);
	else
		memset(regs, 0, sizeof(*regs));
	regs->ip = r->ip;
	regs->flags |= X86_EFLAGS_FIXED;
	regs->cs = kernel ? __KERNEL_CS : __USER_CS;
	/* perf tells user space (PERF_RECORD_MISC_EXACT_IP) */
	if (r->addr && !vpmu_is_vague())
		regs->flags |= PERF_EFLAGS_EXACT;
}

/*
 * Who called the function that was sampled in the kernel is known to the device. Put that
 * between its place and the callers in user space, as far as there is room.
 */
static void vpmu_add_callers(struct perf_event *event, struct perf_sample_data *data,
			     const struct vpmu_record *r, const u64 *callers)
{
	struct perf_callchain_entry *chain = data->callchain;
	u32 n, known = min(r->callers, VPMU_CALLERS);
	u64 address;

	if (chain->nr < 2 || chain->ip[0] != PERF_CONTEXT_KERNEL || chain->ip[1] != r->ip)
		return;
	for (n = 0; n < known && chain->nr < event->attr.sample_max_stack; n++) {
		address = READ_ONCE(callers[n]);
		if (!vpmu_in_kernel(address)) {
			vpmu_lie();
			break;
		}
		memmove(&chain->ip[3 + n], &chain->ip[2 + n], (chain->nr - 2 - n) * sizeof(u64));
		chain->ip[2 + n] = address;
		chain->nr++;
	}
	data->dyn_size += n * sizeof(u64);
}

/* The index behind the first place in user space of a callchain; 0: it has none */
static u32 vpmu_user_part(const struct perf_callchain_entry *chain)
{
	u32 n;

	for (n = 0; n + 1 < chain->nr; n++)
		if (chain->ip[n] == PERF_CONTEXT_USER)
			return n + 2;
	return 0;
}

/*
 * Callers in user space: perf has followed frame pointers, of where the program is by now. What the
 * device knows is better.
 */
static void vpmu_set_user_callers(struct perf_event *event, struct perf_sample_data *data,
				  const struct vpmu_record *r, const u64 *callers)
{
	struct perf_callchain_entry *chain = data->callchain;
	u32 n, first = min(r->callers, VPMU_CALLERS), nr = vpmu_user_part(chain);
	u32 known = min(r->user_callers, VPMU_CALLERS - first);
	u64 address;

	if (!nr || !known)
		return;
	for (n = first; n < first + known && nr < event->attr.sample_max_stack; n++) {
		address = READ_ONCE(callers[n]);
		if (address >= TASK_SIZE_MAX) {
			vpmu_lie();
			break;
		}
		chain->ip[nr++] = address;
	}
	data->dyn_size += (nr - chain->nr) * sizeof(u64);
	chain->nr = nr;
}

static void vpmu_save_callchain(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs, const struct vpmu_record *r,
				const u64 *callers)
{
	if (!(event->attr.sample_type & PERF_SAMPLE_CALLCHAIN))
		return;
	perf_sample_save_callchain(data, event, regs);
	if (!callers)
		return;
	if (!user_mode(regs))
		vpmu_add_callers(event, data, r, callers);
	vpmu_set_user_callers(event, data, r, callers);
}

/* Has it what only perf_event_overflow() sees to: a BPF program, a limit, who gets a signal? */
static bool vpmu_is_seen_to(struct perf_event *event)
{
	const struct perf_event *parent = event->parent ?: event;

	return READ_ONCE(event->prog) || atomic_read(&event->event_limit) ||
	       READ_ONCE(parent->fasync);
}

/*
 * A sample that is not to count as an interrupt. For a frequency no time has passed, so that the
 * period stays as it is. Where perf throttles the event for this very sample, it is throttled.
 */
static int vpmu_overflow_without(struct perf_event *event, struct perf_sample_data *data,
				 struct pt_regs *regs)
{
	struct hw_perf_event *hw = &event->hw;
	u64 interrupts = hw->interrupts, seq = hw->interrupts_seq, stamp = hw->freq_time_stamp;
	int stop;

	hw->interrupts = 0;
	hw->freq_time_stamp = S64_MAX;
	stop = perf_event_overflow(event, data, regs);
	hw->freq_time_stamp = stamp;
	if (hw->interrupts == 1) {
		hw->interrupts = interrupts;
		hw->interrupts_seq = seq;
	}
	return stop;
}

static int vpmu_overflow(struct perf_event *event, struct perf_sample_data *data,
			 struct pt_regs *regs, u32 burst)
{
	perf_overflow_handler_t handler = READ_ONCE(event->overflow_handler);

	if (burst) {
		event->hw.last_period *= burst;
		return perf_event_overflow(event, data, regs);
	}
	if (vpmu_is_seen_to(event))
		return vpmu_overflow_without(event, data, regs);
	handler(event, data, regs);
	return 0;
}

/**
 * vpmu_deliver() - give perf a sample
 * @event: whose
 * @r: record of the device, checked
 * @callers: return addresses, as many as @r says; NULL: not known
 * @burst: number of samples in the burst that it ends; 0: it ends none
 *
 * As intel/ds.c does, only the last of a burst counts as an interrupt, or perf would take a burst
 * for a storm of them and throttle the event. Perf compares the last period with the time since
 * the last interrupt, to reach a frequency, so tell it all that passed. An event that perf has
 * stopped at a sample gets none of those behind it in the ring.
 *
 * Context: the unit has stopped, interrupts are off, the task that caused it is current.
 */
void vpmu_deliver(struct perf_event *event, const struct vpmu_record *r, const u64 *callers,
		  u32 burst)
{
	struct perf_sample_data data;
	struct pt_regs regs;

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	/* perf's buffers of callchains, until the sample is written */
	guard(rcu)();
	perf_sample_data_init(&data, r->addr, event->hw.last_period);
	data.sample_flags |= PERF_SAMPLE_ADDR;
	if (!vpmu_is_vague()) {
		data.data_src.val = vpmu_data_source(r);
		data.weight.full = r->latency;
		data.sample_flags |= PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_TYPE;
	}
	/* else perf asks the page tables */
	if (r->flags & VPMU_RECORD_PHYS) {
		data.phys_addr = r->phys;
		data.sample_flags |= PERF_SAMPLE_PHYS_ADDR;
	}
	vpmu_set_regs(&regs, r);
	vpmu_save_callchain(event, &data, &regs, r, callers);
	if (vpmu_overflow(event, &data, &regs, burst))
		event->hw.state |= PERF_HES_STOPPED;
}
