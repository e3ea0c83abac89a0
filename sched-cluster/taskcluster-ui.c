// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/taskcluster, and cpu.cluster* of cgroups. Each file parses, calls one function, and
 * prints. See Documentation/ABI/testing/sysfs-kernel-taskcluster and cgroup-cpu-cluster.
 *
 * A removal of a cgroup waits for the readers of its files, so taskcluster_mutex is outside of
 * nothing that a removal holds.
 */
#define pr_fmt(fmt) "taskcluster: " fmt

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/sysfs.h>
#include "taskcluster.h"

const char *const taskcluster_mode_names[NR_TASKCLUSTER_MODES] = {
	[TASKCLUSTER_NONE] = "none",
	[TASKCLUSTER_PROCESS] = "process",
	[TASKCLUSTER_CGROUP] = "cgroup",
};

/* /sys/kernel/taskcluster */

static int ui_parse(const char *buf, unsigned int min, unsigned int max, unsigned int *val)
{
	unsigned int parsed;
	int ret = kstrtouint(buf, 10, &parsed);

	if (ret)
		return ret;
	if (parsed < min || parsed > max)
		return -ERANGE;
	*val = parsed;
	return 0;
}

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", taskcluster_on());
}

static ssize_t enabled_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	unsigned int val;
	int ret = ui_parse(buf, 0, 1, &val);

	if (ret)
		return ret;
	mutex_lock(&taskcluster_mutex);
	ret = taskcluster_set_enabled(val);
	mutex_unlock(&taskcluster_mutex);
	return ret ?: count;
}

static struct kobj_attribute enabled_attr = __ATTR_RW(enabled);

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", taskcluster_state());
}

static struct kobj_attribute state_attr = __ATTR_RO(state);

static ssize_t event_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	unsigned int i;
	ssize_t len;

	mutex_lock(&taskcluster_mutex);
	len = sysfs_emit(buf, "%s", *taskcluster_config.pmu ? taskcluster_config.pmu : "none");
	for (i = 0; i < taskcluster_config.nr_events; i++)
		len += sysfs_emit_at(buf, len, "%c0x%llx", i ? ',' : ':',
				     taskcluster_config.event[i]);
	if (i)
		len += sysfs_emit_at(buf, len, ":%u@%u", taskcluster_config.period,
				     taskcluster_config.latency_ns);
	len += sysfs_emit_at(buf, len, "\n");
	mutex_unlock(&taskcluster_mutex);
	return len;
}

#define PERIOD_MOST	1000000000U

/* CONFIG[,CONFIG] */
static int ui_parse_configs(char *text, u64 *event, unsigned int *nr)
{
	char *config;
	int ret;

	for (*nr = 0; (config = strsep(&text, ",")); (*nr)++) {
		if (*nr == TASKCLUSTER_EVENTS)
			return -EINVAL;
		ret = kstrtou64(config, 0, &event[*nr]);
		if (ret)
			return ret;
	}
	return 0;
}

/* PERIOD[@LATENCY] */
static int ui_parse_period(char *text, unsigned int *period, unsigned int *latency_ns)
{
	char *number = strsep(&text, "@");
	int ret = ui_parse(number, TASKCLUSTER_PERIOD_LEAST, PERIOD_MOST, period);

	*latency_ns = TASKCLUSTER_LATENCY;
	if (ret || !text)
		return ret;
	return ui_parse(text, 1, TASKCLUSTER_LATENCY_MOST, latency_ns);
}

/* PMU:CONFIG[,CONFIG]:PERIOD[@LATENCY], cut into pieces */
static int ui_parse_event(char *text, char **pmu, u64 *event, unsigned int *nr,
			  unsigned int *period, unsigned int *latency_ns)
{
	char *config, *number;
	int ret;

	*pmu = strsep(&text, ":");
	config = strsep(&text, ":");
	number = strsep(&text, ":");
	if (!number || text || !**pmu || strlen(*pmu) >= TASKCLUSTER_NAME)
		return -EINVAL;
	ret = ui_parse_configs(config, event, nr);
	return ret ?: ui_parse_period(number, period, latency_ns);
}

static ssize_t event_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	char text[TASKCLUSTER_NAME + 60], *pmu;
	u64 event[TASKCLUSTER_EVENTS];
	unsigned int period, nr, latency_ns;
	int ret;

	if (strscpy(text, buf) < 0)
		return -EINVAL;
	ret = ui_parse_event(strstrip(text), &pmu, event, &nr, &period, &latency_ns);
	if (ret)
		return ret;
	mutex_lock(&taskcluster_mutex);
	ret = taskcluster_set_event(pmu, event, nr, period, latency_ns);
	mutex_unlock(&taskcluster_mutex);
	return ret ?: count;
}

static struct kobj_attribute event_attr = __ATTR_RW(event);

/* A file with a number */
struct ui_number {
	struct kobj_attribute attr;
	unsigned int *value, least, most;
};

static ssize_t ui_number_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct ui_number *n = container_of(attr, struct ui_number, attr);

	return sysfs_emit(buf, "%u\n", READ_ONCE(*n->value));
}

static ssize_t ui_number_store(struct kobject *kobj, struct kobj_attribute *attr,
			       const char *buf, size_t count)
{
	struct ui_number *n = container_of(attr, struct ui_number, attr);
	unsigned int val;
	int ret = ui_parse(buf, n->least, n->most, &val);

	if (ret)
		return ret;
	WRITE_ONCE(*n->value, val);
	return count;
}

#define UI_NUMBER(_name, _value, _least, _most)					\
	static struct ui_number _name##_number = {				\
		.attr = __ATTR(_name, 0644, ui_number_show, ui_number_store),	\
		.value = &taskcluster_config._value,				\
		.least = _least,						\
		.most = _most,							\
	}

UI_NUMBER(sample_period, period, TASKCLUSTER_PERIOD_LEAST, PERIOD_MOST);
UI_NUMBER(arm_percent, arm_percent, 0, 100);
UI_NUMBER(round_ms, round_ms, 10, 60000);
UI_NUMBER(imbalance_pct, imbalance_pct, 0, 100);

static struct attribute *taskcluster_attrs[] = {
	&enabled_attr.attr,
	&state_attr.attr,
	&event_attr.attr,
	&sample_period_number.attr.attr,
	&arm_percent_number.attr.attr,
	&round_ms_number.attr.attr,
	&imbalance_pct_number.attr.attr,
	NULL
};

/* stats/ */

static ssize_t ui_stat(char *buf, enum taskcluster_stat which)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(taskcluster_stats, cpu)[which]);
	return sysfs_emit(buf, "%lu\n", sum);
}

#define TASKCLUSTER_STAT(_name, _which)							\
	static ssize_t _name##_show(struct kobject *kobj, struct kobj_attribute *attr,	\
				    char *buf)						\
	{										\
		return ui_stat(buf, _which);						\
	}										\
	static struct kobj_attribute _name##_attr = __ATTR_RO(_name)

TASKCLUSTER_STAT(woken, TASKCLUSTER_WOKEN);
TASKCLUSTER_STAT(woken_full, TASKCLUSTER_WOKEN_FULL);
TASKCLUSTER_STAT(woken_away, TASKCLUSTER_WOKEN_AWAY);
TASKCLUSTER_STAT(kept, TASKCLUSTER_KEPT);
TASKCLUSTER_STAT(released, TASKCLUSTER_RELEASED);
TASKCLUSTER_STAT(samples, TASKCLUSTER_SAMPLES);
TASKCLUSTER_STAT(lost, TASKCLUSTER_LOST);
TASKCLUSTER_STAT(local, TASKCLUSTER_LOCAL);
TASKCLUSTER_STAT(nomem, TASKCLUSTER_NOMEM);
TASKCLUSTER_STAT(crowded, TASKCLUSTER_CROWDED);

static struct attribute *taskcluster_stat_attrs[] = {
	&woken_attr.attr,
	&woken_full_attr.attr,
	&woken_away_attr.attr,
	&kept_attr.attr,
	&released_attr.attr,
	&samples_attr.attr,
	&lost_attr.attr,
	&local_attr.attr,
	&nomem_attr.attr,
	&crowded_attr.attr,
	NULL
};

static const struct attribute_group taskcluster_group = { .attrs = taskcluster_attrs };
static const struct attribute_group taskcluster_stat_group = {
	.name = "stats", .attrs = taskcluster_stat_attrs,
};

static const struct attribute_group *taskcluster_groups[] = {
	&taskcluster_group,
	&taskcluster_stat_group,
	NULL
};

/* Cgroups */

static int cluster_show(struct seq_file *m, void *v)
{
	struct taskcluster_asker *asker;
	enum taskcluster_mode mode;

	mutex_lock(&taskcluster_mutex);
	asker = taskcluster_find_asker(cgroup_id(seq_css(m)->cgroup));
	mode = asker ? asker->mode : TASKCLUSTER_NONE;
	mutex_unlock(&taskcluster_mutex);
	seq_printf(m, "%s\n", taskcluster_mode_names[mode]);
	return 0;
}

static ssize_t cluster_write(struct kernfs_open_file *of, char *buf, size_t nbytes, loff_t off)
{
	int mode = sysfs_match_string(taskcluster_mode_names, strstrip(buf)), ret;

	if (mode < 0)
		return mode;
	ret = taskcluster_set_mode(cgroup_id(of_css(of)->cgroup), mode);
	return ret ?: nbytes;
}

struct ui_sums {
	unsigned long threads, clustered, clusters;
	u64 before, now;
};

static int ui_compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static int ui_sum(struct ui_sums *sum, const struct taskcluster_group *g)
{
	u32 *names = kvmalloc_array(g->nr, sizeof(*names), GFP_KERNEL);
	const struct taskcluster_task *t;
	u32 i, nr = 0;

	if (!names)
		return -ENOMEM;
	list_for_each_entry(t, &g->threads, node) {
		names[nr] = taskcluster_name_of(t);
		nr += names[nr] != 0;
	}
	sort(names, nr, sizeof(*names), ui_compare, NULL);
	for (i = 0; i < nr; i++)
		sum->clusters += !i || names[i] != names[i - 1];
	kvfree(names);
	sum->threads += g->nr;
	sum->clustered += nr;
	sum->before += g->before;
	sum->now += g->now;
	return 0;
}

static int ui_show_stat(struct seq_file *m, const struct taskcluster_asker *asker)
{
	struct taskcluster_group *g;
	struct ui_sums sum = { };
	int ret;

	list_for_each_entry(g, &asker->groups, node) {
		ret = ui_sum(&sum, g);
		if (ret)
			return ret;
	}
	seq_printf(m, "threads %lu\nclustered %lu\nclusters %lu\nrounds %lu\nmoves %lu\n",
		   sum.threads, sum.clustered, sum.clusters, asker->rounds, asker->moves);
	seq_printf(m, "pinned %lu\nundone %lu\nmissed %lu\nacross %lu\n", asker->pinned,
		   asker->undone, asker->missed, asker->across);
	seq_printf(m, "remote_before %llu\nremote_now %llu\n", sum.before, sum.now);
	return 0;
}

/*
 * Only for those who may trace the thread: who shares with whom tells what a program does. It is
 * the opener who must be allowed to, for the file may have been handed to a task with more
 * rights. Ptrace would always allow the reader's own threads.
 */
bool taskcluster_may_look(const struct seq_file *m, struct task_struct *task)
{
	const struct cred *opener = m->file->f_cred, *own;
	bool may;

	if (same_thread_group(task, current) && cred_fscmp(opener, current_cred()))
		return false;
	own = override_creds(opener);
	may = ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS | PTRACE_MODE_NOAUDIT);
	revert_creds(own);
	return may;
}

static void ui_show_task(struct seq_file *m, const struct taskcluster_task *t)
{
	pid_t tid = task_pid_vnr(t->task);

	if (!tid || !taskcluster_may_look(m, t->task))
		return;
	seq_printf(m, "%d %u %d %u\n", tid, taskcluster_name_of(t),
		   t->home < 0 ? -1 : taskcluster_chip_of(t->home), t->seen);
}

static int ui_show_tasks(struct seq_file *m, const struct taskcluster_asker *asker)
{
	struct taskcluster_group *g;
	struct taskcluster_task *t;

	list_for_each_entry(g, &asker->groups, node)
		list_for_each_entry(t, &g->threads, node)
			ui_show_task(m, t);
	return 0;
}

static int ui_show(struct seq_file *m,
		   int (*show)(struct seq_file *m, const struct taskcluster_asker *asker))
{
	struct taskcluster_asker *asker;
	int ret = -ENODATA;

	mutex_lock(&taskcluster_mutex);
	asker = taskcluster_find_asker(cgroup_id(seq_css(m)->cgroup));
	if (asker)
		ret = show(m, asker);
	mutex_unlock(&taskcluster_mutex);
	return ret;
}

static int cluster_stat_show(struct seq_file *m, void *v)
{
	return ui_show(m, ui_show_stat);
}

static int cluster_tasks_show(struct seq_file *m, void *v)
{
	return ui_show(m, ui_show_tasks);
}

static struct cftype taskcluster_files[] = {
	{
		.name = "cluster",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = cluster_show,
		.write = cluster_write,
	},
	{
		.name = "cluster.stat",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = cluster_stat_show,
	},
	{
		.name = "cluster.tasks",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = cluster_tasks_show,
	},
	{
		.name = "cluster.lines",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_start = taskcluster_lines_start,
		.seq_next = taskcluster_lines_next,
		.seq_stop = taskcluster_lines_stop,
		.seq_show = taskcluster_lines_show,
	},
	{ }	/* terminate */
};

static int __init taskcluster_ui_init(void)
{
	struct kobject *dir = kobject_create_and_add("taskcluster", kernel_kobj);
	int ret = dir ? sysfs_create_groups(dir, taskcluster_groups) : -ENOMEM;

	ret = ret ?: cgroup_add_dfl_cftypes(&cpu_cgrp_subsys, taskcluster_files);
	if (ret)
		pr_err("cannot create all files: %d\n", ret);
	return ret;
}
subsys_initcall(taskcluster_ui_init);
