# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arms with parallelograms: their bars closed by a solver, and a straight line through pulses."""

import math

import numpy as np
import pytest
from arm_description.model.transmissions.transmission import Drivetrain
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.selection import config_folder

from arm_description import load_robot

# Height of the shoulder above and its place ahead of the base, upper arm, forearm, hand, and crank
# of the forearm [m]; kinematic_model.py of easyEEZYbotARM (L2A), and the sources of mearm.yaml.
BARS = {
    "eezybotarm_mk1": (0.061, 0.0, 0.080, 0.080, 0.057, 0.035),
    "eezybotarm_mk2": (0.092, 0.0, 0.135, 0.147, 0.087, 0.060),
    "mearm": (0.055, 0.012, 0.080, 0.080, 0.056, 0.035),
}
# Levers of the parallelograms that keep the hand level [m]; any lengths do, far from dead points.
BACK, UP = np.array([-0.0282, 0.0103]), np.array([0.0172, 0.0246])


def unit(angle):
    return np.array([math.cos(angle), math.sin(angle)])


def turned(angle, v):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])


class Linkage:
    """The bars in the arm's plane: wrist and two tilts that close the loops for two servos."""

    def __init__(self, name):
        self.height, self.ahead, self.upper, self.fore, self.hand, self.crank = BARS[name]

    def gaps(self, x, upper_servo, fore_servo):
        wrist, (triangle, hand) = x[:2], x[2:]
        elbow = self.upper * unit(upper_servo)
        crank = self.crank * unit(fore_servo + math.pi)
        rocker = elbow - self.crank / self.fore * (wrist - elbow)
        back = elbow + turned(triangle, BACK) - BACK
        top = wrist + turned(hand, UP) - elbow - turned(triangle, UP)
        return [
            np.linalg.norm(wrist - elbow) - self.fore,
            np.linalg.norm(rocker - crank) - self.upper,
            np.linalg.norm(back) - self.upper,
            np.linalg.norm(top) - self.fore,
        ]

    def closed(self, x, servos, step=1e-6):
        """Return x where the bars meet, by Newton's method from nearby."""
        for _ in range(4):
            ends = [[self.gaps(x + s * d, *servos) for s in (-1, 1)] for d in step * np.eye(4)]
            columns = [np.subtract(after, before) / (2 * step) for before, after in ends]
            x = x - np.linalg.solve(np.array(columns).T, self.gaps(x, *servos))
        return x

    def tool(self, servos, start):
        """Return (distance ahead, height) [m] of the tool after servos moved from start [rad]."""
        first = self.upper * unit(start[0]) + self.fore * unit(start[1])
        x = np.array([*first, 0.0, 0.0])
        degrees = np.degrees(np.abs(np.subtract(servos, start)).max())
        for share in np.linspace(0.0, 1.0, 2 + int(degrees / 2)):
            now = (1 - share) * np.array(start) + share * np.array(servos)
            x = self.closed(x, now)
        assert np.abs(self.gaps(x, *servos)).max() < 1e-12
        out = x[:2] + self.hand * unit(x[3])
        return np.array([self.ahead + out[0], self.height + out[1]])


@pytest.mark.parametrize("name", BARS)
def test_bars_closed_by_a_solver_put_the_tool_where_the_transmission_does(name):
    model = load_robot(name)
    train, linkage = Drivetrain.of(model), Linkage(name)
    rest = np.array([model.postures["rest"][joint] for joint in model.joint_names])
    servos = train.actuators.index("shoulder"), train.actuators.index("elbow")
    start = train.to_actuators(rest)[list(servos)]
    rng, checked = np.random.default_rng(0), 0
    for q in rng.uniform(model.lower, model.upper, (30, model.n)):
        if any(c.violation(at(model, c, q)) > 0.0 for c in model.constraints):
            continue
        checked += 1
        a = train.to_actuators(q)
        T = model.fk(train.to_joints(a))
        expected = linkage.tool(a[list(servos)], start)
        assert [math.hypot(*T[:2, 3]), T[2, 3]] == pytest.approx(expected, abs=1e-6)
    assert checked >= 5


def at(model, constraint, q):
    return np.array([q[model.joint_names.index(joint)] for joint in constraint.joints])


def vertical_line(radius, heights):
    """Return joint positions of the EEZYbotARM Mk2 with its tool on a vertical line [m]."""
    line = []
    for z in heights:
        r, up = radius - 0.087, z - 0.092
        side = math.hypot(r, up)
        q3 = -(math.pi - math.acos((0.135**2 + 0.147**2 - side**2) / (2 * 0.135 * 0.147)))
        opposite = math.acos((side**2 + 0.135**2 - 0.147**2) / (2 * side * 0.135))
        line.append([0.2, math.atan2(up, r) + opposite, q3])
    return np.array(line)


def test_vertical_line_of_the_eezybotarm_stays_straight_to_a_count():
    model = load_robot("eezybotarm_mk2")
    train = Drivetrain.of(model)
    calibration = load_calibration(config_folder() / "eezybotarm_mk2_servos.yaml")
    maps = [
        calibration.servos[n].map(calibration.board.setpoint_per_count) for n in train.actuators
    ]
    half = [
        0.5 * m.setpoint_per_count * abs(np.diff(m.positions)[0] / np.diff(m.setpoints)[0])
        for m in maps
    ]
    radius = 0.24
    for q in vertical_line(radius, np.linspace(0.10, 0.22, 60)):
        counts = [m.count_of(a) for m, a in zip(maps, train.to_actuators(q), strict=True)]
        sent = np.array([m.position_of(c) for m, c in zip(maps, counts, strict=True)])
        back = train.to_joints(sent)
        again = train.to_actuators(back)
        assert [m.count_of(a) for m, a in zip(maps, again, strict=True)] == counts
        T, ideal = model.fk(back), model.fk(q)
        inverse = np.abs(np.linalg.inv(train.jacobian(q)))
        allowed = tool_moves(model, q) @ inverse @ half
        assert (np.abs(T[:3, 3] - ideal[:3, 3]) <= allowed + 1e-6).all()
        assert abs(math.hypot(*ideal[:2, 3]) - radius) < 1e-12


@pytest.mark.parametrize("name", [*BARS, "braccio", "learm"])
def test_counts_of_the_joints_of_counts_are_the_same(name):
    model, rng = load_robot(name), np.random.default_rng(1)
    train = Drivetrain.of(model)
    calibration = load_calibration(config_folder() / f"{name}_servos.yaml")
    maps = [
        calibration.servos[n].map(calibration.board.setpoint_per_count) for n in train.actuators
    ]
    for _ in range(300):
        counts = [int(rng.integers(m.counts[0], m.counts[1] + 1)) for m in maps]
        servos = np.array([m.position_of(c) for m, c in zip(maps, counts, strict=True)])
        again = train.to_actuators(train.to_joints(servos))
        assert [m.count_of(a) for m, a in zip(maps, again, strict=True)] == counts


def tool_moves(model, q, step=1e-6):
    """Return how far each joint moves the tool, (3, n) [m/rad], without signs."""
    columns = []
    for turn in step * np.eye(model.n):
        ends = [model.fk(q + sign * turn)[:3, 3] for sign in (-1, 1)]
        columns.append(np.abs(ends[1] - ends[0]) / (2 * step))
    return np.array(columns).T
