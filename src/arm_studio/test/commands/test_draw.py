# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import io
import xml.etree.ElementTree as ET
from itertools import pairwise

import matplotlib.image
import numpy as np
import pytest
from arm_description.urdf.writer import robot_urdf
from arm_studio.commands.draw import main
from arm_studio.pictures.canvas import (
    VIEWS,
    draw_canvas,
    parallel_canvas,
    patches,
    shadows,
    title_lines,
)
from arm_studio.pictures.drawing import LINE, posed, spread_labels
from arm_studio.pictures.solids import ParallelProjection

from arm_description import load_robot, shipped_robots

SVG = "{http://www.w3.org/2000/svg}"


def drawn(tmp_path, *arguments, kind="svg"):
    file = tmp_path / f"picture.{kind}"
    assert main([*arguments, "-o", str(file)]) == 0
    return file.read_bytes()


def texts(svg):
    return ["".join(e.itertext()) for e in ET.fromstring(svg).iter(f"{SVG}text")]


ONE_OF_A_KIND = ("nut_arm", "planar2", "panda", "spherical_arm", "universal_arm", "ball_arm")


@pytest.mark.parametrize("robot", ONE_OF_A_KIND)
def test_picture_labels_all_joints(robot, tmp_path):
    svg = drawn(tmp_path, robot, "--labels", "--frames", "--dh-frames")
    shown = " ".join(texts(svg))
    for name in load_robot(robot).joint_names:
        assert name in shown


@pytest.mark.parametrize(
    ("view", "kind", "begin"),
    [
        ("iso", "pdf", b"%PDF"),
        ("iso", "eps", b"%!PS-Adobe-3.0 EPSF"),
        ("iso", "ps", b"%!PS-Adobe"),
        *((view, "svg", b"<?xml") for view in VIEWS),
    ],
)
def test_every_view_is_vector_graphics_and_reproducible(view, kind, begin, tmp_path):
    arguments = ("planar2", "--frames", "--view", view)
    one, other = (drawn(tmp_path, *arguments, kind=kind) for _ in range(2))
    assert one.startswith(begin)
    assert b"/Subtype /Image" not in one and b"<image" not in one
    assert one == other and b"%%CreationDate" not in one


@pytest.mark.parametrize("text", ["a", "one word after another " * 12, "W" * 200 + " and more"])
def test_long_title_is_broken_into_lines_that_fit(text):
    width = 30
    lines = title_lines(text, width, len)
    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or " " not in line for line in lines)
    assert all(len(f"{line} {other.split()[0]}") > width for line, other in pairwise(lines))


def test_page_grows_with_its_title():
    arm = posed(load_robot("planar2"), dict.fromkeys(load_robot("planar2").joint_names, 0.3))
    page = parallel_canvas(arm.solids, VIEWS["iso"])

    def size(title):
        root = ET.fromstring(draw_canvas(page, title, "svg"))
        return [float(root.get(side).removesuffix("pt")) for side in ("width", "height")]

    (width, height), (wide, high) = size("short"), size("a long state of the task " * 20)
    assert wide == width and high > 1.1 * height


def test_ghost_is_a_second_pale_arm_with_other_joints(tmp_path):
    plain, moved = (("nut_arm", "--joints", f"elbow={q}deg") for q in ("0", "60"))
    ghost = drawn(tmp_path, *plain, "--ghost", "elbow=60deg")
    assert ghost.count(b"<path") > 1.5 * drawn(tmp_path, *plain).count(b"<path")
    assert ghost != drawn(tmp_path, *moved, "--ghost", "elbow=0deg")


def test_png_is_not_blank(tmp_path):
    pixels = matplotlib.image.imread(io.BytesIO(drawn(tmp_path, "planar2", kind="png")))
    assert pixels.std() > 0.01


def test_views_follow_rep_103():
    """Side: x to the right, z up. Front: y to the right, z up. Top: x to the right, y up."""
    x, y, z = np.eye(3)
    for view, right, up in (("side", x, z), ("front", y, z), ("top", x, y)):
        np.testing.assert_allclose(VIEWS[view], [right, up, np.cross(right, up)], atol=1e-12)
    for axes in VIEWS.values():
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(axes) == pytest.approx(1.0)


@pytest.mark.parametrize("robot", shipped_robots())
def test_drawn_links_agree_with_the_urdf(robot, urdf_fk):
    model = load_robot(robot)
    q = np.random.default_rng(1).uniform(model.lower, model.upper)
    values = dict(zip(model.joint_names, map(float, q), strict=True))
    arm = posed(model, {**values, "gripper": 0.01} if model.gripper else values)
    if model.gripper:
        values |= model.gripper.positions(0.01)
    text = robot_urdf(model, with_dh_frames=True)
    for name, T in arm.poses.items():
        np.testing.assert_allclose(T, urdf_fk(text, values, "base_link", name), atol=1e-9)
    for number, T in enumerate(arm.dh):
        expected = urdf_fk(text, values, "base_link", f"dh_{number}")
        np.testing.assert_allclose(T, expected, atol=1e-9)


def test_shadows_lie_on_the_ground_and_patches_are_sorted():
    model = load_robot("nut_arm")
    arm = posed(model, model.postures["ready"])
    assert all((shadow[..., 2] == 0.0).all() for shadow in shadows(arm.solids))
    found = patches(arm.solids, ParallelProjection(VIEWS["iso"]))
    assert len(found) > 100
    assert all((patch.colour >= 0.0).all() and (patch.colour <= 1.0).all() for patch in found)


def test_whole_arm_is_on_the_page():
    model = load_robot("puma560")
    for view in VIEWS.values():
        page = parallel_canvas(posed(model, model.postures["ready"]).solids, view)
        points = np.vstack([page.to_inches(patch.points) for patch in page.patches])
        assert (points > 0.0).all()
        assert (points < page.size).all()


def test_labels_never_overlap():
    for ys in ([1.0, 1.0, 1.0, 1.0], [0.0, 0.01, 3.9, 4.0], list(np.linspace(0.0, 4.0, 12))):
        targets = {str(i): np.array((1.0, y)) for i, y in enumerate(ys)}
        ordered, heights = spread_labels(targets, 4.0)
        assert len(ordered) == len(ys)
        assert all(a - b > LINE - 1e-9 for a, b in pairwise(heights))
        assert min(heights) > 0.0


def test_picture_shows_posture_and_overridden_joints(tmp_path):
    arguments = "--labels --posture ready --joints elbow=pi/6-.0236rad waist=-60/-2 gripper=1mm"
    shown = texts(drawn(tmp_path, "nut_arm", *arguments.split()))
    assert {"waist  30°", "shoulder  -20°", "elbow  28.6°", "wrist_roll  0°"} <= set(shown)
    assert "nut_arm, ready and changed joints" in shown
    assert "50 mm" in shown


def test_posture_name_with_dollars_is_plain_text(tmp_path, small):
    path = tmp_path / "small.yaml"
    path.write_text(small.replace("rest:", "$x^2$:"))
    assert "small, $x^2$" in texts(drawn(tmp_path, str(path)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nut_arm", "-o", "x.bmp"], "x.bmp: cannot draw a 'bmp' file; choose a name that"),
        (["nut_arm", "-o", "x"], "its name has no ending"),
        (["nut_arm", "--posture", "raedy", "-o", "x.svg"], "did you mean 'ready'"),
        (["nut_arm", "--joints", "elbw=1", "-o", "x.svg"], "did you mean 'elbow'"),
        (["nut_arm", "--joints", "elbow=91", "-o", "x.svg"], "choose a value in -90 .. 90 deg"),
        (["nut_arm", "--joints", "elbow=2rad", "-o", "x.svg"], "in -1.5708 .. 1.5708 rad"),
        (["nut_arm", "--joints", "elbow=nan", "-o", "x.svg"], "nan is not finite"),
        (["nut_arm", "--joints", "elbow=30deg deg", "-o", "x.svg"], "write for example elbow=0.5"),
        (["nut_arm", "--joints", "elbow=5mm", "-o", "x.svg"], "write for example elbow=0.5"),
        (["nut_arm", "--joints", "elbow", "-o", "x.svg"], "is not of the form NAME=VALUE"),
        (["nut_arm", "-o", "/no/such/folder/x.svg"], "cannot be written"),
        ([".", "-o", "x.svg"], ".: this is a folder, not a robot file"),
        (["nutarm", "-o", "x.svg"], "there is no robot named 'nutarm'"),
    ],
)  # fmt: skip
def test_errors_are_reported_in_one_sentence(arguments, message, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = sentence(main, *arguments)
    assert found.startswith("draw: ") and message in found
    assert list(tmp_path.iterdir()) == []
