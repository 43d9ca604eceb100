# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Each drawable shape as what a picture is drawn from."""

import numpy as np
import pytest
from arm_common.transforms import pose, turn_z
from arm_studio.pictures.scene_primitives import primitives_of
from arm_viewer.errors import ViewerError
from arm_viewer.scene import shapes
from arm_viewer.scene.shapes import MeshFiles, PlacedShape

T = pose(p=(1.0, 2.0, 3.0)) @ turn_z(0.4)
RED = (1.0, 0.0, 0.0, 1.0)
MESHES = MeshFiles(lambda name: None)


def primitives(shape, pose=T, colour=RED, **options):
    return primitives_of([PlacedShape(shape, pose, colour, **options)], MESHES)


def extent(parts):
    """Return the size of all primitives along the axes of T."""
    points = [solid.faces().reshape(-1, 3) for solid in parts.solids]
    points += [part.points for part in parts.flat_shapes]
    return np.ptp((np.vstack(points) - T[:3, 3]) @ T[:3, :3], axis=0)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        (shapes.Box((0.1, 0.2, 0.3)), (0.1, 0.2, 0.3)),
        (shapes.Cylinder((0.1, 0.1), 0.4), (0.1, 0.1, 0.4)),
        (shapes.Cylinder((0.1, 0.3), 0.4), (0.1, 0.3, 0.4)),
        (shapes.Ellipsoid((0.2, 0.2, 0.2)), (0.2, 0.2, 0.2)),
        (shapes.Ellipsoid((0.1, 0.2, 0.4)), (0.1, 0.2, 0.4)),
        (shapes.Arrows(np.array([[(0, 0, 0), (0.5, 0, 0)]]), 0.02, 0.06, 0.1), (0.5, 0.06, 0.06)),
        (shapes.Lines(np.array([[(0, 0, 0), (0, 0.5, 0.1)]]), None, 0.01), (0, 0.5, 0.1)),
        (shapes.PointCloud(np.array([(0, 0, 0), (0.2, 0, 0)]), None, 0.01), (0.2, 0, 0)),
        (shapes.Triangles(np.array([(0, 0, 0), (0.2, 0, 0), (0, 0.1, 0)]), None), (0.2, 0.1, 0)),
        (
            shapes.Copies(shapes.Box((0.1, 0.1, 0.1)), np.array([(0, 0, 0), (0, 0, 1)]), None),
            (0.1, 0.1, 1.1),
        ),
    ],
)
def test_shape_keeps_its_size_and_its_opacity(shape, size):
    parts = primitives(shape, colour=(1.0, 0.0, 0.0, 0.4))
    np.testing.assert_allclose(extent(parts), size, atol=0.012)
    found = [*parts.solids, *parts.flat_shapes]
    assert all(part.colour == (1.0, 0.0, 0.0) for part in found)
    if not isinstance(shape, shapes.Arrows):  # the browser draws them without
        assert all(part.opacity == 0.4 for part in found)


def test_mesh_is_drawn_with_its_own_faces(tmp_path):
    file = tmp_path / "wedge.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n")
    parts = primitives(shapes.MeshFile(str(file), (0.1, 0.2, 0.3), own_colours=False))
    assert not parts.solids
    assert [part.points.shape for part in parts.flat_shapes] == [(3, 3), (3, 3)]
    np.testing.assert_allclose(extent(parts), (0.1, 0.2, 0.3))


def test_mesh_that_is_missing_leaves_the_others():
    placed = [
        PlacedShape(shapes.MeshFile("/nowhere.stl"), T, RED),
        PlacedShape(shapes.Box((0.1, 0.1, 0.1)), T, RED),
    ]
    assert len(primitives_of(placed, MESHES).solids) == 1


def test_wireframe_has_each_edge_once_and_no_face():
    parts = primitives(shapes.Box((0.1, 0.1, 0.1)), wireframe=True)
    assert not parts.solids
    edges = {
        tuple(sorted(map(tuple, part.points.round(9).tolist()))) for part in parts.flat_shapes
    }
    assert len(edges) == len(parts.flat_shapes) == 12
    assert all(part.width > 0.0 for part in parts.flat_shapes)


def test_text_keeps_its_place_and_height_and_what_is_faint_is_left_out():
    (label,) = primitives(shapes.TextLabel("here", 0.05)).labels
    assert (label.text, label.height) == ("here", 0.05)
    np.testing.assert_allclose(label.at, T[:3, 3])
    assert not primitives(shapes.Box((1.0, 1.0, 1.0)), colour=(1.0, 0.0, 0.0, 0.01)).solids


def tile(folder, name, faces=2):
    file = folder / name
    rows = "".join(f"v {i} 0 0\nv {i} 1 0\n" for i in range(faces // 2 + 1))
    corners = "".join(f"f {2 * i + 1} {2 * i + 2} {2 * i + 3}\n" * 2 for i in range(faces // 2))
    file.write_text(rows + corners)
    return str(file)


def test_meshes_have_a_bound_alone_and_together(tmp_path, monkeypatch):
    monkeypatch.setattr(shapes, "MAX_FACES", 10)
    files = MeshFiles(lambda name: None)
    loaded = [files.load(tile(tmp_path, f"{i}.obj", 4)) for i in range(5)]
    assert len({id(mesh) for mesh in loaded}) == 5
    assert files._faces <= 10 and files.load(str(tmp_path / "4.obj")) is loaded[4]
    with pytest.raises(ViewerError, match="has 12 triangles; at most 10 are drawn"):
        files.load(tile(tmp_path, "many.obj", 12))
    with (tmp_path / "large.stl").open("wb") as file:
        file.truncate(60_000_000)
    with pytest.raises(ViewerError, match="has 60 MB; at most 50 MB are read"):
        files.load(str(tmp_path / "large.stl"))
