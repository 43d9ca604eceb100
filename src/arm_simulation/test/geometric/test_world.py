# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The simulated nut in every situation that a task or an accident can cause."""

import math
from dataclasses import replace

import numpy as np
import pytest
from arm_common.transforms import is_rigid, pose, shift_z, so3_exp, tilt_z, turn_z, twist_z, wrap
from arm_simulation.geometric.world import NutWorld
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.nut_state import NutStatus
from arm_tasks.scene.screw_thread import ScrewThread
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_simulation import SimulationError

UPPER, LOWER = "upper_bolt", "lower_bolt"
M3 = ScrewThread.of(3e-3, 0.5e-3)
CENTRE = 0.00278  # the nut's centre at the start, past the upper bolt's end [m]
SCENE = load_scene("nut_transfer")
FULL = SCENE.require_nut().thickness / SCENE.bolt(UPPER).pitch  # turns of thread in the nut


def take(hand, roll_deg=90.0):
    hand.go(hand.at(UPPER, -0.02, roll_deg))
    hand.go(hand.at(UPPER, CENTRE, roll_deg))
    return hand.grip()


def ratchet(hand, bolt, z, start_deg, turn_deg):
    """Turn the nut in nine strokes of half a turn, regrasping at the initial roll."""
    for stroke in range(9):
        hand.screw(bolt, z, start_deg, turn_deg)
        z += math.copysign(1.27e-3 / 2, turn_deg)
        if stroke < 8:
            hand.open()
            hand.go(hand.at(bolt, z, 0.0))
            hand.go(hand.at(bolt, z, start_deg))
            hand.grip()


def take_off(hand):
    """Unscrew the nut in half turns until it comes free; hold it in front of the bolt."""
    take(hand)
    ratchet(hand, UPPER, CENTRE, 90.0, -180.0)
    assert hand.nut.status == NutStatus.HELD
    return hand.go(hand.at(UPPER, -0.03, -90.0))


@pytest.fixture
def held(hand):
    take_off(hand)
    return hand


def in_bolt(hand, bolt=LOWER):
    return np.linalg.inv(hand.world.scene.bolt(bolt).pose) @ hand.nut.pose


def turn_at_tip(hand, press, *rolls, **place):
    """Turn the tool on the lower bolt to some rolls [deg], less than half a turn apart."""
    for roll in rolls:
        hand.go(hand.at(LOWER, -CENTRE + press, roll, **place))
    return hand.nut


def carry_to_lower(hand, press=0.0003, **place):
    hand.go(hand.at(LOWER, -0.02, -90.0, **place))
    return hand.go(hand.at(LOWER, -CENTRE + press, -90.0, **place))


def test_untouched_nut_stays_where_it_is(hand):
    start = hand.nut
    assert (start.status, start.bolt) == (NutStatus.ON_BOLT, UPPER)
    assert start.turns_engaged == pytest.approx(FULL, abs=1e-3)
    hand.grip()
    assert hand.nut.message == "the jaws closed on nothing"
    hand.go(hand.at(LOWER, -0.05))
    assert np.array_equal(hand.nut.pose, start.pose)


def test_nut_released_on_its_thread_stays(hand):
    assert take(hand).status == NutStatus.ON_BOLT_HELD
    assert hand.nut.grasped
    after = hand.open()
    assert (after.status, after.grasped) == (NutStatus.ON_BOLT, False)
    assert after.message == "left on upper_bolt, 4.38 turns engaged"


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ({"z": CENTRE - 0.0062, "roll_deg": 90}, "6.2 mm along the tool"),
        ({"z": CENTRE, "roll_deg": 90, "off": 0.004}, "4.0 mm beside the pads' middle"),
        ({"z": CENTRE, "roll_deg": 30, "off": 0.0045}, "beside the jaws' middle"),
        ({"z": CENTRE, "roll_deg": 90, "tilt_deg": 14}, "tilted by 14.0 deg"),
        ({"z": CENTRE, "roll_deg": 66}, "flats are 24.0 deg off the jaws"),
        ({"z": CENTRE, "roll_deg": 30, "off": 0.00115, "width": 0.0125}, "at most 0.7 is"),
    ],
)
def test_missed_grip_gives_the_reason_and_leaves_the_nut(hand, place, reason):
    before = hand.nut.pose
    place = {"width": 0.02, **place}
    hand.set_width(place.pop("width"))
    hand.go(hand.at(UPPER, **place))
    after = hand.grip()
    assert after.status == NutStatus.ON_BOLT
    assert reason in after.message
    assert np.array_equal(after.pose, before)


def test_nut_settles_between_slightly_misaligned_jaws(hand):
    before = hand.nut.turns_engaged
    after = take(hand, roll_deg=80.0)
    assert after.status == NutStatus.ON_BOLT_HELD
    assert after.turns_engaged - before == pytest.approx(-10 / 360, abs=1e-4)


@pytest.mark.parametrize("k", range(6))
def test_nut_can_be_gripped_at_six_rolls(hand, k):
    assert take(hand, roll_deg=90.0 + 60.0 * k).grasped


@pytest.mark.parametrize(
    ("place", "word"),
    [
        ({"z": CENTRE - 0.0095}, ""),
        ({"z": CENTRE - 0.0105}, "slipped out of the jaws"),
        ({"off": 0.005}, "to the side"),
        ({"tilt_deg": 25.0}, "tilted"),
    ],
)
def test_grip_slips_if_the_tool_pulls_or_tilts(hand, place, word):
    take(hand)
    after = hand.go(hand.at(UPPER, **{"z": CENTRE, "roll_deg": 90.0, **place}))
    assert (after.status == NutStatus.ON_BOLT, after.grasped) == (bool(word), not word)
    assert word in after.message and after.turns_engaged == pytest.approx(FULL, abs=1e-3)


def test_jaws_slip_round_at_the_end_of_the_thread(scene, make_hand):
    nut = replace(scene.require_nut(), turns=19.8)
    hand = make_hand(replace(scene, nut=nut))
    z = 19.8 * 1.27e-3 - CENTRE
    start = scene.bolt(UPPER).roll(19.8)
    roll = 90.0 + math.degrees(start)
    hand.go(hand.at(UPPER, z, roll))
    hand.grip()
    after = hand.screw(UPPER, z, roll, 180.0)
    assert "tight at the end" in after.message
    assert in_bolt(hand, UPPER)[2, 3] + CENTRE == pytest.approx(0.0254, abs=1e-9)


def test_unscrewed_nut_moves_with_the_jaws(hand):
    held = take_off(hand)
    assert held.bolt == "" and held.turns_engaged == 0.0
    before = np.linalg.inv(hand.T) @ held.pose
    hand.go(pose(p=(0.15, 0.0, 0.25)))
    assert np.allclose(np.linalg.inv(hand.T) @ hand.nut.pose, before, atol=1e-12)


def test_nut_released_in_the_air_falls(held):
    x, y = held.nut.pose[:2, 3]
    fallen = held.open()
    assert fallen.status == NutStatus.FALLEN
    assert fallen.pose[:3, 3] == pytest.approx([x, y, 0.00278])
    assert tilt_z(fallen.pose[:3, :3]) == pytest.approx(0.0)
    assert "fell to the floor" in fallen.message
    held.go(held.at(LOWER, -0.05))
    assert np.array_equal(held.nut.pose, fallen.pose)


def test_fallen_nut_can_be_picked_up(held):
    lying = held.open().pose
    down = so3_exp(np.array([math.pi, 0.0, 0.0]))
    held.go(pose(lying[:3, :3] @ down, tuple(lying[:3, 3] + [0, 0, 0.03])))
    held.go(pose(lying[:3, :3] @ down, tuple(lying[:3, 3])))
    assert held.grip().status == NutStatus.HELD or "flats" in held.nut.message


@pytest.mark.parametrize("updates", [4, 20, 100])
def test_nut_catches_the_lower_thread_and_screws_on(scene, make_hand, updates):
    hand = make_hand(scene, updates)
    take_off(hand)
    assert carry_to_lower(hand).message == "touches the end of lower_bolt"
    ratchet(hand, LOWER, -CENTRE + 0.0003, -90.0, 180.0)
    after = hand.open()
    assert (after.status, after.bolt) == (NutStatus.ON_BOLT, LOWER)
    assert 4.0 < after.turns_engaged <= FULL


def test_nut_turned_the_wrong_way_never_catches(held):
    carry_to_lower(held)
    for _ in range(3):
        assert held.screw(LOWER, -CENTRE + 0.0003, -90.0, -350.0).status == NutStatus.HELD
    assert held.open().status == NutStatus.FALLEN


@pytest.mark.parametrize("start_deg", [75.0, 200.0, -80.0])
def test_nut_catches_only_past_the_start_of_the_thread(scene_with, make_hand, start_deg):
    hand = make_hand(scene_with(LOWER, start=math.radians(start_deg)))
    take_off(hand)
    carry_to_lower(hand)
    bolt_nut = in_bolt(hand)
    to_go = (start_deg - math.degrees(math.atan2(bolt_nut[1, 0], bolt_nut[0, 0]))) % 360.0
    z = -CENTRE + 0.0003
    assert hand.screw(LOWER, z, -90.0, to_go - 1.0).status == NutStatus.HELD
    z += 1.27e-3 * (to_go - 1.0) / 360.0
    after = hand.screw(LOWER, z, -91.0 + to_go, 10.0)
    assert (after.status, after.bolt) == (NutStatus.ON_BOLT_HELD, LOWER)
    assert after.turns_engaged == pytest.approx(1.0 + 9.0 / 360.0, abs=1e-4)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"pitch": 1e-3}, "6.35 mm x 1 mm"),
        ({"diameter": 3e-3, "pitch": 0.5e-3}, "M3x0.5"),
        ({"hand": -1}, "1/4-20 LH"),
    ],
)
def test_nut_never_catches_a_thread_that_does_not_fit(scene_with, make_hand, changed, name):
    hand = make_hand(scene_with(LOWER, **changed))
    take_off(hand)
    carry_to_lower(hand, press=0.0009)
    for angles in ((0.0, 90.0, 180.0, 270.0, 360.0), (270.0, 180.0, 90.0, 0.0)):
        assert turn_at_tip(hand, 0.0009, *angles).status == NutStatus.HELD
    why = f"does not catch on lower_bolt: the nut, 1/4-20, does not fit lower_bolt, {name}"
    assert any(why in seen.message for seen in hand.seen)
    assert hand.open().status == NutStatus.FALLEN


def test_mouth_of_a_small_nut_is_small(scene, make_hand):
    """0.6 mm aside the tip is in the mouth of a 1/4-20 nut, but beside that of an M3 nut."""
    for thread, off in ((ScrewThread.of(6.35e-3, 1.27e-3), 0.0), (M3, 0.6e-3)):
        sizes = {"diameter": thread.diameter, "pitch": thread.pitch}
        bolts = {name: replace(bolt, **sizes) for name, bolt in scene.bolts.items()}
        hand = make_hand(replace(scene, bolts=bolts))
        take_off(hand)
        carry_to_lower(hand, off=0.6e-3)
        assert np.linalg.norm(in_bolt(hand)[:2, 3]) == pytest.approx(off, abs=1e-4)


def test_nut_that_does_not_touch_the_bolt_does_not_catch(held):
    assert turn_at_tip(held, -0.0005, -90.0, 0.0, 90.0, 180.0, 270.0).status == NutStatus.HELD


@pytest.mark.parametrize(
    ("place", "reason"),
    [({"off": 0.0020}, "2.0 mm beside the bolt's"), ({"tilt_deg": 7.0}, "tilted by 7.0 deg")],
)
def test_offset_or_tilted_nut_does_not_catch(held, place, reason):
    carry_to_lower(held, press=0.0009, **place)
    nut = turn_at_tip(held, 0.0009, 0.0, 90.0, 180.0, 270.0, **place)
    assert nut.status == NutStatus.HELD
    assert any(reason in seen.message for seen in held.seen)


def test_nut_with_little_thread_is_pulled_off_and_another_one_slips(scene, make_hand):
    for turns, status in ((1.0, NutStatus.HELD), (2.0, NutStatus.ON_BOLT)):
        hand = make_hand(replace(scene, nut=replace(scene.require_nut(), turns=turns)))
        roll = 90.0 + math.degrees(scene.bolt(UPPER).roll(turns))
        z = scene.bolt(UPPER).depth(turns) - CENTRE
        hand.go(hand.at(UPPER, z, roll))
        assert hand.grip().status == NutStatus.ON_BOLT_HELD
        assert hand.go(hand.at(UPPER, z - 0.02, roll)).status == status


def test_nut_keeps_its_roll_when_it_is_pulled_off(scene, make_hand):
    hand = make_hand(replace(scene, nut=replace(scene.require_nut(), turns=0.6)))
    bolt = scene.bolt(UPPER)
    roll, z = math.degrees(bolt.roll(0.6)) + 90.0, bolt.depth(0.6) - CENTRE
    hand.go(hand.at(UPPER, z, roll))
    hand.grip()
    pulled = hand.go(hand.at(UPPER, z - 0.02, roll))
    turned = twist_z(bolt.pose[:3, :3].T @ pulled.pose[:3, :3])
    assert pulled.status == NutStatus.HELD
    assert wrap(turned - bolt.roll(0.6)) == pytest.approx(0.0, abs=1e-6)


def test_nut_clicks_when_turned_back_past_the_thread_start(held):
    carry_to_lower(held)
    clicks = 0
    for angle in (-180.0, -270.0, -360.0, -450.0):
        at = len(held.seen)
        turn_at_tip(held, 0.0003, angle)
        clicks += any("clicks on lower_bolt" in seen.message for seen in held.seen[at:])
    assert (clicks, held.nut.status) == (1, NutStatus.HELD)


@pytest.mark.parametrize("start_deg", [-160.0, -47.0, 20.0, 133.0])
def test_thread_start_is_the_roll_of_the_marked_flat_at_the_click(
    scene_with, make_hand, start_deg
):
    """As docs/screw.md describes: from the roll of the tool, and the marked flat by eye."""
    hand = make_hand(scene_with(LOWER, start=math.radians(start_deg)))
    take_off(hand)
    carry_to_lower(hand, press=0.001)
    roll, step = -90.0, 2.0
    while "clicks on lower_bolt" not in hand.nut.message:
        roll -= step
        assert roll > -460.0
        turn_at_tip(hand, 0.001, roll)
    marked = math.degrees(twist_z(in_bolt(hand)[:3, :3]))
    by_eye = 45.0 * round(marked / 45.0)
    flats = [roll + 90.0 + 60.0 * k for k in range(6)]
    measured = min(flats, key=lambda flat: abs(math.remainder(flat - by_eye, 360.0)))
    assert abs(math.remainder(measured - start_deg, 360.0)) <= step + 1e-6


def test_jaws_centre_the_nut_along_the_opening(hand):
    """The nut is gripped off-centre; only its offset along the pads remains."""
    aside = hand.at(UPPER, CENTRE, 90.0) @ pose(p=(0.002, 0.003, 0.0))
    hand.go(aside)
    assert hand.grip().grasped
    for stroke in range(60):
        roll = turn_z(-math.radians(30.0 * (stroke + 1)))
        back = pose(p=(0.0, 0.0, -1.27e-3 * (stroke + 1) / 12.0))
        hand.go(aside @ back @ roll)
    assert hand.nut.message == "came free of upper_bolt"
    tool_nut = np.linalg.inv(hand.T) @ hand.nut.pose
    assert tool_nut[1, 3] == pytest.approx(0.0, abs=1e-9)
    assert abs(tool_nut[0, 3]) <= math.hypot(0.002, 0.003)


@pytest.mark.parametrize("off", [0.0005, 0.0010])
def test_nut_pressed_on_the_tip_centres_itself(held, off):
    carry_to_lower(held, press=0.002, off=off)
    assert in_bolt(held)[:2, 3] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_pressed_nut_stays_on_the_tip_despite_lateral_errors(held):
    """The mouth holds 1.1 mm, plus 0.88 mm for each mm pressed: 3.7 mm at 3 mm."""
    carry_to_lower(held, press=0.003)
    for off, stays in ((0.002, True), (0.0036, True), (0.0039, False)):
        turn_at_tip(held, 0.003, -90.0, off=off)
        assert (abs(in_bolt(held)[1, 3]) < 1e-9) == stays
    assert any("slid off the tip" in seen.message for seen in held.seen)


def test_nut_beside_the_tip_drags_by_friction_and_finds_it(held):
    carry_to_lower(held, press=0.002, off=0.003)
    turn_at_tip(held, 0.002, -90.0, off=0.002)
    assert abs(in_bolt(held)[1, 3]) == pytest.approx(0.002 + 0.2 * 0.002, abs=1e-4)
    turn_at_tip(held, 0.002, -90.0, off=-0.002)
    assert in_bolt(held)[:2, 3] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_nut_pushed_too_far_leaves_the_jaws(held):
    carry_to_lower(held, press=0.003)
    assert held.nut.status == NutStatus.HELD
    held.go(held.at(LOWER, 0.010, -90.0))
    assert held.nut.status == NutStatus.FALLEN
    assert "pushed it out of the jaws" in held.nut.message


def test_nut_that_strikes_a_bolt_is_knocked_out(held):
    held.go(held.at(LOWER, 0.010, -90.0, off=0.03))
    held.go(held.at(LOWER, 0.010, -90.0))
    assert held.nut.status == NutStatus.FALLEN
    assert "from the side" in held.nut.message


PIN = {"diameter": 4e-3, "pitch": 0.0, "length": 15e-3}


def over_pin(scene_with, make_hand, z, **place):
    """Release a nut on a smooth pin in place of the lower bolt, with the tool at z."""
    hand = make_hand(scene_with(LOWER, **PIN))
    take_off(hand)
    for depth in (-0.02, z):
        hand.go(hand.at(LOWER, depth, 30.0, **place))
    hand.open()
    return hand


def test_nut_released_on_a_pin_hangs_there_and_can_be_gripped_by_other_flats(
    scene_with, make_hand
):
    hand = over_pin(scene_with, make_hand, CENTRE + 3e-3, off=1e-3)
    nut = hand.nut
    assert (nut.status, nut.bolt, nut.turns_engaged) == (NutStatus.ON_BOLT, LOWER, 0.0)
    x, y, z = in_bolt(hand)[:3, 3]
    assert math.hypot(x, y) < 1e-9 and z == pytest.approx(CENTRE + 3e-3, abs=1e-5)
    before = twist_z(in_bolt(hand)[:3, :3])
    hand.go(hand.at(LOWER, CENTRE + 3e-3, -30.0))
    assert hand.grip().status == NutStatus.HELD and hand.nut.bolt == ""
    hand.go(hand.at(LOWER, CENTRE + 3e-3, -10.0))
    assert math.degrees(twist_z(in_bolt(hand)[:3, :3]) - before) == pytest.approx(20.0)


@pytest.mark.parametrize(
    ("z", "place"),
    [(-1e-4, {}), (CENTRE, {"off": 2.1e-3}), (CENTRE, {"tilt_deg": 13.0}), (0.02, {})],
)
def test_nut_released_beside_or_before_a_pin_falls(scene_with, make_hand, z, place):
    hand = over_pin(scene_with, make_hand, z, **place)
    assert hand.nut.status == NutStatus.FALLEN


def test_invalid_pose_or_width_is_rejected(scene):
    world = NutWorld(scene)
    for T in (np.full((4, 4), np.nan), np.zeros((4, 4)), np.diag([1.0, 1.0, -1.0, 1.0])):
        with pytest.raises(SimulationError, match="not a finite rigid transform"):
            world.update(T, 0.02)
    with pytest.raises(SimulationError, match="must be a finite number"):
        world.update(np.eye(4), math.nan)


# Mostly near the upper bolt, so that the nut is gripped and pulled.
near = st.tuples(
    st.sampled_from(["upper_bolt", "lower_bolt"]),
    st.floats(-0.012, 0.012),
    st.floats(-0.003, 0.003),
    st.floats(-4.0, 4.0),
    st.floats(-0.1, 0.1),
)
far = st.tuples(
    st.just("base_link"),
    st.floats(-0.4, 0.4),
    st.floats(-0.4, 0.4),
    st.floats(-4.0, 4.0),
    st.floats(-3.0, 3.0),
)
width = st.sampled_from([0.0, 0.0105, 0.0112, 0.0114, 0.012, 0.02, 0.03])
moves = st.lists(st.tuples(st.one_of(near, near, far), width), min_size=1, max_size=25)


ON_NUT = ("upper_bolt", CENTRE, 0.0, math.pi / 2, 0.0)


def tool(place):
    frame, z, off, roll, tilt = place
    R = so3_exp(np.array([tilt, 0.0, 0.0])) @ so3_exp(np.array([0.0, 0.0, roll]))
    return SCENE.frame(frame) @ shift_z(z) @ pose(R, (off, 0.0, 0.0))


@settings(max_examples=60, deadline=None)
@given(moves=moves, gripped=st.booleans())
def test_nut_state_stays_consistent_for_any_tool_motion(moves, gripped):
    world, twin = NutWorld(SCENE), NutWorld(SCENE)
    before, T_before = world.report, None
    if gripped:
        moves = [(ON_NUT, 0.02), (ON_NUT, 0.0105), *moves]
    for place, w in moves:
        T = tool(place)
        now, again = world.update(T, w), twin.update(T, w)
        assert np.array_equal(now.pose, again.pose) and now.message == again.message
        assert is_rigid(now.pose)
        assert 0.0 <= now.turns_engaged <= FULL
        assert (now.bolt != "") == (now.status in (NutStatus.ON_BOLT, NutStatus.ON_BOLT_HELD))
        assert now.grasped == (now.status in (NutStatus.HELD, NutStatus.ON_BOLT_HELD))
        assert now.message
        moved = np.linalg.norm(now.pose[:3, 3] - before.pose[:3, 3])
        if now.status != NutStatus.FALLEN and T_before is not None:
            way = np.linalg.norm(T[:3, 3] - T_before[:3, 3])
            turned = math.sqrt(max(0.0, 6.0 - 2.0 * np.trace(T[:3, :3].T @ T_before[:3, :3])))
            assert moved <= way + 0.006 * turned + 0.003
        before, T_before = now, T


@pytest.mark.parametrize("hand", [1, -1])
@settings(max_examples=20, deadline=None)
@given(turns=st.lists(st.floats(-0.45, 0.45), min_size=1, max_size=12))
def test_position_on_a_thread_depends_only_on_the_total_turns(scene_with, hand, turns):
    start = {} if hand == 1 else {"start": 2 * math.pi * 4.378}
    scene = scene_with(UPPER, hand=hand, **start)
    world, bolt, total = NutWorld(scene), scene.bolt(UPPER), scene.nut.turns
    roll = hand * math.pi / 2
    for w in (0.02, 0.0105):
        world.update(tool((*ON_NUT[:3], roll, 0.0)), w)
    for turn in turns:
        roll += hand * 2.0 * math.pi * turn
        total = min(total + turn, bolt.max_turns)
        if total <= 0.02:
            return
        depth = bolt.depth(total) - CENTRE
        now = world.update(tool((UPPER, depth, 0.0, roll, 0.0)), 0.0105)
        assert now.status == NutStatus.ON_BOLT_HELD
        assert now.turns_engaged == pytest.approx(min(total, FULL), abs=1e-3)
        at = (np.linalg.inv(bolt.pose) @ now.pose)[2, 3]
        assert math.isclose(at, depth, abs_tol=1e-7)
