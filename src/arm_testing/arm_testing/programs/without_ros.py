# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Runs a module as on a machine without ROS: `python -m arm_testing.programs.without_ros MODULE`.

Use in a process of its own, since what has been imported stays.
"""

from __future__ import annotations

import runpy
import sys
from typing import Any

from house.layout import ROS


class NoRos:
    """A finder of modules before all others, which finds nothing of ROS."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise ModuleNotFoundError for a package of ROS."""
        if ROS.fullmatch(name.partition(".")[0]):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main() -> None:
    """Run the module that the first argument names, with the other arguments."""
    finder: Any = NoRos()
    sys.meta_path.insert(0, finder)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
