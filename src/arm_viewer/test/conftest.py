# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

from types import SimpleNamespace

import pytest
from arm_testing.pages.page import urdf


def _xyz(values=(0.0, 0.0, 0.0)):
    x, y, z = (float(value) for value in values)
    return SimpleNamespace(x=x, y=y, z=z)


def _rgba(values):
    r, g, b, a = (*values, 1.0)[:4]
    return SimpleNamespace(r=r, g=g, b=b, a=a)


def make_marker(type=1, id=0, **fields):
    """Return an object with the fields of visualization_msgs/Marker; fields by plain values."""
    qx, qy, qz, qw = fields.get("orientation", (0.0, 0.0, 0.0, 1.0))
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=fields.get("frame", "base_link")),
        ns=fields.get("ns", "test"),
        id=id,
        type=type,
        action=fields.get("action", 0),
        pose=SimpleNamespace(
            position=_xyz(fields.get("position", (0, 0, 0))),
            orientation=SimpleNamespace(x=qx, y=qy, z=qz, w=qw),
        ),
        scale=_xyz(fields.get("scale", (0.1, 0.1, 0.1))),
        color=_rgba(fields.get("color", (1.0, 0.0, 0.0, 1.0))),
        lifetime=SimpleNamespace(sec=fields.get("lifetime", 0), nanosec=0),
        frame_locked=fields.get("frame_locked", False),
        points=[_xyz(point) for point in fields.get("points", ())],
        colors=[_rgba(colour) for colour in fields.get("colors", ())],
        text=fields.get("text", ""),
        mesh_resource=fields.get("mesh_resource", ""),
        mesh_use_embedded_materials=False,
    )


@pytest.fixture(scope="session")
def marker():
    return make_marker
