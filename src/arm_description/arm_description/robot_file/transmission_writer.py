# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Write the transmissions of a robot file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

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
from arm_description.model.units import exact_text

_RATIOS = ("mechanical_reduction", "joint_reduction", "ratio")  # keys of numbers without a unit
_LENGTHS = ("ground", "crank", "rod", "rocker")
_GEAR = {"mechanical_reduction": "mechanical_reduction", "offset": "offset"}
_COUPLED = {key: key for key in ("mechanical_reduction", "joint_reduction", "offset")}
# type of a transmission: its word, and the attribute of each of its keys
_KEYS: Mapping[type[Transmission], tuple[str, Mapping[str, str]]] = {
    SimpleTransmission: ("simple", _GEAR),
    ParallelogramTransmission: (
        "parallelogram",
        {"against": "depends_on", "ratio": "ratios", **_GEAR},
    ),
    DifferentialTransmission: ("differential", _COUPLED),
    FourBarLinkageTransmission: ("four_bar_linkage", _COUPLED),
    SeveralActuatorsTransmission: (
        "several",
        {"mirrored": "mirrored", "allowed_difference": "allowed_difference", **_GEAR},
    ),
    CrankTransmission: (
        "crank",
        {key: f"lengths.{key}" for key in _LENGTHS}
        | {key: key for key in ("branch", "crank_angle", "rocker_angle")}
        | {"min_transmission_angle": "least_angle"},
    ),
    TableTransmission: ("table", {"points": "points"}),
}


def transmission_entry(
    transmission: Transmission, types: Mapping[str, str], number: Callable[..., str]
) -> dict[str, str]:
    """Return the YAML text of each key of a transmission.

    Args:
        transmission: what to write.
        types: type of each joint.
        number: writes a position, or length, for the type of a joint.
    """
    kind, limits = types[transmission.joints[0]], transmission.limits
    joints, actuators = transmission.joints, transmission.actuators
    word, attributes = _KEYS[type(transmission)]
    values: dict[str, Any] = {"type": word}
    values |= {"joint": joints[0]} if len(joints) == 1 else {"joints": joints}
    if len(actuators) > 1:
        values["actuators"] = actuators
    elif actuators != joints:
        values["actuator"] = actuators[0]
    values |= {key: attrgetter(name)(transmission) for key, name in attributes.items()}
    if isinstance(transmission, CrankTransmission) and transmission.depends_on:
        values |= {"against": transmission.depends_on[0], "ratio": transmission.ratio}
    values["range"] = (limits.lower, limits.upper) if math.isfinite(limits.lower) else None
    for key in ("velocity", "acceleration"):
        values[key] = value if math.isfinite(value := getattr(limits, key)) else None

    writers: dict[str, Callable[[float], str]] = dict.fromkeys(_RATIOS, exact_text)
    writers |= dict.fromkeys(_LENGTHS, partial(number, kind="prismatic"))
    return {
        key: _text(value, writers.get(key, partial(number, kind=kind)))
        for key, value in values.items()
        if value is not None
    }


def _text(value: Any, write: Callable[[float], str]) -> str:
    """Return a number, name, truth value or a list of these as YAML text."""
    if isinstance(value, tuple):
        return f"[{', '.join(_text(one, write) for one in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return flow_word(value) if isinstance(value, str) else write(value)
