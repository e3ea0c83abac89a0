// SPDX-License-Identifier: GPL-2.0
/*
 * idle - what idle page tracking says of a process.
 *
 * Once a second: which pages of process PID were touched since the last look?
 * Documentation/admin-guide/mm/idle_page_tracking.rst is followed: all present pages
 * are marked idle, and those that have lost the mark were touched. Prints "touched
 * PAGES" for each look but the first, until the process has gone.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE		4096UL
#define CHUNK		512	/* entries of pagemap, or words of the bitmap, at a time */
#define PRESENT		(1ULL << 63)
#define PFN		((1ULL << 55) - 1)

struct idle {
	FILE *maps;
	int pagemap, bitmap;
	uint64_t *mine, words;	/* page frames of the process, a bit each */
};

static int opened(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void add_frame(struct idle *s, uint64_t pfn)
{
	uint64_t words = pfn / 64 + 1;

	if (words > s->words) {
		s->mine = realloc(s->mine, words * sizeof(*s->mine));
		if (!s->mine)
			exit(1);
		memset(s->mine + s->words, 0, (words - s->words) * sizeof(*s->mine));
		s->words = words;
	}
	s->mine[pfn / 64] |= 1ULL << pfn % 64;
}

static void add_mapping(struct idle *s, uint64_t page, uint64_t end)
{
	uint64_t entry[CHUNK];
	ssize_t got, i;

	for (; page < end; page += got) {
		got = end - page < CHUNK ? end - page : CHUNK;
		got = pread(s->pagemap, entry, got * 8, page * 8) / 8;
		if (got <= 0)
			return;
		for (i = 0; i < got; i++)
			if (entry[i] & PRESENT)
				add_frame(s, entry[i] & PFN);
	}
}

/* False when it has none any more. */
static bool find_frames(struct idle *s)
{
	char line[512], kind;
	uint64_t begin, end;
	bool any = false;

	memset(s->mine, 0, s->words * sizeof(*s->mine));
	rewind(s->maps);
	while (fgets(line, sizeof(line), s->maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*3c%c", &begin, &end, &kind) != 3)
			continue;
		any = true;
		if (kind == 'p')
			add_mapping(s, begin / PAGE, end / PAGE);
	}
	return any;
}

/* Those of @nr words from @first on that were touched; marks all of them idle. */
static uint64_t look_at(struct idle *s, uint64_t first, uint64_t nr)
{
	uint64_t word[CHUNK], i, touched = 0;

	if (pread(s->bitmap, word, nr * 8, first * 8) != (ssize_t)nr * 8)
		return 0;
	for (i = 0; i < nr; i++)
		touched += __builtin_popcountll(s->mine[first + i] & ~word[i]);
	if (pwrite(s->bitmap, s->mine + first, nr * 8, first * 8) < 0)
		perror("page_idle");
	return touched;
}

static uint64_t look(struct idle *s)
{
	uint64_t first = 0, nr, touched = 0;

	while (first < s->words) {
		for (nr = 0; nr < CHUNK && first + nr < s->words && s->mine[first + nr]; nr++)
			;
		if (nr)
			touched += look_at(s, first, nr);
		first += nr ? nr : 1;
	}
	return touched;
}

int main(int argc, char **argv)
{
	struct idle s = { };
	char path[64];
	bool first = true;
	uint64_t touched;

	if (argc != 2) {
		fprintf(stderr, "usage: idle PID\n");
		return 64;
	}
	snprintf(path, sizeof(path), "/proc/%s/maps", argv[1]);
	s.maps = fdopen(opened(path, O_RDONLY), "r");
	snprintf(path, sizeof(path), "/proc/%s/pagemap", argv[1]);
	s.pagemap = opened(path, O_RDONLY);
	s.bitmap = opened("/sys/kernel/mm/page_idle/bitmap", O_RDWR);
	for (; s.maps && find_frames(&s); sleep(1)) {
		touched = look(&s);
		if (!first)
			printf("touched %" PRIu64 "\n", touched);
		first = false;
	}
	return 0;
}
