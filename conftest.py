# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Programs under test hear Ctrl-C, also where the tests run in the background of a shell."""

import signal


def pytest_configure(config):
    """A background process ignores SIGINT, and its children inherit that."""
    del config
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
