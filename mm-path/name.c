// SPDX-License-Identifier: GPL-2.0
/*
 * Names of pages in merged stacks. A page is known by a name and its number. The name is the id of
 * a context. Pages of a program have the id of its own context, except those that it shares with
 * its parent since the fork. These keep the name that they have in the parent:
 *
 *	parent, id 1	[ heap 1 ][ shm 1 ]
 *	fork: id 2	[ heap 1 ][ shm 1 ]
 *	2 writes and	[ 1 | 2 |1][ shm 1 ][ mmap 2 ]
 *	maps
 *
 * So a shared page is on the stack of a domain once, whichever process touches it. Two things give
 * a page the name of the program itself: a new mapping, and the first write to a private page,
 * which makes a copy. Every such write is a fault, and the hook in it tells, whatever the driver.
 * (A record from before the write that is drained after it counts as one of the copy.)
 *
 * The parent's own pages keep their name, also those that it writes after the fork. So while a
 * child still has the page from before, the two count as one. Pages that programs share without a
 * fork, for example of a file, count once for each program.
 *
 * An id stays taken as long as there is a name, because children may still have pages of a parent
 * that has exited. A name holds a reference to the parent's, up to MMPATH_GENERATIONS of them.
 *
 * Locks: a fault must not wait for ctx->lock. So the names of pages have a spinlock.
 */
#include <linux/maple_tree.h>
#include <linux/memcontrol.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "core.h"

/**
 * mmpath_name_create() - give a context its name
 * @ctx: the context, with an id; not public yet
 *
 * Context: any. Return: 0 or -ENOMEM.
 */
int mmpath_name_create(struct mmpath_ctx *ctx)
{
	struct mmpath_name *name = kzalloc(sizeof(*name), MMPATH_GFP_ATTACH);

	if (!name)
		return -ENOMEM;
	kref_init(&name->ref);
	name->id = ctx->id;
	ctx->name = name;
	return 0;
}

static void mmpath_name_release(struct kref *ref)
{
	struct mmpath_name *name = container_of(ref, struct mmpath_name, ref);

	mmpath_ctx_id_free(name->id);
	kfree(name);
}

/**
 * mmpath_name_destroy() - drop the name of a context
 * @ctx: the context; may have no name yet
 *
 * Context: process context.
 */
void mmpath_name_destroy(struct mmpath_ctx *ctx)
{
	struct mmpath_name *name = ctx->name, *parent;

	mtree_destroy(&ctx->named);
	/* not by recursion */
	for (; name; name = parent) {
		parent = name->parent;
		if (!kref_put(&name->ref, mmpath_name_release))
			break;
	}
	ctx->name = NULL;
}

/* All pages have the context's own name from now on. */
static void mmpath_disinherit(struct mmpath_ctx *ctx)
{
	mtree_destroy(&ctx->named);
	mt_init(&ctx->named);
	WRITE_ONCE(ctx->heir, 0);
	ctx->spot.nr = 0;
}

/**
 * mmpath_name_inherit() - let a child know its pages by the names of its parent
 * @ctx: the child's context, with a name; not public yet
 * @parent: its parent's
 *
 * Without memory, or after many generations, it is not. Context: parent->lock is held, for
 * no page may get on a stack meanwhile.
 */
void mmpath_name_inherit(struct mmpath_ctx *ctx, struct mmpath_ctx *parent)
{
	struct mmpath_name *from = parent->name;

	lockdep_assert_held(&parent->lock);
	if (!from || from->depth == MMPATH_GENERATIONS)
		return;
	spin_lock(&parent->name_lock);
	if (parent->heir && mtree_dup(&parent->named, &ctx->named, MMPATH_GFP_ATTACH))
		goto out;
	kref_get(&from->ref);
	from->lent = true;
	ctx->name->parent = from;
	ctx->name->depth = from->depth + 1;
	ctx->heir = parent->heir ?: parent->id;
	ctx->islands = parent->islands;
out:
	spin_unlock(&parent->name_lock);
}

/* If @page is in a range of its own, make @first and @last include that range. */
static bool mmpath_name_extend(struct mmpath_ctx *ctx, u64 page, u64 *first, u64 *last)
{
	MA_STATE(mas, &ctx->named, page, page);
	void *entry;

	mas_lock(&mas);
	entry = mas_walk(&mas);
	mas_unlock(&mas);
	if (entry != xa_mk_value(ctx->id))
		return false;
	*first = min_t(u64, *first, mas.index);
	*last = max_t(u64, *last, mas.last);
	return true;
}

static bool mmpath_name_covers(struct mmpath_ctx *ctx, u64 first, u64 last)
{
	u64 end = first;

	return mmpath_name_extend(ctx, first, &first, &end) && end >= last;
}

/* Is any page of the range in a range of its own? */
static bool mmpath_name_overlaps(struct mmpath_ctx *ctx, u64 first, u64 last)
{
	unsigned long at = first;
	void *entry;

	mt_for_each(&ctx->named, entry, at, last)
		if (entry == xa_mk_value(ctx->id))
			return true;
	return false;
}

/* The tree does not merge ranges. Only one apart from all others makes it larger. */
static void __mmpath_name_own(struct mmpath_ctx *ctx, u64 first, u64 last)
{
	bool apart;

	lockdep_assert_held(&ctx->name_lock);
	if (!ctx->heir || mmpath_name_covers(ctx, first, last))
		return;
	ctx->spot.nr = 0;
	apart = !mmpath_name_overlaps(ctx, first, last);
	if (first && mmpath_name_extend(ctx, first - 1, &first, &last))
		apart = false;
	if (mmpath_name_extend(ctx, last + 1, &first, &last))
		apart = false;
	if ((apart && ctx->islands++ >= MMPATH_MAX_ISLANDS) ||
	    mtree_store_range(&ctx->named, first, last, xa_mk_value(ctx->id), MMPATH_GFP_NOWAIT))
		mmpath_disinherit(ctx);
}

/**
 * mmpath_name_own() - make pages the program's own
 * @ctx: its context
 * @first: number of the first one
 * @nr: how many
 *
 * Where there is no memory to remember that, it shares none from now on.
 * Context: any but interrupts; takes ctx->name_lock. Allocates without waiting.
 */
void mmpath_name_own(struct mmpath_ctx *ctx, u64 first, u64 nr)
{
	struct mem_cgroup *memcg, *old;

	if (!READ_ONCE(ctx->heir) || !nr)
		return;
	memcg = get_mem_cgroup_from_mm(ctx->d.mm);
	old = set_active_memcg(memcg);
	spin_lock(&ctx->name_lock);
	__mmpath_name_own(ctx, first, first + nr - 1);
	spin_unlock(&ctx->name_lock);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
}

static void mmpath_name_find(struct mmpath_ctx *ctx, u64 page)
{
	MA_STATE(mas, &ctx->named, page, page);
	void *entry;

	lockdep_assert_held(&ctx->name_lock);
	mas_lock(&mas);
	entry = mas_walk(&mas);
	mas_unlock(&mas);
	ctx->spot.first = mas.index;
	ctx->spot.nr = mas.last - mas.index + 1 ?: U64_MAX;
	ctx->spot.id = entry ? xa_to_value(entry) : ctx->heir;
}

/**
 * mmpath_name_of() - return the id that a page is known by
 * @ctx: a context that has the page
 * @page: number of the page
 *
 * Context: any but interrupts; takes ctx->name_lock.
 * Return: the id of the context that had the page first.
 */
u32 mmpath_name_of(struct mmpath_ctx *ctx, u64 page)
{
	u32 id = ctx->id;

	if (likely(!READ_ONCE(ctx->heir)))
		return id;
	spin_lock(&ctx->name_lock);
	if (ctx->heir && page - ctx->spot.first >= ctx->spot.nr)
		mmpath_name_find(ctx, page);
	if (ctx->heir)
		id = ctx->spot.id;
	spin_unlock(&ctx->name_lock);
	return id;
}

/*
 * Which names of parents are in use in a domain, and by how many. Without memory a name counts
 * for fewer than have it: its pages are forgotten too early, and new when they are touched.
 */

static unsigned long mmpath_name_users(struct mmpath_domain *dom, u32 id)
{
	return xa_to_value(xa_load(&dom->names, id) ?: xa_mk_value(0));
}

/**
 * mmpath_names_join() - note that a context joins a domain
 * @dom: the domain, whose lock is held
 * @ctx: the context
 */
void mmpath_names_join(struct mmpath_domain *dom, const struct mmpath_ctx *ctx)
{
	struct mmpath_name *name = ctx->name ? ctx->name->parent : NULL;

	lockdep_assert_held(&dom->lock);
	for (; name; name = name->parent)
		xa_store(&dom->names, name->id,
			 xa_mk_value(mmpath_name_users(dom, name->id) + 1), MMPATH_GFP_NOWAIT);
}

static void mmpath_name_forget(struct mmpath_domain *dom, const struct mmpath_name *name)
{
	mmpath_stack_forget(&dom->lru, (u64)name->id << MMPATH_VPN_BITS, MMPATH_VPN_MASK + 1);
}

/**
 * mmpath_names_forget() - forget what a context shares with its parents
 * @dom: the domain, whose lock is held
 * @ctx: the context
 */
void mmpath_names_forget(struct mmpath_domain *dom, const struct mmpath_ctx *ctx)
{
	const struct mmpath_name *name = READ_ONCE(ctx->heir) ? ctx->name->parent : NULL;

	lockdep_assert_held(&dom->lock);
	for (; name; name = name->parent)
		mmpath_name_forget(dom, name);
}

/**
 * mmpath_names_leave() - note that a context leaves a domain
 * @dom: the domain, whose lock is held
 * @ctx: the context
 *
 * The pages of a parent that is not there itself go with the last of its children.
 */
void mmpath_names_leave(struct mmpath_domain *dom, const struct mmpath_ctx *ctx)
{
	struct mmpath_name *name = ctx->name ? ctx->name->parent : NULL;
	unsigned long users;

	lockdep_assert_held(&dom->lock);
	for (; name; name = name->parent) {
		users = mmpath_name_users(dom, name->id);
		if (users > 1) {
			xa_store(&dom->names, name->id, xa_mk_value(users - 1),
				 MMPATH_GFP_NOWAIT);
			continue;
		}
		xa_erase(&dom->names, name->id);
		if (!mmpath_ctx_id_in(name->id, dom))
			mmpath_name_forget(dom, name);
	}
}
