// SPDX-License-Identifier: GPL-2.0
/*
 * A chat server, as VolanoMark loads it (Azimi 2007, 3.4.2): rooms of four connections, and
 * two threads for each connection. One of them hears what its client says, and tells it to all
 * connections of the room, its own included. The other one waits for what it is told. The client
 * goes on talking when it has heard itself, but for the last WINDOW messages.
 *
 * Threads sleep while they wait, and are woken when the lock is free. Everything that was said must
 * arrive, and in its order.
 */
#include "threads.h"

#define CONNECTIONS	4	/* of a room */
#define SLOTS		16
#define WINDOW		2
#define WORK		100	/* reads of its own memory, for a message that comes or goes */

struct connection {
	pthread_mutex_t lock;
	pthread_cond_t filled, drained, heard_itself;
	uint64_t head, tail;
	struct message slot[SLOTS];
	uint64_t heard[CONNECTIONS];	/* messages of each connection */
} __attribute__((aligned(LINE)));

static struct connection (*rooms)[CONNECTIONS];

static void set_up(void *memory)
{
	struct connection *c;

	rooms = memory;
	for (c = rooms[0]; c < rooms[run.chips]; c++) {
		pthread_mutex_init(&c->lock, NULL);
		pthread_cond_init(&c->filled, NULL);
		pthread_cond_init(&c->drained, NULL);
		pthread_cond_init(&c->heard_itself, NULL);
	}
}

static void tell(struct connection *c, unsigned int from, uint64_t nr)
{
	pthread_mutex_lock(&c->lock);
	while (c->head - c->tail == SLOTS)
		pthread_cond_wait(&c->drained, &c->lock);
	send_message(&c->slot[c->head++ % SLOTS], from, nr * CONNECTIONS + from);
	pthread_mutex_unlock(&c->lock);
	pthread_cond_signal(&c->filled);
}

static void wait_for_itself(struct connection *c, unsigned int own, uint64_t nr)
{
	pthread_mutex_lock(&c->lock);
	while (c->heard[own] + WINDOW <= nr)
		pthread_cond_wait(&c->heard_itself, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

static void talk(struct connection *room, unsigned int own, uint64_t times)
{
	unsigned int i;
	uint64_t nr;

	for (nr = 0; nr < times; nr++) {
		read_chunk(WORK);
		for (i = 0; i < CONNECTIONS; i++)
			tell(&room[i], own, nr);
		wait_for_itself(&room[own], own, nr);
	}
}

static void hear(struct connection *c, unsigned int own)
{
	struct message m;

	pthread_mutex_lock(&c->lock);
	while (c->head == c->tail)
		pthread_cond_wait(&c->filled, &c->lock);
	m = c->slot[c->tail++ % SLOTS];
	check_message(&m, c->heard[m.nr]++ * CONNECTIONS + m.nr);
	pthread_mutex_unlock(&c->lock);
	pthread_cond_signal(&c->drained);
	if (m.nr == own)
		pthread_cond_signal(&c->heard_itself);
}

/* Threads of all rooms take turns; of a connection, the one that talks comes first. */
static void chat(unsigned int id, uint64_t times)
{
	unsigned int own = id / run.chips / 2;
	struct connection *room = rooms[id % run.chips];
	uint64_t left;

	if (id / run.chips % 2 == 0) {
		talk(room, own, times);
		return;
	}
	for (left = times * CONNECTIONS; left; left--) {
		hear(&room[own], own);
		read_chunk(WORK);
	}
}

static bool right(void)
{
	struct connection *c;
	unsigned int i;

	for (c = rooms[0]; c < rooms[run.chips]; c++)
		for (i = 0; i < CONNECTIONS; i++)
			if (c->heard[i] != run.rounds)
				return false;
	return true;
}

const struct workload chat_workloads[] = {
	{ "chat", 2 * CONNECTIONS, false, 5000, MOST_CHIPS * sizeof(*rooms), set_up, chat, right,
	  as_chips, on_own_chip },
	{ }
};
