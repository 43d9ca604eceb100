# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo, which is optional: there is no wheel for every Python and machine."""

from __future__ import annotations

import importlib
import logging
from functools import cache
from typing import Any

from arm_common.suggestions import install_command

from arm_tasks.errors import TasksError

_LOGGER = logging.getLogger(__name__)


def mujoco() -> Any:
    """Return the module; raise TasksError if it is not installed."""
    try:
        return _module()
    except ImportError as error:
        raise TasksError(
            f"contacts and collisions need MuJoCo, which is not installed ({error})",
            remedy=install_command("mujoco"),
        ) from None


@cache
def _module() -> Any:
    module = importlib.import_module("mujoco")
    # By default it writes warnings into a file in the current folder.
    module.set_mju_user_warning(_log_warning)
    return module


def _log_warning(text: str) -> None:
    _LOGGER.warning("MuJoCo: %s", text)


def has_mujoco() -> bool:
    """Return True if it is installed."""
    try:
        mujoco()
    except TasksError:
        return False
    return True
