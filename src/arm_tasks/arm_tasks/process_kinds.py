# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a row of the table of processes is made of; values may be placeholders.

The launch file turns a placeholder into a launch substitution, `arm_tasks.processes` into the
value itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


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
