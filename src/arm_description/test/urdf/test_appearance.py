# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The skeleton: every link has plausible shapes and inertia at any size."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from arm_common.transforms import rpy_matrix
from arm_description.urdf.assembly import assemble
from arm_description.urdf.joint_frames import JointFrames
from arm_description.urdf.writer import link_inertia
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_description import load_robot, parse_robot, shipped_robots


def bodies(model):
    return [link for link in assemble(model, "").links if link.shapes]


def box_of(shapes):
    """Return the corners of the bounding box of shapes in the frame of the link."""
    corners = []
    for shape in shapes:
        size = shape.size if shape.kind == "box" else (2 * shape.size[0],) * 2 + (shape.size[1],)
        signs = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).reshape(3, -1)
        T = rpy_matrix(shape.origin.xyz, shape.origin.rpy)
        corners.append((T[:3, :3] @ (np.array(size)[:, None] * signs)).T + T[:3, 3])
    points = np.concatenate(corners)
    return points.min(axis=0), points.max(axis=0)


def assert_plausible(link):
    """Check mass, moments (positive, triangle inequality) and centre of mass."""
    mass, centre, tensor = link_inertia(replace(link, has_inertia=True))
    moments = np.linalg.eigvalsh(tensor)
    assert mass > 0
    assert moments[0] > 0
    assert moments[0] + moments[1] >= moments[2] * (1 - 1e-9)
    lower, upper = box_of(link.shapes)
    assert (lower <= centre).all()
    assert (centre <= upper).all()


@pytest.mark.parametrize("robot", shipped_robots())
def test_bodies_of_shipped_robots_are_plausible(robot):
    model = load_robot(robot)
    links = bodies(model)
    fingers = 3 if model.gripper else 0
    followers = sum(len(dependent.terms) for dependent in model.dependents)
    assert len(links) == 1 + model.n + followers + fingers
    for link in links:
        assert_plausible(link)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    convention=st.sampled_from(["standard", "modified"]),
    n=st.integers(1, 7),
)
def test_bodies_of_random_tables_are_plausible(random_model, seed, convention, n):
    kinds = ("revolute", "prismatic", "universal", "ball")
    for link in bodies(random_model(np.random.default_rng(seed), convention, n, kinds)):
        assert_plausible(link)


@pytest.mark.parametrize("scale", [0.0, 2e-2, 1.0, 20.0])
def test_skeleton_works_at_any_size(scale, table_yaml, pin_robot):
    """Total lengths from 0 over a few millimetres to 14 m."""
    rows = [("revolute", 0.0, 0.4 * scale, 0.3 * scale, 1.5), ("revolute", 0.0, 0.0, 0.0, -1.5)]
    model = parse_robot(table_yaml([*rows, *rows], "standard"))
    for link in bodies(model):
        assert_plausible(link)
    _, foreign = pin_robot(model.to_urdf())
    assert all(inertia.mass > 0 for inertia in list(foreign.inertias)[1:])
    sizes = [
        float(value)
        for element in ET.fromstring(model.to_urdf()).iter("cylinder")
        for value in element.attrib.values()
    ]
    assert min(sizes) > 0


def test_cylinders_of_intersecting_axes_protrude(table_yaml):
    """In a wrist each cylinder is thinner and longer than the previous one."""
    wrist = [("revolute", 0.0, 0.0, 0.0, 1.5707963)] * 3
    model = parse_robot(table_yaml([("revolute", 0.0, 0.0, 0.5, 0.0), *wrist], "standard"))
    links = assemble(model, "").links[2:5]
    sizes = [next(s.size for s in link.shapes if s.kind == "cylinder") for link in links]
    for (radius, _), (thinner, longer) in pairwise(sizes):
        assert thinner < radius
        assert longer > 2 * radius


def test_no_body_reaches_below_the_ground():
    for robot in shipped_robots():
        model = load_robot(robot)
        base, first = assemble(model, "").links[:2]
        assert box_of(base.shapes)[0][2] >= -1e-9
        place = next(j for j in assemble(model, "").joints if j.child == first.name)
        T = rpy_matrix(place.origin.xyz, place.origin.rpy)
        if abs(T[2, 2]) > 0.99:
            assert T[2, 3] + T[2, 2] * box_of(first.shapes)[0][2] >= -1e-9


@pytest.mark.parametrize("robot", shipped_robots())
def test_arm_ends_in_a_plate_or_a_gripper(robot):
    """The face of the plate is at the tool, or beyond it along the tool's z."""
    model = load_robot(robot)
    links = {link.name: link for link in assemble(model, "").links}
    if model.gripper:
        assert links["gripper_link"].shapes
        return
    flange = next(j for j in assemble(model, "").joints if j.child == "flange")
    plate = links[flange.parent].shapes[-1]
    tool = JointFrames(model).dh[-1].matrix @ model.tool.matrix
    x, y, z, _ = np.linalg.solve(tool, (*plate.origin.xyz, 1.0))
    np.testing.assert_allclose((x, y), 0.0, atol=1e-12)
    assert -1e-12 <= z + plate.size[1] / 2 < 0.2


def test_bar_stays_in_its_guide(table_yaml):
    """The bar reaches the middle of the guide at both limits."""
    text = table_yaml([("prismatic", 0.0, 0.1, 0.0, 0.0)], "standard")
    model = parse_robot(text.replace("lower: -3, upper: 3", "lower: 0.2, upper: 0.7"))
    lower, upper = box_of(bodies(model)[1].shapes[1:2])
    assert lower[2] <= -0.7
    assert upper[2] >= -0.2
