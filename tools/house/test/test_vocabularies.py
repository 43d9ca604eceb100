# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Each vocabulary is declared in one file; no other file lists its words again."""

import ast
import functools
import re
from typing import get_args

import pytest
from arm_common.plugins import PluginGroup
from arm_description.library import DEFAULT_ROBOT
from arm_description.model.elements import (
    TOLERANCE_AXES,
    Convention,
    JointType,
    LookKind,
    Material,
)
from arm_description.model.units import UNITS
from arm_description.trajectories.trajectory import Specified
from arm_hardware.backends import BACKENDS
from arm_hardware.motion.options import EXIT_ACTIONS, HARDWARE
from arm_kinematics.ik.options import (
    AXES_CONSTANTS,
    MODES,
    PREFERENCE_CONSTANTS,
    PREFERENCES,
)
from arm_kinematics.markers.layers import LAYERS
from arm_tasks.bringup.arguments import ARGUMENTS, WORLDS
from arm_tasks.task.parser import DEFAULT_TASK
from arm_viewer.port import IK_MODES
from arm_viewer.ros import task_panel
from house.layout import SOURCE, TESTING, syntax_tree


def names(declared):
    return declared.names if isinstance(declared, PluginGroup) else tuple(declared)


# file, words
VOCABULARIES = {
    "IK modes": ("arm_kinematics/arm_kinematics/ik/options.py", tuple(MODES)),
    "IK preferences": ("arm_kinematics/arm_kinematics/ik/options.py", PREFERENCES),
    "tolerance axes": ("arm_description/arm_description/model/elements.py", TOLERANCE_AXES),
    "backends": ("arm_hardware/arm_hardware/backends.py", names(BACKENDS)),
    "hardware": ("arm_hardware/arm_hardware/motion/options.py", HARDWARE),
    "exit actions": ("arm_hardware/arm_hardware/motion/options.py", EXIT_ACTIONS),
    "conventions": ("arm_description/arm_description/model/elements.py", get_args(Convention)),
    "joint types": ("arm_description/arm_description/model/elements.py", get_args(JointType)),
    "materials": ("arm_description/arm_description/model/elements.py", get_args(Material)),
    "looks": ("arm_description/arm_description/model/elements.py", get_args(LookKind)),
    "units": ("arm_description/arm_description/model/units.py", tuple(UNITS)),
    "arguments": (
        "arm_tasks/arm_tasks/bringup/arguments.py",
        tuple(argument.name for argument in ARGUMENTS),
    ),
    "worlds": ("arm_tasks/arm_tasks/bringup/arguments.py", tuple(WORLDS)),
    "marker layers": ("arm_kinematics/arm_kinematics/markers/layers.py", tuple(LAYERS)),
}


# Files that say something else in the same words, or declare the keys of a kind of file.
OTHER_MEANING = {
    "IK modes": {
        "arm_description/arm_description/trajectories/trajectory.py",  # compared below
    },
    "joint types": {
        "arm_description/arm_description/urdf/elements.py",  # those of URDF, which has six
    },
}
FEW = 3  # words, of which parts, and data for each, are no list of them


@pytest.fixture(scope="module")
def trees():
    """The syntax trees of the sources by file."""
    files = sorted(SOURCE.glob("arm_*/*/**/*.py"))
    return {
        str(path.relative_to(SOURCE)): syntax_tree(path)
        for path in files
        if not {"test", "examples", TESTING} & {*path.relative_to(SOURCE).parts[:2]}
    }


@functools.cache
def lists(tree):
    return list(lists_in(tree))


def lists_in(tree):
    """Yield line, texts and whether they are a dictionary's keys of each list of literals."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            keyed = isinstance(node, ast.Dict)
            items = [i for i in (node.keys if keyed else node.elts) if isinstance(i, ast.Constant)]
            yield node.lineno, {i.value for i in items if isinstance(i.value, str)}, keyed


def repeats(trees, file, words, other=frozenset()):
    """Return where at least two thirds of some words are listed beside their file."""
    few = len(words) <= FEW
    enough = len(words) if few else -(-2 * len(words) // 3)
    return [
        f"{name}:{line}"
        for name, tree in trees.items()
        if name != file and name not in other
        for line, texts, keyed in lists(tree)
        if len(texts & set(words)) >= enough and not (few and keyed)
    ]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_no_second_list_of_a_vocabulary(trees, vocabulary):
    file, words = VOCABULARIES[vocabulary]
    assert len(set(words)) == len(words) >= 2 and file in trees
    other = OTHER_MEANING.get(vocabulary, set())
    assert not repeats(trees, file, words, other)
    assert all(repeats({name: trees[name]}, file, words) for name in other)


@pytest.mark.parametrize(
    "text",
    ["X = ('a', 'b', 'd')", "X: Literal['a', 'b', 'c', 'x']", "X = {'b': 1, 'c': 2, 'd': 3}"],
)
def test_second_list_is_detected(text):
    trees = {"x.py": ast.parse(text)}
    assert repeats(trees, "y.py", "abcd") == ["x.py:1"]
    assert not repeats(trees, "x.py", "abcd") and not repeats(trees, "y.py", "abuvw")


def test_constants_of_the_service_are_those_of_the_options():
    lines = (SOURCE / "arm_interfaces" / "srv" / "SolveIK.srv").read_text().partition("---")[0]
    declared = dict(re.findall(r"^uint8 (\w+)=(\d+)$", lines, re.MULTILINE))
    modes = tuple(name.upper() for name in MODES)
    for constants in (modes, PREFERENCE_CONSTANTS.values(), AXES_CONSTANTS):
        assert [declared.pop(name) for name in constants] == [
            str(i) for i in range(len(constants))
        ]
    assert not declared
    assert PREFERENCE_CONSTANTS.keys() < set(PREFERENCES)


def test_what_a_recorded_path_specifies_are_modes():
    specified = get_args(Specified)
    assert set(specified) <= set(MODES)
    assert {MODES[name].orientation for name in specified} == {
        m.orientation for m in MODES.values()
    }


def test_default_robot_is_named_once(trees):
    named = {
        name
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value == DEFAULT_ROBOT
    }
    assert named == {"arm_description/arm_description/library.py"}


def test_modes_of_the_view_are_those_of_the_options():
    assert tuple(mode.title for mode in MODES.values()) == IK_MODES  # the view imports no solver


def test_view_and_task_server_have_the_same_default_task():
    assert task_panel.DEFAULT_TASK == DEFAULT_TASK
