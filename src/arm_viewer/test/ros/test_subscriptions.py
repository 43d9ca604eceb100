# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A transform tree with a callback for changes."""

import numpy as np
from arm_viewer.ros.subscriptions import WatchedTree


def test_a_new_transform_calls_back():
    calls = []
    tree = WatchedTree(lambda: calls.append(1))
    tree.set("a", "b", np.eye(4))
    assert calls == [1]
    np.testing.assert_array_equal(tree.lookup("a", "b"), np.eye(4))
