# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/robot_file/test_reader.py
"""Torques of common servos, with their sources.

At its stall torque a servo stands still, draws its largest current and gets hot within seconds.
The continuous torque is what it may hold. Feetech publishes one, the rated torque, a third of the
stall torque. Makers of hobby servos publish none, and ROBOTIS advises at most a fifth
of the stall torque (emanual.robotis.com/docs/en/dxl/ax/ax-18a); a quarter is assumed for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

KGF_CM = 0.0980665  # [N m]


@dataclass(frozen=True)
class ServoType:
    """A servo as it is sold."""

    voltage: float  # supply at which the torques hold [V]
    stall: float  # torque at which it stands still [N m]
    continuous: float  # torque that it may hold [N m]
    source: str  # origin of the numbers


def _hobby(voltage: float, stall: float, source: str) -> ServoType:
    """Return a servo without a published continuous torque; its stall torque is in kgf cm."""
    torque = stall * KGF_CM
    note = f"{source}; continuous: a quarter of stall, assumed"
    return ServoType(voltage, torque, 0.25 * torque, note)


SERVO_TYPES: Mapping[str, ServoType] = MappingProxyType(
    {
        "sg90": _hobby(4.8, 1.8, "Tower Pro, towerpro.com.tw/product/sg90-7: 1.8 kgf cm at 4.8 V"),
        "mg996r": _hobby(
            4.8, 9.4, "Tower Pro, towerpro.com.tw/product/mg996r: 9.4 kgf cm at 4.8 V, 11 at 6 V"
        ),
        "ds3218": _hobby(
            5.0, 19.0, "DSServo, data sheet of the DS3218: 19 kgf cm at 5 V, 21.5 at 6.8 V"
        ),
        "sts3215": ServoType(
            7.4,
            19.5 * KGF_CM,
            6.5 * KGF_CM,
            "Feetech, STS3215-C001: stall 19.5 kgf cm at 7.4 V (catalogue of 2024), rated 6.5 at "
            "6 V (feetechrc.com; the catalogue has 5 at 7.4 V)",
        ),
        "sts3215_12v": ServoType(
            12.0,
            30.0 * KGF_CM,
            10.0 * KGF_CM,
            "Feetech, feetech.cn/en/525603.html, STS3215-C018: stall 30, rated 10 kgf cm at 12 V",
        ),
    }
)
