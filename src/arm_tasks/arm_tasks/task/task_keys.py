# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/task/test_schemas.py
"""Tables of the keys of a task file, for the reader, the JSON schema and the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import get_args

from arm_common.yaml.schema_types import Choice, Either, Key, Leaf, ListOf, Named, Table

from arm_tasks.scene.file import ABOVE, ANGLE, LENGTH, NUMBER, TEXT
from arm_tasks.task.condition import CONDITION, CONTENT, TRUTH
from arm_tasks.task.steps import Orientation

COUNT = Leaf("whole number, at least 1", "number")
COUNT_0 = Leaf("whole number, at least 0", "at_least_0")
VALUE = Leaf("number, expression or text", "value")
POSITIVE = Leaf("number above 0", "positive")
SHARE = Leaf("0.001 to 1", "share")
SECONDS = Leaf("s, at least 0", "at_least_0")
TIMEOUT = Leaf("s, above 0", "positive")
DISTANCE = Leaf("m, or mm with _mm; at least 0", "at_least_0", "_mm")
TOOL_SPEED = Leaf("m/s, or mm/s with _mm; above 0", "positive", "_mm")
TILT = Leaf("rad, or deg with _deg; at least 0", "at_least_0", "_deg")
STEPS = Leaf("list of steps", "steps")
PLACE = ListOf(LENGTH, 3, 3)
TURN = ListOf(ANGLE, 3, 3)
ORIENTATIONS: tuple[Orientation, ...] = get_args(Orientation)
AXES = ("target", "tool")


@dataclass(frozen=True)
class StepKeys:
    """The keys of one kind of step."""

    meaning: str  # description
    table: Table  # its keys
    # key of a bare value, as in `wait: 0.5`; not a length or angle, whose unit must be visible
    short: str = ""
    one_of: bool = False  # whether any one of its keys is required


SPEED = Key(SHARE, "fraction of the joints' speed limits; the default if omitted")
TOLERANCE = {
    "position": Key(ABOVE, "largest error of the tool's position; the default if omitted"),
    "tilt": Key(TILT, "largest tilt of the tool's z, up to a right angle; likewise"),
}
TARGET = {
    "frame": Key(TEXT, "frame of the scene, base_link, or tool0 for the current tool pose"),
    "xyz": Key(PLACE, "position of the tool in the frame; zeros if omitted"),
    "rpy": Key(TURN, "roll, pitch, yaw of the tool in the frame; zeros if omitted"),
    "roll": Key(ANGLE, "roll of the tool about the frame's z, instead of rpy"),
    "axis": Key(
        ListOf(NUMBER, 3, 3),
        "direction of the tool's z in the frame, with its x as close as possible to the frame's z "
        "(or x, if the axis is along z), instead of rpy",
    ),
    "orientation": Key(
        Choice(ORIENTATIONS),
        "full; axis: the roll about the tool's z is free; any: the orientation is free; full if "
        "omitted",
    ),
    "offset": Key(PLACE, "added to the target"),
    "offset_in": Key(
        Choice(AXES),
        "axes of the offset: those of the frame (target) or of the tool at the target (tool); "
        "target if omitted",
    ),
    **TOLERANCE,
}
BLEND = Key(
    DISTANCE,
    "radius of the corner to the next move_linear or move_arc: the tool leaves its path so far "
    "before the end, without a stop; 0 (it stops) if omitted",
)
WHEN = Table(CONDITION)
NAMED = {"name": Key(TEXT, "name in reports; the kind if omitted")}
MOVING = {**NAMED, "speed": SPEED}
RECOVERY = {
    "retries": Key(COUNT_0, "how often the step is tried again if it fails; 0 if omitted"),
    "on_failure": Key(
        STEPS, "run if the step has failed, before the following steps; the task fails if omitted"
    ),
}
GRIPPER = Key(
    DISTANCE,
    "width between the empty jaws, to which they move at their own speed while the arm moves; of "
    "a step with several motions, during the first",
)


def _command(
    meaning: str,
    keys: Mapping[str, Key],
    short: str = "",
    one_of: bool = False,
    first: Mapping[str, Key] = NAMED,
    last: Mapping[str, Key] | None = None,
) -> StepKeys:
    """Return the keys of a step, between those that all steps like it have."""
    return StepKeys(meaning, Table({**first, **keys, **(last or {})}), short, one_of)


_action = partial(_command, last=RECOVERY)  # of a step that may fail at run time
# of a step that moves the arm
_step = partial(_command, first=MOVING, last={"gripper": GRIPPER, **RECOVERY})
# of a screw step: where it leaves the nut if it fails is unknown
_drive = partial(_command, first=MOVING)
_JAW_WIDTHS = {
    "grip_width": Key(DISTANCE, "jaw width that holds the nut; a little less than the nut"),
    "open_width": Key(DISTANCE, "jaw width that clears its corners; a little more"),
}
_HANDLE_NUT = {
    "bolt": Key(TEXT, "name of the bolt in the scene", True),
    "approach": Key(ABOVE, "length of the straight approach; 20 mm"),
    "play": Key(TILT, "dead band and backlash to compensate; 0 if omitted"),
    "approach_tilt": Key(TILT, "largest tilt on approach and retreat; the default if omitted"),
    "position": Key(ABOVE, "largest position error while it turns; 0.01 mm"),
    "tilt": Key(TILT, "largest tilt while it turns; 3 deg if omitted"),
}
_TURN_NUT = {
    **_HANDLE_NUT,
    "press": Key(DISTANCE, "distance to push the nut against the bolt's end; 0.3 mm"),
    "search": Key(DISTANCE, "radius of the search for the tip, under pressure; 0 if omitted"),
}


def _screw(turns: Key, extra: str) -> dict[str, Key]:
    extra_turns = Key(Leaf("number, at least 0", "at_least_0"), extra)
    return {**_TURN_NUT, "turns": turns, "extra_turns": extra_turns, **_JAW_WIDTHS}


ANSWER = Key(TIMEOUT, "longest time, without pauses; 10 s if omitted")
WIDTH = Key(DISTANCE, "width between the jaws; fully open if omitted")
WHEN_KEY = Key(WHEN, "the condition; all its keys must hold", True)
STEPS_KEY = Key(STEPS, "the steps", required=True)

STEPS_KEYS: Mapping[str, StepKeys] = {
    "move_joints": _step(
        "Moves some joints; the others keep their positions.",
        {
            "joints": Key(
                Named(Leaf("rad or m, or deg with _deg", "number"), "joint"), "positions by joint"
            ),
            "joints_deg": Key(
                Named(Leaf("deg", "number"), "joint"), "positions of revolute joints, instead"
            ),
        },
        one_of=True,
    ),
    "move_posture": _step(
        "Moves the arm to a taught pose or a posture of the robot file; the jaws do not move.",
        {"posture": Key(TEXT, "name of the posture", True)},
        "posture",
    ),
    "play": _step(
        "Moves to the beginning of a trajectory and plays it at its own pace, within the limits. "
        "An SVG file or a text is drawn with a pen along the tool's z, lifted between lines.",
        {
            "path": Key(
                TEXT, "the file, .svg too, relative to this one, or a shipped name; or `text`"
            ),
            "text": Key(TEXT, "a line to write instead, in letters of single strokes"),
            "reverse": Key(TRUTH, "play from the end to the beginning"),
            "frame": Key(
                TEXT,
                "of a trajectory of the tool: frame of its poses; base_link. A drawing has its "
                "middle there, x to the right, y up, z out of the paper",
            ),
            "at": Key(ListOf(LENGTH, 2, 2), "of a drawing: its middle in the frame; zeros"),
            "width": Key(ABOVE, "of a drawing: scales it to this width; as drawn if omitted"),
            "height": Key(ABOVE, "of a text: that of its capital letters; 10 mm if omitted"),
            "lift": Key(ABOVE, "of a drawing: of the pen between two lines; 10 mm if omitted"),
            "touch": Key(
                TEXT, "object of the scene that the hand, and what it holds, may touch meanwhile"
            ),
            "depth": Key(DISTANCE, "how deep the tool may then be in the object; 0 if omitted"),
            "orientation": Key(
                Choice(ORIENTATIONS),
                "of a trajectory of the tool, as for move_linear; full, or any if the file has no "
                "orientation",
            ),
            "tool_speed": Key(
                TOOL_SPEED,
                "along a trajectory of the tool without times, within the limits of the joints; "
                "as fast as `speed` allows if omitted",
            ),
            **TOLERANCE,
        },
        "path",
    ),
    "move_pose": _step("Moves the tool to a pose, straight in joint space.", TARGET),
    "move_linear": _step(
        "Moves the tool to a pose along a straight line.", {**TARGET, "blend": BLEND}
    ),
    "move_arc": _step(
        "Moves the tool to a pose along the arc of a circle through another point.",
        {
            **TARGET,
            "via": Key(PLACE, "the point, in the frame of the target", True),
            "blend": BLEND,
        },
    ),
    "approach": _step(
        "Moves in front of a pose, and then straight to it along the tool's z.",
        {**TARGET, "distance": Key(ABOVE, "how far in front", True)},
    ),
    "retreat": _step(
        "Moves straight back along the tool's z, from where the tool is.",
        {"distance": Key(ABOVE, "how far", True), **TOLERANCE},
    ),
    "grip": _action(
        "Closes the jaws to a width, or on a payload of the scene, which is then carried.",
        {
            "width": Key(DISTANCE, "width between the jaws"),
            "payload": Key(TEXT, "the object to grip, instead of a width"),
        },
        "payload",
        one_of=True,
    ),
    "close": _action("Closes the jaws completely.", {}),
    "open": _action("Opens the jaws.", {"width": WIDTH}),
    "release": _action("Opens the jaws; the same as open.", {"width": WIDTH}),
    "turn": _step(
        "Turns the tool about its own z.",
        {
            "angle": Key(ANGLE, "angle of the turn", True),
            "advance": Key(LENGTH, "displacement along z at the same time; 0 if omitted"),
            **TOLERANCE,
        },
    ),
    "unscrew": _drive(
        "Unscrews the nut from a bolt, regrasping at the end of the wrist's range, and retreats.",
        {
            **_screw(
                Key(POSITIVE, "turns to undo; all turns of the scene if omitted"),
                "additional turns; 0.1 if omitted",
            ),
            "pull_off_turns": Key(
                Leaf("number, at least 0", "at_least_0"),
                "turns left at which the nut is pulled straight off, with at most 1.7 mm of "
                "thread; 0 (unscrew all) if omitted",
            ),
        },
        "bolt",
    ),
    "screw_on": _drive(
        "Screws the nut in the jaws onto a bolt, releases it and retreats.",
        {
            **_screw(
                Key(POSITIVE, "turns of thread to make", True),
                "additional turns, if the thread's start is unknown; 0.5 if omitted",
            ),
            "keep_pressing": Key(
                TRUTH,
                "press until the first release, lightly at first; false if omitted",
            ),
        },
        "bolt",
    ),
    "find_thread": _drive(
        "Presses the nut in the jaws on a bolt's end, turns it back slowly, and retreats: at the "
        "click, a person tells where the thread starts (see Screwing).",
        {
            **_TURN_NUT,
            "click_depth": Key(
                DISTANCE,
                "depth of the bolt's tip in the nut at the click, about 0.95 mm for chamfered "
                "1/4-20; 0 if omitted, as in the geometric world",
            ),
            "around": Key(
                ANGLE,
                "angle of the nut about the bolt's z, if possible in the middle of the turn, for "
                "which the step `unscrew` before it chooses its last grip; 0 if omitted",
            ),
        },
        "bolt",
    ),
    "regrasp": _drive(
        "Hangs the nut in the jaws on a smooth pin, a bolt without a pitch, grips it by the flats "
        "that suit the thread of the next `screw_on` best, and retreats with it.",
        {**_HANDLE_NUT, "bolt": Key(TEXT, "name of the pin in the scene", True), **_JAW_WIDTHS},
        "bolt",
    ),
    "wait": _command("Waits.", {"seconds": Key(SECONDS, "duration", True)}, "seconds"),
    "wait_until": _action(
        "Waits until a condition holds; fails after a time. Its keys are those of `when`.",
        {
            **CONDITION,
            "timeout": Key(TIMEOUT, "longest time to wait, without pauses", True),
        },
    ),
    "find_frame": _action(
        "Finds a frame of tf, such as a part that a camera sees, which may then be a target; the "
        "steps below are planned when it is found; fails if it is not found in time.",
        {
            "frame": Key(TEXT, "its name in tf, as that of no frame of the scene", True),
            "timeout": ANSWER,
        },
        "frame",
    ),
    "call_service": _action(
        "Calls a service; fails if it answers `success: false`, or not in time.",
        {
            "service": Key(
                TEXT, "the service, relative to the namespace of the task server", True
            ),
            "type": Key(TEXT, "its type, such as std_srvs/srv/Trigger", True),
            "request": Key(CONTENT, "fields of the request; zeros and empty texts if omitted"),
            "timeout": ANSWER,
        },
    ),
    "publish": _action(
        "Publishes one message once someone subscribes; fails if nobody does in time.",
        {
            "topic": Key(TEXT, "the topic, relative to the namespace of the task server", True),
            "type": Key(TEXT, "its type, such as std_msgs/msg/Bool", True),
            "message": Key(CONTENT, "fields of the message; `now` is the present time of a stamp"),
            "timeout": ANSWER,
        },
    ),
    "run_function": _action(
        "Runs a Python function that a package offers as an entry point of the group "
        "`arm_tasks.steps`; fails if it raises an exception, returns false, or takes too long.",
        {
            "function": Key(TEXT, "name of the entry point", True),
            "arguments": Key(CONTENT, "its keyword arguments"),
            "timeout": ANSWER,
        },
        "function",
    ),
    "set_speed": _command(
        "Sets the speed of the following steps in the same list, unless they have their own.",
        {"speed": Key(SHARE, "fraction of the joints' speed limits", True)},
        "speed",
    ),
    "repeat": _command(
        "Repeats steps.", {"times": Key(COUNT, "number of repetitions", True), "steps": STEPS_KEY}
    ),
    "for": _command(
        "Runs steps for each value of a variable, or for each combination of values of several, "
        "such as the places of a grid; the last changes fastest.",
        {
            "each": Key(
                Named(Either((COUNT, ListOf(VALUE, 1, None))), "variable"),
                "a number n for 0 to n - 1, or a list of values",
                True,
            ),
            "steps": STEPS_KEY,
        },
    ),
    "call": _command(
        "Runs the steps of another task.",
        {
            "task": Key(TEXT, "shipped name, or path from this file's folder", True),
            "variables": Key(Named(VALUE, "variable"), "override those of that file"),
        },
        "task",
    ),
    "if": _command(
        "Runs one of two lists of steps, by a condition.",
        {
            "when": WHEN_KEY,
            "then": Key(STEPS, "the steps if it holds", True),
            "else": Key(STEPS, "the steps if not; none if omitted"),
        },
    ),
    "until": _command(
        "Checks a condition and runs steps until it holds; fails if it never does.",
        {
            "when": WHEN_KEY,
            "at_most": Key(COUNT, "largest number of repetitions", True),
            "steps": STEPS_KEY,
        },
    ),
    "pause_for_person": _command(
        "Pauses until a person resumes the task.",
        {
            "say": Key(TEXT, "instruction for the person", True),
            "nut_back": Key(TRUTH, "true: the person puts the nut back in its initial place"),
        },
        "say",
    ),
}

DEFAULTS = Table({"speed": Key(SHARE, "0.5 if omitted"), **TOLERANCE})
EXPECT = Table(
    {
        "nut_on": Key(TEXT, "bolt that the nut must be on, released"),
        "turns": Key(NUMBER, "engaged by at least this many turns"),
        "payload": Key(TEXT, "released object of the scene"),
        "lies_on": Key(TEXT, "object that it must lie on"),
        "line_within": Key(ABOVE, "largest distance from the lines of move_linear steps"),
    }
)

TASK = Table(
    {
        "task": Key(TEXT, "name of the task", True),
        "scene": Key(TEXT, "its scene, table if omitted: name, or path from this file's folder"),
        "poses": Key(
            TEXT, "file of taught poses, relative to this file: postures and frames for targets"
        ),
        "variables": Key(
            Named(VALUE, "variable"),
            "numbers and expressions for use in numbers, texts for use as $name or $(name)",
        ),
        "defaults": Key(DEFAULTS, "defaults of the steps"),
        "steps": STEPS_KEY,
        "expect": Key(EXPECT, "required result, as the simulated world reports it"),
    }
)
