# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The code of docs/kinematics.md and docs/call_ik.md: Python runs, C++ compiles."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from arm_testing.programs.processes import output_of, start_python
from arm_testing.repository import repository
from arm_testing.ros.kinematics import PATIENCE

from arm_description import load_robot
from arm_interfaces.srv import GetJacobian

DOCS = repository() / "docs"
PACKAGES = ("arm_description", "arm_kinematics")
CALL, THEORY = "call_ik.md", "kinematics.md"
EXAMPLE = DOCS / "examples/call_ik/src/call_ik.cpp"


def blocks(page: str | Path, kind: str) -> list[str]:
    text = (DOCS / page).read_text()
    found = re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found
    return found


@pytest.mark.parametrize(
    ("page", "expected"),
    [(CALL, ["from the target", "SUCCESS", "postures for one pose"]), (THEORY, [""])],
)
def test_python_of_the_page_runs(page, expected, capsys):
    exec("\n".join(blocks(page, "python")), {})  # in order, as a reader would
    out = capsys.readouterr().out
    assert out and all(text in out for text in expected)


@pytest.mark.parametrize("readme", ["README.md", *(f"src/{p}/README.md" for p in PACKAGES)])
def test_python_of_the_readme_runs(readme):
    exec("\n".join(blocks(DOCS.parent / readme, "python")), {})


def test_nodes_of_the_page_get_a_response(serving):
    scripts = [
        block for name in ("reach", "callback") for block in blocks(CALL, f"python {name}.py")
    ]
    with serving() as world:
        world.describe(load_robot("nut_arm").to_urdf())
        ask = GetJacobian.Request()
        world.until(lambda: "waist" in world.call("get_jacobian", ask).message)
        running = [start_python("-c", script) for script in scripts]
        printed = [output_of(process, PATIENCE) for process in running]
    assert all(code == 0 and text.startswith("1 ") for code, text in printed), printed
    assert "Solved" in printed[0][1] and "wrist_roll" in printed[0][1]


def compiled(source: Path) -> subprocess.CompletedProcess[str]:
    """Check the syntax with the real messages and a stand-in for rclcpp."""
    compiler = shutil.which("c++") or shutil.which("g++")
    assert compiler, "./arm needs a C++ compiler"
    prefixes = os.environ["AMENT_PREFIX_PATH"].split(":")
    folders = [f for prefix in prefixes for f in Path(prefix, "include").glob("*") if f.is_dir()]
    include = [word for folder in folders for word in ("-isystem", str(folder))]
    stand_in = ["-I", str(Path(__file__).parent / "rclcpp_stand_in")]
    strict = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    return subprocess.run(
        [compiler, *strict, *stand_in, *include, str(source)], capture_output=True, text=True
    )


def test_cpp_of_the_page_equals_the_example_and_compiles():
    (shown,) = blocks(CALL, "cpp")
    text = EXAMPLE.read_text()
    assert text.endswith(shown) and text[: -len(shown)].count("//") == 2
    done = compiled(EXAMPLE)
    assert done.returncode == 0, done.stderr


def test_unknown_message_field_does_not_compile(tmp_path):
    wrong = tmp_path / "wrong.cpp"
    wrong.write_text(EXAMPLE.read_text().replace("request->mode", "request->mood"))
    done = compiled(wrong)
    assert done.returncode != 0 and "mood" in done.stderr
