#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of bench itself, TAP on standard output.

usage: test_bench.py                  the tests
       test_bench.py --results DIR    invented results of all experiments, for a page
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True


def script(name):
    """The module that is a script beside this file."""
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


bench = script("bench")
kl = script("kl")
epoch_error = script("epoch-error")

NATIVE = """
title = "t"
config = "c"
against = "a"
kind = "native"
[run]
command = "echo size $args"
[[workload]]
each = { small = 1, large = 9 }
args = "{value}"
[[asked]]
figure = "size"
at_most = 5
"""


class Distance(unittest.TestCase):
    """tools/bench/kl."""

    def truth(self, *totals, first=0):
        """What the plugin writes: mark 0, slices, mark 1, each with cycles, insns, dcache."""
        lines, marks = [], [first] + [64] * (len(totals) - 2) + [1]
        for nr, counts in zip(marks, totals):
            lines += [f"{nr} 3 {event} {n} 99" for event, n in zip((1, 2, 32), counts) if n]
            lines += [f"{nr} 2 1 77 77", f"{nr} 2 2 77 77"]
        return lines

    def test_distance(self):
        self.assertEqual(kl.distance([9, 19], [9, 19]), 0)
        self.assertAlmostEqual(kl.distance([499, 499], [249, 749]), 0.2075, 4)
        self.assertAlmostEqual(kl.distance([499, 499], [24, 74]), 0.2075, 4)
        self.assertLess(kl.distance([100, 0], [0, 0]), 1)

    def test_slices(self):
        lines = self.truth((50, 20, 0), (150, 120, 7), (250, 220, 7), (300, 250, 9))
        self.assertEqual(kl.slices_of(lines, 3), [{1: 100, 2: 100, 32: 7}, {1: 100, 2: 100, 32: 0}])
        lines = self.truth((5, 2, 1), (9, 9, 9), (12, 12, 12), first=64)
        self.assertEqual(kl.slices_of(lines, 3), [])

    def test_table(self):
        real = [{1: 1, 2: 10000, 32: 100, 35: 2}, {1: 1, 2: 10000, 34: 1}]
        other = [{1: 1, 2: 10000, 32: 300}, {1: 1, 2: 30000, 34: 80}]
        table = {row[0]: row[1:] for row in kl.compare(real, other)}
        self.assertEqual(table["dcache"], (kl.distance([100, 0], [300, 0]), 5, 7.5))
        self.assertEqual(table["tlb"], (kl.distance([2, 0], [0, 0]), 0.1, 0))
        self.assertEqual(table["branch"], (None, 0.05, 2))
        self.assertEqual(table["int"], (None, 0, 0))
        for wrong in (real[1:], real + real):
            with self.assertRaises(kl.Broken):
                list(kl.compare(real, wrong))
        with self.assertRaises(kl.Broken):
            list(kl.compare(real[1:], real[1:]))


class EpochError(unittest.TestCase):
    """tools/bench/epoch-error."""

    # two runs on CPU 3; event 5 is what CPU 2 has, too
    TRUTH = ["0 3 1 100 9", "0 3 5 10 9", "0 2 1 7 7", "64 3 1 1100 9", "64 3 5 110 9", "1 3 1 5 5",
             "0 3 1 2000 9", "0 3 5 200 9", "64 3 1 3000 9", "64 3 5 200 9", "64 3 1 4000 9",
             "64 3 5 400 9", "64 3 32 50 9"]

    def test_truth(self):
        truth = epoch_error.truth_of(self.TRUTH, 3, 0)
        self.assertEqual(truth, [{1: 0, 5: 0}, {1: 1000, 5: 100}])
        truth = epoch_error.truth_of(self.TRUTH, 3, 1)
        self.assertEqual(truth, [{1: 0, 5: 0}, {1: 1000, 5: 0}, {1: 2000, 5: 200, 32: 50}])
        for cpu, run in (2, 0), (3, 2):
            with self.assertRaises(epoch_error.Broken):
                epoch_error.truth_of(self.TRUTH, cpu, run)

    def test_cut(self):
        """An epoch may end within a slice, and behind the last one."""
        truth = epoch_error.truth_of(self.TRUTH, 3, 1)
        epochs = epoch_error.epochs_of(["1500 5 90", "1500 32 -1", "2500 5 1"])
        self.assertEqual(list(epoch_error.compare(truth, epochs)),
                         [(5, 1500, 90, 100), (32, 1500, -1, 25), (5, 1000, 1, 200)])

    def test_figures(self):
        rows = [(5, 100000, 90, 100), (5, 100000, 120, 100), (6, 1000, 7, 0.5), (7, 1000, 9, 0.05),
                (8, 1000, -1, 100), (8, 1000, 100, 100)]
        got = dict(epoch_error.figures(rows))
        self.assertAlmostEqual(got["percent"], 10)
        self.assertEqual((got["counts"], got["rare_counts"], got["unknown"]), (3, 1, 1))
        self.assertAlmostEqual(got["rare_percent"], 1300)
        self.assertEqual(got["kl_events"], 1)
        self.assertAlmostEqual(got["kl"], epoch_error.distance([(90, 100), (120, 100)]))
        with self.assertRaises(epoch_error.Broken):
            dict(epoch_error.figures([(8, 1000, -1, 100)]))

    def test_one_event(self):
        """One that is rare or unknown in an epoch has no distance, and there a gap in its course."""
        rows = [(5, 100000, 90, 100), (8, 1000, -1, 100), (5, 300000, 120, 100), (8, 1000, 9, 100),
                (7, 100000, 5, 9), (7, 100000, 9, 9)]
        self.assertEqual(list(epoch_error.distances(rows, [5, 7, 8, 9])),
                         [("kl_5", epoch_error.distance([(90, 100), (120, 100)]))])
        self.assertEqual(list(epoch_error.course(rows, 5)),
                         [(100000, 0.9, 1), (400000, 0.4, 100 / 300)])
        counted = [counted for _, counted, _ in epoch_error.course(rows, 8)]
        self.assertTrue(math.isnan(counted[0]) and counted[1] == 9)

    def test_distance(self):
        self.assertEqual(epoch_error.distance([(9, 19), (19, 39)]), 0)
        self.assertAlmostEqual(epoch_error.distance([(249, 499), (749, 499)]), 0.2075, 4)


class Files(unittest.TestCase):
    def test_all_are_good(self):
        for name in bench.names():
            e = bench.load(name)
            self.assertTrue(list(bench.cases(e)), name)
            for asked in e["asked"] if "asked" in e else []:
                bench.limit_of(asked)
            variants = {v["name"] for v in e.get("variant", [])}
            compared = {c["name"] for c in e.get("compared", [])}
            for part in [*e.get("asked", []), *e.get("compared", []), *e.get("table", []),
                         *e.get("plot", [])]:
                to = part.get("to", [])
                named = [*part.get("variants", []), part.get("variant"), part.get("best"),
                         *part.get("seconds", []), part.get("of") if "seconds" in part else None,
                         *([to] if isinstance(to, str) else to)]
                self.assertLessEqual(set(filter(None, named)), variants, name)
                self.assertLessEqual(set(part.get("compared", [])), compared, name)

    def test_each(self):
        tables = list(bench.expanded([{"each": {"a": 1}, "args": "{} {value}", "n": 2}], True))
        self.assertEqual(tables, [{"name": "a", "args": "a 1", "n": 2}])
        tables = list(bench.expanded([{"each": [3, 4], "name": "x{}", "env": {"E": "{}"}}], True))
        self.assertEqual([t["name"] for t in tables], ["x3", "x4"])
        self.assertEqual(tables[1]["env"], {"E": "4"})
        tables = list(bench.expanded([{"each": [40], "to": ["lru, {}", "mglru, {}"]}], False))
        self.assertEqual(tables[0]["to"], ["lru, 40", "mglru, 40"])

    def test_merge(self):
        run = bench.merge({"lab": "-a", "env": {"SETTINGS": "p=1", "D": "x"}, "target": 1},
                          {"name": "v", "lab": "-b", "env": {"SETTINGS": "q=2"}, "target": 2})
        self.assertEqual(run, {"lab": "-a -b", "target": 2,
                               "env": {"SETTINGS": "p=1 q=2", "D": "x"}})


class Figures(unittest.TestCase):
    def test_error(self):
        with tempfile.TemporaryDirectory() as dir_:
            mrc = os.path.join(dir_, "mrc")
            with open(mrc, "w", encoding="utf-8") as file:
                file.write("group_pages 2\nresolved_from 2\npages total\n0 99\n2 100\n4 60\n6 10\n")
            true = {0: 500, 1: 400, 2: 100, 3: 90, 4: 50, 5: 45, 6: 0}
            error, curve = bench.curve_error(mrc, true)
        self.assertAlmostEqual(error, (0 + 10 + 10) / 3 / 100)
        self.assertEqual(curve["pages"], [2, 4, 6])

    def test_pages_in_use(self):
        seen = ("touched 10\ntouched 15\ntouched 20\n",
                "k-1 [000] ..... 1.0: damon_aggregated: target_id=0 nr_regions=2 0-8192: 3 0\n"
                "k-1 [000] ..... 1.0: damon_aggregated: target_id=0 nr_regions=2 8192-40960: 0 0\n"
                "k-1 [000] ..... 1.1: damon_aggregated: target_id=0 nr_regions=1 0-16384: 1 0\n")
        for text, pages in zip(seen, (15, 2)):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(text)
                file.flush()
                self.assertEqual(bench.pages_in_use(file.name), pages)

    def test_drains(self):
        with tempfile.NamedTemporaryFile("w") as file:
            for cpu, us in ((0, 10), (0, 17), (0, 24), (1, 25), (1, 30), (1, 4030), (0, 4040)):
                file.write(f" w-8 [00{cpu}] ..... 2.{us:06}: mmpath_drain: ctx=1 pid=8 records=64\n")
            file.flush()
            self.assertEqual([round(us) for us in bench.drain_us(file.name)], [14, 5, 0, 0])

    def test_repetitions(self):
        first = {"measured": {"ns": 1000}}
        self.assertFalse(list(bench.disagree(first, {"measured": {"ns": 1004}})))
        self.assertTrue(list(bench.disagree(first, {"measured": {"ns": 1006}})))
        self.assertFalse(list(bench.disagree(first, {"measured": {"ns": 1006}}, 0.01)))
        self.assertTrue(list(bench.disagree(first, {"measured": {}})))
        killed = {"measured": {}, "unfinished": "killed"}
        self.assertEqual(list(bench.disagree(first, killed)), ["finished in one run only"])
        self.assertFalse(list(bench.disagree(killed, killed)))

    def test_verdicts(self):
        self.assertEqual(bench.verdict({"at_most": 1}, 1), "met")
        self.assertEqual(bench.verdict({"at_most": 1}, 1.01), "MISSED")
        self.assertEqual(bench.verdict({"at_least": 1}, 0.9), "MISSED")
        self.assertEqual(bench.verdict({"equal": 0}, 0), "met")
        self.assertEqual(bench.verdict({"at_most": 1}, None), "MISSED")

    def test_unfinished_is_missed(self):
        results = [{"workload": "w", "variant": "", "repetition": 1, "measured": {},
                    "figures": {}, "unfinished": "not finished"}]
        asked = {"figure": "f", "at_most": 1}
        self.assertEqual(bench.seen({}, results, asked), [("w", None)])
        # a mean is of all or of none
        results.append({**results[0], "workload": "other", "figures": {"f": 0.5}})
        del results[1]["unfinished"]
        for of in ("mean", "geometric mean"):
            seen = bench.seen({}, results, asked | {"of": of})
            self.assertEqual(seen, [(f"{of} of 2", None)])
            self.assertEqual(bench.verdict(asked, seen[0][1]), "MISSED")
        how = {"name": "t", "variant": "ours", "to": ["stock"], "as": "times as fast"}
        ran = [{"workload": w, "variant": v, "repetition": 1, "figures": {}, "measured": {"ns": 5}}
               for w in ("w", "other") for v in ("ours", "stock")]
        ran[0].update(measured={}, unfinished="killed")
        asked = {"figure": "t", "of": "geometric mean", "at_least": 1}
        self.assertEqual(bench.seen({"compared": [how]}, ran, asked),
                         [("geometric mean of 2", None)])

    def test_only_ours_is_missed(self):
        how = {"name": "t", "variant": "ours", "to": ["stock"], "as": "times as fast"}
        for killed, rows in (("ours", [("w ours", None)]), ("stock", [])):
            results = [{"workload": "w", "variant": v, "repetition": 1, "figures": {},
                        "measured": {"ns": 5}} for v in ("ours", "stock")]
            next(r for r in results if r["variant"] == killed).update(
                measured={}, unfinished="killed")
            asked = {"figure": "t", "at_least": 1}
            self.assertEqual(bench.seen({"compared": [how]}, results, asked), rows)

    def test_killed(self):
        run = {"mode": "swap", "policy": "auto", "memory": 60, "pages": 10, "args": "loop",
               "env": {}}
        for status, wrong in ((bench.KILLED, bench.Unfinished), (1, bench.Broken),
                              (bench.LAB_TIMEOUT, bench.Unfinished)):
            with tempfile.TemporaryDirectory() as out, \
                    unittest.mock.patch.object(bench, "run_quietly", return_value=status), \
                    self.assertRaises(wrong):
                with open(os.path.join(out, "log"), "w", encoding="utf-8") as log:
                    log.write("reason\n")
                bench.in_lab({"kind": "virtual"}, run, out)

    def test_the_worst_counts(self):
        results = [{"workload": "w", "variant": v, "repetition": n, "measured": {},
                    "figures": {"f": f}} for v, n, f in (("a", 1, 3), ("b", 1, 4), ("a", 2, 6),
                                                         ("b", 2, 2))]
        for limit, worst in (({"at_most": 9}, [6, 4]), ({"at_least": 1}, [3, 2]),
                             ({"equal": 3}, [6, 4]), ({"at_most": 9, "of": "mean"}, [5])):
            seen = bench.seen({}, results, {"figure": "f"} | limit)
            self.assertEqual([value for _, value in seen], worst)
        how = {"name": "t", "figure": "f", "variant": "a", "to": "b", "as": "times"}
        seen = bench.seen({"compared": [how]}, results, {"figure": "t", "at_most": 1})
        self.assertEqual(seen, [("w", 3)])
        results[2]["unfinished"], results[2]["figures"] = "not finished", {}
        self.assertEqual(bench.seen({}, results, {"figure": "f", "at_most": 9})[0], ("w a", None))

    def test_of_host_times_the_least(self):
        results = [{"workload": "w", "variant": v, "repetition": n, "figures": {},
                    "measured": {"host seconds": f}}
                   for v, n, f in (("a", 1, 14), ("a", 2, 12), ("b", 1, 8), ("b", 2, 20))]
        how = {"name": "t", "figure": "host seconds", "variant": "a", "to": "b", "as": "times"}
        e = {"compared": [how], "kind": "real"}
        self.assertEqual(bench.seen(e, results, {"figure": "t", "at_most": 1}), [("w", 1.5)])

    def test_compared(self):
        def result(workload, variant, n):
            return {"workload": workload, "variant": variant, "repetition": 1,
                    "measured": {"f": n}, "figures": {}}
        results = [result("w", "a", 30), result("w", "b", 20), result("x", "a", 1),
                   result("x", "b", 1)]
        how = {"figure": "f", "variant": "a", "to": "b", "as": "times"}
        self.assertEqual(list(bench.compare(results, how)), [("w", 1.5), ("x", 1.0)])
        self.assertEqual(list(bench.compare(results, how | {"from": 10, "as": "percent more"})),
                         [("w", 50.0)])
        results.append(result("w", "c", 15))
        self.assertEqual(list(bench.compare(results, how | {"to": ["b", "c"]})), [("w", 2.0)])

    def test_memory_is_short(self):
        def result(variant, measured, workload="w"):
            return {"workload": workload, "variant": variant, "repetition": 1,
                    "measured": measured, "figures": {}}
        # alone 100; a fault costs 9 in the better stock: the best is 100 + 40 * 9
        results = [result("best", {"ns": 100, "least faults": 40}),
                   result("a", {"ns": 1200, "major faults": 130}),
                   result("b", {"ns": 1000, "major faults": 100}),
                   result("ours", {"ns": 730})]
        how = {"figure": "ns", "variant": "ours", "to": ["a", "b"], "best": "best"}
        self.assertEqual(list(bench.compare(results, how | {"as": "gap share"})), [("w", 50.0)])
        times = list(bench.compare(results, how | {"as": "times as fast"}))
        self.assertEqual(times, [("w", 1000 / 730)])
        bench.project_best({"compared": [how | {"as": "gap share"}]}, results)
        self.assertEqual([r["figures"].get("seconds") for r in results],
                         [460 / 1e9, None, None, None])
        # nothing to be gained, nothing to be shown
        results[0]["measured"]["least faults"] = 99
        self.assertEqual(list(bench.compare(results, how | {"as": "gap share"})), [])
        asked = {"figure": "t", "of": "geometric mean", "at_least": 1}
        results += [result(v, {"ns": n}, "x") for v, n in (("a", 4), ("b", 8), ("ours", 2))]
        seen = bench.seen({"compared": [how | {"as": "times as fast", "name": "t"}]}, results,
                          asked)
        self.assertAlmostEqual(seen[0][1], (2 * 1000 / 730) ** 0.5)

    def test_worst(self):
        results = [{"workload": w, "variant": v, "repetition": 1, "measured": {"ns": n},
                    "figures": {}} for w, v, n in (("w", "a", 9), ("w", "b", 10), ("x", "a", 12),
                                                   ("x", "b", 10))]
        how = {"name": "t", "figure": "ns", "variant": "a", "to": ["b"], "as": "times"}
        asked = {"figure": "t", "of": "worst"}
        for limit, seen in (("at_most", ("worst of 2, x", 1.2)), ("at_least", ("worst of 2, w", 0.9))):
            self.assertEqual(bench.seen({"compared": [how]}, results, asked | {limit: 1}), [seen])
        # one that was not finished is worse than any
        results[0] |= {"unfinished": "not finished", "measured": {}}
        self.assertEqual(bench.seen({"compared": [how]}, results, asked | {"at_most": 1}),
                         [("worst of 2, w a", None)])
        self.assertEqual(bench.seen({}, [], asked | {"at_most": 1}), [])

    def test_table(self):
        def result(workload, variant, seconds, **figures):
            return {"workload": workload, "variant": variant, "repetition": 1,
                    "measured": {}, "figures": {"seconds": seconds} | figures}
        results = [result("w", "none,x", 4), result("w", "auto,x", 1, hidden=80),
                   result("y", "none,x", 3), result("y", "auto,x", 3, hidden=20),
                   result("half", "none,x", 3)]
        e = {"compared": [{"name": "time, x", "figure": "seconds", "variant": "auto,x",
                           "to": ["none,x"], "as": "times"}]}
        t = {"title": "t", "seconds": ["none,x", "auto,x"], "of": "auto,x",
             "figures": ["hidden"], "compared": ["time, x"]}
        self.assertEqual(bench.tabulated(e, results, t), (
            ["", "none", "auto", "hidden", "time"],
            [["w", "4", "1", "80", "0.25"], ["y", "3", "3", "20", "1"],
             ["mean", "", "", "50", "0.5"]]))
        self.assertEqual(bench.tabulated(e, results[4:], t)[1], [])

    def swapped(self, **files):
        with tempfile.TemporaryDirectory() as out:
            for name, lines in files.items():
                with open(os.path.join(out, name), "w", encoding="utf-8") as file:
                    file.write(lines)
            return bench.swapped(out)

    def test_swapped(self):
        plain = "ns 2000000000\nmajor 7\n"
        vm = "waited 30\npswpin 1000\npswpout 0\nswap_ra 100\nswap_ra_hit 90\nseconds 4\n"
        stat = "prefetch_ondemand 20\nprefetch_prefetched 200\nprefetch_hit 180\nprefetch_late 9\n"
        measured, figures = self.swapped(plain=plain)
        self.assertEqual(measured, {"ns": 2000000000, "major faults": 7})
        self.assertEqual(figures, {"seconds": 2})
        figures = self.swapped(plain=plain, vm=vm)[1]
        self.assertEqual(figures, {"seconds": 2, "hidden, %": 75, "precision, %": 90,
                                   "faults/s": 7.5, "in, MB/s": 1.024, "out, MB/s": 0,
                                   "pages in": 1000, "pages out": 0})
        off = vm.replace("swap_ra 100", "swap_ra 0")
        self.assertNotIn("hidden, %", self.swapped(plain=plain, vm=off)[1])
        figures = self.swapped(plain=plain, vm=vm, prefetch=stat)[1]
        self.assertEqual((figures["hidden, %"], figures["precision, %"], figures["late, %"]),
                         (90, 90, 5))

    def test_two_on_a_disk(self):
        with tempfile.TemporaryDirectory() as out:
            for i, hit in ((1, 30), (2, 0)):
                with open(os.path.join(out, f"plain-{i}"), "w", encoding="utf-8") as file:
                    file.write(f"ns {i}000000000\nmajor 7\n")
                with open(os.path.join(out, f"prefetch-{i}"), "w", encoding="utf-8") as file:
                    file.write(f"prefetch_ondemand 10\nprefetch_prefetched 60\n"
                               f"prefetch_hit {hit}\nprefetch_late 3\n")
            measured, figures, _ = bench.shared({"env": {}}, out)
        self.assertEqual(measured["ns"], 3000000000)
        self.assertEqual([figures[f"hidden, %, {i}"] for i in (1, 2)], [75, 0])
        self.assertEqual(figures["precision, %, 1"], 50)

    def test_charges(self):
        lines = ["#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
                 "  a-b-7  [000] ..... 1.000010: mm_vmscan_memcg_reclaim_end: nr_reclaimed=1",
                 "  a-b-7  [000] ..... 1.000100: mm_vmscan_memcg_reclaim_begin: order=0",
                 "  kw-9   [000] ..... 1.000110: mm_vmscan_memcg_reclaim_begin: order=0",
                 "  a-b-7  [000] ..... 1.000130: mm_vmscan_memcg_reclaim_end: nr_reclaimed=1",
                 "  kw-9   [000] ..... 1.000150: mm_vmscan_memcg_reclaim_end: nr_reclaimed=1"]
        with tempfile.NamedTemporaryFile("w", suffix=".charges") as file:
            file.write("\n".join(lines))
            file.flush()
            took = [round(us) for us in bench.charges_us(file.name)]
        self.assertEqual(took, [30, 40])
        self.assertEqual([bench.percentile(took, p) for p in (50, 51, 99)], [30, 40, 40])
        self.assertEqual(bench.percentile(range(1, 201), 99), 198)

    def read_looks(self, *lines):
        with tempfile.NamedTemporaryFile("w", suffix=".looks") as file:
            file.write("\n".join(lines))
            file.flush()
            return bench.read_looks(file.name)

    def test_looks(self):
        def look(seconds, *children):
            return f"{seconds} " + " ".join(
                f"{i}.usage_usec={us} {i}.workingset_refault_anon={n} {i}.workingset_refault_file=1"
                for i, (us, n) in enumerate(children, 1))
        # not yet converged; 100 and 90 a second; 120 in the last look; the first has ended
        lines = [look(1, (0, 0), (0, 0)), look(2, (500000, 500), (500000, 9)),
                 look(3, (1000000, 550), (1000000, 54)), look(4, (1500000, 610), (1500000, 99)),
                 look(5, (1500000, 610), (2500000, 199))]
        looks = self.read_looks(*lines)
        self.assertEqual(bench.rates_between(looks[1], looks[2]), [100, 90])
        self.assertEqual(bench.rates_between(looks[3], looks[4]), [None, 100])
        self.assertEqual(bench.together(looks), looks[:4])
        self.assertEqual(bench.settled(looks[:4]), looks[1:4])
        figures = bench.rates_of(looks[1:4], ["100", "-"])
        self.assertEqual(figures["rate, 1"], 110)
        self.assertAlmostEqual(figures["rates apart, %"], 100 * 20 / 110)
        self.assertEqual(figures["looks kept, %"], 50)
        self.assertNotIn("looks kept, %", bench.rates_of(looks[1:4], []))
        self.assertIsNone(bench.course_of(looks))
        with self.assertRaises(bench.Broken):
            bench.together(looks[3:])

    def test_course(self):
        looks = self.read_looks("7.5 1.target=max 1.usage_usec=1 2.target=max",
                                "8.0 1.target=409600 2.target=1228800",
                                "8.5 1.target=819200 2.target=819200",
                                "9.0 1.target=737280 2.target=901120")
        course = bench.course_of(looks)
        self.assertEqual(course, {"seconds": [0, 0.5, 1, 1.5],
                                  "targets": [[None, 100, 200, 180], [None, 300, 200, 220]]})
        self.assertEqual(bench.moved(course, 0), 25)
        self.assertEqual(bench.moved(course, 2), 5)

    def test_least_faults(self):
        run = {"pages": 200, "memory": 60}
        self.assertEqual(bench.memory_of(run), 120)
        table = "# 90 touches, 150 pages; timed: 60 touches, 3 new pages\npages,opt\n120,9\n"
        done = unittest.mock.Mock(stdout=table)
        with tempfile.TemporaryDirectory() as out, \
                unittest.mock.patch.object(bench.subprocess, "run", return_value=done) as started:
            with open(os.path.join(out, "truth"), "wb"):
                pass
            self.assertEqual(bench.least_faults(run, out), (6, 150))
            self.assertEqual(os.listdir(out), [])
        self.assertIn("--timed", started.call_args.args[0])
        self.assertIn("120", started.call_args.args[0])


class Runs(unittest.TestCase):
    """In a directory of their own, with experiments of their own."""

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.saved = bench.BIN, bench.RESULTS, bench.EXPERIMENTS, bench.in_lab
        bench.BIN = bench.EXPERIMENTS = self.dir.name
        bench.RESULTS = os.path.join(self.dir.name, "results")

    def tearDown(self):
        bench.BIN, bench.RESULTS, bench.EXPERIMENTS, bench.in_lab = self.saved
        self.dir.cleanup()

    def write(self, text):
        with open(os.path.join(self.dir.name, "t.toml"), "w", encoding="utf-8") as file:
            file.write(text)

    def bench(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out, \
                contextlib.redirect_stderr(out):
            status = bench.bench(list(words))
        return status, out.getvalue()

    def test_native(self):
        self.write(NATIVE)
        status, out = self.bench("t")
        self.assertEqual(status, 0)
        self.assertIn("1 met, 1 MISSED", out)
        self.assertEqual(len(bench.results_of("t")), 4)
        # one workload again: the other's results stay
        self.assertEqual(self.bench("t:small")[0], 0)
        self.assertEqual(len(bench.results_of("t")), 4)
        with self.assertRaisesRegex(bench.Broken, "no workload none"):
            self.bench("t:none")

    def test_picture(self):
        self.write(NATIVE.replace("echo size", "echo '<svg/>' >$out/picture.svg; echo size"))
        self.bench("t")
        self.assertEqual({r["picture"] for r in bench.results_of("t")}, {"<svg/>\n"})
        self.write(NATIVE)
        self.bench("t")
        self.assertNotIn("picture", bench.results_of("t")[0])

    def test_variants(self):
        self.write(NATIVE + '[[variant]]\neach = ["none,60", "auto,60", "auto,40"]\n')
        self.assertEqual(self.bench("t")[0], 0)
        # some again: the results of the others stay
        status, out = self.bench("t:s*:*,60")
        self.assertEqual((status, out.count("t small")), (0, 4))
        self.assertEqual(len(bench.results_of("t")), 12)
        self.assertEqual(out.count("large auto,40: size"), 0)
        with self.assertRaisesRegex(bench.Broken, "no variant other of small"):
            self.bench("t:small:other")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            bench.bench(["t:small:auto,40"], once=True)
        self.assertEqual(out.getvalue().count("t small"), 1)
        self.assertEqual(len(bench.results_of("t")), 11)

    def test_progress(self):
        def left():
            now = iter([100, 130, 160])
            with unittest.mock.patch("time.monotonic", lambda: next(now)), \
                    contextlib.redirect_stdout(io.StringIO()) as out:
                progress = bench.Progress([(e, *case) for case in bench.cases(e)])
                progress.finished("one", 60)
                progress.finished("two", 60)
            return out.getvalue()
        self.write(NATIVE)
        e = bench.load("t")
        # two at a time; the others take as long, for all that is known
        self.assertEqual(left(), "[1/4, 2 min left] one\n[2/4, 1 min left] two\n")
        self.bench("t")
        results = [{**r, "seconds": 600} for r in bench.results_of("t")]
        with open(bench.results_file("t"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(r) + "\n" for r in results)
        self.assertEqual(left(), "[1/4, 15 min left] one\n[2/4, 10 min left] two\n")

    def test_broken(self):
        self.write(NATIVE.replace("echo size", "false"))
        with self.assertRaisesRegex(bench.Broken, "status 1"):
            self.bench("t")
        self.write(NATIVE.replace("title", "titel"))
        with self.assertRaisesRegex(bench.Broken, "what is titel"):
            self.bench("t")
        self.write(NATIVE.replace('figure = "size"', 'figure = "siez"'))
        with self.assertRaisesRegex(bench.Broken, "no figure for siez"):
            self.bench("t")
        self.write(NATIVE.replace("[run]", '[run]\nprogram = "real"\nmode = "steady"'))
        with self.assertRaisesRegex(bench.Broken, "mode steady is not for real programs"):
            self.bench("t")
        with self.assertRaisesRegex(bench.Broken, "no experiment none"):
            self.bench("none")

    def test_broken_again(self):
        self.write(NATIVE)
        self.bench("t")
        before = bench.results_of("t")
        self.write(NATIVE.replace("echo size", "test $args = 1 && echo size"))
        with self.assertRaisesRegex(bench.Broken, "status 1"):
            self.bench("t")
        self.assertEqual(bench.results_of("t"), before)

    def test_not_all_have_results(self):
        self.write(NATIVE)
        self.bench("t:small")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(bench.judge(bench.load("t")), (1, 1))
            self.assertEqual(bench.judge(bench.load("t"), whole=False), (1, 0))
        self.assertRegex(out.getvalue(), "(?m)^  large +no result +MISSED$")

    def test_not_repeatable(self):
        self.write(NATIVE.replace("native", "virtual"))
        ns = iter([1000, 1000, 1000, 1010])

        def fake(*_):
            return {"command": "", "measured": {"ns": next(ns)}, "figures": {"size": 1},
                    "curve": None}
        with unittest.mock.patch.object(bench, "natively", fake):
            status, out = self.bench("t")
        self.assertEqual(status, 1)
        self.assertIn("not repeatable: ns", out)


class Functions(unittest.TestCase):
    """What is counted for a step is told for a sample, and nothing is left out."""

    MAP = "ffff01 T vpmu_drain\nffff09 t odd\nffff20 T perf_event_open\nffff30 D vpmu_data\n"
    BASE = "ffff09 2 5\nffff20 3 10\n"
    OTHER = "ffff01 4 10\nffff05 6 10\nffff09 2 15\nffff20 3 20\nffff25 1 10\n"

    def functions(self, *more, base=BASE):
        with tempfile.TemporaryDirectory() as out:
            for name, text in (("map", self.MAP), ("base", base), ("other", self.OTHER)):
                with open(os.path.join(out, name), "w", encoding="ascii") as file:
                    file.write(text)
            return subprocess.run(
                [os.path.join(HERE, "functions"),
                 *(os.path.join(out, name) for name in ("map", "base", "other")), *more],
                capture_output=True, text=True, check=False)

    def test_steps(self):
        steps = dict(line.split() for line in self.functions("10").stdout.splitlines())
        wanted = {"driver": "10.0", "events": "4.0", "other": "2.0"}
        self.assertEqual({step: n for step, n in steps.items() if n != "0.0"}, wanted)

    def test_top(self):
        self.assertEqual(self.functions("10", "2").stdout,
                         "vpmu_drain 10.0 1.00\nperf_event_open 4.0 1.00\n")

    def test_broken(self):
        done = self.functions("10", base="1 2 3\n")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^functions: \S+/base: 1 is in no function\n$")
        self.assertIn("usage:", self.functions("ten").stderr)


class Tap(unittest.TextTestResult):
    def addSuccess(self, test):
        print(f"ok {test.id().removeprefix('__main__.')}")

    def addFailure(self, test, err):
        print(f"not ok {test.id().removeprefix('__main__.')}")
        print("\n".join("# " + line for line in self._exc_info_to_string(err, test).split("\n")))
        super().addFailure(test, err)

    addError = addFailure


PICTURE = '<?xml version="1.0"?><svg width="300" height="100">' + \
    "".join(f'<rect x="{x}" width="9" height="90"/>' for x in range(0, 100, 10)) + "</svg>"


def invent(name):
    """Results of experiment @name that look like some."""
    e = bench.load(name)
    for nr, (workload, variant, _) in enumerate(bench.cases(e)):
        wanted = {a["figure"] for a in e.get("asked", [])} | \
            {p["y"] for p in e.get("plot", []) if "y" in p} | \
            {c["figure"] for c in e.get("compared", [])} | \
            {f for t in e.get("table", []) for f in t["figures"]}
        curve = {"pages": list(range(64, 6400, 64)),
                 "predicted": [6400 - m + nr * 50 for m in range(64, 6400, 64)],
                 "true": [6400 - m for m in range(64, 6400, 64)],
                 "seconds": [0, 0.2, 0.4], "targets": [[None, 100, 120 + nr], [None, 300, 280]]}
        for repetition in (1, 2):
            yield {"experiment": name, "workload": workload["name"], "variant": variant["name"],
                   "repetition": repetition, "command": "an <invented> command", "seconds": 1.0,
                   "measured": {"ns plain": 1000 + repetition}, "curve": curve,
                   "figures": {f: 0.01 + nr / 7 for f in wanted}, "version": "none",
                   "picture": PICTURE}


def main():
    if sys.argv[1:2] == ["--results"]:
        for name in bench.names():
            with open(os.path.join(sys.argv[2], name + ".jsonl"), "w", encoding="utf-8") as file:
                file.writelines(json.dumps(r) + "\n" for r in invent(name))
        return 0
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    runner = unittest.TextTestRunner(stream=io.StringIO(), resultclass=Tap)
    return 0 if runner.run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
