# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The one table of processes: `ros2 launch` and `./arm` both start what stands here.

What a row of the table of processes is made of; values may be placeholders.

The launch file turns a placeholder into a launch substitution, `arm_tasks.processes` into the
value itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ament_index_python.packages import PackageNotFoundError, get_package_prefix


@dataclass(frozen=True)
class Argument:
    """An argument of the whole start.

    Attributes:
        name: as written in `name:=value`.
        default: value if it is not given.
        text: description for people.
        choices: the values allowed; empty: any.
    """

    name: str
    default: str
    text: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Arg:
    """The value of an argument, as text or as a number of the kind that ROS expects."""

    name: str
    kind: type[str] | type[int] | type[float] = str


@dataclass(frozen=True)
class UseSimTime:
    """True if the simulated time does not run at the speed of the clock on the wall."""


@dataclass(frozen=True)
class RobotDescription:
    """The URDF text of the robot that the argument `robot` names."""


@dataclass(frozen=True)
class ConfigFile:
    """Path of a file that a package installs under share/."""

    package: str
    file: str


Placeholder = Arg | UseSimTime | RobotDescription | ConfigFile
Value = str | float | bool | Placeholder


@dataclass(frozen=True)
class Process:
    """One process of the table.

    Attributes:
        package: ROS package of the executable.
        executable: its name under lib/<package>/.
        name: node name.
        parameters: ROS parameters.
        arguments: command-line arguments before the ROS arguments.
        when: argument name -> values for which the process is started; empty: always.
        ends_all: its end is the end of the run (where nobody looks at a viewer).
        talks: what it says is for the person at the terminal, not for a log file.
    """

    package: str
    executable: str
    name: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    arguments: tuple[Value, ...] = ()
    when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ends_all: bool = False
    talks: bool = False

    @property
    def enclave(self) -> str:
        """Whose keys it has where ROS 2 asks for keys (docs/security.md)."""
        return f"/arm/{self.name}"


ARGUMENTS = (
    Argument("robot", "nut_arm", "Robot: a shipped name or the path of a YAML file."),
    Argument(
        "hardware",
        "sim",
        "fake mirrors commands; sim is Adafruit's driver on an emulated servo board; real moves"
        " the servos.",
        ("fake", "sim", "real"),
    ),
    Argument(
        "backend",
        "servokit",
        "What drives the board of sim and real: servokit is Adafruit's library, i2c_dev needs"
        " none.",
        ("servokit", "i2c_dev"),
    ),
    Argument(
        "exit_action",
        "auto",
        "What the servos do when the driver ends: hold, park and then release, release, or auto:"
        " release real ones, hold others.",
        ("auto", "hold", "park", "release"),
    ),
    Argument(
        "calibration",
        "",
        "Servo calibration: a shipped name or a path; empty means the robot's own.",
    ),
    Argument("scene", "nut_transfer", "Scene: a shipped name or the path of a YAML file."),
    Argument("task", "nut_transfer", "Task: a shipped name or the path of a YAML file."),
    Argument(
        "viewer",
        "rviz",
        "Where to look: rviz, browser (prints its address), or none (ends with the task).",
        ("rviz", "browser", "none"),
    ),
    Argument("viewer_port", "8080", "First TCP port to try for the browser view."),
    Argument("viewer_host", "127.0.0.1", "Where the view is served; 0.0.0.0: the whole network."),
    Argument(
        "part",
        "all",
        "What this computer runs: all, hardware (the servo driver alone), or rest (everything but"
        " the driver, which runs on another one).",
        ("all", "hardware", "rest"),
    ),
    Argument(
        "speed", "1.0", "Pace of the simulated time, 1 = real time; refused with hardware:=real."
    ),
)

OF_THE_ARM = ("robot", "hardware", "backend", "exit_action", "calibration", "part", "speed")
BRINGUP_ARGUMENTS = (
    *(argument for argument in ARGUMENTS if argument.name in OF_THE_ARM),
    Argument(
        "moveit_group",
        "arm",
        "Planning group of compute_ik; none: move_group is to serve it and compute_fk.",
    ),
)

SIMULATED = ("fake", "sim")
REST = {"part": ("all", "rest")}
TF_RATE = 30.0  # Hz at most: tf for every second of the joint_states, which come every 20 ms


def state_publisher_package() -> str:
    """Return the package that publishes tf: the standard one where it is installed."""
    try:
        get_package_prefix("robot_state_publisher")
    except PackageNotFoundError:
        return "arm_description"
    return "robot_state_publisher"


def processes(state_publisher: str) -> tuple[Process, ...]:
    """Return the processes of the nut transfer, in the order to start them.

    Args:
        state_publisher: package that publishes robot_description and tf: robot_state_publisher
            where it is installed, else arm_description, whose own has the same behaviour.
    """
    own = state_publisher == "arm_description"
    return (
        Process(
            state_publisher,
            "state_publisher" if own else "robot_state_publisher",
            "robot_state_publisher",
            {
                "robot_description": RobotDescription(),
                "publish_frequency": TF_RATE,
                "use_sim_time": UseSimTime(),
            },
            when=REST,
        ),
        Process(
            "arm_hardware",
            "hardware",
            "arm_hardware",
            {
                "robot": Arg("robot"),
                "hardware": Arg("hardware"),
                "backend": Arg("backend"),
                "exit_action": Arg("exit_action"),
                "calibration": Arg("calibration"),
                "speed": Arg("speed", float),
                "autostart": "auto",
            },
            when={"part": ("all", "hardware")},
        ),
        Process(
            "arm_kinematics",
            "kinematics",
            "kinematics",
            {"use_sim_time": UseSimTime()},
            when=REST,
        ),
        Process(
            "arm_tasks",
            "nut_world",
            "nut_world",
            {"robot": Arg("robot"), "scene": Arg("scene"), "use_sim_time": UseSimTime()},
            when={**REST, "hardware": SIMULATED},
        ),
        Process(
            "arm_tasks",
            "task_server",
            "task_server",
            {"robot": Arg("robot"), "scene": Arg("scene"), "use_sim_time": UseSimTime()},
            when=REST,
        ),
        Process(
            "arm_viewer",
            "viewer",
            "arm_viewer",
            {
                "robot": Arg("robot"),
                "port": Arg("viewer_port", int),
                "host": Arg("viewer_host"),
                "drive": True,
                "use_sim_time": UseSimTime(),
            },
            when={**REST, "viewer": ("browser",)},
            talks=True,
        ),
        Process(
            "arm_viewer",
            "tool_handle",
            "tool_handle",
            {"use_sim_time": UseSimTime()},
            when={**REST, "viewer": ("rviz",)},
        ),
        Process(
            "rviz2",
            "rviz2",
            "rviz2",
            {"use_sim_time": UseSimTime()},
            arguments=("-d", ConfigFile("arm_tasks", "rviz/nut_transfer.rviz")),
            when={**REST, "viewer": ("rviz",)},
        ),
        Process(
            "arm_tasks",
            "run_task",
            "run_task",
            arguments=(Arg("task"), "--scene", Arg("scene"), "--robot", Arg("robot")),
            when=REST,
            ends_all=True,
            talks=True,
        ),
    )


def bringup_processes(state_publisher: str) -> tuple[Process, ...]:
    """Return the processes that make an arm ready for the commands of others."""
    by_name = {process.name: process for process in processes(state_publisher)}
    kinematics = by_name["kinematics"]
    served = {**kinematics.parameters, "moveit_group": Arg("moveit_group")}
    return (
        by_name["robot_state_publisher"],
        by_name["arm_hardware"],
        replace(kinematics, parameters=served),
    )


def view_processes(state_publisher: str) -> tuple[Process, ...]:
    """Return the processes for looking at a robot and moving it in the browser.

    The picture follows the robot's file whenever it is saved.
    """
    by_name = {process.name: process for process in processes(state_publisher)}
    publisher, kinematics = by_name["robot_state_publisher"], by_name["kinematics"]
    viewer = Process(
        "arm_viewer",
        "viewer",
        "arm_viewer",
        {"robot": Arg("robot"), "port": Arg("viewer_port", int), "sliders": True},
        talks=True,
    )
    watcher = Process(
        "arm_description",
        "robot_file_watcher",
        "robot_file_watcher",
        {"robot": Arg("robot"), "publisher": publisher.name},
        talks=True,
    )
    return (publisher, viewer, kinematics, watcher)


def play_processes(state_publisher: str, arguments: tuple[str, ...]) -> tuple[Process, ...]:
    """Return the processes for looking at a robot while it plays a trajectory.

    Args:
        state_publisher: as of processes().
        arguments: of the player.
    """
    player = Process(
        "arm_tasks", "play", "play_trajectory", arguments=arguments, ends_all=True, talks=True
    )
    return (*view_processes(state_publisher), player)
