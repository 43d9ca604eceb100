# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where every frame of a transform tree is, seen from one of them; and when that may change."""

from __future__ import annotations

from collections.abc import Callable

from arm_description.tf_tree import Source, TransformTree

from .shapes import Array


class WatchedTree(TransformTree):
    """A transform tree that tells when a transform was set.

    Args:
        on_set: Called after each one, by the thread that set it.
    """

    def __init__(self, on_set: Callable[[], None]) -> None:
        super().__init__()
        self._on_set = on_set

    def set(self, parent: str, child: str, T: Source) -> None:
        """Set the transform parent <- child; see TransformTree."""
        super().set(parent, child, T)
        self._on_set()


def poses_in(tree: TransformTree, fixed: str) -> dict[str, Array]:
    """Return frame name -> (4, 4), fixed <- frame, for all frames connected with `fixed`.

    Args:
        tree: The transforms.
        fixed: The frame that stands still; it need not be known to the tree yet.
    """
    return tree.all_in(fixed) if fixed else {}
