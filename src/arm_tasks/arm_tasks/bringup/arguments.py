# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_bringup.py
"""The arguments of the launch files and of `./arm demo`, and the simulated world they choose."""

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import NamedTuple

from arm_common.files.requests import folders_in
from arm_common.network import NETWORKS
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_description.robot_model import RobotModel
from arm_hardware.backends import AUTO, BACKENDS_HELP, backend_names, backends_of
from arm_hardware.bus.interface import PCA9685
from arm_hardware.calibration.selection import (
    calibration_for,
    config_folder,
    pulse_calibration,
    robot_with_servos,
)
from arm_hardware.motion.options import EXIT_ACTIONS, HARDWARE

from arm_tasks.errors import TasksError
from arm_tasks.scene.file import DEFAULT_SCENE, load_scene
from arm_tasks.task.parser import DEFAULT_TASK

SIMULATION = "arm_simulation"  # package of the emulated servos and of the simulated worlds
Values = Mapping[str, str]
Plain = str | int | float | bool | list[str]


class Judge(NamedTuple):
    """A simulated world, which decides where nut and payloads are."""

    node: str  # the node that simulates it
    words: str  # what decides


WORLDS = {
    "geometric": Judge("nut_world", "the rules of the geometric world"),
    "contact": Judge("contact_world", "contact physics"),
}


@dataclass(frozen=True)
class Argument:
    """An argument of the launch file and of `./arm demo`."""

    name: str  # as in `name:=value`
    default: str  # value if omitted
    text: str  # description
    choices: tuple[str, ...] = ()  # allowed values; empty for any


@dataclass(frozen=True)
class Arg:
    """The value of an argument, converted to the type of the ROS parameter."""

    name: str
    kind: type[str] | type[int] | type[float] = str

    def __call__(self, values: Values) -> str | int | float:  # noqa: D102
        text = values[self.name]
        try:
            return self.kind(text)
        except ValueError:
            number = "a whole number" if self.kind is int else "a number"
            raise TasksError(f"{self.name} is {text!r}; give {number}") from None


def use_sim_time(values: Values) -> bool:
    """Return True if the nodes take their time from /clock.

    Raises:
        TasksError: the argument excludes the simulated time that the others need.
    """
    simulated = Arg("speed", float)(values) != 1.0 or values.get("world") == "contact"
    requested = values.get("use_sim_time", AUTO)
    if requested == "false" and simulated:
        raise TasksError(
            "use_sim_time is false, but contact physics, and a speed other than 1, run in"
            " simulated time; leave it out"
        )
    return simulated if requested == AUTO else requested == "true"


ARGUMENTS = (
    Argument("robot", DEFAULT_ROBOT, "Robot: a shipped name or the path of a YAML file."),
    Argument(
        "hardware",
        "sim",
        "fake mirrors commands; sim runs the servos' driver on emulated servos; real moves the"
        " servos.",
        HARDWARE,
    ),
    Argument(
        "backend",
        AUTO,
        f"What drives the servos of sim and real. {BACKENDS_HELP}.",
        backend_names(),
    ),
    Argument(
        "exit_action",
        "auto",
        "Action of the servos when the driver ends: hold, park and then release, release, or auto:"
        " release real ones, hold others.",
        EXIT_ACTIONS,
    ),
    Argument(
        "calibration",
        "",
        "Servo calibration: a shipped name or a path; empty means the robot's own.",
    ),
    Argument(
        "world",
        "auto",
        "What decides where the simulated nut is: geometric (rules), contact (physics of contact"
        " and friction, driven by the servos' pulses; needs MuJoCo), or auto: contact for the nut"
        " transfer as shipped, geometric for other arms, scenes, tasks and speeds.",
        (AUTO, *WORLDS),
    ),
    Argument("scene", DEFAULT_SCENE, "Scene: a shipped name or the path of a YAML file."),
    Argument("task", DEFAULT_TASK, "Task: a shipped name or the path of a YAML file."),
    Argument(
        "task_path",
        "",
        "Folders, separated by colons, whose files a request to the task server may name.",
    ),
    Argument(
        "viewer",
        "rviz",
        "View: rviz, browser (prints its address), or none.",
        ("rviz", "browser", "none"),
    ),
    Argument("viewer_port", "8080", "First TCP port to try for the browser view."),
    Argument(
        "viewer_host", "127.0.0.1", "Address that serves the view; 0.0.0.0: the whole network."
    ),
    Argument(
        "viewer_allowed_hosts",
        "",
        "Names in the view's address, separated by spaces, besides this computer's own.",
    ),
    Argument(
        "part",
        "all",
        "What this computer runs: all, hardware (the servo driver alone), or rest (everything but"
        " the driver, which runs on another one).",
        ("all", "hardware", "rest"),
    ),
    Argument(
        "network",
        "auto",
        "Who reaches the nodes: this_computer, subnet (every computer of the network), or auto: as"
        " ARM_NETWORK says, this computer if it is not set.",
        tuple(NETWORKS),
    ),
    Argument(
        "speed",
        "1.0",
        "Pace of the simulated time, 1 = real time; contact physics are slower where the computer"
        " is; refused with hardware:=real.",
    ),
    Argument(
        "composed",
        "true",
        "Whether state publisher, kinematics, nut world and task server share one process; false:"
        " a process for each, for debugging.",
        ("true", "false"),
    ),
    Argument(
        "params_file",
        "",
        "Parameters of the nodes, by node; they win over the other arguments.",
    ),
    Argument(
        "log_level",
        "info",
        "Least severity of the messages that the nodes log.",
        ("debug", "info", "warn", "error", "fatal"),
    ),
)
# Of the launch files alone; a file may give another default.
LAUNCH_ARGUMENTS = (
    Argument(
        "tasks",
        "false",
        "Whether to run tasks: task server, scene and, unless hardware is real, the simulated"
        " world.",
        ("true", "false"),
    ),
    Argument(
        "moveit_group",
        "arm",
        "Planning group of compute_ik; none: move_group serves it and compute_fk.",
    ),
    Argument(
        "when_done",
        AUTO,
        "What to do when all tasks have ended or failed: shutdown ends the launch, stay keeps it"
        " running; auto: stay with a view, shutdown without one.",
        (AUTO, "shutdown", "stay"),
    ),
    Argument(
        "when_failed",
        "shutdown",
        "What to do when a node ends or the view is closed: shutdown ends the launch; stay keeps"
        " the other nodes running, for files that include this one.",
        ("shutdown", "stay"),
    ),
    Argument(
        "use_sim_time",
        AUTO,
        "Whether the nodes take their time from /clock: true if a simulator or a recording"
        " publishes it, or auto: if the driver does, for contact physics and speeds other than 1.",
        (AUTO, "true", "false"),
    ),
    Argument("rviz_config", "", "RViz configuration; empty means a copy of the shipped one."),
    Argument(
        "spacing",
        "0.6",
        "Distance between the bases [m]; more than twice the arms' reach, since neither plans"
        " around the other.",
    ),
)


def default_values(**given: str) -> dict[str, str]:
    """Return the values of all arguments, with the world they choose.

    Raises:
        TasksError: the world is contact physics, which the other values exclude.
    """
    values = {argument.name: argument.default for argument in ARGUMENTS} | given
    return values | {"world": checked_world(values, lambda report: None)}


def check_inputs(values: Values) -> None:
    """Raise InputError if a number or a file that bringup.launch.py needs is invalid.

    Nodes would report it, too, but only after others have started.
    """
    check_speed(values)
    check_simulation(values)
    model = load_robot(values["robot"])
    if values["part"] != "rest" and values["hardware"] != "fake":
        simulated = values["hardware"] == "sim"
        calibration_for(model, values["calibration"], config_folder(), simulated)
    if values["part"] != "hardware" and values["tasks"] == "true":
        check_scene(values)
        folders_in(values["task_path"], "task_path")


def check_simulation(values: Values) -> None:
    """Raise TasksError for emulated servos, unless the package that emulates them is there."""
    if values["part"] != "rest" and not _can_simulate():
        _refuse_simulated("hardware", values["hardware"], ("fake", "real"))


def _can_simulate() -> bool:
    return find_spec(SIMULATION) is not None


def _refuse_simulated(name: str, value: str, others: tuple[str, ...]) -> None:
    """Raise TasksError unless an argument has one of the values that need no simulation."""
    if value not in others:
        raise TasksError(
            f"{name} is {value}, which needs the package {SIMULATION}, which is not installed; "
            f"build it (colcon build --packages-up-to {SIMULATION}), or choose "
            f"{' or '.join(others)}"
        )


def driven_robot(values: Values) -> RobotModel:
    """Return the robot with the limits of its servos; raise InputError for an invalid file."""
    model, hardware = load_robot(values["robot"]), values["hardware"]
    if hardware == "fake" or (values["part"] == "rest" and not values["calibration"]):
        return model
    return robot_with_servos(model, values["calibration"], hardware == "sim")


def check_scene(values: Values) -> None:
    """Raise TasksError for an invalid scene, or one with a nut that the robot cannot hold."""
    model = load_robot(values["robot"])
    scene = load_scene(values["scene"], model.name)
    if model.gripper is None and scene.nut is not None:
        raise TasksError(
            f"{model.name} has no gripper to hold the nut of the scene {values['scene']}; leave"
            " out task and scene, or choose ones that it can do"
        )


def check_speed(values: Values, lower: float = 0.01, upper: float = 100.0) -> None:
    """Raise TasksError unless `speed` is within bounds and fits the hardware."""
    speed, number = values["speed"], math.nan
    with suppress(ValueError):
        number = float(speed)
    if not lower <= number <= upper:
        raise TasksError(f"speed is {speed!r}; give a number from {lower:g} to {upper:g}")
    if number != 1.0 and values["hardware"] == "real":
        raise TasksError(
            f"speed is {speed}, but real servos have no simulated time; leave it out, or choose"
            " the hardware sim"
        )


def check_arms(values: Values) -> None:
    """Raise TasksError if the arguments cannot be those of several arms."""
    arms = values["robots"].split(",") if values["robots"] else []
    if not arms:
        return
    if len(set(arms)) < len(arms) or not all(re.fullmatch(r"[a-z]\w*", arm) for arm in arms):
        raise TasksError(
            f"--robots is {values['robots']}; give different names of letters, digits and _,"
            " separated by commas, such as left,right"
        )
    if values["namespace"]:
        raise TasksError("--namespace is for one arm; --robots names those of several")
    if values["viewer"] == "rviz":
        raise TasksError(
            "--robots has no RViz; use --viewer browser, or ros2 launch arm_tasks"
            " two_arms.launch.py"
        )
    calibrations = len(values["calibration"].split(","))
    if calibrations not in (1, len(arms)):
        raise TasksError(
            f"--calibration has {calibrations} entries for {len(arms)} arms; give one for each"
        )
    try:
        float(values["spacing"])
    except ValueError:
        raise TasksError(f"--spacing is {values['spacing']}; give a length in m") from None


def check_port(values: Values) -> None:
    """Raise TasksError unless `viewer_port` is a TCP port."""
    port = values["viewer_port"]
    if not (port.isdecimal() and 0 < int(port) < 65536):
        raise TasksError(f"viewer_port is {port!r}; give a number from 1 to 65535")


def checked_world(values: Values, report: Callable[[str], object]) -> str:
    """Return the world of a run: geometric, with a report, where contact physics cannot run.

    By default it is contact physics for the transfer as shipped, which is known to succeed there;
    without the package arm_simulation it stays auto, for which nothing is started.

    Raises:
        TasksError: other arguments or the arm exclude contact physics, or a world is asked for
            that is not installed.
    """
    if not _can_simulate():
        _refuse_simulated("world", values["world"], ("auto",))
        return "auto"
    if values["world"] == "geometric":
        return "geometric"
    if values["world"] == AUTO and _unlike_shipped(values):
        return "geometric"
    for name, needed, reason in _FOR_CONTACT:
        if values.get(name, needed[0]) not in needed:
            raise TasksError(
                f"world is contact, but {name} is {values[name]}: {reason};"
                f" give {needed[0] or 'none'}, or the geometric world"
            )
    if find_spec("mujoco") is None:
        report("Contact physics need MuJoCo, which is not installed; the world is geometric.")
        return "geometric"
    pulse_calibration(load_robot(values["robot"]), values["calibration"])
    return "contact"


def judge_of(values: Values, world: str) -> str:
    """Return a sentence that names what judges a run in a world, and why; "" if nothing does."""
    is_simulated = values["hardware"] != "real" and values["part"] != "hardware"
    if not is_simulated or values.get("tasks") == "false" or world not in WORLDS:
        return ""
    name = _unlike_shipped(values) if values["world"] == AUTO else ""
    reason = f", since {name} is {values[name]} and world is {AUTO}" if name else ""
    return f"The judge of the task: {WORLDS[world].words}{reason}."


def _unlike_shipped(values: Values) -> str:
    """Return the first argument that the nut can feel and that is not as shipped, or ""."""
    defaults = {argument.name: argument.default for argument in ARGUMENTS}
    for name, needed, _ in _FOR_CONTACT:
        if values.get(name, needed[0]) not in needed:
            return name
    if Arg("speed", float)(values) != 1.0:
        return "speed"
    felt = (name for name in _FELT if (values.get(name) or defaults[name]) != defaults[name])
    return next(felt, "")


_FELT = ("robot", "hardware", "backend", "calibration", "scene", "task")
_FOR_CONTACT = (
    ("hardware", ("sim",), "the physics are driven by the pulses of the emulated board"),
    (
        "backend",
        (AUTO, *backends_of(PCA9685)),
        "the physics are driven by the pulses of a PCA9685",
    ),
    ("part", ("all",), "the physics read the registers of the board on this computer"),
    ("tasks", ("true",), "the physics are those of a task's scene"),
    ("robots", ("",), "the physics simulate one arm"),
    ("prefix", ("",), "the physics simulate one arm"),
)
