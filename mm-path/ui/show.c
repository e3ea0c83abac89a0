// SPDX-License-Identifier: GPL-2.0
/*
 * Curves, regions and statistics as text, for memory.path.* and any other file
 * that shows a domain. See Documentation/ABI/testing/cgroup-memory-path.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pid_namespace.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "ui.h"

#define MMPATH_REGION_POINTS	64

static const char * const mmpath_kind_names[] = {
	[MMPATH_REGION_REST]	= "rest",
	[MMPATH_REGION_MMAP]	= "mmap",
	[MMPATH_REGION_BRK]	= "brk",
};

/*
 * The credentials that count are those of the opener. The file may have been passed to a task
 * with more rights, which reads it and passes the contents on.
 */
static bool mmpath_sees_all(const struct seq_file *m)
{
	return file_ns_capable(m->file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(m->file, &init_user_ns, CAP_SYS_ADMIN);
}

static bool mmpath_may_trace(const struct seq_file *m, struct task_struct *task)
{
	const struct cred *opener = m->file->f_cred, *own;
	bool may;

	/* ptrace always allows the own thread group, but the opener may have been another task */
	if (same_thread_group(task, current) && cred_fscmp(opener, current_cred()))
		return false;
	own = override_creds(opener);
	may = ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS | PTRACE_MODE_NOAUDIT);
	revert_creds(own);
	return may;
}

/**
 * mmpath_may_look() - may the reader see single regions of a program?
 * @m: the file
 * @mm: mm of the program
 *
 * A page trace is a side channel.
 * Return: may the opener of @m ptrace the program, or see all?
 */
bool mmpath_may_look(const struct seq_file *m, struct mm_struct *mm)
{
	struct task_struct *task;
	bool may = false;

	if (mmpath_sees_all(m))
		return true;
	rcu_read_lock();
	task = mmpath_owner(mm);
	if (task)
		may = mmpath_may_trace(m, task);
	rcu_read_unlock();
	return may;
}

/*
 * Bring a domain up to date for a reader. That takes locks which the domain's programs need, too,
 * and the result tells when they touch pages. The files of cgroups are readable for all users. So
 * without CAP_PERFMON a reader gets them as of the end of the last epoch.
 */
static int mmpath_update_for(const struct seq_file *m, struct mmpath_domain *dom)
{
	return dom->session || mmpath_sees_all(m) ? mmpath_drain_domain(dom) : 0;
}

/* The pid of the context's process in the reader's pid namespace; 0 if it has none there. */
static pid_t mmpath_pid_for_reader(struct mmpath_ctx *ctx)
{
	mmpath_find_pid(ctx);
	return pid_nr_ns(ctx->tgid, task_active_pid_ns(current));
}

/* The curve may end beyond the footprint, because pages were unmapped since. */
static u64 mmpath_curve_end(const struct mmpath_mrc *mrc, u64 footprint)
{
	return max(mmpath_mrc_end(mrc), roundup(footprint, mrc->group_pages));
}

/* First touches in pauses were not counted. But each page of the footprint has had one. */
static u64 mmpath_first_touches(const struct mmpath_mrc *mrc, u64 footprint)
{
	return max(mmpath_mrc_cold(mrc, MMPATH_MRC_TOTAL), footprint);
}

/**
 * mmpath_show_words() - print words, one of them in brackets
 * @m: file to print to
 * @words: the words
 * @nr: number of words
 * @used: index of the word in brackets
 */
void mmpath_show_words(struct seq_file *m, const char * const *words, unsigned int nr,
		       unsigned int used)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		seq_printf(m, i == used ? "%s[%s]" : "%s%s", i ? " " : "", words[i]);
	seq_putc(m, '\n');
}

/* The contents of memory.path.mrc, copied under the domain's lock and printed without it. */
struct mmpath_mrc_text {
	u64 records, cold, footprint;
	unsigned long resolved_from;
	u32 group_pages, shift, nr;
	struct mmpath_mrc_point points[MMPATH_MRC_POINTS];
};

/* The longest text: keys, and four numbers a line */
#define MMPATH_MRC_BYTES	(1024 + MMPATH_MRC_POINTS * 4 * sizeof("18446744073709551615"))

/*
 * Is there room for @bytes? If not, seq_file calls again with a larger buffer. Asking first saves
 * making the text twice.
 */
static bool mmpath_has_room(struct seq_file *m, size_t bytes)
{
	char *buf;

	if (seq_get_buf(m, &buf) >= bytes)
		return true;
	seq_commit(m, -1);
	return false;
}

static void mmpath_take_mrc(struct mmpath_mrc_text *text, struct mmpath_domain *dom)
{
	const struct mmpath_mrc *mrc = &dom->mrc;

	mutex_lock(&dom->lock);
	text->records = mmpath_mrc_records(mrc, MMPATH_MRC_TOTAL);
	text->cold = mmpath_first_touches(mrc, dom->footprint);
	text->footprint = dom->footprint;
	text->resolved_from = max(dom->reach, 1UL << dom->lru.shift);
	text->group_pages = mrc->group_pages;
	text->shift = dom->lru.shift;
	text->nr = mmpath_mrc_points(mrc, mmpath_curve_end(mrc, dom->footprint), text->points);
	mutex_unlock(&dom->lock);
}

static void mmpath_print_mrc(struct seq_file *m, const struct mmpath_mrc_text *text)
{
	const struct mmpath_mrc_point *point;

	seq_puts(m, "version 1\n");
	seq_printf(m, "page_bytes %lu\n", PAGE_SIZE);
	seq_printf(m, "group_pages %u\n", text->group_pages);
	seq_printf(m, "sample_shift %u\n", text->shift);
	seq_printf(m, "records %llu\n", text->records);
	seq_printf(m, "cold %llu\n", text->cold);
	seq_printf(m, "footprint %llu\n", text->footprint);
	seq_printf(m, "resolved_from %lu\n", text->resolved_from);
	seq_puts(m, "pages total recent epoch\n");
	for (point = text->points; point < text->points + text->nr; point++)
		seq_printf(m, "%llu %llu %llu %llu\n", point->pages,
			   point->misses[MMPATH_MRC_TOTAL], point->misses[MMPATH_MRC_RECENT],
			   point->misses[MMPATH_MRC_EPOCH]);
}

/**
 * mmpath_show_mrc() - print the merged curve of a domain
 * @m: file to print to
 * @dom: the domain
 *
 * Context: may sleep; takes the locks of contexts and of the domain, and prints without them.
 * Return: 0, -ENOMEM, or -EINTR if the reader was killed while it waited.
 */
int mmpath_show_mrc(struct seq_file *m, struct mmpath_domain *dom)
{
	struct mmpath_mrc_text *text;

	if (!mmpath_has_room(m, MMPATH_MRC_BYTES))
		return 0;
	if (mmpath_update_for(m, dom))
		return -EINTR;
	text = kvmalloc(sizeof(*text), GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	mmpath_take_mrc(text, dom);
	mmpath_print_mrc(m, text);
	kvfree(text);
	return 0;
}

/**
 * mmpath_show_name() - print the name of a mapping
 * @m: file to print to
 * @vma: the mapping, or NULL
 *
 * Context: mmap_lock is held for reading.
 */
void mmpath_show_name(struct seq_file *m, struct vm_area_struct *vma)
{
	struct anon_vma_name *name;

	if (!vma) {
		seq_puts(m, "-");
	} else if (vma->vm_file) {
		seq_file_path(m, vma->vm_file, "\n");
	} else if (vma_is_initial_heap(vma)) {
		seq_puts(m, "[heap]");
	} else {
		name = anon_vma_name(vma);
		seq_escape(m, name ? name->name : "-", "\n\\");
	}
}

/* The mapping that a region has now, or NULL. mmap_lock is held for reading. */
static struct vm_area_struct *mmpath_region_vma(struct mm_struct *mm,
						const struct mmpath_region *region)
{
	struct vm_area_struct *vma = find_vma(mm, region->first << PAGE_SHIFT);

	return vma && vma->vm_start >> PAGE_SHIFT <= region->last ? vma : NULL;
}

static u64 mmpath_region_footprint(const struct mmpath_region *region)
{
	const struct mmpath_models *models = region->models;

	return max(region->footprint, models ? mmpath_stack_footprint(&models->lru) : 0);
}

/* Print the region's pool, for replacement by region. */
static void mmpath_show_pool(struct seq_file *m, struct mmpath_domain *dom,
			     const struct mmpath_ctx *ctx, const struct mmpath_region *region)
{
	const struct mmpath_pool *pool;

	mutex_lock(&dom->lock);
	pool = mmpath_replace_pool(dom, ctx, region->id);
	if (!pool)
		seq_puts(m, "- 0 - ");
	else if (pool->target == U64_MAX)
		seq_printf(m, "%s %llu - ", pool->mru ? "mru" : "lru", mmpath_pool_has(pool));
	else
		seq_printf(m, "%s %llu %llu ", pool->mru ? "mru" : "lru", mmpath_pool_has(pool),
			   pool->target);
	mutex_unlock(&dom->lock);
}

static void mmpath_show_region(struct seq_file *m, struct mmpath_domain *dom,
			       struct mmpath_ctx *ctx, const struct mmpath_region *region)
{
	const struct mmpath_models *models = region->models;
	u64 footprint = mmpath_region_footprint(region);

	seq_printf(m, "%d %u %s ", mmpath_pid_for_reader(ctx), region->id,
		   mmpath_kind_names[region->kind]);
	if (region->kind != MMPATH_REGION_REST)
		seq_printf(m, "%llx %llx", region->first << PAGE_SHIFT,
			   (region->last + 1) << PAGE_SHIFT);
	else
		seq_puts(m, "- -");
	seq_printf(m, " %llu ", region->nr_mapped << (PAGE_SHIFT - 10));
	seq_printf(m, "%llu %llu %llu %u %s ", footprint,
		   models ? mmpath_mrc_records(&models->lru_mrc, MMPATH_MRC_TOTAL) : 0,
		   models ? mmpath_first_touches(&models->lru_mrc, footprint) : 0,
		   mmpath_region_shift(&ctx->regions, region), region->nomem ? "nomem" : "ok");
	mmpath_show_pool(m, dom, ctx, region);
	if (region->kind != MMPATH_REGION_REST)
		mmpath_show_name(m, mmpath_region_vma(ctx->d.mm, region));
	else
		seq_puts(m, "-");
	seq_putc(m, '\n');
}

/* Stops when the reader is killed, because a program may hold its mmap_lock for long. */
static int mmpath_show_ctx_regions(struct seq_file *m, struct mmpath_domain *dom,
				   struct mmpath_ctx *ctx)
{
	struct mmpath_region *region;
	struct mm_struct *mm = ctx->d.mm;
	int ret;
	u32 i;

	if (!mmpath_may_look(m, mm) || !mmget_not_zero(mm))
		return 0;
	ret = mmap_read_lock_killable(mm);
	if (ret)
		goto out;
	mutex_lock(&ctx->lock);
	mmpath_regions_measure(&ctx->regions);
	mmpath_for_each_region(&ctx->regions, i, region) {
		mmpath_show_region(m, dom, ctx, region);
		cond_resched();
		if (seq_has_overflowed(m))
			break;
	}
	mutex_unlock(&ctx->lock);
	mmap_read_unlock(mm);
out:
	mmput_async(mm);
	return ret;
}

/**
 * mmpath_show_regions() - print the regions of a domain's programs
 * @m: file to print to
 * @dom: the domain
 *
 * Without CAP_PERFMON a reader sees only programs that it may ptrace.
 * Context: may sleep; takes mmap_lock and the locks of contexts. Must not be called under
 * mmpath_memcg_mutex or mmpath_mutex: a program may hold its mmap_lock for as long as it likes.
 * Return: 0, or -EINTR if the reader was killed while it waited.
 */
int mmpath_show_regions(struct seq_file *m, struct mmpath_domain *dom)
{
	struct mmpath_ctx *ctx;
	unsigned long id;
	int ret = 0;

	if (mmpath_update_for(m, dom))
		return -EINTR;
	seq_puts(m, "pid region kind start end mapped_kb footprint records cold shift state policy in_memory target name\n");
	mmpath_for_each_member(ctx, id, dom) {
		ret = mmpath_show_ctx_regions(m, dom, ctx);
		if (ret) {
			mmpath_ctx_put(ctx);
			break;
		}
	}
	return ret;
}

static void mmpath_show_region_points(struct seq_file *m, struct mmpath_ctx *ctx,
				      const struct mmpath_region *region)
{
	const struct mmpath_models *models = region->models;
	pid_t pid = mmpath_pid_for_reader(ctx);
	struct mmpath_mrc_walk lru, mru;
	u64 end, step, pages;

	if (!models) {
		seq_printf(m, "%d %u 0 0 0\n", pid, region->id);
		return;
	}
	end = mmpath_curve_end(&models->lru_mrc, mmpath_region_footprint(region));
	step = roundup(end / MMPATH_REGION_POINTS, models->lru_mrc.group_pages) ?:
		models->lru_mrc.group_pages;
	mmpath_mrc_walk(&lru, &models->lru_mrc, MMPATH_MRC_TOTAL);
	mmpath_mrc_walk(&mru, &models->mru_mrc, MMPATH_MRC_TOTAL);
	for (pages = 0; pages < end + step; pages += step)
		seq_printf(m, "%d %u %llu %llu %llu\n", pid, region->id, pages,
			   mmpath_mrc_walk_to(&lru, pages), mmpath_mrc_walk_to(&mru, pages));
}

/**
 * mmpath_show_region_mrc() - print the curves of a domain's regions
 * @m: file to print to
 * @dom: the domain
 *
 * Shows the same programs as mmpath_show_regions().
 * Context: may sleep; takes the locks of contexts.
 * Return: 0, or -EINTR if the reader was killed while it waited.
 */
int mmpath_show_region_mrc(struct seq_file *m, struct mmpath_domain *dom)
{
	struct mmpath_region *region;
	struct mmpath_ctx *ctx;
	unsigned long id;
	u32 i;

	if (mmpath_update_for(m, dom))
		return -EINTR;
	seq_puts(m, "pid region pages lru mru\n");
	mmpath_for_each_member(ctx, id, dom) {
		if (!mmpath_may_look(m, ctx->d.mm))
			continue;
		mutex_lock(&ctx->lock);
		mmpath_for_each_region(&ctx->regions, i, region) {
			mmpath_show_region_points(m, ctx, region);
			cond_resched();
			/* all is printed again, to a larger buffer */
			if (seq_has_overflowed(m))
				break;
		}
		mutex_unlock(&ctx->lock);
	}
	return 0;
}

/* What is summed up over the members of a domain, and those that have left where it lasts */
struct mmpath_sums {
	unsigned long contexts, settling, rate, bytes;
	unsigned long stat[NR_MMPATH_STATS];
	u64 cost_ns, own_ns, worker_ns, now_cost_ns, now_own_ns;
	unsigned int shift;
};

static void mmpath_sum(struct mmpath_sums *sum, struct mmpath_domain *dom)
{
	struct mmpath_ctx *ctx;
	unsigned long id;
	unsigned int i;

	*sum = (struct mmpath_sums){
		.cost_ns = READ_ONCE(dom->cost_ns), .own_ns = READ_ONCE(dom->own_ns),
		.worker_ns = READ_ONCE(dom->worker_ns),
	};
	for (i = 0; i < NR_MMPATH_STATS; i++)
		sum->stat[i] = READ_ONCE(dom->stat[i]);
	mmpath_for_each_member(ctx, id, dom) {
		sum->contexts++;
		sum->settling += READ_ONCE(ctx->epochs) < MMPATH_SETTLING_EPOCHS;
		for (i = 0; i < NR_MMPATH_STATS; i++)
			sum->stat[i] += atomic_long_read(&ctx->d.stat[i]);
		sum->rate += READ_ONCE(ctx->records_per_sec);
		sum->bytes += READ_ONCE(ctx->mem.bytes);
		sum->cost_ns += READ_ONCE(ctx->d.cost_ns);
		sum->own_ns += READ_ONCE(ctx->d.own_ns);
		sum->worker_ns += atomic64_read(&ctx->d.worker_ns);
		sum->now_cost_ns += READ_ONCE(ctx->epoch_cost_ns);
		sum->now_own_ns += READ_ONCE(ctx->epoch_own_ns);
		sum->shift = max(sum->shift, READ_ONCE(ctx->d.shift));
	}
}

#define MMPATH_SUM_TRIES	4U

/* A member that leaves meanwhile must not count twice, or not at all. */
static void mmpath_sum_up(struct mmpath_sums *sum, struct mmpath_domain *dom)
{
	unsigned int tries, seq;

	for (tries = 0; tries < MMPATH_SUM_TRIES; tries++) {
		seq = read_seqcount_begin(&dom->moved);
		mmpath_sum(sum, dom);
		if (!read_seqcount_retry(&dom->moved, seq))
			return;
	}
	mutex_lock(&dom->lock);
	mmpath_sum(sum, dom);
	mutex_unlock(&dom->lock);
}

/**
 * mmpath_show_stat() - print the statistics of a domain
 * @m: file to print to
 * @dom: the domain
 *
 * Context: may sleep; takes the locks of contexts and of the domain.
 * Return: 0, or -EINTR if the reader was killed while it waited.
 */
int mmpath_show_stat(struct seq_file *m, struct mmpath_domain *dom)
{
	const struct mmpath_driver *drv = mmpath_driver();
	struct mmpath_sums sum;
	unsigned int i;

	if (mmpath_update_for(m, dom))
		return -EINTR;
	mmpath_sum_up(&sum, dom);
	seq_printf(m, "contexts %lu\n", sum.contexts);
	seq_printf(m, "settling %lu\n", sum.settling);
	for (i = 0; i < NR_MMPATH_STATS; i++)
		seq_printf(m, "%s %lu\n", mmpath_stat_names[i], sum.stat[i]);
	seq_printf(m, "overhead_permille %u\n", mmpath_permille(sum.cost_ns, sum.own_ns));
	seq_printf(m, "overhead_now_permille %u\n",
		   mmpath_permille(sum.now_cost_ns, sum.now_own_ns));
	seq_printf(m, "worker_permille %u\n", mmpath_permille(sum.worker_ns, sum.own_ns));
	seq_printf(m, "records_per_sec %lu\n", sum.rate);
	seq_printf(m, "sample_shift %u\n", sum.shift);
	seq_printf(m, "coverage_permille %u\n",
		   sum.contexts ? 1000 >> min(sum.shift, 31U) : 0);
	seq_printf(m, "model_bytes %lu\n", sum.bytes + READ_ONCE(dom->mem.bytes));
	seq_printf(m, "driver %s\n", drv ? drv->name : "none");
	mmpath_show_replace(m, dom);
	return 0;
}
