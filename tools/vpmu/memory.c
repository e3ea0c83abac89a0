// SPDX-License-Identifier: GPL-2.0
/*
 * Memory controllers, one for each node, and their sequential prefetcher (HMTT 6.2).
 *
 * A prefetcher that has seen three requests for lines in a row fetches the next line into
 * a buffer beside it. Plain, it sees one sequence, and two CPUs whose requests alternate
 * hide both their sequences from it. The other one keeps a sequence for each context.
 *
 * A line in a buffer is in no cache.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coherence.h"

#define IN_A_ROW	3
#define STREAMS		16
#define BUFFER		32

struct stream {
	uint64_t next;		/* number of the line that would go on with it */
	uint32_t context;
	uint32_t length;
};

/**
 * struct vpmu_controller - a memory controller
 * @streams: sequences; that of a context by its number, modulo STREAMS
 * @buffer: numbers of prefetched lines plus 1, 0: empty
 * @oldest: index into @buffer, to be replaced first
 */
struct vpmu_controller {
	struct stream streams[STREAMS];
	uint64_t buffer[BUFFER];
	uint32_t oldest;
};

int vpmu_controllers_init(struct vpmu_machine *m)
{
	m->controller = calloc(m->g.chips, sizeof(*m->controller));
	return m->controller ? 0 : -ENOMEM;
}

void vpmu_controllers_reset(struct vpmu_machine *m)
{
	memset(m->controller, 0, m->g.chips * sizeof(*m->controller));
}

unsigned int vpmu_memory_node(const struct vpmu_machine *m, uint64_t number)
{
	uint64_t paddr = number << m->line_shift;
	unsigned int node = 0;

	while (paddr >= m->g.node_end[node])
		node++;
	return node;
}

/* Return: where a line is in the buffer, or BUFFER */
static unsigned int find(const struct vpmu_controller *mc, uint64_t number)
{
	unsigned int i;

	for (i = 0; i < BUFFER; i++)
		if (mc->buffer[i] == number + 1)
			break;
	return i;
}

static void prefetch(struct vpmu_machine *m, struct vpmu_cpu *c, unsigned int node,
		     uint64_t number)
{
	struct vpmu_controller *mc = &m->controller[node];

	if (number << m->line_shift >= m->g.node_end[node] || m->directory[number] ||
	    find(mc, number) < BUFFER)
		return;
	mc->buffer[mc->oldest] = number + 1;
	mc->oldest = (mc->oldest + 1) % BUFFER;
	vpmu_count(c, VPMU_PREFETCHED, 1);
}

/**
 * vpmu_memory_request() - a line is wanted from memory
 * @m: machine
 * @c: by whom
 * @node: where the line is
 * @number: of the line
 *
 * Return: true: it has been prefetched.
 */
bool vpmu_memory_request(struct vpmu_machine *m, struct vpmu_cpu *c, unsigned int node,
			 uint64_t number)
{
	uint32_t context = m->g.prefetch == VPMU_PREFETCH_CONTEXT ? c->context : 0;
	struct vpmu_controller *mc = &m->controller[node];
	struct stream *s = &mc->streams[context % STREAMS];
	unsigned int i;

	if (m->g.prefetch == VPMU_PREFETCH_OFF)
		return false;
	i = find(mc, number);
	if (i < BUFFER) {
		mc->buffer[i] = 0;
		vpmu_count(c, VPMU_PREFETCH_USED, 1);
	}
	if (s->context != context || s->next != number)
		*s = (struct stream){ .context = context };
	s->next = number + 1;
	if (++s->length >= IN_A_ROW)
		prefetch(m, c, node, number + 1);
	return i < BUFFER;
}
