# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/contact/test_model_cache.py
"""MuJoCo, which is optional: there is no wheel for every Python and machine."""

from __future__ import annotations

import importlib
import logging
from functools import cache, partial
from typing import Any

from arm_common.suggestions import install_command

from arm_tasks.errors import TasksError

_LOGGER = logging.getLogger(__name__)


@cache
def mujoco() -> Any:
    """Return the module; raise TasksError if it is not installed."""
    try:
        module = importlib.import_module("mujoco")
    except ImportError as error:
        raise TasksError(
            f"contacts and collisions need MuJoCo, which is not installed ({error})",
            remedy=install_command("mujoco"),
        ) from None
    # By default it writes warnings into a file in the current folder.
    module.set_mju_user_warning(partial(_LOGGER.warning, "MuJoCo: %s"))
    return module


def has_mujoco() -> bool:
    """Return True if it is installed."""
    try:
        mujoco()
    except TasksError:
        return False
    return True
