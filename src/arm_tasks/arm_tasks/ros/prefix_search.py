# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Finds the prefix of a running arm by its joint_states."""

from __future__ import annotations

from collections.abc import Sequence

from arm_common.ros.names import PrefixedNames


def fitting_prefixes(names: Sequence[str], joints: Sequence[str]) -> list[str]:
    """Return the prefixes with which all joints are among the names, the shortest first."""
    known = set(names)
    ends = {name.removesuffix(joints[0]) for name in known if name.endswith(joints[0])}
    fitting = [end for end in ends if all(end + joint in known for joint in joints)]
    return sorted(fitting, key=lambda end: (len(end), end))


class PrefixSearch:
    """Finds the prefix of a running arm in its joint_states, unless it is given.

    Args:
        joints: Names of joints of the arm, without the prefix.
        prefix: The prefix; None to find it.
        option: The option that gives it, for the problem.

    Attributes:
        names: The names; without a prefix until it is known.
        problem: Why the joint_states do not show the prefix, or "".
    """

    def __init__(
        self, joints: Sequence[str], prefix: str | None = None, option: str = "--prefix"
    ) -> None:
        self._joints, self._option = joints, option
        self._is_known = prefix is not None
        self.names, self.problem = PrefixedNames(prefix or ""), ""

    def receive(self, names: Sequence[str]) -> bool:
        """Look for the prefix in the names of a message; return whether it is known."""
        if self._is_known or not self._joints:
            return True
        fitting = fitting_prefixes(names, self._joints)
        self._is_known, self.problem = len(fitting) == 1, ""
        if self._is_known:
            self.names = PrefixedNames(fitting[0])
        elif fitting:
            found = ", ".join(repr(prefix) for prefix in fitting)
            self.problem = (
                f"joint_states show {len(fitting)} arms, with the prefixes {found}; choose one "
                f"by {self._option}"
            )
        return self._is_known
