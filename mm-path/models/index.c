// SPDX-License-Identifier: GPL-2.0
/*
 * The map from pages to places on a stack.
 *
 * Both stacks need the same map. Given a page, it tells the place (a u32) of the
 * page on the stack, and given a place, the page that is there. To store 64-bit
 * page numbers at each place would take too much memory. So a page is known by its
 * id, the number of its entry in this map:
 *
 *	page --(>> shift)--> block --(hash)--> chunk --> value[block % 128]
 *
 *	id = chunk << 7 | block % 128			 (32 bits)
 *
 * A chunk holds the places of 128 consecutive blocks, 512 bytes. Exactly one
 * page of a block is sampled (see model.h), so pages outside of the sample take
 * no memory. A region of which all pages are touched costs
 *
 *	4 bytes + (32 + 4) / 128  =  4.3 bytes per sampled page
 *
 * whatever the sample is. A page alone in its chunk costs 548 bytes.
 *
 * Chunks are found by linear hashing: buckets are chains, and each time a chunk is
 * added, one bucket is split in two. So no insertion rehashes the whole table. No
 * allocation is larger than a page, except the array of pointers to the leaves (8
 * bytes for each 128 chunks). Without memory for another bucket the chains get
 * longer, and nothing else happens.
 *
 * When the sample is made coarser, blocks 2b and 2b + 1 become block b, and the page
 * of the two that is in the coarser sample keeps its place. Chunks 2c and 2c + 1
 * become chunk c. This is done in place, so it cannot fail.
 *
 * When a process exits, all its pages are forgotten. To find them without looking at
 * the pages of others, the chunks of each context (the bits of a page number above
 * MMPATH_VPN_BITS) are in a ring. The ring starts at an anchor, a chunk without
 * values, which is in the hash table under a number that no block can have.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "model.h"

#define VEC_FIRST_BYTES		64
#define VEC_FIRST_LEAVES	2
#define VEC_WAIT		1024U
#define INDEX_HEAD_ORDER	2
#define INDEX_ANCHOR		(1ULL << 63)	/* in the number of a chunk */

static int vec_grow_first(struct mmpath_vec *v, struct mmpath_mem *mem)
{
	size_t old = (size_t)v->nr << v->order;
	size_t bytes = old ? 2 * old : max_t(size_t, VEC_FIRST_BYTES, 1 << v->order);
	void *leaf = mmpath_mem_alloc(mem, bytes);

	if (!leaf)
		return -ENOMEM;
	if (old)
		memcpy(leaf, v->leaf[0], old);
	mmpath_mem_free(mem, v->leaf[0], old);
	v->leaf[0] = leaf;
	v->nr = bytes >> v->order;
	return 0;
}

/* More than a page may not be to be had for long, and it takes long to find that out. */
static int vec_grow_leaves(struct mmpath_vec *v, struct mmpath_mem *mem)
{
	u32 nr = v->nr_leaf ? 2 * v->nr_leaf : VEC_FIRST_LEAVES;
	void **leaf;

	if (v->wait) {
		v->wait--;
		return -ENOMEM;
	}
	leaf = mmpath_mem_alloc(mem, nr * sizeof(*leaf));
	if (!leaf) {
		if (nr * sizeof(*leaf) > 1U << MMPATH_LEAF_SHIFT)
			v->wait = VEC_WAIT;
		return -ENOMEM;
	}
	if (v->nr_leaf)
		memcpy(leaf, v->leaf, v->nr_leaf * sizeof(*leaf));
	mmpath_mem_free(mem, v->leaf, v->nr_leaf * sizeof(*leaf));
	v->leaf = leaf;
	v->nr_leaf = nr;
	return 0;
}

/**
 * mmpath_vec_grow() - make room for more elements
 * @v: the array; at first zeroed, except its order
 * @mem: allocator
 *
 * New elements are zeroed. Elements of the first leaf move while it is smaller
 * than a page, so do not keep pointers to elements across a call.
 *
 * Return: 0, or -ENOMEM; then nothing has changed.
 */
int mmpath_vec_grow(struct mmpath_vec *v, struct mmpath_mem *mem)
{
	u32 per_leaf = 1U << (MMPATH_LEAF_SHIFT - v->order);
	u32 i = v->nr / per_leaf;

	if (i >= v->nr_leaf && vec_grow_leaves(v, mem))
		return -ENOMEM;
	if (v->nr < per_leaf)
		return vec_grow_first(v, mem);
	v->leaf[i] = mmpath_mem_alloc(mem, 1U << MMPATH_LEAF_SHIFT);
	if (!v->leaf[i])
		return -ENOMEM;
	v->nr += per_leaf;
	return 0;
}

/**
 * mmpath_vec_shrink() - free the last leaf of an array
 * @v: the array; nothing is done if it has only one leaf
 * @mem: allocator
 */
void mmpath_vec_shrink(struct mmpath_vec *v, struct mmpath_mem *mem)
{
	u32 per_leaf = 1U << (MMPATH_LEAF_SHIFT - v->order);
	u32 last = v->nr / per_leaf;

	if (last < 2)
		return;
	mmpath_mem_free(mem, v->leaf[last - 1], 1U << MMPATH_LEAF_SHIFT);
	v->leaf[last - 1] = NULL;
	v->nr -= per_leaf;
}

/**
 * mmpath_vec_copy() - copy an array
 * @to: the copy; zeroed, except its order, which is that of @from
 * @from: the array
 * @mem: allocator
 *
 * Return: 0, or -ENOMEM; then @to is empty.
 */
int mmpath_vec_copy(struct mmpath_vec *to, const struct mmpath_vec *from,
		    struct mmpath_mem *mem)
{
	u32 per_leaf = 1U << (MMPATH_LEAF_SHIFT - from->order);
	u32 bytes = min(from->nr, per_leaf) << from->order;
	u32 i;

	while (to->nr < from->nr) {
		if (mmpath_vec_grow(to, mem)) {
			mmpath_vec_free(to, mem);
			return -ENOMEM;
		}
	}
	for (i = 0; i * per_leaf < from->nr; i++)
		memcpy(to->leaf[i], from->leaf[i], bytes);
	return 0;
}

/**
 * mmpath_vec_free() - free all memory of an array
 * @v: the array; empty afterwards
 * @mem: allocator
 */
void mmpath_vec_free(struct mmpath_vec *v, struct mmpath_mem *mem)
{
	u32 per_leaf = 1U << (MMPATH_LEAF_SHIFT - v->order);
	u32 bytes = min(v->nr, per_leaf) << v->order;
	u32 i;

	for (i = 0; i < v->nr_leaf; i++)
		mmpath_mem_free(mem, v->leaf[i], bytes);
	mmpath_mem_free(mem, v->leaf, v->nr_leaf * sizeof(*v->leaf));
	v->leaf = NULL;
	v->nr = 0;
	v->nr_leaf = 0;
	v->wait = 0;
}

/**
 * mmpath_vec_bytes() - return the memory that an array uses
 * @v: the array
 *
 * Return: bytes, without the struct itself.
 */
size_t mmpath_vec_bytes(const struct mmpath_vec *v)
{
	return ((size_t)v->nr << v->order) + v->nr_leaf * sizeof(*v->leaf);
}

static u32 *index_head_at(const struct mmpath_index *ix, u32 bucket)
{
	return mmpath_vec_at(&ix->heads, bucket, INDEX_HEAD_ORDER);
}

static u32 index_bucket_of(const struct mmpath_index *ix, u64 number)
{
	u32 bucket;

	number ^= number >> 32;
	bucket = (number * 0x9e3779b97f4a7c15ULL) >> 32;
	bucket &= ix->head_mask;
	return bucket < ix->nr_heads ? bucket : bucket & (ix->head_mask >> 1);
}

static u32 index_chunk_lookup(const struct mmpath_index *ix, u64 number)
{
	const struct mmpath_chunk *c;
	u32 chunk = ix->last;

	if (chunk && mmpath_index_chunk(ix, chunk)->number == number)
		return chunk;
	if (!ix->nr_heads)
		return 0;
	chunk = *index_head_at(ix, index_bucket_of(ix, number));
	for (; chunk; chunk = c->next) {
		c = mmpath_index_chunk(ix, chunk);
		if (c->number == number)
			break;
	}
	return chunk;
}

static u32 index_chunk_find(struct mmpath_index *ix, u64 number)
{
	u32 chunk = index_chunk_lookup(ix, number);

	if (chunk)
		ix->last = chunk;
	return chunk;
}

static u32 index_id_of(u32 chunk, u64 block)
{
	return chunk ? chunk * MMPATH_CHUNK + block % MMPATH_CHUNK : 0;
}

static void index_chunk_link(struct mmpath_index *ix, u32 chunk)
{
	struct mmpath_chunk *c = mmpath_index_chunk(ix, chunk);
	u32 *head = index_head_at(ix, index_bucket_of(ix, c->number));

	c->next = *head;
	*head = chunk;
}

static void index_chunk_unlink(struct mmpath_index *ix, u32 chunk)
{
	struct mmpath_chunk *c = mmpath_index_chunk(ix, chunk);
	u32 *link = index_head_at(ix, index_bucket_of(ix, c->number));

	while (*link != chunk)
		link = &mmpath_index_chunk(ix, *link)->next;
	*link = c->next;
}

/* Add a bucket. It takes its chunks from the bucket that had them so far. */
static int index_bucket_split(struct mmpath_index *ix)
{
	u32 chunk, next, *head;

	if (ix->nr_heads == ix->heads.nr && mmpath_vec_grow(&ix->heads, ix->mem))
		return -ENOMEM;
	if (ix->nr_heads > ix->head_mask)
		ix->head_mask = 2 * ix->head_mask + 1;
	if (!ix->nr_heads++)
		return 0;
	head = index_head_at(ix, (ix->nr_heads - 1) & (ix->head_mask >> 1));
	chunk = *head;
	for (*head = 0; chunk; chunk = next) {
		next = mmpath_index_chunk(ix, chunk)->next;
		index_chunk_link(ix, chunk);
	}
	return 0;
}

/* Return the place of a chunk that is not in use: from the list, or a new one. 0: no memory. */
static u32 index_chunk_number_get(struct mmpath_index *ix)
{
	u32 chunk = ix->free_chunk;

	if (chunk) {
		ix->free_chunk = mmpath_index_chunk(ix, chunk)->next;
		return chunk;
	}
	chunk = ix->top_chunk + 1;
	if (chunk == MMPATH_MAX_CHUNKS)
		return 0;
	if (chunk >= ix->chunks.nr && mmpath_vec_grow(&ix->chunks, ix->mem))
		return 0;
	ix->top_chunk = chunk;
	return chunk;
}

static void index_chunk_number_put(struct mmpath_index *ix, u32 chunk)
{
	mmpath_index_chunk(ix, chunk)->next = ix->free_chunk;
	ix->free_chunk = chunk;
}

static u64 index_anchor_number(const struct mmpath_index *ix, u64 number)
{
	return INDEX_ANCHOR | number >> (MMPATH_VPN_BITS - MMPATH_CHUNK_SHIFT - ix->shift);
}

/* Find the anchor of the context that has chunk @number. 0: the context has no chunks. */
static u32 index_anchor_find(const struct mmpath_index *ix, u64 number)
{
	return index_chunk_lookup(ix, index_anchor_number(ix, number));
}

static u32 index_anchor_get(struct mmpath_index *ix, u64 number)
{
	u32 anchor = index_anchor_find(ix, number);
	struct mmpath_chunk *a;

	if (anchor)
		return anchor;
	anchor = index_chunk_number_get(ix);
	if (!anchor)
		return 0;
	a = mmpath_index_chunk(ix, anchor);
	a->number = index_anchor_number(ix, number);
	a->used = 0;
	a->after = anchor;
	a->before = anchor;
	index_chunk_link(ix, anchor);
	return anchor;
}

static void index_anchor_put(struct mmpath_index *ix, u32 anchor)
{
	if (--mmpath_index_chunk(ix, anchor)->used)
		return;
	index_chunk_unlink(ix, anchor);
	index_chunk_number_put(ix, anchor);
}

/* Add a chunk right behind the anchor, so that a walk of the ring does not meet it. */
static void index_ring_add(struct mmpath_index *ix, u32 anchor, u32 chunk)
{
	struct mmpath_chunk *a = mmpath_index_chunk(ix, anchor);
	struct mmpath_chunk *c = mmpath_index_chunk(ix, chunk);

	c->before = anchor;
	c->after = a->after;
	mmpath_index_chunk(ix, c->after)->before = chunk;
	a->after = chunk;
	a->used++;
}

static void index_ring_del(struct mmpath_index *ix, u32 chunk)
{
	struct mmpath_chunk *c = mmpath_index_chunk(ix, chunk);

	mmpath_index_chunk(ix, c->before)->after = c->after;
	mmpath_index_chunk(ix, c->after)->before = c->before;
}

static u32 index_chunk_add(struct mmpath_index *ix, u64 number)
{
	u32 anchor, chunk, *value;
	struct mmpath_chunk *c;

	if (ix->nr_chunks >= ix->nr_heads && index_bucket_split(ix) && !ix->nr_heads)
		return 0;
	chunk = index_chunk_number_get(ix);
	if (!chunk)
		return 0;
	value = mmpath_mem_alloc(ix->mem, MMPATH_CHUNK * sizeof(*value));
	anchor = value ? index_anchor_get(ix, number) : 0;
	if (!anchor) {
		mmpath_mem_free(ix->mem, value, MMPATH_CHUNK * sizeof(*value));
		index_chunk_number_put(ix, chunk);
		return 0;
	}
	c = mmpath_index_chunk(ix, chunk);
	c->value = value;
	c->number = number;
	c->used = 0;
	index_ring_add(ix, anchor, chunk);
	index_chunk_link(ix, chunk);
	ix->nr_chunks++;
	ix->last = chunk;
	return chunk;
}

/* Free a chunk that is in no bucket. */
static void index_chunk_free(struct mmpath_index *ix, u32 chunk)
{
	struct mmpath_chunk *c = mmpath_index_chunk(ix, chunk);

	mmpath_mem_free(ix->mem, c->value, MMPATH_CHUNK * sizeof(*c->value));
	c->value = NULL;
	c->used = 0;
	index_ring_del(ix, chunk);
	index_anchor_put(ix, index_anchor_find(ix, c->number));
	index_chunk_number_put(ix, chunk);
	ix->nr_chunks--;
	ix->last = 0;
}

/* Free a chunk if it has no values left. */
static void index_chunk_put(struct mmpath_index *ix, u32 chunk)
{
	if (mmpath_index_chunk(ix, chunk)->used)
		return;
	index_chunk_unlink(ix, chunk);
	index_chunk_free(ix, chunk);
}

/**
 * mmpath_index_init() - initialize an empty index
 * @ix: the index
 * @mem: allocator
 * @shift: sample one page in 2^@shift
 * @moved: see struct mmpath_index
 *
 * Allocates nothing.
 */
void mmpath_index_init(struct mmpath_index *ix, struct mmpath_mem *mem,
		       unsigned int shift,
		       void (*moved)(struct mmpath_index *ix, u32 place, u32 id))
{
	BUILD_BUG_ON(sizeof(struct mmpath_chunk) > 1 << MMPATH_CHUNK_ORDER);
	memset(ix, 0, sizeof(*ix));
	ix->mem = mem;
	ix->moved = moved;
	ix->shift = shift;
	ix->chunks.order = MMPATH_CHUNK_ORDER;
	ix->heads.order = INDEX_HEAD_ORDER;
}

/**
 * mmpath_index_destroy() - forget all pages of an index, and free its memory
 * @ix: the index; empty and usable afterwards
 *
 * Does not call @ix->moved.
 */
void mmpath_index_destroy(struct mmpath_index *ix)
{
	u32 chunk;

	for (chunk = 1; chunk <= ix->top_chunk; chunk++)
		mmpath_mem_free(ix->mem, mmpath_index_chunk(ix, chunk)->value,
				MMPATH_CHUNK * sizeof(u32));
	mmpath_vec_free(&ix->chunks, ix->mem);
	mmpath_vec_free(&ix->heads, ix->mem);
	mmpath_index_init(ix, ix->mem, ix->shift, ix->moved);
}

/**
 * mmpath_index_bytes() - return the memory that an index uses
 * @ix: the index
 *
 * Return: bytes, without the struct itself.
 */
size_t mmpath_index_bytes(const struct mmpath_index *ix)
{
	return mmpath_vec_bytes(&ix->chunks) + mmpath_vec_bytes(&ix->heads) +
	       (size_t)ix->nr_chunks * MMPATH_CHUNK * sizeof(u32);
}

/**
 * mmpath_index_find() - look up a page
 * @ix: the index
 * @page: a sampled page
 *
 * Return: the id of its block, or 0 if there is no chunk for it.
 */
u32 mmpath_index_find(struct mmpath_index *ix, u64 page)
{
	u64 block = page >> ix->shift;
	u32 chunk = index_chunk_find(ix, block / MMPATH_CHUNK);

	return chunk ? chunk * MMPATH_CHUNK + block % MMPATH_CHUNK : 0;
}

/**
 * mmpath_index_peek() - look up a page without changing @ix->last
 * @ix: the index
 * @page: a sampled page
 *
 * Return: the id of its block, or 0 if there is no chunk for it.
 */
u32 mmpath_index_peek(const struct mmpath_index *ix, u64 page)
{
	u64 block = page >> ix->shift;

	return index_id_of(index_chunk_lookup(ix, block / MMPATH_CHUNK), block);
}

/**
 * mmpath_index_get() - look up a page, and make room for it if it is new
 * @ix: the index
 * @page: a sampled page
 *
 * Call mmpath_index_set() next.
 *
 * Return: the id of its block, or 0 if there is no memory.
 */
u32 mmpath_index_get(struct mmpath_index *ix, u64 page)
{
	u64 block = page >> ix->shift;
	u32 chunk = index_chunk_find(ix, block / MMPATH_CHUNK);

	if (!chunk)
		chunk = index_chunk_add(ix, block / MMPATH_CHUNK);
	return index_id_of(chunk, block);
}

/**
 * mmpath_index_page() - return the sampled page of a block
 * @ix: the index
 * @id: id of a block that has a value
 *
 * Return: the page.
 */
u64 mmpath_index_page(const struct mmpath_index *ix, u32 id)
{
	u64 block = mmpath_index_chunk(ix, id / MMPATH_CHUNK)->number;

	block = block * MMPATH_CHUNK + id % MMPATH_CHUNK;
	return mmpath_sample_of_block(block, ix->shift);
}

/**
 * mmpath_index_set() - set or clear the place of a block
 * @ix: the index
 * @id: id of the block; must not be used any more if @place is 0
 * @place: the place, 0 for none
 */
void mmpath_index_set(struct mmpath_index *ix, u32 id, u32 place)
{
	struct mmpath_chunk *c = mmpath_index_chunk(ix, id / MMPATH_CHUNK);
	u32 *value = c->value + id % MMPATH_CHUNK;

	c->used += !!place - !!*value;
	*value = place;
	if (!place)
		index_chunk_put(ix, id / MMPATH_CHUNK);
}

/*
 * Turn @c into a chunk of the next coarser shift. Its blocks become the first half of the
 * values if its number was even, and the second half if it was odd. The other half is empty.
 */
static void index_chunk_coarsen(struct mmpath_index *ix, struct mmpath_chunk *c)
{
	u64 block = c->number * (MMPATH_CHUNK / 2), page;
	u32 half = MMPATH_CHUNK / 2 * sizeof(u32);
	u32 i, kept;

	c->used = 0;
	for (i = 0; i < MMPATH_CHUNK / 2; i++, block++) {
		if (!c->value[2 * i] && !c->value[2 * i + 1]) {
			c->value[i] = 0;
			continue;
		}
		page = mmpath_sample_of_block(block, ix->shift);
		kept = 2 * i + (page >> (ix->shift - 1) & 1);
		if (c->value[kept ^ 1])
			ix->moved(ix, c->value[kept ^ 1], 0);
		c->value[i] = c->value[kept];
		c->used += !!c->value[i];
	}
	if (c->number & 1) {
		memcpy(c->value + MMPATH_CHUNK / 2, c->value, half);
		memset(c->value, 0, half);
	} else {
		memset(c->value + MMPATH_CHUNK / 2, 0, half);
	}
	c->number >>= 1;
}

/* Move the values of a coarser chunk into the one that has its number already, if there is one. */
static void index_chunk_rejoin(struct mmpath_index *ix, u32 chunk)
{
	struct mmpath_chunk *c = mmpath_index_chunk(ix, chunk);
	u32 i, twin = c->used ? index_chunk_find(ix, c->number) : 0;
	struct mmpath_chunk *to = twin ? mmpath_index_chunk(ix, twin) : c;
	u32 id = (twin ? twin : chunk) * MMPATH_CHUNK;

	for (i = 0; i < MMPATH_CHUNK; i++) {
		if (!c->value[i])
			continue;
		to->value[i] = c->value[i];
		ix->moved(ix, c->value[i], id + i);
	}
	if (twin)
		to->used += c->used;
	if (twin || !c->used)
		index_chunk_free(ix, chunk);
	else
		index_chunk_link(ix, chunk);
}

/**
 * mmpath_index_coarsen() - halve the sample of an index
 * @ix: the index; its shift grows by one
 *
 * Calls @ix->moved for each page, because all ids change. Must not be called at
 * MMPATH_MAX_SHIFT. Allocates nothing, and cannot fail. The time is proportional
 * to the number of chunks in use.
 */
void mmpath_index_coarsen(struct mmpath_index *ix)
{
	struct mmpath_chunk *c;
	u32 i;

	for (i = 0; i < ix->nr_heads; i++)
		*index_head_at(ix, i) = 0;
	ix->last = 0;
	ix->shift++;
	for (i = 1; i <= ix->top_chunk; i++) {
		c = mmpath_index_chunk(ix, i);
		if (!c->value && c->used)
			index_chunk_link(ix, i);
	}
	for (i = 1; i <= ix->top_chunk; i++) {
		c = mmpath_index_chunk(ix, i);
		if (!c->value)
			continue;
		index_chunk_coarsen(ix, c);
		index_chunk_rejoin(ix, i);
	}
}

/* A range of pages, and where it moves; to == first: forget the pages. */
struct index_range {
	u64 first, last, to;
	int err;
};

static void index_page_move(struct mmpath_index *ix, u32 place, u64 page, struct index_range *r)
{
	u64 new = page - r->first + r->to;
	u32 id = 0;

	if (r->to != r->first && mmpath_sampled(new, ix->shift)) {
		id = mmpath_index_get(ix, new);
		if (!id)
			r->err = -ENOMEM;
		else
			mmpath_index_set(ix, id, place);
	}
	ix->moved(ix, place, id);
}

/* The array of chunks may grow in index_page_move(). */
static void index_range_chunk(struct mmpath_index *ix, u32 chunk, struct index_range *r)
{
	struct mmpath_chunk *c = mmpath_index_chunk(ix, chunk);
	u64 base = c->number << MMPATH_CHUNK_SHIFT;
	u64 first = max(r->first >> ix->shift, base) - base;
	u64 last = min((r->last >> ix->shift) - base, MMPATH_CHUNK - 1ULL);
	u64 page;
	u32 i;

	for (i = first; i <= last && c->used; i++) {
		if (!c->value[i])
			continue;
		page = mmpath_index_page(ix, chunk * MMPATH_CHUNK + i);
		/* of the first and the last block only a part is in the range */
		if (page < r->first || page > r->last)
			continue;
		index_page_move(ix, c->value[i], page, r);
		c = mmpath_index_chunk(ix, chunk);
		c->value[i] = 0;
		c->used--;
	}
	index_chunk_put(ix, chunk);
}

/* Visit each chunk of the range, or each chunk of the context if these are fewer. */
static void index_range_walk(struct mmpath_index *ix, struct index_range *r)
{
	unsigned int shift = ix->shift + MMPATH_CHUNK_SHIFT;
	u64 number, first = r->first >> shift, last = r->last >> shift;
	u32 chunk, next, anchor = index_anchor_find(ix, first);
	struct mmpath_chunk *c;

	if (!anchor)
		return;
	if (last - first < mmpath_index_chunk(ix, anchor)->used) {
		for (number = first; number <= last; number++) {
			chunk = index_chunk_find(ix, number);
			if (chunk)
				index_range_chunk(ix, chunk, r);
		}
		return;
	}
	for (chunk = mmpath_index_chunk(ix, anchor)->after; chunk != anchor; chunk = next) {
		c = mmpath_index_chunk(ix, chunk);
		next = c->after;
		if (c->number >= first && c->number <= last)
			index_range_chunk(ix, chunk, r);
	}
}

/* The last page of a range, which ends with the pages of its context. */
static u64 index_range_last(u64 first, u64 nr)
{
	u64 end = first | MMPATH_VPN_MASK;

	return nr - 1 > end - first ? end : first + nr - 1;
}

/**
 * mmpath_index_forget() - remove a range of pages
 * @ix: the index
 * @first: first page
 * @nr: number of pages; the range ends at the last page that the context can have
 *
 * Calls @ix->moved with id 0 for each page that was there. The time depends only on the
 * pages of that context.
 */
void mmpath_index_forget(struct mmpath_index *ix, u64 first, u64 nr)
{
	struct index_range r = { .first = first, .to = first };

	if (!nr)
		return;
	r.last = index_range_last(first, nr);
	index_range_walk(ix, &r);
}

/**
 * mmpath_index_move() - give pages other numbers
 * @ix: the index
 * @from: first page
 * @to: new number of the first page
 * @nr: number of pages
 *
 * Forgets pages that had the new numbers, and pages whose new number is not in the
 * sample. Calls @ix->moved for each page.
 *
 * Return: 0; -EINVAL if the two ranges overlap, and nothing was done; -ENOMEM if
 * some pages were forgotten for want of memory.
 */
int mmpath_index_move(struct mmpath_index *ix, u64 from, u64 to, u64 nr)
{
	struct index_range r = { .first = from, .to = to };

	if (!nr || from == to)
		return 0;
	if (nr > U64_MAX - max(from, to) || max(from, to) - min(from, to) < nr)
		return -EINVAL;
	mmpath_index_forget(ix, to, nr);
	r.last = index_range_last(from, nr);
	index_range_walk(ix, &r);
	return r.err;
}
