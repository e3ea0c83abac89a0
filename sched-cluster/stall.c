// SPDX-License-Identifier: GPL-2.0
/*
 * Where the cycles of a cgroup went: cpu.stalls, and cpu.counters.
 *
 * A cgroup that ran has an account, and a piece goes to the accounts of its cgroup and of all
 * above it. An account is found by the id of the cgroup, which another one gets later, so the
 * serial number is compared, too. It holds no reference: cgroups go as ever, and their accounts
 * some time later.
 *
 * hpc_account_mutex protects the accounts.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/perf_event.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "hpc.h"

#define CREATE_TRACE_POINTS
#include <trace/events/hpc.h>

struct hpc_accounts {
	u64 serial_nr;
	struct hpc_window window;
	struct hpc_totals totals;
};

/* accounts, and who reads the rings */
DEFINE_MUTEX(hpc_account_mutex);
static DEFINE_XARRAY(hpc_accounts);

static struct hpc_accounts *hpc_account_find(const struct cgroup_subsys_state *css)
{
	struct hpc_accounts *a;

	lockdep_assert_held(&hpc_account_mutex);
	a = xa_load(&hpc_accounts, css->id);
	return a && a->serial_nr == css->serial_nr ? a : NULL;
}

/* A new account, in place of one of a cgroup that is gone */
static struct hpc_accounts *hpc_account_new(const struct cgroup_subsys_state *css)
{
	struct hpc_accounts *a = kvzalloc(sizeof(*a), GFP_KERNEL), *old;

	if (!a)
		return NULL;
	a->serial_nr = css->serial_nr;
	old = xa_store(&hpc_accounts, css->id, a, GFP_KERNEL);
	if (xa_is_err(old)) {
		kvfree(a);
		return NULL;
	}
	kvfree(old);
	return a;
}

/* Tracepoints */

/* Totals before a window was added, for who traces. Too large for the stack */
static struct hpc_totals hpc_totals_before;

/* The cause of a stall, or the cause and the source: all behind the first dot */
static const char *hpc_cause(const struct hpc_event *e)
{
	return strchr(e->name, '.') + 1;
}

static u64 hpc_error_since(const struct hpc_var *before, const struct hpc_var *now)
{
	struct hpc_var var = {
		.high = now->high - before->high - (now->low < before->low),
		.low = (now->low - before->low) % HPC_VAR,
	};

	return hpc_error(&var);
}

static void hpc_trace_stalls(u64 cgroup, const struct hpc_totals *was, const struct hpc_totals *t)
{
	const struct hpc_event *event = hpc_config.events.event;
	unsigned int i;
	u64 cycles;

	/* others than stalls and their sources never have any */
	for (i = 0; i < hpc_config.events.set.nr; i++) {
		cycles = t->event[i].stall - was->event[i].stall;
		if (cycles)
			trace_hpc_stall(cgroup, i, hpc_cause(&event[i]), cycles,
					hpc_error_since(&was->event[i].stall_var,
							&t->event[i].stall_var));
	}
}

static void hpc_trace_window(u64 cgroup, const struct hpc_totals *was, const struct hpc_totals *t)
{
	trace_hpc_window(cgroup, t->cycles - was->cycles, t->unknown - was->unknown,
			 t->completion - was->completion,
			 hpc_error_since(&was->completion_var, &t->completion_var));
	if (trace_hpc_stall_enabled())
		hpc_trace_stalls(cgroup, was, t);
}

/*
 * The piece has a reference to its cgroup, and that to those above, so that @css has an id even if
 * it is offline.
 */
static void hpc_account_close(const struct cgroup_subsys_state *css, struct hpc_accounts *a)
{
	bool traced = trace_hpc_window_enabled() || trace_hpc_stall_enabled();

	lockdep_assert_held(&hpc_account_mutex);
	if (traced)
		hpc_totals_before = a->totals;
	hpc_window_close(&a->window, &hpc_config.events.set, &a->totals);
	if (traced)
		hpc_trace_window(cgroup_id(css->cgroup), &hpc_totals_before, &a->totals);
}

static void hpc_account_add(const struct cgroup_subsys_state *css, struct hpc_accounts *a,
			    const struct hpc_piece *piece)
{
	hpc_window_add(&a->window, piece->slice, hpc_config.groups.set[piece->group],
		       piece->seen, piece->count);
	if (hpc_window_due(&a->window, &hpc_config.events.set))
		hpc_account_close(css, a);
}

/**
 * hpc_account - add a piece to its cgroup, and to all above it
 * @piece: the piece
 *
 * Context: may sleep. Called with hpc_account_mutex.
 * Return: false if there was no memory for an account
 */
bool hpc_account(const struct hpc_piece *piece)
{
	const struct cgroup_subsys_state *css;
	struct hpc_accounts *a;
	bool all = true;

	for (css = piece->css; css; css = css->parent) {
		a = hpc_account_find(css) ?: hpc_account_new(css);
		if (a)
			hpc_account_add(css, a, piece);
		all &= !!a;
	}
	return all;
}

static bool hpc_is_gone(unsigned long id, const struct hpc_accounts *a)
{
	struct cgroup_subsys_state *css;
	bool gone;

	rcu_read_lock();
	css = css_from_id(id, &cpu_cgrp_subsys);
	gone = !css || css->serial_nr != a->serial_nr;
	rcu_read_unlock();
	return gone;
}

/**
 * hpc_account_sweep - free the accounts of cgroups that are gone
 *
 * Context: may sleep. Called with hpc_account_mutex.
 */
void hpc_account_sweep(void)
{
	struct hpc_accounts *a;
	unsigned long id;

	lockdep_assert_held(&hpc_account_mutex);
	xa_for_each(&hpc_accounts, id, a) {
		if (!hpc_is_gone(id, a))
			continue;
		xa_erase(&hpc_accounts, id);
		kvfree(a);
	}
}

/**
 * hpc_account_reset - free all accounts
 *
 * Context: may sleep. Called with hpc_account_mutex.
 */
void hpc_account_reset(void)
{
	struct hpc_accounts *a;
	unsigned long id;

	lockdep_assert_held(&hpc_account_mutex);
	xa_for_each(&hpc_accounts, id, a)
		kvfree(a);
	xa_destroy(&hpc_accounts);
}

/* Files */

static void hpc_show(struct seq_file *m, const char *name, const char *what, u64 value,
		     const struct hpc_var *var)
{
	seq_printf(m, "%s %s=%llu error=%llu", name, what, value, hpc_error(var));
}

/* How much of the time was it counted, in percent? */
static void hpc_show_counted(struct seq_file *m, const struct hpc_total *t)
{
	seq_printf(m, " counted=%llu\n", hpc_mul_div(t->counted, 100, t->cycles));
}

static void hpc_show_stall(struct seq_file *m, unsigned int i, const struct hpc_total *t)
{
	const char *cause = hpc_cause(&hpc_config.events.event[i]);

	if (!t->cycles) {
		seq_printf(m, "%s too_little\n", cause);
		return;
	}
	hpc_show(m, cause, "cycles", t->stall, &t->stall_var);
	hpc_show_counted(m, t);
}

static void hpc_show_sources(struct seq_file *m, unsigned int of, const struct hpc_totals *t)
{
	const struct hpc_set *set = &hpc_config.events.set;
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		if (set->role[i] == HPC_SOURCE && set->of[i] == of)
			hpc_show_stall(m, i, &t->event[i]);
}

static void hpc_show_stalls(struct seq_file *m, const struct hpc_accounts *a)
{
	const struct hpc_totals *t = &a->totals;
	unsigned int i;

	seq_printf(m, "cycles %llu\npending %llu\nunknown %llu\n", t->cycles, a->window.cycles,
		   t->unknown);
	hpc_show(m, "completion", "cycles", t->completion, &t->completion_var);
	seq_puts(m, "\n");
	for (i = 0; i < hpc_config.events.set.nr; i++) {
		if (hpc_config.events.set.role[i] != HPC_STALL)
			continue;
		hpc_show_stall(m, i, &t->event[i]);
		hpc_show_sources(m, i, t);
	}
}

static void hpc_show_counters(struct seq_file *m, const struct hpc_accounts *a)
{
	const struct hpc_total *t;
	const char *name;
	unsigned int i;

	for (i = 0; i < hpc_config.events.set.nr; i++) {
		t = &a->totals.event[i];
		name = hpc_config.events.event[i].name;
		if (t->cycles) {
			hpc_show(m, name, "count", t->count, &t->count_var);
			hpc_show_counted(m, t);
		} else {
			seq_printf(m, "%s too_little\n", name);
		}
	}
}

/*
 * Those of the opener count: the file may have been handed to a task with more rights, which reads
 * it and passes the contents on.
 */
static int hpc_may_look(const struct seq_file *m)
{
	const struct cred *own = override_creds(m->file->f_cred);
	int ret = perf_allow_cpu();

	revert_creds(own);
	return ret;
}

/* A cgroup that has not run is shown as one that has run for no cycles. */
static int hpc_show_account(struct seq_file *m,
			    void (*show)(struct seq_file *m, const struct hpc_accounts *a))
{
	struct hpc_accounts *none = NULL, *a;
	int ret = hpc_may_look(m);

	if (ret)
		return ret;
	mutex_lock(&hpc_account_mutex);
	hpc_drain();
	a = hpc_account_find(seq_css(m));
	if (!a)
		none = kvzalloc(sizeof(*a), GFP_KERNEL);
	if (a || none)
		show(m, a ?: none);
	else
		ret = -ENOMEM;
	mutex_unlock(&hpc_account_mutex);
	kvfree(none);
	return ret;
}

static int cpu_stalls_show(struct seq_file *m, void *v)
{
	return hpc_show_account(m, hpc_show_stalls);
}

static int cpu_counters_show(struct seq_file *m, void *v)
{
	return hpc_show_account(m, hpc_show_counters);
}

static struct cftype hpc_files[] = {
	{
		.name = "stalls",
		.seq_show = cpu_stalls_show,
	},
	{
		.name = "counters",
		.seq_show = cpu_counters_show,
	},
	{ }
};

static int __init hpc_stall_init(void)
{
	return cgroup_add_dfl_cftypes(&cpu_cgrp_subsys, hpc_files);
}
subsys_initcall(hpc_stall_init);
