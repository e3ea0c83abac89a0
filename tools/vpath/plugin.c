// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual page access tracking hardware as a QEMU plugin; the device is
 * specified in Documentation/mm/path/vpath-device.rst.
 *
 * QEMU calls us for every access to memory. A unit belongs to one virtual CPU and
 * is only ever used by the thread that runs it, so the way of an access takes no
 * lock; commands are executed by the CPU they concern. What the guest may write
 * (all of the BAR) is read once, checked, and never used to find our way: heads,
 * sizes and addresses are kept here.
 *
 * An access to the page the CPU touched last ends in the first lines of
 * on_access(): nearly all do. What comes seldom is kept out of line.
 *
 * Arguments: shm=FD (the BAR), cpus=N, log=ENTRIES, vec=FD (an eventfd for each
 * unit), truth=FILE, fuzz=SEED (lie to the driver, for its tests); tlb=, tlb_ways=,
 * pab=, pab_ways=, filter=, relog= (what the registers hold after a reset).
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/mmpath_sample.h>
#include <linux/mmpath_vpath.h>

#include "qemu-plugin-api.h"
#include "stages.h"
#include "truth.h"

#define EXPORT		__attribute__((visibility("default")))
#define noinline	__attribute__((noinline))
#define __aligned(n)	__attribute__((aligned(n)))
#define KERNEL_HALF	(1ULL << 63)
#define MAX_TLB		4096U
#define MAX_PAB		32768U
#define MAX_FILTER	1024U

/* What the specification says, and what the driver was built with */
_Static_assert(offsetof(struct vpath_device, log_offset) == 16, "vpath_device");
_Static_assert(sizeof(struct vpath_device) == 48, "vpath_device");
_Static_assert(sizeof(struct vpath_record) == 16, "vpath_record");
_Static_assert(offsetof(struct vpath_unit, lookup_page) == 56, "lookup_page");
_Static_assert(offsetof(struct vpath_unit, tail) == 64, "tail");
_Static_assert(offsetof(struct vpath_unit, status) == 128, "status");
_Static_assert(offsetof(struct vpath_unit, head) == 136, "head");
_Static_assert(offsetof(struct vpath_unit, counters) == 144, "counters");
_Static_assert(sizeof(struct vpath_unit) == 232, "vpath_unit");

EXPORT int qemu_plugin_version = QEMU_API;

/**
 * struct unit - of one virtual CPU
 * @page: that was touched last
 * @written: it was written since
 * @context: in whose name, 0 when nothing is to be looked at
 * @reg: its registers
 * @log: its log
 * @head: the next record's place
 * @rung_at: @head when it rang last
 * @control: and what follows: as taken over from the registers
 * @phase: accesses since the duty cycle began
 * @resumed: the next record comes after a pause
 * @st: TLB, PAB and filter
 */
struct unit {
	uint64_t page;
	bool written;
	uint32_t context;
	struct vpath_unit *reg;
	struct vpath_record *log;
	uint32_t head;
	uint32_t rung_at;
	uint32_t control, sample_shift, duty_on, duty_period, only_context, threshold;
	uint32_t phase;
	bool resumed;
	struct vpath_stages st;
	int vector;
} __aligned(64);

static struct unit units[VPATH_MAX_UNITS];
static unsigned int nr_units, nr_vectors;
static uint32_t log_entries = 1U << 20;
static struct vpath_device *device;
static _Atomic uint32_t stamp;
static struct truth_writer *truth;
static pthread_mutex_t truth_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t fuzz;

/* What the registers hold after a reset of the machine */
static struct vpath_geometry geometry = {
	.tlb_entries = 128, .tlb_ways = 16, .pab_entries = 2048, .pab_ways = 16,
	.filter_entries = 64,
};

/* Lies: what a broken device might do to its registers and its log. */

static uint64_t random_number(void)
{
	fuzz ^= fuzz << 13;
	fuzz ^= fuzz >> 7;
	fuzz ^= fuzz << 17;
	return fuzz;
}

static void lie(struct unit *u)
{
	struct vpath_record *last = &u->log[(u->head - 1) & (log_entries - 1)];
	uint64_t r = random_number();

	if (r % 16384)
		return;
	r = random_number();
	switch (random_number() % 5) {
	case 0:
		u->reg->head = r;	/* until the next record */
		break;
	case 1:
		last->context = r;
		break;
	case 2:
		last->addr = r;
		break;
	case 3:
		u->log[r % log_entries] = (struct vpath_record){ r, r >> 32, r >> 16 };
		break;
	case 4:
		((uint32_t *)u->reg)[r % (sizeof(*u->reg) / 4)] = r >> 32;
		break;
	}
}

/* The log */

/* Again after as many records, so that a drain that ends above it is called back. */
static void ring(struct unit *u, uint32_t fill)
{
	uint64_t one = 1;

	if (!(u->control & VPATH_INTERRUPT) || fill < u->threshold ||
	    u->head - u->rung_at < u->threshold)
		return;
	if (u->vector >= 0 && write(u->vector, &one, sizeof(one)) < 0)
		return;
	u->rung_at = u->head;
	u->reg->counters.interrupts++;
}

/* Is there room? */
static bool append(struct unit *u, uint64_t addr)
{
	uint32_t fill = u->head - __atomic_load_n(&u->reg->tail, __ATOMIC_ACQUIRE);

	if (fill >= log_entries)
		return false;
	u->log[u->head & (log_entries - 1)] = (struct vpath_record){
		.addr = addr, .context = u->context, .stamp = atomic_fetch_add(&stamp, 1),
	};
	__atomic_store_n(&u->reg->head, ++u->head, __ATOMIC_RELEASE);
	u->reg->counters.logged++;
	ring(u, fill + 1);
	if (fuzz)
		lie(u);
	return true;
}

/* Is the duty cycle in its pause? */
static bool pausing(struct unit *u)
{
	if (!u->duty_period)
		return false;
	if (++u->phase >= u->duty_period) {
		u->phase = 0;
		u->resumed = true;
	}
	return u->phase >= u->duty_on;
}

static noinline void record(struct unit *u, uint64_t page, uint64_t flags, bool paused)
{
	struct vpath_counters *c = &u->reg->counters;

	if (!mmpath_sampled(page, u->sample_shift)) {
		c->unsampled++;
		return;
	}
	if (paused) {
		c->paused++;
		return;
	}
	/* that records are missing is told before one that comes after them, or none comes */
	if (u->resumed)
		u->resumed = !append(u, VPATH_RECORD_RESUMED);
	if (u->resumed || !append(u, page << VPATH_PAGE_SHIFT | flags))
		c->overflowed++;
}

/* The way of an access through the stages */
static inline void look(struct unit *u, uint64_t page, uint64_t flags)
{
	struct vpath_counters *c = &u->reg->counters;
	bool paused = pausing(u);

	c->accesses++;
	switch (vpath_stages_touch(&u->st, u->context, page)) {
	case VPATH_IN_TLB:
		return;
	case VPATH_IN_PAB:
		c->tlb_misses++;
		return;
	case VPATH_IN_FILTER:
		c->tlb_misses++;
		c->pab_misses++;
		return;
	case VPATH_AGAIN:
		c->tlb_misses++;
		c->relogged++;
		flags |= VPATH_RECORD_AGAIN;
		break;
	case VPATH_PASSED:
		c->tlb_misses++;
		c->pab_misses++;
		c->filter_misses++;
		break;
	}
	record(u, page, flags, paused);
}

/* Ground truth: a page is told when the CPU leaves it, for then it is known
 * whether it was written.
 */
static noinline void tell_page(const struct unit *u)
{
	if (!u->context || u->page == VPATH_NO_PAGE)
		return;
	pthread_mutex_lock(&truth_lock);
	truth_page(truth, u->context, u->page, u->written);
	pthread_mutex_unlock(&truth_lock);
}

static inline void leave_page(struct unit *u)
{
	if (truth)
		tell_page(u);
	u->page = VPATH_NO_PAGE;
}

static inline void touch(struct unit *u, uint64_t page, bool store, bool kernel)
{
	leave_page(u);
	u->page = page;
	u->written = store;
	look(u, page, (store ? VPATH_RECORD_WRITE : 0) | (kernel ? VPATH_RECORD_KERNEL : 0));
}

static noinline void access_page(struct unit *u, qemu_plugin_meminfo_t info, uint64_t vaddr,
				 bool kernel)
{
	uint64_t page = vaddr >> VPATH_PAGE_SHIFT, last;
	bool store;

	if (vaddr & KERNEL_HALF || !u->context)
		return;
	store = qemu_plugin_mem_is_store(info);
	if (page == u->page)
		u->written |= store;
	else
		touch(u, page, store, kernel);
	last = (vaddr + (1U << qemu_plugin_mem_size_shift(info)) - 1) >> VPATH_PAGE_SHIFT;
	if (last != page)
		touch(u, last, store, kernel);
}

#define MAX_ACCESS	64	/* bytes; QEMU's are smaller */

/* Without a context, or in the kernel's half, a page is never the last one. */
static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *kernel)
{
	struct unit *u = &units[vcpu];
	const uint64_t offset = vaddr & ((1U << VPATH_PAGE_SHIFT) - 1);

	if (vaddr >> VPATH_PAGE_SHIFT == u->page && (u->written || !truth) &&
	    offset <= (1U << VPATH_PAGE_SHIFT) - MAX_ACCESS)
		return;
	access_page(u, info, vaddr, kernel);
}

/* Commands */

static void set_context(struct unit *u)
{
	uint32_t context = u->reg->context;

	if (!(u->control & VPATH_ENABLE) || (u->only_context && context != u->only_context))
		context = 0;
	if (context == u->context)
		return;
	leave_page(u);
	u->context = context;
	if (!(u->control & VPATH_TAGGED_TLB))
		vpath_sets_flush(&u->st.tlb);
}

static bool same_geometry(const struct vpath_geometry *a, const struct vpath_geometry *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static uint32_t set_geometry(struct unit *u, const struct vpath_geometry *g)
{
	struct vpath_stages st;

	if (!vpath_geometry_good(g, MAX_TLB, MAX_PAB, MAX_FILTER) || vpath_stages_init(&st, g))
		return VPATH_BAD_GEOMETRY;
	vpath_stages_destroy(&u->st);
	u->st = st;
	return VPATH_OK;
}

static uint32_t take_over(struct unit *u)
{
	const struct vpath_unit r = *(volatile struct vpath_unit *)u->reg;
	const struct vpath_geometry g = {
		r.tlb_entries, r.tlb_ways, r.pab_entries, r.pab_ways, r.filter_entries, r.relog,
	};

	if (r.control & ~(VPATH_ENABLE | VPATH_INTERRUPT | VPATH_TAGGED_TLB) ||
	    r.sample_shift > MMPATH_MAX_SHIFT || r.duty_on > r.duty_period)
		return VPATH_BAD_CONTROL;
	if (!same_geometry(&g, &u->st.g) && set_geometry(u, &g))
		return VPATH_BAD_GEOMETRY;
	u->control = r.control;
	u->sample_shift = r.sample_shift;
	u->duty_on = r.duty_on;
	u->duty_period = r.duty_period;
	u->only_context = r.only_context;
	u->threshold = r.threshold;
	u->rung_at = u->head - u->threshold;
	set_context(u);
	return VPATH_OK;
}

static void reset(struct unit *u)
{
	vpath_stages_flush(&u->st);
	memset(&u->reg->counters, 0, sizeof(u->reg->counters));
	u->page = VPATH_NO_PAGE;
	u->phase = 0;
	u->resumed = false;
}

static void mark(struct unit *u, unsigned int nr)
{
	leave_page(u);
	if (!truth)
		return;
	pthread_mutex_lock(&truth_lock);
	truth_mark(truth, u->context, nr - VPATH_MARK);
	pthread_mutex_unlock(&truth_lock);
}

static void obey(struct unit *u, unsigned int vcpu, unsigned int nr)
{
	struct vpath_unit *r = u->reg;

	switch (nr) {
	case VPATH_SYNC:
		r->status = take_over(u);
		break;
	case VPATH_CONTEXT:
		set_context(u);
		break;
	case VPATH_LOOKUP:
		r->lookup_result = vpath_sets_holds(&u->st.pab, r->lookup_context, r->lookup_page);
		break;
	case VPATH_IDENTIFY:
		device->unit = vcpu;
		break;
	case VPATH_RESET:
		reset(u);
		break;
	default:
		r->counters.ignored++;
		break;
	}
}

#define FROM_USER	256	/* in the data of a command */

static void on_command(unsigned int vcpu, void *data)
{
	unsigned int nr = (uintptr_t)data;
	struct unit *u = &units[vcpu];

	if ((nr & ~FROM_USER) >= VPATH_MARK)
		mark(u, nr & ~FROM_USER);
	else if (nr & FROM_USER)
		u->reg->counters.ignored++;
	else
		obey(u, vcpu, nr);
}

/* Translation */

/* The number of a command, or -1: nopl disp32(%rax) is 0f 1f 80 and disp32. */
static int command_of(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[7];
	uint32_t disp;

	if (qemu_plugin_insn_size(insn) != sizeof(bytes))
		return -1;
	read_insn(insn, bytes, sizeof(bytes));
	memcpy(&disp, bytes + 3, sizeof(disp));
	if (memcmp(bytes, "\x0f\x1f\x80", 3) || disp - VPATH_COMMAND(0) >= VPATH_COMMANDS)
		return -1;
	return disp - VPATH_COMMAND(0);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	bool kernel = qemu_plugin_tb_vaddr(tb) & KERNEL_HALF;
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *insn;
	uintptr_t data;
	int nr;

	(void)id;
	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		nr = command_of(insn);
		if (nr >= 0) {
			data = nr | (kernel ? 0 : FROM_USER);
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_command,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)data);
		} else {
			data = kernel;
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW, (void *)data);
		}
	}
}

/* Start and end */

static int complain(const char *what, int error)
{
	fprintf(stderr, "vpath: %s%s%s\n", what, error ? ": " : "", error ? strerror(error) : "");
	return -1;
}

static void *map_bar(int fd)
{
	size_t want = VPATH_UNIT_OFFSET + (size_t)nr_units * VPATH_UNIT_STRIDE +
		      (size_t)nr_units * log_entries * sizeof(struct vpath_record);
	struct stat st;
	void *bar;

	if (fstat(fd, &st) || (size_t)st.st_size < want) {
		errno = EINVAL;
		return NULL;
	}
	bar = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return bar == MAP_FAILED ? NULL : bar;
}

static void defaults(struct vpath_unit *r)
{
	r->tlb_entries = geometry.tlb_entries;
	r->tlb_ways = geometry.tlb_ways;
	r->pab_entries = geometry.pab_entries;
	r->pab_ways = geometry.pab_ways;
	r->filter_entries = geometry.filter_entries;
	r->relog = geometry.relog;
}

static int start_units(char *bar)
{
	char *logs = bar + VPATH_UNIT_OFFSET + nr_units * VPATH_UNIT_STRIDE;
	struct unit *u;
	unsigned int i;

	for (i = 0; i < nr_units; i++) {
		u = &units[i];
		u->reg = (void *)(bar + VPATH_UNIT_OFFSET + i * VPATH_UNIT_STRIDE);
		u->log = (struct vpath_record *)logs + (size_t)i * log_entries;
		u->page = VPATH_NO_PAGE;
		if (i >= nr_vectors)
			u->vector = -1;
		defaults(u->reg);
		if (vpath_stages_init(&u->st, &geometry))
			return -1;
	}
	device = (void *)bar;
	device->version = VPATH_VERSION;
	device->units = nr_units;
	device->log_entries = log_entries;
	device->log_offset = logs - bar;
	device->log_stride = (uint64_t)log_entries * sizeof(struct vpath_record);
	device->max_tlb_entries = MAX_TLB;
	device->max_pab_entries = MAX_PAB;
	device->max_filter_entries = MAX_FILTER;
	__atomic_store_n(&device->magic, VPATH_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

static void on_exit_qemu(qemu_plugin_id_t id, void *data)
{
	int error;

	(void)id;
	(void)data;
	if (!truth)
		return;
	error = truth_finish(truth);
	truth = NULL;
	if (error)
		complain("ground truth", -error);
}

static bool number(const char *text, const char *key, unsigned long *value)
{
	size_t len = strlen(key);
	char *end;

	if (strncmp(text, key, len) || text[len] != '=')
		return false;
	text += len + 1;
	*value = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end;
}

static bool parse_geometry(const char *arg)
{
	const struct { const char *key; uint32_t *to; } keys[] = {
		{ "tlb", &geometry.tlb_entries }, { "tlb_ways", &geometry.tlb_ways },
		{ "pab", &geometry.pab_entries }, { "pab_ways", &geometry.pab_ways },
		{ "filter", &geometry.filter_entries }, { "relog", &geometry.relog },
	};
	unsigned long value;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (number(arg, keys[i].key, &value) && value <= UINT32_MAX) {
			*keys[i].to = value;
			return true;
		}
	return false;
}

static int parse(const char *arg, int *shm)
{
	unsigned long value;

	if (number(arg, "shm", &value)) {
		*shm = value;
	} else if (number(arg, "cpus", &value) && value && value <= VPATH_MAX_UNITS) {
		nr_units = value;
	} else if (number(arg, "log", &value) && value >= 64 && value <= 1U << 24 &&
		   !(value & (value - 1))) {
		log_entries = value;
	} else if (number(arg, "vec", &value) && nr_vectors < VPATH_MAX_UNITS) {
		units[nr_vectors++].vector = value;
	} else if (number(arg, "fuzz", &value)) {
		fuzz = value;
	} else if (!strncmp(arg, "truth=", 6)) {
		truth = truth_create(arg + 6);
		if (!truth)
			return complain(arg, errno);
	} else if (!parse_geometry(arg)) {
		fprintf(stderr, "vpath: what is %s?\n", arg);
		return -1;
	}
	return 0;
}

static const char impossible[] =
	"a geometry that cannot be: powers of two, ways <= entries, tlb <= 4096, 128 <= pab <= 32768, filter <= 1024";

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	int i, shm = -1;
	char *bar;

	(void)info;
	for (i = 0; i < argc; i++)
		if (parse(argv[i], &shm))
			return -1;
	if (shm < 0 || !nr_units)
		return complain("shm= and cpus= are needed", 0);
	if (!vpath_geometry_good(&geometry, MAX_TLB, MAX_PAB, MAX_FILTER))
		return complain(impossible, 0);
	bar = map_bar(shm);
	if (!bar)
		return complain("the BAR", errno);
	if (start_units(bar))
		return complain("units", ENOMEM);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_qemu, NULL);
	return 0;
}
