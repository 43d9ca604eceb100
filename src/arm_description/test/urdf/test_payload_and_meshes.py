# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Payload, masses and meshes: from the file to the URDF."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import xacro
from arm_description.robot_file.writer import robot_yaml
from arm_description.urdf.macro import robot_macro

from arm_description import DescriptionError, load_robot, parse_robot

PAYLOAD = "payload: {mass: 0.5, centre: [0, 10, 20], size: [10, 20, 40], source: weighed}\n"


def links(urdf):
    return {link.get("name"): link for link in ET.fromstring(urdf).findall("link")}


def numbers(text):
    return [float(part) for part in text.split()]


def test_payload_inertia_is_fixed_to_the_tool(small, urdf_fk):
    model = parse_robot(small + "tool: {xyz: [0, 0, 30], rpy: [0, 90, 0]}\n" + PAYLOAD)
    assert model.payload.centre == (0.0, 0.01, 0.02)
    urdf = model.to_urdf("p_")
    inertial = links(urdf)["p_payload_link"].find("inertial")
    assert float(inertial.find("mass").get("value")) == 0.5
    np.testing.assert_allclose(numbers(inertial.find("origin").get("xyz")), model.payload.centre)
    ixx = float(inertial.find("inertia").get("ixx"))  # of a solid box
    assert ixx == pytest.approx(0.5 / 12 * (0.02**2 + 0.04**2), rel=1e-5)
    values = {"p_turn": 0.3, "p_slide": 0.02}
    tool, payload = (
        urdf_fk(urdf, values, "p_base_link", f"p_{frame}") for frame in ("tool0", "payload_link")
    )
    np.testing.assert_array_equal(tool, payload)
    box = links(urdf)["p_payload_link"].find("visual")
    np.testing.assert_allclose(numbers(box.find("geometry/box").get("size")), model.payload.size)


def test_payload_without_size_is_invisible(small):
    model = parse_robot(small + "payload: {mass: 0.5, centre: [0, 0, 0]}\n")
    payload = links(model.to_urdf())["payload_link"]
    assert payload.find("visual") is payload.find("collision") is None
    moments = [float(payload.find("inertial/inertia").get(key)) for key in ("ixx", "iyy", "izz")]
    assert min(moments) > 1e-6


def test_given_mass_scales_the_estimated_inertia(small):
    plain = links(parse_robot(small).to_urdf())["turn_link"].find("inertial")
    model = parse_robot(small + "masses: {turn_link: {value: 0.7, source: weighed}}\n")
    given = links(model.to_urdf())["turn_link"].find("inertial")
    factor = 0.7 / float(plain.find("mass").get("value"))
    assert float(given.find("mass").get("value")) == 0.7
    for key, value in plain.find("inertia").attrib.items():
        scaled = factor * float(value)
        assert float(given.find("inertia").get(key)) == pytest.approx(scaled, rel=1e-4)
    assert dict(model.sources) == {"masses.turn_link": "weighed"}


@pytest.fixture
def meshed(tmp_path, small):
    folder = tmp_path / "my arm"
    (folder / "meshes").mkdir(parents=True)
    for name in ("turn.stl", "hull.stl"):
        (folder / "meshes" / name).touch()
    path = folder / "arm.yaml"
    path.write_text(
        small
        + "meshes:\n"
        + "  turn_link: {visual: meshes/turn.stl, collision: meshes/hull.stl, scale: 0.001,\n"
        + "    origin: {xyz: [1, 2, 3], rpy: [0, 0, 90]}, source: our CAD}\n"
        + "  flange: {visual: meshes/turn.stl, scale: [1, 2, 3]}\n"
    )
    return path


def test_meshes_replace_the_skeleton(meshed):
    model = load_robot(meshed)
    turn = links(model.to_urdf())["turn_link"]
    found = {}
    for use, file in (("visual", "turn"), ("collision", "hull")):
        (element,) = turn.findall(use)
        mesh = element.find("geometry/mesh")
        path = meshed.parent / "meshes" / f"{file}.stl"
        assert mesh.get("filename") == path.as_uri()
        assert numbers(mesh.get("scale")) == [0.001, 0.001, 0.001]
        found[use] = element.find("origin").get("xyz")
    np.testing.assert_allclose(numbers(found["visual"]), [0.001, 0.002, 0.003])
    assert found["visual"] == found["collision"]
    assert turn.find("inertial") is not None
    flange = links(model.to_urdf())["flange"]
    assert flange.find("collision/geometry/mesh").get("filename").endswith("turn.stl")
    assert links(model.to_urdf())["slide_link"].find("visual/geometry/mesh") is None
    assert model.sources["meshes.turn_link"] == "our CAD"


def test_xacro_macro_has_the_same_meshes(meshed, tmp_path):
    model = load_robot(meshed)
    macro = robot_macro(model, "m").replace("</robot>", "<xacro:m/></robot>")
    path = tmp_path / "m.urdf.xacro"
    path.write_text(macro)
    found = ET.fromstring(xacro.process_file(str(path)).toxml()).iter("mesh")
    expected = ET.fromstring(model.to_urdf()).iter("mesh")
    assert [mesh.attrib for mesh in found] == [mesh.attrib for mesh in expected]


def test_meshes_and_payload_round_trip(meshed):
    text = meshed.read_text() + PAYLOAD + "masses: {slide_link: 0.25}\n"
    model = parse_robot(text, str(meshed))
    assert parse_robot(robot_yaml(model), "elsewhere/arm.yaml") == model


def test_mesh_must_exist_in_an_installed_package(small, tmp_path, monkeypatch):
    share = tmp_path / "share" / "my_arm"
    share.mkdir(parents=True)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    text = small + "meshes: {turn_link: {visual: 'package://my_arm/turn.stl'}}\n"
    with pytest.raises(DescriptionError, match=r"there is no package://my_arm/turn\.stl"):
        parse_robot(text)
    (share / "turn.stl").touch()
    assert parse_robot(text).meshes["turn_link"].visual == "package://my_arm/turn.stl"
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")  # as on a computer without that package
    assert "package://my_arm/turn.stl" in parse_robot(text).to_urdf()


VISUAL, SCALE = "meshes.turn_link.visual", "meshes.turn_link.scale"


@pytest.mark.parametrize(
    ("section", "message", "key"),
    [
        ("payload: {centre: [0, 0, 0]}", "has no 'mass'", "payload"),
        ("payload: {mass: 0, centre: [0, 0, 0]}", "above 0", "payload.mass"),
        ("payload: {mass: 1}", "has no 'centre'", "payload"),
        ("payload: {mass: 1, centre: 0}", "must be a list", "payload.centre"),
        ("payload: {mass: 1, centre: [0, 0]}", "three numbers, not 2", "payload.centre"),
        ("payload: {mass: 1, centre: [0, 0, 30000]}", "is 30 m", "payload.centre[2]"),
        ("payload: {mass: 1, centre: [0, 0, 0], size: [0, 1, 1]}", "above 0",
         "payload.size[0]"),
        ("payload: {mass: 1, center: [0, 0, 0]}", "did you mean 'centre'", "payload.center"),
        ("masses: {base_link: 1}", "known are turn_link, slide_link", "masses.base_link"),
        ("masses: {turn: 1}", "did you mean 'turn_link'", "masses.turn"),
        ("masses: {turn_link: -1}", "must be at least 0", "masses.turn_link"),
        ("meshes: {trun_link: {visual: a.stl}}", "did you mean 'turn_link'", "meshes.trun_link"),
        ("meshes: {turn_link: a.stl}", "must be a mapping", "meshes.turn_link"),
        ("meshes: {turn_link: {visual: a.stl}}", "there is no file", VISUAL),
        ("meshes: {turn_link: {visual: 'file:///a.stl'}}", "there is no file", VISUAL),
        ("meshes: {turn_link: {visual: 'http://x/a.stl'}}", "http:// is not supported", VISUAL),
        ("meshes: {turn_link: {visual: 'package://a/${x}.stl'}}", "not a valid", VISUAL),
        ("meshes: {turn_link: {visual: \"a\\0b\"}}", "not a valid", VISUAL),
        ("meshes: {turn_link: {visual: ROBOT, scale: 0}}", "must not be 0", SCALE),
        ("meshes: {turn_link: {visual: ROBOT, scale: [1, 1]}}", "three numbers, not 2", SCALE),
        ("meshes: {turn_link: {scale: 1}}", "has no 'visual'", "meshes.turn_link"),
    ],
)  # fmt: skip
def test_invalid_sections_are_rejected(small, refusal, section, message, key):
    error = refusal(small + section.replace("ROBOT", str(Path(__file__))) + "\n")
    assert message in str(error)
    assert (error.line, error.key) == (len(small.splitlines()) + 1, key)
