/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of page access tracking: knobs that are always restored,
 * cgroups that are always removed, and programs that run tracked.
 */
#ifndef PATH_UTIL_H
#define PATH_UTIL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "kselftest.h"

#define PATH_SYSFS	"/sys/kernel/mm/path/"
#define PATH_CGROUP	"/sys/fs/cgroup"
#define PATH_DEV	"/dev/mmpath"
#define PATH_THP	"/sys/kernel/mm/transparent_hugepage/enabled"
#define PATH_EMUL	"drivers/emul/"
#define PATH_VPATH	"drivers/vpath/"

#define PAGE	4096UL
#define WORDS	(PAGE / sizeof(long))
#define MIB	(1024 * 1024UL)

void path_open(unsigned int seconds);

/*
 * Print the header and the plan, and save all knobs. Ends the program as skipped
 * without root or without the kernel's support. After @seconds (more on a
 * debug kernel) the program fails.
 */
static inline void path_start(unsigned int plan, unsigned int seconds)
{
	ksft_print_header();
	path_open(seconds);
	/* kselftest.h counts in the file that includes it */
	ksft_set_plan(plan);
}

/* Restore everything. Also called at exit and on signals. */
void path_restore(void);
/* Is this a kernel full of checks? Expect a tenth of the speed. */
bool path_slow(void);
/* The path_now_ms() after which a thing that takes a kernel at most @seconds must be a hang. */
unsigned long path_hangs_at(unsigned int seconds);

/*
 * Conditions of a case. One that does not hold is printed with its place and its values.
 * Numbers are compared by value, whatever their types. path_same() compares strings.
 */
#define path_true(cond)	path_holds(!!(cond), __FILE__, __LINE__, #cond)
#define path_same(a, b)	path_is_text(__FILE__, __LINE__, #a " is " #b, a, b)
#define path_eq(a, b)	path_is(PATH_EQ, __FILE__, __LINE__, #a " == " #b, a, b)
#define path_ne(a, b)	path_is(PATH_NE, __FILE__, __LINE__, #a " != " #b, a, b)
#define path_lt(a, b)	path_is(PATH_LT, __FILE__, __LINE__, #a " < " #b, a, b)
#define path_le(a, b)	path_is(PATH_LE, __FILE__, __LINE__, #a " <= " #b, a, b)
#define path_gt(a, b)	path_is(PATH_GT, __FILE__, __LINE__, #a " > " #b, a, b)
#define path_ge(a, b)	path_is(PATH_GE, __FILE__, __LINE__, #a " >= " #b, a, b)

enum path_relation { PATH_EQ, PATH_NE, PATH_LT, PATH_LE, PATH_GT, PATH_GE };

bool path_holds(bool holds, const char *file, int line, const char *what);
bool path_is(enum path_relation relation, const char *file, int line, const char *what,
	     long double a, long double b);
bool path_is_text(const char *file, int line, const char *what, const char *a, const char *b);

/* Files, by absolute names. Return 0, or a number of bytes, or -errno. */
int path_write(const char *file, const char *text);
int path_write_bytes(const char *file, const void *buf, size_t len);
int path_read(const char *file, char *buf, size_t size);
/* Read a whole file of any size. The caller frees the result. NULL with errno on error. */
char *path_slurp(const char *file);
char *path_slurp_fd(int fd);
/* Read a number, or the word in brackets. Negative: -errno. */
long long path_number(const char *file);

/* Knobs: "epoch_ms", "drivers/emul/pab_entries". path_set() must succeed. */
__printf(2, 3) void path_set(const char *knob, const char *fmt, ...);
long long path_get(const char *knob);
/* Save any other file, to be restored at the end. Handles words in brackets. */
void path_save(const char *file);
/* Enable exact tracking with a small PAB, which most tests need. */
void path_exact(unsigned int pab_entries);
/* Set parameters with which vpath tracks exactly. They take effect when it is chosen. */
void path_vpath_exact(unsigned int pab_entries);
/* The same, with a filter for pages that a small PAB loses all the time, such as code and stack. */
void path_exact_filtered(unsigned int pab_entries);
/* Enable exact tracking by a driver; emul gets a PAB of this size. */
void path_use_driver(const char *driver, unsigned int pab_entries);

/* cgroups. @parent NULL: the root. Must succeed. */
char *path_cg(const char *parent, const char *name);
void path_cg_remove(char *cg);
int path_cg_write(const char *cg, const char *file, const char *text);
char *path_cg_slurp(const char *cg, const char *file);
int path_cg_move(const char *cg, pid_t pid);
void path_track(const char *cg, bool on);
/* Return the number behind a key, or -1 if there is none. */
long long path_cg_key(const char *cg, const char *file, const char *key);
long long path_text_key(const char *text, const char *key);

/* Open a session of /dev/mmpath, which must succeed. Track a process in it: 0 or -errno. */
int path_dev_open(void);
int path_dev_track(int dev, pid_t pid);

/* Is the process listed in memory.path.regions of @cg? */
bool path_tracks(const char *cg, pid_t pid);
bool path_wait_tracks(const char *cg, pid_t pid, bool want);
bool path_wait_contexts(const char *cg, long long want);

/*
 * Run @fn in a child, tracked by @cg from its first instruction there on, for
 * at most @seconds. Returns what @fn returned (KSFT_*).
 */
int path_run(const char *cg, int (*fn)(void *arg), void *arg, unsigned int seconds);
/* The same in two halves. */
pid_t path_spawn(const char *cg, int (*fn)(void *arg), void *arg);
int path_wait(pid_t pid, unsigned int seconds);

/* A line of memory.path.regions */
struct path_region {
	int pid;
	unsigned int id;
	char kind[8];
	unsigned long start, end;		/* 0 for "-" */
	unsigned long kb, footprint, records, cold;
	unsigned int shift;
	char state[8];
	char policy[8];
	unsigned long in_memory;
	long target;				/* -1 for "-" */
	char name[128];
};

/* The region of @pid that covers @addr. */
bool path_region_at(const char *cg, pid_t pid, const void *addr, struct path_region *r);
bool path_parse_region(const char *line, struct path_region *r);

/* Curves */
#define PATH_POINTS	1024		/* that a curve has at most */

struct path_curve {
	unsigned long records, cold, footprint, from;
	unsigned int group;
	size_t n;
	unsigned long *misses;		/* at each point, to be freed */
	unsigned long *pages;		/* that it is for; of the same memory */
};

bool path_parse_curve(const char *text, struct path_curve *c);
/* Misses at the last point with at most @pages */
unsigned long path_curve_misses(const struct path_curve *c, size_t pages);

/* Mattson's algorithm: of a string of n pages, touches at each distance. */
struct path_mattson {
	unsigned int *last;			/* time of the last touch of a page, from 1 */
	unsigned int *tree;
	unsigned long *at;			/* touches at a distance */
	size_t pages, times, now, live;
	unsigned long cold;
};

void path_mattson_init(struct path_mattson *m, size_t pages, size_t times);
void path_mattson_touch(struct path_mattson *m, size_t page);
/* Touches that miss with @pages of memory, without cold ones */
unsigned long path_mattson_misses(const struct path_mattson *m, size_t pages);
void path_mattson_free(struct path_mattson *m);

/*
 * Reclaim with two lists looks at statistics that are up to four seconds old. It may find
 * nothing although there are many pages, and the unpatched kernel kills programs then. From
 * here on a process keeps the statistics fresh.
 */
void path_keep_counting(void);

/* Memory, never huge unless @huge; 2 MiB aligned */
char *path_map(size_t bytes, bool huge);
/* Programs count in their pages, one word in each, and check which ones are wrong. */
__volatile__ unsigned long *path_word(char *p, size_t page);
/* All pages must hold @round. Adds one to each, and returns how many were wrong. */
unsigned long path_go_round(char *p, size_t pages, unsigned long round);
unsigned long path_major_faults(void);
unsigned long path_faults(void);
unsigned long path_rand(unsigned long *state);
void path_sleep_ms(unsigned int ms);
unsigned long path_now_ms(void);

/*
 * Swap on other disks than the system's: on none (path_swap_off()), or first on one of
 * the test's: null_blk, which may have bad sectors ("+first-last"), or zram.
 * path_swap_restore() undoes this, and is also called at the end.
 */
#define PATH_DISK	"nullb_path"
#define PATH_FILE_DISK	"nullb_path_files"
bool path_have_swap(void);
bool path_swap_off(void);
#define PATH_DEPTH	64	/* requests that a disk takes at once */

/* Let each read and write take @us. */
bool path_swap_null(unsigned int mib, unsigned int us);
/* And let the disk take @depth of them at once. */
bool path_swap_queue(unsigned int mib, unsigned int us, unsigned int depth);
bool path_swap_bad(const char *sectors);
bool path_swap_zram(unsigned int mib);
/* Another such disk, which is not for swap. path_swap_restore() takes it away, too. */
bool path_file_disk(unsigned int mib, unsigned int us, unsigned int depth);
/* Swap on the test's disk off and on. */
bool path_swap_again(void);
void path_swap_restore(void);

#endif /* PATH_UTIL_H */
