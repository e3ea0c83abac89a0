// SPDX-License-Identifier: GPL-2.0
/*
 * Warehouses with trees of orders, as SPECjbb has them (Azimi 2007, 3.4.2). Two threads each do
 * transactions on one: of 25 they enter 11 orders, pay 11, and look for 3.
 *
 * A warehouse has districts, each with a tree, a lock and what was paid. An order's key tells its
 * district. A thread's orders lie one after the other, as a heap's do that collects garbage, and
 * the oldest one is delivered, which takes it out of its tree, when the newest one needs its room.
 *
 * Checked: what a thread looks for among its own orders is there. At the end all orders are
 * that were not delivered, and no others. What was paid is in orders and in their districts.
 */
#include "threads.h"

#define DISTRICTS	16
#define CLERKS		2	/* of a warehouse */
#define ORDERS		4096	/* of a clerk */
#define ITEMS		3

struct order {
	uint64_t key;
	struct order *left, *right;
	uint64_t total, paid, item[ITEMS];
} __attribute__((aligned(LINE)));

struct district {
	pthread_mutex_t lock;
	struct order *orders;
	uint64_t paid, paid_delivered;
} __attribute__((aligned(LINE)));

/* What a thread has done; orders from first on are there. */
struct clerk {
	struct order order[ORDERS];
	uint64_t first, next, paid;
};

static struct warehouses {
	struct district district[MOST_CHIPS][DISTRICTS];
	struct clerk clerk[MOST_CHIPS * CLERKS];
} *all_of_them;

static void set_up(void *memory)
{
	unsigned int i, k;

	all_of_them = memory;
	for (i = 0; i < run.chips; i++)
		for (k = 0; k < DISTRICTS; k++)
			pthread_mutex_init(&all_of_them->district[i][k].lock, NULL);
}

/* Different numbers, different keys */
static uint64_t key_of(unsigned int id, uint64_t nr)
{
	uint64_t key = ((uint64_t)id << 48 | nr) + 1;

	key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ULL;
	key = (key ^ key >> 27) * 0x94d049bb133111ebULL;
	return key ^ key >> 31;
}

static struct district *district_of(unsigned int id, uint64_t key)
{
	return &all_of_them->district[id % run.chips][key % DISTRICTS];
}

static struct clerk *clerk_of(unsigned int id)
{
	return &all_of_them->clerk[id];
}

/* Trees */

/* What points to the order with this key, or to where it would be */
static struct order **find(struct district *d, uint64_t key)
{
	struct order **o = &d->orders;

	while (*o && (*o)->key != key)
		o = key < (*o)->key ? &(*o)->left : &(*o)->right;
	return o;
}

/* An order that has two below it leaves its place to the next one. */
static void take_out(struct order **where)
{
	struct order *gone = *where, **next, *heir;

	if (!gone->left || !gone->right) {
		*where = gone->left ?: gone->right;
		return;
	}
	for (next = &gone->right; (*next)->left; next = &(*next)->left)
		;
	heir = *next;
	*next = heir->right;
	heir->left = gone->left;
	heir->right = gone->right;
	*where = heir;
}

/* Transactions */

static void deliver_oldest(unsigned int id)
{
	uint64_t key = key_of(id, clerk_of(id)->first++);
	struct district *d = district_of(id, key);
	struct order **where;

	pthread_mutex_lock(&d->lock);
	where = find(d, key);
	if (*where) {
		d->paid_delivered += (*where)->paid;
		take_out(where);
	} else {
		run.shared->wrong = true;
	}
	pthread_mutex_unlock(&d->lock);
}

static void enter(unsigned int id)
{
	struct clerk *c = clerk_of(id);
	uint64_t key = key_of(id, c->next);
	struct district *d = district_of(id, key);
	struct order *o = &c->order[c->next % ORDERS];
	unsigned int i;

	if (c->next - c->first == ORDERS)
		deliver_oldest(id);
	*o = (struct order){ .key = key };
	for (i = 0; i < ITEMS; i++) {
		o->item[i] = next_random() % 1000;
		o->total += o->item[i];
	}
	pthread_mutex_lock(&d->lock);
	*find(d, key) = o;
	pthread_mutex_unlock(&d->lock);
	c->next++;
}

/* One of the clerk's own orders, or if @everybody of all of its warehouse, as far as it knows */
static uint64_t some_key(unsigned int id, bool everybody)
{
	struct clerk *c = clerk_of(id);
	uint64_t nr = c->first + next_random() % (c->next - c->first);

	/* low bits of random numbers repeat too soon */
	if (everybody && next_random() / 4096 % 2)
		id = (id + run.chips) % run.threads;
	return key_of(id, nr);
}

/* The other clerk may have delivered that order, or not have entered it. Nothing is paid then. */
static void pay(unsigned int id)
{
	uint64_t key = some_key(id, true), amount = 1 + next_random() % 5000;
	struct district *d = district_of(id, key);
	struct order *o;

	pthread_mutex_lock(&d->lock);
	o = *find(d, key);
	if (o) {
		o->paid += amount;
		d->paid += amount;
	}
	pthread_mutex_unlock(&d->lock);
	if (o)
		clerk_of(id)->paid += amount;
}

static bool is_order(const struct order *o)
{
	uint64_t total = 0;
	unsigned int i;

	for (i = 0; o && i < ITEMS; i++)
		total += o->item[i];
	return o && total == o->total;
}

static void look_for(unsigned int id)
{
	uint64_t key = some_key(id, false);
	struct district *d = district_of(id, key);

	pthread_mutex_lock(&d->lock);
	if (!is_order(*find(d, key)))
		run.shared->wrong = true;
	pthread_mutex_unlock(&d->lock);
}

static void transact(unsigned int id, uint64_t times)
{
	const struct clerk *c = clerk_of(id);
	unsigned int which;

	while (times--) {
		which = next_random() % 25;
		if (which < 11 || c->next == c->first)
			enter(id);
		else if (which < 22)
			pay(id);
		else
			look_for(id);
		read_chunk(16);
	}
}

/* Results */

/* What was paid for an order and those below it; counts them. */
static uint64_t paid_below(const struct order *o, uint64_t *nr)
{
	if (!o)
		return 0;
	++*nr;
	return o->paid + paid_below(o->left, nr) + paid_below(o->right, nr);
}

static bool is_paid(void)
{
	uint64_t paid = 0, nr = 0;
	unsigned int i, k;
	struct district *d;

	for (i = 0; i < run.chips; i++)
		for (k = 0; k < DISTRICTS; k++) {
			d = &all_of_them->district[i][k];
			if (d->paid != d->paid_delivered + paid_below(d->orders, &nr))
				return false;
			paid += d->paid;
		}
	for (i = 0; i < run.threads; i++) {
		paid -= clerk_of(i)->paid;
		nr -= clerk_of(i)->next - clerk_of(i)->first;
	}
	return !paid && !nr;
}

static bool right(void)
{
	unsigned int id;
	uint64_t nr, key;

	for (id = 0; id < run.threads; id++)
		for (nr = clerk_of(id)->first; nr < clerk_of(id)->next; nr++) {
			key = key_of(id, nr);
			if (!is_order(*find(district_of(id, key), key)))
				return false;
		}
	return is_paid();
}

const struct workload warehouse_workloads[] = {
	{ "warehouse", CLERKS, false, 200000, sizeof(struct warehouses), set_up, transact, right,
	  as_chips, on_own_chip },
	{ }
};
