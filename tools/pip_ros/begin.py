# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs an installed program: begin.py PROGRAM ARGUMENTS ...

Its imports take a second or more. Ctrl-C meanwhile ends the process silently; Python's own handler
would print where it was. The caller blocks the signals, so none arrives before the handlers exist.
"""

import os
import signal
import sys

SIGNALS = (signal.SIGINT, signal.SIGTERM)

if __name__ == "__main__":  # not in worker processes, which import this file anew
    before = {number: signal.signal(number, lambda *_: os._exit(130)) for number in SIGNALS}
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    sys.path[:] = [path for path in sys.path if not __file__.startswith(f"{path}/begin")]

    from importlib.metadata import distribution

    del sys.argv[0]
    package, name = sys.argv[0].split("/")[-2:]  # of lib/PACKAGE/NAME
    points = distribution(package).entry_points
    program = next(point for point in points if point.name == name).load()
    for number, handler in before.items():
        signal.signal(number, handler)
    sys.exit(program())
