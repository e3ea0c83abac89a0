/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the models: an array that grows without moving, and the map from pages
 * to places on a stack. See index.c.
 */
#ifndef _MM_PATH_INDEX_H
#define _MM_PATH_INDEX_H

#include <linux/types.h>

struct mmpath_mem;

#define MMPATH_LEAF_SHIFT	12	/* largest leaf of a vec: 4096 bytes */
#define MMPATH_CHUNK_SHIFT	7
#define MMPATH_CHUNK		(1U << (MMPATH_CHUNK_SHIFT))
#define MMPATH_CHUNK_ORDER	5	/* a struct mmpath_chunk takes 32 bytes */
#define MMPATH_MAX_CHUNKS	(1U << (32 - MMPATH_CHUNK_SHIFT))

/**
 * struct mmpath_vec - an array in leaves of one page each
 * @leaf: the leaves
 * @nr: number of elements that fit
 * @nr_leaf: number of pointers that fit into @leaf
 * @order: an element takes 2^@order bytes
 * @wait: how often it is not tried to make @leaf larger, because it was in vain
 *
 * The first leaf doubles until it is a page. From then on elements do not move,
 * and the array grows by a page at a time.
 */
struct mmpath_vec {
	void **leaf;
	u32 nr;
	u32 nr_leaf;
	unsigned int order;
	u32 wait;
};

/* @order is that of @v. As a constant of the caller it makes this two loads. */
static inline void *mmpath_vec_at(const struct mmpath_vec *v, u32 i,
				  unsigned int order)
{
	u32 per_leaf = 1U << (MMPATH_LEAF_SHIFT - order);

	return (char *)v->leaf[i / per_leaf] + ((i % per_leaf) << order);
}

int mmpath_vec_grow(struct mmpath_vec *v, struct mmpath_mem *mem);
int mmpath_vec_copy(struct mmpath_vec *to, const struct mmpath_vec *from,
		    struct mmpath_mem *mem);
void mmpath_vec_shrink(struct mmpath_vec *v, struct mmpath_mem *mem);
void mmpath_vec_free(struct mmpath_vec *v, struct mmpath_mem *mem);
size_t mmpath_vec_bytes(const struct mmpath_vec *v);

/**
 * struct mmpath_chunk - values of MMPATH_CHUNK consecutive blocks
 * @number: first block >> MMPATH_CHUNK_SHIFT
 * @value: values of the blocks, 0 for a block without one; NULL: not in use, or an anchor
 * @next: next chunk in the hash chain, or in the list of chunks not in use
 * @used: number of values that are not 0; for an anchor the number of chunks in its ring,
 *	never 0
 * @after: next chunk in the ring of the context
 * @before: previous chunk in the ring of the context
 *
 * The chunks of a context are in a ring, with an anchor among them that is found by the
 * context's number.
 */
struct mmpath_chunk {
	u64 number;
	u32 *value;
	u32 next;
	u32 used;
	u32 after;
	u32 before;
};

/**
 * struct mmpath_index - map from sampled pages to places on a stack
 * @mem: allocator
 * @moved: called when a place gets another block: @id is the id of the block that has
 *	@place now, or 0 if none has it
 * @shift: one page in 2^@shift is sampled; block = page >> @shift
 * @nr_chunks: number of chunks in use, without anchors
 * @top_chunk: highest chunk ever used (0 is never used)
 * @free_chunk: list of chunks not in use any more
 * @nr_heads: number of hash buckets
 * @head_mask: smallest 2^n - 1 that is at least @nr_heads - 1
 * @last: chunk of the last lookup
 * @chunks: array of struct mmpath_chunk
 * @heads: array of u32: the first chunk of each bucket
 */
struct mmpath_index {
	struct mmpath_mem *mem;
	void (*moved)(struct mmpath_index *ix, u32 place, u32 id);
	unsigned int shift;
	u32 nr_chunks;
	u32 top_chunk;
	u32 free_chunk;
	u32 nr_heads;
	u32 head_mask;
	u32 last;
	struct mmpath_vec chunks;
	struct mmpath_vec heads;
};

static inline struct mmpath_chunk *
mmpath_index_chunk(const struct mmpath_index *ix, u32 chunk)
{
	return mmpath_vec_at(&ix->chunks, chunk, MMPATH_CHUNK_ORDER);
}

/* The value of block @id. Use mmpath_index_set() to make it 0 or no longer 0. */
static inline u32 *mmpath_index_at(const struct mmpath_index *ix, u32 id)
{
	return mmpath_index_chunk(ix, id / MMPATH_CHUNK)->value + id % MMPATH_CHUNK;
}

void mmpath_index_init(struct mmpath_index *ix, struct mmpath_mem *mem,
		       unsigned int shift,
		       void (*moved)(struct mmpath_index *ix, u32 place, u32 id));
void mmpath_index_destroy(struct mmpath_index *ix);
size_t mmpath_index_bytes(const struct mmpath_index *ix);
u32 mmpath_index_find(struct mmpath_index *ix, u64 page);
u32 mmpath_index_peek(const struct mmpath_index *ix, u64 page);
u32 mmpath_index_get(struct mmpath_index *ix, u64 page);
u64 mmpath_index_page(const struct mmpath_index *ix, u32 id);
void mmpath_index_set(struct mmpath_index *ix, u32 id, u32 place);
void mmpath_index_coarsen(struct mmpath_index *ix);
void mmpath_index_forget(struct mmpath_index *ix, u64 first, u64 nr);
int mmpath_index_move(struct mmpath_index *ix, u64 from, u64 to, u64 nr);

#endif /* _MM_PATH_INDEX_H */
