# SPDX-License-Identifier: GPL-2.0
"""Is a text OpenMetrics?"""
import re

LABEL = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(r'([a-zA-Z_]\w*)(?:\{(%s(?:,%s)*)\})? (\S+)$' % (LABEL, LABEL))


def check(path):
    with open(path, "rb") as file:
        text = file.read().decode()
    assert text.endswith("# EOF\n") and text.count("# EOF") == 1
    families, current, unit, seen = {}, None, None, set()
    for line in text.split("\n")[:-2]:
        if line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            assert current not in families, "family twice: " + current
            assert kind in ("gauge", "counter", "stateset", "unknown"), kind
            families[current] = kind
        elif line.startswith("# UNIT "):
            _, _, name, unit = line.split(" ")
            assert name == current and name.endswith("_" + unit), line
        elif line.startswith("# HELP "):
            assert line.split(" ")[2] == current and len(line.split(" ")) > 3, line
        else:
            match = SAMPLE.match(line)
            assert match, line
            want = current + ("_total" if families[current] == "counter" else "")
            assert match[1] == want, "sample outside of its family: " + line
            assert (match[1], match[2]) not in seen, "sample twice: " + line
            seen.add((match[1], match[2]))
            float(match[3])
    assert families
