# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""tf messages of a URDF, built once and refilled at every joint_states message."""

from __future__ import annotations

import math
from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

from .urdf import UrdfTree
from .urdf.motion import JointMotion


class JointBatch:
    """The moving joints that one list of joint names places.

    Attributes:
        message: the tf message, refilled by ``fill``.
        published: stamp of the last message [ns], None before the first.
    """

    def __init__(self, tree: UrdfTree, names: Sequence[str], frame_prefix: str) -> None:
        self.message = TFMessage()
        self.published: int | None = None
        self._slots: list[tuple[int, float, float, JointMotion, TransformStamped]] = []
        index = {name: i for i, name in enumerate(names)}
        for joint in tree.joints:
            if joint.kind == "fixed":
                continue
            source, multiplier, offset = joint.name, 1.0, 0.0
            if joint.mimic and joint.name not in index:
                source, multiplier, offset = (
                    joint.mimic.joint,
                    joint.mimic.multiplier,
                    joint.mimic.offset,
                )
            if source not in index:
                continue
            motion = JointMotion(joint)
            stamped = stamped_transform(motion, frame_prefix)
            self._slots.append((index[source], multiplier, offset, motion, stamped))
        self.message.transforms = [slot[4] for slot in self._slots]

    def __len__(self) -> int:
        return len(self._slots)

    def fill(self, positions: Sequence[float], stamp: Time) -> bool:
        """Refill the message.

        Args:
            positions: by the names this batch was made for [rad or m].
            stamp: stamp of the joint states.

        Returns:
            False, with the message not to be used, if a position is not finite.
        """
        for i, multiplier, offset, motion, stamped in self._slots:
            q = multiplier * positions[i] + offset
            if not math.isfinite(q):
                return False
            stamped.header.stamp = stamp
            if motion.slides:
                t = stamped.transform.translation
                t.x, t.y, t.z = motion.translation(q)
            else:
                r = stamped.transform.rotation
                r.x, r.y, r.z, r.w = motion.rotation(q)
        return True


def fixed_message(tree: UrdfTree, frame_prefix: str, stamp: Time) -> TFMessage:
    """The message of all fixed joints."""
    transforms = [
        stamped_transform(JointMotion(joint), frame_prefix)
        for joint in tree.joints
        if joint.kind == "fixed"
    ]
    for stamped in transforms:
        stamped.header.stamp = stamp
    return TFMessage(transforms=transforms)


def stamped_transform(motion: JointMotion, frame_prefix: str) -> TransformStamped:
    """Transform parent <- child of a joint at position 0, without stamp."""
    stamped = TransformStamped(child_frame_id=frame_prefix + motion.joint.child)
    stamped.header.frame_id = frame_prefix + motion.joint.parent
    t, r = stamped.transform.translation, stamped.transform.rotation
    t.x, t.y, t.z = motion.position
    r.x, r.y, r.z, r.w = motion.quaternion
    return stamped
