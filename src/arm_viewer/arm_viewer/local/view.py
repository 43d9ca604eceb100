# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A page that shows a robot file and moves its joints, in one process and without ROS."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from arm_common.errors import InputError

from arm_viewer.errors import ViewerError
from arm_viewer.local.local_arm import LocalArm, PageLoop
from arm_viewer.page.arm_page import ArmPage, PageSettings


@contextmanager
def local_page(settings: PageSettings) -> Iterator[tuple[ArmPage, PageLoop]]:
    """Open the page of a robot file; it lives while the loop runs in the calling thread.

    Raises:
        InputError: There is no such robot, or its file is invalid.
        ViewerError: The server cannot be opened.
    """
    loop = PageLoop()
    arm = LocalArm(loop, settings.robot, settings.prefix)
    page = ArmPage(settings, arm)
    try:
        page.open()
        yield page, loop
    finally:
        page.close()
        arm.close()
        loop.close()


def main(robot: str, host: str = "127.0.0.1", port: int = 8080) -> int:
    """Show a robot until a signal; return the exit code: 1 if it cannot be shown.

    Args:
        robot: a shipped name, or the path of a robot file.
        host: address to serve at.
        port: first TCP port to try; 0 for any.
    """
    try:
        with local_page(PageSettings(host=host, port=port, robot=robot)) as (page, loop):
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: loop.stop())
            page.announce()
            loop.run()
    except (InputError, ViewerError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
