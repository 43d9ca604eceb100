# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Looks of links: from the file to the URDF, its meshes, and back to a file."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pytest
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.optional.shape_meshes import triangles
from arm_description.urdf.reader import read_urdf

from arm_description import DescriptionError, load_robot, parse_robot

LOOKED = ("nut_arm", "puma560", "rediestro", "so101")
ROUND = {"cone": (0.03, 0.01, 0.1), "ring": (0.05, 0.02, 0.04), "fillet": (0.02, 0.01)}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def looks(shapes):
    return f"looks: {{turn_link: [{shapes}]}}\n"


def test_looks_replace_visuals_only(small):
    text = "{box: [1, 2, 3], at: [4, 5, 6], colour: SteelBlue, material: metal}, {sphere: 7}"
    plain, looked = parse_robot(small), parse_robot(small + looks(text))
    before, after = read_urdf(plain.to_urdf()), read_urdf(looked.to_urdf())
    assert after.collisions == before.collisions
    assert after.inertials == before.inertials
    box, ball = (shape for shape in after.visuals if shape.link == "turn_link")
    assert (box.kind, box.size, box.origin.xyz) == (
        "box",
        (0.001, 0.002, 0.003),
        (4e-3, 5e-3, 6e-3),
    )
    np.testing.assert_allclose(box.colour, (70 / 255, 130 / 255, 180 / 255, 1.0), atol=1e-4)
    assert box.material.startswith("metal_")
    assert (ball.kind, ball.size) == ("sphere", (0.007,))


def test_no_shapes_show_nothing(small):
    visuals = read_urdf(parse_robot(small + looks("")).to_urdf()).visuals
    assert "turn_link" not in {shape.link for shape in visuals}


@pytest.mark.parametrize("robot", LOOKED)
def test_shipped_looks_round_trip_and_need_no_files(robot):
    model = load_robot(robot)
    assert model.looks
    assert parse_robot(robot_yaml(model)) == model
    plain = replace(model, looks={})
    urdf = ET.fromstring(model.to_urdf())
    assert not list(urdf.iter("mesh"))  # so that it can be sent to another computer
    assert read_urdf(model.to_urdf()).collisions == read_urdf(plain.to_urdf()).collisions


@pytest.mark.parametrize(("kind", "size"), ROUND.items())
def test_meshes_are_closed_and_have_the_volume_of_the_body(kind, size):
    corners = triangles(kind, size)
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    first, second = size[:2]
    expected = {
        "cone": np.pi * 0.1 / 3 * (first**2 + first * second + second**2),
        "ring": np.pi * 0.04 * (first**2 - second**2),
        # Pappus: the area between a quarter circle and its corner, about the axis.
        "fillet": 2 * np.pi * second**2 * (first * (1 - np.pi / 4) + second * (5 / 6 - np.pi / 4)),
    }[kind]
    assert volume == pytest.approx(expected, rel=0.02)
    out = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    np.testing.assert_allclose(out.sum(axis=0), 0.0, atol=1e-12)


def test_mesh_files_are_named_after_their_shape(small, tmp_path):
    model = parse_robot(small + looks("{cone: [3, 0, 5]}, {cone: [3, 0, 5], at: [0, 0, 9]}"))
    uris = [s.uri for s in read_urdf(model.to_urdf()).visuals if s.kind == "mesh"]
    path = Path(unquote(urlparse(uris[0]).path))
    assert uris[0] == uris[1]
    assert path.is_relative_to(tmp_path)
    assert path.stat().st_size == 84 + 50 * len(triangles("cone", (0.003, 0.0, 0.005)))


def test_glass_is_seen_through(small):
    clear, tinted = parse_robot(
        small + looks("{sphere: 1, material: glass}, {sphere: 1, colour: [0, 0, 1, 0.8]}")
    ).looks["turn_link"]
    assert len(clear.colour) == len(tinted.colour) == 9


@pytest.mark.parametrize(
    ("shapes", "problem"),
    [
        ("{at: [0, 0, 0]}", "must have one shape, not no shape"),
        ("{sphere: 1, box: [1, 1, 1]}", "not box and sphere"),
        ("{cylinder: [1, 2, 3]}", "must be 2 numbers, not 3"),
        ("{cone: [0, 0, 3]}", "no radius above 0"),
        ("{ring: [2, 3, 1]}", "the inner radius must be below"),
        ("{fillet: [2, 0]}", "must be above 0"),
        ("{sphere: 1, colour: stealblue}", "did you mean 'steelblue'"),
        ("{sphere: 1, colour: [1, 0, 2]}", "each from 0 to 1"),
        ("{sphere: 1, material: wood}", "cannot be 'wood'"),
    ],
)
def test_wrong_looks_are_refused(small, shapes, problem):
    with pytest.raises(DescriptionError, match=problem):
        parse_robot(small + looks(shapes))
