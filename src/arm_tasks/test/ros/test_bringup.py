# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table of processes is consistent with itself and with the packages it starts."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix
from arm_tasks.bringup.processes import (
    ARGUMENTS,
    BRINGUP_ARGUMENTS,
    Arg,
    bringup_processes,
    chosen,
    is_enabled,
    processes,
    view_processes,
)

SOURCES = Path(__file__).resolve().parents[3]
PUBLISHERS = ("arm_description", "robot_state_publisher")


@pytest.fixture(params=PUBLISHERS)
def table(request):
    return (*processes(request.param), *view_processes(request.param))


@pytest.mark.parametrize("publisher", PUBLISHERS)
@pytest.mark.parametrize(
    ("make", "arguments"),
    [(processes, ARGUMENTS), (view_processes, ARGUMENTS), (bringup_processes, BRINGUP_ARGUMENTS)],
)
def test_every_placeholder_names_a_declared_argument(make, arguments, publisher):
    declared = {argument.name for argument in arguments}
    for process in make(publisher):
        values = [*process.parameters.values(), *process.arguments]
        assert {value.name for value in values if isinstance(value, Arg)} <= declared
        assert set(process.when) <= declared


def test_conditions_use_allowed_values(table):
    choices = {argument.name: set(argument.choices) for argument in ARGUMENTS}
    for process in table:
        for name, values in process.when.items():
            assert set(values) <= choices[name]


def test_every_executable_is_installed(table):
    for process in table:
        if process.package.startswith("arm_"):
            folder = Path(get_package_prefix(process.package)) / "lib" / process.package
            assert (folder / process.executable).exists()


def test_every_package_of_the_table_is_a_dependency(table):
    root = ET.parse(SOURCES / "arm_tasks" / "package.xml").getroot()
    depends = {element.text for tag in ("exec_depend", "depend") for element in root.iter(tag)}
    assert {process.package for process in table} - {"arm_tasks"} <= depends


def test_process_names_are_unique():
    for publisher in PUBLISHERS:
        names = [process.name for process in processes(publisher)]
        assert len(names) == len(set(names))


def test_arguments_have_a_description_and_a_valid_default():
    for argument in ARGUMENTS:
        assert argument.text.endswith(".")
        assert not argument.choices or argument.default in argument.choices


def test_hardware_and_rest_together_start_each_process_once():
    def started(part):
        values = {a.name: a.default for a in ARGUMENTS} | {"part": part}
        return [p.name for p in processes("arm_description") if is_enabled(p, values)]

    assert started("hardware") == ["arm_hardware"]
    assert sorted(started("hardware") + started("rest")) == sorted(started("all"))


def test_real_hardware_has_no_simulated_world(table):
    world = next(process for process in table if process.name == "nut_world")
    assert "real" not in world.when["hardware"]
