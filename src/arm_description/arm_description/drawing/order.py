# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which solids are painted before all others, such as the table that everything stands on.

What is left over is sorted face by face; of a large face beside small ones the depth says little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..transforms import Matrix, Vector
from .cutting import TOUCHING
from .solids import Solid, faces


def ranks(
    solids: Sequence[Solid],
    planes: Sequence[tuple[Matrix, Vector]],
    besides: Sequence[Matrix],
    view: Matrix,
) -> list[int]:
    """Return a rank of each solid: lower ones are painted first, equal ones by their depth.

    A solid is painted before all that is beyond one of its planes that looks at the eye.

    Args:
        solids: what is painted.
        planes: of their faces.
        besides: points (k, 3) of what has the last rank anyhow.
        view: rows right, up, towards the eye.
    """
    corners = [np.vstack(list(faces(solid, fine=False))) for solid in solids]
    result, left = [len(solids)] * len(solids), list(range(len(solids)))
    for rank in range(len(solids)):
        for index in left:
            others = [corners[other] for other in left if other != index] + [*besides]
            if others and _behind(planes[index], np.vstack(others), view):
                result[index] = rank
                left.remove(index)
                break
        else:
            break
    return result


def _behind(planes: tuple[Matrix, Vector], points: Matrix, view: Matrix) -> bool:
    """Whether all points (k, 3) are beyond one of the planes that look at the eye."""
    normals, distances = planes
    towards = normals @ view[2] > TOUCHING
    over = points @ normals[towards].T - distances[towards]
    return bool((over > -TOUCHING).all(axis=0).any())
