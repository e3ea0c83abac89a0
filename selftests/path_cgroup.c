// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes are tracked: those of a cgroup with memory.path.track and of the cgroups
 * below it, as they come and go. And which users may read which of its files.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "path_util.h"

#define NR_PAGES	512UL
#define NOBODY		65534

/* A program that goes round its pages when it is told to, and checks them. */
struct program {
	pid_t pid;
	int to, from;
};

static int serve(int in, int out)
{
	char *p = path_map(NR_PAGES * PAGE, false), c;
	unsigned long rounds = 0;
	size_t i;

	while (read(in, &c, 1) == 1) {
		for (i = 0; i < NR_PAGES; i++)
			if ((*(__volatile__ unsigned long *)(p + i * PAGE))++ != rounds)
				c = 'x';
		rounds++;
		if (write(out, &c, 1) != 1)
			return KSFT_FAIL;
	}
	return KSFT_PASS;
}

static void run(struct program *prog)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		ksft_exit_fail_msg("pipe: %s\n", strerror(errno));
	fcntl(to[1], F_SETFD, FD_CLOEXEC);
	prog->pid = fork();
	if (!prog->pid) {
		close(to[1]);
		close(from[0]);
		_exit(serve(to[0], from[1]));
	}
	close(to[0]);
	close(from[1]);
	prog->to = to[1];
	prog->from = from[0];
}

static bool go_round(struct program *prog)
{
	char c = 'g';

	return write(prog->to, &c, 1) == 1 && read(prog->from, &c, 1) == 1 && c == 'g';
}

static void end(struct program *prog)
{
	int status;

	close(prog->to);
	close(prog->from);
	kill(prog->pid, SIGKILL);
	waitpid(prog->pid, &status, 0);
}

static long long stat_of(const char *cg, const char *key)
{
	return path_cg_key(cg, "memory.path.stat", key);
}

/* Records that @cg gets of two rounds of @prog */
static long long records(const char *cg, struct program *prog)
{
	long long before = stat_of(cg, "records");

	if (!go_round(prog) || !go_round(prog)) {
		ksft_print_msg("wrong data\n");
		return -1;
	}
	return stat_of(cg, "records") - before;
}

static bool all(const char *cg, struct program *prog)
{
	long long made = records(cg, prog);

	if (made < (long long)NR_PAGES * 19 / 10)
		ksft_print_msg("%lld records of %lu touches\n", made, 2 * NR_PAGES);
	return made >= (long long)NR_PAGES * 19 / 10;
}

static bool none(const char *cg, struct program *prog)
{
	long long made = records(cg, prog);

	if (made)
		ksft_print_msg("%lld records of an untracked program\n", made);
	return !made;
}

/* Minor faults of a process so far */
static long long faults(pid_t pid)
{
	char file[32], *text, *at;
	long long minor = -1;

	snprintf(file, sizeof(file), "/proc/%d/stat", (int)pid);
	text = path_slurp(file);
	at = text ? strrchr(text, ')') : NULL;
	if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*d %lld", &minor) != 1)
		ksft_print_msg("no faults in %s\n", file);
	free(text);
	return minor;
}

/* Are all pages accessible again? Then no touch is a fault, not even one that is not counted. */
static bool given_back(struct program *prog)
{
	long long before = faults(prog->pid), counted = path_get("stats/faults");
	bool good = path_ge(before, 0) && path_true(go_round(prog)) && path_true(go_round(prog));

	before = faults(prog->pid) - before;
	counted = path_get("stats/faults") - counted;
	if (before > 16 || counted)
		ksft_print_msg("%lld faults, %lld of them counted\n", before, counted);
	return good && before <= 16 && !counted;
}

/* Make epochs short, or longer than a test takes. */
static void epochs(bool often)
{
	path_set("epoch_ms", "%d", often ? 100 : 60000);
}

/* Wait for what comes at once. Epochs are put off until then. */
static bool at_once(const char *cg, pid_t pid, bool want)
{
	unsigned long end = path_hangs_at(5);

	while (path_tracks(cg, pid) != want && path_now_ms() < end) {
		epochs(false);
		path_sleep_ms(20);
	}
	return path_tracks(cg, pid) == want && path_wait_tracks(cg, pid, want);
}

static bool one_at_once(const char *cg)
{
	unsigned long end = path_hangs_at(5);

	while (stat_of(cg, "contexts") != 1 && path_now_ms() < end) {
		epochs(false);
		path_sleep_ms(20);
	}
	return path_eq(stat_of(cg, "contexts"), 1);
}

/* A context leaves its cgroup a moment before it is gone. */
static bool wait_no_contexts(void)
{
	unsigned long end = path_hangs_at(5);

	while (path_get("stats/contexts") && path_now_ms() < end)
		path_sleep_ms(20);
	return path_eq(path_get("stats/contexts"), 0);
}

static void test_hierarchy(void)
{
	char *top = path_cg(NULL, "cgroup"), *mid = path_cg(top, "mid");
	char *leaf = path_cg(mid, "leaf");
	struct program prog;
	bool good;

	run(&prog);
	path_cg_move(leaf, prog.pid);
	path_track(top, true);
	good = path_true(path_wait_tracks(top, prog.pid, true)) && path_true(all(top, &prog));
	ksft_test_result(good, "tracking a cgroup tracks those below\n");
	path_track(leaf, true);
	good = path_true(path_wait_tracks(leaf, prog.pid, true)) && path_true(all(leaf, &prog)) &&
	       path_true(all(top, &prog)) && path_eq(stat_of(top, "contexts"), 1) &&
	       path_eq(stat_of(leaf, "contexts"), 1);
	ksft_test_result(good, "two of them at once, each has a curve\n");
	path_track(top, false);
	good = path_true(path_tracks(leaf, prog.pid)) && path_true(all(leaf, &prog));
	ksft_test_result(good, "one of the two ends, the other goes on\n");
	path_track(leaf, false);
	good = path_eq(path_get("stats/contexts"), 0) && path_true(go_round(&prog));
	ksft_test_result(good, "and ends\n");
	end(&prog);
	path_cg_remove(leaf);
	path_cg_remove(mid);
	path_cg_remove(top);
}

static void test_moves(void)
{
	char *a = path_cg(NULL, "a"), *b = path_cg(NULL, "b");
	struct program prog;
	bool good;

	/* at once, and not at the end of an epoch */
	epochs(false);
	run(&prog);
	path_cg_move(b, prog.pid);
	path_track(a, true);
	ksft_test_result(path_true(!path_tracks(a, prog.pid)) &&
			 path_eq(path_get("stats/contexts"), 0),
			 "a process outside is not tracked\n");
	path_cg_move(a, prog.pid);
	good = path_true(at_once(a, prog.pid, true)) && path_true(all(a, &prog));
	ksft_test_result(good, "moved in, it is\n");
	path_cg_move(b, prog.pid);
	good = path_true(at_once(a, prog.pid, false)) && path_true(none(a, &prog)) &&
	       wait_no_contexts();
	ksft_test_result(good, "moved out, it is not\n");
	path_track(b, true);
	path_cg_move(a, prog.pid);
	good = path_true(at_once(a, prog.pid, true)) &&
	       path_true(at_once(b, prog.pid, false)) && path_true(all(a, &prog)) &&
	       path_true(none(b, &prog));
	ksft_test_result(good, "from one tracked cgroup to another\n");
	end(&prog);
	epochs(true);
	path_cg_remove(a);
	path_cg_remove(b);
}

static int wait_long(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return 0;
}

/* In a child that begins in a cgroup of its choice, and lives until it is killed. */
struct begin {
	const char *in;
	pid_t (*start)(const char *in);
};

/* The child is there from its first instruction on. */
static pid_t clone_into(const char *in)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	int fd = open(in, O_RDONLY | O_DIRECTORY);
	pid_t pid;

	args.cgroup = fd;
	pid = fd < 0 ? -1 : syscall(SYS_clone3, &args, sizeof(args));
	if (!pid)
		_exit(wait_long(NULL));
	close(fd);
	return pid;
}

/* It shares the memory of its parent until it executes a program. */
static int move_and_exec(void *in)
{
	if (path_cg_move(in, getpid()))
		return KSFT_FAIL;
	/* the sync for the move has ended before */
	path_sleep_ms(300);
	execl("/bin/sleep", "sleep", "1000", NULL);
	return KSFT_FAIL;
}

static pid_t vfork_into(const char *in)
{
	static long double stack[16384];	/* aligned as the ABI wants it */

	return clone(move_and_exec, stack + ARRAY_SIZE(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
		     (void *)in);
}

static int begin_elsewhere(void *arg)
{
	struct begin *begin = arg;

	/* the end of other cgroups requests a sync, too */
	path_sleep_ms(300);
	return begin->start(begin->in) > 0 ? wait_long(NULL) : KSFT_FAIL;
}

/* A child that begins in another cgroup than its parent is tracked there, and not here. */
static void test_elsewhere(const char *how, pid_t (*start)(const char *in))
{
	char *a = path_cg(NULL, "parents"), *b = path_cg(NULL, "children");
	struct begin begin = { .in = b, .start = start };
	bool good;
	pid_t pid;

	epochs(false);
	path_track(b, true);
	pid = path_spawn(a, begin_elsewhere, &begin);
	good = one_at_once(b) && one_at_once(a) && path_true(path_tracks(a, pid));
	ksft_test_result(good, "what begins elsewhere is tracked there: %s\n", how);
	path_cg_write(a, "cgroup.kill", "1");
	path_cg_write(b, "cgroup.kill", "1");
	path_wait(pid, 10);
	epochs(true);
	path_cg_remove(a);
	path_cg_remove(b);
}

/* A process is in four domains at most. A fifth cgroup does not see it, and counts that. */
static void test_five(void)
{
	char *cg[5] = { };
	struct program prog;
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cg); i++)
		cg[i] = path_cg(i ? cg[i - 1] : NULL, i ? "below" : "five");
	run(&prog);
	path_cg_move(cg[4], prog.pid);
	for (i = 0; i < 4; i++) {
		path_track(cg[i], true);
		good &= path_eq(stat_of(cg[i], "contexts"), 1);
	}
	path_track(cg[4], true);
	good &= path_eq(stat_of(cg[4], "contexts"), 0);
	good &= path_ge(stat_of(cg[4], "attach_failed"), 1);
	good &= path_eq(stat_of(cg[3], "attach_failed"), 0);
	ksft_test_result(good, "a fifth cgroup says that it does not see a process\n");
	path_track(cg[0], false);
	path_track(cg[4], false);
	path_track(cg[4], true);
	ksft_test_result(path_eq(stat_of(cg[4], "contexts"), 1), "and sees it as a fourth\n");
	end(&prog);
	for (i = ARRAY_SIZE(cg); i--; )
		path_cg_remove(cg[i]);
}

static void test_off(void)
{
	char *cg = path_cg(NULL, "off");
	struct program prog;
	bool good;

	epochs(false);
	run(&prog);
	path_cg_move(cg, prog.pid);
	path_track(cg, true);
	good = path_true(all(cg, &prog));
	path_track(cg, false);
	ksft_test_result(good && path_true(given_back(&prog)), "track 0 gives the pages back\n");
	path_track(cg, true);
	good = path_lt(stat_of(cg, "records"), (long long)NR_PAGES) && path_true(all(cg, &prog));
	ksft_test_result(good, "track 1 again starts a new curve\n");
	path_set("enabled", "0");
	good = path_true(given_back(&prog)) && path_eq(path_get("stats/contexts"), 0);
	ksft_test_result(good, "enabled 0 gives the pages back\n");
	path_set("enabled", "1");
	good = path_true(path_wait_tracks(cg, prog.pid, true)) && path_true(all(cg, &prog));
	ksft_test_result(good, "enabled 1 tracks again\n");
	end(&prog);
	good = path_true(path_wait_contexts(cg, 0)) &&
	       path_gt(stat_of(cg, "records"), 2 * (long long)NR_PAGES) &&
	       path_ge(path_cg_key(cg, "memory.path.mrc", "footprint"), (long long)NR_PAGES) &&
	       path_gt(path_cg_key(cg, "memory.path.mrc", "records"), 2 * (long long)NR_PAGES);
	ksft_test_result(good, "the curve stays when its program has ended\n");
	epochs(true);
	path_cg_remove(cg);
}

/* A new epoch_ms takes effect at once, also in a long epoch. */
static void test_epoch(void)
{
	char *cg = path_cg(NULL, "epoch");
	long long scanned;
	struct program prog;
	int i;

	run(&prog);
	path_cg_move(cg, prog.pid);
	path_track(cg, true);
	path_sleep_ms(300);
	epochs(false);
	path_sleep_ms(300);
	scanned = stat_of(cg, "scanned");
	path_sleep_ms(1000);
	if (stat_of(cg, "scanned") != scanned)
		ksft_print_msg("a scan in a long epoch\n");
	epochs(true);
	/* a program that sleeps is not scanned again */
	for (i = 0; i < 250 && stat_of(cg, "scanned") == scanned && go_round(&prog); i++)
		path_sleep_ms(20);
	ksft_test_result(path_gt(stat_of(cg, "scanned"), scanned),
			 "a shorter epoch begins at once\n");
	end(&prog);
	path_cg_remove(cg);
}

/*
 * Each CPU charges ahead for the cgroup that it charged last, and keeps the cgroup even
 * when all of that is used: the unpatched kernel takes back what is left alone. So a
 * removed cgroup would lie on an idle CPU for as long as no program of another one
 * charges there.
 */
static void charge_on_each_cpu(void)
{
	char *cg = path_cg(NULL, "charge");
	int cpu, status;
	cpu_set_t set;
	pid_t child;

	child = fork();
	if (!child) {
		path_cg_move(cg, getpid());
		for (cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
			CPU_ZERO(&set);
			CPU_SET(cpu, &set);
			if (sched_setaffinity(0, sizeof(set), &set))
				_exit(KSFT_FAIL);
			path_go_round(path_map(PAGE, false), 1, 0);
		}
		_exit(KSFT_PASS);
	}
	if (waitpid(child, &status, 0) != child || status)
		ksft_exit_fail_msg("cannot charge on each CPU\n");
	path_cg_remove(cg);
}

/* Wait until no reference keeps removed cgroups: none below @cg is dying any more. */
static bool wait_buried(const char *cg)
{
	unsigned long end = path_hangs_at(10);

	charge_on_each_cpu();
	while (path_cg_key(cg, "cgroup.stat", "nr_dying_descendants") && path_now_ms() < end)
		path_sleep_ms(20);
	if (path_cg_key(cg, "cgroup.stat", "nr_dying_descendants"))
		ksft_print_msg("a removed cgroup is still there\n");
	return !path_cg_key(cg, "cgroup.stat", "nr_dying_descendants");
}

static void test_removal(void)
{
	char *top = path_cg(NULL, "removal"), *leaf = path_cg(top, "leaf");
	struct program prog;
	bool good;

	run(&prog);
	path_track(leaf, true);
	path_cg_move(leaf, prog.pid);
	good = path_true(path_wait_tracks(leaf, prog.pid, true));
	end(&prog);
	good &= path_eq(rmdir(leaf), 0);
	ksft_test_result(good && wait_no_contexts() && path_true(wait_buried(top)),
			 "a tracked cgroup is removed\n");
	/* its program lives on elsewhere */
	good = path_eq(mkdir(leaf, 0755), 0);
	path_track(leaf, true);
	run(&prog);
	path_cg_move(leaf, prog.pid);
	good &= path_true(path_wait_tracks(leaf, prog.pid, true));
	path_cg_move(PATH_CGROUP, prog.pid);
	good &= path_eq(rmdir(leaf), 0) && wait_no_contexts() &&
		path_true(go_round(&prog));
	ksft_test_result(good, "and with a program that was there\n");
	end(&prog);
	path_cg_remove(leaf);
	path_cg_remove(top);
}

static bool is_untracked(const char *cg)
{
	char *text = path_cg_slurp(cg, "memory.path.track");
	bool is = text && !strcmp(text, "0\n");

	free(text);
	return is;
}

/* The other controller keeps the cgroup alive, but its memory files are gone. */
static void test_controller(void)
{
	char *top = path_cg(NULL, "controller"), *leaf = path_cg(top, "leaf");
	char *had = path_cg_slurp(PATH_CGROUP, "cgroup.subtree_control");
	struct program prog;
	bool good;

	path_cg_write(PATH_CGROUP, "cgroup.subtree_control", "+io");
	path_cg_write(top, "cgroup.subtree_control", "+io");
	run(&prog);
	path_track(leaf, true);
	path_cg_move(leaf, prog.pid);
	good = path_true(path_wait_tracks(leaf, prog.pid, true));
	good &= path_eq(path_cg_write(top, "cgroup.subtree_control", "-memory"), 0) &&
		wait_no_contexts() &&
		path_eq(path_cg_write(top, "cgroup.subtree_control", "+memory"), 0);
	ksft_test_result(good && path_true(is_untracked(leaf)) && path_true(go_round(&prog)),
			 "without the controller no process is tracked\n");
	end(&prog);
	path_cg_remove(leaf);
	path_cg_remove(top);
	if (had && !strstr(had, "io"))
		path_cg_write(PATH_CGROUP, "cgroup.subtree_control", "-io");
	free(had);
}

/* A process in @arg that has the memory of this one */
static int share_memory(void *arg)
{
	static long double stack[4096];	/* aligned as the ABI wants it */
	pid_t pid = clone(wait_long, stack + ARRAY_SIZE(stack), CLONE_VM | SIGCHLD, NULL);

	if (pid < 0 || path_cg_move(arg, pid))
		return KSFT_FAIL;
	path_sleep_ms(1500);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return KSFT_PASS;
}

static void test_shared_memory(void)
{
	char *a = path_cg(NULL, "owner"), *b = path_cg(NULL, "guest");
	int i, seen = 0, ret;
	pid_t pid;

	path_track(b, true);
	pid = path_spawn(a, share_memory, b);
	for (i = 0; i < 100; i++) {
		seen += stat_of(b, "contexts") != 0;
		path_sleep_ms(10);
	}
	ret = path_wait(pid, 10);
	if (ret != KSFT_PASS || seen)
		ksft_print_msg("ended with %d, tracked %d times in a hundred\n", ret, seen);
	ksft_test_result(path_eq(ret, KSFT_PASS) && path_eq(seen, 0),
			 "of a memory that two share the owner counts\n");
	path_cg_remove(a);
	path_cg_remove(b);
}

static bool shows_addresses(const char *cg, pid_t pid)
{
	char *text = path_cg_slurp(cg, "memory.path.regions");
	char *line = text ? strchr(text, '\n') + 1 : NULL;
	struct path_region r;
	bool shown = false;

	for (; line && *line; line = strchr(line, '\n') + 1)
		shown |= path_parse_region(line, &r) && r.pid == pid && r.start;
	free(text);
	return shown;
}

/* The delegate of @cg must see no region of @other's program. */
struct delegate {
	const char *cg;
	pid_t other;
};

static int as_nobody(void *arg)
{
	struct delegate *d = arg;
	char *text;

	if (setgid(NOBODY) || setuid(NOBODY))
		return KSFT_SKIP;
	text = path_cg_slurp(d->cg, "memory.path.mrc");
	if (!text || path_text_key(text, "version") != 1) {
		ksft_print_msg("mrc: %s\n", strerror(errno));
		return KSFT_FAIL;
	}
	free(text);
	return path_true(!path_tracks(d->cg, d->other)) ? KSFT_PASS : KSFT_FAIL;
}

/* Files of a cgroup that was not delegated */
static int owner_writes(void *arg)
{
	struct delegate *d = arg;

	if (setgid(NOBODY) || setuid(NOBODY))
		return KSFT_SKIP;
	if (!path_write(PATH_SYSFS "enabled", "0") || !path_write(PATH_SYSFS "driver", "emul")) {
		ksft_print_msg("nobody may write to " PATH_SYSFS "\n");
		return KSFT_FAIL;
	}
	return path_eq(path_cg_write(d->cg, "memory.path.track", "1"), -EACCES) ? KSFT_PASS :
										  KSFT_FAIL;
}

static int in_child(int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();

	if (!pid)
		_exit(fn(arg));
	return path_wait(pid, 10);
}

static void test_delegation(void)
{
	char *cg = path_cg(NULL, "delegated");
	struct program prog;
	struct delegate d;
	bool good;

	run(&prog);
	path_cg_move(cg, prog.pid);
	path_track(cg, true);
	good = path_true(all(cg, &prog));
	good &= path_true(shows_addresses(cg, prog.pid));
	d.cg = cg;
	d.other = prog.pid;
	ksft_test_result_report(good ? in_child(as_nobody, &d) : KSFT_FAIL,
				"an unprivileged reader sees the curve and no regions\n");
	ksft_test_result_report(in_child(owner_writes, &d), "and may write nothing\n");
	end(&prog);
	path_cg_remove(cg);
}

/* Programs that fork a child and end, as their children do: their number, and forks so far */
struct storm {
	int running;
	unsigned long forks;
	bool enough;
};

#define NR_CHAINS	4

static struct storm *storm;

static int chain(void *arg)
{
	char *p = path_map(16 * PAGE, false);
	pid_t pid;
	int i;

	__atomic_fetch_add(&storm->running, 1, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&storm->enough, __ATOMIC_RELAXED)) {
		for (i = 0; i < 16; i++)
			(*path_word(p, i))++;
		pid = fork();
		if (pid > 0)
			_exit(KSFT_PASS);
		prctl(PR_SET_PDEATHSIG, 0);
		__atomic_fetch_add(&storm->forks, !pid, __ATOMIC_RELAXED);
	}
	__atomic_fetch_sub(&storm->running, 1, __ATOMIC_RELAXED);
	return KSFT_PASS;
}

static unsigned long forks_so_far(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return __atomic_load_n(&storm->forks, __ATOMIC_RELAXED);
}

static bool wait_forks(unsigned long more)
{
	unsigned long want = forks_so_far() + more;
	int i;

	for (i = 0; i < 6000 && forks_so_far() < want; i++)
		path_sleep_ms(5);
	return forks_so_far() >= want;
}

static bool wait_end(void)
{
	int i;

	__atomic_store_n(&storm->enough, true, __ATOMIC_RELAXED);
	for (i = 0; i < 6000 && __atomic_load_n(&storm->running, __ATOMIC_RELAXED); i++)
		path_sleep_ms(5);
	forks_so_far();
	return !__atomic_load_n(&storm->running, __ATOMIC_RELAXED);
}

static long long seen_so_far(void)
{
	return path_get("stats/faults") + path_get("stats/records");
}

/* Does tracking end? Programs that are about to exit may still be tracked for a while. */
static bool nothing_is_tracked(void)
{
	long long before = 0, after = 1;
	int i;

	for (i = 0; i < 20 && before != after; i++) {
		before = seen_so_far();
		if (!path_true(wait_forks(NR_CHAINS * 5)))
			return false;
		after = seen_so_far();
	}
	return path_eq(after, before);
}

/* Children that are forked while tracking of a cgroup ends are not tracked for ever. */
static void test_storm(void)
{
	char *cg = path_cg(NULL, "storm");
	bool good = true;
	int i;

	storm = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 0; i < NR_CHAINS; i++)
		path_spawn(cg, chain, NULL);
	for (i = 0; i < 4 && good; i++) {
		good &= path_true(wait_forks(NR_CHAINS * 5));
		path_track(cg, false);
		good &= nothing_is_tracked();
		path_track(cg, true);
	}
	good &= path_true(wait_end());
	good &= path_true(path_wait_contexts(cg, 0));
	ksft_test_result(good, "nothing is tracked after track 0 while programs fork\n");
	path_cg_remove(cg);
	munmap(storm, PAGE);
}

#define SHORT_PROCESSES	50
#define SHORT_PAGES	64

/* Start processes that touch pages of the parent, and end. */
static int start_short(void *arg)
{
	char *p = path_map(SHORT_PAGES * PAGE, false);
	int i, status, bad = 0;
	pid_t pid;

	path_go_round(p, SHORT_PAGES, 0);
	for (i = 0; i < SHORT_PROCESSES; i++) {
		pid = fork();
		if (!pid)
			_exit(path_go_round(p, SHORT_PAGES, 1) != 0);
		bad |= pid < 0 || waitpid(pid, &status, 0) != pid || status;
	}
	return bad;
}

static bool wait_settled(const char *cg)
{
	unsigned long end = path_hangs_at(20);

	while (stat_of(cg, "settling") != 0 && path_now_ms() < end)
		path_sleep_ms(20);
	return stat_of(cg, "settling") == 0;
}

/* With a target, nothing is tracked in the first epoch of a process: short ones cost nothing. */
static void test_short(void)
{
	char *cg = path_cg(NULL, "short");
	struct program prog;
	bool good;

	path_set(PATH_EMUL "overhead_target", "5");
	path_set("epoch_ms", "60000");
	good = path_eq(path_run(cg, start_short, NULL, 20), 0);
	good &= path_eq(stat_of(cg, "records"), 0);
	good &= path_eq(stat_of(cg, "faults"), 0);
	good &= path_eq(stat_of(cg, "attach_failed"), 0);
	ksft_test_result(good, "processes that end before their epoch are not tracked\n");
	run(&prog);
	path_cg_move(cg, prog.pid);
	good = path_eq(path_wait_contexts(cg, 1), 1) && path_eq(stat_of(cg, "settling"), 1);
	path_set("epoch_ms", "100");
	good &= path_eq(wait_settled(cg), 1);
	/* from now on touches of the pages are tracked */
	good &= path_eq(go_round(&prog) && go_round(&prog), 1);
	good &= path_ge(stat_of(cg, "records"), 1);
	ksft_test_result(good, "a process settles, and is tracked\n");
	end(&prog);
	path_cg_remove(cg);
	path_set(PATH_EMUL "overhead_target", "0");
}

#define OVERCOMMIT(knob)	"/proc/sys/vm/overcommit_" knob

/* An exec that fails, because the stack of the new program cannot be committed. */
static int exec_fails(void *arg)
{
	char * const argv[] = { "true", NULL };
	int i, failed = 0;
	pid_t pid;

	for (i = 0; i < 4; i++) {
		pid = fork();
		if (!pid) {
			/* more than memory and swap together */
			for (i = 0; i < 8; i++)
				mmap(NULL, 128 * MIB, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			path_write(OVERCOMMIT("memory"), "2");
			execv("/bin/true", argv);
			i = errno;
			path_write(OVERCOMMIT("memory"), "0");
			_exit(i == ENOMEM ? 42 : KSFT_FAIL);
		}
		failed += pid > 0 && path_wait(pid, 30) == 42;
	}
	return path_eq(failed, 4) ? KSFT_PASS : KSFT_FAIL;
}

/* An exec that fails for want of memory leaves no context: its owner would have gone. */
static void test_exec_fails(void)
{
	char *cg = path_cg(NULL, "exec");
	bool good;

	path_save(OVERCOMMIT("memory"));
	path_save(OVERCOMMIT("kbytes"));
	path_track(cg, true);
	path_write(OVERCOMMIT("kbytes"), "1");
	good = path_eq(path_run(cg, exec_fails, NULL, 60), KSFT_PASS);
	good &= path_true(path_wait_contexts(cg, 0));
	ksft_test_result(good, "a program that cannot be executed leaves no context\n");
	path_cg_remove(cg);
}

int main(void)
{
	path_start(28, 60);
	path_exact(16);
	/* small logs, because there are many programs; the records of a case fit into one */
	path_set(PATH_EMUL "log_entries", "4096");
	path_set("epoch_ms", "100");
	test_hierarchy();
	test_storm();
	test_exec_fails();
	test_moves();
	test_elsewhere("CLONE_INTO_CGROUP", clone_into);
	test_elsewhere("vfork()", vfork_into);
	test_five();
	test_off();
	test_epoch();
	test_removal();
	test_controller();
	test_shared_memory();
	test_delegation();
	test_short();
	ksft_finished();
}
