# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is painted first: a table under what stands on it, a wall behind what is before it."""

import numpy as np
from arm_description.exporters.drawing.scene import Loose, patches
from arm_description.exporters.drawing.sheet import VIEWS
from arm_description.exporters.drawing.solids import Solid, planes, ranks


def box(size, xyz, colour=(0.5, 0.5, 0.5)):
    T = np.eye(4)
    T[:3, 3] = xyz
    return Solid("box", size, T, colour)


TABLE = box((2.0, 2.0, 0.1), (0.0, 0.0, -0.05))
FOOT = box((0.1, 0.1, 0.5), (0.8, -0.8, 0.25))


def ranked(solids, view, besides=()):
    return ranks(solids, [planes(solid) for solid in solids], besides, VIEWS[view])


def test_a_table_is_painted_before_what_stands_on_it_wherever_that_is():
    for view in ("iso", "top"):
        assert ranked([FOOT, TABLE], view) == [2, 0]
    solids = [FOOT, TABLE, box((0.1, 0.1, 0.5), (-0.8, 0.8, 0.25))]
    assert ranked(solids, "iso")[1] == 0


def test_what_reaches_through_a_table_is_sorted_by_its_faces():
    through = box((0.1, 0.1, 1.0), (0.0, 0.0, 0.0))
    assert len(set(ranked([through, TABLE], "iso"))) == 1


def test_a_line_below_a_table_is_not_hidden_by_its_rank():
    below = np.array([(0.0, 0.0, -1.0), (1.0, 0.0, -1.0)])
    assert ranked([TABLE], "iso", [below]) == [1]


def test_nothing_of_a_table_is_painted_over_its_load():
    red = box((0.1, 0.1, 0.02), (0.9, -0.9, 0.01), (1.0, 0.0, 0.0))
    found = patches([red, TABLE], VIEWS["iso"], [Loose(np.zeros((2, 3)), (0.0, 0.0, 1.0), 0.01)])
    reds = [i for i, patch in enumerate(found) if patch.colour[0] > patch.colour[1]]
    greys = [i for i, patch in enumerate(found) if len(set(patch.colour.tolist())) == 1]
    assert reds and greys and max(greys) < min(reds)
