# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/importers/test_urdf.py
"""What a table made of a URDF says otherwise than it, and what it does not say: for the user."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from arm_common.yaml.expressions import RESERVED, constant_name_problem

from arm_description.importers.urdf_links import ImportedMasses
from arm_description.importers.urdf_structure import ArmChain, LinkTree
from arm_description.robot_file.joints import name_owner
from arm_description.robot_file.scope import MAX_NAME_LENGTH, name_problem
from arm_description.urdf.assembly import FLANGE
from arm_description.urdf.elements import MOVING, UrdfJoint, UrdfLimit

NEW_LINK = "Renamed: link"
# Numbers without decimals beyond two turns, or a speed of five turns a second, are rather degrees.
_MANY_TURNS, _FAST, _MOST_DEGREES = 4.0 * math.pi, 10.0 * math.pi, 1440.0


def clean_names(names: Iterable[str], in_formulas: Collection[str] = ()) -> dict[str, str]:
    """Return the name that a robot file can have for each name of a URDF; all are different.

    Args:
        names: names of joints.
        in_formulas: those that others follow, whose names formulas contain.
    """
    listed = list(names)
    cleaned: dict[str, str] = {}
    for name in sorted(listed, key=lambda name: clean_name(name) != name):
        stem = clean_name(name)
        if stem in RESERVED or (name in in_formulas and constant_name_problem(stem)):
            stem = "".join(c if f"a{c}".isidentifier() else "_" for c in stem)
            stem = f"joint_{stem}" if constant_name_problem(stem) else stem
        number, unique = 1, stem
        while unique in cleaned.values() or name_owner(unique):
            number += 1
            unique = f"{stem}_joint" if name_owner(stem) and number == 2 else f"{stem}_{number}"
        cleaned[name] = unique
    return {name: cleaned[name] for name in listed}


def clean_name(name: str) -> str:
    """Return a name without the characters and the length that a robot file cannot have."""
    return "".join("_" if name_problem(c)[0] else c for c in name)[: MAX_NAME_LENGTH - 10] or "_"


def renamed(names: Mapping[str, str], links: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each joint and link that has another name."""
    for kind, pairs in (("Renamed: joint", names), (NEW_LINK, links)):
        for old, new in pairs.items():
            if old != new:
                yield f"{kind} {old!r} is {new}."


def not_carried_over(
    chain: ArmChain, masses: ImportedMasses, links: Mapping[str, str]
) -> Iterator[str]:
    """Yield a text for each part of a URDF that is not in the table.

    Args:
        chain: the arm in its URDF.
        masses: the masses of that.
        links: link of the model for each link of the URDF that it has.
    """
    tree = chain.tree
    yield from (str(fault) for fault in tree.faults.values())
    if masses.problem:
        yield masses.problem
    yield from _branches(chain, masses)
    yield from _fixed_links(chain.links, links)
    base = sum(
        inertial.mass
        for inertial in (tree.inertials if masses.bodies else ())
        if masses.bodies and masses.bodies.carriers.get(inertial.link, 0) < 0
    )
    if base:
        yield f"the mass of {chain.base} and what is fixed to it, {base:.4g} kg: it does not move"
    for tag in ("visual", "collision"):
        if seen := tree.links_with(tag):
            yield f"the <{tag}> of {len(seen)} links: the table has shapes of its own"
    yield from tree.ignored


def _branches(chain: ArmChain, masses: ImportedMasses) -> Iterator[str]:
    """Yield a text for each moving joint beside the path."""
    names, driven = set(chain.others) - set(chain.tree.faults), set(masses.driven())
    for joint in chain.tree.joints:
        if joint.name not in names:
            continue
        text = f"joint {joint.name!r}, which is not on the path"
        if masses.bodies and joint.child in masses.bodies.carriers:
            counts = (
                f"what it moves counts with {masses.link_of(masses.bodies.carriers[joint.child])}"
            )
            still = "as if the arm did not drive it" if joint.name in driven else "at rest"
            text += f"; {counts}, {still}"
        yield text


def _fixed_links(rigid: LinkTree, links: Mapping[str, str]) -> Iterator[str]:
    """Yield a text for the links that have become part of another one."""
    for root in dict.fromkeys(rigid.body_root(link) for link in links):
        parts = [link for link in rigid.links(root, rigid=True) if link not in (*links, FLANGE)]
        if parts:
            into = next((new for old, new in links.items() if rigid.body_root(old) == root), "")
            word = f"the links {', '.join(parts)} as such: they are" if parts[1:] else None
            yield f"{word or f'the link {parts[0]} as such: it is'} part of {into}"


def doubtful_units(joints: Sequence[UrdfJoint]) -> Iterator[str]:
    """Yield a sentence for each joint whose limits look like degrees."""
    for joint in joints:
        limit = joint.limit
        if limit is None or joint.kind not in MOVING or joint.kind == "prismatic":
            continue
        if joint.kind == "revolute" and _like_degrees(limit):
            yield (
                f"The limits of joint {joint.name!r}, {limit.lower:g} to {limit.upper:g}, look "
                "like degrees; a URDF has radians."
            )
        if _FAST < limit.velocity <= _MOST_DEGREES and limit.velocity.is_integer():
            yield (
                f"The speed of joint {joint.name!r}, {limit.velocity:g}, looks like degrees per "
                "second; a URDF has radians per second."
            )


def _like_degrees(limit: UrdfLimit) -> bool:
    ends = (limit.lower, limit.upper)
    halves = all((2.0 * end).is_integer() for end in ends)
    return halves and _MANY_TURNS < max(map(abs, ends)) <= _MOST_DEGREES
