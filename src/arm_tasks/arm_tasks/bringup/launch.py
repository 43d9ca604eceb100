# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/launch/test_end_of_launch.py
"""What the launch files share: arguments and their checks, nodes, and what ends the launch.

A launch configuration is read here only when a launch file is visited, never in an event handler:
by then, the scope of an included file is gone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from launch import LaunchContext, Substitution
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.conditions import IfCondition, UnlessCondition
from launch.event_handlers import OnProcessExit, OnProcessStart
from launch.logging import get_logger, launch_config
from launch.substitutions import EqualsSubstitution, LaunchConfiguration
from launch.utilities import normalize_to_list_of_substitutions as normalize
from launch.utilities import perform_substitutions
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from arm_tasks.bringup.arguments import (
    ARGUMENTS,
    AUTO,
    LAUNCH_ARGUMENTS,
    check_inputs,
    check_port,
    checked_world,
    judge_of,
    use_sim_time,
)
from arm_tasks.bringup.processes import Process, copy_for_editing, resolve
from arm_tasks.errors import TasksError
from arm_tasks.task.parser import load_task

# mypy: disable-error-code="attr-defined, misc"

_TASKS = "arm_tasks"  # name of a global of the launch context
_SEE = "its last line gives the reason"


@dataclass
class _Tasks:
    """The tasks of a launch, whichever files started them."""

    running: set[Any] = field(default_factory=set)  # their clients, actions of launch
    have_failed: bool = False  # or a node without which the launch goes on
    is_reported: bool = False  # whether the launch already ends with an error


def declared(*names: str) -> list[Any]:
    """Declare arguments as `arguments.py` has them."""
    table = {argument.name: argument for argument in (*ARGUMENTS, *LAUNCH_ARGUMENTS)}
    return [
        DeclareLaunchArgument(
            name,
            default_value=table[name].default,
            description=table[name].text,
            choices=list(table[name].choices) or None,
        )
        for name in names
    ]


def table_node(
    process: Process,
    *files: Any,
    condition: Any = None,
    arguments: Sequence[Any] = (),
) -> OpaqueFunction:
    """Return the start of a process of the table, and what its end means.

    It prints to the terminal, with the log level of the launch.

    Args:
        process: It; its parameters follow from the arguments of the launch, as in the table.
        files: Files of parameters; they win, the last one first; an empty path is none.
        condition: Whether it is started.
        arguments: Its arguments on the command line, if other ones than those of the table.
    """

    def start(context: LaunchContext) -> list[Any]:
        values = context.launch_configurations
        parameters: dict[str, Any] = {"prefix": values.get("prefix", "")}
        parameters |= {name: resolve(value, values) for name, value in process.parameters.items()}
        for name, value in parameters.items():
            if isinstance(value, str):  # even if it looks like a number
                parameters[name] = ParameterValue(value, value_type=str)
        paths = [perform_substitutions(context, [*normalize(file)]) for file in files]
        level = LaunchConfiguration("log_level", default="info")  # two_arms declares none
        node = Node(
            package=process.package,
            executable=process.executable,
            name=process.remapping or None,
            namespace=process.namespace or None,
            parameters=[parameters, *(path for path in paths if path)],
            output="screen",
            arguments=[*(arguments or (resolve(word, values) for word in process.arguments))],
            ros_arguments=["--enclave", process.enclave, "--log-level", level],
        )
        if process.ends_all:
            return [*_task_handlers(node), node]
        return [*exit_handlers([node], on_view_exit if process.is_view else on_node_exit), node]

    return OpaqueFunction(function=start, condition=condition)


def viewed_in(kind: str) -> IfCondition:
    """Return the condition that the view is of a kind."""
    return IfCondition(EqualsSubstitution(LaunchConfiguration("viewer"), kind))


def view_arguments() -> list[Any]:
    """Declare what a launch file with a view does at the end, and the configuration of RViz."""
    return [*declared("when_done", "rviz_config"), OpaqueFunction(function=_choose_end)]


def _choose_end(context: LaunchContext) -> None:
    values = context.launch_configurations
    if values["when_done"] == AUTO:
        values["when_done"] = "shutdown" if values["viewer"] == "none" else "stay"


class IncludedFile(IncludeLaunchDescription):
    """An included launch file; what is set here is no argument of the including file."""

    def get_sub_entities(self) -> list[Any]:
        """Return the arguments that users may set."""
        taken = {name for name, _ in self.launch_arguments}
        arguments = (a for file in super().get_sub_entities() for a in file.get_launch_arguments())
        return [argument for argument in arguments if argument.name not in taken]


def check_arguments(context: LaunchContext) -> None:
    """Raise an error for an argument of bringup.launch.py that launch itself does not check.

    Without MuJoCo, the world becomes geometric.
    """
    values = context.launch_configurations
    check_inputs(values)
    log = get_logger("arm_tasks")
    world = checked_world(values, log.warning)
    if judge := judge_of(values, world):
        log.info(judge)
    values["world"] = world
    use_sim_time(values)


def check_task_and_port(context: LaunchContext) -> None:
    """Raise an error for a task or a port that launch itself does not check."""
    values = context.launch_configurations
    check_port(values)
    if values["part"] != "hardware":
        load_task(values["task"])


def on_node_exit(event: Any, context: LaunchContext) -> list[Any] | None:
    """End the launch with a node of the arm, with an error unless its exit code is 0."""
    if _ends_already(context):
        return None
    if event.returncode != 0:
        code = event.returncode
        raise _error(context, f"{event.process_name} ended with code {code}; {_SEE}")
    return [Shutdown(reason=f"{event.process_name} ended")]


def on_spared_exit(event: Any, context: LaunchContext) -> list[Any] | None:
    """Keep the launch when a node has ended or a view was closed; report it."""
    tasks = _tasks(context)
    tasks.have_failed |= event.returncode != 0 and not context.is_shutdown
    if _ends_already(context):
        return None
    failed = f"failed with code {event.returncode}; {_SEE}"
    outcome = "ended" if event.returncode == 0 else failed
    return [LogInfo(msg=f"{event.process_name} {outcome}; the other nodes are left running")]


def exit_handlers(
    nodes: Sequence[Any],
    on_exit: Callable[[Any, LaunchContext], list[Any] | None] = on_node_exit,
    otherwise: Callable[[Any, LaunchContext], list[Any] | None] = on_spared_exit,
    argument: str = "when_failed",
) -> list[Any]:
    """Return what happens when nodes end, by an argument; to be added before them."""
    ends_launch = EqualsSubstitution(LaunchConfiguration(argument), "shutdown")

    def register(handle: Callable[..., Any], condition: Any) -> RegisterEventHandler:
        ended = OnProcessExit(target_action=lambda action: action in nodes, on_exit=handle)
        return RegisterEventHandler(ended, condition=condition)

    return [
        register(on_exit, IfCondition(ends_launch)),
        register(otherwise, UnlessCondition(ends_launch)),
    ]


def _task_handlers(client: Node) -> list[Any]:
    """Return what start and end of the client that runs a task mean for the launch."""
    started = OnProcessStart(target_action=client, on_start=on_task_start)
    ended = exit_handlers([client], on_last_task_exit, on_task_exit, "when_done")
    return [RegisterEventHandler(started), *ended]


def on_view_exit(event: Any, context: LaunchContext) -> list[Any] | None:
    """End the launch with its view, with an error unless all tasks have succeeded."""
    tasks = _tasks(context)
    if not context.is_shutdown and event.returncode == 0 and tasks.running:
        raise _error(context, "a view was closed before all tasks had ended")
    if not context.is_shutdown and event.returncode == 0 and tasks.have_failed:
        raise _error(context, "a task had failed when the view was closed")
    return on_node_exit(event, context)


def on_task_start(event: Any, context: LaunchContext) -> None:
    """Register a task of the launch."""
    _tasks(context).running.add(event.action)


def on_task_exit(event: Any, context: LaunchContext) -> list[Any] | None:
    """Keep the launch when a task has ended; report a failure."""
    tasks = _end(event, context)
    if _ends_already(context):
        return None
    outcome = f"failed; {_SEE}" if event.returncode != 0 else "is done"
    left = (
        "" if tasks.running else "; the launch stays up until Ctrl-C or until its view is closed"
    )
    return [LogInfo(msg=f"{event.process_name}: the task {outcome}{left}")]


def on_last_task_exit(event: Any, context: LaunchContext) -> list[Any] | None:
    """End the launch when its last task has ended, with an error if any task has failed."""
    tasks = _end(event, context)
    if _ends_already(context):
        return None
    if tasks.running:
        return None
    if tasks.have_failed:
        raise _error(context, f"the task failed; {_SEE}")
    return [Shutdown(reason="the task is done")]


class RvizConfig(Substitution):
    """Path of an RViz configuration; without one, of a copy of the shipped one."""

    def __init__(self, file: Any, shipped: Any) -> None:
        super().__init__()
        self._file, self._shipped = normalize(file), normalize(shipped)

    def describe(self) -> str:
        """Return its text in messages of launch."""
        return "RvizConfig()"

    def perform(self, context: LaunchContext) -> str:
        """Return the path."""
        file: str = perform_substitutions(context, self._file)
        if not file:
            shipped = Path(perform_substitutions(context, self._shipped))
            return str(copy_for_editing(shipped, Path(launch_config.log_dir)))
        if not Path(file).is_file():
            raise TasksError(f"rviz_config is {file}, which is not a file; give a path")
        return file


def _end(event: Any, context: LaunchContext) -> _Tasks:
    tasks = _tasks(context)
    tasks.running.discard(event.action)
    tasks.have_failed |= event.returncode != 0
    return tasks


def _ends_already(context: LaunchContext) -> bool:
    """Return whether the launch is shut down; raise an error if a task has failed.

    After Ctrl-C, launch would return 0.
    """
    tasks = _tasks(context)
    if context.is_shutdown and tasks.have_failed and not tasks.is_reported:
        raise _error(
            context, "the launch was shut down after a task or a node had failed, or during a task"
        )
    return bool(context.is_shutdown)


def _error(context: LaunchContext, reason: str) -> RuntimeError:
    """Return the error that ends the launch, which processes that end later do not repeat."""
    _tasks(context).is_reported = True
    return RuntimeError(reason)


def _tasks(context: LaunchContext) -> _Tasks:
    """Return the tasks of a launch."""
    if _TASKS not in context.get_locals_as_dict():
        context.extend_globals({_TASKS: _Tasks()})
    tasks: _Tasks = context.get_locals_as_dict()[_TASKS]
    return tasks
