// SPDX-License-Identifier: GPL-2.0
/* Random operations on the LRU stack and on a list, which must agree. See fuzz.h. */
#include <errno.h>

#include "fuzz.h"

static const char *const fuzz_name = "fuzz_stack", *const fuzz_claim = "stack and list agree";

struct pair {
	struct test_mem tm;
	struct mmpath_stack s;
	struct naive_stack n;
	u64 base, span;		/* pages that are touched, of each context */
	u64 contexts;
};

static void check_order(struct pair *p)
{
	size_t i = p->n.nr;
	u64 page;
	bool more;

	CHECK(p->s.nr_pages == p->n.nr);
	CHECK(p->s.shift == p->n.shift);
	for (more = mmpath_stack_bottom(&p->s, &page); more;
	     more = mmpath_stack_above(&p->s, &page))
		CHECK(i && page == p->n.page[--i]);
	CHECK(!i);
}

static u64 some_page(struct pair *p, struct source *src)
{
	u64 page = p->base + (draw(src, p->contexts) << MMPATH_VPN_BITS) + draw(src, p->span);

	if (draw(src, 8))
		return page;
	/* one that is in the sample */
	return mmpath_sample_of_block(page >> p->s.shift, p->s.shift);
}

static void do_touches(struct pair *p, struct source *src)
{
	u64 nr = draw(src, 500), page = some_page(p, src), stride = draw(src, 3);
	u64 ahead[2];
	s64 want, got;

	for (; nr; nr--) {
		if (!stride)
			page = some_page(p, src);
		ahead[0] = page;
		ahead[1] = page + stride;
		if (nr % 2)
			mmpath_stack_prefetch(&p->s, ahead, 2);
		want = naive_touch(&p->n, page);
		got = mmpath_stack_touch(&p->s, page);
		if (got == MMPATH_NOMEM)
			naive_forget(&p->n, page, 1);
		CHECK(got == want || got == MMPATH_NOMEM);
		if (p->s.shift != p->n.shift)
			naive_set_shift(&p->n, p->s.shift);
		if (p->s.max_pages)
			CHECK(mmpath_stack_bytes(&p->s) <=
			      16 * p->s.max_pages + 4096 + 600 * (p->contexts - 1));
		page += stride;
	}
}

static void do_forget(struct pair *p, struct source *src)
{
	u64 first = some_page(p, src), nr = draw(src, p->span / 2 + 1);

	if (!draw(src, 20)) {
		first = p->base;
		nr = ~0ULL;
	}
	mmpath_stack_forget(&p->s, first, nr);
	naive_forget(&p->n, first, nr);
}

static void do_move(struct pair *p, struct source *src)
{
	u64 from = some_page(p, src), to = some_page(p, src), nr = 1 + draw(src, p->span / 2 + 1);
	u64 apart = from > to ? from - to : to - from;
	int err = mmpath_stack_move(&p->s, from, to, nr);

	if (from != to && apart < nr) {
		CHECK(err == -EINVAL);
		return;
	}
	CHECK(!err);
	if (from != to)
		naive_move(&p->n, from, to, nr);
	if (p->s.shift != p->n.shift)
		naive_set_shift(&p->n, p->s.shift);
}

static void do_rare(struct pair *p, struct source *src)
{
	unsigned int shift = draw(src, 7);

	switch (draw(src, 12)) {
	case 0:
		mmpath_stack_reset(&p->s, shift);
		naive_free(&p->n);
		naive_set_shift(&p->n, shift);
		CHECK(!p->tm.mem.bytes);
		break;
	case 1:
		if (mmpath_stack_set_shift(&p->s, shift))
			CHECK(shift < p->n.shift);
		else
			naive_set_shift(&p->n, shift);
		break;
	default:
		break;
	}
}

static void one_round(struct source *src)
{
	struct pair p = { .base = draw(src, 4) << (MMPATH_VPN_BITS - 1) };
	unsigned long max_pages = draw(src, 2) ? 0 : 1 + draw(src, 1000);
	u64 steps = 1 + draw(src, 60);

	p.span = 1 + draw(src, 1 << draw(src, 14));
	p.contexts = 1 + draw(src, 2) * draw(src, 10);
	test_mem_init(&p.tm);
	CHECK(!mmpath_stack_init(&p.s, &p.tm.mem, max_pages, 0));
	naive_init(&p.n, 0);
	for (; steps && !source_ends(src); steps--) {
		switch (draw(src, 8)) {
		case 0:
			do_forget(&p, src);
			break;
		case 1:
			do_move(&p, src);
			break;
		case 2:
			do_rare(&p, src);
			break;
		default:
			do_touches(&p, src);
			break;
		}
		check_order(&p);
		CHECK(p.tm.mem.bytes + sizeof(p.s) == mmpath_stack_bytes(&p.s));
	}
	mmpath_stack_destroy(&p.s);
	naive_free(&p.n);
	CHECK(!p.tm.mem.bytes);
}
