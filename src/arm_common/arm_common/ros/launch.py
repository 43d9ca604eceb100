# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What the launch files of all packages share: network and parameter file of their nodes."""

import os
from typing import Any

from launch import LaunchContext
from launch.actions import LogInfo, SetEnvironmentVariable, UnsetEnvironmentVariable

from arm_common.files import check_params_file
from arm_common.network import node_environment, report_reach

# mypy: disable-error-code="attr-defined, misc"

_REACH = "arm_reach"  # global of the launch context: the sentences that have been logged


def set_network(context: LaunchContext) -> list[Any]:
    """Return the actions that let the nodes of a group be reached as `network` says.

    The first of a launch, and each that decides otherwise, logs from where they are reached.

    Raises:
        InputError: ARM_NETWORK has an invalid value.
    """
    chosen = node_environment(os.environ, context.launch_configurations["network"])
    reach = report_reach(chosen)
    logged = context.get_locals_as_dict().get(_REACH, ())
    context.extend_globals({_REACH: (*logged, reach)})
    changed = {name: value for name, value in chosen.items() if os.environ.get(name) != value}
    return [
        *([LogInfo(msg=reach)] if reach and reach not in logged else []),
        *(SetEnvironmentVariable(name, value) for name, value in changed.items()),
        *(UnsetEnvironmentVariable(name) for name in os.environ.keys() - chosen.keys()),
    ]


def check_files(context: LaunchContext) -> None:
    """Raise InputError if the parameter file does not exist: launch itself ignores that."""
    check_params_file(context.launch_configurations)
