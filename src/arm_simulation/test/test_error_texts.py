# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A text of a file or message in an error is bounded, whichever package reports it."""

import inspect

import pytest
from arm_common.errors import InputError, joined, one_line
from arm_hardware.errors import HardwareError
from arm_kinematics.errors import KinematicsError
from arm_tasks.errors import TasksError
from arm_viewer.errors import ViewerError

from arm_description import DescriptionError
from arm_simulation import SimulationError

LONG, MOST = 100_000, 9_000  # characters of each text, and of a whole error
FAMILIES = (InputError, HardwareError, KinematicsError, ViewerError)
NAMED = (DescriptionError, SimulationError, TasksError)  # imported, so that they are found


def kinds(family):
    yield family
    for kind in family.__subclasses__():
        yield from kinds(kind)


@pytest.mark.parametrize("kind", [kind for family in FAMILIES for kind in kinds(family)])
@pytest.mark.parametrize("letter", ["x", "\0", "\n", "\udce9", "\u0301"])
def test_error_has_one_bounded_line_that_can_be_sent(kind, letter):
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    text = letter * LONG
    values = {"Sequence[str]": [text] * 10, "list[str]": [text] * 10, "int": -1}
    names = [p.annotation for p in parameters if p.default is p.empty]
    required = [values.get(name, text) for name in names if name != "object"]
    message = str(kind(*required))
    assert len(message) < MOST and message.encode() and message.isprintable() | (letter > "~")
    assert "\n" not in message and "\0" not in message


@pytest.mark.parametrize("place", ["remedy", "key", "file"])
def test_each_part_of_an_input_error_is_bounded(place):
    assert len(str(InputError("wrong", **{place: "x" * LONG}))) < MOST
    assert len(str(TasksError("wrong", **{place: "x" * 4096}))) < MOST


def test_pairs_are_joined_and_halves_refused():
    assert joined("a\ud83d\ude00b") == "a\U0001f600b" and joined("é") == "é"
    with pytest.raises(InputError, match=r"\\ud83d is half a character"):
        joined("a\ud83db")
    assert one_line("\ud83d").encode() == rb"\ud83d"
