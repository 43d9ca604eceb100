# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tools that are mounted at the end of an arm in place of a gripper of its own."""

from __future__ import annotations

from dataclasses import dataclass

from arm_description.model.elements import NO_MOTION, Origin
from arm_description.model.looks import LookShape


@dataclass(frozen=True)
class MountedTool:
    """A tool at the end of an arm; its gripper, if it has one, is that of the arm.

    Attributes:
        name: name of a shipped tool, or the absolute path of its file.
        mass: of the whole tool [kg].
        mount: flange <- tool_link, the frame of its body.
        frame: tool_link <- tool0, where it works.
        body: shapes of its body, without palm and fingers, in tool_link.
        description: one line about it.
        source: origin of its numbers.
    """

    name: str
    mass: float
    mount: Origin = NO_MOTION
    frame: Origin = NO_MOTION
    body: tuple[LookShape, ...] = ()
    description: str = ""
    source: str = ""
