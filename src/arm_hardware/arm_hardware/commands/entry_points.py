# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The program ``hardware``: listens to signals before the long imports, then runs the node."""

from __future__ import annotations

import sys

from arm_common.signals import ProcessEnd


def main(args: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit code."""
    end = ProcessEnd()
    from arm_hardware.ros.node import HardwareNode
    from arm_hardware.ros.process import run

    return run(HardwareNode, args, end)


if __name__ == "__main__":
    sys.exit(main())
