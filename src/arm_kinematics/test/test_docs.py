# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""docs/kinematics.md says what is true: its Python runs, its C++ names what exists."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy")

from rclpy.context import Context  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from arm_description import load_robot  # noqa: E402
from arm_interfaces.srv import SolveIK  # noqa: E402

DOCS = Path(__file__).resolve().parents[3] / "docs"
TEXT = (DOCS / "kinematics.md").read_text()
DOMAIN = 38
PATIENCE = 240.0  # [s]; compiling takes a minute of a busy machine


def blocks(kind: str) -> list[str]:
    found = re.findall(rf"^```{kind}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert found
    return found


def test_the_python_of_the_page_runs(capsys):
    exec("\n".join(blocks("python")), {})  # one after the other, as a reader would
    out = capsys.readouterr().out
    assert "from the target" in out and "SUCCESS" in out and "postures for one pose" in out


def test_the_node_of_the_page_gets_an_answer():
    (script,) = blocks("python node")
    environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)}
    server = subprocess.Popen(
        [sys.executable, "-m", "arm_kinematics.kinematics_node"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    context = Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    try:
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        node = Node("beside", context=context)
        publisher = node.create_publisher(String, "robot_description", latched)
        publisher.publish(String(data=load_robot("nut_arm").to_urdf()))
        end = time.monotonic() + PATIENCE
        said = ""
        while "-8" in said.split() or not said:  # NOT_READY until the description has come
            assert time.monotonic() < end, said
            done = subprocess.run(
                [sys.executable, "-c", script],
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            assert done.returncode == 0, done.stderr
            said = done.stdout
    finally:
        server.terminate()
        server.wait(timeout=60)
        context.shutdown()
    assert said.startswith("1 Solved") and "wrist_roll" in said


def member(kind: type, path: str) -> None:
    """Follow a.b.front().c through a message type; KeyError names what is not there."""
    for name in path.split("."):
        fields = kind.get_fields_and_field_types()
        if name == "front()":
            continue
        kind_name = fields[name]
        inner = re.fullmatch(r"sequence<(.*?)(?:, \d+)?>", kind_name)
        kind_name = inner.group(1) if inner else kind_name
        if "/" in kind_name:
            package, _, message = kind_name.partition("/")
            kind = getattr(importlib.import_module(f"{package}.msg"), message)


@pytest.mark.parametrize(
    ("variable", "kind"), [("request", SolveIK.Request), ("response", SolveIK.Response)]
)
def test_the_cpp_of_the_page_names_fields_that_exist(variable, kind):
    (source,) = blocks("cpp")
    paths = re.findall(rf"\b{variable}->((?:\w+(?:\(\))?\.)*\w+)", source)
    assert paths
    for path in paths:
        member(kind, path.removesuffix(".c_str"))


def test_the_cpp_of_the_page_names_constants_that_exist():
    (source,) = blocks("cpp")
    constants = re.findall(r"SolveIK::(Request|Response)::([A-Z_]+)", source)
    assert constants
    for half, name in constants:
        assert isinstance(getattr(getattr(SolveIK, half), name), int)


def test_a_field_that_does_not_exist_is_noticed():
    with pytest.raises(KeyError):
        member(SolveIK.Response, "solutions.front().joint_stat.position")
