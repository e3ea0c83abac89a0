# SPDX-License-Identifier: GPL-2.0
"""Does a command that draws on a terminal give it back when it is ended by a signal?"""
import os
import pty
import select
import signal
import subprocess
import termios
import time

PATIENCE = 60   # seconds, for a command that does not end


def output(process, master, until):
    """What comes till the end, or till it has that."""
    data, end = b"", time.monotonic() + PATIENCE
    while until not in data and time.monotonic() < end:
        ended = process.poll() is not None
        if select.select([master], [], [], 0 if ended else 0.1)[0]:
            data += os.read(master, 65536)
        elif ended:
            return data
    return data


def given_back(name, *command):
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave,
                               start_new_session=True, env=os.environ | {"TERM": "xterm"})
    try:
        drawn = output(process, master, b"quit")
        assert b"\x1b[?1049h" in drawn, f"no screen: {drawn}"
        process.send_signal(getattr(signal, name))
        rest = output(process, master, b"\x1b[?1049l")
        rest += output(process, master, b"nothing more")
        assert process.poll() is not None, "it does not end"
        assert b"\x1b[?1049l" in rest, f"the screen is not left: {rest}"
        assert termios.tcgetattr(slave) == before, "the terminal is not as it was"
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)
