# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""ROS node arm_viewer: shows the standard topics in a browser, and moves the arm from there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields

from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare
from rclpy.node import Node

from arm_viewer.errors import ViewerError
from arm_viewer.page.arm_page import ArmPage, PageSettings
from arm_viewer.ros.parameters import ViewerParameters
from arm_viewer.ros.ros_arm import RosArm

# mypy: disable-error-code="no-untyped-call"

BATCH_DELAY = 0.02  # [s], shorter than the 33 ms between two frames


class ViewerNode(Node):
    """A page of the arm in this namespace; `RosArm` lists topics. `destroy_node` closes it."""

    def __init__(self) -> None:
        super().__init__("arm_viewer")
        self._chosen = declare(self, ViewerParameters)
        self._page: ArmPage | None = None

    def start(self) -> None:
        """Open the page.

        Raises:
            ViewerError: The server cannot be opened, or parameters contradict each other.
            DescriptionError: The parameter `robot` names no robot.
        """
        values = {f.name: getattr(self._chosen, f.name) for f in fields(PageSettings)}
        arm = RosArm(self, self._chosen)
        self._page = ArmPage(PageSettings(**values), arm)
        self._page.open()

    def announce(self) -> bool:
        """Write the address of the page; return True."""
        if self._page is not None:
            self._page.announce()
        return True

    def destroy_node(self) -> None:
        """Close the page, and destroy the node."""
        if self._page is not None:
            self._page.close()
            self._page = None
        super().destroy_node()


def main() -> int:
    """Run the node; return the exit code: 0 after a signal, 1 if it cannot start."""
    nodes: list[ViewerNode] = []

    def make() -> Iterator[Node]:
        nodes.append(ViewerNode())
        yield nodes[0]
        nodes[0].start()

    return run_node(make, (ViewerError,), BATCH_DELAY, begin=lambda _: nodes[0].announce())


if __name__ == "__main__":
    sys.exit(main())
