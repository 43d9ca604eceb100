# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/markers/test_layers.py
"""Markers of the arm: frames, limits, torques, velocities, texts, trace, masses, IK, and ghosts.

Yoshikawa, "Manipulability of robotic mechanisms", Int. J. Robotics Research 4(2), 1985: joint
speeds of norm 1 give tip speeds in the ellipsoid whose axes are the left singular vectors of J,
as long as its singular values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import groupby

import numpy as np
from arm_common.transforms import Array, inverse, pose
from arm_description.model.units import SHOWN, millimetres
from arm_description.urdf.elements import UrdfShape, is_dh_frame

from arm_kinematics.chain.robot import Robot
from arm_kinematics.dexterity.conditioning import measures
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkStatus
from arm_kinematics.markers.mark import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    RED,
    VIOLET,
    Colour,
    Kind,
    Mark,
    ball,
    circle,
    curve,
    faint,
    lines,
    text_mark,
    triad,
)
from arm_kinematics.markers.state import SEGMENTS, DrawnJoint, MarkerInputs, TraceSegment

METRES_PER_REACH = 0.25  # a semi-axis of the manipulability ellipsoid per m/rad
METRES_PER_SPEED = 0.1  # a semi-axis of the velocity ellipsoid per m/s
_STEP = math.radians(5.0)  # between points of an arc
_SAME = 1e-6  # [m] largest distance of coincident frames
_POSTURES = (0.0, 0.7)  # [rad or m] of all joints; frames that coincide in both always coincide
_LETTER = 0.5  # width of a letter, as a fraction of its height
_LINE = 1.2  # line spacing, as a fraction of the height of letters
_WARNING = 0.6  # share of a torque limit from which an arrow is orange
_TURN = math.radians(300.0)  # of the arrow at the limit
_NO_TORQUE = 1e-3  # share below which there is no arrow
_MIN_THICKNESS = 1e-3  # share of the arm's length, so that a flat ellipsoid is visible
_MAX_BRANCHES = 8  # drawn solutions, beside the first


def link_frames(inputs: MarkerInputs) -> list[Mark]:
    """Draw the frames of the links from base to tip, with their names."""
    return _named([link.name for link in inputs.chain.links], inputs)


def dh_frames(inputs: MarkerInputs) -> list[Mark]:
    """Draw the frames dh_0 .. dh_n of the DH table, if the robot description has them."""
    return _named([link for link in inputs.robot.links if is_dh_frame(link)], inputs)


def _named(names: list[str], inputs: MarkerInputs) -> list[Mark]:
    size, below = inputs.size, np.array([0.0, 0.0, -0.02 * inputs.size])
    axes = [triad(name, np.eye(4), 0.09 * size, 0.004 * size) for name in names]
    # A triangle between x and y shows how the frame turns.
    corners = 0.05 * size * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    colour, scale = faint(VIOLET, 0.5), (1.0, 1.0, 1.0)
    flags = [Mark(Kind.TRIANGLES, name, np.eye(4), scale, colour, corners) for name in names]
    texts = _names_by_place(names, inputs.robot)
    labels = [text_mark(frame, below, text, 0.028 * size) for frame, text in texts.items()]
    return [*axes, *flags, *labels]


def _names_by_place(names: list[str], robot: Robot) -> dict[str, str]:
    """Return one text for each place, with one name a line, by the first frame there."""
    texts: dict[str, str] = {}
    places: dict[str, Array] = {}
    postures = [dict.fromkeys(robot.joint_names, q) for q in _POSTURES]
    for name in names:
        here = np.array([robot.link_pose(name, posture)[:3, 3] for posture in postures])
        same = (first for first, place in places.items() if np.allclose(place, here, atol=_SAME))
        if first := next(same, ""):
            texts[first] += f"\n{name}"
        else:
            places[name], texts[name] = here, name
    return texts


def _apart(inputs: MarkerInputs, texts: list[Mark]) -> list[Mark]:
    """Return texts, raised along the base's z axis where they would overlap."""
    placed, shifted = list[tuple[Array, float]](), dict[int, Mark]()
    poses = [inputs.robot.link_pose(mark.frame, inputs.positions) for mark in texts]
    places = [(T @ mark.pose)[:3, 3] for T, mark in zip(poses, texts, strict=True)]
    for i in np.argsort([place[2] for place in places], kind="stable").tolist():
        mark, place = texts[i], places[i].copy()
        height = mark.scale[2]
        half = 0.5 * _LETTER * height * len(mark.text)
        for other, reach in sorted(placed, key=lambda one: float(one[0][2])):
            overlaps = math.hypot(*(place - other)[:2]) < half + reach
            if overlaps and abs(place[2] - other[2]) < _LINE * height:
                place[2] = other[2] + _LINE * height
                raised = (inverse(poses[i]) @ [*place, 1.0])[:3]
                shifted[i] = replace(mark, pose=pose(p=raised.round(6)))  # equal if unmoved
        placed.append((place, half))
    return [shifted.get(i, mark) for i, mark in enumerate(texts)]


def joint_limits(inputs: MarkerInputs) -> list[Mark]:
    """Draw the range of each joint as an arc or a line, with a needle at its position."""
    return [mark for axis in inputs.axes for mark in _limit(axis, inputs.size)]


def _limit(axis: DrawnJoint, size: float) -> list[Mark]:
    radius, width = 0.11 * size, 0.006 * size
    lower, upper = axis.lower, axis.upper
    if axis.sliding:
        lower, upper = max(lower, -size), min(upper, size)
        track = np.array([[radius, 0.0, lower], [radius, 0.0, upper]])
    else:
        lower, upper = max(lower, -math.pi), min(upper, math.pi)
        track = circle(radius, lower, upper, _STEP)
    needle = [[0.0, 0.0, 0.0], [radius if axis.sliding else 1.1 * radius, 0.0, 0.0]]
    marks = [
        curve(axis.parent, track, width, faint(ORANGE, 0.9), axis.in_parent),
        lines(axis.child, needle, 0.6 * width, INK, axis.in_child),
    ]
    if not axis.sliding and upper - lower < 2.0 * math.pi:
        stops = [[0.9 * p, 1.1 * p] for p in (track[0], track[-1])]
        marks.append(lines(axis.parent, stops, 0.6 * width, ORANGE, axis.in_parent))
    return marks


def gravity_torques(inputs: MarkerInputs) -> list[Mark]:
    """Draw the computed torques that hold the arm, as arrows about the joints' axes.

    An arrow's length is the share of the limit, or of the largest torque where none is known.
    """
    if not inputs.known:
        return []
    chain, marks = inputs.chain, []
    torques = chain.gravity_torques(inputs.q)
    limits = np.where(np.isfinite(chain.effort), chain.effort, max(np.abs(torques).max(), 1e-9))
    for axis in inputs.axes:
        i = chain.joint_names.index(axis.name)
        torque, share = float(torques[i]), float(torques[i] / limits[i])
        if abs(share) > _NO_TORQUE and abs(torque) > 1e-9:
            known = bool(np.isfinite(chain.effort[i]))
            marks += _torque_arrow(axis, torque, share, known, inputs.size)
    return marks


def _torque_arrow(
    axis: DrawnJoint, torque: float, share: float, known: bool, size: float
) -> list[Mark]:
    """Draw an arrow about the axis of a joint, or along it if it slides, with its torque."""
    radius, bend = 0.14 * size, float(np.clip(share, -1.0, 1.0))
    if axis.sliding:
        track = np.array([[radius, 0.0, 0.0], [radius, 0.0, 2.0 * radius * bend]])
    else:
        track = circle(radius, 0.0, abs(bend) * _TURN, _STEP) * (
            1.0,
            math.copysign(1.0, bend),
            1.0,
        )
    ahead = track[-1] - track[-2]
    ahead *= 0.25 * radius / np.linalg.norm(ahead)
    aside = np.cross(ahead, [1.0, 0.0, 0.0] if axis.sliding else [0.0, 0.0, 1.0])
    head = [[track[-1], track[-1] - ahead + way * aside] for way in (0.6, -0.6)]
    colour = VIOLET if not known else RED if abs(share) > 1.0 else GREEN
    colour = ORANGE if known and _WARNING < abs(share) <= 1.0 else colour
    label = f"{torque:.3g} {'N' if axis.sliding else 'N m'}"
    label += f", {100.0 * abs(share):.0f} %" if known else ""
    at = (axis.in_parent @ [*(1.35 * track[len(track) // 2]), 1.0])[:3]
    return [
        curve(axis.parent, track, 0.008 * size, colour, axis.in_parent),
        lines(axis.parent, head, 0.008 * size, colour, axis.in_parent),
        text_mark(axis.parent, at, label, 0.028 * size, colour),
    ]


def manipulability_ellipsoid(inputs: MarkerInputs) -> list[Mark]:
    """Draw the tip's velocities at joint speeds of norm 1, labelled with the manipulability."""
    if not inputs.known:
        return []
    J = inputs.chain.jacobian(inputs.q)
    mark = _ellipsoid(inputs, METRES_PER_REACH * J[:3], faint(VIOLET, 0.35))
    label = f"manipulability {measures(J)[0]:.3g}"
    below = mark.pose[:3, 3] - [0.0, 0.0, 0.06 * inputs.size]
    return [mark, text_mark(mark.frame, below, label, 0.03 * inputs.size, VIOLET)]


def velocity_ellipsoid(inputs: MarkerInputs) -> list[Mark]:
    """Draw the tip's velocities at joint speeds of norm 1, as shares of the speed limits."""
    limits = inputs.chain.velocity
    if not inputs.known or not np.isfinite(limits).all():
        return []
    J = inputs.chain.jacobian(inputs.q)[:3] * limits
    return [_ellipsoid(inputs, METRES_PER_SPEED * J, faint(GREEN, 0.3))]


def _ellipsoid(inputs: MarkerInputs, J: Array, colour: Colour) -> Mark:
    """Draw the image of the unit ball under J (3, n) [m] about the tip."""
    U, values, _ = np.linalg.svd(J)
    lengths = np.zeros(3)
    lengths[: len(values)] = values
    if np.linalg.det(U) < 0.0:
        U[:, 2] = -U[:, 2]
    x, y, z = (2.0 * np.maximum(lengths, _MIN_THICKNESS * inputs.size)).tolist()
    axes = pose(U, inputs.chain.fk(inputs.q)[:3, 3])
    return Mark(Kind.SPHERE, inputs.chain.base, axes, (x, y, z), colour)


def target(inputs: MarkerInputs) -> list[Mark]:
    """Draw the requested pose, the reached pose, and the residual between them."""
    attempt = inputs.attempt
    if attempt is None:
        return []
    size, frame = inputs.size, attempt.chain.base
    position, reached = attempt.target[:3, 3], attempt.reached[:3, 3]
    result = attempt.result
    colour = GREEN if result.status == IkStatus.SUCCESS else RED
    marks = [
        triad(frame, attempt.target, 0.08 * size, 0.005 * size, 0.9),
        triad(frame, attempt.reached, 0.05 * size, 0.003 * size, 0.7),
        ball(frame, position, 0.02 * size, faint(colour, 0.6)),
    ]
    if np.linalg.norm(position - reached) > 1e-4 * size:
        marks.append(lines(frame, [position, reached], 0.006 * size, colour))
    above = position + np.array([0.0, 0.0, 0.05 * size])
    # RViz's font has no sign for degrees.
    degrees = SHOWN.number(result.orientation_error, "revolute", 3, 3)
    label = f"{SHOWN.text(result.position_error, 'prismatic', 3)}, {degrees} deg"
    return [*marks, text_mark(frame, above, label, 0.032 * size, colour)]


def text(inputs: MarkerInputs) -> list[Mark]:
    """Draw each joint's position beside it, and the tip's coordinates."""
    if not inputs.known:
        return []
    size, chain = inputs.size, inputs.chain
    marks = []
    for axis in inputs.axes:
        place = axis.in_child[:3, 3] + 0.06 * size * axis.in_child[:3, 2]
        value = inputs.positions[axis.name]
        label = SHOWN.fixed(value, "prismatic" if axis.sliding else "revolute")
        marks.append(text_mark(axis.child, place, f"{axis.name} {label}", 0.03 * size))
    tip = f"{millimetres(chain.fk(inputs.q)[:3, 3])} mm"
    place = np.array([0.0, 0.0, 0.06 * size])
    return _apart(inputs, [*marks, text_mark(chain.tip, place, tip, 0.03 * size)])


def trace(inputs: MarkerInputs) -> list[Mark]:
    """Draw the tip's path of the last seconds, from faint blue to bright orange."""
    segments = [segment for segment in inputs.trace.segments if len(segment.points) > 1]
    oldest = len(segments) - 1
    return [_segment(inputs, segment, oldest - i) for i, segment in enumerate(segments)]


def _segment(inputs: MarkerInputs, segment: TraceSegment, age: int) -> Mark:
    """Draw a segment of the trace, coloured by its age in segments."""
    span = inputs.trace.length / SEGMENTS
    since = ((np.array(segment.times) - segment.begun) / span).clip(0.0, 1.0)
    share = (1.0 - (age + 1.0 - since) / SEGMENTS)[:, None].clip(0.0, 1.0)
    old, new = np.array([0.20, 0.45, 0.95, 0.25]), np.array([0.98, 0.55, 0.08, 1.0])
    colours = old + share * (new - old)
    width = (0.006 * inputs.size, 0.0, 0.0)
    return Mark(
        Kind.CURVE, inputs.robot.base, np.eye(4), width, INK, np.array(segment.points), colours
    )


def centres_of_mass(inputs: MarkerInputs) -> list[Mark]:
    """Draw the centres of mass of the links, sized by mass, and of the arm, with a plumb line."""
    heavy = [inertial for inertial in inputs.inertials if inertial.mass > 0.0]
    total = sum(body.mass for body in heavy)
    if not heavy or not all(j in inputs.positions for j in inputs.robot.joint_names):
        return []
    size, base = inputs.size, inputs.robot.base
    marks, centre = [], np.zeros(3)
    for body in heavy:
        share = body.mass / total
        T = inputs.robot.link_pose(body.link, inputs.positions)
        centre += share * (T[:3, :3] @ body.centre + T[:3, 3])
        marks.append(ball(body.link, body.centre, 0.07 * size * share ** (1 / 3), faint(INK, 0.8)))
    marks.append(ball(base, centre, 0.06 * size, RED))
    plumb = np.array([centre, centre * (1.0, 1.0, 0.0)])
    return [*marks, lines(base, plumb, 0.003 * size, faint(RED, 0.7))]


def former_postures(inputs: MarkerInputs) -> list[Mark]:
    """Draw the robot as it was every half second while it moved, the older the fainter."""
    postures = list(inputs.former.postures)
    return [
        mark
        for i, joints in enumerate(postures)
        for mark in _ghost(inputs, joints, faint(BLUE, 0.3 * (i + 1) / len(postures)))
    ]


def goal(inputs: MarkerInputs) -> list[Mark]:
    """Draw the robot at its goal until it arrives."""
    if inputs.at_goal:
        return []
    return _ghost(inputs, inputs.goal, faint(BLUE, 0.28))


def branches(inputs: MarkerInputs) -> list[Mark]:
    """Draw the other solutions of the last request, if it asked for several."""
    if inputs.attempt is None or inputs.attempt.result.status != IkStatus.SUCCESS:
        return []
    names = inputs.attempt.chain.joint_names
    return [
        mark
        for q in inputs.attempt.result.every_q[1 : 1 + _MAX_BRANCHES]
        for mark in _ghost(inputs, dict(zip(names, q, strict=True)), faint(VIOLET, 0.16))
    ]


def _ghost(inputs: MarkerInputs, joints: Mapping[str, float], colour: Colour) -> list[Mark]:
    """Draw the robot with other joint positions, without its fixed links."""
    positions = {**inputs.positions, **joints}
    marks: list[Mark] = []
    for link, solids in groupby(inputs.visuals, lambda visual: visual.link):
        with suppress(KinematicsError):
            if inputs.robot.moves(link):
                T = inputs.robot.link_pose(link, positions)
                marks += [_mark(inputs.robot.base, T, solid, colour) for solid in solids]
    return marks


def _mark(frame: str, T: Array, solid: UrdfShape, colour: Colour) -> Mark:
    kind, size = Kind[solid.kind.upper()], solid.size
    if kind is Kind.CYLINDER:
        size = (2.0 * size[0], 2.0 * size[0], size[1])
    elif kind is Kind.SPHERE:
        size = (2.0 * size[0],) * 3
    x, y, z = size
    return Mark(kind, frame, T @ solid.origin.matrix, (x, y, z), colour, text=solid.uri)
