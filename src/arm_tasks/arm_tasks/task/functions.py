# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/task_server/test_other_nodes.py
"""Python functions of other packages, which the step run_function calls by their entry points."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from arm_common.errors import InputError
from arm_common.plugins import PluginGroup

from arm_tasks.errors import PlanError

FUNCTIONS = PluginGroup("arm_tasks.steps", "function")
_CANCELED = "canceled"  # an argument of this name gets a function


def load_function(
    name: str, arguments: Mapping[str, Any]
) -> Callable[[Callable[[], bool]], object]:
    """Return a call of the function of an entry point with keyword arguments.

    It is called with a function that returns whether the step was cancelled, which it passes on
    as the argument `canceled` if there is one.

    Raises:
        PlanError: There is no such entry point, it cannot be imported, or the arguments do not
            fit.
    """
    try:
        function = FUNCTIONS.load(name)
    except InputError as error:
        raise PlanError(error.problem, remedy=error.remedy) from None
    takes_canceled = _fit(name, function, arguments)

    def call(canceled: Callable[[], bool]) -> object:
        more = {_CANCELED: canceled} if takes_canceled else {}
        return function(**arguments, **more)

    return call


def _fit(name: str, function: object, arguments: Mapping[str, Any]) -> bool:
    """Return whether the function takes `canceled`; raise PlanError if arguments do not fit."""
    if not callable(function):
        raise PlanError(f"the entry point '{name}' is not a function")
    try:
        signature = inspect.signature(function)
    except ValueError:  # of a function in C
        return False
    takes = _CANCELED in signature.parameters and _CANCELED not in arguments
    try:
        signature.bind(**arguments, **({_CANCELED: None} if takes else {}))
    except TypeError as error:
        raise PlanError(f"the arguments of the function '{name}' do not fit: {error}") from None
    return takes
