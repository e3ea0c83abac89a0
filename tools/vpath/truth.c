// SPDX-License-Identifier: GPL-2.0
/*
 * See truth.h. An event is a number in LEB128, and its low two bits are the type.
 * Of a page the rest is the distance from the page before, in zigzag: a program
 * that walks through memory takes a byte for a page before compression. A context
 * comes before its first page and wherever it changes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "truth.h"

#define MAGIC		"PATHTRU1"
#define MAGIC_LEN	8
#define VARINT_MAX	10
#define PAGE_END	(1ULL << 52)

struct truth_writer {
	FILE *file;
	ZSTD_CCtx *zstd;
	uint32_t context;
	uint64_t page;
	int error;
	size_t used;
	uint8_t plain[1 << 16];
	uint8_t packed[1 << 16];
};

struct truth_reader {
	FILE *file;
	ZSTD_DCtx *zstd;
	uint32_t context;
	uint64_t page;
	ZSTD_inBuffer in;
	size_t at, filled;
	bool ended;		/* nothing is missing up to here */
	uint8_t packed[1 << 16];
	uint8_t plain[1 << 16];
};

/* Writing */

/**
 * truth_create() - begin a file
 * @file: its name
 *
 * Return: NULL with errno.
 */
struct truth_writer *truth_create(const char *file)
{
	struct truth_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->page = 0;
	w->zstd = ZSTD_createCCtx();
	w->file = fopen(file, "wb");
	if (w->zstd && w->file && fwrite(MAGIC, MAGIC_LEN, 1, w->file) == 1) {
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, 1);
		return w;
	}
	if (w->file)
		fclose(w->file);
	ZSTD_freeCCtx(w->zstd);
	free(w);
	return NULL;
}

static void flush(struct truth_writer *w, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { w->plain, w->used, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { w->packed, sizeof(w->packed), 0 };

		errno = EIO;
		left = ZSTD_compressStream2(w->zstd, &out, &in, how);
		if (ZSTD_isError(left) || fwrite(w->packed, 1, out.pos, w->file) != out.pos) {
			w->error = errno;
			break;
		}
	} while (in.pos < in.size || (how == ZSTD_e_end && left));
	w->used = 0;
}

static void put(struct truth_writer *w, uint64_t value, enum truth_type type)
{
	uint64_t v = value << 2 | type;

	if (w->used + VARINT_MAX > sizeof(w->plain))
		flush(w, ZSTD_e_continue);
	for (; v >= 0x80; v >>= 7)
		w->plain[w->used++] = v | 0x80;
	w->plain[w->used++] = v;
}

static void put_context(struct truth_writer *w, uint32_t context)
{
	if (context == w->context)
		return;
	w->context = context;
	put(w, context, TRUTH_CONTEXT);
}

/**
 * truth_page() - a page was touched
 * @w: the file
 * @context: whose page
 * @page: its number, below 2^52
 * @written: not only read
 */
void truth_page(struct truth_writer *w, uint32_t context, uint64_t page, bool written)
{
	int64_t step = page - w->page;

	put_context(w, context);
	put(w, (uint64_t)step << 1 ^ (uint64_t)(step >> 63), written ? TRUTH_WRITE : TRUTH_READ);
	w->page = page;
}

void truth_mark(struct truth_writer *w, uint32_t context, unsigned int mark)
{
	put_context(w, context);
	put(w, mark, TRUTH_MARK);
}

/**
 * truth_finish() - end a file
 * @w: the file; gone then
 *
 * Return: 0 or -errno, also of what was written before.
 */
int truth_finish(struct truth_writer *w)
{
	int error;

	flush(w, ZSTD_e_end);
	error = w->error;
	if (fclose(w->file) && !error)
		error = errno;
	ZSTD_freeCCtx(w->zstd);
	free(w);
	return -error;
}

/* Reading */

/**
 * truth_open() - read a file
 * @file: its name
 *
 * Return: NULL with errno, EINVAL when it is no such file.
 */
struct truth_reader *truth_open(const char *file)
{
	struct truth_reader *r = calloc(1, sizeof(*r));
	char magic[MAGIC_LEN];

	if (!r)
		return NULL;
	r->ended = true;
	r->zstd = ZSTD_createDCtx();
	r->file = fopen(file, "rb");
	if (r->zstd && r->file && fread(magic, MAGIC_LEN, 1, r->file) == 1 &&
	    !memcmp(magic, MAGIC, MAGIC_LEN))
		return r;
	if (r->file)
		errno = EINVAL;
	truth_close(r);
	return NULL;
}

/* 1 when there is more, 0 at the end, -EINVAL. */
static int fill(struct truth_reader *r)
{
	ZSTD_outBuffer out = { r->plain, sizeof(r->plain), 0 };
	size_t ret;

	while (!out.pos) {
		if (r->in.pos == r->in.size) {
			r->in = (ZSTD_inBuffer){ r->packed, 0, 0 };
			r->in.size = fread(r->packed, 1, sizeof(r->packed), r->file);
			if (!r->in.size)
				return r->ended ? 0 : -EINVAL;
		}
		ret = ZSTD_decompressStream(r->zstd, &out, &r->in);
		if (ZSTD_isError(ret))
			return -EINVAL;
		r->ended = !ret;
	}
	r->at = 0;
	r->filled = out.pos;
	return 1;
}

static int get(struct truth_reader *r, uint64_t *value)
{
	unsigned int shift;
	uint8_t byte;
	int ret;

	for (*value = 0, shift = 0; shift < 64; shift += 7) {
		if (r->at == r->filled) {
			ret = fill(r);
			if (ret <= 0)
				return shift ? -EINVAL : ret;
		}
		byte = r->plain[r->at++];
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 1;
	}
	return -EINVAL;
}

/**
 * truth_next() - the next event
 * @r: the file
 * @ev: where it goes
 *
 * Return: 1, 0 at the end, -EINVAL where the file is damaged or was cut off.
 */
int truth_next(struct truth_reader *r, struct truth_event *ev)
{
	uint64_t v;
	int ret;

	while ((ret = get(r, &v)) > 0 && (v & 3) == TRUTH_CONTEXT) {
		if (v >> 2 > UINT32_MAX)
			return -EINVAL;
		r->context = v >> 2;
	}
	if (ret <= 0)
		return ret;
	*ev = (struct truth_event){ v & 3, r->context, v >> 2 };
	if (ev->type != TRUTH_MARK) {
		r->page += ev->value >> 1 ^ -(ev->value & 1);
		if (r->page >= PAGE_END)
			return -EINVAL;
		ev->value = r->page;
	}
	return 1;
}

void truth_close(struct truth_reader *r)
{
	if (r->file)
		fclose(r->file);
	ZSTD_freeDCtx(r->zstd);
	free(r);
}
