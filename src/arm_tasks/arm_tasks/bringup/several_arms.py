# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Several arms in one graph: each in a namespace, side by side in one world with one view.

The arms stand farther apart than they reach, since none plans around another one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from arm_description.library import load_robot
from arm_description.model.elements import Origin
from arm_description.urdf.writer import merged_urdf, robot_urdf

from arm_tasks.bringup.arguments import Values
from arm_tasks.bringup.processes import Process, Value, chosen, in_namespace, is_enabled, processes
from arm_tasks.errors import TasksError

DEFAULT_SPACING = 0.6  # [m] between the bases; nut_arm reaches 0.27 m from its own
WORLD = "world"
_STOP = "arm_hardware/emergency_stop"
_MARKERS = ("scene_markers", "task_markers", "kinematics_markers")


def marker_topics(arms: Sequence[str]) -> list[str]:
    """Return the topics of markers of all arms."""
    return [f"{arm}/{topic}" for arm in arms for topic in _MARKERS]


def world_urdf(robot: str, arms: Sequence[str], spacing: float) -> str:
    """Return the URDF of equal arms side by side along y, the first one on the left.

    Args:
        robot: Shipped name or path.
        arms: Names of the arms; each with `_` is the prefix of its names.
        spacing: Distance between the bases [m].
    """
    model, middle = load_robot(robot), (len(arms) - 1) / 2.0
    places = [Origin((0.0, (middle - i) * spacing, 0.0)) for i in range(len(arms))]
    return merged_urdf(
        WORLD,
        [
            robot_urdf(model, f"{arm}_", parent=WORLD, mount=place)
            for arm, place in zip(arms, places, strict=True)
        ],
    )


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
    return [*_world(arms, table), *others, *(_shared(view, arms) for view in views), *tasks]


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


def _of_arm(process: Process, arm: str, calibration: str, publish_clock: bool) -> Process:
    """Return a process of the nodes of one arm."""
    parameters: dict[str, Value] = {**process.parameters, "prefix": f"{arm}_"}
    if "robot_description" in parameters:
        parameters["robot_description"] = partial(_description, prefix=f"{arm}_")
    if process.name == "arm_hardware":
        parameters |= {"calibration": calibration, "publish_clock": publish_clock}
        process = replace(process, remappings={_STOP: f"/{_STOP}"})  # one message stops all arms
    if process.ends_all:
        process = replace(process, arguments=(*process.arguments, "--output", f"output/{arm}"))
    return in_namespace(replace(process, parameters=parameters), arm)


def _description(values: Values, prefix: str) -> str:
    return load_robot(values["robot"]).to_urdf(prefix)


def _world(arms: Sequence[str], table: Sequence[Process]) -> Iterator[Process]:
    """Yield the process that publishes where the arms stand, and the description of all."""
    (publisher,) = (p for p in table if p.name == "robot_state_publisher")

    def urdf(values: Values) -> str:
        return world_urdf(values["robot"], arms, float(values["spacing"]))

    parameters = {**publisher.parameters, "robot_description": urdf}
    yield replace(publisher, parameters=parameters, composable=False)


def _shared(view: Process, arms: Sequence[str]) -> Process:
    """Return the browser view of all arms, which moves none of them."""
    parameters: dict[str, Value] = {**view.parameters, "robot": "", "drive": False}
    parameters |= {"prefix": f"{arms[0]}_", "marker_topics": marker_topics(arms)}
    return replace(view, parameters=parameters)
