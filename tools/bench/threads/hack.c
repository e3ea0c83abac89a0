// SPDX-License-Identifier: GPL-2.0
/*
 * Groups of processes, as hackbench has them: two senders, each with a pipe to each of two
 * receivers. What they share is in the kernel.
 */
#include <unistd.h>

#include "threads.h"

#define RECEIVERS	2	/* of a group, and as many senders */
#define WORDS		23	/* hackbench's messages have 100 bytes */

struct packet {
	uint32_t from, nr, word[WORDS];
};

/* Of a receiver */
static struct inbox {
	int fd[2];
	uint64_t received[RECEIVERS];	/* from each sender */
} __attribute__((aligned(LINE))) (*inboxes)[RECEIVERS];

static void set_up(void *memory)
{
	struct inbox *in;

	inboxes = memory;
	for (in = inboxes[0]; in < inboxes[run.chips]; in++)
		if (pipe(in->fd))
			run.shared->wrong = true;
}

static void send_packet(int fd, unsigned int from, uint32_t nr)
{
	struct packet p = { .from = from, .nr = nr };
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		p.word[i] = nr * 3 + i;
	if (write(fd, &p, sizeof(p)) != sizeof(p))
		run.shared->wrong = true;
}

static bool is_packet(const struct packet *p, const struct inbox *in)
{
	unsigned int i;

	if (p->from >= RECEIVERS || p->nr != (uint32_t)in->received[p->from])
		return false;
	for (i = 0; i < WORDS; i++)
		if (p->word[i] != p->nr * 3 + i)
			return false;
	return true;
}

/* A pipe may hand out a part of a message. */
static void receive_packet(struct inbox *in)
{
	struct packet p = { };
	size_t have;
	ssize_t n;

	for (have = 0; have < sizeof(p); have += n) {
		n = read(in->fd[0], (char *)&p + have, sizeof(p) - have);
		if (n <= 0)
			break;
	}
	if (have != sizeof(p) || !is_packet(&p, in))
		run.shared->wrong = true;
	in->received[p.from % RECEIVERS]++;
}

static void hack(unsigned int id, uint64_t times)
{
	struct inbox *group = inboxes[id % run.chips];
	unsigned int own = id / run.chips / 2, i;
	uint64_t nr;

	if (id / run.chips % 2 == 0) {
		for (nr = 0; nr < times; nr++)
			for (i = 0; i < RECEIVERS; i++)
				send_packet(group[i].fd[1], own, nr);
		return;
	}
	for (nr = 0; nr < times * RECEIVERS; nr++)
		receive_packet(&group[own]);
}

static bool right(void)
{
	struct inbox *in;
	unsigned int i;

	for (in = inboxes[0]; in < inboxes[run.chips]; in++)
		for (i = 0; i < RECEIVERS; i++)
			if (in->received[i] != run.rounds)
				return false;
	return true;
}

const struct workload hack_workloads[] = {
	{ "hack", 2 * RECEIVERS, true, 40000, MOST_CHIPS * sizeof(*inboxes), set_up, hack, right,
	  as_chips, on_own_chip },
	{ }
};
