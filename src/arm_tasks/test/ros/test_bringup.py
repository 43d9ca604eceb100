# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table of processes is consistent with itself and with the packages it starts."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix
from arm_tasks.bringup.arguments import (
    ARGUMENTS,
    SIMULATION,
    Arg,
    check_simulation,
    checked_world,
    default_values,
)
from arm_tasks.bringup.processes import (
    COMPOSED,
    PhysicsFile,
    Process,
    chosen,
    is_enabled,
    processes,
)
from arm_tasks.bringup.view import view_processes
from arm_tasks.errors import TasksError
from arm_tasks.ros.arm_nodes import MODULES

PACKAGE = Path(__file__).resolve().parents[2]
PUBLISHERS = ("arm_description", "robot_state_publisher")


@pytest.fixture(params=PUBLISHERS)
def table(request):
    return (*processes(request.param), *view_processes(request.param))


@pytest.mark.parametrize("publisher", PUBLISHERS)
@pytest.mark.parametrize("make", [processes, view_processes])
def test_every_placeholder_names_a_declared_argument(make, publisher):
    declared = {argument.name for argument in ARGUMENTS}
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
        if process.package.startswith("arm_") and process.package != SIMULATION:
            folder = Path(get_package_prefix(process.package)) / "lib" / process.package
            assert (folder / process.executable).exists()


def test_every_package_of_the_table_is_a_dependency(table):
    root = ET.parse(PACKAGE / "package.xml").getroot()
    depends = {element.text for tag in ("exec_depend", "depend") for element in root.iter(tag)}
    optional = {"arm_tasks", SIMULATION}  # found by name, if installed
    assert {process.package for process in table} - optional <= depends


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
        values = default_values(world="geometric", part=part)
        return [p.name for p in processes("arm_description") if is_enabled(p, values)]

    assert started("hardware") == ["arm_hardware"]
    assert sorted(started("hardware") + started("rest")) == sorted(started("all"))


@pytest.mark.parametrize("publisher", PUBLISHERS)
@pytest.mark.parametrize("make", [processes, view_processes])
def test_composed_processes_run_the_same_nodes_with_the_same_parameters(make, publisher):
    values = default_values(world="geometric")
    alone = {p.name: p for p in chosen(make(publisher), values | {"composed": "false"})}
    assert not any(process.nodes for process in alone.values())
    run = {}
    for process in chosen(make(publisher), values):
        for name in process.nodes or (process.name,):
            assert name not in run
            run[name] = process
    assert run.keys() == alone.keys()
    for name, process in alone.items():
        assert process.parameters.items() <= run[name].parameters.items()
        assert process.enclave == run[name].enclave
        assert (run[name].name == COMPOSED) == (name in MODULES and bool(run[name].nodes))


def test_driver_view_and_task_client_keep_processes_of_their_own():
    values = default_values(world="geometric", viewer="browser")
    names = [process.name for process in chosen(processes("arm_description"), values)]
    assert names == [COMPOSED, "arm_hardware", "arm_viewer", "task_client"]


def test_one_composable_node_is_composed_too():
    values = default_values(world="geometric")
    (one,) = (p for p in processes() if p.name == "kinematics")
    assert [process.name for process in chosen([one], values)] == [COMPOSED]


def test_nodes_with_different_values_of_a_parameter_are_not_composed():
    values = default_values(world="geometric")
    table = [Process("p", n, n, {"x": n}, composable=True) for n in ("a", "b")]
    with pytest.raises(TasksError, match="different values of the parameter x"):
        chosen(table, values)


def test_real_hardware_has_no_simulated_world(table):
    world = next(process for process in table if process.name == "nut_world")
    assert "real" not in world.when["hardware"]


CONTACT = {argument.name: argument.default for argument in ARGUMENTS} | {"world": "contact"}


def test_contact_physics_replace_the_rules_and_share_files_with_the_driver():
    assert not PhysicsFile("pace")(CONTACT | {"world": "geometric"})
    table = {process.name: process for process in chosen(processes("arm_description"), CONTACT)}
    (composed,) = (p for p in table.values() if p.nodes)
    assert "nut_world" not in composed.nodes
    driver, world = table["arm_hardware"].parameters, table["contact_world"].parameters
    for written, read in (("sim_registers", "registers"), ("sim_pace", "pace")):
        file = driver[written](CONTACT)
        assert file == world[read](CONTACT)
        assert not Path(file).exists()
        assert driver[written](CONTACT | {"namespace": "left"}) != file
    assert world["use_sim_time"](CONTACT)


def test_contact_physics_set_the_pace_of_the_driver():
    table = {process.name: process.parameters for process in processes("arm_description")}
    fast = CONTACT | {"speed": "4"}
    assert (table["contact_world"]["speed"](fast), table["arm_hardware"]["speed"](fast)) == (4, 1)
    assert table["arm_hardware"]["speed"](fast | {"world": "geometric"}) == 4.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hardware", "fake"),
        ("hardware", "real"),
        ("backend", "feetech"),
        ("part", "rest"),
        ("robots", "left,right"),
        ("prefix", "left_"),
    ],
)
def test_arguments_that_exclude_contact_physics_are_named(name, value):
    with pytest.raises(TasksError, match=f"world is contact, but {name} is {value}:"):
        checked_world(CONTACT | {name: value}, print)


def test_without_mujoco_the_world_is_geometric_and_that_is_reported_once(monkeypatch):
    reports = []
    assert checked_world(CONTACT, reports.append) == "contact"
    assert not reports
    monkeypatch.setattr(
        "arm_tasks.bringup.arguments.find_spec", lambda name: name != "mujoco" or None
    )
    assert checked_world(CONTACT, reports.append) == "geometric"
    assert len(reports) == 1


@pytest.mark.parametrize(
    ("values", "refused"),
    [
        ({}, "hardware is sim"),
        ({"hardware": "fake", "world": "geometric"}, "world is geometric"),
        ({"world": "contact"}, "world is contact"),
        ({"hardware": "fake"}, ""),
        ({"hardware": "real"}, ""),
        ({"part": "rest"}, ""),
    ],
)
def test_simulation_that_is_not_installed_is_refused_with_its_package(
    monkeypatch, values, refused
):
    given = default_values(tasks="true", robot="five_axis") | {"world": "auto"} | values
    monkeypatch.setattr("arm_tasks.bringup.arguments.find_spec", lambda name: None)
    if refused:
        remedy = (
            "not installed; build it .colcon build --packages-up-to arm_simulation., or choose"
        )
        with pytest.raises(
            TasksError, match=f"{refused}, which needs .* arm_simulation,.*{remedy}"
        ):
            checked_world(given, print)
            check_simulation(given)
        return
    check_simulation(given)
    given["world"] = checked_world(given, pytest.fail)
    started = {process.package for process in chosen(processes("arm_description"), given)}
    assert "arm_simulation" not in started
