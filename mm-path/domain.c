// SPDX-License-Identifier: GPL-2.0
/*
 * Domains: the cgroups and sessions that have programs tracked. A domain has one LRU stack of
 * all pages of all members, the curve of that stack, policies, and a recording.
 *
 * Locks: see core.h.
 */
#include <linux/capability.h>
#include <linux/memcontrol.h>
#include <linux/pid_namespace.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <trace/events/mmpath.h>
#include "core.h"

static void *mmpath_domain_alloc_mem(struct mmpath_mem *mem, size_t bytes)
{
	struct mmpath_domain *dom = container_of(mem, struct mmpath_domain, mem);

	return mmpath_model_alloc(dom->memcg, bytes, dom->gfp);
}

static const struct mmpath_mem mmpath_domain_mem = {
	.alloc = mmpath_domain_alloc_mem,
	.free = mmpath_model_free,
};

/**
 * mmpath_domain_create() - make a domain, with an empty curve
 * @memcg: what it is charged to
 *
 * Context: may sleep; takes mmpath_mutex.
 * Return: the domain, with the reference mmpath_domain_destroy() drops, or
 * NULL when out of memory.
 */
struct mmpath_domain *mmpath_domain_create(struct mem_cgroup *memcg)
{
	struct mmpath_domain *dom = mmpath_model_alloc(memcg, sizeof(*dom), MMPATH_GFP);

	if (!dom)
		return NULL;
	kref_init(&dom->ref);
	mutex_init(&dom->lock);
	seqcount_mutex_init(&dom->moved, &dom->lock);
	INIT_LIST_HEAD(&dom->policies);
	dom->mem = mmpath_domain_mem;
	dom->gfp = MMPATH_GFP;
	dom->memcg = memcg;
	xa_init_flags(&dom->names, XA_FLAGS_ACCOUNT);
	xa_init_flags(&dom->members, XA_FLAGS_ACCOUNT);
	if (mmpath_stack_init(&dom->lru, &dom->mem, READ_ONCE(mmpath_config.sample_pages), 0))
		goto err_free;
	if (mmpath_mrc_init(&dom->mrc, &dom->mem, READ_ONCE(mmpath_config.group_pages)))
		goto err_stack;
	dom->gfp = MMPATH_GFP_NOWAIT;
	if (memcg)
		css_get(&memcg->css);
	mutex_lock(&mmpath_mutex);
	list_add_tail(&dom->node, &mmpath_domains);
	mutex_unlock(&mmpath_mutex);
	return dom;

err_stack:
	mmpath_stack_destroy(&dom->lru);
err_free:
	kfree(dom);
	return NULL;
}

static void mmpath_recorder_free(struct mmpath_recorder *rec)
{
	if (!rec)
		return;
	put_pid_ns(rec->pid_ns);
	kvfree(rec->events);
	kfree(rec);
}

static void mmpath_domain_release(struct kref *ref)
{
	struct mmpath_domain *dom = container_of(ref, struct mmpath_domain, ref);

	mmpath_recorder_free(dom->recorder);
	mmpath_mrc_destroy(&dom->mrc);
	mmpath_stack_destroy(&dom->lru);
	xa_destroy(&dom->names);
	xa_destroy(&dom->members);
	mem_cgroup_put(dom->memcg);
	kfree(dom);
}

void mmpath_domain_put(struct mmpath_domain *dom)
{
	kref_put(&dom->ref, mmpath_domain_release);
}

/**
 * mmpath_domain_destroy() - drop the owner's reference to a domain
 * @dom: the domain; only contexts that exit may still be in it
 *
 * Context: may sleep; takes mmpath_mutex.
 */
void mmpath_domain_destroy(struct mmpath_domain *dom)
{
	mutex_lock(&mmpath_mutex);
	list_del(&dom->node);
	mutex_unlock(&mmpath_mutex);
	mmpath_domain_put(dom);
}

/**
 * mmpath_domain_reset() - empty the stack and the curve
 * @dom: of this domain
 * @shift: the stack keeps one page in 2^@shift from now on
 *
 * Context: may sleep; takes the domain's lock.
 */
void mmpath_domain_reset(struct mmpath_domain *dom, unsigned int shift)
{
	mutex_lock(&dom->lock);
	mmpath_stack_reset(&dom->lru, shift);
	mmpath_mrc_reset(&dom->mrc);
	/* accesses from before will be among this epoch's */
	dom->seen = (struct mmpath_seen){ .as = MMPATH_SEEN_OTHERS };
	dom->unseen.nr = 0;
	dom->resumed = false;
	dom->footprint = 0;
	mutex_unlock(&dom->lock);
}

/**
 * mmpath_domain_record() - begin a recording of the accesses of all members
 * @dom: the domain
 *
 * The caller is the reader. Context: may sleep.
 * Return: 0, -EBUSY when it is recording already, -ENOMEM.
 */
int mmpath_domain_record(struct mmpath_domain *dom)
{
	struct mmpath_recorder *rec = kzalloc(sizeof(*rec), GFP_KERNEL_ACCOUNT);

	if (!rec)
		return -ENOMEM;
	rec->pid_ns = get_pid_ns(task_active_pid_ns(current));
	rec->events = kvmalloc_array(MMPATH_RECORDER_EVENTS, sizeof(*rec->events),
				     GFP_KERNEL_ACCOUNT);
	if (!rec->events) {
		mmpath_recorder_free(rec);
		return -ENOMEM;
	}
	kfifo_init(&rec->fifo, rec->events, MMPATH_RECORDER_EVENTS * sizeof(*rec->events));
	init_waitqueue_head(&rec->wait);
	mutex_init(&rec->lock);
	rec->trusted = perfmon_capable();
	if (!cmpxchg(&dom->recorder, NULL, rec))
		return 0;
	mmpath_recorder_free(rec);
	return -EBUSY;
}

static void mmpath_recorder_put(struct mmpath_recorder *rec, const struct mmpath_event *ev)
{
	struct mmpath_event lost = { .addr = rec->lost, .type = MMPATH_EVENT_LOST };

	if (rec->lost && kfifo_put(&rec->fifo, lost))
		rec->lost = 0;
	if (rec->lost || !kfifo_put(&rec->fifo, *ev))
		rec->lost++;
}

/**
 * mmpath_domain_log() - put a record into the recording of a domain
 * @dom: the domain, whose lock is held
 * @ctx: the member that made the access
 * @record: see mmpath_record()
 *
 * A member may have executed a program that the reader must not look into. So accesses of a
 * program that cannot be dumped are left out, unless the reader has CAP_PERFMON.
 */
void mmpath_domain_log(struct mmpath_domain *dom, const struct mmpath_ctx *ctx,
		       unsigned long record)
{
	struct mmpath_recorder *rec = READ_ONCE(dom->recorder);
	struct mmpath_event ev = {
		.addr = record & PAGE_MASK,
		.type = MMPATH_EVENT_ACCESS,
		.order = mmpath_record_order(record),
		.flags = (record & MMPATH_RECORD_WRITE ? MMPATH_ACCESS_WRITE : 0) |
			 (record & MMPATH_RECORD_AGAIN ? MMPATH_ACCESS_AGAIN : 0),
	};

	lockdep_assert_held(&dom->lock);
	if (!rec || (!rec->trusted && get_dumpable(ctx->d.mm) != SUID_DUMP_USER))
		return;
	ev.pid = pid_nr_ns(ctx->tgid, rec->pid_ns);
	mmpath_recorder_put(rec, &ev);
}

/**
 * mmpath_permille() - work out the overhead of tracking
 * @cost_ns: what tracking cost
 * @own_ns: what the program ran by itself
 *
 * Return: cost per thousand of the program's time.
 */
unsigned int mmpath_permille(u64 cost_ns, u64 own_ns)
{
	return min_t(u64, div64_u64(cost_ns * 1000, max(own_ns, 1ULL)), 1000000);
}

/**
 * mmpath_domain_wake() - wake the readers of a recording
 * @dom: the domain
 */
void mmpath_domain_wake(struct mmpath_domain *dom)
{
	struct mmpath_recorder *rec = READ_ONCE(dom->recorder);

	if (rec)
		wake_up_interruptible(&rec->wait);
}

/**
 * mmpath_domain_is_left() - tell whether a domain has had members and has none
 * @dom: the domain
 *
 * Return: true when it had members and has none. What they did is in the recording then.
 */
bool mmpath_domain_is_left(const struct mmpath_domain *dom)
{
	/* pairs with mmpath_domain_leave() */
	return smp_load_acquire(&dom->left);
}

static u64 mmpath_domain_page(const struct mmpath_ctx *ctx, u64 page)
{
	return (u64)ctx->id << MMPATH_VPN_BITS | page;
}

/* A page's number in the merged stack, which has a page that is shared since a fork once */
static u64 mmpath_domain_shared(struct mmpath_ctx *ctx, u64 page)
{
	return (u64)mmpath_name_of(ctx, page) << MMPATH_VPN_BITS | page;
}

/**
 * mmpath_domain_key() - tell regions of all members apart
 * @ctx: a member
 * @region: the id of one of its regions
 *
 * Return: a key; not MMPATH_REGION_UNKNOWN, for no context has id 0.
 */
u64 mmpath_domain_key(const struct mmpath_ctx *ctx, u32 region)
{
	return (u64)ctx->id << 32 | region;
}

/**
 * mmpath_domain_add_policy() - have a policy told of all pages from now on
 * @dom: the domain, whose lock is held
 * @p: the policy, with its ops and its shift
 */
void mmpath_domain_add_policy(struct mmpath_domain *dom, struct mmpath_policy *p)
{
	lockdep_assert_held(&dom->lock);
	list_add_tail(&p->node, &dom->policies);
	WRITE_ONCE(p->dom, dom);
}

/**
 * mmpath_domain_del_policy() - stop telling a policy of pages
 * @p: the policy; the lock of its domain is held
 */
void mmpath_domain_del_policy(struct mmpath_policy *p)
{
	lockdep_assert_held(&p->dom->lock);
	list_del(&p->node);
	WRITE_ONCE(p->dom, NULL);
}

/**
 * mmpath_domain_tell_policy() - tell a policy what has been touched so far
 * @dom: the domain, whose lock is held
 * @p: the policy
 *
 * The policy is told in the order of the touches, as far as the merged stack knows them and the
 * policy has memory. It finds out later which pages have left memory. Context: may sleep.
 */
void mmpath_domain_tell_policy(struct mmpath_domain *dom, struct mmpath_policy *p)
{
	bool more;
	u64 page;

	lockdep_assert_held(&dom->lock);
	for (more = mmpath_stack_bottom(&dom->lru, &page); more;
	     more = mmpath_stack_above(&dom->lru, &page)) {
		if (mmpath_sampled(page, p->shift))
			p->ops->touch(p, page, MMPATH_REGION_UNKNOWN);
		cond_resched();
	}
}

/**
 * mmpath_domain_find_policy() - find a policy of a domain
 * @dom: the domain, whose lock is held
 * @ops: what it does
 *
 * Return: the policy, or NULL.
 */
struct mmpath_policy *mmpath_domain_find_policy(struct mmpath_domain *dom,
						const struct mmpath_policy_ops *ops)
{
	struct mmpath_policy *p;

	lockdep_assert_held(&dom->lock);
	list_for_each_entry(p, &dom->policies, node)
		if (p->ops == ops)
			return p;
	return NULL;
}

/* A page that a policy could not note is left to the kernel's reclaim until its next touch. */
static void mmpath_domain_touch_policies(struct mmpath_domain *dom, struct mmpath_ctx *ctx,
					 u64 page, u64 rank, u32 region)
{
	u64 number = mmpath_domain_page(ctx, page), key = mmpath_domain_key(ctx, region);
	struct mmpath_policy *p;

	list_for_each_entry(p, &dom->policies, node)
		if (mmpath_rank_sampled(rank, p->shift) &&
		    p->ops->touch(p, number, key) == MMPATH_NOMEM)
			mmpath_dropped(ctx, "policy out of memory");
}

/**
 * mmpath_domain_touch() - note the touch of a member's page
 * @dom: the domain, whose lock is held
 * @ctx: the member
 * @page: number of the page
 * @rank: its mmpath_rank(); in the domain, where other pages have its number too, the same
 * @region: its region
 * @again: only raise it, see mmpath_region_touch()
 */
void mmpath_domain_touch(struct mmpath_domain *dom, struct mmpath_ctx *ctx, u64 page, u64 rank,
			 const struct mmpath_region *region, bool again)
{
	u32 weight = 1U << dom->lru.shift;
	u64 merged;
	s64 distance;

	lockdep_assert_held(&dom->lock);
	if (!list_empty(&dom->policies))
		mmpath_domain_touch_policies(dom, ctx, page, rank, region->id);
	if (!mmpath_rank_sampled(rank, dom->lru.shift))
		return;
	merged = mmpath_domain_shared(ctx, page);
	distance = __mmpath_stack_touch(&dom->lru, merged);
	if (distance == MMPATH_NOMEM) {
		mmpath_dropped(ctx, "domain out of memory");
		return;
	}
	/* not later: the page may be unmapped before the curve is read */
	if (distance == MMPATH_COLD) {
		dom->footprint = max(dom->footprint, mmpath_stack_footprint(&dom->lru));
		mmpath_mrc_make_room(&dom->mrc, dom->footprint);
	}
	if (again)
		return;
	/* as in region.c, but after a reset all pages are new; others may have paused, too */
	if (distance == MMPATH_COLD && dom->resumed &&
	    (region->resumed || merged != mmpath_domain_page(ctx, page)))
		mmpath_mrc_begin(&dom->mrc, weight);
	else
		mmpath_mrc_add(&dom->mrc, distance, weight);
}

/**
 * mmpath_domain_shift() - return which pages mmpath_domain_touch() wants
 * @dom: the domain, whose lock is held
 *
 * Return: the shift s, for one page in 2^s; 0 while all accesses are recorded.
 */
unsigned int mmpath_domain_shift(const struct mmpath_domain *dom)
{
	unsigned int shift = dom->lru.shift;
	const struct mmpath_policy *p;

	lockdep_assert_held(&dom->lock);
	if (dom->recorder)
		return 0;
	list_for_each_entry(p, &dom->policies, node)
		shift = min(shift, p->shift);
	return shift;
}

/**
 * mmpath_domain_prefetch() - load the places of pages that mmpath_domain_touch() will get
 * @dom: the domain, whose lock is held
 * @ctx: whose pages they are
 * @page: their numbers
 * @nr: how many, at most MMPATH_PREFETCH
 */
void mmpath_domain_prefetch(struct mmpath_domain *dom, struct mmpath_ctx *ctx,
			    const u64 *page, unsigned int nr)
{
	u64 merged[MMPATH_PREFETCH];
	unsigned int i;

	lockdep_assert_held(&dom->lock);
	for (i = 0; i < nr; i++)
		merged[i] = mmpath_domain_shared(ctx, page[i]);
	mmpath_stack_prefetch(&dom->lru, merged, nr);
}

/**
 * mmpath_domain_note() - remember of a member what would go with its context
 * @dom: the domain, whose lock is held
 * @ctx: a member
 */
void mmpath_domain_note(struct mmpath_domain *dom, const struct mmpath_ctx *ctx)
{
	lockdep_assert_held(&dom->lock);
	dom->reach = max(dom->reach, READ_ONCE(ctx->d.pab_reach));
}

static void mmpath_domain_policies_forget(struct mmpath_domain *dom,
					  const struct mmpath_ctx *ctx, u64 first, u64 nr)
{
	struct mmpath_policy *p;

	lockdep_assert_held(&dom->lock);
	list_for_each_entry(p, &dom->policies, node)
		p->ops->forget(p, mmpath_domain_page(ctx, first), nr);
}

/* May pages of its name be in a domain? */
static bool mmpath_domain_has(const struct mmpath_ctx *ctx)
{
	return ctx->d.fed || (ctx->name && ctx->name->lent);
}

static void __mmpath_domain_forget(struct mmpath_domain *dom, const struct mmpath_ctx *ctx,
				   u64 first, u64 nr)
{
	mmpath_stack_forget(&dom->lru, mmpath_domain_page(ctx, first), nr);
	mmpath_domain_policies_forget(dom, ctx, first, nr);
}

/*
 * What a context has counted is the domain's, from when it joins until it leaves: as long as it is
 * in, the sum of both is.
 */
static void domain_joined(struct mmpath_domain *dom, const struct mmpath_ctx *ctx)
{
	int i;

	write_seqcount_begin(&dom->moved);
	/* the entry is there already */
	xa_store(&dom->members, ctx->id, (void *)ctx, 0);
	dom->cost_ns -= ctx->d.cost_ns;
	dom->own_ns -= ctx->d.own_ns;
	dom->worker_ns -= atomic64_read(&ctx->d.worker_ns);
	for (i = 0; i < NR_MMPATH_STATS; i++)
		dom->stat[i] -= atomic_long_read(&ctx->d.stat[i]);
	write_seqcount_end(&dom->moved);
}

static void domain_left(struct mmpath_domain *dom, const struct mmpath_ctx *ctx)
{
	int i;

	write_seqcount_begin(&dom->moved);
	xa_erase(&dom->members, ctx->id);
	dom->cost_ns += ctx->d.cost_ns;
	dom->own_ns += ctx->d.own_ns;
	dom->worker_ns += atomic64_read(&ctx->d.worker_ns);
	for (i = 0; i < NR_MMPATH_STATS; i++)
		dom->stat[i] += atomic_long_read(&ctx->d.stat[i]);
	write_seqcount_end(&dom->moved);
}

/**
 * mmpath_domain_join() - add a member
 * @dom: the domain
 * @ctx: the member
 *
 * The first one starts with an empty stack: however coarse that had become.
 *
 * Context: takes the domain's lock; reclaim may wait for it. Return: 0 or -ENOMEM.
 */
int mmpath_domain_join(struct mmpath_domain *dom, struct mmpath_ctx *ctx)
{
	int ret;

	mutex_lock(&dom->lock);
	ret = xa_insert(&dom->members, ctx->id, NULL, MMPATH_GFP_ATTACH);
	if (ret)
		goto unlock;
	domain_joined(dom, ctx);
	mmpath_names_join(dom, ctx);
	if (!dom->nr_members++)
		mmpath_stack_reset(&dom->lru, 0);
	WRITE_ONCE(dom->left, false);
unlock:
	mutex_unlock(&dom->lock);
	return ret;
}

/**
 * mmpath_domain_end_burst() - forget or censor a member's pages, for its driver pauses
 * @dom: the domain
 * @ctx: the member
 *
 * The pages of the only member are taken into account as they stand, see
 * mrc.c. Those of one of many are just forgotten: at which depth they are is
 * not known without walking the stack. What a policy knows of a blind one will be too
 * old: it begins again.
 */
void mmpath_domain_end_burst(struct mmpath_domain *dom, struct mmpath_ctx *ctx)
{
	mutex_lock(&dom->lock);
	mmpath_domain_note(dom, ctx);
	dom->resumed = true;
	if (READ_ONCE(ctx->d.blind))
		mmpath_domain_policies_forget(dom, ctx, 0, MMPATH_VPN_MASK + 1);
	if (dom->nr_members == 1) {
		mmpath_mrc_censor(&dom->mrc, mmpath_stack_footprint(&dom->lru));
		mmpath_stack_reset(&dom->lru, dom->lru.shift);
	} else {
		mmpath_stack_forget(&dom->lru, mmpath_domain_page(ctx, 0), MMPATH_VPN_MASK + 1);
		mmpath_names_forget(dom, ctx);
	}
	mutex_unlock(&dom->lock);
}

/**
 * mmpath_domain_saw_others() - note that a domain and its members have not seen the same accesses
 * @dom: the domain
 *
 * Its curve is not made up for in this epoch. Context: takes the domain's lock.
 */
void mmpath_domain_saw_others(struct mmpath_domain *dom)
{
	mutex_lock(&dom->lock);
	dom->seen.as = MMPATH_SEEN_OTHERS;
	mutex_unlock(&dom->lock);
}

/**
 * mmpath_domain_saw() - add what a member has seen of its epoch
 * @dom: the domain
 * @ctx: the member
 */
void mmpath_domain_saw(struct mmpath_domain *dom, const struct mmpath_ctx *ctx)
{
	mutex_lock(&dom->lock);
	mmpath_domain_note(dom, ctx);
	mmpath_seen_add(&dom->seen, &ctx->seen);
	mutex_unlock(&dom->lock);
}

/**
 * mmpath_domain_close_regions() - tell policies that the epoch of a member's regions is over
 * @dom: the domain
 * @ctx: the member; its lock is held
 *
 * Context: takes the domain's lock.
 */
void mmpath_domain_close_regions(struct mmpath_domain *dom, struct mmpath_ctx *ctx)
{
	struct mmpath_region *region;
	struct mmpath_policy *p;
	u32 i;

	lockdep_assert_held(&ctx->lock);
	if (list_empty(&dom->policies))
		return;
	mutex_lock(&dom->lock);
	list_for_each_entry(p, &dom->policies, node) {
		if (!p->ops->close_region)
			continue;
		mmpath_for_each_region(&ctx->regions, i, region)
			if (region->models)
				p->ops->close_region(p, mmpath_domain_key(ctx, region->id),
						     region->models);
	}
	mutex_unlock(&dom->lock);
}

/* Returns what was counted. */
static struct mmpath_counted domain_make_up(struct mmpath_domain *dom)
{
	struct mmpath_counted counted = { };

	mmpath_mrc_counted(&dom->mrc, &counted);
	mmpath_unseen_close(&dom->unseen, &dom->seen, &counted);
	mmpath_mrc_make_up(&dom->mrc, &dom->seen, &counted);
	return counted;
}

/**
 * mmpath_domain_close_epoch() - close the epoch of a domain, for all its members
 * @dom: the domain
 */
void mmpath_domain_close_epoch(struct mmpath_domain *dom)
{
	struct mmpath_counted counted;
	struct mmpath_policy *p;

	mutex_lock(&dom->lock);
	counted = domain_make_up(dom);
	mmpath_seen_close(&dom->seen, &counted);
	mmpath_mrc_close_epoch(&dom->mrc);
	list_for_each_entry(p, &dom->policies, node)
		if (p->ops->close_epoch)
			p->ops->close_epoch(p);
	mutex_unlock(&dom->lock);
}

/* Take a member out: its pages will not be touched again, its counts stay. */
void mmpath_domain_leave(struct mmpath_domain *dom, struct mmpath_ctx *ctx)
{
	struct mmpath_counted counted;

	mutex_lock(&dom->lock);
	mmpath_domain_note(dom, ctx);
	mmpath_seen_add(&dom->seen, &ctx->seen);
	if (dom->nr_members == 1) {
		/* make up for it now: the curve may be read before the end of the epoch */
		counted = domain_make_up(dom);
		if (!counted.now && !counted.epoch)
			dom->seen = (struct mmpath_seen){ };
	}
	mmpath_names_leave(dom, ctx);
	__mmpath_domain_forget(dom, ctx, 0, MMPATH_VPN_MASK + 1);
	domain_left(dom, ctx);
	dom->nr_members--;
	/* pairs with mmpath_domain_is_left(): after the last event */
	smp_store_release(&dom->left, !dom->nr_members);
	mutex_unlock(&dom->lock);
	mmpath_domain_wake(dom);
}

/**
 * mmpath_domain_set_shift() - follow a member that samples more coarsely, or less
 * @dom: the domain
 * @shift: it keeps one page in 2^@shift
 * @curve: and one in 2^@curve for its curves
 *
 * The merged stack samples as coarsely as its coarsest member ever did, or more so if
 * it would be too large: to make it finer is to empty it, and to lose a round of
 * misses. mmpath_reset_domain() does. Context: takes the domain's lock.
 */
void mmpath_domain_set_shift(struct mmpath_domain *dom, unsigned int shift,
			     unsigned int curve)
{
	struct mmpath_policy *p;

	mutex_lock(&dom->lock);
	if (curve > dom->lru.shift)
		mmpath_stack_set_shift(&dom->lru, curve);
	list_for_each_entry(p, &dom->policies, node)
		p->ops->set_shift(p, shift);
	mutex_unlock(&dom->lock);
}

/**
 * mmpath_domain_policy_acts() - tell whether a policy chooses what leaves memory
 * @dom: the domain
 *
 * It may leave that to the kernel for now. Context: takes the domain's lock.
 */
bool mmpath_domain_policy_acts(struct mmpath_domain *dom)
{
	const struct mmpath_policy *p;
	bool acts = false;

	mutex_lock(&dom->lock);
	list_for_each_entry(p, &dom->policies, node)
		acts |= p->ops->acts && p->ops->acts(p);
	mutex_unlock(&dom->lock);
	return acts;
}

/**
 * mmpath_domain_refine() - let policies sample less coarsely, as the members do
 * @dom: the domain
 * @shift: the coarsest keeps one page in 2^@shift
 *
 * So may a policy, then. Context: takes the domain's lock.
 */
void mmpath_domain_refine(struct mmpath_domain *dom, unsigned int shift)
{
	struct mmpath_policy *p;

	mutex_lock(&dom->lock);
	list_for_each_entry(p, &dom->policies, node)
		p->ops->refine(p, shift);
	mutex_unlock(&dom->lock);
}

/**
 * mmpath_domain_forget() - forget pages of a member that were unmapped
 * @dom: the domain
 * @ctx: the member
 * @first: page number
 * @nr: how many
 *
 * Context: takes the domain's lock.
 */
void mmpath_domain_forget(struct mmpath_domain *dom, const struct mmpath_ctx *ctx,
			  u64 first, u64 nr)
{
	if (!mmpath_domain_has(ctx))
		return;
	mutex_lock(&dom->lock);
	__mmpath_domain_forget(dom, ctx, first, nr);
	mutex_unlock(&dom->lock);
}

/**
 * mmpath_domain_move() - give pages of a member other numbers
 * @dom: the domain
 * @ctx: the member
 * @from: first page number
 * @to: where it is now
 * @nr: how many
 *
 * Pages that there is no memory for are forgotten. Context: takes the domain's lock.
 */
void mmpath_domain_move(struct mmpath_domain *dom, struct mmpath_ctx *ctx,
			u64 from, u64 to, u64 nr)
{
	struct mmpath_policy *p;
	int err;

	from = mmpath_domain_page(ctx, from);
	to = mmpath_domain_page(ctx, to);
	mutex_lock(&dom->lock);
	err = mmpath_stack_move(&dom->lru, from, to, nr);
	list_for_each_entry(p, &dom->policies, node)
		err |= p->ops->move(p, from, to, nr);
	mutex_unlock(&dom->lock);
	if (err)
		mmpath_dropped(ctx, "move out of memory");
}
