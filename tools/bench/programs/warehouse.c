// SPDX-License-Identifier: GPL-2.0
/*
 * warehouse - a wholesaler's orders, in memory; the load of TPC-C, as SPECjbb runs it.
 *
 * Of a hundred transactions 44 enter an order of 5 to 15 items, 44 are payments, and 4 each look
 * at a customer's last order, deliver the oldest orders, and look for items of the latest orders
 * that run short. Objects of orders are allocated one after the other, and the oldest make room for
 * the newest, as the heap of a language does that collects garbage.
 *
 * Pages: items and customers are touched at random, some more often (as TPC-C wants it); orders are
 * written in order. Those of a customer are as old as it is since the customer's last one.
 *
 * A round is as many transactions as there are customers. Checked: 1. what customers owe and
 * have paid against the orders entered; 2. stocks against what was sold; 3. the orders there are.
 */
#include <string.h>

#include "programs.h"

#define MAX_LINES	15
#define STOCK		100	/* of an item, filled up again below 10 */

struct item {
	uint64_t number, stock, sold, filled;
	char data[96];
};

struct customer {
	uint64_t number, last_order;	/* of the last one that is there, + 1 */
	int64_t owes;
	uint64_t paid;
	char data[480];
};

struct line {
	uint32_t item, amount;
	uint64_t price;
};

struct order {
	uint64_t number, customer, lines, total, delivered;
	struct line line[MAX_LINES];
	char data[24];
};

_Static_assert(sizeof(struct item) == 128 && sizeof(struct customer) == 512 &&
	       sizeof(struct order) == 304, "as described in workloads.rst");

struct warehouse {
	struct item *items;
	struct customer *customers;
	struct order *orders;
	uint64_t nr_items, nr_customers, room;	/* room: for so many orders */
	uint64_t entered, delivered, short_of, lines_sold;
	uint64_t entered_total, paid_total, bad;
	struct rng rng;
};

/* TPC-C's: numbers with many bits are more frequent. */
static uint64_t uneven(struct warehouse *w, uint64_t n)
{
	return (rng_below(&w->rng, 1024) * (n / 1024 + 1) | rng_below(&w->rng, n)) % n;
}

static struct order *order_of(const struct warehouse *w, uint64_t number)
{
	return &w->orders[number % w->room];
}

static bool is_there(const struct warehouse *w, uint64_t number)
{
	return number < w->entered && number + w->room >= w->entered;
}

static uint64_t sell(struct warehouse *w, struct line *line)
{
	struct item *item = &w->items[uneven(w, w->nr_items)];

	*line = (struct line){ .item = item->number, .amount = 1 + rng_below(&w->rng, 9),
			       .price = mix64(item->number) % 100 };
	if (item->stock < line->amount + 10) {
		item->filled += STOCK;
		item->stock += STOCK;
	}
	item->stock -= line->amount;
	item->sold += line->amount;
	return line->amount * line->price;
}

static void enter_order(struct warehouse *w)
{
	struct customer *customer = &w->customers[uneven(w, w->nr_customers)];
	struct order *order = order_of(w, w->entered);

	memset(order, 0, sizeof(*order));
	order->number = w->entered;
	order->customer = customer->number;
	order->lines = 5 + rng_below(&w->rng, MAX_LINES - 4);
	for (uint64_t i = 0; i < order->lines; i++)
		order->total += sell(w, &order->line[i]);
	customer->owes += order->total;
	customer->last_order = ++w->entered;
	w->entered_total += order->total;
}

static void pay(struct warehouse *w)
{
	struct customer *customer = &w->customers[uneven(w, w->nr_customers)];
	uint64_t amount = 1 + rng_below(&w->rng, 5000);

	customer->owes -= amount;
	customer->paid += amount;
	w->paid_total += amount;
}

static void look_at_last(struct warehouse *w)
{
	const struct customer *customer = &w->customers[uneven(w, w->nr_customers)];
	const struct order *order = order_of(w, customer->last_order - 1);

	if (customer->last_order && is_there(w, customer->last_order - 1))
		w->bad += order->customer != customer->number ||
			  order->number != customer->last_order - 1;
}

static void deliver(struct warehouse *w)
{
	for (int i = 0; i < 10 && w->delivered < w->entered; i++, w->delivered++) {
		if (!is_there(w, w->delivered))
			w->delivered = w->entered - w->room;
		order_of(w, w->delivered)->delivered = 1;
	}
}

static void look_for_short(struct warehouse *w)
{
	for (uint64_t back = 1; back <= 20 && back <= w->entered; back++) {
		const struct order *order = order_of(w, w->entered - back);

		for (uint64_t i = 0; i < order->lines; i++)
			w->short_of += w->items[order->line[i].item].stock < 15;
	}
}

static void transact(struct warehouse *w)
{
	uint64_t which = rng_below(&w->rng, 100);

	if (which < 44)
		enter_order(w);
	else if (which < 88)
		pay(w);
	else if (which < 92)
		look_at_last(w);
	else if (which < 96)
		deliver(w);
	else
		look_for_short(w);
}

/* A third of the footprint each. All the room for orders is used when it begins. */
static void set_up(struct warehouse *w, struct run *run)
{
	uint64_t i;

	w->rng.state = run->seed;
	w->nr_items = run->bytes / 3 / sizeof(*w->items);
	w->nr_customers = run->bytes / 3 / sizeof(*w->customers);
	w->room = run->bytes / 3 / sizeof(*w->orders);
	w->items = map_array(run, "items", w->nr_items * sizeof(*w->items));
	w->customers = map_array(run, "customers", w->nr_customers * sizeof(*w->customers));
	w->orders = map_array(run, "orders", w->room * sizeof(*w->orders));
	for (i = 0; i < w->nr_items; i++)
		w->items[i] = (struct item){ .number = i, .stock = STOCK };
	for (i = 0; i < w->nr_customers; i++)
		w->customers[i].number = i;
	while (w->entered < w->room)
		enter_order(w);
}

static bool is_paid(const struct warehouse *w)
{
	uint64_t paid = 0;
	int64_t owes = 0;

	for (uint64_t i = 0; i < w->nr_customers; i++) {
		paid += w->customers[i].paid;
		owes += w->customers[i].owes;
	}
	return paid == w->paid_total && owes == (int64_t)(w->entered_total - paid);
}

static bool is_in_stock(const struct warehouse *w)
{
	const struct item *item;

	for (item = w->items; item < w->items + w->nr_items; item++)
		if (item->stock + item->sold != item->filled + STOCK)
			return false;
	return true;
}

static bool is_order(const struct order *order, uint64_t number)
{
	uint64_t total = 0;

	for (uint64_t i = 0; i < order->lines; i++) {
		const struct line *line = &order->line[i];

		if (line->price != mix64(line->item) % 100)
			return false;
		total += line->amount * line->price;
	}
	return order->number == number && order->total == total;
}

static bool are_orders(const struct warehouse *w)
{
	for (uint64_t n = w->entered - w->room; n < w->entered; n++)
		if (!is_order(order_of(w, n), n))
			return false;
	return !w->bad;
}

static void warehouse_main(struct run *run)
{
	struct warehouse w = { };

	set_up(&w, run);
	main_begin(run);
	for (uint64_t n = 0; n < run->rounds * w.nr_customers; n++)
		transact(&w);
	main_end(run);

	if (breaks(run, 1))
		w.customers[w.nr_customers / 2].owes++;
	verify(run, 1, is_paid(&w));
	if (breaks(run, 2))
		w.items[w.nr_items / 2].stock++;
	verify(run, 2, is_in_stock(&w));
	if (breaks(run, 3))
		order_of(&w, w.entered - 7)->total++;
	verify(run, 3, are_orders(&w));
}

const struct program warehouse_program = {
	.name = "warehouse",
	.what = "orders, payments and deliveries of a wholesaler",
	.rounds = 8,
	.checks = 3,
	.main = warehouse_main,
};
