#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Answers questions of ../test, so that Python starts once and not for each of them.

A question is a number of words and these words, each ended by a zero byte; the answer a
line, 0 for yes. Why not is written to the file that is named when this starts.

  json FILE             is it JSON?
  says FILE EXPRESSION  is that true of the document d?
  svg FILE              is it a picture?
  log WORD...           see log.py
  metrics FILE FORMAT   is it prometheus or openmetrics?
  cgroups FILE NAME...  is it of these cgroups, and no others?
  terminal SIGNAL WORD...
                        does this command, ended so, give the terminal back?
  mutants COUNT FILE OUT NAME
                        write OUT0/NAME ...: the file with some bytes changed
"""
import json
import os
import random
import sys
import traceback
import xml.etree.ElementTree

import log
import metrics
import terminal


def document(path):
    with open(path, "rb") as file:
        return json.loads(file.read().decode())


def says(path, expression):
    d = document(path)
    assert eval(expression, {"d": d}), f"not so: {expression}"  # pylint: disable=eval-used


def svg(path):
    assert xml.etree.ElementTree.parse(path).getroot().tag.endswith("svg"), "no svg"


def mutate(seed, text):
    rand, text = random.Random(seed), bytearray(text)
    for _ in range(rand.randint(1, 8)):
        at = rand.randrange(len(text))
        text[at:at + rand.randint(0, 3)] = bytes(rand.choice(b"0189 \n-x\xff\0")
                                                 for _ in range(rand.randint(0, 3)))
    return text[:rand.choice([len(text), rand.randrange(1, len(text))])]


def mutants(count, path, out, name):
    with open(path, "rb") as file:
        text = file.read()
    for seed in range(int(count)):
        os.makedirs(f"{out}{seed}")
        with open(f"{out}{seed}/{name}", "wb") as file:
            file.write(mutate(seed, text))


QUESTIONS = {"json": document, "says": says, "svg": svg, "log": log.main,
             "metrics": metrics.check, "cgroups": metrics.cgroups, "mutants": mutants,
             "terminal": terminal.given_back}


def words(stream):
    """One by one."""
    rest = b""
    while True:
        *whole, rest = rest.split(b"\0")
        yield from (os.fsdecode(word) for word in whole)
        more = os.read(stream, 65536)
        if not more:
            return
        rest += more


def main(why):
    word = words(0)
    for count in word:
        question = [next(word) for _ in range(int(count))]
        try:
            QUESTIONS[question[0]](*question[1:])
            os.write(1, b"0\n")
        except Exception:  # pylint: disable=broad-except
            with open(why, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(" ".join(question) + "\n" + traceback.format_exc(limit=-1))
            os.write(1, b"1\n")


main(*sys.argv[1:])
