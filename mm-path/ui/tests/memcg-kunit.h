/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of which programs belong to a tracked cgroup. Included at the end of memcg.c.
 */
#ifndef _MM_PATH_MEMCG_KUNIT_H
#define _MM_PATH_MEMCG_KUNIT_H

#include <kunit/test.h>

/* A cgroup below the root, in no list, and the css_set that its tasks point to */
struct kt_cgroup {
	struct cgroup *cgrp;
	struct cgroup_subsys_state css;
	struct css_set set;
};

static struct kt_cgroup *kt_cgroup(struct kunit *test)
{
	struct kt_cgroup *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct cgroup *cgrp = kunit_kzalloc(test, struct_size(cgrp, ancestors, 2), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_NOT_NULL(test, cgrp);
	cgrp->root = &cgrp_dfl_root;
	cgrp->level = 1;
	cgrp->ancestors[0] = &cgrp_dfl_root.cgrp;
	cgrp->ancestors[1] = cgrp;
	c->cgrp = cgrp;
	c->css.cgroup = cgrp;
	c->set.subsys[memory_cgrp_id] = &c->css;
	return c;
}

/* Is @mm in the domain of @pm, after a sync? */
static bool kt_stays(struct mmpath_memcg *pm, struct mm_struct *mm)
{
	struct mmpath_ctx *ctx;
	bool stays;

	mmpath_memcg_sync_out(pm);
	ctx = mmpath_ctx_get(mm);
	stays = ctx && mmpath_ctx_in(ctx, pm->dom);
	if (ctx)
		mmpath_ctx_put(ctx);
	return stays;
}

/*
 * A child is in the root cgroup until its fork ends. A sync before that leaves the child in the
 * domains of its parent. A sync after that goes by the child's cgroup.
 */
static void kt_fork_not_over(struct kunit *test)
{
	struct task_struct *child = kunit_kzalloc(test, sizeof(*child), GFP_KERNEL);
	struct kt_cgroup *here = kt_cgroup(test), *elsewhere = kt_cgroup(test);
	struct mmpath_memcg *pm = kunit_kzalloc(test, sizeof(*pm), GFP_KERNEL);
	struct mm_struct *mm = mm_alloc();

	KUNIT_ASSERT_NOT_NULL(test, child);
	KUNIT_ASSERT_NOT_NULL(test, pm);
	KUNIT_ASSERT_NOT_NULL(test, mm);
	pm->css = &here->css;
	pm->dom = mmpath_domain_create(NULL);
	KUNIT_ASSERT_NOT_NULL(test, pm->dom);
	KUNIT_ASSERT_EQ(test, mmpath_set_enabled(true), 0);
	child->__state = TASK_NEW;
	RCU_INIT_POINTER(child->cgroups, &init_css_set);
	rcu_assign_pointer(mm->owner, child);
	KUNIT_EXPECT_EQ(test, mmpath_track(mm, pm->dom), 0);
	KUNIT_EXPECT_TRUE(test, kt_stays(pm, mm));
	/* the end of the fork requests another sync */
	KUNIT_EXPECT_TRUE(test, mmpath_memcg_passed);
	rcu_assign_pointer(child->cgroups, &here->set);
	__mmpath_memcg_fork(child);
	KUNIT_EXPECT_FALSE(test, mmpath_memcg_passed);
	KUNIT_EXPECT_TRUE(test, kt_stays(pm, mm));
	KUNIT_EXPECT_FALSE(test, mmpath_memcg_passed);
	rcu_assign_pointer(child->cgroups, &elsewhere->set);
	KUNIT_EXPECT_FALSE(test, kt_stays(pm, mm));
	/* this thread is in the root, too, and was forked long ago */
	rcu_assign_pointer(mm->owner, current);
	KUNIT_EXPECT_EQ(test, mmpath_track(mm, pm->dom), 0);
	KUNIT_EXPECT_FALSE(test, kt_stays(pm, mm));
	KUNIT_EXPECT_FALSE(test, mmpath_memcg_passed);
	mmpath_untrack_all(pm->dom);
	mmpath_domain_destroy(pm->dom);
	mmpath_set_enabled(false);
	rcu_assign_pointer(mm->owner, NULL);
	mmput(mm);
}

static struct kunit_case kt_memcg_cases[] = {
	KUNIT_CASE(kt_fork_not_over),
	{}
};

static struct kunit_suite kt_memcg_suite = {
	.name = "mmpath-memcg",
	.test_cases = kt_memcg_cases,
};

kunit_test_suite(kt_memcg_suite);

#endif /* _MM_PATH_MEMCG_KUNIT_H */
