# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The units that start task server and page with the computer, and the settings of all units."""

import re

import pytest
from arm_tasks.bringup.arguments import ARGUMENTS
from arm_testing.hardware import units
from arm_testing.repository import repository

SOURCE = repository() / "src"
TASKS, PAGE = (SOURCE / "arm_tasks/systemd" / f"arm-{name}.service" for name in ("tasks", "page"))
DRIVER = SOURCE / "arm_hardware/systemd/arm-hardware.service"
SETTINGS = SOURCE / "arm_hardware/systemd/arm-hardware.env"
UNITS = (DRIVER, TASKS, PAGE)
UNSET = {"ARM_NETWORK"}  # shown with another value than none


@pytest.fixture
def said(tmp_path):
    """Return a function that returns the arguments of what a unit starts."""

    def start(unit, program, **values):
        values = units.defaults(unit) | {"ARM_FILES": str(tmp_path)} | values
        return units.arguments(units.service(unit)["ExecStart"], program, tmp_path, **values)

    return start


def pairs(words):
    return dict(word.split(":=") for word in words if ":=" in word)


def test_systemd_accepts_the_units():
    units.verify(*UNITS)


def test_task_server_is_launched_beside_the_driver(said):
    words = said(TASKS, "none", ARM_CALIBRATION="/home/arm/my servos.yaml")
    assert words[:3] == ["launch", "arm_tasks", "bringup.launch.py"]
    values = pairs(words)
    assert values.pop("tasks") == "true"  # of the launch file alone
    assert values.keys() <= {argument.name for argument in ARGUMENTS}
    assert (values["part"], values["hardware"]) == ("rest", "real")
    assert values["calibration"] == "/home/arm/my servos.yaml"
    assert all(values.values())  # ros2 launch rejects an empty value


def test_page_is_started_with_valid_parameters(said):
    pytest.importorskip("rclpy")
    from arm_viewer.ros.node import ViewerParameters

    words = said(PAGE, "arm_viewer/viewer", ARM_ROBOT="/home/arm/my arm.yaml")
    assert words[0] == "--ros-args"
    values = pairs(words)
    assert values.keys() <= ViewerParameters.__dataclass_fields__.keys()
    assert (values["robot"], values["host"]) == ("/home/arm/my arm.yaml", "127.0.0.1")


def test_units_read_one_file_of_settings_that_shows_their_defaults():
    shown = dict(re.findall(r"^#?([A-Z_]+)=(.*)", SETTINGS.read_text(), re.MULTILINE))
    assert shown.pop("PYTHONPATH").startswith("/home/arm/arm_venv/")  # of no unit
    set_by_units = {}
    for unit in UNITS:
        assert units.service(unit)["EnvironmentFile"] == "-/etc/default/arm-hardware"
        for name, value in units.defaults(unit).items():
            assert set_by_units.setdefault(name, value) == value, name
    assert shown.keys() == set_by_units.keys()
    assert {name for name in shown if shown[name] != set_by_units[name]} == UNSET
    plain = re.findall(r"^([A-Z_]+)=", SETTINGS.read_text(), re.MULTILINE)
    assert plain == ["ARM_SETUP", "PYTHONPATH", "ARM_ROBOT", "ARM_CALIBRATION"]


@pytest.mark.parametrize("unit", [TASKS, PAGE], ids=lambda unit: unit.stem)
def test_units_without_servos_have_no_device_and_start_again(unit):
    service = units.service(unit)
    assert (service["DevicePolicy"], service["NoNewPrivileges"]) == ("closed", "yes")
    assert "DeviceAllow" not in service and service["User"] == "arm"
    assert service["Restart"] == "always"
    assert units.service(DRIVER)["Restart"] == "no"
    assert not re.search(r"activate|run_task|hardware arm\b", service["ExecStart"])
