# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The tree of frames and its errors."""

import threading

import numpy as np
import pytest
from arm_common.ros.tf import MAX_FRAMES, TransformError, TransformTree
from arm_common.transforms import rpy_matrix
from hypothesis import given
from hypothesis import strategies as st


def pose(rng):
    return rpy_matrix(rng.uniform(-1, 1, 3), rng.uniform(-3, 3, 3))


def random_tree(seed, size):
    rng = np.random.default_rng(seed)
    tree, poses = TransformTree(), {"f0": np.eye(4)}
    for i in range(1, size):
        parent, T = f"f{rng.integers(i)}", pose(rng)
        tree.set(parent, f"f{i}", T)
        poses[f"f{i}"] = poses[parent] @ T
    return tree, poses


@given(st.integers(0, 2**32), st.integers(2, 12))
def test_lookup_composes_and_inverts(seed, size):
    tree, poses = random_tree(seed, size)
    rng = np.random.default_rng(seed)
    a, b, c = (f"f{i}" for i in rng.integers(size, size=3))
    ab, bc = tree.lookup(a, b), tree.lookup(b, c)
    np.testing.assert_allclose(ab, np.linalg.inv(poses[a]) @ poses[b], atol=1e-12)
    np.testing.assert_array_equal(tree.lookup(a, a), np.eye(4))
    np.testing.assert_allclose(ab @ tree.lookup(b, a), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(ab @ bc, tree.lookup(a, c), atol=1e-12)


def test_lookup_is_exact_in_deep_and_distant_trees():
    tree, step = TransformTree(), rpy_matrix((5e3, 0, 0), (0, 0, 0))
    for i in reversed(range(2000)):
        tree.set(f"f{i}", f"f{i + 1}", step)
    turned = rpy_matrix((1e-9, 0, 0), (1, 2, 3))
    tree.set("f2000", "a", turned)
    tree.set("f2000", "b", rpy_matrix((3e-9, 0, 0), (1, 2, 3)))
    for T in (tree.lookup("f0", "a"), tree.poses_in("f0")["a"]):
        np.testing.assert_allclose(T[:3, 3], (1e7, 0, 0), atol=1e-5)
    between = turned[:3, :3].T @ (2e-9, 0, 0)
    np.testing.assert_allclose(tree.lookup("a", "b")[:3, 3], between, atol=1e-20)
    np.testing.assert_array_equal(tree.lookup("a", "a"), np.eye(4))


@given(st.integers(0, 2**32), st.integers(2, 12))
def test_poses_in_agrees_with_single_lookups(seed, size):
    tree, _ = random_tree(seed, size)
    tree.set("elsewhere", "apart", np.eye(4))
    rng = np.random.default_rng(seed)
    for _ in range(3):
        target = f"f{rng.integers(size)}"
        found = tree.poses_in(target)
        assert found.keys() == {f"f{i}" for i in range(size)}
        for frame, T in found.items():
            np.testing.assert_allclose(T, tree.lookup(target, frame), atol=1e-12)
        moved = int(rng.integers(1, size))  # to another parent, with its subtree
        tree.set(f"f{rng.integers(moved)}", f"f{moved}", pose(rng))
    assert tree.poses_in("apart").keys() == {"apart", "elsewhere"}
    assert set(tree.poses_in("unknown")) == {"unknown"}


def test_poses_in_returns_the_same_array_for_unmoved_frames():
    tree = TransformTree()
    tree.set("a", "b", rpy_matrix((1, 0, 0), (0, 0, 0)))
    tree.set("b", "c", rpy_matrix((0, 1, 0), (0, 0, 1)))
    tree.set("a", "d", lambda: rpy_matrix((0, 0, 1), (0, 0, 0)))
    first = tree.poses_in("a")
    tree.set("a", "b", rpy_matrix((2, 0, 0), (0, 0, 0)))
    second = tree.poses_in("a")
    assert [name for name in first if first[name] is second[name]] == ["a", "d"]
    assert second["c"][0, 3] == first["c"][0, 3] + 1
    assert not second["c"].flags.writeable


def test_latest_transform_and_parent_replace_earlier_ones():
    tree = TransformTree()
    tree.set("a", "b", rpy_matrix((1, 0, 0), (0, 0, 0)))
    tree.set("a", "c", rpy_matrix((0, 5, 0), (0, 0, 0)))
    tree.set("a", "b", rpy_matrix((2, 0, 0), (0, 0, 0)))
    assert tree.lookup("a", "b")[0, 3] == 2
    tree.set("c", "b", np.eye(4))
    assert tree.lookup("a", "b")[1, 3] == 5


def test_transform_functions_are_called_once_on_demand():
    calls = []
    tree = TransformTree()
    tree.set("a", "b", lambda: calls.append(1) or np.eye(4))
    assert not calls
    tree.lookup("a", "b")
    tree.lookup("b", "a")
    assert len(calls) == 1


def test_set_copies_its_transform():
    tree, T = TransformTree(), np.eye(4)
    tree.set("a", "b", T)
    T[0, 3] = 9
    assert tree.lookup("a", "b")[0, 3] == 0


def test_unknown_frame_error_lists_the_known_frames():
    tree = TransformTree()
    with pytest.raises(TransformError, match="no frame 'a'; known are none yet"):
        tree.lookup("a", "b")
    tree.set("base_link", "tool0", np.eye(4))
    with pytest.raises(TransformError, match="no frame 'tool1'; known are base_link, tool0"):
        tree.lookup("base_link", "tool1")


@pytest.mark.parametrize("find", [TransformTree.lookup, TransformTree.between])
def test_unconnected_frames_are_rejected(find):
    tree = TransformTree()
    tree.set("a", "b", np.eye(4))
    tree.set("x", "y", np.eye(4))
    with pytest.raises(TransformError, match=r"'b' \(below 'a'\) and 'y' \(below 'x'\)"):
        find(tree, "b", "y")
    with pytest.raises(TransformError, match="no frame 'z'"):
        find(tree, "b", "z")


@pytest.mark.parametrize(
    ("parent", "child", "T", "message"),
    [
        ("c", "a", np.eye(4), "'a' cannot be a child of 'c'"),
        ("a", "a", np.eye(4), "'a' cannot be a child of 'a'"),
        ("", "z", np.eye(4), "a frame has no name"),
        ("a", "", np.eye(4), "a frame has no name"),
        ("a", "z", np.full((4, 4), np.nan), "4 x 4 finite"),
        ("a", "z", np.eye(3), "4 x 4 finite"),
    ],
)
def test_rejected_transform_changes_nothing(parent, child, T, message):
    tree = TransformTree()
    tree.set("a", "b", np.eye(4))
    tree.set("b", "c", np.eye(4))
    with pytest.raises(TransformError, match=message):
        tree.set(parent, child, T)
    assert tree.poses_in("a").keys() == {"a", "b", "c"}
    np.testing.assert_array_equal(tree.lookup("a", "c"), np.eye(4))


def test_concurrent_lookups_see_consistent_states():
    """b and c move together, so their distance stays the same in every consistent state."""
    tree, stop, wrong = TransformTree(), threading.Event(), []
    tree.set("a", "b", np.eye(4))
    tree.set("b", "c", np.eye(4))

    def move():
        for i in range(2000):
            tree.set("a", "b", rpy_matrix((i, 0, 0), (0, 0, 0)))
        stop.set()

    def look_up():
        while not stop.is_set():
            if not np.array_equal(tree.lookup("b", "c"), np.eye(4)):
                wrong.append(1)

    threads = [threading.Thread(target=t) for t in (move, look_up, look_up)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not wrong
    assert stop.is_set()


def test_frames_and_their_names_are_bounded():
    tree = TransformTree()
    for i in range(MAX_FRAMES):
        tree.set("root", f"f{i}", np.eye(4))
    with pytest.raises(TransformError, match="there are 10000 frames already"):
        tree.set("root", "one_more", np.eye(4))
    tree.set("root", "f7", np.eye(4))
    with pytest.raises(TransformError, match="more than 255 characters"):
        tree.set("root", "x" * 256, np.eye(4))
