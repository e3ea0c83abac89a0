// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch: pages that a program will miss soon are read ahead of it (thesis 4.5).
 *
 *	miss --read the page--> foresee.c --> read more pages
 *	first use of a page in the middle of the last batch --> the next batch
 *
 * That is for the programs of a cgroup and of the cgroups below it. It needs no tracking: misses,
 * and first uses of prefetched pages, are all that it learns from. A prefetched page is not mapped
 * before its use, because that would hide the use. prefetch-swap.c and prefetch-file.c tell of
 * misses and uses, and read pages. Here is what is foreseen for each program, what faults wait, and
 * what cgroups choose.
 *
 * The page that was missed is read first, at once. The task then prepares the reads of the
 * others while it would wait anyway. Prefetched pages are charged like all others, but they
 * give way. Room for them is made in the cgroup of the program only. If an ancestor or the
 * machine is full then, the rest of the batch is dropped.
 *
 * What is foreseen is kept for each mm, is charged to the cgroup of the program, and ends with
 * the mm. Out of memory, less is foreseen.
 *
 * Locks: changes of the table of cgroups hold mmpath_memcg_mutex. A fault holds a reference to
 * the prefetcher while it reads: that may take as long as the disk likes. The lock of a foresight
 * is taken under RCU, or with a reference. Below it are only locks of page tables, of the
 * allocator, and those that tell the CPU time of a task. What is forgotten under it is freed when
 * it is released, because that may take long. The lock of a prefetcher is the innermost. It is
 * taken with interrupts off, see prefetch-swap.c.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/psi.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/sched/cputime.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/task_work.h>
#include <linux/xarray.h>
#include <trace/events/mmpath.h>
#include "../models/around.h"
#include "ahead.h"

static const char * const mmpath_prefetch_stat_names[NR_MMPATH_PF_STATS] = {
	[MMPATH_PF_ONDEMAND]	= "ondemand",
	[MMPATH_PF_PREFETCHED]	= "prefetched",
	[MMPATH_PF_HIT]		= "hit",
	[MMPATH_PF_LATE]	= "late",
	[MMPATH_PF_UNUSED]	= "unused",
	[MMPATH_PF_POLLUTION]	= "pollution",
	[MMPATH_PF_RESTED]	= "rested",
	[MMPATH_PF_STALLS]	= "stalls",
	[MMPATH_PF_STALL_NS]	= "stall_ns",
	[MMPATH_PF_PREFETCHED_BY + MMPATH_FORESEE_SPACE] = "space_prefetched",
	[MMPATH_PF_HIT_BY + MMPATH_FORESEE_SPACE] = "space_hit",
	[MMPATH_PF_PREFETCHED_BY + MMPATH_FORESEE_PPG] = "ppg_prefetched",
	[MMPATH_PF_HIT_BY + MMPATH_FORESEE_PPG] = "ppg_hit",
};

const char * const mmpath_prefetch_names[NR_MMPATH_PREFETCHES] = {
	[MMPATH_PREFETCH_NONE]	= "none",
	[MMPATH_PREFETCH_SPACE]	= "space",
	[MMPATH_PREFETCH_PPG]	= "ppg",
	[MMPATH_PREFETCH_AUTO]	= "auto",
};

/**
 * struct mmpath_stall - a fault that may have to wait for its page
 * @pid: the task; 0: the entry is free
 * @faults: its faults that are over; the fault is over if it has more
 * @address: the page
 * @began: when the fault has asked for the page
 * @late: the page was fetched, and had not arrived
 * @file: it is read from a file
 */
struct mmpath_stall {
	pid_t pid;
	unsigned long faults;
	unsigned long address;
	u64 began;
	bool late, file;
};

#define MMPATH_STALLS	8	/* of an mm at once; others are not counted */

/**
 * struct mmpath_runner - a task whose work between faults on files is measured
 * @s: the foresight of its mm, with a reference while @back is queued
 * @back: tells when the task is back in user space
 * @queued: whether it will tell
 * @over: it has told, or nothing was told yet
 * @pid: the task; 0: the entry is free
 * @event: number of its last event
 * @first: first page of the mapping then; 0: what it has worked before is not known
 * @faults: its faults that were over when this was looked at last
 * @ran: CPU time that it had then, ns
 * @looked: the clock then
 */
struct mmpath_runner {
	struct mmpath_foresight *s;
	struct callback_head back;
	bool queued, over;
	pid_t pid;
	u32 event;
	u64 first;
	unsigned long faults;
	u64 ran, looked;
};

#define MMPATH_RUNNERS	8	/* of an mm; others are not measured */
#define MMPATH_RUNS	64	/* events of others, after which a task has stopped */

/**
 * struct mmpath_foresight - what is foreseen for a program
 * @node: in the table, by @mm
 * @ref: one is that of the table
 * @mm: the mm; ends later than this is in the table
 * @p: the prefetcher that has used it last; holds a reference
 * @memcg: cgroup that is charged, in an event
 * @lock: protects what follows
 * @dead: it has left the table
 * @files: most pages of a file that were out of memory in an event
 * @stalls: faults that may wait
 * @next_stall: entry of @stalls that is replaced next
 * @late: what faults have waited for pages that were fetched, since the last event, in
 *	1/MMPATH_MISS
 * @around: which mappings of files are best left to the kernel; NULL: none is mapped
 * @runners: tasks that are measured for it, by pid
 * @events: events of files
 * @worked: CPU time that they have worked, ns
 * @fault_ns: CPU that the end of a fault takes
 * @mem: allocator of @f
 * @f: the model
 * @rcu: for readers of the table
 */
struct mmpath_foresight {
	struct rhash_head node;
	refcount_t ref;
	struct mm_struct *mm;
	struct mmpath_prefetcher *p;
	struct mem_cgroup *memcg;
	spinlock_t lock;	/* what follows */
	bool dead;
	unsigned long files;
	struct mmpath_stall stalls[MMPATH_STALLS];
	unsigned int next_stall;
	u32 late;
	struct mmpath_around *around;
	struct mmpath_runner runners[MMPATH_RUNNERS];
	u32 events, fault_ns;
	u64 worked;
	struct mmpath_mem mem;
	struct mmpath_foresee f;
	struct rcu_head rcu;
};

DEFINE_STATIC_KEY_FALSE(mmpath_prefetch_key);
static DEFINE_XARRAY(mmpath_prefetchers);	/* by the id of the cgroup's css */
static struct rhashtable mmpath_foresights;

static const struct rhashtable_params mmpath_foresight_params = {
	.key_len = sizeof(struct mm_struct *),
	.key_offset = offsetof(struct mmpath_foresight, mm),
	.head_offset = offsetof(struct mmpath_foresight, node),
	.automatic_shrinking = true,
};

void mmpath_pf_count(struct mmpath_prefetcher *p, enum mmpath_prefetch_stat what, long n)
{
	if (n)
		atomic_long_add(n, &p->stat[what]);
}

void mmpath_prefetcher_put(struct mmpath_prefetcher *p)
{
	if (refcount_dec_and_test(&p->ref))
		kfree_rcu(p, rcu);
}

/* The prefetcher of the cgroup, or of the nearest one above it, under RCU, or NULL */
struct mmpath_prefetcher *mmpath_prefetcher_near(struct mem_cgroup *memcg)
{
	struct mmpath_prefetcher *p = NULL;

	for (; memcg && !p; memcg = parent_mem_cgroup(memcg))
		p = xa_load(&mmpath_prefetchers, memcg->css.id);
	return p;
}

static void mmpath_pollution_note_held(struct mmpath_prefetcher *p, s64 bytes)
{
	unsigned long flags;

	if (!bytes)
		return;
	spin_lock_irqsave(&p->lock, flags);
	mmpath_pollution_hold(&p->pollution, bytes);
	spin_unlock_irqrestore(&p->lock, flags);
}

/* Costs */

/* An average, without a lock: a sample that is lost does no harm, nor does one that is far off. */
void mmpath_average(u32 *average, u64 ns)
{
	u32 old = READ_ONCE(*average);
	s64 most = 4ULL * old + NSEC_PER_USEC;

	if (!old)
		WRITE_ONCE(*average, clamp_t(u64, ns, 1, U32_MAX));
	else
		WRITE_ONCE(*average, max_t(s64, old + (min_t(s64, ns, most) - old) / 16, 1));
}

/* In 1/MMPATH_MISS of what a miss costs. 0: not known. */
static u32 mmpath_in_misses(const struct mmpath_prefetcher *p, bool file, u64 ns)
{
	u32 miss_ns = READ_ONCE(p->miss_ns[file]);

	return miss_ns ? min(mul_u64_u64_div_u64(ns, MMPATH_MISS, miss_ns), U16_MAX) : 0;
}

/* Bytes that the pages that were fetched for a program, and are not used yet, take in memory */
static u64 mmpath_unused_bytes(const struct mmpath_prefetcher *p, const struct mmpath_foresight *s)
{
	u64 unused = READ_ONCE(p->pollution.unused), all = atomic_long_read(&p->unsettled);

	return all ? div64_u64(unused * s->f.nr_unsettled, all) << PAGE_SHIFT : 0;
}

/* Foresights */

static void *mmpath_foresight_alloc_mem(struct mmpath_mem *mem, size_t bytes)
{
	struct mmpath_foresight *s = container_of(mem, struct mmpath_foresight, mem);

	return mmpath_model_alloc(s->memcg, bytes, MMPATH_GFP_NOWAIT);
}

/* What was forgotten may be hundreds of thousands of blocks. */
static void mmpath_dropped_free_mem(struct mmpath_mem *mem, void *p, size_t bytes)
{
	mmpath_model_free(mem, p, bytes);
	cond_resched();
}

static void mmpath_dropped_init(struct mmpath_foresee_dropped *dropped)
{
	dropped->mem = (struct mmpath_mem){ .free = mmpath_dropped_free_mem };
}

static struct mmpath_foresight *mmpath_foresight_find(struct mm_struct *mm)
{
	return rhashtable_lookup(&mmpath_foresights, &mm, mmpath_foresight_params);
}

static struct mmpath_foresight *mmpath_foresight_add(struct mmpath_prefetcher *p,
						     struct mm_struct *mm,
						     struct mem_cgroup *memcg)
{
	struct mmpath_foresight *s = mmpath_model_alloc(memcg, sizeof(*s), MMPATH_GFP_NOWAIT);

	if (!s)
		return NULL;
	refcount_set(&s->ref, 1);
	s->mm = mm;
	refcount_inc(&p->ref);
	s->p = p;
	s->mem.alloc = mmpath_foresight_alloc_mem;
	s->mem.free = mmpath_model_free;
	spin_lock_init(&s->lock);
	mmpath_foresee_init(&s->f, &s->mem, p->mode, 0);
	if (!rhashtable_lookup_insert_fast(&mmpath_foresights, &s->node,
					   mmpath_foresight_params))
		return s;
	/* no memory; or another thread was first, and this event is not seen */
	mmpath_prefetcher_put(p);
	kfree(s);
	return NULL;
}

static void mmpath_foresight_put(struct mmpath_foresight *s)
{
	if (refcount_dec_and_test(&s->ref))
		kfree_rcu(s, rcu);
}

/* What was foreseen is left in @dropped. */
static void mmpath_foresight_drop(struct mmpath_foresight *s,
				  struct mmpath_foresee_dropped *dropped)
{
	mmpath_dropped_init(dropped);
	if (rhashtable_remove_fast(&mmpath_foresights, &s->node, mmpath_foresight_params))
		return;
	spin_lock(&s->lock);
	s->dead = true;
	atomic_long_sub(s->f.nr_unsettled, &s->p->unsettled);
	mmpath_pollution_note_held(s->p, -(s64)s->mem.bytes);
	mmpath_foresee_drop(&s->f, dropped);
	kfree(s->around);
	spin_unlock(&s->lock);
	mmpath_prefetcher_put(s->p);
	mmpath_foresight_put(s);
}

void __mmpath_prefetch_exit(struct mm_struct *mm)
{
	struct mmpath_foresee_dropped dropped;
	struct mmpath_foresight *s;

	rcu_read_lock();
	s = mmpath_foresight_find(mm);
	if (s)
		mmpath_foresight_drop(s, &dropped);
	rcu_read_unlock();
	if (s)
		mmpath_foresee_free(&dropped);
}

/* Drop the foresights of @p that a walk finds. Returns whether there were any. */
static bool mmpath_foresights_walk(struct mmpath_prefetcher *p)
{
	struct mmpath_foresee_dropped dropped;
	struct mmpath_foresight *s;
	struct rhashtable_iter it;
	bool any = false;

	rhashtable_walk_enter(&mmpath_foresights, &it);
	rhashtable_walk_start(&it);
	while ((s = rhashtable_walk_next(&it))) {
		if (IS_ERR(s) || READ_ONCE(s->p) != p)
			continue;
		mmpath_foresight_drop(s, &dropped);
		rhashtable_walk_stop(&it);
		mmpath_foresee_free(&dropped);
		any = true;
		rhashtable_walk_start(&it);
	}
	rhashtable_walk_stop(&it);
	rhashtable_walk_exit(&it);
	return any;
}

/*
 * Drop the foresights of a prefetcher that no fault can find any more. A walk that has stopped
 * where one was may pass over the next one.
 */
static void mmpath_foresights_drop(struct mmpath_prefetcher *p)
{
	while (mmpath_foresights_walk(p))
		;
}

/* Reads */

/* How much memory the programs of a cgroup can have, and how much of it is not in use */
struct mmpath_room mmpath_room_of(struct mem_cgroup *memcg)
{
	struct mmpath_room room = { .all = totalram_pages(), .left = ULONG_MAX };
	unsigned long used, limit;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		used = page_counter_read(&memcg->memory);
		limit = min(READ_ONCE(memcg->memory.max), READ_ONCE(memcg->memory.high));
		room.all = min(room.all, limit);
		room.left = min(room.left, limit - min(limit, used));
	}
	return room;
}

/*
 * Make room for @nr pages in the cgroup of the program, and in no other. Reclaim for a charge
 * would take pages from other cgroups if it is an ancestor that is full.
 */
static void mmpath_prefetch_make_room(struct mem_cgroup *memcg, unsigned int nr)
{
	unsigned long room = mmpath_room_of(memcg).left, flags;

	if (room >= nr)
		return;
	psi_memstall_enter(&flags);
	try_to_free_mem_cgroup_pages(memcg, nr - room, GFP_KERNEL, MEMCG_RECLAIM_MAY_SWAP, NULL);
	psi_memstall_leave(&flags);
	/*
	 * Reclaim knows the size of its lists from statistics that may be four seconds old. It
	 * may believe that there are inactive pages enough, and find none. The next charge that
	 * must succeed would then have a program killed.
	 */
	mem_cgroup_flush_stats(memcg);
}

/* Begin what may put the task to sleep. */
void mmpath_sleep_begin(struct mmpath_reads *reads)
{
	reads->switches = current->nvcsw;
	reads->sleep_began = ktime_get_ns();
}

/*
 * End it. A read that finds no place in the queue of the device sleeps until there is one, and a
 * file system may read where the pages are. When the task has slept longer than two misses take,
 * the rest of the batch is left to be missed. Returns whether to go on.
 */
bool mmpath_sleep_end(struct mmpath_reads *reads)
{
	if (current->nvcsw != reads->switches)
		reads->slept += ktime_get_ns() - reads->sleep_began;
	return reads->slept <= reads->sleep_most;
}

/* Begin to read a batch. */
void mmpath_reads_begin(struct mmpath_reads *reads, struct mmpath_prefetcher *p,
			struct mem_cgroup *memcg, const struct mmpath_batch *batch)
{
	u32 miss_ns = READ_ONCE(p->miss_ns[batch->file]);

	*reads = (struct mmpath_reads){
		.nr = batch->nr,
		.sleep_most = miss_ns ? 2ULL * miss_ns : U64_MAX,
		/* CPU, because a fault without prefetching would wait in reclaim as well */
		.began = task_sched_runtime(current),
	};
	mmpath_prefetch_make_room(memcg, batch->nr);
}

/* Events */

/* The prefetcher of the cgroup, or of the nearest one above it, with a reference, or NULL */
struct mmpath_prefetcher *mmpath_prefetcher_get(struct mem_cgroup *memcg)
{
	struct mmpath_prefetcher *p;

	rcu_read_lock();
	p = mmpath_prefetcher_near(memcg);
	if (p && !refcount_inc_not_zero(&p->ref))
		p = NULL;
	rcu_read_unlock();
	return p;
}

static u32 mmpath_prefetch_nodes(struct mm_struct *mm, unsigned long files)
{
	unsigned long pages = get_mm_counter(mm, MM_ANONPAGES) + get_mm_counter(mm, MM_SWAPENTS) +
			      get_mm_counter(mm, MM_SHMEMPAGES) +
			      get_mm_counter(mm, MM_FILEPAGES) + files;

	return min(2 * pages, MMPATH_PPG_NODES);
}

/*
 * What a fault waits. A fault on anonymous memory whose page has not arrived returns to let others
 * have the locks, waits, and is begun again. Then it finds the page in the swap cache: that is the
 * end of its wait. If the page had arrived before the fault came to wait for it, the fault goes on
 * and is over. There is no second try, and there was no wait. A fault on a file waits before it
 * returns, and one on shmem does not return: both tell when they have the page.
 */

static unsigned long mmpath_faults_of(const struct task_struct *task)
{
	return task->min_flt + task->maj_flt;
}

/* The entry of a task, which alone makes and ends it; or with 0 a free one. NULL: there is none. */
static struct mmpath_stall *mmpath_stall_find(struct mmpath_foresight *s, pid_t pid)
{
	int i;

	for (i = 0; i < MMPATH_STALLS; i++)
		if (READ_ONCE(s->stalls[i].pid) == pid)
			return &s->stalls[i];
	return NULL;
}

static void mmpath_stall_begin(struct mmpath_foresight *s, unsigned long address, bool file,
			       bool late)
{
	/* one of this task that is left is of a fault that did not wait */
	struct mmpath_stall *stall = mmpath_stall_find(s, current->pid) ?:
				     mmpath_stall_find(s, 0) ?:
				     &s->stalls[s->next_stall++ % MMPATH_STALLS];

	lockdep_assert_held(&s->lock);
	WRITE_ONCE(stall->pid, current->pid);
	stall->file = file;
	stall->faults = mmpath_faults_of(current);
	stall->address = address & PAGE_MASK;
	stall->late = late;
	stall->began = ktime_get_ns();
}

static void mmpath_stall_end(struct mmpath_foresight *s, unsigned long address, bool waited)
{
	struct mmpath_stall *stall = mmpath_stall_find(s, current->pid);
	u64 ns;

	lockdep_assert_held(&s->lock);
	if (!stall || stall->address != (address & PAGE_MASK) ||
	    stall->faults != mmpath_faults_of(current))
		return;
	WRITE_ONCE(stall->pid, 0);
	if (!waited)
		return;
	ns = ktime_get_ns() - stall->began;
	mmpath_pf_count(s->p, MMPATH_PF_STALLS, 1);
	mmpath_pf_count(s->p, MMPATH_PF_STALL_NS, ns);
	if (stall->late)
		s->late += mmpath_in_misses(s->p, stall->file, ns);
	else
		mmpath_average(&s->p->miss_ns[stall->file], ns);
}

/* Note that the fault on @address has its page, and whether it has waited for it. */
void mmpath_stall_over(unsigned long address, bool waited)
{
	struct mmpath_foresight *s;

	rcu_read_lock();
	s = mmpath_foresight_find(current->mm);
	if (s && mmpath_stall_find(s, current->pid)) {
		spin_lock(&s->lock);
		if (!s->dead)
			mmpath_stall_end(s, address, waited);
		spin_unlock(&s->lock);
	}
	rcu_read_unlock();
}

/* Note that a fault waits for a page of a file from now on. */
void mmpath_file_asked(unsigned long address)
{
	struct mmpath_foresight *s;

	rcu_read_lock();
	s = mmpath_foresight_find(current->mm);
	if (s) {
		spin_lock(&s->lock);
		if (!s->dead)
			mmpath_stall_begin(s, address, true, false);
		spin_unlock(&s->lock);
	}
	rcu_read_unlock();
}

/*
 * What a task works is its CPU time from the end of the fault of an event to the next event. Faults
 * meanwhile are not told of here. Each is taken to have cost what the fault of the event did after
 * its page was there. around.c compares the work of all tasks with what the faults of a mapping
 * take.
 */

static void mmpath_runner_look(struct mmpath_runner *r)
{
	r->faults = mmpath_faults_of(current);
	r->ran = task_sched_runtime(current);
	r->looked = ktime_get_ns();
}

static void mmpath_runner_pays(struct mmpath_runner *r, u64 ns)
{
	if (r->first && r->s->around)
		mmpath_around_took(r->s->around, r->first, ns);
}

/* The task returns to user space from the fault of an event, or ends. */
static void mmpath_runner_back(struct callback_head *work)
{
	struct mmpath_runner *r = container_of(work, struct mmpath_runner, back), old;
	struct mmpath_foresight *s = r->s;

	/* It comes next, and is no work. Read-around has charged more. */
	if (!(current->flags & PF_EXITING))
		mem_cgroup_handle_over_high(GFP_KERNEL);
	spin_lock(&s->lock);
	old = *r;
	mmpath_runner_look(r);
	r->queued = false;
	r->over = true;
	if (!s->dead && r->faults == old.faults + 1) {
		mmpath_average(&s->fault_ns, r->ran - old.ran);
		mmpath_runner_pays(r, r->ran - old.ran);
	}
	spin_unlock(&s->lock);
	mmpath_foresight_put(s);
}

/* The entry of the task, or NULL: it is another's. */
static struct mmpath_runner *mmpath_runner_find(struct mmpath_foresight *s)
{
	struct mmpath_runner *r = &s->runners[current->pid % MMPATH_RUNNERS];

	return r->pid == current->pid ? r : NULL;
}

static struct mmpath_runner *mmpath_runner_take(struct mmpath_foresight *s)
{
	struct mmpath_runner *r = &s->runners[current->pid % MMPATH_RUNNERS];

	if (r->queued || (r->pid && s->events - r->event <= MMPATH_RUNS))
		return NULL;
	*r = (struct mmpath_runner){ .s = s, .pid = current->pid };
	return r;
}

/* Note an event in a mapping, and what the task has worked since its last one. */
static void mmpath_runner_event(struct mmpath_foresight *s, u64 first)
{
	struct mmpath_runner *r = mmpath_runner_find(s), old;
	u64 ran, faults;

	s->events++;
	if (!r) {
		r = mmpath_runner_take(s);
		first = 0;
	}
	if (!r)
		return;
	old = *r;
	mmpath_runner_look(r);
	r->over = false;
	r->event = s->events;
	r->first = first;
	if (!first)
		return;
	/* the number may have been another task's */
	ran = r->ran - min(r->ran, old.ran);
	/* between faults there is some work */
	faults = min(ran - ran / 8, (r->faults - old.faults) * (u64)s->fault_ns);
	mmpath_runner_pays(r, faults);
	s->worked += ran - faults;
}

/*
 * Note what the fault on a file has taken since its event, or since this was noted last. @user: the
 * fault is of user space, and the task will return there.
 */
void mmpath_file_took(bool user)
{
	struct mmpath_foresight *s;
	struct mmpath_runner *r, old;

	rcu_read_lock();
	s = mmpath_foresight_find(current->mm);
	if (!s)
		goto out;
	spin_lock(&s->lock);
	r = s->dead ? NULL : mmpath_runner_find(s);
	/* another fault since may have had no event */
	if (r && !r->over && r->faults == mmpath_faults_of(current)) {
		old = *r;
		mmpath_runner_look(r);
		mmpath_runner_pays(r, r->looked - old.looked);
		if (user && !r->queued) {
			init_task_work(&r->back, mmpath_runner_back);
			r->queued = !task_work_add(current, &r->back, TWA_RESUME);
			if (r->queued)
				refcount_inc(&s->ref);
		}
	}
	spin_unlock(&s->lock);
out:
	rcu_read_unlock();
}

/*
 * Is the mapping of a file the kernel's, for now? @memory: pages that the program can have of it.
 * Mappings that could each be in memory are judged as one: a database may have hundreds of files.
 */
static bool mmpath_foresight_around(struct mmpath_foresight *s,
				    const struct mmpath_foresee_event *e, unsigned long memory)
{
	struct mmpath_around_event around = {
		.first = e->nr > memory ? e->first : 1,
		.page = e->page,
		.size = memory,
		.miss = e->miss,
	};

	mmpath_runner_event(s, around.first);
	around.worked = s->worked;
	if (!s->around)
		s->around = mmpath_model_alloc(s->memcg, sizeof(*s->around), MMPATH_GFP_NOWAIT);
	return !s->around || mmpath_around(s->around, &around);
}

/*
 * Let the model see an event, and tell what to read. @file: the page is read from a file, and not
 * from swap; with @batch->around the kernel has to read it. @wait: the fault may wait for it.
 */
void mmpath_prefetch_event(struct mmpath_prefetcher *p, struct mem_cgroup *memcg,
			   struct vm_area_struct *vma, unsigned long address, bool file,
			   bool miss, bool wait, struct mmpath_batch *batch)
{
	unsigned long of_file = file ? mmpath_file_pages_out(vma) : mmpath_shmem_in_swap(vma);
	unsigned long in_memory = page_counter_read(&memcg->memory), pool, unsettled, wrong, rested;
	struct mmpath_foresee_dropped dropped;
	struct mmpath_foresee_event e = {
		.page = address >> PAGE_SHIFT,
		.first = vma->vm_start >> PAGE_SHIFT,
		.nr = vma_pages(vma),
		.miss = miss,
		.in_swap = get_mm_counter(vma->vm_mm, MM_SWAPENTS) + of_file,
		.swapped = file ? mmpath_file_out : mmpath_swapped,
		.arg = vma,
		.dropped = &dropped,
	};
	struct mmpath_foresight *s;
	u64 began = 0;
	bool around;
	s64 held;

	batch->nr = 0;
	batch->file = file;
	batch->known = false;
	around = file && batch->around;
	batch->around = file;
	mmpath_dropped_init(&dropped);
	rcu_read_lock();
	if (READ_ONCE(p->dead))
		goto out;
	s = mmpath_foresight_find(vma->vm_mm);
	if (!s)
		s = mmpath_foresight_add(p, vma->vm_mm, memcg);
	if (!s)
		goto out;
	spin_lock(&s->lock);
	if (s->dead)
		goto out_unlock;
	if (s->p != p) {
		atomic_long_sub(s->f.nr_unsettled, &s->p->unsettled);
		atomic_long_add(s->f.nr_unsettled, &p->unsettled);
		mmpath_pollution_note_held(s->p, -(s64)s->mem.bytes);
		mmpath_pollution_note_held(p, s->mem.bytes);
		mmpath_foresee_moved(&s->f);
		refcount_inc(&p->ref);
		mmpath_prefetcher_put(s->p);
		WRITE_ONCE(s->p, p);
	}
	s->memcg = memcg;
	if (wait && miss)
		mmpath_stall_begin(s, address, file, false);
	if (file && (mmpath_foresight_around(s, &e, in_memory) || around))
		goto out_unlock;
	batch->around = false;
	unsettled = atomic_long_read(&p->unsettled);
	pool = in_memory * s->f.pool_percent / 100;
	e.room = pool - min(pool, unsettled);
	e.late = s->late;
	e.page_cost = mmpath_in_misses(p, file, READ_ONCE(p->page_ns[file]));
	e.learning_cost = mmpath_in_misses(p, file, READ_ONCE(p->event_ns));
	e.price = READ_ONCE(p->pollution.price);
	e.taken = mmpath_unused_bytes(p, s) + s->mem.bytes;
	s->late = 0;
	/* one in some is enough for an average */
	if (s->f.clock % 16 == 0)
		began = ktime_get_ns();
	unsettled = s->f.nr_unsettled;
	wrong = s->f.wrong;
	rested = s->f.rested;
	held = s->mem.bytes;
	/* a file may be as large as it likes, but what is kept of it is of the program's memory */
	s->files = max(s->files, min(of_file, 2 * in_memory));
	mmpath_foresee_set(&s->f, READ_ONCE(p->mode),
			   mmpath_prefetch_nodes(vma->vm_mm, s->files));
	batch->nr = mmpath_foresee(&s->f, &e, batch->page);
	if (began && !s->f.all.asleep)
		mmpath_average(&p->event_ns, ktime_get_ns() - began);
	batch->by = s->f.fetch_by;
	batch->depth = s->f.fetch_depth;
	batch->known = s->f.used_by < NR_MMPATH_PREDICTORS;
	/* what the kernel reads ahead, and is late, is no cost of ours */
	if (wait && !miss && batch->known)
		mmpath_stall_begin(s, address, file, true);
	atomic_long_add((long)s->f.nr_unsettled - (long)unsettled, &p->unsettled);
	mmpath_pollution_note_held(p, s->mem.bytes - held);
	mmpath_pf_count(p, MMPATH_PF_UNUSED, s->f.wrong - wrong);
	mmpath_pf_count(p, MMPATH_PF_RESTED, s->f.rested - rested);
	if (!miss && batch->known)
		mmpath_pf_count(p, MMPATH_PF_HIT_BY + s->f.used_by, 1);
out_unlock:
	spin_unlock(&s->lock);
out:
	rcu_read_unlock();
	mmpath_foresee_free(&dropped);
}

/*
 * What the task has slept is a cost of the pages that were fetched, as if it had waited for
 * them. A miss would have slept for its own page.
 */
static void mmpath_prefetch_slept(struct mmpath_prefetcher *p, u64 first, bool waits,
				  const struct mmpath_batch *batch,
				  const struct mmpath_reads *reads)
{
	u64 for_page = waits ? READ_ONCE(p->miss_ns[batch->file]) : 0;
	struct mmpath_foresight *s;
	struct mmpath_stall *stall;
	unsigned int unsettled;

	rcu_read_lock();
	s = mmpath_foresight_find(current->mm);
	if (!s)
		goto out;
	spin_lock(&s->lock);
	s->late += mmpath_in_misses(p, batch->file, reads->slept - min(reads->slept, for_page));
	/* not once more, if the page of the fault is late */
	stall = mmpath_stall_find(s, current->pid);
	if (stall && stall->late)
		stall->began += reads->slept;
	if (!s->dead && reads->nr < batch->nr) {
		unsettled = s->f.nr_unsettled;
		mmpath_foresee_cut(&s->f, first, batch->page, batch->nr, reads->nr);
		atomic_long_sub(unsettled - s->f.nr_unsettled, &s->p->unsettled);
	}
	spin_unlock(&s->lock);
out:
	rcu_read_unlock();
}

/*
 * A batch has been read. @first: first page of the mapping. @miss: a miss began it, and @waits for
 * its page.
 */
void mmpath_reads_end(const struct mmpath_reads *reads, struct mmpath_prefetcher *p,
		      struct mem_cgroup *memcg, u64 first, const struct mmpath_batch *batch,
		      bool miss, bool waits)
{
	if (reads->slept)
		mmpath_prefetch_slept(p, first, miss && waits, batch, reads);
	if (reads->read)
		mmpath_average(&p->page_ns[batch->file],
			       (task_sched_runtime(current) - reads->began) / reads->read);
	mmpath_pf_count(p, MMPATH_PF_PREFETCHED, reads->read);
	mmpath_pf_count(p, MMPATH_PF_PREFETCHED_BY + batch->by, reads->read);
	trace_mmpath_prefetch(cgroup_id(memcg->css.cgroup), task_tgid_nr(current), batch->by,
			      batch->depth, batch->nr, reads->read, miss);
}

/* Cgroups */

static struct mmpath_prefetcher *mmpath_prefetcher_of(const struct mem_cgroup *memcg)
{
	return xa_load(&mmpath_prefetchers, memcg->css.id);
}

static int mmpath_prefetcher_create(struct mem_cgroup *memcg, enum mmpath_foresee_mode mode)
{
	struct mmpath_prefetcher *p = mmpath_model_alloc(memcg, sizeof(*p), MMPATH_GFP);

	if (!p)
		return -ENOMEM;
	refcount_set(&p->ref, 1);
	spin_lock_init(&p->lock);
	mmpath_pollution_init(&p->pollution);
	p->memcg = memcg;
	p->mode = mode;
	static_branch_inc(&mmpath_prefetch_key);
	if (xa_err(xa_store(&mmpath_prefetchers, memcg->css.id, p, GFP_KERNEL))) {
		static_branch_dec(&mmpath_prefetch_key);
		kfree(p);
		return -ENOMEM;
	}
	css_get(&memcg->css);
	return 0;
}

static void mmpath_prefetcher_destroy(struct mmpath_prefetcher *p)
{
	xa_erase(&mmpath_prefetchers, p->memcg->css.id);
	WRITE_ONCE(p->dead, true);
	/* from here on no event adds a foresight of @p */
	synchronize_rcu();
	mmpath_foresights_drop(p);
	static_branch_dec(&mmpath_prefetch_key);
	css_put(&p->memcg->css);
	mmpath_prefetcher_put(p);
}

/**
 * mmpath_set_prefetch() - set how pages are prefetched for the programs of a cgroup
 * @memcg: the cgroup; those below it that have no mode of their own do the same
 * @mode: the mode from now on
 *
 * Context: may sleep; mmpath_memcg_mutex is held. Return: 0 or -ENOMEM.
 */
int mmpath_set_prefetch(struct mem_cgroup *memcg, enum mmpath_foresee_mode mode)
{
	struct mmpath_prefetcher *p = mmpath_prefetcher_of(memcg);

	if (p && mode == MMPATH_PREFETCH_NONE)
		mmpath_prefetcher_destroy(p);
	else if (p)
		WRITE_ONCE(p->mode, mode);
	else if (mode != MMPATH_PREFETCH_NONE)
		return mmpath_prefetcher_create(memcg, mode);
	return 0;
}

/**
 * mmpath_prefetch_mode() - return the mode that mmpath_set_prefetch() has set
 * @memcg: the cgroup
 *
 * Context: mmpath_memcg_mutex is held. Return: the mode.
 */
enum mmpath_foresee_mode mmpath_prefetch_mode(const struct mem_cgroup *memcg)
{
	const struct mmpath_prefetcher *p = mmpath_prefetcher_of(memcg);

	return p ? p->mode : MMPATH_PREFETCH_NONE;
}

/**
 * mmpath_prefetches() - tell whether a cgroup has a mode of its own
 * @memcg: the cgroup
 *
 * Context: any. Return: true if its mode is another one than none.
 */
bool mmpath_prefetches(const struct mem_cgroup *memcg)
{
	return mmpath_prefetcher_of(memcg);
}

/**
 * mmpath_prefetch_regions() - copy what is known of the mappings of a program
 * @memcg: the cgroup
 * @mm: mm of the program; the caller has a user of it
 * @to: the copies; room for MMPATH_FORESEE_REGIONS
 *
 * Context: takes RCU, and the lock of the foresight in it.
 * Return: the number of copies. 0 if the mode of another cgroup than @memcg is the program's.
 */
unsigned int mmpath_prefetch_regions(const struct mem_cgroup *memcg, struct mm_struct *mm,
				     struct mmpath_foresee_region *to)
{
	const struct mmpath_prefetcher *p;
	struct mmpath_foresight *s;
	unsigned int nr = 0;

	rcu_read_lock();
	p = mmpath_prefetcher_of(memcg);
	s = mmpath_foresight_find(mm);
	if (p && s && READ_ONCE(s->p) == p) {
		spin_lock(&s->lock);
		for (; !s->dead && nr < s->f.nr_regions; nr++)
			to[nr] = *mmpath_foresee_region(&s->f, nr);
		spin_unlock(&s->lock);
	}
	rcu_read_unlock();
	return nr;
}

/**
 * mmpath_show_prefetch() - print what prefetching has done in a cgroup
 * @m: file to print to
 * @memcg: the cgroup
 *
 * Context: mmpath_memcg_mutex is held. Return: 0, or -ENODATA if nothing is prefetched.
 */
int mmpath_show_prefetch(struct seq_file *m, const struct mem_cgroup *memcg)
{
	struct mmpath_prefetcher *p = mmpath_prefetcher_of(memcg);
	int i;

	if (!p)
		return -ENODATA;
	for (i = 0; i < NR_MMPATH_PF_STATS; i++)
		seq_printf(m, "prefetch_%s %lu\n", mmpath_prefetch_stat_names[i],
			   atomic_long_read(&p->stat[i]));
	seq_printf(m, "prefetch_swap %s\n", mmpath_devices_wait());
	return 0;
}

/**
 * mmpath_prefetch_reap() - drop cgroups that were removed, or have lost their files
 *
 * Context: may sleep; mmpath_memcg_mutex is held.
 */
void mmpath_prefetch_reap(void)
{
	struct mmpath_prefetcher *p;
	unsigned long id;

	xa_for_each(&mmpath_prefetchers, id, p)
		if (css_is_dying(&p->memcg->css) || !(p->memcg->css.flags & CSS_VISIBLE))
			mmpath_prefetcher_destroy(p);
}

static int __init mmpath_prefetch_init(void)
{
	return rhashtable_init(&mmpath_foresights, &mmpath_foresight_params);
}
core_initcall(mmpath_prefetch_init);
