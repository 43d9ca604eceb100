# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The bring-up finds this package: the executables of the worlds, and their nodes by name."""

from importlib import import_module
from pathlib import Path

from ament_index_python.packages import get_package_prefix
from arm_tasks.bringup.arguments import SIMULATION
from arm_tasks.bringup.processes import processes
from arm_tasks.ros.arm_nodes import MODULES


def test_executables_of_the_table_are_installed():
    folder = Path(get_package_prefix(SIMULATION)) / "lib" / SIMULATION
    table = {process.executable for process in processes() if process.package == SIMULATION}
    assert table == {"nut_world", "contact_world"}
    assert all((folder / executable).exists() for executable in table)


def test_composed_world_is_a_module_of_this_package():
    assert MODULES["nut_world"].startswith(SIMULATION)
    assert callable(import_module(MODULES["nut_world"]).make_nodes)
