# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_schema.py
"""The keys of the robot file: type, meaning, and whether they are required."""

from __future__ import annotations

from collections.abc import Mapping

from arm_common.yaml.colours import COLOUR
from arm_common.yaml.schema_types import Choice, Either, Key, Leaf, ListOf, Named, Table, Variants

from arm_description.model.elements import CONVENTIONS, MATERIALS, Axis
from arm_description.model.gripper import TURNING
from arm_description.model.servo_types import SERVO_TYPES
from arm_description.model.units import ANGLES, LENGTHS

MAX_ROWS = 64
# Joints with several axes, and these axes in order.
COMPOUND: Mapping[str, tuple[Axis, ...]] = {"universal": ("z", "y"), "ball": ("z", "y", "x")}
LINEAR = ("revolute", "prismatic")  # of one axis
TYPES = (*LINEAR, *COMPOUND)
SCREWS = "screws"  # the convention of axes and points
BRANCHES = ("open", "crossed")  # of a crank
GRIPPER_KEY = "gripper"  # of a width among the joints of a posture

TEXT = Leaf("text", "text")
NAME = Leaf("name without spaces", "name")
NUMBER = Leaf("number", "number")
LENGTH = Leaf("length", "number")
ANGLE = Leaf("angle", "number")
SIZE = Leaf("length above 0", "positive")
POSITION = Leaf("angle, or length if prismatic", "number")
BOUND = Leaf("angle, or length if prismatic; may depend on other joints", "number")
RATE = Leaf("angle/s, or length/s if prismatic, above 0", "positive")
ACCELERATION = Leaf("angle/s^2, or length/s^2 if prismatic, above 0", "positive")
SERVO = Choice(tuple(SERVO_TYPES))
MASS = Leaf("kg, above 0", "positive")
EFFORT = Leaf("N m, or N if prismatic, above 0", "positive")
MASS_OR_NONE = Leaf("kg, 0 for none", "number")
FILE = Leaf("path from this file's folder, or package://", "text")
ATTACHED = Leaf("name of a shipped one, or path from this file's folder", "text")

FROM = Key(TEXT, "origin of the numbers beside it")

# Any number may be written in this form.
SOURCED = Table(
    {
        "value": Key(NUMBER, "the number or expression", required=True),
        "source": Key(TEXT, "its origin", required=True),
    }
)

UNITS = Table(
    {
        "length": Key(Choice(LENGTHS), "unit of every length in the file", required=True),
        "angle": Key(Choice(ANGLES), "unit of every angle in the file", required=True),
        "max_length": Key(SIZE, "longest length, against mistaken units; default 20 m"),
    }
)

LENGTHS_3 = ListOf(LENGTH, 3, 3)
ORIGIN = Table(
    {
        "xyz": Key(LENGTHS_3, "position; default zeros"),
        "rpy": Key(ListOf(ANGLE, 3, 3), "roll, pitch, yaw about fixed x, y, z; default zeros"),
    }
)

TOOL = Table(
    {"name": Key(ATTACHED, "a tool that is mounted there, in place of the gripper"), **ORIGIN.keys}
)

LIMITS = Table(
    {
        "lower": Key(BOUND, "minimum position", required=True),
        "upper": Key(BOUND, "maximum position; an arc over 180 deg is 170 .. 190", required=True),
        "velocity": Key(RATE, "maximum speed; default 1 rad/s or 0.1 m/s"),
        "acceleration": Key(ACCELERATION, "maximum acceleration; default: velocity in 0.25 s"),
        "effort": Key(EFFORT, "what may be held, not the stall torque; default that of servo"),
        "servo": Key(SERVO, "servo that turns it; effort is by default its continuous torque"),
    }
)


_ROW_NUMBERS = {
    "theta": Key(
        ANGLE,
        "rotation about z; offset of a revolute joint, default 0, or the sum of joints that a "
        "dependent one follows",
    ),
    "d": Key(
        LENGTH,
        "translation along z; offset of a prismatic joint, default 0, or the sum of joints "
        "that a dependent one follows",
    ),
    "a": Key(LENGTH, "translation along x"),
    "alpha": Key(ANGLE, "rotation about x"),
}


def _row(kind: str) -> Table:
    """Return the keys of a row; the joint variable is optional."""
    variable = "d" if kind == "prismatic" else "theta"
    about = "limits of the rotation about {} of a universal or ball joint"
    meaning = "maximum torque or force of a dependent joint; default the largest of its leaders'"
    limits, effort = LIMITS, {"effort": Key(EFFORT, meaning)}
    if kind in COMPOUND:
        limits = Table({x: Key(LIMITS, about.format(x), True) for x in COMPOUND[kind]})
        effort = {}
    return Table(
        {
            "name": Key(NAME, "name of the joint, unique in the robot", required=True),
            "type": Key(Choice(TYPES), "type of the joint", required=True),
            **{k: Key(v.kind, v.meaning, k != variable) for k, v in _ROW_NUMBERS.items()},
            "limits": Key(
                limits,
                "its limits; by axis for a universal or ball joint; none for a dependent joint",
                kind in COMPOUND,
                "" if kind in COMPOUND else variable,
            ),
            **effort,
            "source": FROM,
        }
    )


ROW = Variants("type", {kind: _row(kind) for kind in TYPES})

SCREW = Table(
    {
        "name": Key(NAME, "name of the joint, unique in the robot", required=True),
        "type": Key(Choice(LINEAR), "type of the joint", required=True),
        "axis": Key(
            ListOf(NUMBER, 3, 3),
            "direction of positive motion in base_link with every joint at 0, of any length",
            required=True,
        ),
        "at": Key(LENGTHS_3, "a point of the axis, likewise", required=True),
        "limits": Key(LIMITS, "its limits", required=True),
        "source": FROM,
    }
)

_ALONG = {"z": "along the tool's z", "x": "along the tool's x", "y": "along the opening"}


def _box(length: str, width: str, thickness: str) -> dict[str, Key]:
    along = {"length": length, "width": width, "thickness": thickness}
    return {key: Key(SIZE, _ALONG[axis], required=True) for key, axis in along.items()}


FINGER = Table(
    {
        **_box("z", "x", "y"),
        "overhang": Key(LENGTH, "length beyond the grasp point; default 0"),
    }
)
PALM = Table(_box("z", "y", "x"))
CLAW = Table(
    {
        "length": Key(SIZE, "from a jaw's pivot to its tip, where it grips", required=True),
        "pivots": Key(
            LENGTH,
            "distance between the pivots, or from a fixed jaw's face to the other's pivot",
            required=True,
        ),
        "open": Key(
            ANGLE,
            "angle of a jaw when open, from the tool's z outwards to the line from pivot to tip",
            required=True,
        ),
        "closed": Key(ANGLE, "the same when closed; default where the tips meet"),
        "turning": Key(Choice(TURNING), "the jaws that turn; default both"),
        "face": Key(LENGTH, "from the tool's z to a fixed jaw's face; default half of the widest"),
    }
)
GRIPPER = Table(
    {
        "joints": Key(
            ListOf(NAME, 2, 2),
            "finger joints, towards -y and +y of the tool; at half the width, or a jaw's angle",
            required=True,
        ),
        "min_width": Key(LENGTH, "width when closed, at least 0; of a claw computed"),
        "max_width": Key(LENGTH, "width when open, above min_width; of a claw computed"),
        "claw": Key(CLAW, "jaws that turn, in place of fingers that slide"),
        "velocity": Key(Leaf("length/s, above 0", "positive"), "maximum speed of the width", True),
        "acceleration": Key(
            Leaf("length/s^2, above 0", "positive"),
            "maximum acceleration of the width; default: reaches the velocity in 0.25 s",
        ),
        "effort": Key(Leaf("N, above 0", "positive"), "force of a finger at its tip; default 10"),
        "finger": Key(FINGER, "box of a finger; default in proportion to max_width or the claw"),
        "palm": Key(PALM, "box of the palm; default in proportion to max_width"),
        "source": FROM,
    }
)

MOVED = Key(NAME, "joint that the actuator moves", required=True)
SHAFT = Key(NAME, "name of the actuator in the calibration; default the joint's")
SHAFTS = Key(ListOf(NAME, 2, 8), "names of the actuators in the calibration", required=True)
REDUCTION = Key(
    Leaf("number, not 0", "number"),
    "turns of the actuator per turn of the joint, negative if opposite; default 1",
)
OFFSET = Key(POSITION, "position of the joint with the actuator at 0; default 0")
RATIO = Leaf("number, not 0", "number")
_PAIR_OF_RATIOS = ListOf(RATIO, 2, 2)
_COUPLED = {
    "joints": Key(ListOf(NAME, 2, 2), "the two joints that both actuators move", required=True),
    "actuators": SHAFTS,
    "mechanical_reduction": Key(_PAIR_OF_RATIOS, "of the actuators; default [1, 1]"),
    "joint_reduction": Key(_PAIR_OF_RATIOS, "of the joints; default [1, 1]"),
    "offset": Key(
        ListOf(ANGLE, 2, 2), "positions of the joints with the actuators at 0; default [0, 0]"
    ),
}
_ONE = {"joint": MOVED, "actuator": SHAFT}
_GEAR = {"mechanical_reduction": REDUCTION, "offset": OFFSET}
_KINDS: Mapping[str, Mapping[str, Key]] = {
    "simple": {**_ONE, **_GEAR},
    "parallelogram": {
        **_ONE,
        "against": Key(
            Either((NAME, ListOf(NAME, 1, MAX_ROWS))),
            "earlier joint, or joints, between the actuator's link and the joint",
            required=True,
        ),
        "ratio": Key(
            Either((RATIO, ListOf(RATIO, 1, MAX_ROWS))),
            "turns of the actuator per turn of `against`; default 1, -1 if opposite",
        ),
        **_GEAR,
    },
    "differential": _COUPLED,
    "four_bar_linkage": _COUPLED,
    "several": {
        "joint": MOVED,
        "actuators": SHAFTS,
        "mirrored": Key(
            ListOf(Leaf("true or false", "flag"), 2, 8),
            "whether each turns opposite to the joint; default none",
        ),
        "allowed_difference": Key(
            Leaf("angle, or length if prismatic, above 0", "positive"),
            "by which the actuators may differ, since they work against each other",
            required=True,
        ),
        **_GEAR,
    },
    "crank": {
        **_ONE,
        "ground": Key(SIZE, "length from the actuator's shaft to the joint's axis", required=True),
        "crank": Key(SIZE, "length of the actuator's lever", required=True),
        "rod": Key(SIZE, "length of the rod between the levers", required=True),
        "rocker": Key(SIZE, "length of the joint's lever", required=True),
        "branch": Key(
            Choice(BRANCHES),
            "open: both levers are on one side of the ground line in the middle of the joint's "
            "limits; crossed: on opposite sides; default open",
        ),
        "crank_angle": Key(ANGLE, "from ground line to crank with the actuator at 0; default 0"),
        "rocker_angle": Key(ANGLE, "from ground line to rocker with the joint at 0; default 0"),
        "min_transmission_angle": Key(
            Leaf("angle above 0", "positive"), "between the rod and each lever; default 10 degrees"
        ),
        "against": Key(NAME, "earlier joint that moves the ground line; default none"),
        "ratio": Key(RATIO, "turns of the actuator per turn of `against`; default 1"),
    },
    "table": {
        **_ONE,
        "points": Key(
            ListOf(ListOf(POSITION, 2, 2), 2, 200),
            "[joint, actuator] as measured, the first increasing, the second in one direction",
            required=True,
        ),
    },
}


def _transmission(kind: str) -> Table:
    """Return the keys of a transmission."""
    return Table(
        {
            "type": Key(Choice(tuple(_KINDS)), "type of the transmission", required=True),
            **_KINDS[kind],
            "range": Key(
                ListOf(POSITION, 2, 2),
                "least and largest position of each actuator; default what its servo can do",
            ),
            "velocity": Key(RATE, "maximum speed of each actuator; default its joints'"),
            "acceleration": Key(ACCELERATION, "maximum acceleration; default likewise"),
            "source": FROM,
        }
    )


TRANSMISSION = Variants("type", {kind: _transmission(kind) for kind in _KINDS})

BAR = Table(
    {
        "name": Key(NAME, "name of the bar", required=True),
        "beside": Key(NAME, "joint whose link it is parallel to", required=True),
        "levers": Key(NAME, "joint whose link its two levers turn with", required=True),
        "at": Key(
            LENGTHS_3,
            "end of the lever from the axis of that joint, in its link with all joints at 0",
            required=True,
        ),
        "source": FROM,
    }
)

PAYLOAD = Table(
    {
        "mass": Key(MASS, "mass that the tool carries", required=True),
        "centre": Key(LENGTHS_3, "its centre of mass in tool0", required=True),
        "size": Key(ListOf(SIZE, 3, 3), "box around the centre, to be seen; default none"),
        "source": FROM,
    }
)

_MOMENT, _PRODUCT = Leaf("kg m^2", "number"), Leaf("kg m^2; default 0", "number")
INERTIA = Table(
    {f"i{x}{x}": Key(_MOMENT, f"moment about {x}", True) for x in "xyz"}
    | {f"i{xy}": Key(_PRODUCT, f"product of {xy[0]} and {xy[1]}") for xy in ("xy", "xz", "yz")}
)
LINK_MASS = Table(
    {
        "value": Key(MASS_OR_NONE, "the mass", required=True),
        "centre": Key(LENGTHS_3, "centre of mass in the link; default that of the skeleton"),
        "inertia": Key(INERTIA, "about the centre, along the link's axes; default likewise"),
        "source": FROM,
    }
)

MESH = Table(
    {
        "visual": Key(FILE, "mesh drawn in place of the skeleton", required=True),
        "collision": Key(FILE, "collision mesh; default the visual mesh"),
        "scale": Key(
            Either((Leaf("number, not 0", "number"), ListOf(NUMBER, 3, 3))),
            "metres per unit of the mesh, 0.001 for mm; default 1",
        ),
        "origin": Key(ORIGIN, "link <- mesh; default none"),
        "source": FROM,
    }
)

# One of these says what a shape is. Radii of 0 are allowed where a point is meant.
LOOK_SHAPES = {
    "box": Key(ListOf(SIZE, 3, 3), "its edges along x, y, z"),
    "cylinder": Key(ListOf(SIZE, 2, 2), "radius and length along z"),
    "cone": Key(ListOf(LENGTH, 3, 3), "lower radius, upper radius, length along z"),
    "sphere": Key(SIZE, "radius"),
    "ring": Key(ListOf(SIZE, 3, 3), "outer radius, inner radius, length along z"),
    "fillet": Key(
        ListOf(LENGTH, 2, 2),
        "rounded foot of a post along z: radius of the post, radius of the rounding",
    ),
}
LOOK = Table(
    {
        **LOOK_SHAPES,
        "at": Key(LENGTHS_3, "its centre, or the middle of a fillet's foot; default zeros"),
        "rpy": Key(ListOf(ANGLE, 3, 3), "its roll, pitch, yaw in the link; default zeros"),
        "colour": Key(COLOUR, "default grey"),
        "material": Key(Choice(MATERIALS), "surface; default plastic"),
        "source": FROM,
    },
    one_of=LOOK_SHAPES,
)

COLOURS = Table(
    {
        "base": Key(COLOUR, "foot"),
        "links": Key(ListOf(COLOUR, 1, None), "rods, one per link, repeated cyclically"),
        "joints": Key(COLOUR, "bodies at the joints"),
        "gripper": Key(COLOUR, "palm"),
        "fingers": Key(COLOUR, "fingers"),
    }
)

_COMMON = {
    "name": Key(NAME, "name of the robot", required=True),
    "description": Key(TEXT, "one line about it"),
    "source": Key(TEXT, "origin of its numbers"),
    "units": Key(UNITS, "units of the file", required=True),
    "constants": Key(Named(NUMBER, "constant"), "named numbers for expressions, in any order"),
    "servo": Key(SERVO, "servo of all turning joints whose limits give neither servo nor effort"),
    "tool": Key(Either((ATTACHED, TOOL)), "flange <- tool0, or <- a tool; default none"),
    "gripper": Key(GRIPPER, "two fingers that slide, or a claw; default none"),
    "postures": Key(
        Named(Named(POSITION, "joint"), "posture"),
        "named positions: one per joint, and gripper: a width",
    ),
    "transmissions": Key(
        ListOf(TRANSMISSION, 1, MAX_ROWS), "between joints and servos; default one servo each"
    ),
    "bars": Key(ListOf(BAR, 1, MAX_ROWS), "bars of linkages, drawn only: they follow the joints"),
    "payload": Key(Either((ATTACHED, PAYLOAD)), "load carried by the tool; default none"),
    "masses": Key(
        Named(Either((MASS_OR_NONE, LINK_MASS)), "link"),
        "of moving links, such as waist_link; default estimated from the skeleton",
    ),
    "meshes": Key(Named(MESH, "link"), "meshes of links, such as base_link or waist_link"),
    "looks": Key(
        Named(ListOf(LOOK, 0, 200), "link"),
        "shapes drawn in place of the skeleton of links, such as base_link or waist_link; "
        "collision bodies and masses stay those of the skeleton",
    ),
    "colours": Key(COLOURS, "colours of the skeleton"),
}
_DH = {
    "base": Key(ORIGIN, "base_link <- frame 0 of the table; default none"),
    "joints": Key(ListOf(ROW, 1, MAX_ROWS), "one row per joint, from base to tool", True),
}
_SCREWS = {
    "joints": Key(ListOf(SCREW, 1, MAX_ROWS), "one axis per joint, from base to tool", True),
    "home": Key(ORIGIN, "base_link <- flange with every joint at 0", required=True),
}
_CONVENTION = Key(
    Choice((*CONVENTIONS, SCREWS)),
    "standard: a row is Rz(theta) Tz(d) Tx(a) Rx(alpha); modified: Rx(alpha) Tx(a) Rz(theta) "
    "Tz(d), where row i holds a and alpha of link i-1; screws: axes and points in place of rows",
    required=True,
)


def _robot(convention: str) -> Table:
    """Return the keys of a robot file; name, convention and units come first."""
    head = {key: _COMMON[key] for key in ("name", "description", "source")}
    own = _SCREWS if convention == SCREWS else _DH
    return Table({**head, "convention": _CONVENTION, **_COMMON, **own})


ROBOT = Variants("convention", {word: _robot(word) for word in (*CONVENTIONS, SCREWS)})
