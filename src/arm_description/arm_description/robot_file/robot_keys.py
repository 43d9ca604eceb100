# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_schema.py
"""The keys of the robot file: type, meaning, and whether they are required."""

from __future__ import annotations

import math
from collections.abc import Mapping

from arm_common.yaml.colours import COLOUR
from arm_common.yaml.schema_types import (
    Choice,
    Either,
    Key,
    Kind,
    Leaf,
    ListOf,
    Named,
    Table,
    Variants,
)

from arm_description.model.elements import (
    CONVENTIONS,
    JOINT_TYPES,
    LOOK_SIZES,
    MATERIALS,
    RADII_THAT_MAY_BE_0,
    Axis,
    LookKind,
)
from arm_description.model.gripper import DEFAULT_FORCE, MAX_JAW_ANGLE, TURNING
from arm_description.model.servo_types import SERVO_TYPES
from arm_description.model.units import ANGLES, LENGTHS, Units

MAX_ROWS = 64
# Joints with several axes, and these axes in order.
COMPOUND: Mapping[str, tuple[Axis, ...]] = {"universal": ("z", "y"), "ball": ("z", "y", "x")}
TYPES = (*JOINT_TYPES, *COMPOUND)
SCREWS = "screws"  # the convention of axes and points
BRANCHES = ("open", "crossed")  # of a crank
GRIPPER_KEY = "gripper"  # of a width among the joints of a posture

TEXT = Leaf("text", "text")
NAME = Leaf("name without spaces", "name")
NUMBER = Leaf("number")
FACTOR = Leaf("number", nonzero=True)
LENGTH = Leaf("length")
ANGLE = Leaf("angle")
SIZE = Leaf("length", above=0.0)
SIZE_OR_0 = Leaf("length", least=0.0)
POSITION = Leaf("angle, or length if prismatic")
BOUND = Leaf("angle, or length if prismatic; may depend on other joints")
RATE = Leaf("angle/s, or length/s if prismatic", above=0.0)
ACCELERATION = Leaf("angle/s^2, or length/s^2 if prismatic", above=0.0)
SERVO = Choice(tuple(SERVO_TYPES))
MASS = Leaf("kg", above=0.0)
EFFORT = Leaf("N m, or N if prismatic", above=0.0)
MASS_OR_NONE = Leaf("kg", least=0.0)
FILE = Leaf("path from this file's folder, or package://", "text")
ATTACHED = Leaf("name of a shipped one, or path from this file's folder", "text")

FROM = Key(TEXT, "origin of the numbers beside it")

# Any number may be written in this form.
SOURCED = Table(
    {
        "value": Key(Leaf("number", "unsourced"), "the number or expression", required=True),
        "source": Key(TEXT, "its origin", required=True),
    }
)

UNITS = Table(
    {
        "length": Key(Choice(LENGTHS), "unit of every length in the file", required=True),
        "angle": Key(Choice(ANGLES), "unit of every angle in the file", required=True),
        "max_length": Key(SIZE, f"longest length; {Units.max_length:g} m if omitted"),
    }
)

ZEROS = (0.0, 0.0, 0.0)
# of every file with units
HEAD = {
    "description": Key(TEXT, "one line about it"),
    "source": Key(TEXT, "origin of its numbers"),
    "units": Key(UNITS, "units of the file", required=True),
    "constants": Key(Named(NUMBER, "constant"), "named numbers for expressions, in any order"),
}
LENGTHS_3 = ListOf(LENGTH, 3, 3)
ANGLES_3 = ListOf(ANGLE, 3, 3)
NAMES_2 = ListOf(NAME, 2, 2)
POSITIONS_2 = ListOf(POSITION, 2, 2)
SCALE = Either((FACTOR, ListOf(FACTOR, 3, 3)))
ORIGIN = Table(
    {
        "xyz": Key(LENGTHS_3, "position", default=ZEROS),
        "rpy": Key(ANGLES_3, "roll, pitch, yaw about fixed x, y, z", default=ZEROS),
    }
)

TOOL = Table(
    {"name": Key(ATTACHED, "a tool that is mounted there, in place of the gripper"), **ORIGIN.keys}
)

# Slow enough for any arm [rad/s or m/s].
DEFAULT_VELOCITY = {"revolute": 1.0, "prismatic": 0.1}
_SLOW = "{revolute:g} rad/s or {prismatic:g} m/s".format_map(DEFAULT_VELOCITY)
RAMP = 0.25  # in which the maximum speed is reached if no acceleration is given [s]
_RAMP = f"velocity in {RAMP:g} s if omitted"
LIMITS = Table(
    {
        "lower": Key(BOUND, "minimum position", required=True),
        "upper": Key(BOUND, "maximum position; an arc over 180 deg is 170 .. 190", required=True),
        "velocity": Key(RATE, f"maximum speed; {_SLOW} if omitted"),
        "acceleration": Key(ACCELERATION, f"maximum acceleration; {_RAMP}"),
        "effort": Key(EFFORT, "what may be held, not the stall torque; by servo if omitted"),
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
ROWS = ListOf(ROW, 1, MAX_ROWS)

SCREW = Table(
    {
        "name": Key(NAME, "name of the joint, unique in the robot", required=True),
        "type": Key(Choice(JOINT_TYPES), "type of the joint", required=True),
        "axis": Key(ListOf(NUMBER, 3, 3), "positive direction in base_link, joints at 0", True),
        "at": Key(LENGTHS_3, "a point of the axis, likewise", required=True),
        "limits": Key(LIMITS, "its limits", required=True),
        "source": FROM,
    }
)

SCREW_ROWS = ListOf(SCREW, 1, MAX_ROWS)
_ALONG = {"z": "along the tool's z", "x": "along the tool's x", "y": "along the opening"}


def _box(length: str, width: str, thickness: str) -> dict[str, Key]:
    along = {"length": length, "width": width, "thickness": thickness}
    return {key: Key(SIZE, _ALONG[axis], required=True) for key, axis in along.items()}


FINGER = Table(
    {
        **_box("z", "x", "y"),
        "overhang": Key(SIZE_OR_0, "length beyond the grasp point", default=0.0),
    }
)
PALM = Table(_box("z", "y", "x"))
CLAW = Table(
    {
        "length": Key(SIZE, "from a jaw's pivot to its tip, where it grips", required=True),
        "pivots": Key(SIZE_OR_0, "between the pivots, or a fixed jaw's face and a pivot", True),
        "open": Key(
            ANGLE,
            "angle of a jaw when open, from the tool's z outwards to the line from pivot to tip; "
            f"at most {math.degrees(MAX_JAW_ANGLE):.3g} deg",
            required=True,
        ),
        "closed": Key(ANGLE, "the same when closed; where the tips meet if omitted"),
        "turning": Key(Choice(TURNING), "the jaws that turn", default=TURNING[0]),
        "face": Key(LENGTH, "from the tool's z to a fixed jaw's face; half the widest if omitted"),
    }
)
GRIPPER = Table(
    {
        "joints": Key(
            NAMES_2,
            "finger joints, towards -y and +y of the tool; at half the width, or a jaw's angle",
            required=True,
        ),
        "min_width": Key(SIZE_OR_0, "width when closed; of a claw computed"),
        "max_width": Key(LENGTH, "width when open, above min_width; of a claw computed"),
        "claw": Key(CLAW, "jaws that turn, in place of fingers that slide"),
        "velocity": Key(Leaf("length/s", above=0.0), "maximum speed of the width", True),
        "acceleration": Key(Leaf("length/s^2", above=0.0), f"maximum acceleration; {_RAMP}"),
        "effort": Key(Leaf("N", above=0.0), "force of a finger at its tip", default=DEFAULT_FORCE),
        "finger": Key(FINGER, "box of a finger; by default in proportion to max_width or claw"),
        "palm": Key(PALM, "box of the palm; in proportion to max_width if omitted"),
        "source": FROM,
    }
)

MOVED = Key(NAME, "joint that the actuator moves", required=True)
SHAFT = Key(NAME, "name of the actuator in the calibration; the joint's if omitted")
SHAFTS = Key(ListOf(NAME, 2, 8), "names of the actuators in the calibration", required=True)
REDUCTION = Key(FACTOR, "actuator's turns per joint's turn, negative if opposite", default=1.0)
OFFSET = Key(POSITION, "position of the joint with the actuator at 0", default=0.0)
_PAIR_OF_RATIOS = ListOf(FACTOR, 2, 2)
_COUPLED = {
    "joints": Key(NAMES_2, "the two joints that both actuators move", required=True),
    "actuators": SHAFTS,
    "mechanical_reduction": Key(_PAIR_OF_RATIOS, "of the actuators", default=(1.0, 1.0)),
    "joint_reduction": Key(_PAIR_OF_RATIOS, "of the joints", default=(1.0, 1.0)),
    "offset": Key(
        ListOf(ANGLE, 2, 2), "positions of the joints with the actuators at 0", default=(0.0, 0.0)
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
            Either((FACTOR, ListOf(FACTOR, 1, MAX_ROWS))),
            "turns of the actuator per turn of `against`, negative if opposite",
            default=1.0,
        ),
        **_GEAR,
    },
    "differential": _COUPLED,
    "four_bar_linkage": _COUPLED,
    "several": {
        "joint": MOVED,
        "actuators": SHAFTS,
        "mirrored": Key(
            ListOf(Leaf("true or false", "truth"), 2, 8),
            "whether each turns opposite to the joint; none if omitted",
        ),
        "allowed_difference": Key(
            Leaf("angle, or length if prismatic", above=0.0),
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
            "limits; crossed: on opposite sides",
            default=BRANCHES[0],
        ),
        "crank_angle": Key(ANGLE, "from ground line to crank with the actuator at 0", default=0.0),
        "rocker_angle": Key(ANGLE, "from ground line to rocker with the joint at 0", default=0.0),
        "min_transmission_angle": Key(
            Leaf("angle", above=0.0), "between the rod and each lever; 10 deg if omitted"
        ),
        "against": Key(NAME, "earlier joint that moves the ground line"),
        "ratio": Key(FACTOR, "turns of the actuator per turn of `against`", default=1.0),
    },
    "table": {
        **_ONE,
        "points": Key(
            ListOf(POSITIONS_2, 2, 200),
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
            "range": Key(POSITIONS_2, "lowest and highest position; by servo if omitted"),
            "velocity": Key(RATE, "maximum speed of each actuator; its joints' if omitted"),
            "acceleration": Key(ACCELERATION, "its maximum; its joints' if omitted"),
            "source": FROM,
        }
    )


TRANSMISSION = Variants("type", {kind: _transmission(kind) for kind in _KINDS})

BAR = Table(
    {
        "name": Key(NAME, "name of the bar", required=True),
        "beside": Key(NAME, "joint whose link it is parallel to", required=True),
        "levers": Key(NAME, "joint whose link its two levers turn with", required=True),
        "at": Key(LENGTHS_3, "lever's end from that joint's axis, in its link, joints at 0", True),
        "source": FROM,
    }
)

PAYLOAD = Table(
    {
        "mass": Key(MASS, "mass that the tool carries", required=True),
        "centre": Key(LENGTHS_3, "its centre of mass in tool0", required=True),
        "size": Key(ListOf(SIZE, 3, 3), "box around the centre, to be seen"),
        "source": FROM,
    }
)

_MOMENT = Leaf("kg m^2")
INERTIA = Table(
    {f"i{x}{x}": Key(_MOMENT, f"moment about {x}", True) for x in "xyz"}
    | {
        f"i{xy}": Key(_MOMENT, f"product of {xy[0]} and {xy[1]}", default=0.0)
        for xy in ("xy", "xz", "yz")
    }
)
LINK_MASS = Table(
    {
        "value": Key(MASS_OR_NONE, "the mass", required=True),
        "centre": Key(LENGTHS_3, "centre of mass in the link; that of the skeleton if omitted"),
        "inertia": Key(INERTIA, "about the centre, along the link's axes; estimated if omitted"),
        "source": FROM,
    }
)

MESH = Table(
    {
        "visual": Key(FILE, "mesh drawn in place of the skeleton", required=True),
        "collision": Key(FILE, "collision mesh; the visual mesh if omitted"),
        "scale": Key(SCALE, "metres per unit of the mesh, 0.001 for mm", default=1.0),
        "origin": Key(ORIGIN, "link <- mesh"),
        "source": FROM,
    }
)


def _look_size(kind: LookKind) -> Kind:
    """Return the kind of a shape's size; radii of 0 are allowed where a point is meant."""
    leaf = SIZE_OR_0 if kind in RADII_THAT_MAY_BE_0 else SIZE
    count = len(LOOK_SIZES[kind])
    return leaf if count == 1 else ListOf(leaf, count, count)


# One of these says what a shape is.
LOOK_SHAPES: Mapping[str, Key] = {
    kind: Key(_look_size(kind), ", ".join(size)) for kind, size in LOOK_SIZES.items()
}
LOOK = Table(
    {
        **LOOK_SHAPES,
        "at": Key(LENGTHS_3, "its centre, or the middle of a fillet's foot", default=ZEROS),
        "rpy": Key(ANGLES_3, "its roll, pitch, yaw in the link", default=ZEROS),
        "colour": Key(COLOUR, "grey if omitted"),
        "material": Key(Choice(MATERIALS), "surface", default=MATERIALS[0]),
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
    **HEAD,
    "servo": Key(SERVO, "servo of all turning joints whose limits give neither servo nor effort"),
    "tool": Key(Either((ATTACHED, TOOL)), "flange <- tool0, or <- a tool"),
    "gripper": Key(GRIPPER, "two fingers that slide, or a claw"),
    "postures": Key(Named(Named(POSITION, "joint"), "posture"), "each joint; gripper: a width"),
    "transmissions": Key(ListOf(TRANSMISSION, 1, MAX_ROWS), "to servos; one a joint if omitted"),
    "bars": Key(ListOf(BAR, 1, MAX_ROWS), "bars of linkages, drawn only: they follow the joints"),
    "payload": Key(Either((ATTACHED, PAYLOAD)), "load carried by the tool"),
    "masses": Key(
        Named(Either((MASS_OR_NONE, LINK_MASS)), "link"),
        "of moving links, such as waist_link; estimated from the skeleton if omitted",
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
    "base": Key(ORIGIN, "base_link <- frame 0 of the table"),
    "joints": Key(ROWS, "one row per joint, from base to tool", True),
}
_SCREWS = {
    "joints": Key(SCREW_ROWS, "one axis per joint, from base to tool", True),
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
