# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every key of the robot file: what stands there, what it means, whether it must be there."""

from __future__ import annotations

from collections.abc import Mapping

from arm_common.yaml.schema_types import Choice, Either, Key, Leaf, ListOf, Named, Table, Variants

from arm_description.model.elements import CONVENTIONS, Axis
from arm_description.model.units import ANGLES, LENGTHS

MOST_ROWS = 64
# Joints of several axes, and the axes that they turn about one after the other.
COMPOUND: Mapping[str, tuple[Axis, ...]] = {"universal": ("z", "y"), "ball": ("z", "y", "x")}
TYPES = ("revolute", "prismatic", *COMPOUND)

TEXT = Leaf("text", "text")
NAME = Leaf("a name without blanks", "name")
SOURCE = Leaf("text", "text")
NUMBER = Leaf("number", "number")
LENGTH = Leaf("length", "number")
ANGLE = Leaf("angle", "number")
SIZE = Leaf("length above 0", "positive")
POSITION = Leaf("angle, of a sliding joint length", "number")
RATE = Leaf("angle/s, of a sliding joint length/s, above 0", "positive")
ACCELERATION = Leaf("angle/s^2, of a sliding joint length/s^2, above 0", "positive")
MASS = Leaf("kg, above 0", "positive")
COLOUR = Leaf('"#rrggbb" in quotes', "colour")
FILE = Leaf("path from this file's folder, or package://", "text")

FROM = Key(SOURCE, "where the numbers beside it come from")

# Any number may be written so.
SOURCED = Table(
    {
        "value": Key(NUMBER, "the number or expression", required=True),
        "source": Key(SOURCE, "where it comes from", required=True),
    }
)

UNITS = Table(
    {
        "length": Key(Choice(LENGTHS), "unit of every length in the file", required=True),
        "angle": Key(Choice(ANGLES), "unit of every angle in the file", required=True),
    }
)

LENGTHS_3 = ListOf(LENGTH, 3, 3)
ORIGIN = Table(
    {
        "xyz": Key(LENGTHS_3, "position; zeros if left out"),
        "rpy": Key(
            ListOf(ANGLE, 3, 3), "roll, pitch, yaw about fixed axes x, y, z; zeros if left out"
        ),
    }
)

LIMITS = Table(
    {
        "lower": Key(POSITION, "lowest position", required=True),
        "upper": Key(
            POSITION,
            "highest position, above lower; an arc across 180 deg goes on counting, 170 .. 190",
            required=True,
        ),
        "velocity": Key(RATE, "highest speed; 1 rad/s or 0.1 m/s if left out"),
        "acceleration": Key(
            ACCELERATION, "highest acceleration; four times the velocity, per s, if left out"
        ),
        "effort": Key(
            Leaf("N m, of a sliding joint N, above 0", "positive"),
            "highest torque or force; 10 if left out",
        ),
    }
)


def _axis_limits(axis: str) -> Key:
    return Key(LIMITS, f"limits of the turn about {axis} of a joint of several axes", True)


def _row(kind: str) -> Table:
    """Keys of a row; the variable of the joint may be left out."""
    variable = "d" if kind == "prismatic" else "theta"
    numbers = {
        "theta": Key(
            ANGLE, "turn about z, of a revolute joint added to its position; 0 if left out"
        ),
        "d": Key(
            LENGTH, "shift along z; of a prismatic joint added to its position, 0 if left out"
        ),
        "a": Key(LENGTH, "shift along x"),
        "alpha": Key(ANGLE, "turn about x"),
    }
    limits = LIMITS
    if kind in COMPOUND:
        limits = Table({x: _axis_limits(x) for x in COMPOUND[kind]})
    return Table(
        {
            "name": Key(NAME, "name of the joint, unique in the robot", required=True),
            "type": Key(Choice(TYPES), "how it moves", required=True),
            **{k: Key(v.kind, v.meaning, k != variable) for k, v in numbers.items()},
            "limits": Key(limits, "its limits; of a universal or ball joint by axis", True),
            "source": FROM,
        }
    )


ROW = Variants("type", {kind: _row(kind) for kind in TYPES})

FINGER = Table(
    {
        "length": Key(SIZE, "along the tool's z", required=True),
        "width": Key(SIZE, "along the tool's x", required=True),
        "thickness": Key(SIZE, "along the opening", required=True),
        "overhang": Key(LENGTH, "how far it reaches beyond the grasp point; 0 if left out"),
    }
)
PALM = Table(
    {
        "length": Key(SIZE, "along the tool's z", required=True),
        "width": Key(SIZE, "along the opening", required=True),
        "thickness": Key(SIZE, "along the tool's x", required=True),
    }
)
GRIPPER = Table(
    {
        "joints": Key(
            ListOf(NAME, 2, 2),
            "finger joints, towards -y and +y of the tool; half the width is their position",
            required=True,
        ),
        "min_width": Key(LENGTH, "width when closed, at least 0", required=True),
        "max_width": Key(LENGTH, "width when open, above min_width", required=True),
        "velocity": Key(Leaf("length/s, above 0", "positive"), "highest speed of the width", True),
        "acceleration": Key(
            Leaf("length/s^2, above 0", "positive"),
            "highest acceleration of the width; four times the velocity, per s, if left out",
        ),
        "finger": Key(FINGER, "box of a finger; in proportion to max_width if left out"),
        "palm": Key(PALM, "box of the palm; in proportion to max_width if left out"),
        "source": FROM,
    }
)

PAYLOAD = Table(
    {
        "mass": Key(MASS, "what the arm carries", required=True),
        "centre": Key(LENGTHS_3, "its centre of mass, along the axes of tool0", required=True),
        "size": Key(
            ListOf(SIZE, 3, 3), "box to draw and to collide, around the centre; none if left out"
        ),
        "source": FROM,
    }
)

MESH = Table(
    {
        "visual": Key(FILE, "mesh to draw instead of the skeleton", required=True),
        "collision": Key(FILE, "simpler mesh that collides; the visual one if left out"),
        "scale": Key(
            Either((Leaf("number, not 0", "number"), ListOf(NUMBER, 3, 3))),
            "metres in one unit of the mesh, 0.001 for a mesh in mm; 1 if left out",
        ),
        "origin": Key(ORIGIN, "link <- mesh; none if left out"),
        "source": FROM,
    }
)

COLOURS = Table(
    {
        "base": Key(COLOUR, "foot"),
        "links": Key(ListOf(COLOUR, 1, None), "rods, one for each link, repeated if too few"),
        "joints": Key(COLOUR, "bodies at the joints"),
        "gripper": Key(COLOUR, "palm"),
        "fingers": Key(COLOUR, "fingers"),
    }
)

ROBOT = Table(
    {
        "name": Key(NAME, "name of the robot", required=True),
        "description": Key(TEXT, "one line about it"),
        "source": Key(SOURCE, "where its numbers come from"),
        "convention": Key(
            Choice(CONVENTIONS),
            "standard: a row is Rz(theta) Tz(d) Tx(a) Rx(alpha); modified: Rx(alpha) Tx(a) "
            "Rz(theta) Tz(d), where row i holds a and alpha of link i-1",
            required=True,
        ),
        "units": Key(UNITS, "units of the file", required=True),
        "constants": Key(
            Named(NUMBER, "constant"), "numbers to use by name in expressions, in any order"
        ),
        "base": Key(ORIGIN, "base_link <- frame 0 of the table; none if left out"),
        "tool": Key(ORIGIN, "flange (frame n of the table) <- tool0; none if left out"),
        "joints": Key(ListOf(ROW, 1, MOST_ROWS), "one row a joint, from base to tool", True),
        "gripper": Key(GRIPPER, "two fingers that open alike; none if left out"),
        "postures": Key(
            Named(Named(POSITION, "joint"), "posture"),
            "positions to go to by name: one for each joint, and gripper: a width",
        ),
        "payload": Key(PAYLOAD, "what the tool carries; none if left out"),
        "masses": Key(
            Named(MASS, "link"),
            "masses of moving links, such as waist_link; estimated if left out",
        ),
        "meshes": Key(Named(MESH, "link"), "meshes of links, such as base_link or waist_link"),
        "colours": Key(COLOURS, "of the skeleton"),
    }
)
