// SPDX-License-Identifier: GPL-2.0
/*
 * nbody - bodies that attract each other, by the tree of Barnes and Hut (1986); the
 * method of BARNES in SPLASH-2.
 *
 * Bodies are entered one by one in an octree, a cell being split when a second body
 * comes into its octant, and each cell gets its mass and the centre of it. The pull
 * on a body comes from the tree: a cell that is far for its size pulls as one body,
 * of others each octant is looked at.
 *
 * Pages: bodies of 80 bytes that lie in memory in random order, and cells of 64 bytes
 * in the order they were made. Making the tree goes down it at random for each body.
 * Forces are computed in the order of the tree, so that a body needs nearly the same
 * cells and bodies as the one before it: the top of the tree is hot, the rest is used
 * for a while, over and over, then hardly again in this round.
 *
 * The bodies are Plummer's globular cluster. A round is a step in time. Checked:
 * 1. the pull on some bodies against the sum over all bodies; 2. the mass of the tree.
 */
#include <math.h>
#include <string.h>

#include "programs.h"

#define CELLS_PER_BODY	0.52	/* 1 / ln 8 = 0.48 for random bodies; a little more */
#define MAX_DEPTH	200
#define OPEN		0.57	/* less than 1 / sqrt(3): no body is far from a cell it is in */
#define SOFTENING	1e-4	/* squared */
#define DT		1e-3
#define SAMPLES		16

#define NONE	0U
#define CELL	0x80000000U	/* a link to a cell; otherwise to a body, from 1 on */

struct vector {
	double x, y, z;
};

struct body {
	struct vector at, speed, pull;
	double mass;
};

struct cell {
	struct vector at;	/* centre of mass */
	double mass;
	uint32_t parts[8];
};

_Static_assert(sizeof(struct body) == 80 && sizeof(struct cell) == 64, "as described");

struct tree {
	struct body *bodies;
	struct cell *cells;
	uint32_t n, cells_used, cells_max;
	double half;		/* side of the root's cube, around 0 */
};

static void add_scaled(struct vector *to, const struct vector *v, double by)
{
	to->x += v->x * by;
	to->y += v->y * by;
	to->z += v->z * by;
}

static struct vector minus(const struct vector *a, const struct vector *b)
{
	return (struct vector){ a->x - b->x, a->y - b->y, a->z - b->z };
}

static double squared(const struct vector *v)
{
	return v->x * v->x + v->y * v->y + v->z * v->z;
}

static unsigned int octant(const struct vector *centre, const struct vector *at)
{
	return (at->x > centre->x) | (at->y > centre->y) << 1 | (at->z > centre->z) << 2;
}

static void move_centre(struct vector *centre, unsigned int to, double half)
{
	centre->x += to & 1 ? half : -half;
	centre->y += to & 2 ? half : -half;
	centre->z += to & 4 ? half : -half;
}

static uint32_t new_cell(struct tree *t)
{
	if (t->cells_used == t->cells_max)
		die("nbody: more cells than expected");
	memset(&t->cells[t->cells_used], 0, sizeof(*t->cells));
	return t->cells_used++;
}

/* A cell around @centre takes the place of a body, which becomes a part of it. */
static uint32_t split(struct tree *t, uint32_t body, const struct vector *centre)
{
	uint32_t cell = new_cell(t);

	t->cells[cell].parts[octant(centre, &t->bodies[body - 1].at)] = body;
	return cell | CELL;
}

static void enter(struct tree *t, uint32_t body)
{
	const struct vector *at = &t->bodies[body - 1].at;
	struct vector centre = { };
	double half = t->half;
	uint32_t *link, cell = 0;

	for (unsigned int depth = 0; depth < MAX_DEPTH; depth++) {
		unsigned int part = octant(&centre, at);

		link = &t->cells[cell].parts[part];
		if (*link == NONE) {
			*link = body;
			return;
		}
		half /= 2;
		move_centre(&centre, part, half);
		if (!(*link & CELL))
			*link = split(t, *link, &centre);
		cell = *link & ~CELL;
	}
	die("nbody: two bodies at one place");
}

static const struct vector *place(const struct tree *t, uint32_t link, double *mass)
{
	if (link & CELL) {
		*mass = t->cells[link & ~CELL].mass;
		return &t->cells[link & ~CELL].at;
	}
	*mass = t->bodies[link - 1].mass;
	return &t->bodies[link - 1].at;
}

/* Cells are made after the one they are part of: backwards, all parts are known. */
static void weigh(struct tree *t)
{
	for (uint32_t i = t->cells_used; i-- > 0;) {
		struct cell *cell = &t->cells[i];
		struct vector sum = { };

		for (unsigned int part = 0; part < 8; part++) {
			const struct vector *at;
			double mass;

			if (cell->parts[part] == NONE)
				continue;
			at = place(t, cell->parts[part], &mass);
			add_scaled(&sum, at, mass);
			cell->mass += mass;
		}
		add_scaled(&cell->at, &sum, 1 / cell->mass);
	}
}

static void make_tree(struct tree *t)
{
	uint32_t i;

	t->half = 0;
	for (i = 0; i < t->n; i++) {
		const struct vector *at = &t->bodies[i].at;

		t->half = fmax(t->half, fmax(fabs(at->x), fmax(fabs(at->y), fabs(at->z))));
	}
	t->cells_used = 0;
	new_cell(t);
	for (i = 1; i <= t->n; i++)
		enter(t, i);
	weigh(t);
}

static void attract(struct vector *pull, const struct vector *way, double mass)
{
	double d2 = squared(way) + SOFTENING;

	add_scaled(pull, way, mass / (d2 * sqrt(d2)));
}

/* What @link, of side @side, does to @body. */
static void pull_by(const struct tree *t, uint32_t link, double side, struct body *body)
{
	double mass;
	struct vector way = minus(place(t, link, &mass), &body->at);

	if (!(link & CELL) || side * side < OPEN * OPEN * squared(&way)) {
		attract(&body->pull, &way, mass);
		return;
	}
	for (unsigned int part = 0; part < 8; part++)
		if (t->cells[link & ~CELL].parts[part] != NONE)
			pull_by(t, t->cells[link & ~CELL].parts[part], side / 2, body);
}

/* On all bodies of a part of the tree. */
static void pull_all(const struct tree *t, uint32_t link)
{
	if (link & CELL) {
		for (unsigned int part = 0; part < 8; part++)
			if (t->cells[link & ~CELL].parts[part] != NONE)
				pull_all(t, t->cells[link & ~CELL].parts[part]);
		return;
	}
	t->bodies[link - 1].pull = (struct vector){ };
	pull_by(t, CELL, 2 * t->half, &t->bodies[link - 1]);
}

/* The pull belongs to the places it leaves behind. */
static void step(struct tree *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		add_scaled(&t->bodies[i].at, &t->bodies[i].speed, DT);
	make_tree(t);
	pull_all(t, CELL);
	for (i = 0; i < t->n; i++)
		add_scaled(&t->bodies[i].speed, &t->bodies[i].pull, DT);
}

static struct vector random_direction(struct rng *rng)
{
	struct vector v;
	double d2;

	do {
		v.x = 2 * rng_unit(rng) - 1;
		v.y = 2 * rng_unit(rng) - 1;
		v.z = 2 * rng_unit(rng) - 1;
		d2 = squared(&v);
	} while (d2 > 1 || d2 < 0.01);
	return (struct vector){ v.x / sqrt(d2), v.y / sqrt(d2), v.z / sqrt(d2) };
}

/* Plummer: the mass within r is (1 + 1 / r^2)^(-3/2); nothing beyond r = 8. */
static void fill(struct tree *t, uint64_t seed)
{
	struct rng rng = { seed };

	for (uint32_t i = 0; i < t->n; i++) {
		double r = 1 / sqrt(pow(0.977 * rng_unit(&rng), -2.0 / 3) - 1);
		struct vector place = random_direction(&rng), speed = random_direction(&rng);

		t->bodies[i] = (struct body){ .mass = 1.0 / t->n };
		add_scaled(&t->bodies[i].at, &place, r);
		add_scaled(&t->bodies[i].speed, &speed, 0.5);
	}
}

/* How far the pull on @body is off, as a part of what it is. */
static double pull_error(const struct tree *t, const struct body *body)
{
	struct vector sum = { }, way;

	for (uint32_t i = 0; i < t->n; i++) {
		way = minus(&t->bodies[i].at, &body->at);
		attract(&sum, &way, t->bodies[i].mass);
	}
	way = minus(&sum, &body->pull);
	return sqrt(squared(&way) / squared(&sum));
}

static bool pulls_right(const struct tree *t)
{
	for (uint32_t i = 0; i < SAMPLES; i++)
		if (!(pull_error(t, &t->bodies[(uint64_t)i * t->n / SAMPLES]) < 0.05))
			return false;
	return true;
}

static void nbody_main(struct run *run)
{
	double each = sizeof(struct body) + CELLS_PER_BODY * sizeof(struct cell);
	struct tree t = { .n = run->bytes / each };

	t.cells_max = t.n * CELLS_PER_BODY;
	t.bodies = map_array(run, "bodies", t.n * sizeof(*t.bodies));
	t.cells = map_array(run, "cells", t.cells_max * sizeof(*t.cells));
	fill(&t, run->seed);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++)
		step(&t);
	main_end(run);

	if (breaks(run, 1))
		spoil(&t.bodies[t.n / 2].pull.y);
	verify(run, 1, pulls_right(&t));
	if (breaks(run, 2))
		spoil(&t.cells[0].mass);
	verify(run, 2, fabs(t.cells[0].mass - 1) < 1e-9);
}

const struct program nbody_program = {
	.name = "nbody",
	.what = "Barnes-Hut N-body: an octree made and walked anew in each step",
	.rounds = 2,
	.checks = 2,
	.main = nbody_main,
};
