// SPDX-License-Identifier: GPL-2.0
/*
 * What each task of a cgroup waits for, as a table: their logs, from /dev/hpc.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stalls.h"

#define MOST_CAUSES	4	/* in a row */
#define MOST_FILES	4200	/* a log is one, and there are 4096 at most */

/* What a task did while it was watched, or since the frame before; err: why it cannot be */
struct task {
	struct stalls_of of;
	struct stalls before, now;
	uint64_t cycles;
	int err;
	bool seen;
};

struct tasks_frame {
	const struct cgroup *cgroup;
	struct task *list;
	size_t count;
	uint64_t cycles;
};

/* ---- a thread ---------------------------------------------------------------- */

static char *comm_of(pid_t tid)
{
	char *path = xasprintf("/proc/%d/comm", tid), *text = read_file(path);

	free(path);
	if (!text)
		return xdup("-");
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static bool watch(struct stalls_of *of, pid_t tid)
{
	struct hpc *thread = hpc_open(tid, 0);

	if (thread)
		*of = (struct stalls_of){ .name = comm_of(tid), .tid = tid, .thread = thread };
	return thread;
}

/* Watch it, or die. */
void stalls_watch(struct stalls_of *of, pid_t tid)
{
	if (watch(of, tid))
		return;
	if (errno == ENOENT)
		die(EX_UNAVAILABLE, "no /dev/hpc: boot a kernel with CONFIG_HPC");
	if (errno == ESRCH)
		die(EX_NOINPUT, "there is no task %d", tid);
	die(exit_status_of(errno), "task %d: %s", tid, strerror(errno));
}

void stalls_unwatch(struct stalls_of *of)
{
	hpc_close(of->thread);
	free(of->name);
}

/* Let it be counted for so long. */
void stalls_wait(const struct stalls_of *of, unsigned int seconds)
{
	unsigned int ms;

	for (ms = 0; ms < seconds * 1000 && !hpc_ended(of->thread); ms += STALLS_MS) {
		usleep(STALLS_MS * 1000);
		hpc_update(of->thread);
	}
}

/* ---- tasks that come and go ------------------------------------------------------ */

static void task_free(struct task *task)
{
	stalls_free(&task->before);
	stalls_free(&task->now);
	stalls_unwatch(&task->of);
}

static struct task *find(struct tasks_frame *frame, pid_t tid)
{
	size_t i;

	for (i = 0; i < frame->count; i++)
		if (frame->list[i].of.tid == tid)
			return &frame->list[i];
	return NULL;
}

/* A task that has gone before it could be watched is no error, and one of others has a line. */
static void watch_new(struct tasks_frame *frame, pid_t tid)
{
	struct task new = { .seen = true };

	if (!watch(&new.of, tid)) {
		new.err = errno;
		if (new.err == ESRCH)
			return;
		if (new.err == ENOENT)
			stalls_watch(&new.of, tid);
		new.of = (struct stalls_of){ .name = comm_of(tid), .tid = tid };
	}
	frame->list = xgrow(frame->list, frame->count + 1, sizeof(*frame->list));
	frame->list[frame->count++] = new;
}

static void find_or_watch(struct tasks_frame *frame, pid_t tid)
{
	struct task *task = find(frame, tid);

	if (task)
		task->seen = true;
	else
		watch_new(frame, tid);
}

/*
 * Those that have left the cgroup are not shown any more. Nor are those of another PID
 * namespace: they are 0 here, which would be pathctl itself.
 */
static void look_for_tasks(struct tasks_frame *frame)
{
	char *text = cgroup_read_or_die(frame->cgroup, "cgroup.threads"), *rest = text, *line;
	size_t i, kept = 0;
	pid_t tid;

	for (i = 0; i < frame->count; i++)
		frame->list[i].seen = false;
	while ((line = strsep(&rest, "\n"))) {
		tid = strtol(line, NULL, 10);
		if (tid)
			find_or_watch(frame, tid);
	}
	free(text);
	for (i = 0; i < frame->count; i++) {
		if (frame->list[i].seen)
			frame->list[kept++] = frame->list[i];
		else
			task_free(&frame->list[i]);
	}
	frame->count = kept;
}

static void update_all(const struct tasks_frame *frame)
{
	size_t i;

	for (i = 0; i < frame->count; i++)
		hpc_update(frame->list[i].of.thread);
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static int compare(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	return x->of.tid < y->of.tid ? -1 : x->of.tid > y->of.tid;
}

static void tasks_next(struct tasks_frame *frame)
{
	struct task *task;
	size_t i;

	frame->cycles = 0;
	for (i = 0; i < frame->count; i++) {
		task = &frame->list[i];
		if (task->err)
			continue;
		stalls_free(&task->before);
		task->before = task->now;
		stalls_read(&task->now, &task->of);
		/* counted anew, with other events */
		if (!stalls_same_list(&task->now, &task->before)) {
			stalls_free(&task->before);
			task->before = (struct stalls){ };
		}
		task->cycles = since(task->now.cycles, task->before.cycles);
		frame->cycles += task->cycles;
	}
	if (frame->count)
		qsort(frame->list, frame->count, sizeof(*frame->list), compare);
}

/* ---- the table -------------------------------------------------------------------- */

static uint64_t cause_since(const struct task *task, size_t i)
{
	return since(task->now.list[i].cycles,
		     task->before.count ? task->before.list[i].cycles : 0);
}

/* The causes in which it lost most, and what it did not lose. A source is part of its cause. */
static void print_causes(FILE *out, const struct task *task)
{
	uint64_t last = UINT64_MAX, most;
	size_t i, which = 0, n, last_which = 0;

	for (n = 0; n < MOST_CAUSES; n++) {
		most = 0;
		for (i = 1; i < task->now.count; i++) {
			uint64_t cycles = cause_since(task, i);

			if (strchr(task->now.list[i].name, '.') || cycles <= most ||
			    cycles > last || (cycles == last && i <= last_which))
				continue;
			most = cycles;
			which = i;
		}
		if (most * 200 < task->cycles || !most)
			break;
		fprintf(out, "  %s %.1f %%", task->now.list[which].name,
			100.0 * most / task->cycles);
		last = most;
		last_which = which;
	}
}

static void print_task(FILE *out, const struct task *task)
{
	char cycles[32], *name = printable(task->of.name);

	fprintf(out, "%10d %-16s ", task->of.tid, name);
	if (task->err)
		fprintf(out, "%10s", strerror(task->err));
	else
		fprintf(out, "%10s", human_count(task->cycles, cycles, sizeof(cycles)));
	if (task->cycles && task->now.count) {
		fprintf(out, "  %9.1f %%", 100.0 * cause_since(task, 0) / task->cycles);
		print_causes(out, task);
	}
	fputc('\n', out);
	free(name);
}

static void print_tasks(FILE *out, const char *head, const void *what)
{
	const struct tasks_frame *frame = what;
	char cycles[32], *name = printable(frame->cgroup->name);
	size_t i;

	fprintf(out, "%s: %zu tasks, %s cycles\n", name, frame->count,
		human_count(frame->cycles, cycles, sizeof(cycles)));
	fprintf(out, "%s%10s %-16s %10s  %11s  %s\n", head, "TID", "NAME", "CYCLES", "COMPLETION",
		"WAITS FOR");
	for (i = 0; i < frame->count; i++)
		print_task(out, &frame->list[i]);
	if (!frame->cycles)
		fputs("None has run, or nothing is counted: pathctl stalls --on\n", out);
	free(name);
}

/* Until the next frame, or a key. Tasks that come are watched at once. */
static int wait_for(struct tasks_frame *frame, unsigned int seconds, bool once)
{
	unsigned int ms;
	int key = 0;

	for (ms = 0; ms < seconds * 1000 && key != 'q'; ms += STALLS_MS) {
		if (once)
			usleep(STALLS_MS * 1000);
		else
			key = live_frame(print_tasks, frame, "q: quit");
		look_for_tasks(frame);
		update_all(frame);
	}
	return key;
}

/* A table each @delay seconds, or one after so many. */
void stalls_tasks(const struct cgroup *cgroup, unsigned int delay, bool once)
{
	struct rlimit limit = { MOST_FILES, MOST_FILES };
	struct tasks_frame frame = { .cgroup = cgroup };

	/* as many as it may have: those without a log get a line that says so */
	if (setrlimit(RLIMIT_NOFILE, &limit) && !getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	look_for_tasks(&frame);
	if (!once)
		live_enter("pathctl stalls --tasks --once", STALLS_MS);
	while (wait_for(&frame, delay, once) != 'q') {
		tasks_next(&frame);
		if (once)
			break;
	}
	if (once)
		print_tasks(stdout, "", &frame);
	else
		live_leave();
	while (frame.count)
		task_free(&frame.list[--frame.count]);
	free(frame.list);
}
