# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Write the transmissions of a robot file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from arm_common.yaml.editing import flow_word

from arm_description.model.transmissions.crank import CrankTransmission
from arm_description.model.transmissions.table import TableTransmission
from arm_description.model.transmissions.transmission import (
    DifferentialTransmission,
    FourBarLinkageTransmission,
    ParallelogramTransmission,
    SeveralActuatorsTransmission,
    SimpleTransmission,
    Transmission,
)

Write = Callable[[float, str], str]


def transmission_entry(
    transmission: Transmission, types: Mapping[str, str], number: Write
) -> dict[str, str]:
    """Return the YAML text of each key of a transmission.

    Args:
        transmission: what to write.
        types: type of each joint.
        number: writes a position, or length, for the type of a joint.
    """
    kind = types[transmission.joints[0]]
    values = {"type": _TYPES[type(transmission)]}
    if len(transmission.joints) == 1:
        values["joint"] = flow_word(transmission.joints[0])
    else:
        values["joints"] = _list(map(flow_word, transmission.joints))
    if len(transmission.actuators) > 1:
        values["actuators"] = _list(map(flow_word, transmission.actuators))
    elif transmission.actuators != transmission.joints:
        values["actuator"] = flow_word(transmission.actuators[0])
    values |= _own_entries(transmission, kind, number)
    limits = transmission.limits
    if math.isfinite(limits.lower):
        values["range"] = _list(number(end, kind) for end in (limits.lower, limits.upper))
    for key in ("velocity", "acceleration"):
        if math.isfinite(value := getattr(limits, key)):
            values[key] = number(value, kind)
    return values


def _own_entries(transmission: Transmission, kind: str, number: Write) -> dict[str, str]:
    """Return the keys of one type of transmission."""
    if isinstance(transmission, TableTransmission):
        pairs = (_list(number(value, kind) for value in pair) for pair in transmission.points)
        return {"points": _list(pairs)}
    if isinstance(transmission, CrankTransmission):
        return _crank_entry(transmission, number)
    if isinstance(transmission, DifferentialTransmission):
        return {
            "mechanical_reduction": _list(map(_plain, transmission.mechanical_reduction)),
            "joint_reduction": _list(map(_plain, transmission.joint_reduction)),
            "offset": _list(number(value, kind) for value in transmission.offset),
        }
    values: dict[str, str] = {}
    if isinstance(transmission, ParallelogramTransmission):
        values["against"] = _list(map(flow_word, transmission.depends_on))
        values["ratio"] = _list(map(_plain, transmission.ratios))
    if isinstance(transmission, SeveralActuatorsTransmission):
        values["mirrored"] = _list(str(one).lower() for one in transmission.mirrored)
        values["allowed_difference"] = number(transmission.allowed_difference, kind)
    if isinstance(
        transmission,
        SimpleTransmission | ParallelogramTransmission | SeveralActuatorsTransmission,
    ):
        values["mechanical_reduction"] = _plain(transmission.mechanical_reduction)
        values["offset"] = number(transmission.offset, kind)
    return values


def _crank_entry(crank: CrankTransmission, number: Write) -> dict[str, str]:
    bars = crank.lengths
    values = {
        "ground": number(bars.ground, "prismatic"),
        "crank": number(bars.crank, "prismatic"),
        "rod": number(bars.rod, "prismatic"),
        "rocker": number(bars.rocker, "prismatic"),
        "branch": crank.branch,
        "crank_angle": number(crank.crank_angle, "revolute"),
        "rocker_angle": number(crank.rocker_angle, "revolute"),
        "min_transmission_angle": number(crank.least_angle, "revolute"),
    }
    if crank.depends_on:
        values |= {"against": flow_word(crank.depends_on[0]), "ratio": _plain(crank.ratio)}
    return values


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def _plain(value: float) -> str:
    return repr(value + 0.0).removesuffix(".0")


_TYPES: Mapping[type[Transmission], str] = {
    SimpleTransmission: "simple",
    ParallelogramTransmission: "parallelogram",
    DifferentialTransmission: "differential",
    FourBarLinkageTransmission: "four_bar_linkage",
    SeveralActuatorsTransmission: "several",
    CrankTransmission: "crank",
    TableTransmission: "table",
}
