# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How a closed form is written down for the compiled loops: the table ``plan``.

A plan treats the joints in the order of the chain, or of the chain read from its tip (REVERSED:
inverse(e1 e2 ... en) = inverse(en) ... inverse(e1), so the axes are turned round and the order
with them). Row 0 says what to do, rows 1 to 3 hold what it needs, and from row JOINTS on there is
a row for each joint in the plan's order.
"""

from __future__ import annotations

COLUMNS = 13  # of the plan; in GIVEN, the joints of a branch

# Row 0.
FAMILY = 0  # PLACE_THEN_TURN, TURN_THEN_PLACE; or GIVEN: the branches are the rows from JOINTS on
REVERSED = 1  # 1 if the plan counts the joints from the tip
BEFORE = 2  # joints that bring a point to its place (0 to 3), or stand before parallel axes (0, 1)
PARALLEL = 3  # parallel axes (2 or 3); 0 in the other family
AFTER = 4  # joints after these, which turn about one point (0 to 3)
KEPT = 5  # last joints of the chain that stay at the seed: they do not move what is asked for
FIRST = 6  # which joint of three is found first: 0, 2, or BOTH if neither can be told apart
INVARIANT = 7  # from which invariant: 0 or 1
LENGTH = 8  # length of the arm [m]

PLACE_THEN_TURN, TURN_THEN_PLACE, GIVEN = 0, 1, 2
BOTH = -1

# Row 1: the point that is brought to its place, and where the axes of AFTER meet.
CENTRE, MEET = 0, 3
# Row 2: the second of three joints: a point on its axis or a normal, its direction or a normal.
PIVOT, NORMAL_0, NORMAL_1 = 0, 3, 6
# Row 3: the three axes of a wrist, see kernels_wrist.py.
ZERO, BEND_4, BEND_6 = 0, 1, 2
# Rows 1 to 3: the upper rows of inverse(M).
HOME = 9

JOINTS = 4
# A joint's row: direction, point on the axis, 1 if it slides, its sense among parallel axes.
DIRECTION, ORIGIN, SLIDES, SENSE = 0, 3, 6, 7

# The table of branches: what is found on the way, a row a branch. Its columns:
UNSURE = 0  # 1 if a joint was free, and so was kept at the seed
TURN = 1  # turn of all parallel axes together [rad]
VALUES = 2  # the joints, in the plan's order
# Its rows: the seed, what is known so far, complete branches.
SEED, HALF, COMPLETE = 0, 1, 5
MOST = 8  # branches of a closed form
