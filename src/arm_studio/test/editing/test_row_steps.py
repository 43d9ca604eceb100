# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The four motions of a row lead from one DH frame to the next, each along or about one axis."""

import numpy as np
import pytest
from arm_description.library import shipped_robots
from arm_description.model.units import Units
from arm_studio.editing.row_steps import COLUMN_KINDS, ORDERS, RowMotion

from arm_description import load_robot


def motions(name, q):
    model = load_robot(name)
    frames = model.dh_frames(q)
    positions = model.positions(dict(zip(model.joint_names, q, strict=True)))
    for joint, frame in zip(model.rows, frames, strict=False):
        row = joint.row.at(joint.type, positions[joint.name])
        if joint.axis == "z" and not row.beta:
            yield RowMotion(row, model.convention, frame), joint, positions[joint.name]


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_motions_end_at_the_next_frame_and_each_has_one_axis(name):
    model = load_robot(name)
    for motion, joint, q in motions(name, np.linspace(0.1, 0.4, model.n)):
        np.testing.assert_allclose(motion.at(0.0), motion.before, atol=1e-12)
        after = motion.before @ joint.matrix(model.convention, q)
        np.testing.assert_allclose(motion.at(4.0), after, atol=1e-12)
        for number, key in enumerate(ORDERS[motion.convention]):
            step = np.linalg.inv(motion.at(number)) @ motion.at(number + 1.0)
            axis = 2 if key in ("theta", "d") else 0
            if COLUMN_KINDS[key] == "prismatic":
                np.testing.assert_allclose(step[:3, :3], np.eye(3), atol=1e-9)
                assert step[axis, 3] == pytest.approx(getattr(motion.row, key))
            else:
                np.testing.assert_allclose(step[:3, 3], 0.0, atol=1e-9)
                assert step[axis, axis] == pytest.approx(1.0)


def test_labels_and_ways_are_those_of_the_present_motion():
    motion = next(motions("puma560", np.zeros(6)))[0]
    row, units = motion.row, Units("mm", "deg")
    standard = RowMotion(type(row)(0.5, 0.2, 0.3, -0.1), "standard", np.eye(4))
    modified = RowMotion(standard.row, "modified", np.eye(4))
    starts = [standard.label(s, units)[:2] for s in (0.0, 1.0, 2.5, 3.0, 4.0)]
    assert starts == ["Rz", "Tz", "Tx", "Rx", "Rx"]
    assert [modified.label(s, units)[:2] for s in range(4)] == ["Rx", "Tx", "Rz", "Tz"]
    assert standard.label(1.2, units) == "Tz 200 mm"
    assert [len(standard.lines(s)) for s in (0.5, 1.5, 2.5)] == [0, 1, 2]
    (way, _), _ = standard.lines(3.0)
    assert np.linalg.norm(way[1] - way[0]) == pytest.approx(0.2)
