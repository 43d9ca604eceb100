# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Teach an arm from a program: keep poses, record paths, touch bolts."""

from __future__ import annotations

from typing import Any, Literal

from geometry_msgs.msg import Point

from arm_interfaces.srv import RecordPath, TeachPose, TouchBolt
from arm_tasks.ros.client.arm import ANSWER, Arm
from arm_tasks.ros.client.results import XYZ

SURFACES = {
    "rim": TouchBolt.Request.RIM,
    "end": TouchBolt.Request.END,
    "flank": TouchBolt.Request.FLANK,
}


class Teacher:
    """The teach services of the task server; each method returns a sentence that says what it did.

    All raise ArmError if it was not done; nothing is changed then.

    Args:
        arm: The arm.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        kinds = {
            "save_pose": TeachPose,
            "forget_pose": TeachPose,
            "record": RecordPath,
            "end_recording": RecordPath,
            "replay": RecordPath,
            "touch_bolt": TouchBolt,
        }
        self._clients = {
            name: arm.node.create_client(kind, f"teach/{name}") for name, kind in kinds.items()
        }

    def save_pose(self, name: str, replace: bool = False) -> str:
        """Keep where the arm is, joints and tool, under a name."""
        return self._ask("save_pose", TeachPose.Request(name=name, replace=replace))

    def forget_pose(self, name: str) -> str:
        """Take a pose out of the file."""
        return self._ask("forget_pose", TeachPose.Request(name=name))

    def record(self, name: str, replace: bool = False) -> str:
        """Begin to record how the arm is moved, by whomever."""
        return self._ask("record", RecordPath.Request(name=name, replace=replace))

    def end_recording(self, discard: bool = False) -> str:
        """Keep what was recorded, or discard it."""
        return self._ask("end_recording", RecordPath.Request(discard=discard))

    def replay(self, name: str, reverse: bool = False) -> str:
        """Begin to play a path; Arm.pause() and stop() hold it."""
        return self._ask("replay", RecordPath.Request(name=name, reverse=reverse))

    def touch(
        self, bolt: str, surface: Literal["rim", "end", "flank"], touching: XYZ = (0, 0, 0)
    ) -> str:
        """Take where a point of the tool is, given in tool0 [m], as a point of a bolt."""
        x, y, z = (float(value) for value in touching)
        return self._bolt(bolt, "ADD", surface=SURFACES[surface], touching=Point(x=x, y=y, z=z))

    def clear(self, bolt: str) -> str:
        """Forget the points of a bolt."""
        return self._bolt(bolt, "CLEAR")

    def locate(self, bolt: str) -> str:
        """Say where the points say that a bolt is, and how sure that is."""
        return self._bolt(bolt, "LOCATE")

    def write(self, bolt: str) -> str:
        """Write that into the scene file."""
        return self._bolt(bolt, "WRITE")

    def _bolt(self, bolt: str, action: str, **fields: Any) -> str:
        chosen = getattr(TouchBolt.Request, action)
        return self._ask("touch_bolt", TouchBolt.Request(bolt=bolt, action=chosen, **fields))

    def _ask(self, name: str, request: Any) -> str:
        answer = self._arm.later.ask(self._clients[name], request, name).result(ANSWER)
        return str(answer.message)
