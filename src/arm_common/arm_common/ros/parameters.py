# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Node parameters: a dataclass with one field each, declared and checked in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_common.errors import InputError

# mypy: disable-error-code="no-untyped-call"


_Values = TypeVar("_Values")
_SPEC = "spec"
_NOUNS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


class ParameterError(InputError):
    """A parameter has an invalid value."""


@dataclass(frozen=True)
class ParameterSpec:
    """Type, range and description of a parameter; the type is that of the default."""

    default: Any  # a tuple for a list
    description: str  # for `ros2 param describe` and the reference pages
    low: float = -math.inf  # minimum of a number, or of each entry of a list
    high: float = math.inf  # its maximum; numbers need both
    choices: Sequence[str] = ()  # allowed strings; empty for any
    any_time: bool = False  # whether it can be set while the node runs

    def __post_init__(self) -> None:
        """Raise ValueError for a number without a range."""
        if _is_number(self._sample) and not math.isfinite(self.high - self.low):
            raise ValueError(f"no range of the number with the description {self.description!r}")

    @property
    def _sample(self) -> Any:
        """The default, or an entry of a list."""
        return self.default[0] if isinstance(self.default, tuple) else self.default

    def checked(self, name: str, value: Any) -> Any:
        """Return a value in the type of the parameter; raise a ParameterError if it is invalid."""
        converted = self._converted(value)
        entries = converted if isinstance(converted, tuple) else (converted,)
        if (
            converted is None
            or any(_is_number(entry) and not self.low <= entry <= self.high for entry in entries)
            or (self.choices and converted not in self.choices)
        ):
            raise ParameterError(f"parameter {name} is {_text(value)}; expected {self._expected}")
        return converted

    @property
    def _expected(self) -> str:
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        bounded = "" if math.isinf(self.low) else f" from {self.low:g} to {self.high:g}"
        each = "a list, each entry " if isinstance(self.default, tuple) else ""
        return f"{each}{_NOUNS[type(self._sample)]}{bounded}"

    def _converted(self, value: Any) -> Any:
        """Return a value in the type of the default; None if it cannot be converted."""
        if not isinstance(self.default, tuple):
            return _as_type(type(self._sample), value)
        entries = [] if value is None or isinstance(value, str | int | float) else value
        converted = tuple(_as_type(type(self._sample), entry) for entry in entries)
        return None if None in converted or not converted else converted

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor; rclpy enforces it for values that are set later."""
        kind = Parameter.Type.from_parameter_value(_plain(self.default)).value
        descriptor = ParameterDescriptor(
            type=kind,
            description=self.description,
            read_only=not self.any_time,
            additional_constraints=self._expected if self.choices else "",
        )
        if not math.isinf(self.low) and isinstance(self._sample, int):
            limits = IntegerRange(from_value=int(self.low), to_value=int(self.high))
            descriptor.integer_range = [limits]
        elif not math.isinf(self.low):
            bounds = FloatingPointRange(from_value=self.low, to_value=self.high)
            descriptor.floating_point_range = [bounds]
        return descriptor


def parameter(default: Any, description: str, **more: Any) -> Any:
    """Return a dataclass field that declares a parameter; see `ParameterSpec`."""
    spec = ParameterSpec(default, description, **more)
    return field(default=default, metadata={_SPEC: spec})


def specs_of(kind: type) -> dict[str, ParameterSpec]:
    """Return the specs of a dataclass's `parameter` fields by name."""
    return {entry.name: entry.metadata[_SPEC] for entry in fields(kind)}


def declare(node: Node, kind: type[_Values], prefix: str = "") -> _Values:
    """Declare the parameters of a dataclass (its `parameter` fields) and return their values.

    Raises:
        ParameterError: A parameter has an invalid value; the message says what is expected.
    """
    specs = specs_of(kind).items()
    return kind(**{name: declare_one(node, prefix + name, spec) for name, spec in specs})


def declare_one(node: Node, name: str, spec: ParameterSpec) -> Any:
    """Declare one parameter and return its value, as `declare` does."""
    untyped = ParameterDescriptor(dynamic_typing=True)  # rclpy's own type check explains less
    given = node.declare_parameter(name, _plain(spec.default), untyped).value
    value = spec.checked(name, given)
    if type(given) is not type(_plain(value)):
        node.set_parameters([Parameter(name, value=_plain(value))])
    node.set_descriptor(name, spec.descriptor())
    return value


def check_requests(node: Node) -> None:
    """Let a node refuse parameters of a type that does not exist, for which rclpy raises.

    If a callback that checks or takes parameters raises, they have their old values again.
    """
    for service in node.services:
        if service.srv_type in (SetParameters, SetParametersAtomically):
            service.callback = partial(_set_parameters, node, service.callback)


def _set_parameters(
    node: Node, callback: Callable[[Any, Any], Any], request: Any, response: Any
) -> Any:
    """Answer a request to set parameters; refuse it if a type does not exist."""
    types = {kind.value for kind in Parameter.Type}
    wrong = [p.name for p in request.parameters if p.value.type not in types]
    if not wrong:
        return _set_or_restore(node, callback, request, response)
    refused = SetParametersResult(reason=f"parameter {wrong[0]} has a type that does not exist")
    if isinstance(response, SetParameters.Response):
        response.results = [refused] * len(request.parameters)
    else:
        response.result = refused
    return response


def _set_or_restore(
    node: Node, callback: Callable[[Any, Any], Any], request: Any, response: Any
) -> Any:
    names = [p.name for p in request.parameters if node.has_parameter(p.name)]
    before = node.get_parameters(names)
    try:
        return callback(request, response)
    except Exception:
        with suppress(Exception):  # it may raise again
            node.set_parameters_atomically(before)
        raise


def _as_type(kind: type, value: Any) -> Any:
    """Return a value converted to a type; None if it has another type or is not finite."""
    is_finite = _is_number(value) and math.isfinite(value)
    if kind is float and is_finite:
        return float(value)
    if kind is int and is_finite and int(value) == value:
        return int(value)
    return value if type(value) is kind else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
