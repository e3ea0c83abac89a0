// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual PMU as a user of perf sees it. Programs whose loads, stores and instructions
 * are known are counted, by all ways that perf has. Counts are compared with a tolerance:
 * calls into the kernel, faults and interrupts lie within what is counted.
 *
 * usage: hpc_vpmu [lies | dar]
 *
 * dar: samples have the address of the last miss (--vpmu=sampling=dar).
 * lies: the device writes nonsense into its registers and rings (--vpmu=fuzz=N). Counts
 * may be wrong. The kernel says that it noticed, and lives.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "hpc.h"

#define DRIVER	"/sys/bus/pci/drivers/vpmu/"
#define CPU1	"/sys/devices/system/cpu/cpu1/online"
#define ROUNDS	1000000ULL
#define COUNTERS	6

static long long stat_of(const char *name)
{
	char file[256];

	snprintf(file, sizeof(file), PMU "stats/%s", name);
	return number(file, "");
}

/* Of this task in user mode */
static int open_user(const char *name, int group)
{
	return open_event(&(struct event){ .name = name, .no_kernel = true, .cpu = -1,
					   .group = group });
}

/* A program of 4 instructions a round, one of which loads and another one stores */

static uint64_t words[2];

static __attribute__((noinline, noclone)) void loop(uint64_t rounds)
{
	uint64_t word;

	__asm__ __volatile__("1:\n"
			     "mov	(%2), %1\n"
			     "mov	%1, 8(%2)\n"
			     "dec	%0\n"
			     "jnz	1b\n"
			     : "+r" (rounds), "=&r" (word) : "r" (words) : "memory", "cc");
}

/* Of loop(): four instructions, which an out-of-order core (model=ooo) does in a cycle */
static bool near_cycles(uint64_t cycles)
{
	return near("cycles", cycles, cycles < 2 * ROUNDS ? ROUNDS : 4 * ROUNDS, 2);
}

/* Cases */

static bool counts_a_loop(void)
{
	int insns = open_user("insns", -1), loads = open_user("loads", insns);
	int stores = open_user("stores", insns), cycles = open_user("cycles", insns);
	bool good;

	start(insns);
	loop(ROUNDS);
	stop(insns);
	good = near("insns", count_of(insns).value, 4 * ROUNDS, 0.5);
	good &= near("loads", count_of(loads).value, ROUNDS, 0.5);
	good &= near("stores", count_of(stores).value, ROUNDS, 0.5);
	good &= near_cycles(count_of(cycles).value);
	close(cycles);
	close(stores);
	close(loads);
	close(insns);
	return good;
}

static bool filters_modes(void)
{
	struct event e = { .name = "insns", .cpu = -1, .group = -1 };
	double user, kernel;
	int all, u, k, i;
	bool good;

	all = open_event(&e);
	e.group = all;
	e.no_kernel = true;
	u = open_event(&e);
	e.no_kernel = false;
	e.no_user = true;
	k = open_event(&e);
	start(all);
	loop(ROUNDS / 10);
	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	stop(all);
	user = count_of(u).value;
	kernel = count_of(k).value;
	ksft_print_msg("user %.0f, kernel %.0f\n", user, kernel);
	/* a call needs some 20 instructions in user mode, and more than that in the kernel */
	good = near("user", user, 4 * ROUNDS / 10 + 10000, 5) && kernel > 50 * 1000;
	good &= near("both", count_of(all).value, user + kernel, 0.5);
	close(k);
	close(u);
	close(all);
	return good;
}

/* Is time that of the modelled machine? Else a share of it tells little about a share of work. */
static bool time_is_modelled(void)
{
	char text[16] = "";
	int fd = open(PMU "clock", O_RDONLY);

	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return !strcmp(text, "parallel\n");
}

/* Has each event counted, and waited for its counter, for so long? */
static bool all_had_turns(const int *fd, uint64_t ns)
{
	struct count c;
	int i;

	for (i = 0; i < 8; i++) {
		c = count_of(fd[i]);
		if (c.running < ns || c.enabled - c.running < ns)
			return false;
	}
	return true;
}

/*
 * Loads and stores have four counters to share: of eight events half count at a time. When perf
 * lets the others count depends on time, so go on until each had ten turns of 4 ms.
 */
static bool shares_counters(void)
{
	uint64_t rounds = 0;
	struct count c;
	bool good = true;
	int fd[8], i;

	for (i = 0; i < 8; i++)
		fd[i] = open_user(i % 2 ? "loads" : "stores", -1);
	for (i = 0; i < 8; i++)
		start(fd[i]);
	do {
		loop(ROUNDS);
		rounds += ROUNDS;
	} while (!all_had_turns(fd, 40000000) && rounds < 10000 * ROUNDS);
	for (i = 0; i < 8; i++)
		stop(fd[i]);
	for (i = 0; i < 8; i++) {
		c = count_of(fd[i]);
		ksft_print_msg("counted %llu of %llu in %llu of %llu ns\n",
			       (unsigned long long)c.value, (unsigned long long)rounds,
			       (unsigned long long)c.running, (unsigned long long)c.enabled);
		good &= c.value && c.value < rounds && c.running < c.enabled;
		if (time_is_modelled())
			good &= near("scaled", (double)c.value * c.enabled / c.running,
				     rounds, 10);
		close(fd[i]);
	}
	return good;
}

/* What cannot count at the same time is refused when it is opened. */
static bool refuses_groups(void)
{
	int fd[COUNTERS + 1], i;
	bool good = true;

	for (i = 0; i <= COUNTERS; i++) {
		fd[i] = open_user("insns", i ? fd[0] : -1);
		good &= i < COUNTERS ? fd[i] >= 0 : fd[i] == -EINVAL;
	}
	for (i = COUNTERS - 1; i >= 0; i--)
		close(fd[i]);
	/* four counters can count loads, and any counts instructions: those move aside */
	fd[0] = open_user("insns", -1);
	fd[1] = open_user("insns", fd[0]);
	for (i = 2; i < 6; i++)
		fd[i] = open_user("loads", fd[0]);
	for (i = 0; i < 6; i++)
		good &= fd[i] >= 0;
	start(fd[0]);
	loop(ROUNDS);
	stop(fd[0]);
	for (i = 2; i < 6; i++)
		good &= near("loads", count_of(fd[i]).value, ROUNDS, 0.5);
	for (i = 5; i >= 0; i--)
		close(fd[i]);
	for (i = 0; i < 5; i++) {
		fd[i] = open_user("loads", i ? fd[0] : -1);
		good &= i < 4 ? fd[i] >= 0 : fd[i] == -EINVAL;
	}
	for (i = 3; i >= 0; i--)
		close(fd[i]);
	return good;
}

static bool refuses_nonsense(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = number(PMU "type", "") };
	static const struct { uint64_t event, random, sources; } wrong[] = {
		{ 0, 0, 0 }, { 63, 0, 0 }, { 64, 0, 0 }, { -1ULL, 0, 0 },
		{ 2, 1ULL << 32, 0 }, { 2, 0, 64 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		attr.config = wrong[i].event;
		attr.config1 = wrong[i].random;
		attr.config2 = wrong[i].sources;
		if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) >= 0 || errno != EINVAL)
			return false;
	}
	return true;
}

/* Perf's own names for events */
static int open_generic(uint32_t type, uint64_t config, int group)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = type, .config = config, .disabled = group < 0,
		.exclude_kernel = 1, .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
						    PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);

	return fd < 0 ? -errno : fd;
}

static bool has_generic_events(void)
{
	static const struct { uint32_t type; uint64_t config, want; } events[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 4 * ROUNDS },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, ROUNDS },
		{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D, ROUNDS },
		{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D |
				      PERF_COUNT_HW_CACHE_OP_WRITE << 8, ROUNDS },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0 },
	};
	int fd[ARRAY_SIZE(events)];
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		fd[i] = open_generic(events[i].type, events[i].config, i ? fd[0] : -1);
	start(fd[0]);
	loop(ROUNDS);
	stop(fd[0]);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		good &= events[i].want ? near("generic", count_of(fd[i]).value, events[i].want, 2) :
					 near_cycles(count_of(fd[i]).value);
	for (i = ARRAY_SIZE(events); i > 0; i--)
		close(fd[i - 1]);
	good &= open_generic(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, -1) == -ENOENT;
	good &= open_generic(PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX, -1) == -ENOENT;
	good &= open_generic(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_NODE, -1) == -ENOENT;
	return good;
}

/* What the machine cannot leave out is refused. */
static bool leaves_out(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = number(PMU "type", ""),
					.config = number(PMU "events/insns", "event=") };
	struct perf_event_attr idle = attr, host = attr;
	int fd;

	idle.exclude_idle = 1;
	host.exclude_host = 1;
	attr.exclude_hv = 1;
	attr.exclude_guest = 1;
	if (syscall(SYS_perf_event_open, &idle, 0, -1, -1, 0) >= 0 || errno != EOPNOTSUPP ||
	    syscall(SYS_perf_event_open, &host, 0, -1, -1, 0) >= 0 || errno != EOPNOTSUPP)
		return false;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	close(fd);
	return fd >= 0;
}

/* A task that waits to be told to run, and then exits with its events */
static pid_t begin_task(int *tell)
{
	int ends[2];
	pid_t pid;
	char c;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &c, 1) < 0)
			_exit(1);
		loop(ROUNDS);
		_exit(0);
	}
	close(ends[0]);
	*tell = ends[1];
	return pid;
}

static bool outlives_its_task(void)
{
	struct event e = { .name = "loads", .no_kernel = true, .cpu = -1, .group = -1 };
	int fd, tell, inherited;
	bool good;
	pid_t pid;

	pid = begin_task(&tell);
	e.pid = pid;
	fd = open_event(&e);
	start(fd);
	close(tell);
	waitpid(pid, NULL, 0);
	good = near("of another task", count_of(fd).value, ROUNDS, 0.5);
	close(fd);

	e.pid = 0;
	e.inherit = true;
	inherited = open_event(&e);
	start(inherited);
	pid = begin_task(&tell);
	close(tell);
	waitpid(pid, NULL, 0);
	stop(inherited);
	good &= near("of a child", count_of(inherited).value, ROUNDS, 1.5);
	close(inherited);
	return good;
}

/* Read what a ring of perf has. Return: the number of samples, in @wrong those not of loop() */
static unsigned int read_samples(struct perf_event_mmap_page *page, unsigned int *wrong)
{
	uint64_t at = page->data_tail, head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	char *data = (char *)page + page->data_offset;
	struct {
		struct perf_event_header header;
		uint64_t ip, addr;
	} *r;
	unsigned int n = 0;

	/* records of this size never wrap */
	for (; at < head; at += r->header.size) {
		r = (void *)(data + at % page->data_size);
		if (r->header.type != PERF_RECORD_SAMPLE)
			continue;
		n++;
		*wrong += r->addr != (uint64_t)words || r->ip < (uint64_t)loop ||
			  r->ip > (uint64_t)loop + 64;
	}
	return n;
}

static bool samples_loads(void)
{
	struct event e = { .name = "loads", .no_kernel = true, .cpu = -1, .group = -1,
			   .period = 1000 };
	struct perf_event_mmap_page *page;
	unsigned int n, wrong = 0;
	int fd = open_event(&e);
	bool good;

	page = mmap(NULL, 65 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return false;
	start(fd);
	loop(ROUNDS);
	stop(fd);
	n = read_samples(page, &wrong);
	good = near("loads", count_of(fd).value, ROUNDS, 0.5);
	good &= near("samples", n, ROUNDS / 1000, 1);
	/* of what surrounds the loop */
	ksft_print_msg("%u of %u samples are not of the loop\n", wrong, n);
	good &= wrong <= n / 50;
	munmap(page, 65 * 4096);
	close(fd);
	return good;
}

/* A program may ask for so many samples, and the event is off then (PERF_EVENT_IOC_REFRESH). */
static bool samples_so_many(void)
{
	struct event e = { .name = "loads", .no_kernel = true, .cpu = -1, .group = -1,
			   .period = 1000 };
	struct perf_event_mmap_page *page;
	unsigned int n, wrong = 0;
	int fd = open_event(&e);
	uint64_t count;
	bool good = true;

	page = mmap(NULL, 65 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return false;
	for (n = 1; n <= 4; n *= 4) {
		good &= !ioctl(fd, PERF_EVENT_IOC_REFRESH, n);
		loop(ROUNDS);
		good &= near("samples", read_samples(page, &wrong), n, 0);
		page->data_tail = page->data_head;
		count = count_of(fd).value;
		loop(ROUNDS);
		good &= near("loads", count_of(fd).value, count, 0);
	}
	munmap(page, 65 * 4096);
	close(fd);
	return good;
}

/*
 * Samples of accesses are of the instruction, as perf asks for them (loads:pp). Those of other
 * events are not, and perf is told so.
 */
static bool samples_precisely(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = number(PMU "type", ""), .exclude_kernel = 1,
		.config = number(PMU "events/loads", "event="), .sample_period = 1000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR, .disabled = 1,
	};
	struct perf_event_mmap_page *page;
	struct sample {
		struct perf_event_header header;
		uint64_t ip, addr;
	} *r;
	unsigned int n = 0, wrong = 0;
	uint64_t at, first = 0;
	int fd;

	attr.precise_ip = 3;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	page = mmap(NULL, 65 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return false;
	start(fd);
	loop(ROUNDS);
	stop(fd);
	for (at = 0; at < page->data_head; at += r->header.size) {
		r = (void *)((char *)page + page->data_offset + at);
		if (r->header.type != PERF_RECORD_SAMPLE || r->addr != (uint64_t)words)
			continue;
		n++;
		first = first ? first : r->ip;
		wrong += r->ip != first || !(r->header.misc & PERF_RECORD_MISC_EXACT_IP);
	}
	ksft_print_msg("%u samples, %u of another instruction, or not exact\n", n, wrong);
	munmap(page, 65 * 4096);
	close(fd);
	attr.config = number(PMU "events/insns", "event=");
	attr.precise_ip = 1;
	return n > 50 && !wrong && syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0 &&
	       errno == EOPNOTSUPP;
}

/* Does perf know of all samples of stores whether their instruction has locked the line? */
static bool tells_locked(bool locked)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = number(PMU "type", ""), .exclude_kernel = 1,
		.config = number(PMU "events/stores", "event="), .sample_period = 100,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC, .disabled = 1,
	};
	struct perf_event_mmap_page *page;
	struct sample {
		struct perf_event_header header;
		uint64_t addr;
		union perf_mem_data_src src;
	} *r;
	unsigned int n = 0, wrong = 0, i;
	uint64_t at;
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	page = mmap(NULL, 65 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return false;
	start(fd);
	for (i = 0; i < 10000; i++) {
		if (locked)
			__atomic_fetch_add(&words[0], 1, __ATOMIC_RELAXED);
		else
			(*(volatile uint64_t *)&words[0])++;
	}
	stop(fd);
	for (at = 0; at < page->data_head; at += r->header.size) {
		r = (void *)((char *)page + page->data_offset + at);
		if (r->header.type != PERF_RECORD_SAMPLE || r->addr != (uint64_t)words)
			continue;
		n++;
		wrong += (r->src.mem_lock == PERF_MEM_LOCK_LOCKED) != locked;
	}
	ksft_print_msg("%u samples, %u of them wrong\n", n, wrong);
	munmap(page, 65 * 4096);
	close(fd);
	return n > 50 && !wrong;
}

static bool knows_locked(void)
{
	return tells_locked(true) && tells_locked(false);
}

/* Physical address of what @p points to */
static uint64_t physical(const void *p)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	if (pread(fd, &entry, sizeof(entry), (uintptr_t)p / 4096 * 8) != sizeof(entry))
		ksft_print_msg("pagemap: %s\n", strerror(errno));
	close(fd);
	return (entry & ((1ULL << 55) - 1)) * 4096 + (uintptr_t)p % 4096;
}

/*
 * Samples of misses have the physical address that the device saw. The last CPU's memory is
 * above 4 GiB where there is so much.
 */
static bool knows_physical_addresses(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = number(PMU "type", ""), .exclude_kernel = 1,
		.config = number(PMU "events/l1d_miss", "event="), .sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR, .disabled = 1,
	};
	struct sample {
		struct perf_event_header header;
		uint64_t addr, phys;
	} *r;
	const size_t bytes = 256 * 4096;
	struct perf_event_mmap_page *page;
	unsigned int seen = 0, wrong = 0, high = 0;
	uint64_t at;
	size_t i;
	char *p;
	int fd;

	run_on(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	page = mmap(NULL, 65 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		 -1, 0);
	if (page == MAP_FAILED || p == MAP_FAILED)
		return false;
	start(fd);
	for (i = 0; i < bytes; i += 4096)
		*(volatile char *)(p + i) = 1;
	stop(fd);
	for (at = 0; at < page->data_head; at += r->header.size) {
		r = (void *)((char *)page + page->data_offset + at);
		if (r->header.type != PERF_RECORD_SAMPLE || r->addr < (uintptr_t)p ||
		    r->addr >= (uintptr_t)p + bytes)
			continue;
		seen++;
		wrong += r->phys != physical((void *)r->addr);
		high += r->phys >> 32 != 0;
	}
	ksft_print_msg("%u samples, %u wrong, %u above 4 GiB\n", seen, wrong, high);
	munmap(p, bytes);
	munmap(page, 65 * 4096);
	close(fd);
	run_on(0);
	return seen > 200 && !wrong;
}

/* The name of the device that the driver has; empty: none */
static const char *bound(char *name, size_t size)
{
	DIR *driver = opendir(DRIVER);
	struct dirent *file;

	*name = 0;
	while (driver && (file = readdir(driver)))
		if (!strncmp(file->d_name, "0000:", 5))
			snprintf(name, size, "%.12s", file->d_name);
	if (driver)
		closedir(driver);
	return name;
}

static bool tell_driver(const char *what, const char *device)
{
	char path[128];
	bool good;
	int fd;

	snprintf(path, sizeof(path), DRIVER "%s", what);
	fd = open(path, O_WRONLY);
	good = fd >= 0 && write(fd, device, strlen(device)) > 0;
	close(fd);
	return good;
}

/* The driver lets go of the device, and takes it again. What has counted before goes on. */
static bool binds_again(void)
{
	struct event e = { .name = "loads", .no_kernel = true, .cpu = -1, .group = -1 };
	char device[64], none[64];
	int fd = open_event(&e), other;
	uint64_t gone;
	bool good;

	start(fd);
	loop(ROUNDS);
	good = *bound(device, sizeof(device)) && tell_driver("unbind", device);
	gone = count_of(fd).value;
	loop(ROUNDS);
	good &= near("gone", gone, ROUNDS, 2) && count_of(fd).value == gone;
	good &= open_event(&e) == -ENODEV && !*bound(none, sizeof(none));
	good &= tell_driver("bind", device);
	loop(ROUNDS);
	stop(fd);
	good &= near("back", count_of(fd).value, 2 * ROUNDS, 2);
	other = open_event(&e);
	start(other);
	loop(ROUNDS);
	stop(other);
	good &= near("new", count_of(other).value, ROUNDS, 0.5);
	close(other);
	close(fd);
	return good;
}

static uint64_t kernel_symbol(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long address, found = 0;
	char line[256], symbol[128];

	while (file && !found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %*c %127s", &address, symbol) == 2 && !strcmp(symbol, name))
			found = address;
	if (file)
		fclose(file);
	return found;
}

/* Does one of the callers lie in a function of so many bytes? */
static bool has_caller(const uint64_t *ip, uint64_t nr, uint64_t function, uint64_t bytes)
{
	uint64_t i;

	for (i = 2; i < nr; i++)
		if (ip[i] - function < bytes)
			return true;
	return false;
}

/* Return: samples in a ring of perf, and in @known those with both callers */
static unsigned int read_chains(const struct perf_event_mmap_page *page, uint64_t caller,
				uint64_t other, uint64_t bytes, unsigned int *known)
{
	struct chain {
		struct perf_event_header header;
		uint64_t nr, ip[];
	} *r;
	unsigned int seen = 0;
	uint64_t at;

	*known = 0;
	for (at = 0; at < page->data_head; at += r->header.size) {
		r = (void *)((char *)page + page->data_offset + at);
		if (r->header.type != PERF_RECORD_SAMPLE)
			continue;
		seen++;
		*known += has_caller(r->ip, r->nr, caller, bytes) &&
			  has_caller(r->ip, r->nr, other, bytes);
	}
	ksft_print_msg("%u samples, %u with the callers\n", seen, *known);
	return seen;
}

/* Samples in the kernel, while system calls are made: who has called is known. */
static bool knows_callers(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = number(PMU "type", ""), .exclude_user = 1,
		.config = number(PMU "events/insns", "event="), .sample_period = 1000,
		.sample_type = PERF_SAMPLE_CALLCHAIN, .disabled = 1,
	};
	uint64_t i, entry = kernel_symbol("do_syscall_64");
	struct perf_event_mmap_page *page;
	int fd, zero = open("/dev/zero", O_RDONLY);
	unsigned int seen, known;
	static char zeros[65536];

	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	page = mmap(NULL, 65 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED || !entry)
		return false;
	start(fd);
	/* many instructions, and fewer callers than are known on any kernel */
	for (i = 0; i < 50; i++)
		if (read(zero, zeros, sizeof(zeros)) < 0)
			return false;
	stop(fd);
	close(zero);
	seen = read_chains(page, entry, entry, 0x400, &known);
	munmap(page, 65 * 4096);
	close(fd);
	/* the others are of the way into the kernel and out, and of interrupts */
	return seen > 50 && known > seen / 2;
}

/* They return, and so have callers, and no frame pointers. */
static __attribute__((noinline, noclone)) void inner(uint64_t rounds)
{
	loop(rounds);
	words[0]++;
}

static __attribute__((noinline, noclone)) void outer(uint64_t rounds)
{
	inner(rounds);
	words[0]++;
}

/* The functions are over when their samples are drained, and still are known to have called. */
static bool knows_user_callers(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = number(PMU "type", ""), .exclude_kernel = 1,
		.config = number(PMU "events/loads", "event="), .sample_period = 1000,
		.sample_type = PERF_SAMPLE_CALLCHAIN, .disabled = 1,
	};
	struct perf_event_mmap_page *page;
	unsigned int i, seen, known;
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	page = mmap(NULL, 65 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return false;
	start(fd);
	for (i = 0; i < ROUNDS / 2000; i++)
		outer(2000);
	stop(fd);
	seen = read_chains(page, (uintptr_t)inner, (uintptr_t)outer, 64, &known);
	munmap(page, 65 * 4096);
	close(fd);
	return seen > 500 && known > seen - seen / 50;
}

/* A CPU with events goes, and comes back */
static bool survives_hotplug(void)
{
	struct event e = { .name = "loads", .no_kernel = true, .pid = -1, .cpu = 1, .group = -1 };
	struct event s = { .name = "loads", .pid = -1, .cpu = 1, .group = -1, .period = 10000 };
	int fd, sampling, online = open(CPU1, O_WRONLY);
	bool good;

	if (online < 0)
		return false;
	fd = open_event(&e);
	sampling = open_event(&s);
	start(fd);
	start(sampling);
	run_on(1);
	loop(ROUNDS);
	run_on(0);
	good = write(online, "0", 1) == 1;
	loop(ROUNDS);
	good &= near("before", count_of(fd).value, ROUNDS, 2);
	good &= write(online, "1", 1) == 1;
	close(online);
	close(sampling);
	close(fd);
	fd = open_event(&e);
	start(fd);
	run_on(1);
	loop(ROUNDS);
	run_on(0);
	stop(fd);
	good &= near("after", count_of(fd).value, ROUNDS, 2);
	close(fd);
	return good;
}

static pid_t keep_busy(int cpu)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(cpu);
	for (;;)
		loop(ROUNDS);
}

/*
 * The last event ends while a CPU is offline. If its unit went on, it would have a turn of 2,000 cycles
 * for many thousands of the other CPUs, and never come back.
 */
static bool survives_return(void)
{
	struct event e = { .name = "loads", .pid = -1, .cpu = 1, .group = -1 };
	int i, fd, online = open(CPU1, O_WRONLY);
	pid_t child[] = { -1, -1, -1 };
	bool good;

	if (online < 0)
		return false;
	fd = open_event(&e);
	start(fd);
	good = write(online, "0", 1) == 1;
	close(fd);
	for (i = 0; i < 3; i++)
		child[i] = keep_busy(i ? i + 1 : 0);
	good &= write(online, "1", 1) == 1;
	for (i = 0; i < 3; i++) {
		if (child[i] < 0)
			continue;
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	close(online);
	return good;
}

static bool device_is_honest(void)
{
	ksft_print_msg("lies %lld, late %lld, lost %lld\n", stat_of("lies"), stat_of("late"),
		       stat_of("lost"));
	return !stat_of("lies");
}

/* 256 KiB: more than the first cache holds */
static char lines[4096][64] __attribute__((aligned(4096)));

static void read_lines(unsigned int rounds)
{
	unsigned int i;

	while (rounds--)
		for (i = 0; i < ARRAY_SIZE(lines); i++)
			*(volatile char *)lines[i];
}

/* The same, with 32 instructions between two of them */
static void read_lines_slowly(unsigned int rounds)
{
	unsigned int i;

	while (rounds--)
		for (i = 0; i < ARRAY_SIZE(lines); i++) {
			*(volatile char *)lines[i];
			__asm__ __volatile__(".rept 32; nop; .endr");
		}
}

/* Return: samples of misses meanwhile; in @wrong those that are not what a register can tell */
static unsigned int sample_misses(void (*read)(unsigned int rounds), unsigned int *wrong)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = number(PMU "type", ""), .exclude_kernel = 1,
		.config = number(PMU "events/l1d_miss", "event="), .sample_period = 101,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC, .disabled = 1,
	};
	struct perf_event_mmap_page *page;
	struct sample {
		struct perf_event_header header;
		uint64_t addr;
		union perf_mem_data_src src;
	} *r;
	unsigned int n = 0;
	uint64_t at;
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	page = mmap(NULL, 65 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return 0;
	start(fd);
	read(20);
	stop(fd);
	for (at = 0; at < page->data_head; at += r->header.size) {
		r = (void *)((char *)page + page->data_offset + at);
		if (r->header.type != PERF_RECORD_SAMPLE)
			continue;
		n++;
		*wrong += r->addr - (uint64_t)lines >= sizeof(lines) ||
			  r->src.mem_op != PERF_MEM_OP_NA ||
			  (r->header.misc & PERF_RECORD_MISC_EXACT_IP);
	}
	munmap(page, 65 * 4096);
	close(fd);
	return n;
}

/* The next miss takes the place of the last one, if it comes before the interrupt. */
static bool tells_last_miss(void)
{
	long long right[3], samples[3];
	unsigned int n, wrong = 0;

	/* else all are of the page of zeroes */
	memset(lines, 1, sizeof(lines));
	right[0] = stat_of("right");
	samples[0] = right[0] + stat_of("wrong");
	n = sample_misses(read_lines_slowly, &wrong);
	right[1] = stat_of("right");
	samples[1] = right[1] + stat_of("wrong");
	n += sample_misses(read_lines, &wrong);
	right[2] = stat_of("right");
	samples[2] = right[2] + stat_of("wrong");
	right[2] -= right[1];
	right[1] -= right[0];
	ksft_print_msg("%u samples, %u wrong; right: %lld of %lld, %lld of %lld\n", n, wrong,
		       right[1], samples[1] - samples[0], right[2], samples[2] - samples[1]);
	return n > 1000 && wrong <= n / 50 && near("samples", samples[2] - samples[0], n, 1) &&
	       right[1] * 10 > (samples[1] - samples[0]) * 9 &&
	       right[2] * 10 < samples[2] - samples[1];
}

/* All that may go wrong here are counts. */
static bool survives_lies(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		counts_a_loop();
		filters_modes();
		samples_loads();
		knows_callers();
		knows_user_callers();
	}
	survives_hotplug();
	return !device_is_honest();
}

int main(int argc, char **argv)
{
	ksft_print_header();
	if (access(PMU "type", R_OK))
		ksft_exit_skip("no virtual PMU (lab run --vpmu)\n");
	run_on(0);
	if (argc > 1 && !strcmp(argv[1], "lies")) {
		ksft_set_plan(1);
		run("a device that lies is found out", survives_lies);
		ksft_finished();
	}
	if (argc > 1 && !strcmp(argv[1], "dar")) {
		ksft_set_plan(1);
		run("a register has the last miss", tells_last_miss);
		ksft_finished();
	}
	ksft_set_plan(19);
	run("instructions, loads and stores of a loop", counts_a_loop);
	run("user and kernel mode", filters_modes);
	run("more events than counters", shares_counters);
	run("groups that cannot count", refuses_groups);
	run("events that do not exist", refuses_nonsense);
	run("generic events", has_generic_events);
	run("what cannot be left out", leaves_out);
	run("tasks that exit", outlives_its_task);
	run("samples", samples_loads);
	run("as many samples as were asked for", samples_so_many);
	run("precise samples", samples_precisely);
	run("instructions that lock a line", knows_locked);
	run("physical addresses", knows_physical_addresses);
	run("callers in the kernel", knows_callers);
	run("callers in user space", knows_user_callers);
	run("a CPU that goes offline", survives_hotplug);
	run("a CPU that comes back when nobody counts", survives_return);
	run("a device that is unbound, and bound", binds_again);
	run("the device does not lie", device_is_honest);
	ksft_finished();
}
