# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tree of frames updated from tf and tf_static; only the latest transforms are kept."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from arm_common.errors import InputError, one_line
from arm_common.ros.message_conversions import stamp_seconds
from arm_common.ros.qos import TF_STATIC_TOPIC, TF_TOPIC
from arm_common.transforms import Matrix, inverse, pose_to_matrix

Source: TypeAlias = Matrix | Callable[[], Matrix]
IDENTITY = np.eye(4)
IDENTITY.setflags(write=False)
_WARN_PERIOD = 5.0  # [s]
_FARTHEST = 1e9  # [m]; beyond, products and distances overflow

# mypy: disable-error-code="no-untyped-call"


class TransformError(InputError):
    """A transform that is invalid or cannot be looked up."""


MAX_FRAMES, MAX_NAME = 10_000, 255  # anyone may publish on tf


class TransformTree:
    """Frames, each with one parent, and the transform between any two; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._edges: dict[str, tuple[str, Source]] = {}
        self._products: dict[str, tuple[Matrix, Matrix, Matrix]] = {}

    def set(self, parent: str, child: str, T: Source) -> None:
        """Set the transform parent <- child, replacing the previous one of the child.

        It is (4, 4) in metres, or a function that returns it (called when first needed).

        Raises:
            TransformError: an empty or long name, a frame below itself, too many frames, or
                numbers that are not finite.
        """
        if not parent or not child:
            raise TransformError("a frame has no name", remedy="name both parent and child")
        if max(len(parent), len(child)) > MAX_NAME:
            raise TransformError(f"a frame's name has more than {MAX_NAME} characters")
        if not callable(T):
            T = np.array(T, dtype=float)
            if T.shape != (4, 4) or not np.isfinite(T).all():
                raise TransformError(f"the transform of {child!r} must be 4 x 4 finite numbers")
            T.setflags(write=False)
        with self._lock:
            known = self._edges.get(child)
            if known is None and len(self._edges) >= MAX_FRAMES:
                raise TransformError(f"there are {MAX_FRAMES} frames already")
            if (known is None or known[0] != parent) and child in self._path(parent):
                raise TransformError(
                    f"{child!r} cannot be a child of {parent!r}, which is below it",
                    remedy="give each frame one parent",
                )
            self._edges[child] = (parent, T)

    def lookup(
        self, target: str, source: str, instead: Mapping[str, Matrix] | None = None
    ) -> Matrix:
        """Return the transform target <- source, (4, 4) in metres.

        ``instead`` replaces the transforms parent <- frame of some frames. Only transforms below
        the nearest common ancestor are multiplied: distance from the root costs no accuracy.

        Raises:
            TransformError: a frame is unknown, or nothing connects the two.
        """
        with self._lock:
            paths = self._paths(target, source)
            to_target, to_source = (self._product(path, instead or {}) for path in paths)
        return inverse(to_target) @ to_source if paths[0] else to_source

    def between(self, target: str, source: str) -> list[str]:
        """Return the frames whose transforms connect two others; raise as `lookup` does."""
        with self._lock:
            up_target, up_source = self._paths(target, source)
        return [*up_target, *up_source]

    def _paths(self, target: str, source: str) -> tuple[list[str], list[str]]:
        """Return the frames from each of two up to their nearest common ancestor, without it."""
        self._require(target)
        self._require(source)
        up_target, up_source = self._path(target), self._path(source)
        if up_target[-1] != up_source[-1]:
            raise TransformError(
                f"no transform connects {target!r} (below {up_target[-1]!r}) and {source!r} "
                f"(below {up_source[-1]!r})",
                remedy="publish the transform between those two roots",
            )
        while up_target and up_source and up_target[-1] == up_source[-1]:
            up_target.pop()
            up_source.pop()
        return up_target, up_source

    def has(self, frame: str) -> bool:
        """Return whether a frame is known as a child of another one."""
        return frame in self._edges

    def poses_in(self, target: str) -> dict[str, Matrix]:
        """Return the pose (4, 4) target <- frame of every frame connected to a target, by name.

        If the target is a root, a frame that has not moved since the last call has the same array
        object. An unknown target is connected only to itself.
        """
        placed: dict[str, tuple[str, Matrix]] = {}
        with self._lock:
            for frame in (target, *self._edges):
                self._place(frame, placed)
        root, T = placed[target]
        same = {frame: pose for frame, (other, pose) in placed.items() if other == root}
        if target == root:
            return same
        back = inverse(T)
        return {frame: back @ pose for frame, pose in same.items()}

    def _require(self, frame: str) -> None:
        if frame not in self._edges and all(frame != parent for parent, _ in self._edges.values()):
            names = sorted({*self._edges, *(parent for parent, _ in self._edges.values())})
            shown = ", ".join(names[:40]) + (", ..." if len(names) > 40 else "")
            raise TransformError(
                f"there is no frame {frame!r}", remedy=f"known are {shown or 'none yet'}"
            )

    def _path(self, frame: str) -> list[str]:
        path = [frame]
        while path[-1] in self._edges:
            path.append(self._edges[path[-1]][0])
        return path

    def _place(self, frame: str, placed: dict[str, tuple[str, Matrix]]) -> None:
        """Enter root and pose (4, 4) root <- frame of a frame and its ancestors in `placed`."""
        path = []
        while frame not in placed and frame in self._edges:
            path.append(frame)
            frame = self._edges[frame][0]
        root, T = placed.setdefault(frame, (frame, IDENTITY))
        for below in reversed(path):
            edge, cached = self._matrix(below), self._products.get(below)
            if cached is None or cached[0] is not T or cached[1] is not edge:
                product = T @ edge
                product.setflags(write=False)
                cached = self._products[below] = T, edge, product
            T = cached[2]
            placed[below] = root, T

    def _matrix(self, frame: str) -> Matrix:
        """Return parent <- frame (4, 4), computed on first use."""
        parent, edge = self._edges[frame]
        if callable(edge):
            edge = edge()
            self._edges[frame] = parent, edge
        return edge

    def _product(self, frames: list[str], instead: Mapping[str, Matrix]) -> Matrix:
        """Return parent of the last frame <- first frame (4, 4) of a path towards the root."""
        T = np.eye(4)
        for frame in frames:
            T = (instead[frame] if frame in instead else self._matrix(frame)) @ T
        return T


class TfListener:
    """Subscribes to tf and tf_static on a node.

    The subscriptions have their own callback group, so that with a MultiThreadedExecutor the
    tree stays up to date while another callback of the node blocks.

    Args:
        node: the node that subscribes.
        callback_group: group of the subscriptions, a new one if None.
        on_change: called with each message after its frames were set.
        on_set: called after each transform that differs from the previous one.
        depth: QoS depth of tf; increase it for a node that must not lose messages.
        events: event callbacks of the subscriptions, rclpy's default if None.

    Attributes:
        tree: the received frames, safe to use from any thread; a frame is set only if it changed.
        on_moving: called with each message of tf, without those of tf_static, after on_change.
    """

    def __init__(
        self,
        node: Node,
        callback_group: CallbackGroup | None = None,
        on_change: Callable[[TFMessage], None] | None = None,
        on_set: Callable[[], None] = lambda: None,
        depth: int = 100,
        events: SubscriptionEventCallbacks | None = None,
    ) -> None:
        self.tree = TransformTree()
        self.on_moving: Callable[[TFMessage], None] = lambda message: None
        # Parent, position and quaternion by child
        self._received: dict[str, tuple[str, tuple[float, ...], tuple[float, ...]]] = {}
        self._stamps: dict[str, Time] = {}  # of the last transform on tf, by child
        self._on_change, self._on_set = on_change, on_set
        self._logger = node.get_logger()
        group = callback_group or MutuallyExclusiveCallbackGroup()
        latched = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        for topic, callback, qos in (
            (TF_TOPIC, self._on_moving, QoSProfile(depth=depth)),
            (TF_STATIC_TOPIC, self._on_tf, latched),
        ):
            node.create_subscription(
                TFMessage, topic, callback, qos, callback_group=group, event_callbacks=events
            )

    def _on_moving(self, message: TFMessage) -> None:
        self._on_tf(message, self._stamps)
        self.on_moving(message)

    def _on_tf(self, message: TFMessage, stamps: dict[str, Time] | None = None) -> None:
        for stamped in message.transforms:
            try:
                self._set(stamped)
                if stamps is not None:
                    stamps[stamped.child_frame_id] = stamped.header.stamp
            except TransformError as error:
                self._logger.warning(
                    f"Ignored a transform of tf: {error}", throttle_duration_sec=_WARN_PERIOD
                )
        if self._on_change is not None:
            self._on_change(message)

    def oldest_stamp(self, target: str, source: str) -> float:
        """Return the oldest stamp of the transforms that connect two frames [s].

        Transforms on tf_static alone have none: they are valid at any time (infinity).
        """
        stamps = [self._stamps.get(frame) for frame in self.tree.between(target, source)]
        return min((stamp_seconds(s) for s in stamps if s is not None), default=math.inf)

    def _set(self, stamped: TransformStamped) -> None:
        """Set one transform if it has changed; its matrix is computed on first use."""
        t, r = stamped.transform.translation, stamped.transform.rotation
        parent, child = stamped.header.frame_id, stamped.child_frame_id
        position, quaternion = (t.x, t.y, t.z), (r.x, r.y, r.z, r.w)
        received = parent, position, quaternion
        if self._received.get(child) == received:
            return
        norm = math.hypot(*quaternion)
        # a comparison with NaN is False
        if not (1e-6 < norm < math.inf and math.hypot(*position) < _FARTHEST):
            raise TransformError(
                f"the transform of '{one_line(child, 100)}' is not finite or has no rotation"
            )
        self.tree.set(parent, child, partial(pose_to_matrix, position, quaternion))
        self._received[child] = received
        self._on_set()
