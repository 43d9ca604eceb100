# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the nodes have loaded after a nut transfer stays within the bounds of their imports."""

import os

import pytest
from arm_testing.ros.stack import Stack
from house import layout

from arm_interfaces.action import RunTask
from arm_testing import domains

NODES = {
    "driver": "hardware",
    "kinematics node": "kinematics",
    "task server": "task_server",
    "browser view": "viewer",
}
# Python imports it in each process: at its end, the process writes what it has loaded.
SITE = """
import atexit, os, sys

def note():
    name = os.path.basename(getattr(sys, "argv", [""])[0])
    with open(os.path.join(os.environ["LOADED"], name), "w") as file:
        file.write(" ".join(sys.modules))

def leave(code, leave=os._exit):
    note()
    leave(code)

os._exit = leave
atexit.register(note)
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Names of modules by executable."""
    folder = tmp_path_factory.mktemp("loaded")
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(SITE)
    with pytest.MonkeyPatch.context() as patch, domains.leased() as domain:
        patch.setenv("LOADED", str(folder))
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        patch.setenv("PYTHONPATH", f"{folder / 'site'}:{os.environ.get('PYTHONPATH', '')}")
        ports = {"viewer_port": "0"}
        stack = Stack(domain, folder / "logs", viewer="browser", composed="false", **ports)
        try:
            stack.wait_ready()
            assert stack.run(task="nut_transfer").status == RunTask.Result.SUCCESS
            ended = stack.end_processes()
        finally:
            stack.close()
    assert set(NODES.values()) <= {file.name for file in folder.iterdir()}, ended
    return {file.name: file.read_text().split() for file in folder.iterdir() if file.is_file()}


@pytest.mark.parametrize("name", NODES)
def test_what_a_node_loads_is_bounded(name, loaded):
    (program,) = (program for program in layout.PROGRAMS if program.name == name)
    files = layout.module_files()
    names = program.with_loaded(loaded[NODES[name]], files)
    assert set(program.entries) <= names
    found = layout.size(names, files)
    assert found <= program.bound
