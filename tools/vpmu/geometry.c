// SPDX-License-Identifier: GPL-2.0
/* Geometries by name, and a geometry from text. See machine.h. */
#define _GNU_SOURCE	/* asprintf */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define KIB	(1ULL << 10)
#define MIB	(1ULL << 20)
#define GIB	(1ULL << 30)

/*
 * Sizes of tables 2.5 and 3.1, latencies of table 2.4, lines of section 3.3.2. The costs
 * that the thesis does not give: a permission takes as long as data from where it comes.
 */
static const struct vpmu_geometry openpower720 = {
	.cpus = 8, .chips = 2, .line = 128,
	.l1i = { 64 * KIB, 4 }, .l1d = { 64 * KIB, 4 },
	.l2 = { 2 * MIB, 10 }, .l3 = { 36 * MIB, 12 },
	.memory = 8 * GIB,
	.latency = {
		[VPMU_LOCAL_L2] = 14, [VPMU_LOCAL_L3] = 91, [VPMU_LOCAL_MEMORY] = 280,
		[VPMU_REMOTE_L2] = 120, [VPMU_REMOTE_L3] = 205, [VPMU_REMOTE_MEMORY] = 307,
	},
	.upgrade_local = 14, .upgrade_remote = 120,
	.tlb_entries = 1024, .tlb_ways = 4, .tlb_miss = 20,
	.predictor = 4096, .br_miss = 12,
	.split = 4, .flush = 20,
	.prefetch = VPMU_PREFETCH_OFF, .prefetch_hit = 91,
	.counters = VPMU_COUNTERS,
	.model = OOO_OFF,
	.sampling = VPMU_TAGGED, .skid = 5,
	.core = {
		.bundle = 5, .reorder = 20, .rename = 80, .loads = 32, .stores = 32, .queue = 18,
	},
};

/* A machine that the small programs of a lab can fill, with the lines x86 kernels expect */
static void small(struct vpmu_geometry *g, uint32_t cpus, uint32_t chips)
{
	*g = openpower720;
	g->cpus = cpus;
	g->chips = chips;
	g->line = 64;
	g->l1i = g->l1d = (struct vpmu_level){ 32 * KIB, 8 };
	g->l2 = (struct vpmu_level){ 1 * MIB, 16 };
	g->l3 = (struct vpmu_level){ 8 * MIB, 16 };
}

static bool named(struct vpmu_geometry *g, const char *name)
{
	if (!strcmp(name, "openpower720"))
		*g = openpower720;
	else if (!strcmp(name, "2chip"))
		small(g, 4, 2);
	else if (!strcmp(name, "8chip"))
		small(g, 16, 8);
	else
		return false;
	return true;
}

static const char * const core_or_chip[] = { "chip", "core", NULL };
static const char * const models[] = { "in-order", "ooo", "ooo-single", "ooo-in-order", NULL };
static const char * const samplings[] = { "tagged", "dar", NULL };
static const char * const prefetchers[] = { "off", "plain", "context", NULL };

#define FIELD(f)	offsetof(struct vpmu_geometry, f), sizeof(((struct vpmu_geometry *)0)->f)
#define LATENCY(s)	FIELD(latency[s]), 1, 10000, NULL

static const struct option {
	const char *name;
	size_t offset, bytes;
	uint64_t min, max;
	const char * const *words;	/* the value is a word, not a number */
} options[] = {
	{ "cpus", FIELD(cpus), 1, VPMU_MAX_CPUS, NULL },
	{ "chips", FIELD(chips), 1, VPMU_MAX_CHIPS, NULL },
	{ "line", FIELD(line), 32, 4096, NULL },
	{ "l1i", FIELD(l1i.bytes), 32, GIB, NULL },
	{ "l1i-ways", FIELD(l1i.ways), 1, 64, NULL },
	{ "l1d", FIELD(l1d.bytes), 32, GIB, NULL },
	{ "l1d-ways", FIELD(l1d.ways), 1, 64, NULL },
	{ "l2", FIELD(l2.bytes), 32, GIB, NULL },
	{ "l2-ways", FIELD(l2.ways), 1, 64, NULL },
	{ "l2-of", FIELD(l2_of_core), 0, 0, core_or_chip },
	{ "l3", FIELD(l3.bytes), 32, GIB, NULL },
	{ "l3-ways", FIELD(l3.ways), 1, 64, NULL },
	{ "memory", FIELD(memory), MIB, 1024 * GIB, NULL },
	{ "local-l2", LATENCY(VPMU_LOCAL_L2) },
	{ "local-l3", LATENCY(VPMU_LOCAL_L3) },
	{ "local-memory", LATENCY(VPMU_LOCAL_MEMORY) },
	{ "remote-l2", LATENCY(VPMU_REMOTE_L2) },
	{ "remote-l3", LATENCY(VPMU_REMOTE_L3) },
	{ "remote-memory", LATENCY(VPMU_REMOTE_MEMORY) },
	{ "upgrade-local", FIELD(upgrade_local), 0, 10000, NULL },
	{ "upgrade-remote", FIELD(upgrade_remote), 0, 10000, NULL },
	{ "tlb", FIELD(tlb_entries), 1, 65536, NULL },
	{ "tlb-ways", FIELD(tlb_ways), 1, 64, NULL },
	{ "tlb-miss", FIELD(tlb_miss), 0, 10000, NULL },
	{ "predictor", FIELD(predictor), 1, 1 << 20, NULL },
	{ "br-miss", FIELD(br_miss), 0, 10000, NULL },
	{ "split", FIELD(split), 0, 10000, NULL },
	{ "flush", FIELD(flush), 0, 10000, NULL },
	{ "prefetch", FIELD(prefetch), 0, 0, prefetchers },
	{ "prefetch-hit", FIELD(prefetch_hit), 1, 10000, NULL },
	{ "counters", FIELD(counters), 4, VPMU_COUNTERS, NULL },
	{ "model", FIELD(model), 0, 0, models },
	{ "sampling", FIELD(sampling), 0, 0, samplings },
	{ "skid", FIELD(skid), 0, 1000, NULL },
	{ "bundle", FIELD(core.bundle), OOO_OPS, OOO_MOST_BUNDLE, NULL },
	{ "reorder", FIELD(core.reorder), 1, 4096, NULL },
	{ "rename", FIELD(core.rename), OOO_MOST_BUNDLE, 4096, NULL },
	{ "load-buffer", FIELD(core.loads), OOO_UNITS, 4096, NULL },
	{ "store-buffer", FIELD(core.stores), OOO_UNITS, 4096, NULL },
	{ "queue", FIELD(core.queue), 1, 4096, NULL },
};

#define OPTIONS	(sizeof(options) / sizeof(*options))

#define fail(error, ...)						\
({									\
	if (asprintf(error, __VA_ARGS__) < 0)				\
		*(error) = NULL;					\
	-EINVAL;							\
})

/* A number with K, M or G behind it. Return: where it ends, NULL: it is none */
static const char *number(const char *text, uint64_t *value)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (end == text || *text == '-' || errno)
		return NULL;
	unit = *end ? strchr(units, *end) : NULL;
	if (!unit)
		return end;
	if (*value >> 30)
		return NULL;
	*value <<= 10 * (unit - units + 1);
	return end + 1;
}

/* The ends of all nodes, with slashes between */
static int parse_nodes(struct vpmu_geometry *g, const char *text, char **error)
{
	const char *at = text;
	unsigned int i;

	memset(g->node_end, 0, sizeof(g->node_end));
	for (i = 0; i < VPMU_MAX_CHIPS; i++) {
		at = number(at, &g->node_end[i]);
		if (!at || (*at && *at != '/'))
			break;
		if (!*at++)
			return 0;
	}
	return fail(error, "nodes=%s: up to %d ends of nodes with / between are expected", text,
		    VPMU_MAX_CHIPS);
}

static int parse_value(const struct option *o, const char *text, uint64_t *value, char **error)
{
	const char *end;

	if (o->words) {
		for (*value = 0; o->words[*value]; ++*value)
			if (!strcmp(text, o->words[*value]))
				return 0;
		return fail(error, "%s=%s: no such choice", o->name, text);
	}
	end = number(text, value);
	if (!end || *end)
		return fail(error, "%s=%s: not a number", o->name, text);
	if (*value < o->min || *value > o->max)
		return fail(error, "%s=%s: not in %llu .. %llu", o->name, text,
			    (unsigned long long)o->min, (unsigned long long)o->max);
	return 0;
}

static int parse_option(struct vpmu_geometry *g, char *word, char **error)
{
	char *text = strchr(word, '='), *field;
	uint64_t value;
	size_t i;
	int rc;

	if (!text)
		return fail(error, "%s: openpower720, 2chip or 8chip, or option=value is expected",
			    word);
	*text++ = 0;
	if (!strcmp(word, "nodes"))
		return parse_nodes(g, text, error);
	for (i = 0; i < OPTIONS; i++)
		if (!strcmp(word, options[i].name))
			break;
	if (i == OPTIONS)
		return fail(error, "%s: no such option", word);
	rc = parse_value(&options[i], text, &value, error);
	if (rc)
		return rc;
	field = (char *)g + options[i].offset;
	if (options[i].bytes == sizeof(uint64_t))
		*(uint64_t *)field = value;
	else
		*(uint32_t *)field = value;
	return 0;
}

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static bool power_of_two_sets(const struct vpmu_geometry *g, const struct vpmu_level *l)
{
	return power_of_two(l->bytes / g->line / l->ways);
}

static bool nodes_good(const struct vpmu_geometry *g)
{
	uint64_t start = 0;
	uint32_t i;

	if (!g->node_end[0])
		return true;
	for (i = 0; i < g->chips; i++) {
		if (g->node_end[i] <= start || g->node_end[i] % g->line)
			return false;
		start = g->node_end[i];
	}
	return start == g->memory && (i == VPMU_MAX_CHIPS || !g->node_end[i]);
}

static int check(const struct vpmu_geometry *g, char **error)
{
	if (g->cpus % g->chips)
		return fail(error, "%u CPUs cannot be divided among %u chips", g->cpus, g->chips);
	if (!power_of_two(g->line))
		return fail(error, "line=%u: not a power of two", g->line);
	if (!power_of_two_sets(g, &g->l1i) || !power_of_two_sets(g, &g->l1d))
		return fail(error, "the sets of an L1 must be a power of two");
	if (g->l2.bytes / g->line < g->l2.ways || g->l3.bytes / g->line < g->l3.ways)
		return fail(error, "a set of L2 or L3 is larger than the cache");
	if (g->tlb_entries % g->tlb_ways || !power_of_two(g->tlb_entries / g->tlb_ways))
		return fail(error, "the sets of the TLB must be a power of two");
	if (!power_of_two(g->predictor))
		return fail(error, "predictor=%u: not a power of two", g->predictor);
	if (g->latency[VPMU_REMOTE_MEMORY] < g->latency[VPMU_LOCAL_MEMORY])
		return fail(error, "remote memory is nearer than local memory");
	if (!nodes_good(g))
		return fail(error, "nodes: %u ends of nodes that grow up to memory are expected",
			    g->chips);
	return 0;
}

/**
 * vpmu_geometry_parse() - a geometry from text
 * @text: a name or nothing, then options, with commas between: "2chip,l2=512K,cpus=8". The
 *	names are openpower720 (thesis, tables 2.4 and 3.1; what options change when there is
 *	no name), 2chip and 8chip.
 * @g: result
 * @error: what is wrong, for the caller to free, only when something is; NULL: no memory
 *
 * Return: 0 or -EINVAL.
 */
int vpmu_geometry_parse(const char *text, struct vpmu_geometry *g, char **error)
{
	char *copy = strdup(text), *rest = copy, *word;
	bool first = true;
	int rc = 0;

	*error = NULL;
	if (!copy)
		return -EINVAL;
	*g = openpower720;
	while (!rc && *text && (word = strsep(&rest, ","))) {
		if (!first || !named(g, word))
			rc = parse_option(g, word, error);
		first = false;
	}
	free(copy);
	g->core.br_miss = g->br_miss;
	g->core.line = g->line;
	return rc ? rc : check(g, error);
}
