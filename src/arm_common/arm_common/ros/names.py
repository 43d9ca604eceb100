# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Names of one robot's joints and frames in messages: those of its files after a prefix.

Robot files, calibrations, tasks, scenes, postures and recorded paths have the names without the
prefix, so the same files serve every arm. Messages and tf have the names with it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

from arm_common.ros.parameters import parameter

MAX_JOINTS = 2000  # of all arms on joint_states
MAX_POSITION = 1e6  # [rad or m] of a joint
MAX_NAME = 255  # characters of a joint's name
PREFIX_TEXT = "Prefix of the robot's joints and frames in messages, such as left_."


def prefix_parameter() -> Any:
    """Return the field of the parameter `prefix`."""
    return parameter("", PREFIX_TEXT)


class PrefixedNames:
    """Adds and removes the prefix of a robot's names.

    Args:
        prefix: The prefix; "" if the names are the same.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix

    def add(self, name: str) -> str:
        """Return the name in messages."""
        return f"{self.prefix}{name}"

    def add_all(self, names: Iterable[str]) -> list[str]:
        """Return the names in messages."""
        return [f"{self.prefix}{name}" for name in names]

    def remove(self, name: str) -> str:
        """Return the name without the prefix; a name without it is unchanged."""
        return name.removeprefix(self.prefix)

    def own(self, names: Iterable[str], values: Iterable[float]) -> dict[str, float]:
        """Return the values of names that have the prefix, by the name without it."""
        start = len(self.prefix)
        pairs = zip(names, values, strict=False)
        return {name[start:]: value for name, value in pairs if name.startswith(self.prefix)}

    def find(self, name: str, is_known: Callable[[str], bool]) -> str:
        """Return the name with the prefix if that is known, otherwise the name as it is."""
        if not self.prefix:
            return name
        full = self.add(name)
        return full if is_known(full) else name


def remember_positions(
    known: dict[str, float],
    names: Iterable[str],
    positions: Iterable[float],
    kept: Container[str] = (),
) -> None:
    """Store the joint positions of a message by name, in place.

    Anyone may publish joint states, with any names: long ones and positions that no joint has
    are ignored, and of more than `MAX_JOINTS` those are forgotten that have not come for the
    longest time, but never those that are `kept`: the joints of the arm.
    """
    for name, position in zip(names, positions, strict=False):
        if len(name) <= MAX_NAME and abs(position) <= MAX_POSITION:
            known.pop(name, None)
            known[name] = position
    if (excess := len(known) - MAX_JOINTS) > 0:
        for name in [name for name in known if name not in kept][:excess]:
            del known[name]
