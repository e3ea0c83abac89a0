// SPDX-License-Identifier: GPL-2.0
/*
 * clustersim - which threads share, as the kernel's models would have found it
 *
 *   clustersim [OPTION...] SAMPLES
 *   clustersim [OPTION...] --play NAME[:seed=N,threads=N,...]
 *
 * SAMPLES is what perf script prints of a recording, or one sample a line. See clustersim.1.
 */
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pathctl/pathctl.h"
#include "play.h"
#include "print.h"

#define SAMPLES		100U	/* the kernel's, of each thread and round */
#define BLOCK		64U

enum by { BY_DEFAULT, BY_VIRTUAL, BY_PHYSICAL };

struct job {
	struct sim_options sim;
	struct play_options play_options;
	const struct play *play;
	const char *truth, *input;
	enum by by;
	bool has_threshold, shmap, json;
};

static void usage(FILE *f)
{
	const struct algorithm *a;
	const struct play *p;

	fputs("usage: clustersim [OPTION...] SAMPLES\n"
	      "       clustersim [OPTION...] --play NAME[:seed=N,threads=N,groups=N,rounds=N,noise=N]\n\n"
	      "SAMPLES is what perf script prints, or lines of TIME TID ADDRESS [PHYS [IP [L]]];\n"
	      "- is standard input.\n\n"
	      "  --algorithm which one finds clusters (merge)\n"
	      "  --threshold similarity above which threads share (30; of the thesis: 100)\n"
	      "  --samples   of each thread in a round (100)\n"
	      "  --by        virtual or physical address (virtual; pairs: physical)\n"
	      "  --block     bytes of a line (64)\n"
	      "  --truth     file of TID GROUP: compare with these groups\n"
	      "  --place     CHIPSxCPUS: which chip threads would be put on, as 2x4\n"
	      "  --shmap     a picture of the last round\n"
	      "  --json      all rounds, for programs\n\nalgorithms:\n", f);
	for (a = algorithms; a->name; a++)
		fprintf(f, "  %-9s %s\n", a->name, a->about);
	fputs("\nplays:\n", f);
	for (p = plays; p->name; p++)
		fprintf(f, "  %-9s %s\n", p->name, p->about);
}

static void parse_by(struct job *job, const char *text)
{
	if (!strcmp(text, "virtual"))
		job->by = BY_VIRTUAL;
	else if (!strcmp(text, "physical"))
		job->by = BY_PHYSICAL;
	else
		die(EX_USAGE, "--by %s: must be virtual or physical", text);
}

static void parse_algorithm(struct job *job, const char *name)
{
	job->sim.algorithm = algorithm_by_name(name);
	if (!job->sim.algorithm)
		die(EX_USAGE, "no algorithm is called %s", name);
}

static void parse_block(struct job *job, const char *text)
{
	job->sim.block = option_number("--block", text, TASKCLUSTER_WORDS, 65536);
	if (job->sim.block & (job->sim.block - 1))
		die(EX_USAGE, "--block %s: must be a power of two", text);
}

static void parse_place(struct job *job, char *text)
{
	char *cpus = strchr(text, 'x');

	if (!cpus)
		die(EX_USAGE, "--place %s: must be CHIPSxCPUS, as 2x4", text);
	*cpus++ = '\0';
	job->sim.chips = option_number("--place", text, 1, 1024);
	job->sim.cpus = option_number("--place", cpus, 1, 1024);
}

static void parse_option(struct job *job, int option)
{
	switch (option) {
	case 'a': parse_algorithm(job, optarg); break;
	case 't':
		job->has_threshold = true;
		job->sim.threshold = option_number("--threshold", optarg, 0, INT32_MAX);
		break;
	case 'n': job->sim.samples = option_number("--samples", optarg, 1, 1000000); break;
	case 'b': parse_by(job, optarg); break;
	case 'B': parse_block(job, optarg); break;
	case 'p': job->play = play_parse(optarg, &job->play_options); break;
	case 'T': job->truth = optarg; break;
	case 'c': parse_place(job, optarg); break;
	case 's': job->shmap = true; break;
	case 'j': job->json = true; break;
	case 'h': usage(stdout); close_stdout(); exit(0);
	default: usage(stderr); exit(EX_USAGE);
	}
}

static void parse(struct job *job, int argc, char **argv)
{
	static const struct option options[] = {
		{ "algorithm", required_argument, NULL, 'a' },
		{ "threshold", required_argument, NULL, 't' },
		{ "samples", required_argument, NULL, 'n' },
		{ "by", required_argument, NULL, 'b' },
		{ "block", required_argument, NULL, 'B' },
		{ "play", required_argument, NULL, 'p' },
		{ "truth", required_argument, NULL, 'T' },
		{ "place", required_argument, NULL, 'c' },
		{ "shmap", no_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		parse_option(job, c);
	job->input = argv[optind];
	if (optind != argc - !job->play || (job->play && job->truth) || (job->shmap && job->json)) {
		usage(stderr);
		exit(EX_USAGE);
	}
	if (!job->has_threshold)
		job->sim.threshold = job->sim.algorithm->threshold;
}

/* What cannot be right must not look as if it were. */
static void check_addresses(const struct job *job, const struct samples *s)
{
	bool known = false;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		known |= (job->sim.physical ? s->list[i].phys : s->list[i].addr) != 0;
		if (!job->sim.physical && s->list[i].pid && s->list[i].pid != s->list[0].pid)
			die(EX_DATAERR,
			    "%s: processes %u and %u: only --by physical can tell what they share",
			    job->input, s->list[0].pid, s->list[i].pid);
	}
	if (!known)
		die(EX_DATAERR, "%s: no %s addresses", job->input,
		    job->sim.physical ? "physical" : "virtual");
}

static void load(struct job *job, struct samples *s, struct truths *t)
{
	job->sim.physical = job->by == BY_PHYSICAL ||
			    (job->by == BY_DEFAULT && job->play && job->play->processes);
	if (job->play) {
		job->play_options.samples = job->sim.samples;
		play_samples(job->play, &job->play_options, s, t);
		return;
	}
	samples_read(s, job->input);
	check_addresses(job, s);
	if (job->truth)
		truths_read(t, job->truth);
}

static void require_round(const struct job *job, const struct sim *sim)
{
	if (sim->round.number > 1)
		return;
	die(EX_DATAERR, "%s: %u samples of %u threads are too few for a round; see --samples",
	    job->play ? job->play->name : job->input, sim->round.samples, sim->nr);
}

static void run(const struct job *job, struct sim *sim, const struct samples *s)
{
	json_t *rounds = job->json ? json_array() : NULL;

	sim_run(sim, s, job->json ? json_round : print_round, rounds);
	require_round(job, sim);
	if (job->json) {
		print_json(stdout, json_result(sim, rounds));
		return;
	}
	print_clusters(sim);
	if (job->shmap)
		print_shmap(sim);
	if (sim->round.samples)
		note("%u samples were left, too few for a round", sim->round.samples);
}

int main(int argc, char **argv)
{
	struct job job = {
		.sim = { .algorithm = algorithms, .samples = SAMPLES, .block = BLOCK },
	};
	struct samples s = { };
	struct truths t = { };
	struct sim sim = { .o = &job.sim, .truths = &t };

	setlocale(LC_CTYPE, "");
	parse(&job, argc, argv);
	load(&job, &s, &t);
	run(&job, &sim, &s);
	sim_free(&sim);
	samples_free(&s);
	truths_free(&t);
	close_stdout();
	return 0;
}
