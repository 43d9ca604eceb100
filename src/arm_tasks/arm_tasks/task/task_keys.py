# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/task/test_schemas.py
"""Tables of the keys of a task file, for the reader, the JSON schema and the reference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import get_args

from arm_common.yaml.schema_types import Choice, Either, Key, Leaf, ListOf, Named, Table
from arm_description.model.elements import TOLERANCE_AXES
from arm_description.trajectories.trajectory import AS_DRAWN

from arm_tasks.scene.file import ABOVE, ANGLE, LENGTH, NUMBER, TEXT, ZEROS
from arm_tasks.scene.scene import BASE_FRAME
from arm_tasks.task.condition import CONDITION, CONTENT, POSITION, TRUTH
from arm_tasks.task.steps import Orientation, Tolerance

MAX_STEPS = 2000  # of a task, planned in about 12 to 25 s if none is refused
MAX_ROUNDS = 1000  # of a `for`
MAX_SECONDS = 86_400.0  # of a wait
_MAX_TURNS = 1000.0  # of a nut
COUNT = Leaf("whole number", "whole", least=1)
TIMES = Leaf("whole number", "whole", least=1, most=MAX_STEPS)
ROUNDS = Leaf("whole number", "whole", least=1, most=MAX_ROUNDS)
RETRIES = Leaf("whole number", "whole", least=0, most=100)
VALUE = Leaf("number, expression or text", "value")
TURNS = Leaf("number", above=0.0, most=_MAX_TURNS)
TURNS_0 = Leaf("number", least=0.0, most=_MAX_TURNS)
SHARE = Leaf("number", least=0.001, most=1.0)
SECONDS = Leaf("s", least=0.0, most=MAX_SECONDS)
TIMEOUT = Leaf("s", above=0.0, most=MAX_SECONDS)
DISTANCE = Leaf("m", suffix="_mm", least=0.0)
TOOL_SPEED = Leaf("m/s", suffix="_mm", least=1e-5)
TILT = Leaf("rad", suffix="_deg", least=0.0, most=math.pi / 2.0)
SWING = Leaf("rad", suffix="_deg", least=0.0)
STEPS = Leaf("list of steps", "steps")
PLACE = ListOf(LENGTH, 3, 3)
TURN = ListOf(ANGLE, 3, 3)
ORIENTATIONS: tuple[Orientation, ...] = get_args(Orientation)


@dataclass(frozen=True)
class StepKeys:
    """The keys of one kind of step."""

    meaning: str  # description
    table: Table  # its keys
    # key of a bare value, as in `wait: 0.5`; not a length or angle, whose unit must be visible
    short: str = ""
    one_of: bool = False  # whether any one of its keys is required


SPEED_MEANING = "fraction of the joints' speed limits"
SPEED = Key(SHARE, f"{SPEED_MEANING}; the default if omitted")
TOLERANCE = {
    "position": Key(ABOVE, "largest error of the tool's position; the default if omitted"),
    "tilt": Key(TILT, "largest tilt of the tool's z; likewise"),
}
TARGET = {
    "frame": Key(
        TEXT,
        "frame of the scene, base_link, or tool0 for the current tool pose",
        default=BASE_FRAME,
    ),
    "xyz": Key(PLACE, "position of the tool in the frame", default=ZEROS),
    "rpy": Key(TURN, "roll, pitch, yaw of the tool in the frame", default=ZEROS),
    "roll": Key(ANGLE, "roll of the tool about the frame's z, instead of rpy"),
    "axis": Key(
        ListOf(NUMBER, 3, 3),
        "direction of the tool's z in the frame, with its x as close as possible to the frame's z "
        "(or x, if the axis is along z), instead of rpy",
    ),
    "orientation": Key(
        Choice(ORIENTATIONS),
        "full; axis: the roll about the tool's z is free; any: the orientation is free",
        default=ORIENTATIONS[0],
    ),
    "offset": Key(PLACE, "added to the target", default=ZEROS),
    "offset_in": Key(
        Choice(TOLERANCE_AXES),
        "axes of the offset: those of the frame (target) or of the tool at the target (tool)",
        default=TOLERANCE_AXES[0],
    ),
    **TOLERANCE,
}
BLEND = Key(
    DISTANCE,
    "radius of the corner to the next move_linear or move_arc: the tool leaves its path so far "
    "before the end, without a stop; it stops at 0",
    default=0.0,
)
WHEN = Table(CONDITION)
NAMED = {"name": Key(TEXT, "name in reports; the kind if omitted")}
MOVING = {**NAMED, "speed": SPEED}
RECOVERY = {
    "retries": Key(RETRIES, "how often the step is tried again if it fails", default=0),
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
    "approach": Key(ABOVE, "length of the straight approach", default=0.02),
    "play": Key(SWING, "dead band and backlash to compensate", default=0.0),
    "approach_tilt": Key(SWING, "largest tilt on approach and retreat; the default if omitted"),
    "position": Key(ABOVE, "largest position error while it turns", default=Tolerance.position),
    "tilt": Key(TILT, "largest tilt while it turns", default=math.radians(3.0)),
}
_TURN_NUT = {
    **_HANDLE_NUT,
    "press": Key(DISTANCE, "distance to push the nut against the bolt's end", default=0.3e-3),
    "search": Key(DISTANCE, "radius of the search for the tip, under pressure", default=0.0),
}


def _screw(turns: Key, extra: Key) -> dict[str, Key]:
    return {**_TURN_NUT, "turns": turns, "extra_turns": extra, **_JAW_WIDTHS}


ANSWER = Key(TIMEOUT, "longest time, without pauses", default=10.0)
WIDTH = Key(DISTANCE, "width between the jaws; fully open if omitted")
WHEN_KEY = Key(WHEN, "the condition; all its keys must hold", True)
STEPS_KEY = Key(STEPS, "the steps", required=True)

STEPS_KEYS: Mapping[str, StepKeys] = {
    "move_joints": _step(
        "Moves some joints; the others keep their positions.",
        {
            "joints": Key(Named(POSITION, "joint"), "positions by joint", True),
        },
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
            "reverse": Key(TRUTH, "play from the end to the beginning", default=False),
            "frame": Key(
                TEXT,
                "of a trajectory of the tool: frame of its poses; base_link. A drawing has its "
                "middle there, x to the right, y up, z out of the paper",
            ),
            "at": Key(
                ListOf(LENGTH, 2, 2), "of a drawing: its middle in the frame", default=AS_DRAWN.at
            ),
            "width": Key(ABOVE, "of a drawing: scales it to this width; as drawn if omitted"),
            "height": Key(
                ABOVE, "of a text: that of its capital letters", default=AS_DRAWN.height
            ),
            "lift": Key(
                ABOVE, "of a drawing: of the pen between two lines", default=AS_DRAWN.lift
            ),
            "touch": Key(
                TEXT, "object of the scene that the hand, and what it holds, may touch meanwhile"
            ),
            "depth": Key(DISTANCE, "how deep the tool may then be in the object", default=0.0),
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
            "advance": Key(LENGTH, "displacement along z at the same time", default=0.0),
            **TOLERANCE,
        },
    ),
    "unscrew": _drive(
        "Unscrews the nut from a bolt, regrasping at the end of the wrist's range, and retreats.",
        {
            **_screw(
                Key(TURNS, "turns to undo; all turns of the scene if omitted"),
                Key(TURNS_0, "additional turns", default=0.1),
            ),
            "pull_off_turns": Key(
                TURNS_0,
                "turns left at which the nut is pulled straight off, with at most 1.7 mm of "
                "thread; at 0 all are unscrewed",
                default=0.0,
            ),
        },
        "bolt",
    ),
    "screw_on": _drive(
        "Screws the nut in the jaws onto a bolt, releases it and retreats.",
        {
            **_screw(
                Key(TURNS, "turns of thread to make", True),
                Key(TURNS_0, "additional turns, if the thread's start is unknown", default=0.5),
            ),
            "keep_pressing": Key(
                TRUTH,
                "press until the first release, lightly at first",
                default=False,
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
                "1/4-20, 0 in the geometric world",
                default=0.0,
            ),
            "around": Key(
                ANGLE,
                "angle of the nut about the bolt's z, if possible in the middle of the turn, for "
                "which the step `unscrew` before it chooses its last grip",
                default=0.0,
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
        {"speed": Key(SHARE, SPEED_MEANING, True)},
        "speed",
    ),
    "repeat": _command(
        "Repeats steps.", {"times": Key(TIMES, "number of repetitions", True), "steps": STEPS_KEY}
    ),
    "for": _command(
        "Runs steps for each value of a variable, or for each combination of values of several, "
        "such as the places of a grid; the last changes fastest.",
        {
            "each": Key(
                Named(Either((ROUNDS, ListOf(VALUE, 1, None))), "variable"),
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
            "nut_back": Key(
                TRUTH, "the person puts the nut back in its initial place", default=False
            ),
        },
        "say",
    ),
}

DEFAULTS = Table(
    {
        "speed": Key(SHARE, SPEED_MEANING, default=0.5),
        "position": Key(ABOVE, "largest error of the tool's position", default=Tolerance.position),
        "tilt": Key(TILT, "largest tilt of the tool's z", default=Tolerance.tilt),
    }
)
EXPECT = Table(
    {
        "nut_on": Key(TEXT, "bolt that the nut must be on, released"),
        "turns": Key(NUMBER, "engaged by at least this many turns", default=0.0),
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
