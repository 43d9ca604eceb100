# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Every key of a scene file: what stands there, what it means, whether it must be there.

The reader, the JSON schema and the reference all go by these tables.
"""

from __future__ import annotations

from collections.abc import Mapping

from arm_description.robot_file.kinds import Choice, Key, Leaf, ListOf, Named, Table

TEXT = Leaf("text", "text")
NUMBER = Leaf("number", "number")
LENGTH = Leaf("m, or mm with _mm", "number", "_mm")
ABOVE = Leaf("m, or mm with _mm; above 0", "positive", "_mm")
ANGLE = Leaf("rad, or deg with _deg", "number", "_deg")
HANDS = ("right", "left")

RPY = Key(ListOf(ANGLE, 3, 3), "roll, pitch, yaw about fixed axes x, y, z; zeros if left out")
PLACED = {
    "frame": Key(TEXT, "what it stands on: a name above it; base_link if left out"),
    "xyz": Key(ListOf(LENGTH, 3, 3), "position of its frame there", True),
    "rpy": RPY,
    "axis": Key(
        ListOf(NUMBER, 3, 3), "direction of its z there, its x as near to up as can be, not rpy"
    ),
}
BOLT = Table(
    {
        **PLACED,
        "diameter": Key(ABOVE, "of the thread", True),
        "pitch": Key(ABOVE, "advance a turn", True),
        "length": Key(ABOVE, "of the thread, from the free end", True),
        "handedness": Key(Choice(HANDS), "of the thread; right if left out"),
        "thread_start": Key(
            ANGLE, "roll of a nut, from x about z, at which it catches; not known if left out"
        ),
    }
)
NUT = Table(
    {
        "on": Key(TEXT, "bolt that it is on at first", True),
        "turns": Key(NUMBER, "turns that take it off from there", True),
        "across_flats": Key(ABOVE, "distance of opposite flats", True),
        "thickness": Key(ABOVE, "along its axis", True),
        "flats": Key(ANGLE, "roll of a flat's middle, from the bolt's x about its z; 0"),
    }
)
_COLOR = Key(ListOf(Leaf("0 to 1", "part"), 4, 4), "red, green, blue, opacity")
_MASS = Key(Leaf("kg, above 0", "positive_kg"), "makes it a payload, which jaws can carry")


def _thing(dimensions: Mapping[str, Key]) -> Table:
    return Table({**PLACED, **dimensions, "color": _COLOR, "mass": _MASS})


def _size(**meanings: str) -> dict[str, Key]:
    return {name: Key(ABOVE, meaning, True) for name, meaning in meanings.items()}


_FLAT = {"length": "along x", "width": "along y"}
THINGS: Mapping[str, tuple[str, Table]] = {
    "tables": (
        "A plate on four legs; the frame is in the middle of the top, z up.",
        _thing(_size(**_FLAT, height="of the top above the ground")),
    ),
    "conveyors": (
        "A belt over two rollers on two trestles, as a table; it runs along x and stands still.",
        _thing(_size(**_FLAT, height="of the belt above the ground")),
    ),
    "pallets": (
        "A deck on three runners; the frame is in the middle of the deck's top, z up.",
        _thing(_size(**_FLAT, height="of deck and runners")),
    ),
    "surfaces": (
        "A plate to work on; the frame is in the middle of its face, z out of it.",
        _thing(_size(**_FLAT, thickness="behind the face")),
    ),
    "walls": (
        "A wall; the frame is in the middle of its face, x up, z into it, as that of a bolt.",
        _thing(_size(height="along x", width="along y", thickness="along z")),
    ),
    "batteries": (
        "A round cell with its terminal; the frame is in the middle, z toward the terminal.",
        _thing(_size(diameter="of the cell", length="with the terminal")),
    ),
    "pegs": (
        "A round peg; the frame is in the middle, z along it.",
        _thing(_size(diameter="of the peg", length="along z")),
    ),
    "fuselages": (
        "A part of a tube; the frame is in the middle of its axis, x along it, the shell about z.",
        _thing(
            {
                **_size(radius="outside", length="along x", thickness="of the shell"),
                "arc": Key(ANGLE, "of the tube that is there, up to a whole turn", True),
            }
        ),
    ),
    "boxes": (
        "Boxes, their frame in the middle.",
        _thing({"size": Key(ListOf(ABOVE, 3, 3), "along x, y, z", True)}),
    ),
}

SCENE = Table(
    {
        "scene": Key(TEXT, "name of the scene", True),
        "floor": Key(LENGTH, "height of the floor in base_link; 0 if left out"),
        "placements": Key(
            Named(Table({"xyz": PLACED["xyz"], "rpy": RPY}), "robot"),
            "base_link of a robot <- where the scene stands, so that it is in its reach; all of "
            "the scene but the floor moves with it; nothing moves for a robot that is not named",
        ),
        "frames": Key(Named(Table(PLACED), "frame"), "places with a name"),
        "bolts": Key(
            Named(BOLT, "bolt"), "bolts; the frame is at the free end, z toward the head"
        ),
        "nut": Key(NUT, "a hexagon nut"),
        **{kind: Key(Named(table, "name"), what) for kind, (what, table) in THINGS.items()},
    }
)
