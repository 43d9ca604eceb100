# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Messages name the commands of the way in which a program was started: `program()` does."""

import ast
import re

from arm_common.suggestions import program
from house.layout import SOURCE, package_files, syntax_tree

# Commands of people, in a text of a program. ros2 bag and launch exist only in a full ROS 2.
COMMAND = re.compile(r"\./arm [a-z]|\bros2 (run|service|lifecycle|topic|param|node|action)\b")
# What speaks only to users of ./arm, or is an error's name.
FREE = {
    "arm_common/arm_common/suggestions.py",
    "arm_kinematics/arm_kinematics/dexterity/jobs.py",
    "arm_hardware/arm_hardware/commands/doctor_network.py",
    "arm_tasks/arm_tasks/ros/ros2_command.py",
    "arm_tasks/arm_tasks/commands/check.py",
}


def told(tree):
    """Yield the texts of a module except docstrings, arguments' help and programs' names."""
    silent = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            silent.add(node.value)
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg in ("prog", "description", "help"):
                    silent.update(ast.walk(keyword.value))
            if getattr(node.func, "attr", "") == "add_parser":
                silent.update(ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in silent:
            yield node.value


def test_messages_take_their_commands_from_one_place():
    files = package_files()
    assert len(files) > 300
    for file in files:
        place = file.relative_to(SOURCE).as_posix()
        if place not in FREE:
            for text in told(syntax_tree(file)):
                assert not COMMAND.search(text), f"{place}: {text!r}"


def test_command_is_that_of_the_way_in_which_the_program_was_started(monkeypatch):
    monkeypatch.setenv("ARM_VENV", "here")
    assert program("arm_hardware", "arm") == "./arm arm"
    monkeypatch.delenv("ARM_VENV")
    assert program("arm_hardware", "arm") == "ros2 run arm_hardware arm"


def test_every_named_program_is_a_command_of_arm_and_an_executable():
    from importlib.metadata import distribution

    from pip_ros.cli import all_commands

    names = {command.name for command in all_commands()}
    named = set()
    for file in package_files():
        text = file.read_text(encoding="utf-8")
        named |= set(re.findall(r"program\([\"'](\w+)[\"'], [\"'](\w+)[\"']\)", text))
    assert len(named) > 8
    for package, name in named:
        assert name in names, name
        assert name in {point.name for point in distribution(package).entry_points}, name
