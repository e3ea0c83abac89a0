// SPDX-License-Identifier: GPL-2.0
/*
 * The log of a thread, its regions, and what is estimated of each.
 *
 * The models are the kernel's, compiled from the same files (kernel/sched/cluster/models).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uapi/linux/hpc.h>

#include "counters.h"
#include "hpc.h"
#include "private.h"

#define PIECES	4096	/* of a log: at slices of 100 us, 0.4 s of running */
#define PUBLIC	__attribute__((visibility("default")))

/* ---- the events, as /sys/kernel/hpc/events has them ------------------------------------ */

static int event_find(const struct events *e, const char *name, size_t length)
{
	unsigned int i;

	for (i = 0; i < e->set.nr; i++)
		if (strlen(e->name[i]) == length && !strncmp(e->name[i], name, length))
			return i;
	return -1;
}

/* source.CAUSE.SOURCE is a part of stall.CAUSE */
static bool event_is_source(const struct events *e, const char *name, unsigned int *of)
{
	char stall[HPC_NAME];
	const char *dot;
	int at;

	if (strncmp(name, "source.", 7))
		return false;
	dot = strchr(name + 7, '.');
	if (!dot)
		return false;
	snprintf(stall, sizeof(stall), "stall.%.*s", (int)(dot - name - 7), name + 7);
	at = event_find(e, stall, strlen(stall));
	*of = at < 0 ? 0 : at;
	return at >= 0;
}

/* NAME=TYPE:CONFIG...[@LATENCY] */
static bool event_add(struct events *e, char *word)
{
	unsigned int i = e->set.nr, of = 0;
	char *equals = strchr(word, '='), *at = strchr(word, '@');

	if (!equals || equals - word >= HPC_NAME || i >= HPC_EVENTS)
		return false;
	*equals = '\0';
	strcpy(e->name[i], word);
	if (!strncmp(word, "stall.", 6))
		e->set.role[i] = HPC_STALL;
	else if (event_is_source(e, word, &of))
		e->set.role[i] = HPC_SOURCE;
	e->set.of[i] = of;
	e->set.latency[i] = at ? strtoul(at + 1, NULL, 0) : 0;
	e->set.nr++;
	return true;
}

bool events_parse(struct events *e, char *text)
{
	char *word, *state;

	memset(e, 0, sizeof(*e));
	for (word = strtok_r(text, " \n", &state); word; word = strtok_r(NULL, " \n", &state))
		if (!event_add(e, word))
			return false;
	return true;
}

static const char *sys_root(void)
{
	const char *root = secure_getenv("LIBHPC_SYS");

	return root && *root ? root : "/sys/kernel/hpc";
}

static bool events_read(struct events *e)
{
	char path[4096], text[8192];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/events", sys_root());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	return events_parse(e, text);
}

/* ---- pieces ----------------------------------------------------------------------------- */

static void forget_counts(struct hpc *h)
{
	unsigned int i;

	for (i = 0; i <= HPC_THREAD; i++) {
		free(h->account[i]);
		h->account[i] = NULL;
	}
	h->mixed = 0;
}

static bool are_groups(const uint64_t *set)
{
	unsigned int i;

	for (i = 0; i < HPC_LOG_GROUPS; i++)
		if (__builtin_popcountll(set[i]) > HPC_LOG_COUNTS)
			return false;
	return true;
}

/*
 * Counting has begun, maybe with other events. The file belongs to the epoch if that is the same
 * behind reading it.
 */
static bool new_epoch(struct hpc *h)
{
	uint32_t epoch = __atomic_load_n(&h->log->epoch, __ATOMIC_ACQUIRE);
	uint32_t round;

	if (epoch & 1 || !events_read(&h->events))
		return false;
	memcpy(h->set, h->log->set, sizeof(h->set));
	round = h->log->round;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&h->log->epoch, __ATOMIC_RELAXED) != epoch || !are_groups(h->set))
		return false;
	h->events.set.longest = 4 * HPC_LEAST * round;
	h->epoch = epoch;
	h->has_epoch = true;
	forget_counts(h);
	return true;
}

static void account_add(struct hpc *h, unsigned int region, const struct hpc_log_piece *p)
{
	struct account *a = h->account[region];

	if (!a)
		a = h->account[region] = calloc(1, sizeof(*a));
	if (!a)
		return;
	hpc_window_add(&a->window, p->slice, h->set[p->group], p->seen, (const u64 *)p->count);
	if (hpc_window_due(&a->window, &h->events.set))
		hpc_window_close(&a->window, &h->events.set, &a->totals);
}

static bool is_sound(const struct hpc *h, const struct hpc_log_piece *p)
{
	return p->group < HPC_LOG_GROUPS && h->set[p->group] & 1 && p->seen & 1 &&
	       p->epoch == (uint16_t)h->epoch;
}

static void take_piece(struct hpc *h, const struct hpc_log_piece *p)
{
	if (!is_sound(h, p))
		return;
	account_add(h, HPC_THREAD, p);
	if (p->from == p->to)
		account_add(h, p->from % HPC_REGIONS, p);
	else
		h->mixed += p->count[0];
}

/* ---- the log ---------------------------------------------------------------------------- */

static struct hpc *all_handles;
static pthread_mutex_t handles_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t handles_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
	pthread_mutex_lock(&handles_mutex);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&handles_mutex);
}

/*
 * Logs are of the parent's threads. What the child would write there becomes memory of its own, and
 * its copy of the file would keep the log.
 */
static void after_fork_in_child(void)
{
	struct hpc *h;

	for (h = all_handles; h; h = h->next) {
		h->pieces = 0;
		h->exact = false;
		if (h->fd >= 0)
			close(h->fd);
		h->fd = -1;
		if (h->log && mmap(h->log, h->size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			abort();
	}
	pthread_mutex_init(&handles_mutex, NULL);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

static void unlink_handle(struct hpc *h)
{
	struct hpc **at;

	for (at = &all_handles; *at; at = &(*at)->next) {
		if (*at != h)
			continue;
		*at = h->next;
		break;
	}
}

/* The kernel tells the layout in the first page. */
static bool map_log(struct hpc *h, pid_t tid)
{
	struct hpc_log_watch watch = { .tid = tid, .pieces = PIECES };
	long page = sysconf(_SC_PAGESIZE);
	void *log;

	h->fd = open("/dev/hpc", O_RDWR | O_CLOEXEC);
	if (h->fd < 0 || ioctl(h->fd, HPC_IOC_WATCH, &watch))
		return false;
	h->size = page + (PIECES * sizeof(struct hpc_log_piece) + page - 1) / page * page;
	log = mmap(NULL, h->size, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
	if (log == MAP_FAILED)
		return false;
	h->log = log;
	errno = EPROTO;
	return h->log->version == HPC_LOG_VERSION &&
	       h->log->piece_size == sizeof(struct hpc_log_piece) && h->log->pieces == PIECES;
}

static void free_handle(struct hpc *h)
{
	int err = errno;

	if (h->log)
		munmap(h->log, h->size);
	if (h->fd >= 0)
		close(h->fd);
	forget_counts(h);
	free(h);
	errno = err;
}

/**
 * hpc_open - begin to log a thread
 * @tid: the thread, 0 for the caller. Others need what ptrace needs, or CAP_PERFMON
 * @flags: HPC_EXACT or 0
 *
 * Estimates come while logical counters are on (pathctl stalls --on), which may be later.
 *
 * Return: a handle for the calling thread, or NULL with errno: ENOENT without CONFIG_HPC, EACCES,
 * ESRCH, EUSERS too many logs on the machine, EPERM more memory than RLIMIT_MEMLOCK, ENOMEM, EPROTO
 * another version
 */
PUBLIC struct hpc *hpc_open(pid_t tid, unsigned int flags)
{
	struct hpc *h = calloc(1, sizeof(*h));
	bool good;

	if (!h)
		return NULL;
	pthread_once(&handles_once, watch_forks);
	/* no fork meanwhile: the child would have a log of the parent's */
	pthread_mutex_lock(&handles_mutex);
	good = map_log(h, tid);
	if (good) {
		h->next = all_handles;
		all_handles = h;
	} else {
		free_handle(h);
	}
	pthread_mutex_unlock(&handles_mutex);
	if (!good)
		return NULL;
	h->pieces = PIECES;
	h->piece = (void *)((char *)h->log + h->log->offset);
	h->exact = flags & HPC_EXACT && (!tid || tid == gettid());
	return h;
}

/**
 * hpc_close - end it
 * @h: the handle, or NULL
 */
PUBLIC void hpc_close(struct hpc *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&handles_mutex);
	unlink_handle(h);
	free_handle(h);
	pthread_mutex_unlock(&handles_mutex);
}

/**
 * hpc_update - take what was counted since the last time
 * @h: the handle, or NULL
 *
 * hpc_begin() and hpc_end() do it when the log is half full.
 *
 * Return: 0, or -1 with errno EAGAIN: nothing was counted yet
 */
PUBLIC int hpc_update(struct hpc *h)
{
	uint64_t head, tail;

	if (!h || !h->pieces) {
		errno = EBADF;
		return -1;
	}
	head = __atomic_load_n(&h->log->head, __ATOMIC_ACQUIRE);
	for (tail = h->tail; tail != head; tail++) {
		const struct hpc_log_piece *p = &h->piece[tail % h->pieces];

		/* pieces of an epoch that is over are left out */
		if ((!h->has_epoch || p->epoch != (uint16_t)h->epoch) &&
		    p->epoch == (uint16_t)h->log->epoch && !new_epoch(h)) {
			/* not again for each of them */
			tail = head;
			break;
		}
		take_piece(h, p);
	}
	h->tail = tail;
	__atomic_store_n(&h->log->tail, tail, __ATOMIC_RELEASE);
	if (h->has_epoch)
		return 0;
	errno = EAGAIN;
	return -1;
}

/* ---- regions ---------------------------------------------------------------------------- */

/*
 * The word is another one at each change, so a piece in which the thread left a region and came
 * back is told from one that it spent there.
 */
static void set_region(struct hpc *h, unsigned int region)
{
	uint64_t word = ++h->changes * HPC_REGIONS + region;
	int err = errno;

	h->region = region;
	if (h->exact)
		ioctl(h->fd, HPC_IOC_REGION, &word);
	else
		__atomic_store_n(&h->log->region, word, __ATOMIC_RELAXED);
	if (__atomic_load_n(&h->log->head, __ATOMIC_RELAXED) - h->tail > h->pieces / 2)
		hpc_update(h);
	errno = err;
}

/**
 * hpc_begin - the thread enters a region of its code
 * @h: the handle, or NULL
 * @region: number of the region, 1 to HPC_REGIONS - 1; others are taken for 0
 *
 * Regions nest: what is counted is the innermost one's. It is a store, and now and then hpc_update().
 * Pieces in which the region changes are in no region, so regions that are shorter than a slice
 * need HPC_EXACT.
 */
PUBLIC void hpc_begin(struct hpc *h, unsigned int region)
{
	if (!h)
		return;
	if (h->depth < DEPTH)
		h->outer[h->depth] = h->region;
	h->depth++;
	set_region(h, region < HPC_REGIONS ? region : 0);
}

/**
 * hpc_end - it leaves the region
 * @h: the handle, or NULL
 */
PUBLIC void hpc_end(struct hpc *h)
{
	if (!h || !h->depth)
		return;
	h->depth--;
	set_region(h, h->depth < DEPTH ? h->outer[h->depth] : 0);
}

/* ---- estimates -------------------------------------------------------------------------- */

static const struct account *account_of(const struct hpc *h, unsigned int region)
{
	static const struct account none;

	if (h && region <= HPC_THREAD)
		return h->account[region] ? h->account[region] : &none;
	errno = EINVAL;
	return NULL;
}

/**
 * hpc_cycles - cycles of a region
 * @h: the handle
 * @region: the region, or HPC_THREAD
 * @c: the cycles
 *
 * Return: 0, or -1 with errno EINVAL
 */
PUBLIC int hpc_cycles(struct hpc *h, unsigned int region, struct hpc_cycles *c)
{
	const struct account *a = account_of(h, region);

	if (!a)
		return -1;
	*c = (struct hpc_cycles){
		.cycles = a->totals.cycles, .unknown = a->totals.unknown,
		.pending = a->window.cycles, .mixed = h->mixed, .lost = h->log->lost,
	};
	return 0;
}

/* Stalls, each with its sources behind it; -1: there are no more */
static int nth_cause(const struct hpc_set *set, unsigned int n)
{
	unsigned int i, k;

	for (i = 0; i < set->nr; i++) {
		if (set->role[i] != HPC_STALL)
			continue;
		if (!n--)
			return i;
		for (k = 0; k < set->nr; k++)
			if (set->role[k] == HPC_SOURCE && set->of[k] == i && !n--)
				return k;
	}
	return -1;
}

static void value_set(struct hpc_value *v, const char *name, const struct hpc_total *t, u64 value,
		      const struct hpc_var *var)
{
	*v = (struct hpc_value){ .name = name, .known = !!t->cycles };
	if (!v->known)
		return;
	v->value = value;
	v->error = hpc_error(var);
	v->counted = hpc_mul_div(t->counted, 100, t->cycles);
}

/**
 * hpc_cause - cycles that were lost to a cause
 * @h: the handle
 * @region: the region, or HPC_THREAD
 * @n: 0 is completion, then come the causes, each with its sources behind it
 * @v: the estimate. The name is good until hpc_update()
 *
 * Return: 0, or -1 with errno ENOENT: there are fewer, or EINVAL
 */
PUBLIC int hpc_cause(struct hpc *h, unsigned int region, unsigned int n, struct hpc_value *v)
{
	const struct account *a = account_of(h, region);
	const struct hpc_totals *t;
	int i;

	if (!a)
		return -1;
	t = &a->totals;
	if (!n) {
		*v = (struct hpc_value){
			.name = "completion", .value = t->completion,
			.error = hpc_error(&t->completion_var), .counted = 100,
			.known = t->cycles > t->unknown,
		};
		return 0;
	}
	i = nth_cause(&h->events.set, n - 1);
	if (i < 0) {
		errno = ENOENT;
		return -1;
	}
	value_set(v, strchr(h->events.name[i], '.') + 1, &t->event[i], t->event[i].stall,
		  &t->event[i].stall_var);
	return 0;
}

/**
 * hpc_event - how often an event happened
 * @h: the handle
 * @region: the region, or HPC_THREAD
 * @n: its number in /sys/kernel/hpc/events. 0 counts cycles
 * @v: the estimate. The name is good until hpc_update()
 *
 * Return: 0, or -1 with errno ENOENT: there are fewer, or EINVAL
 */
PUBLIC int hpc_event(struct hpc *h, unsigned int region, unsigned int n, struct hpc_value *v)
{
	const struct account *a = account_of(h, region);
	const struct hpc_total *t;

	if (!a)
		return -1;
	if (n >= h->events.set.nr) {
		errno = ENOENT;
		return -1;
	}
	t = &a->totals.event[n];
	value_set(v, h->events.name[n], t, t->count, &t->count_var);
	return 0;
}

/**
 * hpc_ended - will nothing more come?
 * @h: the handle
 *
 * Return: the thread is about to end, so that hpc_update() a moment later takes the last piece; or it
 * has become another's
 */
PUBLIC bool hpc_ended(const struct hpc *h)
{
	return !h || !h->pieces || __atomic_load_n(&h->log->state, __ATOMIC_RELAXED) != HPC_LOG_ON;
}

/**
 * hpc_print - a region as cpu.stalls would show it
 * @h: the handle
 * @region: the region, or HPC_THREAD
 * @out: where to
 *
 * Return: 0, or -1 with errno EINVAL
 */
PUBLIC int hpc_print(struct hpc *h, unsigned int region, FILE *out)
{
	struct hpc_cycles c;
	struct hpc_value v;
	unsigned int n;

	if (hpc_cycles(h, region, &c))
		return -1;
	fprintf(out, "cycles %llu\npending %llu\nunknown %llu\n", (unsigned long long)c.cycles,
		(unsigned long long)c.pending, (unsigned long long)c.unknown);
	for (n = 0; !hpc_cause(h, region, n, &v); n++) {
		if (!v.known)
			fprintf(out, "%s too_little\n", v.name);
		else if (!n)
			fprintf(out, "%s cycles=%llu error=%llu\n", v.name,
				(unsigned long long)v.value, (unsigned long long)v.error);
		else
			fprintf(out, "%s cycles=%llu error=%llu counted=%u\n", v.name,
				(unsigned long long)v.value, (unsigned long long)v.error, v.counted);
	}
	return 0;
}
