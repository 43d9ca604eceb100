# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""ROS domains for tests: each is used by one test file of one process at a time.

A lease is an abstract Unix socket: the kernel frees it when its process ends, and it is visible in
the same network namespace as DDS.
"""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

COUNT = 50  # 1 to 50; benchmarks have 77 to 80
_numbers = itertools.count(os.getpid() * 7)


def lease() -> tuple[int, socket.socket]:
    """Return a domain that no other test uses, and the socket that holds it while it is open.

    Raises:
        RuntimeError: All domains are in use.
    """
    for number in itertools.islice(_numbers, COUNT):
        domain = 1 + number % COUNT
        holder = socket.socket(socket.AF_UNIX)
        try:
            holder.bind(f"\0arm-test-domain-{domain}")
        except OSError:
            holder.close()
            continue
        return domain, holder
    raise RuntimeError(f"all {COUNT} ROS domains for tests are in use")


@contextmanager
def leased() -> Iterator[int]:
    """Hold a domain while the block runs."""
    domain, holder = lease()
    with holder:
        yield domain
