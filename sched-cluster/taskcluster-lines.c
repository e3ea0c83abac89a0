// SPDX-License-Identifier: GPL-2.0
/*
 * cpu.cluster.lines: the lines that threads took from other chips when clusters were last looked
 * for, who took them, with which code, and whether they share data or only the line.
 *
 * A line is shown to those who may trace all of its threads, for it tells where their code and
 * data are.
 */
#include <linux/cgroup.h>
#include <linux/seq_file.h>
#include "taskcluster.h"

#define TAKERS_SHOWN	64U	/* of a line */

static const char *const kind_names[NR_TASKCLUSTER_KINDS] = {
	[TASKCLUSTER_SINGLE] = "single",
	[TASKCLUSTER_UNKNOWN] = "unknown",
	[TASKCLUSTER_FALSE] = "false",
	[TASKCLUSTER_ATOMIC] = "atomic",
	[TASKCLUSTER_DATA] = "data",
};

/*
 * Threads of another pid namespace have no number here. Who may look at the program that a thread
 * executes now, may not look at the one before.
 */
static void lines_look(struct seq_file *m, struct taskcluster_group *g)
{
	struct taskcluster_task *t;

	list_for_each_entry(t, &g->threads, node)
		t->visible = task_pid_vnr(t->task) && taskcluster_may_look(m, t->task) &&
			     !taskcluster_has_executed(t);
}

/* How a line is shared, or false if the reader may not know */
static bool line_share(const struct taskcluster_group *g, u32 entry,
		       struct taskcluster_sharing *s)
{
	const struct taskcluster_task *t;

	memset(s, 0, sizeof(*s));
	list_for_each_entry(t, &g->threads, node) {
		if (taskcluster_takes(&t->last, entry) && !t->visible)
			return false;
		taskcluster_share(s, &t->last, entry);
	}
	return s->takers;
}

/* The process, as the reader numbers it; 0: threads of a cgroup */
static pid_t lines_group(const struct taskcluster_group *g)
{
	const struct taskcluster_task *t = list_first_entry(&g->threads, typeof(*t), node);

	return g->tgid ? task_tgid_vnr(t->task) : 0;
}

/* The thread whose code and address are shown, as the reader numbers it; 0: it has gone */
static pid_t line_by(const struct taskcluster_group *g, u32 entry)
{
	const struct taskcluster_task *t;

	list_for_each_entry(t, &g->threads, node)
		if (t->pid == g->last->by[entry])
			return t->visible ? task_pid_vnr(t->task) : 0;
	return 0;
}

static void line_show_takers(struct seq_file *m, const struct taskcluster_group *g, u32 entry)
{
	const struct taskcluster_task *t;
	u32 left = TAKERS_SHOWN;

	list_for_each_entry(t, &g->threads, node) {
		if (!taskcluster_takes(&t->last, entry))
			continue;
		if (!left--)
			break;
		seq_printf(m, " %d:%u:0x%04x", task_pid_vnr(t->task), t->last.count[entry],
			   t->last.words[entry]);
	}
	seq_putc(m, '\n');
}

/* What is in a block of several lines is not known: its words are those of all its lines. */
static enum taskcluster_kind line_kind(const struct taskcluster_filter *f, u32 entry,
				       const struct taskcluster_sharing *s)
{
	enum taskcluster_kind kind = taskcluster_kind(s, f->locked[entry] > 0);

	return f->shift && kind != TASKCLUSTER_SINGLE ? TASKCLUSTER_UNKNOWN : kind;
}

static void line_show(struct seq_file *m, const struct taskcluster_group *g, u32 entry)
{
	const struct taskcluster_filter *f = g->last;
	struct taskcluster_sharing s;
	pid_t by;

	if (!f->line[entry] || !line_share(g, entry, &s))
		return;
	by = line_by(g, entry);
	seq_printf(m, "%d %u 0x%llx %s 0x%llx %d %u", lines_group(g), entry,
		   by ? f->addr[entry] & ~(u64)(L1_CACHE_BYTES - 1) : 0,
		   kind_names[line_kind(f, entry, &s)],
		   by ? f->code[entry] : 0, by, s.takers);
	line_show_takers(m, g, entry);
}

int taskcluster_lines_show(struct seq_file *m, void *v)
{
	struct taskcluster_group *g = list_entry(v, struct taskcluster_group, node);
	u32 entry;

	if (!g->last)
		return 0;
	lines_look(m, g);
	for (entry = 0; entry < TASKCLUSTER_LINES; entry++) {
		line_show(m, g, entry);
		cond_resched();
	}
	return 0;
}

/* A group at a time; taskcluster_mutex is held from start to stop. */

void *taskcluster_lines_start(struct seq_file *m, loff_t *pos)
{
	struct taskcluster_asker *asker;

	mutex_lock(&taskcluster_mutex);
	asker = taskcluster_find_asker(cgroup_id(seq_css(m)->cgroup));
	return asker ? seq_list_start(&asker->groups, *pos) : ERR_PTR(-ENODATA);
}

void *taskcluster_lines_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct taskcluster_asker *asker = taskcluster_find_asker(cgroup_id(seq_css(m)->cgroup));

	return seq_list_next(v, &asker->groups, pos);
}

void taskcluster_lines_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&taskcluster_mutex);
}
