# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import math

import numpy as np
import pytest
from arm_description.model.elements import ActuatorLimits
from arm_description.model.transmissions.curved import (
    CrankTransmission,
    LinkageLengths,
    TableTransmission,
)
from arm_description.model.transmissions.transmission import (
    UNLIMITED,
    DifferentialTransmission,
    Drivetrain,
    FourBarLinkageTransmission,
    ParallelogramTransmission,
    SeveralActuatorsTransmission,
    SimpleTransmission,
)

from arm_description import DescriptionError

COUNT = math.radians(0.05)  # an order finer than a count of a hobby servo
JOINTS = ("waist", "shoulder", "elbow", "pitch", "roll", "tip")


def random_ratio(rng):
    return float(rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 4.0))


def random_crank(rng, against=()):
    """A linkage at random lengths that closes on a range of at least 0.3 rad, and that range."""
    while True:
        lengths = LinkageLengths(*rng.uniform(0.02, 0.15, 4))
        middle = float(rng.uniform(-3.0, 3.0))
        crank = CrankTransmission(
            ("elbow",),
            ("elbow",),
            lengths,
            span=(middle - 0.3, middle + 0.3),
            branch=str(rng.choice(["open", "crossed"])),
            crank_angle=float(rng.uniform(-3.0, 3.0)),
            rocker_angle=float(rng.uniform(-3.0, 3.0)),
            depends_on=against,
            ratio=random_ratio(rng),
        )
        if crank.closing_range() == crank.span:
            return crank, crank.span


def random_table(rng):
    x = np.cumsum(rng.uniform(0.1, 0.5, 8)) - 1.2
    y = float(rng.choice([-1.0, 1.0])) * np.cumsum(rng.uniform(0.05, 0.9, 8))
    return TableTransmission(("tip",), ("tip",), tuple(zip(x.tolist(), y.tolist(), strict=True)))


def random_kinds(rng):
    """One transmission of each kind at random, with the ranges of its inputs."""
    full = (-1.4, 1.4)
    crank, span = random_crank(rng)
    carried, other_span = random_crank(rng, ("shoulder",))
    table = random_table(rng)
    pairs = [tuple(random_ratio(rng) for _ in range(2)) for _ in range(3)]
    return {
        "simple": (SimpleTransmission(("waist",), ("waist",), random_ratio(rng), 0.3), [full]),
        "parallelogram": (
            ParallelogramTransmission(
                ("elbow",),
                ("elbow",),
                pairs[0],
                random_ratio(rng),
                -0.2,
                depends_on=("shoulder", "waist"),
            ),
            [full] * 3,
        ),
        "differential": (
            DifferentialTransmission(("pitch", "roll"), ("left", "right"), *pairs),
            [full] * 2,
        ),
        "four_bar_linkage": (
            FourBarLinkageTransmission(("pitch", "roll"), ("left", "right"), *pairs),
            [full] * 2,
        ),
        "several": (
            SeveralActuatorsTransmission(
                ("shoulder",), ("a", "b", "c"), (False, True, True), 0.05, random_ratio(rng), 0.1
            ),
            [full],
        ),
        "crank": (crank, [span]),
        "carried crank": (carried, [other_span, full]),
        "table": (table, [(table.points[0][0] - 0.2, table.points[-1][0] + 0.2)]),
    }


@pytest.fixture(params=range(20))
def rng(request):
    return np.random.default_rng(request.param)


def samples(rng, ranges, number=50):
    low, high = np.array(ranges).T
    return rng.uniform(low, high, (number, len(ranges)))


def test_servo_of_joint_of_servo_is_the_identity_for_every_kind(rng):
    for kind, (transmission, ranges) in random_kinds(rng).items():
        q = samples(rng, ranges)
        j = len(transmission.joints)
        a = transmission.to_actuators(q)
        back = transmission.to_joints(a, q[:, j:])
        assert np.abs(back - q[:, :j]).max() < 1e-7, kind
        again = transmission.to_actuators(np.hstack([back, q[:, j:]]))
        assert np.abs(again - a).max() < COUNT, kind


def test_jacobian_equals_differences_for_every_kind(rng):
    step = 1e-6
    for kind, (transmission, ranges) in random_kinds(rng).items():
        q = samples(rng, [(low + 1e-3, high - 1e-3) for low, high in ranges])
        found = transmission.jacobian(q)
        for i in range(q.shape[1]):
            shift = step * np.eye(q.shape[1])[i]
            rate = (
                transmission.to_actuators(q + shift) - transmission.to_actuators(q - shift)
            ) / (2.0 * step)
            scale = 1.0 + np.abs(rate)
            assert (np.abs(found[..., i] - rate) / scale).max() < 1e-4, kind


def test_single_posture_is_a_row_of_many(rng):
    for kind, (transmission, ranges) in random_kinds(rng).items():
        q = samples(rng, ranges, 3)
        many = transmission.to_actuators(q)
        for row, a in zip(q, many, strict=True):
            assert transmission.to_actuators(row) == pytest.approx(a, abs=1e-12), kind
            j = len(transmission.joints)
            assert transmission.to_joints(a, row[j:]) == pytest.approx(row[:j], abs=1e-7), kind


def test_crank_agrees_with_the_closed_loop_solved_numerically(rng):
    crank, (low, high) = random_crank(rng)
    bars = crank.lengths
    phi = None
    for q in np.linspace(low, high, 40):
        psi = q + crank.rocker_angle
        pin = np.array([bars.ground + bars.rocker * math.cos(psi), bars.rocker * math.sin(psi)])
        if (
            phi is None
        ):  # the assembly is chosen once, then the loop is followed by Newton's method
            phi = float(crank.to_actuators(np.array([q]))[0]) + crank.crank_angle
        for _ in range(30):
            tip = bars.crank * np.array([math.cos(phi), math.sin(phi)])
            gap = np.sum((tip - pin) ** 2) - bars.rod**2
            slope = 2.0 * (tip - pin) @ (bars.crank * np.array([-math.sin(phi), math.cos(phi)]))
            phi -= gap / slope
        found = float(crank.to_actuators(np.array([q]))[0]) + crank.crank_angle
        assert found == pytest.approx(phi, abs=1e-9)


def test_crank_with_the_lengths_of_a_parallelogram_is_one():
    bars = LinkageLengths(0.135, 0.04, 0.135, 0.04)
    crank = CrankTransmission(
        ("elbow",),
        ("elbow",),
        bars,
        span=(-2.5, -0.3),
        rocker_angle=math.pi,
        crank_angle=math.pi,
        depends_on=("shoulder",),
    )
    parallel = ParallelogramTransmission(("elbow",), ("elbow",), (1.0,), depends_on=("shoulder",))
    q = np.array([[-2.2, 0.3], [-1.0, 1.2], [-0.4, -0.3]])
    assert crank.to_actuators(q) == pytest.approx(parallel.to_actuators(q), abs=1e-12)


def test_linkage_that_cannot_close_has_no_range():
    crank = CrankTransmission(
        ("elbow",), ("elbow",), LinkageLengths(0.2, 0.02, 0.03, 0.02), (0.0, 2.0)
    )
    assert crank.closing_range() is None


def test_formulas_are_those_of_ros2_control():
    q = np.array([0.7, -0.4])
    n_a, n_j, off = (2.0, -3.0), (1.5, 0.5), (0.1, -0.2)
    x1, x2 = q - off
    differential = DifferentialTransmission(("p", "r"), ("a", "b"), n_a, n_j, off)
    assert differential.to_actuators(q) == pytest.approx(
        [n_a[0] * (n_j[0] * x1 + n_j[1] * x2), n_a[1] * (n_j[0] * x1 - n_j[1] * x2)]
    )
    linkage = FourBarLinkageTransmission(("p", "r"), ("a", "b"), n_a, n_j, off)
    assert linkage.to_actuators(q) == pytest.approx(
        [n_j[0] * n_a[0] * x1, n_a[1] * (x1 + n_j[1] * x2)]
    )
    simple = SimpleTransmission(("p",), ("a",), 2.05, 0.1)
    assert simple.to_actuators(q[:1]) == pytest.approx([2.05 * x1])


def arm(rng):
    kinds = random_kinds(rng)
    names = ("simple", "several", "carried crank", "differential", "table")
    ranges = dict.fromkeys(JOINTS, (-1.0, 1.0))
    ranges["elbow"], ranges["tip"] = kinds["carried crank"][1][0], kinds["table"][1][0]
    return Drivetrain(JOINTS, [kinds[name][0] for name in names]), [ranges[j] for j in JOINTS]


def test_all_transmissions_of_an_arm_compose(rng):
    drive, ranges = arm(rng)
    assert drive.actuators == ("waist", "a", "b", "c", "elbow", "left", "right", "tip")
    q = samples(rng, ranges)
    a = drive.to_actuators(q)
    assert np.abs(drive.to_joints(a) - q).max() < 1e-7
    step, J = 1e-6, drive.jacobian(q)
    for i in range(len(JOINTS)):
        shift = step * np.eye(len(JOINTS))[i]
        rate = (drive.to_actuators(q + shift) - drive.to_actuators(q - shift)) / (2.0 * step)
        inside = np.abs(rate) < 1e3
        assert np.abs(J[..., i] - rate)[inside].max() < 1e-3


def test_joints_without_a_transmission_are_their_own_actuators():
    drive = Drivetrain(JOINTS, ())
    assert drive.is_identity and drive.actuators == JOINTS
    q = np.arange(6.0)
    assert (drive.to_actuators(q) == q).all() and (drive.to_joints(q) == q).all()
    assert not Drivetrain(JOINTS, [SimpleTransmission(("tip",), ("tip",), 2.0)]).is_identity


def test_unknown_actuator_makes_only_its_joints_unknown():
    drive = Drivetrain(
        ("shoulder", "elbow", "wrist"),
        [ParallelogramTransmission(("elbow",), ("elbow",), (1.0,), depends_on=("shoulder",))],
    )
    q = drive.to_joints(np.array([np.nan, 0.5, 0.1]))
    assert np.isnan(q).tolist() == [True, True, False]
    q = drive.to_joints(np.array([0.2, np.nan, 0.1]))
    assert np.isnan(q).tolist() == [False, True, False]


def test_circle_of_joints_is_refused():
    circle = [
        SimpleTransmission(("waist",), ("waist",)),
        ParallelogramTransmission(("elbow",), ("elbow",), (1.0,), depends_on=("tip",)),
        ParallelogramTransmission(("tip",), ("tip",), (1.0,), depends_on=("elbow",)),
    ]
    with pytest.raises(DescriptionError, match="elbow and tip depend on each other") as found:
        Drivetrain(JOINTS, circle)
    assert found.value.key == "1"


def test_several_actuators_that_disagree_are_found():
    shared = SeveralActuatorsTransmission(
        ("shoulder",), ("l", "r"), (False, True), math.radians(3)
    )
    drive = Drivetrain(("waist", "shoulder"), [shared])
    q = np.array([0.2, 0.5])
    a = drive.to_actuators(q)
    assert a.tolist() == [0.2, 0.5, -0.5]
    assert drive.differences(a) == [(shared, 0.0)]
    ((found, amount),) = drive.differences(a + np.array([0.0, 0.0, math.radians(4)]))
    assert found is shared and amount == pytest.approx(math.radians(4))
    assert drive.groups() == [(0,), (1, 2)]


def test_travel_of_an_actuator_is_a_constraint_of_its_joint(rng):
    for kind in ("parallelogram", "differential", "four_bar_linkage", "carried crank"):
        transmission, ranges = random_kinds(rng)[kind]
        names = transmission.inputs
        q = samples(rng, ranges, 200)
        a = transmission.to_actuators(q)
        low, high = np.quantile(a, [0.25, 0.75], axis=0)
        own_limits = dict(zip(transmission.actuators, zip(low, high, strict=True), strict=True))
        drive = Drivetrain(names, [transmission])
        limits = [
            ActuatorLimits(*own_limits[name]) if of is transmission else ActuatorLimits(-2.0, 2.0)
            for name, (of, _) in drive.drives().items()
        ]
        pairs = [
            (
                name,
                drive.constraints(
                    limits=[limit if n == name else UNLIMITED for n in drive.actuators]
                ),
            )
            for name, limit in zip(drive.actuators, limits, strict=True)
        ]
        found = drive.constraints(limits)
        assert found == tuple(one for _, some in pairs for one in some)
        assert found and all(len(constraint.joints) > 1 for constraint in found)
        for constraint, name in ((one, name) for name, some in pairs for one in some):
            i = transmission.actuators.index(name)
            inside = (low[i] <= a[:, i]) & (a[:, i] <= high[i])
            amount = constraint.violation(q[:, [names.index(n) for n in constraint.joints]])
            clear = np.abs(amount) > 1e-9
            assert ((amount <= 0.0) == inside)[clear].all(), kind
            row = dict(zip(names, q[0].tolist(), strict=True))
            for bound in constraint.bounds(row):
                own = ranges[names.index(constraint.joint)]
                if own[0] < bound < own[1]:
                    at = np.array([bound if n == constraint.joint else row[n] for n in names])
                    reached = transmission.to_actuators(at)[i]
                    assert min(abs(reached - low[i]), abs(reached - high[i])) < 1e-9
