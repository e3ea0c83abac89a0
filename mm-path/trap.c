// SPDX-License-Identifier: GPL-2.0
/*
 * What a hint fault costs beside the touched hook.
 *
 * Time in the touched hook is measured. The way there and back leads through an exception, the
 * fault handler and the hint fault hook, and cannot be measured directly. But a thread may leave
 * the touched hook and come to it again by the next hint fault without an instruction in between.
 * Then the time between is that of the way alone. So one hint fault in MMPATH_TRAP_EVERY leaves
 * its page inaccessible, and the instruction faults again at once.
 *
 * The very shortest time would not do. If the clock is set back in between, a way looks too short,
 * and would be believed for ever. So each CPU takes the fourth shortest of MMPATH_TRAP_WAYS ways,
 * which is about the median of those with nothing in between. Of the last reports of all CPUs the
 * least counts. So a wrong report is forgotten, and one slow CPU does not make the cost look
 * high. No way is shorter than an exception that does nothing, which is measured at boot.
 */
#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include "core.h"

#define MMPATH_TRAP_NS		10000	/* until something is known, and at the most */
#define MMPATH_TRAP_WAYS	256
#define MMPATH_TRAP_EVERY	32	/* gives 2 * MMPATH_TRAP_SHORTEST in MMPATH_TRAP_WAYS */
#define MMPATH_TRAP_SHORTEST	4
#define MMPATH_TRAP_REPORTS	32
#define MMPATH_TRAP_PROBES	31

/* The shortest of @nr ways, in order */
struct mmpath_ways {
	u64 shortest[MMPATH_TRAP_SHORTEST];
	unsigned int nr;
};

/* The last reports of CPUs, of @nr so far, and what follows from them and @floor */
struct mmpath_trap_cost {
	u64 reports[MMPATH_TRAP_REPORTS];
	unsigned int nr;
	u64 floor, ns;
};

struct mmpath_trap {
	struct task_struct *task;	/* the last to leave on this CPU; only compared */
	struct task_struct *hinted;	/* a hint fault of this one goes on */
	u64 left;
	int probe;			/* hint faults until the next is one */
	struct mmpath_ways ways;
};

static DEFINE_PER_CPU(struct mmpath_trap, mmpath_trap);
static struct mmpath_trap_cost mmpath_trap_cost = { .ns = MMPATH_TRAP_NS };
static DEFINE_SPINLOCK(mmpath_trap_lock);	/* of mmpath_trap_cost */

/* A way of @ns. Returns what to report when that makes MMPATH_TRAP_WAYS, else 0. */
static u64 mmpath_ways_add(struct mmpath_ways *w, s64 ns)
{
	u64 report;
	int i;

	/* the clock was set back */
	if (ns <= 0)
		return 0;
	if (!w->nr++)
		memset(w->shortest, 0xff, sizeof(w->shortest));
	for (i = MMPATH_TRAP_SHORTEST - 1; i >= 0 && (u64)ns < w->shortest[i]; i--)
		if (i < MMPATH_TRAP_SHORTEST - 1)
			w->shortest[i + 1] = w->shortest[i];
	if (i < MMPATH_TRAP_SHORTEST - 1)
		w->shortest[i + 1] = ns;
	if (w->nr < MMPATH_TRAP_WAYS)
		return 0;
	report = w->shortest[MMPATH_TRAP_SHORTEST - 1];
	w->nr = 0;
	return report;
}

static void mmpath_trap_report(struct mmpath_trap_cost *c, u64 ns)
{
	unsigned int i;

	c->reports[c->nr++ % MMPATH_TRAP_REPORTS] = ns;
	for (i = 0; i < min_t(unsigned int, c->nr, MMPATH_TRAP_REPORTS); i++)
		ns = min(ns, c->reports[i]);
	if (c->nr == 2 * MMPATH_TRAP_REPORTS)
		c->nr = MMPATH_TRAP_REPORTS;
	WRITE_ONCE(c->ns, clamp_t(u64, ns, c->floor, MMPATH_TRAP_NS));
}

/**
 * mmpath_trap_ns() - estimate what a hint fault takes beside the touched hook
 *
 * Context: any. Return: nanoseconds.
 */
u64 mmpath_trap_ns(void)
{
	return READ_ONCE(mmpath_trap_cost.ns);
}

/**
 * mmpath_trap_probes() - decide whether a hint fault leaves its page inaccessible
 * @flags: FAULT_FLAG_* of the fault
 *
 * Not the next one of the CPU, so that the instruction completes.
 *
 * Context: in a fault, preemption is off. Return: whether it is.
 */
bool mmpath_trap_probes(unsigned int flags)
{
	/* in get_user_pages() there is no instruction that faults again */
	if (!(flags & FAULT_FLAG_USER) || this_cpu_dec_return(mmpath_trap.probe) > 0)
		return false;
	this_cpu_write(mmpath_trap.probe, MMPATH_TRAP_EVERY);
	return true;
}

/**
 * mmpath_trap_hinted() - note that a hint fault of the current task was dealt with
 *
 * Context: in a fault.
 */
void mmpath_trap_hinted(void)
{
	this_cpu_write(mmpath_trap.hinted, current);
}

/*
 * CPU time of the current task, of which only differences count: without what it was
 * scheduled out for, and without the lock of its runqueue. Preemption is off.
 */
static u64 mmpath_ran_ns(u64 now)
{
	return current->se.sum_exec_runtime + now - current->se.exec_start;
}

/**
 * mmpath_trap_was_hint() - tell whether this was a hint fault
 *
 * A thread that moved to another CPU in between is taken for one that had no hint.
 * Context: in a fault; asked once in each. Return: whether it was.
 */
bool mmpath_trap_was_hint(void)
{
	struct mmpath_trap *trap = get_cpu_ptr(&mmpath_trap);
	bool hint = trap->hinted == current;

	if (trap->hinted)
		trap->hinted = NULL;
	put_cpu_ptr(&mmpath_trap);
	return hint;
}

/**
 * mmpath_trap_enter() - enter the touched hook
 * @hint: mmpath_trap_was_hint()
 * @flags: FAULT_FLAG_* of the fault
 * @entered: returns when that was
 *
 * Context: in a fault.
 */
void mmpath_trap_enter(bool hint, unsigned int flags, struct mmpath_entered *entered)
{
	struct mmpath_trap *trap = get_cpu_ptr(&mmpath_trap);
	u64 report = 0;

	entered->clock = local_clock();
	/* in get_user_pages() there is no exception between two */
	if (hint && flags & FAULT_FLAG_USER && trap->task == current)
		report = mmpath_ways_add(&trap->ways, entered->clock - trap->left);
	if (report && spin_trylock(&mmpath_trap_lock)) {
		mmpath_trap_report(&mmpath_trap_cost, report);
		spin_unlock(&mmpath_trap_lock);
	}
	entered->ran = mmpath_ran_ns(entered->clock);
	put_cpu_ptr(&mmpath_trap);
}

/**
 * mmpath_trap_leave() - leave the touched hook
 * @entered: as mmpath_trap_enter() has set it
 *
 * Context: in a fault. Return: CPU time spent in the hook, ns.
 */
u64 mmpath_trap_leave(const struct mmpath_entered *entered)
{
	struct mmpath_trap *trap = get_cpu_ptr(&mmpath_trap);
	u64 left = local_clock(), ran = mmpath_ran_ns(left);

	trap->task = current;
	trap->left = left;
	put_cpu_ptr(&mmpath_trap);
	/*
	 * On another CPU se.exec_start lacks what interrupts and the hypervisor have
	 * taken there. No more can have been spent than has passed.
	 */
	return clamp_t(s64, ran - entered->ran, 0, max_t(s64, left - entered->clock, 0));
}

static int __init mmpath_trap_cmp(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The kernel itself touches an address that no program has, and goes on. */
static int __init mmpath_trap_init(void)
{
	u64 ns[MMPATH_TRAP_PROBES], from;
	unsigned int i;
	char c;

	for (i = 0; i < MMPATH_TRAP_PROBES; i++) {
		preempt_disable();
		pagefault_disable();
		from = local_clock();
		ns[i] = __copy_from_user_inatomic(&c, (void __user *)PAGE_SIZE, 1) ?
			local_clock() - from : 0;
		pagefault_enable();
		preempt_enable();
	}
	sort(ns, MMPATH_TRAP_PROBES, sizeof(ns[0]), mmpath_trap_cmp, NULL);
	mmpath_trap_cost.floor = clamp_t(u64, ns[MMPATH_TRAP_PROBES / 2], 1, MMPATH_TRAP_NS);
	return 0;
}
core_initcall(mmpath_trap_init);

#ifdef CONFIG_MMPATH_KUNIT_TEST
#include "tests/trap-kunit.h"
#endif
