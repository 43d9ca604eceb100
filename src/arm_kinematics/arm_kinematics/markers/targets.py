# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Markers of the last IK request, goal ghosts, texts, the trace, and centres of mass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from itertools import groupby

import numpy as np
from arm_common.errors import number_text
from arm_common.transforms import Array
from arm_description.urdf.elements import UrdfShape

from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkStatus
from arm_kinematics.markers.mark import (
    BLUE,
    GREEN,
    INK,
    RED,
    VIOLET,
    Colour,
    Kind,
    Mark,
    ball,
    faint,
    lines,
    text_mark,
    triad,
)
from arm_kinematics.markers.state import SEGMENTS, MarkerInputs, TraceSegment


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
    millimetres, degrees = 1e3 * result.position_error, math.degrees(result.orientation_error)
    label = f"{number_text(millimetres, 3, 3)} mm, {number_text(degrees, 3, 3)}°"
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
        label = f"{1e3 * value:.1f} mm" if axis.sliding else f"{math.degrees(value):.1f}°"
        marks.append(text_mark(axis.child, place, f"{axis.name} {label}", 0.03 * size))
    x, y, z = 1e3 * chain.fk(inputs.q)[:3, 3] + 0.0
    place = np.array([0.0, 0.0, 0.06 * size])
    marks.append(text_mark(chain.tip, place, f"{x:.1f}, {y:.1f}, {z:.1f} mm", 0.03 * size))
    return marks


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


_MAX_BRANCHES = 8


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
