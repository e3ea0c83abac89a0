// SPDX-License-Identifier: GPL-2.0
/*
 * stalls [-n EVERY] [SECONDS] - what cgroups wait for: each second, or each EVERY seconds, where the
 * cycles went that cpu.stalls has got since. Shows how these tracepoints are used from BPF; needs
 * root, and a kernel with BTF.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "live.h"
#include "stalls.h"
#include "stalls.skel.h"

#define ROOT	"/sys/fs/cgroup"
#define KERNFS	0xfe	/* handles are ids: FILEID_KERNFS of linux/exportfs.h */

/**
 * struct line - one of these
 * @where: what it is of
 * @all: since the program began
 * @new: since the last print
 * @total: new cycles of the cgroup
 */
struct line {
	struct where where;
	struct lost all, new;
	unsigned long long total;
};

/* Now, and at the last print, those in the order of by_where() */
static struct line lines[CAUSES], before[CAUSES];
static size_t nr_before;

#define COMPARE(a, b)	(((a) > (b)) - ((a) < (b)))

static int by_where(const void *one, const void *other)
{
	const struct line *a = one, *b = other;
	int order = COMPARE(a->where.cgroup, b->where.cgroup);

	return order ?: COMPARE(a->where.event, b->where.event);
}

/* Most cycles first, of cgroups and in each */
static int by_cycles(const void *one, const void *other)
{
	const struct line *a = one, *b = other;
	int order = COMPARE(b->total, a->total);

	order = order ?: COMPARE(a->where.cgroup, b->where.cgroup);
	return order ?: COMPARE(b->new.cycles, a->new.cycles);
}

static size_t read_lines(int map)
{
	struct where *last = NULL;
	size_t nr = 0;

	while (nr < CAUSES && !bpf_map_get_next_key(map, last, &lines[nr].where)) {
		if (bpf_map_lookup_elem(map, &lines[nr].where, &lines[nr].all))
			continue;
		last = &lines[nr++].where;
	}
	return nr;
}

/* A line may have gone from a full map, and begun anew. */
static void subtract(struct line *line)
{
	const struct line *old = bsearch(line, before, nr_before, sizeof(*line), by_where);

	line->new = line->all;
	if (!old || old->all.cycles > line->all.cycles || old->all.squares > line->all.squares)
		return;
	line->new.cycles -= old->all.cycles;
	line->new.squares -= old->all.squares;
}

/* Of a cgroup, whose lines follow each other. Those with a dot are parts of others. */
static void add_up(struct line *line, const struct line *end)
{
	struct line *next;
	unsigned long long total = 0;

	for (next = line; next < end && next->where.cgroup == line->where.cgroup; next++)
		if (!strchr(next->new.name, '.'))
			total += next->new.cycles;
	while (line < next)
		line++->total = total;
}

static size_t next_lines(int map)
{
	size_t nr = read_lines(map), i;

	qsort(lines, nr, sizeof(*lines), by_where);
	for (i = 0; i < nr; i++)
		subtract(&lines[i]);
	memcpy(before, lines, nr * sizeof(*lines));
	nr_before = nr;
	for (i = 0; i < nr; i++)
		if (!i || lines[i].where.cgroup != lines[i - 1].where.cgroup)
			add_up(&lines[i], lines + nr);
	qsort(lines, nr, sizeof(*lines), by_cycles);
	return nr;
}

/* Opens the directory of a cgroup, only to name it. The id is what its handle is made of. */
static int open_cgroup(unsigned long long id)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} h = { .handle = { .handle_bytes = sizeof(id), .handle_type = KERNFS } };
	int mount = open(ROOT, O_RDONLY | O_DIRECTORY), fd;

	memcpy(h.room + sizeof(h.handle), &id, sizeof(id));
	fd = open_by_handle_at(mount, &h.handle, O_PATH);
	if (mount >= 0)
		close(mount);
	return fd;
}

static void print_path(unsigned long long cgroup)
{
	char link[64], path[4096];
	int fd = open_cgroup(cgroup);
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = fd < 0 ? -1 : readlink(link, path, sizeof(path) - 1);
	if (fd >= 0)
		close(fd);
	if (size < (ssize_t)strlen(ROOT)) {
		printf("cgroup %llu, which is gone\n", cgroup);
		return;
	}
	path[size] = 0;
	printf("%s\n", path[strlen(ROOT)] ? path + strlen(ROOT) : "/");
}

static void print_line(const struct line *line)
{
	printf("%12llu %5.1f %% %5.1f  %s\n", line->new.cycles,
	       100.0 * line->new.cycles / line->total,
	       100 * sqrt(line->new.squares) / line->total, line->new.name);
}

static void print_lines(int map)
{
	size_t nr = next_lines(map), i;

	for (i = 0; i < nr && lines[i].total; i++) {
		if (!i || lines[i].where.cgroup != lines[i - 1].where.cgroup) {
			printf("%s%12llu                ", i ? "" : "\n", lines[i].total);
			print_path(lines[i].where.cgroup);
		}
		if (lines[i].new.cycles)
			print_line(&lines[i]);
	}
	fflush(stdout);
}

static int watch(struct stalls_bpf *bpf, time_t every, time_t end)
{
	bool more;

	printf("      cycles   share error  what\n");
	fflush(stdout);
	do {
		more = live_wait(every, end);
		print_lines(bpf_map__fd(bpf->maps.stalls));
	} while (more);
	return EX_OK;
}

/* Returns the seconds between prints, and takes them from the arguments. 0: they are wrong */
static time_t take_every(int *argc, char ***argv)
{
	long every = 1;
	char *rest = "";
	int option;

	opterr = 0;
	while ((option = getopt(*argc, *argv, "+n:")) != -1)
		every = option == 'n' ? strtol(optarg, &rest, 10) : 0;
	*argc -= optind - 1;
	*argv += optind - 1;
	return *rest || every < 0 ? 0 : every;
}

int main(int argc, char **argv)
{
	static const char usage[] = "stalls [-n EVERY]";
	struct stalls_bpf *bpf;
	time_t every = take_every(&argc, &argv), end;
	int ret;

	if (!every)
		live_usage(usage);
	if (!every || !live_begin(argc, argv, usage, &end))
		return EX_USAGE;
	bpf = stalls_bpf__open_and_load();
	ret = bpf && !stalls_bpf__attach(bpf) ? watch(bpf, every, end) : live_unavailable("stalls");
	stalls_bpf__destroy(bpf);
	return ret;
}
