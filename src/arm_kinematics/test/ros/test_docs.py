# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""docs/kinematics.md and docs/call_ik.md say what is true: Python runs, C++ compiles."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from arm_testing.processes import output_of, start_python
from arm_testing.ros.kinematics import PATIENCE

from arm_description import load_robot
from arm_interfaces.srv import GetJacobian

DOCS = Path(__file__).resolve().parents[4] / "docs"
CALL, THEORY = "call_ik.md", "kinematics.md"
EXAMPLE = DOCS / "examples/call_ik/src/call_ik.cpp"


def blocks(page: str, kind: str) -> list[str]:
    text = (DOCS / page).read_text()
    found = re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found
    return found


@pytest.mark.parametrize(
    ("page", "said"),
    [(CALL, ["from the target", "SUCCESS", "postures for one pose"]), (THEORY, [""])],
)
def test_the_python_of_the_page_runs(page, said, capsys):
    exec("\n".join(blocks(page, "python")), {})  # one after the other, as a reader would
    out = capsys.readouterr().out
    assert out and all(text in out for text in said)


def test_the_nodes_of_the_page_get_an_answer(serving):
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
    """Compile with the real messages and a stand-in of rclcpp; no code is made."""
    compiler = shutil.which("c++") or shutil.which("g++")
    assert compiler, "a C++ compiler is what ./arm builds with"
    prefixes = os.environ["AMENT_PREFIX_PATH"].split(":")
    folders = [f for prefix in prefixes for f in Path(prefix, "include").glob("*") if f.is_dir()]
    include = [word for folder in folders for word in ("-isystem", str(folder))]
    stand_in = ["-I", str(Path(__file__).parent / "rclcpp_stand_in")]
    strict = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    return subprocess.run(
        [compiler, *strict, *stand_in, *include, str(source)], capture_output=True, text=True
    )


def test_the_cpp_of_the_page_is_the_example_and_compiles():
    (shown,) = blocks(CALL, "cpp")
    text = EXAMPLE.read_text()
    assert text.endswith(shown) and text[: -len(shown)].count("//") == 2
    done = compiled(EXAMPLE)
    assert done.returncode == 0, done.stderr


def test_a_field_that_does_not_exist_does_not_compile(tmp_path):
    wrong = tmp_path / "wrong.cpp"
    wrong.write_text(EXAMPLE.read_text().replace("request->mode", "request->mood"))
    done = compiled(wrong)
    assert done.returncode != 0 and "mood" in done.stderr
