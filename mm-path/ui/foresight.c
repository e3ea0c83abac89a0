// SPDX-License-Identifier: GPL-2.0
/*
 * memory.path.prefetch_regions: what is foreseen in which mapping.
 *
 * Programs need not be tracked to have pages prefetched, so there is no list of them. A reader
 * goes through the processes of its PID namespace, in the order of their numbers. The regions of
 * a process are copied, and printed without a lock that its faults need. A process that keeps its
 * mmap_lock is not waited for: its lines lack what the mappings would tell.
 */
#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "ui.h"

static const char * const mmpath_predictor_names[NR_MMPATH_PREDICTORS + 1] = {
	[MMPATH_FORESEE_SPACE]	= "space",
	[MMPATH_FORESEE_PPG]	= "ppg",
	[NR_MMPATH_PREDICTORS]	= "none",
};

/**
 * struct mmpath_foresight_reader - a reader of memory.path.prefetch_regions
 * @pid: the process, in the reader's PID namespace; 0 before the first
 * @mm: its mm, with a user, or NULL
 * @nr: number of regions
 * @region: copies
 */
struct mmpath_foresight_reader {
	pid_t pid;
	struct mm_struct *mm;
	unsigned int nr;
	struct mmpath_foresee_region region[MMPATH_FORESEE_REGIONS];
};

/* Of several processes that share an mm, the one of its owner is shown. */
static bool mmpath_owns(struct task_struct *leader, struct mm_struct *mm)
{
	struct task_struct *owner;
	bool owns;

	rcu_read_lock();
	owner = mmpath_owner(mm);
	owns = owner && same_thread_group(owner, leader);
	rcu_read_unlock();
	return owns;
}

/* Take the regions of a process, if it has any that the reader may see here. */
static bool mmpath_reader_take(struct seq_file *m, struct mmpath_foresight_reader *r,
			       struct task_struct *leader)
{
	struct mm_struct *mm = mmpath_get_mm(leader);

	if (!mm)
		return false;
	r->nr = mmpath_prefetch_regions(mem_cgroup_from_seq(m), mm, r->region);
	if (r->nr && mmpath_owns(leader, mm) && mmpath_may_look(m, mm)) {
		r->mm = mm;
		return true;
	}
	mmput_async(mm);
	return false;
}

/* Go to the first process from @pos on that has something to show. */
static bool mmpath_reader_go(struct seq_file *m, struct mmpath_foresight_reader *r, loff_t *pos)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct task_struct *leader;
	struct pid *pid;
	bool took;

	for (; *pos <= PID_MAX_LIMIT; ++*pos, cond_resched()) {
		rcu_read_lock();
		pid = find_ge_pid(*pos, ns);
		if (pid)
			*pos = pid_nr_ns(pid, ns);
		leader = get_pid_task(pid, PIDTYPE_TGID);
		rcu_read_unlock();
		if (!pid)
			return false;
		took = leader && mmpath_reader_take(m, r, leader);
		if (leader)
			put_task_struct(leader);
		if (took)
			return true;
	}
	return false;
}

static struct mmpath_foresight_reader *mmpath_reader_at(struct seq_file *m,
							struct mmpath_foresight_reader *r,
							loff_t *pos)
{
	r->mm = NULL;
	if (*pos && !mmpath_reader_go(m, r, pos)) {
		kvfree(r);
		return NULL;
	}
	r->pid = *pos;
	return r;
}

void *mmpath_prefetch_regions_start(struct seq_file *m, loff_t *pos)
{
	struct mmpath_foresight_reader *r;

	if (!mmpath_prefetches(mem_cgroup_from_seq(m)))
		return ERR_PTR(-ENODATA);
	r = kvmalloc(sizeof(*r), GFP_KERNEL);
	return r ? mmpath_reader_at(m, r, pos) : ERR_PTR(-ENOMEM);
}

void *mmpath_prefetch_regions_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct mmpath_foresight_reader *r = v;

	if (r->mm)
		mmput_async(r->mm);
	++*pos;
	return mmpath_reader_at(m, r, pos);
}

void mmpath_prefetch_regions_stop(struct seq_file *m, void *v)
{
	struct mmpath_foresight_reader *r = v;

	if (IS_ERR_OR_NULL(r))
		return;
	if (r->mm)
		mmput_async(r->mm);
	kvfree(r);
}

/* Print how many of 100 tests were right, the near and the far ones. */
static void mmpath_show_tests(struct seq_file *m, const struct mmpath_foresee_tests *t)
{
	int far;

	for (far = 0; far < 2; far++) {
		if (t->tried[far])
			seq_printf(m, " %u", t->right[far] * 100 / t->tried[far]);
		else
			seq_puts(m, " -");
	}
}

static void mmpath_show_foresight(struct seq_file *m, pid_t pid,
				  const struct mmpath_foresee_region *r,
				  struct vm_area_struct *vma)
{
	int by;

	seq_printf(m, "%d %llx ", pid, r->first << PAGE_SHIFT);
	if (vma)
		seq_printf(m, "%lx", vma->vm_end);
	else
		seq_putc(m, '-');
	seq_printf(m, " %s %u", mmpath_predictor_names[r->depth ? r->by : NR_MMPATH_PREDICTORS],
		   r->depth);
	for (by = 0; by < NR_MMPATH_PREDICTORS; by++)
		mmpath_show_tests(m, &r->tests[by]);
	seq_printf(m, " %u %u %u ", r->missed, r->fetched, r->used);
	mmpath_show_name(m, vma);
	seq_putc(m, '\n');
}

int mmpath_prefetch_regions_show(struct seq_file *m, void *v)
{
	const struct mmpath_foresight_reader *r = v;
	struct vm_area_struct *vma = NULL;
	unsigned int i;
	bool locked;
	u64 start;

	if (!r->mm) {
		seq_puts(m, "pid start end predictor depth space_near space_far ppg_near ppg_far missed fetched used name\n");
		return 0;
	}
	locked = mmpath_mmap_trylock(r->mm);
	for (i = 0; i < r->nr; i++) {
		start = r->region[i].first << PAGE_SHIFT;
		if (locked)
			vma = find_vma(r->mm, start);
		/* a mapping that has gone says nothing any more */
		if (!locked || (vma && vma->vm_start == start))
			mmpath_show_foresight(m, r->pid, &r->region[i], vma);
	}
	if (locked)
		mmap_read_unlock(r->mm);
	return 0;
}
