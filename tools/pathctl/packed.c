// SPDX-License-Identifier: GPL-2.0
/*
 * Files that zstd may have compressed, read as if it had not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "pathctl.h"

#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"
#define BUF_BYTES (1 << 16)

struct packed {
	const char *path;
	FILE *file;
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;	/* what was read and is compressed yet */
	bool in_frame;		/* something has to follow */
	char buf[BUF_BYTES];
};

static size_t get_plain(FILE *file, const char *path, void *to, size_t count)
{
	size_t got = fread(to, 1, count, file);

	if (got < count && ferror(file))
		die(EX_IOERR, "%s: %s", path, strerror(errno));
	return got;
}

static void __noreturn die_unpacking(const char *path, size_t ret)
{
	if (ZSTD_getErrorCode(ret) == ZSTD_error_memory_allocation)
		die(EX_OSERR, "%s: no memory for its window: compress it without zstd --long",
		    path);
	die(EX_DATAERR, "%s: damaged: %s", path, ZSTD_getErrorName(ret));
}

/* False at the end of the file. */
static bool fill(struct packed *packed)
{
	packed->in.size = get_plain(packed->file, packed->path, packed->buf, BUF_BYTES);
	packed->in.pos = 0;
	if (!packed->in.size && packed->in_frame)
		die(EX_DATAERR, "%s: cut off: what zstd has compressed has no end", packed->path);
	return packed->in.size;
}

static ssize_t packed_read(void *cookie, char *to, size_t count)
{
	struct packed *packed = cookie;
	ZSTD_outBuffer out = { to, count, 0 };
	size_t ret;

	do {
		/* after its last byte a frame may have a checksum */
		if (packed->in.pos == packed->in.size && !fill(packed))
			break;
		ret = ZSTD_decompressStream(packed->zstd, &out, &packed->in);
		if (ZSTD_isError(ret))
			die_unpacking(packed->path, ret);
		packed->in_frame = ret;
	} while (!out.pos);
	return out.pos;
}

/* To its start, and nowhere else. */
static int packed_seek(void *cookie, off64_t *offset, int whence)
{
	struct packed *packed = cookie;

	if (whence != SEEK_SET || *offset) {
		errno = EINVAL;
		return -1;
	}
	rewind(packed->file);
	ZSTD_DCtx_reset(packed->zstd, ZSTD_reset_session_only);
	packed->in = (ZSTD_inBuffer){ packed->buf, 0, 0 };
	packed->in_frame = false;
	return 0;
}

static int packed_close(void *cookie)
{
	struct packed *packed = cookie;

	fclose(packed->file);
	ZSTD_freeDCtx(packed->zstd);
	free(packed);
	return 0;
}

/**
 * open_packed - what is in a file
 * @file: a plain one, at its start; closed with what is returned
 * @path: for messages, as long as that is open
 *
 * What cannot be read ends in die().
 * Return: the file itself, or where it is compressed a stream of what it was, which can
 * only be read, and rewound.
 */
FILE *open_packed(FILE *file, const char *path)
{
	static const cookie_io_functions_t functions = {
		.read = packed_read, .seek = packed_seek, .close = packed_close,
	};
	struct packed *packed;
	char start[4];
	FILE *stream;
	size_t got = get_plain(file, path, start, sizeof(start));

	rewind(file);
	if (got != sizeof(start) || memcmp(start, ZSTD_MAGIC, sizeof(start)))
		return file;
	packed = xalloc(sizeof(*packed));
	packed->path = path;
	packed->file = file;
	packed->in.src = packed->buf;
	packed->zstd = ZSTD_createDCtx();
	stream = fopencookie(packed, "r", functions);
	if (!packed->zstd || !stream)
		die(EX_OSERR, "out of memory");
	/* zstd --long=31 needs that */
	ZSTD_DCtx_setParameter(packed->zstd, ZSTD_d_windowLogMax,
			       ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
	return stream;
}
