# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs an installed program: begin.py PROGRAM ARGUMENTS ...

Its imports take a second or more. Ctrl-C meanwhile ends the process silently; Python's own handler
would print where it was. The caller blocks the signals, so none arrives before the handlers exist.
"""

import os
import signal
import sys
from importlib import import_module
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def entry_point(package: str, name: str) -> list[str]:
    """Return module and function of a program, without importlib.metadata's many imports."""
    pattern = f"{package}[-.]*-info/entry_points.txt"
    files = (file for path in sys.path for file in Path(path).glob(pattern))
    lines = (line.split(" = ") for file in files for line in file.read_text().splitlines())
    return next(words[1].split(":") for words in lines if words[0] == name)


if __name__ == "__main__":  # not in worker processes, which import this file anew
    before = {number: signal.signal(number, lambda *_: os._exit(130)) for number in SIGNALS}
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    sys.path[:] = [path for path in sys.path if not __file__.startswith(f"{path}/begin")]

    del sys.argv[0]
    module, function = entry_point(*sys.argv[0].split("/")[-2:])  # of lib/PACKAGE/NAME
    program = getattr(import_module(module), function)
    for number, handler in before.items():
        signal.signal(number, handler)
    sys.exit(program())
