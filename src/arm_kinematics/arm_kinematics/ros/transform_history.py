# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The transforms of the last seconds on tf, to look one up at the time of a stamp.

It responds as a buffer of tf2 does: positions are interpolated linearly and rotations along the
shortest turn; a time outside the buffer is refused; static transforms hold at any time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

from arm_common.ros.message_conversions import stamp_seconds
from arm_common.ros.tf import TransformError, TransformTree
from arm_common.transforms import Array, pose, pose_to_matrix, so3_exp, so3_log
from tf2_msgs.msg import TFMessage

_KEPT = 10.0  # [s], as long as a buffer of tf2 keeps them by default
_MAX_SAMPLES = 20_000  # of one frame; anyone may publish on tf

_Numbers: TypeAlias = tuple[float, ...]


class TooEarlyError(TransformError):
    """A transform has not been received yet at the time of a stamp.

    Attributes:
        missing: time from the newest transform to the stamp [s].
    """

    def __init__(self, text: str, missing: float, remedy: str) -> None:
        super().__init__(text, remedy=remedy)
        self.missing = missing


@dataclass(frozen=True)
class _Stamped:
    time: float  # [s]
    parent: str
    position: _Numbers
    quaternion: _Numbers

    def to(self, other: _Stamped, time: float) -> Array:
        """Return the transform (4, 4) at a time between this sample and a later one."""
        a = pose_to_matrix(self.position, self.quaternion)
        if other is self:
            return a
        b = pose_to_matrix(other.position, other.quaternion)
        fraction = (time - self.time) / (other.time - self.time)
        turn = so3_log(a[:3, :3].T @ b[:3, :3])
        return pose(
            a[:3, :3] @ so3_exp(fraction * turn), a[:3, 3] + fraction * (b[:3, 3] - a[:3, 3])
        )


class TransformHistory:
    """Transforms received on tf (not on tf_static) in the last ten seconds of their stamps.

    The node adds them at a request, and once a second; of those that arrive meanwhile, the queue
    of its subscription keeps the newest 1000 messages.

    Args:
        tree: the newest transforms; it says which frames connect two others.
    """

    def __init__(self, tree: TransformTree) -> None:
        self._tree = tree
        self._samples: dict[str, deque[_Stamped]] = {}

    def add(self, message: TFMessage) -> None:
        """Store the transforms of a message whose frames are in the tree."""
        for stamped in message.transforms:
            child = stamped.child_frame_id
            if not self._tree.has(child):  # it was refused
                continue
            t, r = stamped.transform.translation, stamped.transform.rotation
            samples = self._samples.get(child)
            if samples is None:
                samples = self._samples[child] = deque(maxlen=_MAX_SAMPLES)
            self._insert(
                samples,
                _Stamped(
                    stamp_seconds(stamped.header.stamp),
                    stamped.header.frame_id,
                    (t.x, t.y, t.z),
                    (r.x, r.y, r.z, r.w),
                ),
            )

    def _insert(self, samples: deque[_Stamped], sample: _Stamped) -> None:
        if samples and sample.time < samples[-1].time - _KEPT:
            samples.clear()  # the clock was reset
        if not samples or sample.time > samples[-1].time:
            samples.append(sample)
        else:
            at = bisect_right(samples, sample.time, key=_time)
            if at and samples[at - 1].time == sample.time:
                samples[at - 1] = sample
            elif len(samples) < _MAX_SAMPLES:
                samples.insert(at, sample)
        while samples[0].time < samples[-1].time - _KEPT:
            samples.popleft()

    def lookup(self, target: str, source: str, time: float) -> Array:
        """Return the transform target <- source (4, 4) [m] at a time [s].

        Raises:
            TransformError: nothing connects the two, or the buffer does not reach back as far.
            TooEarlyError: the newest transform is older than this time.
        """
        between = self._tree.between(target, source)
        moving = {frame: self._at(frame, time) for frame in between if frame in self._samples}
        return self._tree.lookup(target, source, moving)

    def _at(self, frame: str, time: float) -> Array:
        """Return the transform (4, 4) of a frame to its parent at a time [s]."""
        samples = self._samples[frame]
        first, last = samples[0].time, samples[-1].time
        if not first <= time <= last:
            text = (
                f"the stamp is {time:.3f} s, but '{frame}' was received on tf from {first:.3f} s "
                f"to {last:.3f} s"
            )
            remedy = "use a stamp in that time, or 0 for the newest transform"
            if time > last:
                raise TooEarlyError(text, time - last, remedy)
            raise TransformError(text, remedy=remedy)
        at = bisect_right(samples, time, key=_time) - 1
        return samples[at].to(samples[min(at + 1, len(samples) - 1)], time)


def _time(sample: _Stamped) -> float:
    return sample.time
