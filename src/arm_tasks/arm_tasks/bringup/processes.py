# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_bringup.py
"""The table of processes that both `ros2 launch` and `./arm` start.

A value may be a function of the arguments, name -> text. Several arms share one graph: each is in
a namespace, and they stand side by side in one world with one view, farther apart than they reach,
since none plans around another one.
"""

import atexit
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
)
from arm_description.library import load_robot
from arm_description.model.elements import Origin
from arm_description.urdf.writer import merged_urdf, robot_urdf

from arm_tasks.bringup.arguments import Arg, Plain, Values, use_sim_time
from arm_tasks.errors import TasksError

Value = Plain | Callable[[Values], Plain]

COMPOSED = "arm_nodes"  # the process with all composable nodes
DEFAULT_SPACING = 0.6  # [m] between the bases of several arms; nut_arm reaches 0.27 m from its own
WORLD = "world"
_STOP = "arm_hardware/emergency_stop"
_MARKERS = ("scene_markers", "task_markers", "kinematics_markers")


def copy_for_editing(shipped: Path, folder: Path) -> Path:
    """Return a new copy of a shipped file in a folder: RViz offers to overwrite what it opens."""
    copy = Path(mkdtemp(dir=folder)) / shipped.name
    shutil.copyfile(shipped, copy)
    return copy


@cache
def run_folder() -> Path:
    """Return a folder of this run, which is removed at its end."""
    folder = Path(mkdtemp(prefix="arm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@dataclass(frozen=True)
class PhysicsFile:
    """A file of this run that driver and contact physics share; "" with the geometric world."""

    kind: str  # registers of the emulated board, or pace: the time

    def __call__(self, values: Values) -> Plain:  # noqa: D102
        if values["world"] != "contact":
            return ""
        return str(run_folder() / f"{values.get('namespace') or 'board'}.{self.kind}")


def _driver_speed(values: Values) -> Plain:
    """Return 1 with contact physics, which set the driver's pace, otherwise the speed."""
    speed = Arg("speed", float)(values)
    return 1.0 if values["world"] == "contact" else speed


def _robot_description(values: Values, prefix: str = "") -> str:
    return load_robot(values["robot"]).to_urdf(prefix or values.get("prefix", ""))


@dataclass(frozen=True)
class Process:
    """One process of the table."""

    package: str  # ROS package of the executable
    executable: str  # its name under lib/<package>/
    name: str  # node name
    parameters: Mapping[str, Value] = field(default_factory=dict)  # ROS parameters
    # command-line arguments before the ROS arguments; a Path is a shipped file, given as a copy
    arguments: tuple[Value | Path, ...] = ()
    # argument name -> values for which the process is started; empty for always
    when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ends_all: bool = False  # the run ends with this process, unless a view stays open
    is_view: bool = False  # what a user looks at, and may close once the task is done
    to_terminal: bool = False  # its output goes to the terminal instead of a log file
    composable: bool = False  # its nodes can run in one process with others
    nodes: tuple[str, ...] = ()  # names of the nodes of a composed process
    namespace: str = ""  # of its nodes
    remappings: Mapping[str, str] = field(default_factory=dict)  # name -> other name

    @property
    def label(self) -> str:
        """Its name among all processes."""
        return f"{self.namespace}_{self.name}" if self.namespace else self.name

    @property
    def enclave(self) -> str:
        """Its security enclave (docs/security.md)."""
        return f"/arm/{COMPOSED if self.composable else self.name}"

    @property
    def remapping(self) -> str:
        """Name of its node; "" for a composed process, whose nodes keep their names."""
        return "" if self.nodes else self.name

    def with_parameters(self, more: Mapping[str, Value]) -> "Process":
        """Return the same process with other values of some parameters."""
        return replace(self, parameters={**self.parameters, **more})


def resolve(value: Value | Path, values: Values) -> Plain:
    """Return the value of a table entry for given arguments."""
    if isinstance(value, Path):
        return str(value)
    return value(values) if callable(value) else value


def in_namespace(process: Process, namespace: str) -> Process:
    """Return a process with its nodes, or the nodes that it calls, in a namespace."""
    arguments = process.arguments
    if process.ends_all:
        arguments = (*arguments, "--namespace", namespace)
    return replace(process, arguments=arguments, namespace=namespace)


_DRIVER_ARGUMENTS = ("robot", "hardware", "backend", "exit_action", "calibration")

_REST = {"part": ("all", "rest")}
_RVIZ = {**_REST, "viewer": ("rviz",)}
_SIM_TIME: dict[str, Value] = {"use_sim_time": use_sim_time}
ROBOT: dict[str, Value] = {"robot": Arg("robot")}
SCENE = {**ROBOT, "scene": Arg("scene"), **_SIM_TIME}
VIEW = {**ROBOT, "port": Arg("viewer_port", int)}


def is_installed(package: str) -> bool:
    """Return True if a ROS package is installed."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def _state_publisher(package: str) -> Process:
    name = "robot_state_publisher"
    package = package or (name if is_installed(name) else "arm_description")
    executable = "state_publisher" if package == "arm_description" else "robot_state_publisher"
    parameters = {"robot_description": _robot_description, **_SIM_TIME}
    return Process(
        package,
        executable,
        "robot_state_publisher",
        parameters,
        when=_REST,
        composable=package == "arm_description",
    )


def composable(
    package: str,
    name: str,
    parameters: Mapping[str, Value],
    when: Mapping[str, tuple[str, ...]],
) -> Process:
    """Return a process whose node, named as its executable, can share one with others."""
    return Process(package, name, name, parameters, when=when, composable=True)


def is_enabled(process: Process, values: Values) -> bool:
    """Return True if the arguments select a process."""
    return all(values[name] in allowed for name, allowed in process.when.items())


def chosen(table: Sequence[Process], values: Values) -> list[Process]:
    """Return the processes that the arguments select, in starting order.

    The composable ones become one process unless `composed` is false.
    """
    enabled = [process for process in table if is_enabled(process, values)]
    together = [process for process in enabled if process.composable]
    if values["composed"] == "false" or not together:
        return enabled
    index = enabled.index(together[0])
    others = [process for process in enabled if not process.composable]
    return [*others[:index], compose(together), *others[index:]]


def compose(together: Sequence[Process]) -> Process:
    """Return one process with the nodes of several."""
    parameters: dict[str, Value] = {}
    for process in together:
        for name, value in process.parameters.items():
            if parameters.setdefault(name, value) != value:
                raise TasksError(f"composed nodes have different values of the parameter {name}")
    nodes = tuple(process.name for process in together)
    return Process(
        "arm_tasks", COMPOSED, COMPOSED, parameters, nodes, composable=True, nodes=nodes
    )


def processes(state_publisher: str = "") -> tuple[Process, ...]:
    """Return the processes of the nut transfer, in starting order, before any are composed.

    Args:
        state_publisher: Package that publishes robot_description and tf; by default
            robot_state_publisher if installed, otherwise arm_description, which behaves the same.
    """
    driver: dict[str, Value] = {name: Arg(name) for name in _DRIVER_ARGUMENTS}
    driver |= {"speed": _driver_speed, "sim_registers": PhysicsFile("registers")}
    driver["sim_pace"] = PhysicsFile("pace")
    world = {**_REST, "hardware": ("fake", "sim"), "world": ("geometric",)}
    return (
        _state_publisher(state_publisher),
        Process(
            "arm_hardware",
            "hardware",
            "arm_hardware",
            driver,
            when={"part": ("all", "hardware")},
        ),
        composable("arm_kinematics", "kinematics", _SIM_TIME, _REST),
        composable("arm_simulation", "nut_world", SCENE, world),
        Process(
            "arm_simulation",
            "contact_world",
            "contact_world",
            {
                **SCENE,
                "calibration": Arg("calibration"),
                "registers": PhysicsFile("registers"),
                "pace": PhysicsFile("pace"),
                "speed": Arg("speed", float),
            },
            when={**_REST, "world": ("contact",)},
        ),
        composable("arm_tasks", "task_server", {**SCENE, "task_path": Arg("task_path")}, _REST),
        *_views(),
        Process(
            "arm_tasks",
            "run_task",
            "task_client",
            arguments=(
                *(Arg("task"), "--scene", Arg("scene"), "--robot", Arg("robot")),
                *("--calibration", Arg("calibration")),
            ),
            when=_REST,
            ends_all=True,
            to_terminal=True,
        ),
    )


def _views() -> tuple[Process, ...]:
    """Return the browser view, and RViz with its drag handle."""
    browser: dict[str, Value] = {
        **VIEW,
        "scene": Arg("scene"),
        "host": Arg("viewer_host"),
        "allowed_hosts": Arg("viewer_allowed_hosts"),
        "drive": True,
        "show_axes": False,
        **_SIM_TIME,
    }
    config = Path(get_package_share_directory("arm_tasks"), "rviz", "nut_transfer.rviz")
    return (
        Process(
            "arm_viewer",
            "viewer",
            "arm_viewer",
            browser,
            when={**_REST, "viewer": ("browser",)},
            is_view=True,
            to_terminal=True,
        ),
        Process("arm_viewer", "tool_handle", "tool_handle", _SIM_TIME, when=_RVIZ),
        Process("rviz2", "rviz2", "rviz2", _SIM_TIME, ("-d", config), when=_RVIZ, is_view=True),
    )


def marker_topics(arms: Sequence[str]) -> list[str]:
    """Return the topics of markers of all arms."""
    return [f"{arm}/{topic}" for arm in arms for topic in _MARKERS]


def several_processes(arms: Sequence[str], values: Values) -> list[Process]:
    """Return the enabled processes of several arms, in starting order."""
    table = processes()
    views = [p for p in table if p.name == "arm_viewer" and is_enabled(p, values)]
    one = chosen([p for p in table if p.name not in ("arm_viewer", "rviz2")], values)
    given = values["calibration"].split(",")
    calibrations = given * len(arms) if len(given) == 1 else given
    each = [
        _of_arm(process, arm, calibration, arm == arms[0])
        for arm, calibration in zip(arms, calibrations, strict=True)
        for process in one
    ]
    tasks = [process for process in each if process.ends_all]
    others = [process for process in each if not process.ends_all]
    (publisher,) = (p for p in table if p.name == "robot_state_publisher")
    world = world_process(arms, publisher)
    return [world, *others, *(_shared(view, arms) for view in views), *tasks]


def _of_arm(process: Process, arm: str, calibration: str, publish_clock: bool) -> Process:
    """Return a process of the nodes of one arm."""
    parameters: dict[str, Value] = {"prefix": f"{arm}_"}
    if "robot_description" in process.parameters:
        parameters["robot_description"] = partial(_robot_description, prefix=f"{arm}_")
    if process.name == "arm_hardware":
        parameters |= {"calibration": calibration, "publish_clock": publish_clock}
        process = replace(process, remappings={_STOP: f"/{_STOP}"})  # one message stops all arms
    if process.ends_all:
        process = replace(process, arguments=(*process.arguments, "--output", f"output/{arm}"))
    return in_namespace(process.with_parameters(parameters), arm)


def world_process(arms: Sequence[str], publisher: Process) -> Process:
    """Return the publisher of where equal arms stand, and of one description of all.

    They stand side by side along y, the first one on the left, `spacing` apart [m].
    """

    def urdf(values: Values) -> str:
        model, spacing = load_robot(values["robot"]), float(Arg("spacing", float)(values))
        first = (len(arms) - 1) / 2.0 * spacing
        places = [Origin((0.0, first - i * spacing, 0.0)) for i in range(len(arms))]
        return merged_urdf(
            WORLD,
            [
                robot_urdf(model, f"{arm}_", parent=WORLD, mount=place)
                for arm, place in zip(arms, places, strict=True)
            ],
        )

    return publisher.with_parameters({"robot_description": urdf})


def _shared(view: Process, arms: Sequence[str]) -> Process:
    """Return the browser view of all arms, which moves none of them."""
    return view.with_parameters(
        {
            "robot": "",
            "drive": False,
            "prefix": f"{arms[0]}_",
            "marker_topics": marker_topics(arms),
        }
    )
