// SPDX-License-Identifier: GPL-2.0
/*
 * What is at an address of a process: the symbol, and the line of the source.
 *
 * libdw needs some time for a program that is large, so each one is opened once and kept while it
 * is asked about and maps the same code. Whatever cannot be found out is left out: a process may
 * be gone, may not be looked at, or may have made its code itself.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathctl.h"

/* A process whose addresses were asked about */
struct program {
	struct program *next;
	uint64_t pid;
	char *mapped;		/* lines of its maps that are code; NULL: it may not be looked at */
	Dwfl *dwfl;		/* NULL: nothing is known of it */
	bool asked;		/* since code_frame() */
};

struct code {
	struct program *programs;
};

/* ---- processes ------------------------------------------------------------------- */

static char *read_proc(uint64_t pid, const char *file)
{
	char *path = xasprintf("/proc/%llu/%s", (unsigned long long)pid, file);
	char *text = read_file(path);

	free(path);
	return text;
}

/* The process of a thread, 0 if there is none */
static uint64_t process_of(uint64_t tid)
{
	struct keyed status;
	uint64_t pid;
	char *text = read_proc(tid, "status");

	if (!text)
		return 0;
	keyed_parse(&status, text);
	pid = keyed_u64(&status, "Tgid:", 0);
	keyed_free(&status);
	return pid;
}

/* While these lines are the same, so is what libdw knows. The heap may change in each frame. */
static char *read_mapped(uint64_t pid)
{
	char *text = read_proc(pid, "maps"), *rest = text, *out = text, *line, *flags;
	size_t length;

	while ((line = strsep(&rest, "\n"))) {
		flags = strchr(line, ' ');
		if (!flags || strnlen(flags, 4) < 4 || flags[3] != 'x')
			continue;
		length = strlen(line);
		memmove(out, line, length);
		out += length;
		*out++ = '\n';
	}
	if (out)
		*out = '\0';
	return text;
}

static int open_plain(const char *path)
{
	struct stat st;

	/* opening a device may do something */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* The range of addresses that a file is mapped to as code */
static bool find_range(const struct program *program, const char *name,
		       unsigned long long *start, unsigned long long *end)
{
	char *copy = xdup(program->mapped), *rest = copy, *line;
	bool found = false;
	size_t length;

	while (!found && (line = strsep(&rest, "\n"))) {
		length = strlen(line);
		found = length > strlen(name) && !strcmp(line + length - strlen(name), name) &&
			line[length - strlen(name) - 1] == ' ' &&
			sscanf(line, "%llx-%llx", start, end) == 2;
	}
	free(copy);
	return found;
}

/*
 * The file that is mapped, not what has its name now, or has it outside of a container. Only root
 * may follow map_files.
 */
static int open_mapped(const struct program *program, const char *name)
{
	unsigned long long start, end;
	char *path;
	int fd = -1;

	if (find_range(program, name, &start, &end)) {
		path = xasprintf("/proc/%llu/map_files/%llx-%llx", (unsigned long long)program->pid,
				 start, end);
		fd = open_plain(path);
		free(path);
	}
	if (fd < 0) {
		path = xasprintf("/proc/%llu/root%s", (unsigned long long)program->pid, name);
		fd = open_plain(path);
		free(path);
	}
	return fd;
}

static int find_elf(Dwfl_Module *module, void **program, const char *name, Dwarf_Addr base,
		    char **file, Elf **elf)
{
	int fd;

	if (*name != '/')	/* [vdso] */
		return dwfl_linux_proc_find_elf(module, program, name, base, file, elf);
	fd = open_mapped(*program, name);
	if (fd >= 0)
		*file = xdup(name);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
};

static int give_program(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			void *program)
{
	(void)module;
	(void)name;
	(void)base;
	*userdata = program;
	return DWARF_CB_OK;
}

static void program_close(struct program *program)
{
	if (program->dwfl)
		dwfl_end(program->dwfl);
	free(program->mapped);
	program->dwfl = NULL;
	program->mapped = NULL;
}

static void program_open(struct program *program)
{
	program->dwfl = dwfl_begin(&callbacks);
	if (!program->dwfl)
		return;
	if (!dwfl_linux_proc_report(program->dwfl, program->pid) &&
	    !dwfl_report_end(program->dwfl, NULL, NULL) &&
	    !dwfl_getmodules(program->dwfl, give_program, program, 0))
		return;
	dwfl_end(program->dwfl);
	program->dwfl = NULL;
}

/* Once in a frame: has it executed another program, or loaded a library? */
static void program_look(struct program *program)
{
	char *mapped = read_mapped(program->pid);

	program->asked = true;
	if (mapped && program->mapped && !strcmp(mapped, program->mapped)) {
		free(mapped);
		return;
	}
	program_close(program);
	program->mapped = mapped;
	if (mapped)
		program_open(program);
}

static struct program *program_of(struct code *code, uint64_t tid)
{
	uint64_t pid = process_of(tid);
	struct program *program;

	if (!pid)
		return NULL;
	for (program = code->programs; program && program->pid != pid; program = program->next)
		;
	if (!program) {
		program = xalloc(sizeof(*program));
		program->pid = pid;
		program->next = code->programs;
		code->programs = program;
	}
	if (!program->asked)
		program_look(program);
	return program;
}

/* ---- addresses ------------------------------------------------------------------- */

static char *with_offset(const char *name, uint64_t offset)
{
	return offset ? xasprintf("%s+0x%llx", name, (unsigned long long)offset) : xdup(name);
}

static char *symbol_of(Dwfl_Module *module, uint64_t address)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL,
						NULL);

	return name ? with_offset(name, offset) : NULL;
}

/* As addr2line takes it */
static char *object_of(Dwfl_Module *module, uint64_t address)
{
	const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	GElf_Addr bias;

	if (!name || !dwfl_module_getelf(module, &bias))
		return NULL;
	return xasprintf("%s+0x%llx", name, (unsigned long long)(address - bias));
}

static char *source_of(Dwfl_Module *module, uint64_t address)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, address);
	const char *file;
	int number;

	file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	return file ? xasprintf("%s:%d", file, number) : NULL;
}

/**
 * code_find - what is at an address of code
 * @code: from code_open()
 * @tid: a thread of the process
 * @address: in the process
 * @place: the result, for place_free(); members that are not known are NULL
 */
void code_find(struct code *code, uint64_t tid, uint64_t address, struct place *place)
{
	struct program *program = program_of(code, tid);
	Dwfl_Module *module = NULL;

	memset(place, 0, sizeof(*place));
	if (program && program->dwfl)
		module = dwfl_addrmodule(program->dwfl, address);
	if (!module)
		return;
	place->symbol = symbol_of(module, address);
	place->object = object_of(module, address);
	place->source = source_of(module, address);
}

struct nearest {
	uint64_t address;
	Dwfl_Module *module;	/* the last one that begins below it */
	Dwarf_Addr base;
};

static int find_nearest(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			void *what)
{
	struct nearest *nearest = what;

	(void)userdata;
	(void)name;
	if (base <= nearest->address && (!nearest->module || base > nearest->base)) {
		nearest->module = module;
		nearest->base = base;
	}
	return DWARF_CB_OK;
}

/*
 * The variable at an address, to be freed, or NULL. Those that begin as zeros are behind what is
 * mapped of the file, so libdw does not know whose address it is.
 */
char *code_variable(struct code *code, uint64_t tid, uint64_t address)
{
	struct program *program = program_of(code, tid);
	struct nearest nearest = { .address = address };
	const char *name = NULL;
	GElf_Off offset;
	GElf_Sym symbol;

	if (program && program->dwfl)
		dwfl_getmodules(program->dwfl, find_nearest, &nearest, 0);
	if (nearest.module)
		name = dwfl_module_addrinfo(nearest.module, address, &offset, &symbol, NULL, NULL,
					    NULL);
	return name && offset < symbol.st_size ? with_offset(name, offset) : NULL;
}

void place_free(struct place *place)
{
	free(place->symbol);
	free(place->object);
	free(place->source);
}

/* ---- all of them ----------------------------------------------------------------- */

struct code *code_open(void)
{
	/* A server that is asked for debug information may take minutes, and a live view none. */
	unsetenv("DEBUGINFOD_URLS");
	return xalloc(sizeof(struct code));
}

/* To be called before each frame: programs that the last one did not ask about are closed. */
void code_frame(struct code *code)
{
	struct program **at = &code->programs, *program;

	while ((program = *at)) {
		if (program->asked) {
			program->asked = false;
			at = &program->next;
			continue;
		}
		*at = program->next;
		program_close(program);
		free(program);
	}
}

void code_close(struct code *code)
{
	code_frame(code);
	code_frame(code);	/* since the first one, none was asked about */
	free(code);
}
