# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Teaching an arm from a program: save poses, record paths, locate bolts."""

from __future__ import annotations

from typing import Any, Literal

from arm_common.ros.qos import CALLS
from arm_common.suggestions import did_you_mean
from geometry_msgs.msg import Point

from arm_interfaces.srv import RecordPath, TeachPose, TouchBolt
from arm_tasks.ros.client.arm import Arm
from arm_tasks.ros.client.results import XYZ, ArmError, number_of

SURFACES = {
    "rim": TouchBolt.Request.RIM,
    "end": TouchBolt.Request.END,
    "flank": TouchBolt.Request.FLANK,
}
_SERVICES = {
    TeachPose: ("save_pose", "forget_pose"),
    RecordPath: ("record", "end_recording", "replay"),
    TouchBolt: ("touch_bolt",),
}


class Teacher:
    """The teach services of the task server; each method returns a sentence about its result.

    On failure they raise ArmError and change nothing.

    Args:
        arm: The arm.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._clients = {
            name: arm.node.create_client(kind, f"teach/{name}", qos_profile=CALLS)
            for kind, names in _SERVICES.items()
            for name in names
        }

    def save_pose(self, name: str, replace: bool = False) -> str:
        """Save the current joint positions and tool pose under a name."""
        return self._call("save_pose", name=name, replace=replace)

    def forget_pose(self, name: str) -> str:
        """Remove a pose from the file."""
        return self._call("forget_pose", name=name)

    def record(self, name: str, replace: bool = False) -> str:
        """Start recording the motion of the arm, however it is moved."""
        return self._call("record", name=name, replace=replace)

    def end_recording(self, discard: bool = False) -> str:
        """End the recording; save or discard it."""
        return self._call("end_recording", discard=discard)

    def replay(self, name: str, reverse: bool = False) -> str:
        """Start playing a path; Arm.pause() and stop() interrupt it."""
        return self._call("replay", name=name, reverse=reverse)

    def touch(
        self, bolt: str, surface: Literal["rim", "end", "flank"], touching: XYZ = (0, 0, 0)
    ) -> str:
        """Add the current position of a tool point, given in tool0 [m], as a point of a bolt."""
        if surface not in SURFACES:
            raise ArmError(f"a bolt has no surface {surface!r}; {did_you_mean(surface, SURFACES)}")
        x, y, z = (number_of(value, "a value of touching") for value in touching)
        return self._bolt(bolt, "ADD", surface=SURFACES[surface], touching=Point(x=x, y=y, z=z))

    def clear(self, bolt: str) -> str:
        """Discard the points of a bolt."""
        return self._bolt(bolt, "CLEAR")

    def locate(self, bolt: str) -> str:
        """Locate a bolt from its points; the answer includes the uncertainty."""
        return self._bolt(bolt, "LOCATE")

    def write(self, bolt: str) -> str:
        """Write the location into the scene file."""
        return self._bolt(bolt, "WRITE")

    def click(self, bolt: str) -> str:
        """Tell that the nut, which find_thread turns back, clicks now: there the thread starts."""
        return self._bolt(bolt, "CLICK")

    def write_thread(self, bolt: str) -> str:
        """Write where the thread starts by the last click into the scene file."""
        return self._bolt(bolt, "WRITE_THREAD")

    def _bolt(self, bolt: str, action: str, **fields: Any) -> str:
        chosen = getattr(TouchBolt.Request, action)
        return self._call("touch_bolt", bolt=bolt, action=chosen, **fields)

    def _call(self, service: str, **fields: Any) -> str:
        client: Any = self._clients[service]
        request = client.srv_type.Request(**fields)
        return str(self._arm.later.call(client, request, service).wait().message)
