# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Python functions of other packages, which the step run_function calls by their entry points."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from arm_common.errors import one_line
from arm_common.suggestions import did_you_mean

from arm_tasks.errors import PlanError

GROUP = "arm_tasks.steps"
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
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        known = did_you_mean(name, found) if found else "no installed package has one"
        raise PlanError(
            f"there is no function '{name}' among the entry points of {GROUP}; {known}"
        )
    try:
        function = found[name].load()
    except Exception as error:  # noqa: BLE001  # whatever the package does when it is imported
        why = f"{type(error).__name__}: {one_line(str(error))}"
        raise PlanError(f"the function '{name}' cannot be imported: {why}") from None
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
