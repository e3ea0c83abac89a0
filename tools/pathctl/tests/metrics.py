# SPDX-License-Identifier: GPL-2.0
"""Is a text what Prometheus reads, or OpenMetrics? And of which cgroups is it?"""
import os
import re

LABEL = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r'([a-zA-Z_]\w*)(?:\{(%s(?:,%s)*)\})? (\S+)$' % (LABEL, LABEL))
CGROUP = re.compile(r'path_cgroup_records_total\{cgroup="(.*)"\} ')
UNITS = ("bytes", "ratio", "seconds")


def lines_of(path):
    """Not those of splitlines(), which ends a line at other characters as well."""
    with open(path, "rb") as file:
        text = file.read().decode()
    assert text.endswith("\n")
    return text[:-1].split("\n")


def check(path, form):
    lines, opened = lines_of(path), form == "openmetrics"
    if opened:
        assert lines.pop() == "# EOF"
    types = ("gauge", "counter", "stateset") if opened else ("gauge", "counter")
    families, current, unit, seen = {}, None, False, set()
    for line in lines:
        if line.startswith("# HELP "):
            assert current is None or families[current], "no sample: " + line
            _, _, current, _ = line.split(" ", 3)
            assert current not in families, "family twice: " + current
            families[current], kind, unit = 0, None, False
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == current and kind in types, line
            assert kind != "counter" or current.endswith("_total") != opened, line
        elif line.startswith("# UNIT "):
            _, _, name, unit = line.split(" ")
            assert opened and name == current and name.endswith("_" + unit), line
        else:
            match = SAMPLE.match(line)
            assert match and kind, line
            want = current + ("_total" if opened and kind == "counter" else "")
            assert match[1] == want, "sample outside of its family: " + line
            assert unit or not opened or not current.endswith(UNITS), "no unit: " + line
            assert (match[1], match[2]) not in seen, "sample twice: " + line
            seen.add((match[1], match[2]))
            float(match[3])
            families[current] += 1
    assert families


def cgroups(path, *want):
    """The values of a label, with what was escaped in them, are these; in any order."""
    found = [CGROUP.match(line) for line in lines_of(path)]
    got = [re.sub(r"\\(.)", lambda c: {"n": "\n"}.get(c[1], c[1]), match[1])
           for match in found if match]
    assert sorted(got) == sorted(want), f"{got}, not {[os.fsencode(name) for name in want]}"
