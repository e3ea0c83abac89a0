// SPDX-License-Identifier: GPL-2.0
/*
 * Replay: page accesses come from write() on /dev/mmpath, every one of them.
 *
 * There is no page access buffer and no filter: recorded accesses have passed
 * them. So tests can feed the models from a log and expect exact results.
 */
#include "../driver.h"

static struct mmpath_param replay_params[] = {
	{ "log_entries", 1024, 64, 1 << 16, true },
	{ }
};

static unsigned int replay_log_entries(void)
{
	return READ_ONCE(replay_params[0].val);
}

static int replay_attach(struct mmpath_drv_ctx *ctx)
{
	ctx->pab_reach = 1;
	mmpath_set_shift(ctx, 0);
	return 0;
}

static void replay_detach(struct mmpath_drv_ctx *ctx, struct mm_struct *mm)
{
}

static void replay_inject(struct mmpath_drv_ctx *ctx, unsigned long record)
{
	mmpath_log(ctx, record);
}

static struct mmpath_driver replay_driver = {
	.name = "replay",
	.caps = MMPATH_CAP_COMPLETE | MMPATH_CAP_SOFTWARE,
	.params = replay_params,
	.log_entries = replay_log_entries,
	.attach = replay_attach,
	.detach = replay_detach,
	.inject = replay_inject,
};

static int __init replay_init(void)
{
	mmpath_register_driver(&replay_driver);
	return 0;
}
core_initcall(replay_init);
