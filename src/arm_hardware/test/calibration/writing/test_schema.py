# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import json
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from arm_common.yaml.json_schema import schema_text
from arm_hardware.calibration.file import BOARD, CALIBRATION, parse_calibration
from arm_hardware.calibration.selection import config_folder
from arm_hardware.calibration.writing.schema import SCHEMA, calibration_schema
from arm_hardware.errors import CalibrationError
from arm_testing.files.key_bounds import bounded, check_bounds, owners
from arm_testing.files.plain_data import at, places
from jsonschema import Draft202012Validator

ANEW = "run: python3 -m arm_hardware.calibration.writing.schema"
FULL = """
example: false
robot: nut_arm
safe_pulses_us: [450, 2550]
board: {address: 0x41, frequency_hz: 60, reference_clock_hz: 26000000}
joints:
  turns: {channel: 0, sign: -1, zero_deg: 3, points_deg_us: [[-90, 500], [90, 2500]],
    pulse_limits_us: [500, 2500], limits_deg: [-80, 80], speed_deg_s: 400,
    calibrated: "2026-05-17"}
  slides: {channel: 1, sign: 1, zero_mm: 3, points_mm_us: [[-90, 500], [90, 2500]],
    pulse_limits_us: [500, 2500], limits_mm: [-80, 80], speed_mm_s: 400}
gripper: {channel: 5, points_mm_us: [[0, 1000], [30, 2000]], pulse_limits_us: [1000, 2000]}
"""


@pytest.fixture(scope="module")
def validator():
    Draft202012Validator.check_schema(calibration_schema())
    return Draft202012Validator(calibration_schema())


@pytest.fixture
def full():
    return yaml.safe_load(FULL)


def accepted(data):
    try:
        parse_calibration(yaml.safe_dump(data).encode(), Path("x.yaml"))
    except CalibrationError:
        return False
    return True


def changed(data, path, value):
    data = deepcopy(data)
    at(data, path[:-1])[path[-1]] = value
    return data


def test_shipped_schema_is_up_to_date():
    file = Path(__file__).parents[3] / "schema" / SCHEMA
    assert file.read_text(encoding="utf-8") == schema_text(calibration_schema()), ANEW


def test_shipped_files_are_valid_and_name_the_schema(calibration_path, validator):
    text = calibration_path.read_text()
    validator.validate(yaml.safe_load(text))
    line = text.splitlines()[0]
    schema = calibration_path.parent / line.removeprefix("# yaml-language-server: $schema=")
    assert json.loads(schema.read_text()) == calibration_schema()


def test_full_file_has_every_key(full):
    assert set(full) == set(CALIBRATION.keys) - {"bus"}
    assert set(full["board"]) == set(BOARD.keys)


def test_reader_and_schema_accept_every_key(full, validator):
    assert accepted(full)
    validator.validate(full)


def test_reader_and_schema_reject_unknown_keys(full, validator):
    for path in places(full):
        if isinstance(at(full, path), dict):
            data = changed(full, (*path, "colour"), 1)
            assert not accepted(data) and not validator.is_valid(data), path


def test_reader_and_schema_require_the_same_keys(full, validator):
    for path in places(full):
        if path and isinstance(path[-1], str) and path[:-1] != ("joints",):
            data = deepcopy(full)
            del at(data, path[:-1])[path[-1]]
            assert accepted(data) == validator.is_valid(data) or path == ("safe_pulses_us",), path


def test_reader_and_schema_refuse_pulses_that_are_safe_on_a_bus(validator):
    text = (config_folder() / "nut_arm_feetech.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text) | {"safe_pulses_us": [500, 2500]}
    assert not accepted(data) and not validator.is_valid(data)
    with pytest.raises(CalibrationError, match="safe_pulses_us: is for a board; servos on a bus"):
        parse_calibration(yaml.safe_dump(data).encode(), Path("x"))


@pytest.mark.parametrize("wrong", [None, True, "", "x", [], [[1]], {}, {"value": 1}, -1e9])
def test_reader_rejects_everything_the_schema_rejects(full, validator, wrong):
    """And of a wrong type, both refuse all; the reader alone compares numbers."""
    refused = 0
    for path in places(full):
        if path:
            data = changed(full, path, wrong)
            if not validator.is_valid(data):
                refused += 1
                assert not accepted(data), path
    assert refused > 20


ON_BUS = """
robot: nut_arm
bus: {port: /dev/ttyACM0, baud_rate: 1000000, protocol: other}
joints:
  turns: {id: 1, points_deg_counts: [[-90, 1024], [90, 3072]], count_limits: [1024, 3072],
    speed_deg_s: 400, stiffness_nm_rad: 8, homing_offset: 3}
  slides: {id: 2, points_mm_counts: [[-90, 1024], [90, 3072]], count_limits: [1024, 3072],
    speed_mm_s: 400, stiffness_n_mm: 8, homing_offset: 3}
"""


def test_reader_refuses_what_the_declared_bounds_exclude(full):
    full["joints"]["turns"]["stiffness_nm_rad"] = full["joints"]["slides"]["stiffness_n_mm"] = 8
    covered, accepted = set(), 0
    for data in (full, yaml.safe_load(ON_BUS)):
        numbers = bounded(CALIBRATION, data)
        covered |= {number.owner for number in numbers}
        accepted += check_bounds(
            numbers,
            data,
            lambda file: parse_calibration(yaml.safe_dump(file).encode(), Path("x.yaml")),
            CalibrationError,
        )
    assert covered == set(owners(CALIBRATION)) and len(covered) >= 14 and accepted >= 20
