// SPDX-License-Identifier: GPL-2.0
/*
 * fft - a complex transform of m * m points in six steps (Bailey 1990), the method
 * of the FFT in SPLASH-2.
 *
 * The points are a matrix of m rows: transpose it, transform each row, multiply
 * with the roots of unity ("twiddles"), transpose, transform each row, transpose.
 * m is a product of 2, 3, 5 and 7, so that some m fits any footprint; a row is
 * transformed by Stockham's passes, one for each factor, which need no reordering.
 *
 * Pages: three arrays of m * m points. Row transforms walk points and twiddles in
 * order and keep one row hot. Transposing walks one array in order and the other
 * down its columns, eight rows to a tile: a stride of m * 16 bytes, which is what
 * the program is known for.
 *
 * A round is a transform and its inverse. Checked: 1. the points are the first ones
 * again; 2. transformed once more, some points against the sum that defines them.
 */
#include <math.h>
#include <string.h>

#include "programs.h"

#define TILE	8
#define SAMPLES	4

struct complex {
	double re, im;
};

struct fft {
	struct complex *points, *other;		/* m * m; the result moves from one to the other */
	struct complex *twiddles;		/* m * m */
	struct complex *roots, *scratch;	/* m */
	size_t m;
	uint64_t seed;
};

static struct complex mul(struct complex a, struct complex b)
{
	return (struct complex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static struct complex add(struct complex a, struct complex b)
{
	return (struct complex){ a.re + b.re, a.im + b.im };
}

/* The @i-th power of the first @n-th root of unity. */
static struct complex root(uint64_t i, uint64_t n)
{
	double angle = -2 * M_PI * (i % n) / n;

	return (struct complex){ cos(angle), sin(angle) };
}

static size_t smallest_factor(size_t n)
{
	size_t factor = 2;

	while (n % factor)
		factor++;
	return factor;
}

/* Element @k of the transform of @radix elements of @in, @apart from each other. */
static struct complex transform_few(const struct fft *f, const struct complex *in, size_t apart,
				    size_t radix, size_t k)
{
	struct complex sum = in[0];

	for (size_t j = 1; j < radix; j++)
		sum = add(sum, mul(in[j * apart], f->roots[j * k % radix * (f->m / radix)]));
	return sum;
}

/* Stockham: @stride interleaved transforms of @points become @radix times as many. */
static void pass(const struct fft *f, const struct complex *in, struct complex *out,
		 size_t points, size_t radix, size_t stride)
{
	size_t rest = points / radix, p, k, q;

	for (p = 0; p < rest; p++)
		for (k = 0; k < radix; k++)
			for (q = 0; q < stride; q++)
				*out++ = mul(transform_few(f, in + stride * p + q, stride * rest,
							   radix, k),
					     f->roots[p * k * stride]);
}

static void transform_row(const struct fft *f, struct complex *row)
{
	struct complex *in = row, *out = f->scratch, *swap;
	size_t points, radix, stride = 1;

	for (points = f->m; points > 1; points /= radix, stride *= radix) {
		radix = smallest_factor(points);
		pass(f, in, out, points, radix, stride);
		swap = in;
		in = out;
		out = swap;
	}
	if (in != row)
		memcpy(row, in, f->m * sizeof(*row));
}

/* And multiply, the imaginary part with @sign as well. */
static void transpose(struct fft *f, double scale, double sign)
{
	struct complex *from = f->points, *to = f->other;
	size_t m = f->m, bi, bj, i, j;

	for (bi = 0; bi < m; bi += TILE)
		for (bj = 0; bj < m; bj += TILE)
			for (i = bi; i < m && i < bi + TILE; i++)
				for (j = bj; j < m && j < bj + TILE; j++) {
					to[i * m + j].re = from[j * m + i].re * scale;
					to[i * m + j].im = from[j * m + i].im * scale * sign;
				}
	f->points = to;
	f->other = from;
}

static void twiddle_row(const struct fft *f, size_t row)
{
	size_t m = f->m, i;

	for (i = row * m; i < (row + 1) * m; i++)
		f->points[i] = mul(f->points[i], f->twiddles[i]);
}

/* The inverse of a transform is the conjugate of that of the conjugate, divided by n. */
static void transform(struct fft *f, bool inverse)
{
	double sign = inverse ? -1 : 1, scale = inverse ? 1.0 / (f->m * f->m) : 1;
	size_t row;

	transpose(f, 1, sign);
	for (row = 0; row < f->m; row++) {
		transform_row(f, f->points + row * f->m);
		twiddle_row(f, row);
	}
	transpose(f, 1, 1);
	for (row = 0; row < f->m; row++)
		transform_row(f, f->points + row * f->m);
	transpose(f, scale, sign);
}

static struct complex input(const struct fft *f, size_t i)
{
	return (struct complex){ unit(mix64(f->seed << 32 ^ 2 * i)),
				 unit(mix64(f->seed << 32 ^ (2 * i + 1))) };
}

static bool near(struct complex a, struct complex b, double limit)
{
	return fabs(a.re - b.re) < limit && fabs(a.im - b.im) < limit;
}

static bool is_input(const struct fft *f)
{
	for (size_t i = 0; i < f->m * f->m; i++)
		if (!near(f->points[i], input(f, i), 1e-9))
			return false;
	return true;
}

/* Point @k of the transform, from its definition. */
static struct complex defined(const struct fft *f, size_t k)
{
	uint64_t n = f->m * f->m, i;
	struct complex sum = { };

	for (i = 0; i < n; i++)
		sum = add(sum, mul(input(f, i), root(i * k, n)));
	return sum;
}

static size_t sample(const struct fft *f, size_t i)
{
	return i * (f->m * f->m / SAMPLES + 1);
}

static bool is_transform(const struct fft *f)
{
	for (size_t i = 0; i < SAMPLES; i++)
		if (!near(f->points[sample(f, i)], defined(f, sample(f, i)), 1e-12 * f->m * f->m))
			return false;
	return true;
}

static bool is_smooth(size_t m)
{
	static const size_t factors[] = { 2, 3, 5, 7 };

	for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++)
		while (m % factors[i] == 0)
			m /= factors[i];
	return m == 1;
}

static size_t nearest_smooth(size_t m)
{
	size_t off = 0;

	while (!is_smooth(m - off) && !is_smooth(m + off))
		off++;
	return is_smooth(m - off) ? m - off : m + off;
}

static void set_up(struct fft *f, struct run *run)
{
	size_t m = nearest_smooth(sqrt(run->bytes / (3.0 * sizeof(*f->points)))), n = m * m, i;

	f->m = m;
	f->seed = run->seed;
	f->points = map_array(run, "points", n * sizeof(*f->points));
	f->other = map_array(run, "transposed", n * sizeof(*f->other));
	f->twiddles = map_array(run, "twiddles", n * sizeof(*f->twiddles));
	f->roots = map_array(run, "roots", m * sizeof(*f->roots));
	f->scratch = map_array(run, "scratch", m * sizeof(*f->scratch));
	for (i = 0; i < n; i++) {
		f->points[i] = input(f, i);
		f->twiddles[i] = root((i / m) * (i % m), n);
	}
	for (i = 0; i < m; i++)
		f->roots[i] = root(i, m);
}

static void fft_main(struct run *run)
{
	struct fft f;
	uint64_t round;

	set_up(&f, run);
	main_begin(run);
	for (round = 0; round < run->rounds; round++) {
		transform(&f, false);
		transform(&f, true);
	}
	main_end(run);

	if (breaks(run, 1))
		spoil(&f.points[f.m].im);
	verify(run, 1, is_input(&f));
	transform(&f, false);
	if (breaks(run, 2))
		spoil(&f.points[sample(&f, 2)].re);
	verify(run, 2, is_transform(&f));
}

const struct program fft_program = {
	.name = "fft",
	.what = "six-step FFT: rows in order, transpositions in strides",
	.rounds = 4,
	.checks = 2,
	.main = fft_main,
};
