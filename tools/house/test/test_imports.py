# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the programs import of src/ stays within its bound."""

import subprocess
import sys

import pytest
from house import layout

FILES = layout.module_files()
USES = {  # an ordinary use of what is no process of its own
    "Chain": "from arm_description import load_robot; from arm_kinematics import Chain; "
    "chain = Chain.from_model(load_robot('nut_arm')); chain.ik(chain.fk(chain.middle))",
    "URDF": "from arm_description.robot_file.reader import read_robot; "
    "from arm_description.urdf.writer import robot_urdf; "
    "from arm_description.library import robot_path; "
    "robot_urdf(read_robot(robot_path('nut_arm')))",
}


@pytest.mark.parametrize("program", layout.PROGRAMS, ids=lambda program: program.name)
def test_imports_of_a_program_are_bounded(program):
    found = layout.size(layout.closure(program.entries, FILES), FILES)
    assert found <= program.bound


@pytest.mark.parametrize("name", USES)
def test_what_is_loaded_is_bounded(name):
    (program,) = (program for program in layout.PROGRAMS if program.name == name)
    script = f"import sys; {USES[name]}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    found = layout.size(program.with_loaded(loaded.stdout.split(), FILES), FILES)
    assert found <= program.bound


def test_compiled_sources_are_bounded():
    found = layout.compiled_lines()
    assert 1000 < found <= layout.COMPILED_BOUND


@pytest.fixture
def files(tmp_path):
    package = tmp_path / "arm_x" / "arm_x"
    (package / "sub").mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "a": "import os\nfrom arm_x.sub import b\n",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import arm_x.c\n",
        "c": "",
        "sub/__init__": "from arm_x.sub.d import thing\n",
        "sub/b": "def f():\n    import arm_x.b\n",
        "sub/d": "thing = 1\n",
    }.items():
        (package / f"{name}.py").write_text(text)
    return layout.module_files(tmp_path)


def test_imports_in_functions_count_and_those_for_types_do_not(files):
    assert layout.closure(["arm_x.a"], files) == {
        *("arm_x", "arm_x.a", "arm_x.b", "arm_x.sub", "arm_x.sub.b", "arm_x.sub.d")
    }
    assert layout.size(["arm_x.a", "arm_x.sub.d"], files) == 3


def test_missing_entry_is_an_error(files):
    with pytest.raises(KeyError, match=r"arm_x\.gone"):
        layout.closure(["arm_x.a", "arm_x.gone"], files)
