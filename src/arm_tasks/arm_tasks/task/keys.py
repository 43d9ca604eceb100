# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every key of a task file: what stands there, what it means, whether it must be there.

The reader, the JSON schema and the reference all go by these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arm_common.yaml.schema_types import Choice, Key, Leaf, ListOf, Named, Table

from arm_tasks.task.steps import Orientation

TEXT = Leaf("text", "text")
NUMBER = Leaf("number", "number")
COUNT = Leaf("whole number, at least 1", "number")
TRUTH = Leaf("true or false", "truth")
VALUE = Leaf("number, expression or text", "value")
LENGTH = Leaf("m, or mm with _mm", "number", "_mm")
ABOVE = Leaf("m, or mm with _mm; above 0", "positive", "_mm")
ANGLE = Leaf("rad, or deg with _deg", "number", "_deg")
POSITIVE = Leaf("number above 0", "positive")
SHARE = Leaf("above 0, to 1", "share")
SECONDS = Leaf("s, at least 0", "at_least_0")
STEPS = Leaf("list of steps", "steps")
PLACE = ListOf(LENGTH, 3, 3)
TURN = ListOf(ANGLE, 3, 3)
ORIENTATIONS: tuple[Orientation, ...] = ("full", "axis", "any")
AXES = ("target", "tool")


@dataclass(frozen=True)
class StepKeys:
    """The keys of one kind of step.

    Attributes:
        meaning: What it does.
        table: Its keys.
        word: The key that a bare value stands for, `wait: 0.5`; "" if there is none. It is never
            a length or an angle, whose unit has to be seen.
        one_of: Whether one of its keys must be there although none alone must.
    """

    meaning: str
    table: Table
    word: str = ""
    one_of: bool = False


SPEED = Key(SHARE, "share of the joints' speed limits; that of the defaults if left out")
TOLERANCE = {
    "position": Key(ABOVE, "how far the tool may be off; that of the defaults if left out"),
    "tilt": Key(ANGLE, "how far the tool's z may be off, 0 to a right angle; as position"),
}
TARGET = {
    "frame": Key(TEXT, "frame of the scene, base_link, or tool0: from where the tool is"),
    "xyz": Key(PLACE, "position of the tool in the frame; zeros if left out"),
    "rpy": Key(TURN, "roll, pitch, yaw of the tool in the frame; zeros if left out"),
    "roll": Key(ANGLE, "of the tool about the frame's z, in place of rpy"),
    "axis": Key(
        ListOf(NUMBER, 3, 3),
        "direction of the tool's z in the frame, its x as near to the frame's z as can be (to its "
        "x, if the axis is along z), in place of rpy",
    ),
    "orientation": Key(
        Choice(ORIENTATIONS),
        "mode: full; axis: the roll about the tool's z is free; any: all of it is; full if left "
        "out",
    ),
    "offset": Key(PLACE, "added to the target"),
    "offset_in": Key(
        Choice(AXES),
        "axes of the offset: target, those of the frame; tool, those of the tool when there; "
        "target if left out",
    ),
    **TOLERANCE,
}
WHEN = Table(
    {
        "nut_on": Key(TEXT, "the nut is on this bolt"),
        "turns": Key(NUMBER, "and by at least so many turns"),
        "nut_held": Key(TRUTH, "the jaws hold the nut, or do not"),
        "nut_fallen": Key(TRUTH, "the nut lies on the floor, or does not"),
        "gripper_above": Key(LENGTH, "the jaws are wider than this"),
        "gripper_below": Key(LENGTH, "the jaws are narrower than this"),
    }
)


NAME = Key(TEXT, "what reports call it; its kind if left out")


def _step(meaning: str, keys: Mapping[str, Key], word: str = "", one_of: bool = False) -> StepKeys:
    return StepKeys(meaning, Table({"name": NAME, "speed": SPEED, **keys}), word, one_of)


def _still(
    meaning: str, keys: Mapping[str, Key], word: str = "", one_of: bool = False
) -> StepKeys:
    """A step that moves no joint by itself, and has no speed."""
    return StepKeys(meaning, Table({"name": NAME, **keys}), word, one_of)


def _screw(turns: Key, extra: str) -> dict[str, Key]:
    return {
        "bolt": Key(TEXT, "the bolt, as the scene calls it", True),
        "turns": turns,
        "extra_turns": Key(Leaf("number, at least 0", "at_least_0"), extra),
        "approach": Key(ABOVE, "from how far before it the tool comes straight; 20 mm"),
        "grip_width": Key(LENGTH, "of the jaws that hold the nut; a little less than the nut"),
        "open_width": Key(LENGTH, "that clears its corners; a little more than they need"),
        "press": Key(LENGTH, "how far the nut is pushed against the bolt's end; 0.3 mm"),
        "search": Key(
            LENGTH, "radius in which it looks for the bolt's tip, pressed; 0 if left out"
        ),
        "play": Key(ANGLE, "dead band and backlash of the joints, to be taken up; 0 if left out"),
        "approach_tilt": Key(ANGLE, "tilt while it comes and goes; that of the defaults"),
        "position": Key(ABOVE, "how far the tool may be off while it turns; 0.01 mm"),
        "tilt": Key(ANGLE, "how far it may tilt while it turns; 3 deg if left out"),
    }


WIDTH = Key(LENGTH, "between the jaws; as wide as they open if left out")
STEPS_KEY = Key(STEPS, "what is done", required=True)

STEPS_KEYS: Mapping[str, StepKeys] = {
    "move_joints": _step(
        "Moves some joints; the others stay.",
        {
            "joints": Key(
                Named(Leaf("rad or m, or deg with _deg", "number"), "joint"),
                "positions by joint",
            ),
            "joints_deg": Key(
                Named(Leaf("deg", "number"), "joint"),
                "positions of joints that turn, in its place",
            ),
        },
        one_of=True,
    ),
    "move_posture": _step(
        "Moves the arm to a taught pose or a posture of the robot file; the jaws stay.",
        {"posture": Key(TEXT, "name of the posture", True)},
        "posture",
    ),
    "play": _step(
        "Goes to the beginning of a trajectory file, then along it at its pace; within limits.",
        {
            "path": Key(TEXT, "the file, beside this one, or name of one shipped", True),
            "reverse": Key(TRUTH, "from its end to its beginning"),
        },
        "path",
    ),
    "move_pose": _step("Moves the tool to a pose, the joints by the shortest way.", TARGET),
    "move_linear": _step("Moves the tool to a pose along a straight line.", TARGET),
    "approach": _step(
        "Moves in front of a pose, and then straight to it along the tool's z.",
        {**TARGET, "distance": Key(ABOVE, "how far in front", True)},
    ),
    "retreat": _step(
        "Moves straight back along the tool's z, from where the tool is.",
        {"distance": Key(ABOVE, "how far", True), **TOLERANCE},
    ),
    "grip": _still(
        "Closes the jaws to a width, or on a payload of the scene, which is then carried.",
        {
            "width": Key(LENGTH, "between the jaws"),
            "payload": Key(TEXT, "the thing that shall be between them, instead of a width"),
        },
        "payload",
        one_of=True,
    ),
    "close": _still("Closes the jaws wholly.", {}),
    "open": _still("Opens the jaws.", {"width": WIDTH}),
    "release": _still("Opens the jaws; the same as open.", {"width": WIDTH}),
    "turn": _step(
        "Turns the tool about its own z.",
        {
            "angle": Key(ANGLE, "by how much", True),
            "advance": Key(LENGTH, "how far it moves along z meanwhile; 0 if left out"),
            **TOLERANCE,
        },
    ),
    "unscrew": _step(
        "Takes the nut off a bolt, regrasping where the wrist ends, and draws it back.",
        _screw(
            Key(POSITIVE, "turns to undo; all that the scene says if left out"),
            "turns beyond the last; 0.1 if left out",
        ),
        "bolt",
    ),
    "screw_on": _step(
        "Screws the nut in the jaws onto a bolt, leaves it there and draws back.",
        _screw(
            Key(POSITIVE, "turns of thread to make", True),
            "turns more, where the thread's start is not known; 0.5 if left out",
        ),
        "bolt",
    ),
    "wait": _still("Stands still.", {"seconds": Key(SECONDS, "how long", True)}, "seconds"),
    "set_speed": _still(
        "Sets the speed of the steps below it in the same list, where they give none themselves.",
        {"speed": Key(SHARE, "share of the joints' speed limits", True)},
        "speed",
    ),
    "repeat": _still(
        "Does some steps several times.",
        {"times": Key(COUNT, "how often", True), "steps": STEPS_KEY},
    ),
    "call": _still(
        "Does the steps of another task.",
        {
            "task": Key(TEXT, "shipped name, or path from this file's folder", True),
            "variables": Key(Named(VALUE, "variable"), "in place of those in that file"),
        },
        "task",
    ),
    "if": _still(
        "Looks at the nut or the jaws, and does the one or the other.",
        {
            "when": Key(WHEN, "what must hold, all of it", True),
            "then": Key(STEPS, "what is done if it does", True),
            "else": Key(STEPS, "what is done if not; nothing if left out"),
        },
    ),
    "until": _still(
        "Does some steps, none at first, until it holds; fails if it never does.",
        {
            "when": Key(WHEN, "what must hold, all of it", True),
            "at_most": Key(COUNT, "how often the steps are done at most", True),
            "steps": STEPS_KEY,
        },
    ),
    "pause_for_person": _still(
        "Stands still until a person says to go on.",
        {
            "say": Key(TEXT, "what the person shall do", True),
            "nut_back": Key(TRUTH, "true: the person puts the nut where the scene has it"),
        },
        "say",
    ),
}

DEFAULTS = Table({"speed": Key(SHARE, "0.5 if left out"), **TOLERANCE})
EXPECT = Table(
    {
        "nut_on": Key(TEXT, "bolt that the nut must be on, let go"),
        "turns": Key(NUMBER, "by at least so many turns"),
        "payload": Key(TEXT, "thing of the scene that must lie, let go,"),
        "lies_on": Key(TEXT, "on this thing"),
        "line_within": Key(ABOVE, "how far the tool may leave the lines of move_linear steps"),
    }
)

TASK = Table(
    {
        "task": Key(TEXT, "name of the task", True),
        "scene": Key(TEXT, "scene it is for: shipped name, or path from this file's folder"),
        "poses": Key(
            TEXT,
            "file of taught poses, beside this one: postures for move_posture, frames for targets",
        ),
        "variables": Key(
            Named(VALUE, "variable"),
            "numbers and expressions for use in numbers, texts for use as $name",
        ),
        "defaults": Key(
            DEFAULTS,
            "what steps take that do not say it themselves",
        ),
        "steps": STEPS_KEY,
        "expect": Key(EXPECT, "what must have come of it, as the simulated world sees it"),
    }
)
