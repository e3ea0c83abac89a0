# SPDX-License-Identifier: GPL-2.0
"""Another reader and writer of recordings, from log-format.rst alone.

  make KIND FILE        write a recording: loop, processes, huge, or a bad one
  raw FILE OUT          its events, as /dev/mmpath would give them
  is FILE RAW           is it a good one, with just these events?
  curve FILE JSON       is the curve in there that of its string?
  mutants COUNT FILE OUT...
                        write OUT0, OUT1 ...: the file with some bytes changed
"""
import json
import random
import struct

HEADER = struct.Struct("<8sIIIIQ32s")
EVENT = struct.Struct("<QIBBH")
END = struct.Struct("<QIBBH")
MAGIC = b"MMPATH\r\n"
BASE = 0x100000000000


def header(magic=MAGIC, version=1, size=64, event=16, page=4096, driver=b"test",
           started=1795273401 * 10 ** 9):
    return HEADER.pack(magic, version, size, event, page, started, driver)


def access(page, pid=42, order=0, flags=0, addr=None):
    return EVENT.pack(BASE + page * 4096 if addr is None else addr, pid, 0, order, flags)


def lost(count):
    return EVENT.pack(count, 0, 1, 0, 0)


def end(count, resolved=1, shift=0, kind=255, zero=0):
    return END.pack(count, resolved, kind, shift, zero)


def whole(events, **keys):
    return header(**keys) + b"".join(events) + end(len(events))


LOOP = [access(i % 600, flags=i & 1) for i in range(6000)]


def processes():
    """Three of them at the same addresses, in bursts of all lengths."""
    rand, events = random.Random(7), []
    while len(events) < 20000:
        pid, kind = rand.choice([42, 43, 4194303]), rand.randrange(3)
        for i in range(rand.choice([1, 2, 30, 700])):
            page = [i % 100, rand.randrange(40), rand.randrange(1000)][kind]
            events.append(access(page, pid))
    return events


def huge():
    rand = random.Random(8)
    return [access(512 * rand.randrange(6), order=9) if i % 9 == 0 else
            access(rand.randrange(3072)) for i in range(900)]


KINDS = {
    "loop": lambda: whole(LOOP),
    "processes": lambda: whole(processes()),
    "huge": lambda: whole(huge()),
    "empty": lambda: whole([]),
    "lossy": lambda: header() + b"".join(LOOP[:10] + [lost(7)] + LOOP[10:20]) + end(21, 2048, 3),
    "longer-header": lambda: header(size=80) + b"tomorrow's thing" + b"".join(LOOP) + end(6000),
    "many": lambda: whole([access(0, pid) for pid in range(1, 1500)]),
    "no-start": lambda: whole(LOOP, started=0),
    "most-lost": lambda: whole(LOOP + [lost(1 << 63), lost((1 << 63) - 1)]),
    # none of these is a recording
    "nothing": lambda: b"",
    "short": lambda: header()[:40],
    "magic": lambda: whole(LOOP, magic=b"MMPATH\n\0"),
    "version": lambda: whole(LOOP, version=2),
    "header-size": lambda: whole(LOOP, size=32),
    "header-huge": lambda: whole(LOOP, size=1 << 31),
    "event-size": lambda: whole(LOOP, event=24),
    "page-size": lambda: whole(LOOP, page=5000),
    "driver": lambda: whole(LOOP, driver=b"x" * 32),
    "cut": lambda: whole(LOOP)[:-16],
    "cut-in-event": lambda: whole(LOOP)[:5000],
    "count": lambda: header() + b"".join(LOOP) + end(5999),
    "more": lambda: whole(LOOP) + access(0),
    "end": lambda: header() + b"".join(LOOP) + end(6000, shift=64),
    "end-zero": lambda: header() + b"".join(LOOP) + end(6000, zero=1),
    "type": lambda: whole(LOOP + [EVENT.pack(BASE, 42, 2, 0, 0)]),
    "order": lambda: whole(LOOP + [access(0, order=14)]),
    "order-255": lambda: whole(LOOP + [access(0, order=255)]),
    "flags": lambda: whole(LOOP + [access(0, flags=4)]),
    "pid": lambda: whole(LOOP + [access(0, pid=1 << 22)]),
    "unaligned": lambda: whole(LOOP + [access(0, addr=BASE + 8)]),
    "address": lambda: whole(LOOP + [access(0, addr=1 << 57)]),
    "last-address": lambda: whole(LOOP + [access(0, addr=(1 << 57) - 4096, order=1)]),
    "lost-nothing": lambda: whole(LOOP + [lost(0)]),
    "too-many-lost": lambda: whole(LOOP + [lost(1 << 63), lost(1 << 63)]),
    # good ones that this machine refuses
    "pages-64k": lambda: whole([access(0, addr=1 << 32)], page=65536),
    "beyond": lambda: whole([access(0), access(0, addr=1 << 56)]),
}


def events_of(path):
    """(event, its fields) of a whole recording; asserts what the format promises."""
    with open(path, "rb") as file:
        data = file.read()
    magic, version, size, event, page, _, driver = HEADER.unpack_from(data)
    assert (magic, version, event, page) == (MAGIC, 1, 16, 4096)
    assert driver.endswith(b"\0") and driver.split(b"\0", 1)[1].strip(b"\0") == b""
    count, _, kind, _, zero = END.unpack_from(data, len(data) - 16)
    assert (kind, zero, count * 16) == (255, 0, len(data) - size - 16)
    for at in range(size, len(data) - 16, 16):
        yield data[at:at + 16], EVENT.unpack_from(data, at)


def string_of(path):
    """The pages in the order of their accesses."""
    for _, (addr, pid, kind, order, _) in events_of(path):
        if kind == 0:
            for i in range(1 << order):
                yield pid, (addr >> 12) + i


def mattson(string):
    """How often each stack distance occurs (the page itself counted), and first touches."""
    string = list(string)
    tree, last, distances, cold = [0] * (len(string) + 1), {}, {}, 0

    def add(at, what):
        at += 1
        while at <= len(string):
            tree[at] += what
            at += at & -at

    def below(at):
        total = 0
        while at:
            total += tree[at]
            at -= at & -at
        return total

    for now, page in enumerate(string):
        before = last.get(page)
        if before is None:
            cold += 1
        else:
            distance = below(now) - below(before)
            distances[distance] = distances.get(distance, 0) + 1
            add(before, -1)
        add(now, 1)
        last[page] = now
    return distances, cold, len(string)


def check_curve(path, curve):
    distances, cold, records = mattson(string_of(path))
    want = {"records": records, "cold": cold, "footprint_pages": cold}
    got = {key: curve[key] for key in want}
    assert got == want, f"{got}, not {want}"
    assert len(curve["points"]) > 2
    for point in curve["points"]:
        misses = sum(n for d, n in distances.items() if d > point["pages"])
        assert point["total"] == misses, f"{point}, not {misses}"


def mutate(seed, data):
    rand, data = random.Random(seed), bytearray(data)
    for _ in range(rand.randint(1, 6)):
        at = rand.randrange(len(data)) if rand.random() < 0.5 else rand.randrange(96)
        data[at:at + rand.randint(0, 3)] = rand.randbytes(rand.randint(0, 3))
    return data[:rand.choice([len(data), rand.randrange(1, len(data))])]


def main(what, *args):
    if what == "make":
        with open(args[1], "wb") as file:
            file.write(KINDS[args[0]]())
    elif what == "raw":
        with open(args[1], "wb") as file:
            file.writelines(event for event, _ in events_of(args[0]))
    elif what == "is":
        with open(args[1], "rb") as file:
            assert b"".join(event for event, _ in events_of(args[0])) == file.read()
    elif what == "curve":
        with open(args[1], "rb") as file:
            check_curve(args[0], json.load(file)["curve"])
    elif what == "mutants":
        with open(args[1], "rb") as file:
            data = file.read()
        for seed in range(int(args[0])):
            with open(f"{args[2]}{seed}", "wb") as file:
                file.write(mutate(seed, data))
    else:
        raise ValueError(what)
