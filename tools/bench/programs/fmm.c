// SPDX-License-Identifier: GPL-2.0
/*
 * fmm - the fields of charges in a plane by the fast multipole method (Greengard and Rokhlin,
 * 1987), of the kind of FMM in SPLASH-2, with a grid of boxes at each level in place of an
 * adaptive tree.
 *
 * The field at z is the sum of charge / (z - place). A box has its charges as a series in
 * 1 / (z - centre), from those of its four parts, and the field of all boxes that are not near
 * as one in z - centre: of the box it is part of, and of the up to 27 at its level that are near
 * that box and not near it. What is near is summed.
 *
 * Pages: charges of 64 bytes, sorted by box at each step; boxes of 256 bytes, rows of a level one
 * after the other. Sorting moves charges to neighbouring boxes. Up and down the levels, boxes are
 * walked in order, beside three to seven rows of others; so are charges, beside those of two rows.
 *
 * Charges move at random and stay within the square. A round is a step in time. Checked: 1. the
 * fields of some charges against the sum over all; 2. the sum of all charges in the largest box.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "programs.h"

#define TERMS		8
#define LEVELS		10
#define IN_BOX		16	/* charges of a smallest box, at least; at most four times that */
#define SAMPLES		16

struct charge {
	double complex at, speed, field;
	double charge;
	uint64_t unused;
};

struct box {
	double complex out[TERMS], in[TERMS];
};

_Static_assert(sizeof(struct charge) == 64 && sizeof(struct box) == 256, "as described");

struct plane {
	struct charge *charges, *sorted;
	uint32_t *begin;		/* of the charges of each smallest box, and the end */
	uint64_t n;
	struct box *boxes[LEVELS];
	unsigned int levels;
	double choose[2 * TERMS][2 * TERMS];
};

static long side(unsigned int level)
{
	return 1L << level;
}

static struct box *box_at(const struct plane *p, unsigned int level, long x, long y)
{
	return &p->boxes[level][y * side(level) + x];
}

static double complex centre(unsigned int level, long x, long y)
{
	return ((x + 0.5) + (y + 0.5) * I) / side(level);
}

static uint32_t box_of(const struct plane *p, const struct charge *charge)
{
	long n = side(p->levels - 1);

	return (long)(cimag(charge->at) * n) * n + (long)(creal(charge->at) * n);
}

static void sort_charges(struct plane *p)
{
	uint64_t boxes = 1ULL << 2 * (p->levels - 1), i;
	struct charge *charges = p->charges;

	for (i = 0; i <= boxes; i++)
		p->begin[i] = 0;
	for (i = 0; i < p->n; i++)
		p->begin[box_of(p, &charges[i]) + 1]++;
	for (i = 0; i < boxes; i++)
		p->begin[i + 1] += p->begin[i];
	for (i = 0; i < p->n; i++)
		p->sorted[p->begin[box_of(p, &charges[i])]++] = charges[i];
	for (i = boxes; i; i--)
		p->begin[i] = p->begin[i - 1];
	p->begin[0] = 0;
	p->charges = p->sorted;
	p->sorted = charges;
}

static void gather_charges(const struct plane *p, long x, long y)
{
	struct box *box = box_at(p, p->levels - 1, x, y);
	uint64_t nr = y * side(p->levels - 1) + x, i;
	unsigned int k;

	*box = (struct box){ };
	for (i = p->begin[nr]; i < p->begin[nr + 1]; i++) {
		double complex way = p->charges[i].at - centre(p->levels - 1, x, y);
		double complex term = p->charges[i].charge;

		for (k = 0; k < TERMS; k++, term *= way)
			box->out[k] += term;
	}
}

static void gather_parts(const struct plane *p, unsigned int level, long x, long y)
{
	struct box *box = box_at(p, level, x, y);
	unsigned int part, k, i;

	*box = (struct box){ };
	for (part = 0; part < 4; part++) {
		long px = 2 * x + part % 2, py = 2 * y + part / 2;
		const struct box *from = box_at(p, level + 1, px, py);
		double complex way = centre(level + 1, px, py) - centre(level, x, y);

		for (k = 0; k < TERMS; k++) {
			double complex power = 1;

			for (i = k + 1; i-- > 0; power *= way)
				box->out[k] += p->choose[k][i] * from->out[i] * power;
		}
	}
}

static void add_far(const struct plane *p, struct box *box, const struct box *from,
		    double complex way)
{
	double complex power[2 * TERMS];
	unsigned int k, l;

	power[0] = 1 / way;
	for (k = 1; k < 2 * TERMS; k++)
		power[k] = power[k - 1] / way;
	for (l = 0; l < TERMS; l++)
		for (k = 0; k < TERMS; k++)
			box->in[l] += (l % 2 ? -1 : 1) * p->choose[k + l][l] * from->out[k] *
				      power[k + l];
}

static long most(long a, long b)
{
	return a > b ? a : b;
}

static long least(long a, long b)
{
	return a < b ? a : b;
}

/* Boxes near the one that this is part of, and not near this. */
static void add_far_boxes(const struct plane *p, unsigned int level, long x, long y)
{
	long n = side(level), i, j;

	for (j = most(y / 2 * 2 - 2, 0); j < least(y / 2 * 2 + 4, n); j++)
		for (i = most(x / 2 * 2 - 2, 0); i < least(x / 2 * 2 + 4, n); i++)
			if (labs(i - x) > 1 || labs(j - y) > 1)
				add_far(p, box_at(p, level, x, y), box_at(p, level, i, j),
					centre(level, x, y) - centre(level, i, j));
}

static void take_from_whole(const struct plane *p, unsigned int level, long x, long y)
{
	const struct box *from = box_at(p, level - 1, x / 2, y / 2);
	double complex way = centre(level, x, y) - centre(level - 1, x / 2, y / 2);
	struct box *box = box_at(p, level, x, y);
	unsigned int l, i;

	for (l = 0; l < TERMS; l++) {
		double complex power = 1;

		for (i = l; i < TERMS; i++, power *= way)
			box->in[l] += p->choose[i][l] * from->in[i] * power;
	}
}

static double complex near_field(const struct plane *p, const struct charge *charge, long x, long y)
{
	uint64_t nr = y * side(p->levels - 1) + x;
	const struct charge *other;
	double complex sum = 0;

	for (other = p->charges + p->begin[nr]; other < p->charges + p->begin[nr + 1]; other++)
		if (other != charge)
			sum += other->charge / (charge->at - other->at);
	return sum;
}

static void set_fields(const struct plane *p, long x, long y)
{
	uint64_t nr = y * side(p->levels - 1) + x, at;
	const struct box *box = box_at(p, p->levels - 1, x, y);
	long n = side(p->levels - 1), i, j;

	for (at = p->begin[nr]; at < p->begin[nr + 1]; at++) {
		struct charge *charge = &p->charges[at];
		double complex way = charge->at - centre(p->levels - 1, x, y), power = 1;

		charge->field = 0;
		for (i = 0; i < TERMS; i++, power *= way)
			charge->field += box->in[i] * power;
		for (j = most(y - 1, 0); j < least(y + 2, n); j++)
			for (i = most(x - 1, 0); i < least(x + 2, n); i++)
				charge->field += near_field(p, charge, i, j);
	}
}

#define for_each_box(level, x, y) \
	for (x = y = 0; y < side(level); x = (x + 1) & (side(level) - 1), y += !x)

static void compute_fields(const struct plane *p)
{
	unsigned int smallest = p->levels - 1, level;
	long x, y;

	for_each_box(smallest, x, y)
		gather_charges(p, x, y);
	for (level = smallest; level-- > 0;)
		for_each_box(level, x, y)
			gather_parts(p, level, x, y);
	for (level = 2; level <= smallest; level++)
		for_each_box(level, x, y) {
			take_from_whole(p, level, x, y);
			add_far_boxes(p, level, x, y);
		}
	for_each_box(smallest, x, y)
		set_fields(p, x, y);
}

/* At the edge it turns round. */
static double moved(double at, double *speed)
{
	if (at + *speed < 0 || at + *speed >= 1)
		*speed = -*speed;
	return at + *speed;
}

static void move_charges(struct plane *p)
{
	struct charge *charge;

	for (charge = p->charges; charge < p->charges + p->n; charge++) {
		double x = creal(charge->speed), y = cimag(charge->speed);
		double at_x = moved(creal(charge->at), &x), at_y = moved(cimag(charge->at), &y);

		charge->at = at_x + at_y * I;
		charge->speed = x + y * I;
	}
}

static void step(struct plane *p)
{
	move_charges(p);
	sort_charges(p);
	compute_fields(p);
}

static void set_choose(struct plane *p)
{
	for (int n = 0; n < 2 * TERMS; n++) {
		p->choose[n][0] = 1;
		for (int k = 1; k <= n; k++)
			p->choose[n][k] = p->choose[n - 1][k - 1] +
					  (k < n ? p->choose[n - 1][k] : 0);
	}
}

/* Twice the charges, and the boxes with four thirds of the smallest ones. */
static uint64_t bytes_of(const struct plane *p, uint64_t n)
{
	return 2 * n * sizeof(struct charge) +
	       (1ULL << 2 * (p->levels - 1)) * (sizeof(struct box) * 4 / 3 + sizeof(*p->begin));
}

static void set_up(struct plane *p, struct run *run)
{
	struct rng rng = { run->seed };
	uint64_t boxes;

	for (p->levels = 3; p->levels < LEVELS; p->levels++)
		if (bytes_of(p, IN_BOX * 4ULL << 2 * (p->levels - 1)) > run->bytes)
			break;
	p->n = (run->bytes - bytes_of(p, 0)) / (2 * sizeof(*p->charges));
	p->charges = map_array(run, "charges", p->n * sizeof(*p->charges));
	p->sorted = map_array(run, "sorted", p->n * sizeof(*p->charges));
	for (unsigned int level = 0; level < p->levels; level++) {
		boxes = 1ULL << 2 * level;
		p->boxes[level] = map_array(run, "boxes", boxes * sizeof(struct box));
	}
	p->begin = map_array(run, "begin", (boxes + 1) * sizeof(*p->begin));
	set_choose(p);
	for (uint64_t i = 0; i < p->n; i++)
		p->charges[i] = (struct charge){
			.at = rng_unit(&rng) + rng_unit(&rng) * I,
			.speed = ((rng_unit(&rng) - 0.5) + (rng_unit(&rng) - 0.5) * I) /
				 side(p->levels - 1),
			.charge = rng_unit(&rng),
		};
	sort_charges(p);
	compute_fields(p);
}

/* How far a field is off, as a part of what it is. */
static double field_error(const struct plane *p, const struct charge *charge)
{
	double complex sum = 0;

	for (const struct charge *other = p->charges; other < p->charges + p->n; other++)
		if (other != charge)
			sum += other->charge / (charge->at - other->at);
	return cabs(sum - charge->field) / cabs(sum);
}

static bool fields_right(const struct plane *p)
{
	for (uint64_t i = 0; i < SAMPLES; i++)
		if (!(field_error(p, &p->charges[i * p->n / SAMPLES]) < 0.01))
			return false;
	return true;
}

static double error_of_sum(const struct plane *p)
{
	double sum = 0;

	for (uint64_t i = 0; i < p->n; i++)
		sum += p->charges[i].charge;
	return fabs(creal(p->boxes[0]->out[0]) - sum) / sum;
}

static void fmm_main(struct run *run)
{
	struct plane p = { };

	set_up(&p, run);
	main_begin(run);
	for (uint64_t round = 0; round < run->rounds; round++)
		step(&p);
	main_end(run);

	if (breaks(run, 1))
		p.charges[p.n / SAMPLES].field *= 2;
	verify(run, 1, fields_right(&p));
	if (breaks(run, 2))
		p.boxes[0]->out[0] *= 2;
	verify(run, 2, error_of_sum(&p) < 1e-9);
}

const struct program fmm_program = {
	.name = "fmm",
	.what = "fast multipole method on a grid of boxes at each of its levels",
	.rounds = 2,
	.checks = 2,
	.main = fmm_main,
};
