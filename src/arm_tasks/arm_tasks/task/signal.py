# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions on values of other nodes: a topic, a service's answer, a distance by tf."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as own_field
from typing import Any, TypeAlias

from arm_common.suggestions import did_you_mean

from arm_tasks.errors import PlanError

Value: TypeAlias = float | str | bool

_PATH = re.compile(r"[a-zA-Z]\w*(\[\d+\])?(\.[a-zA-Z]\w*(\[\d+\])?)*")
_LIST = re.compile(r"sequence<(.+?)(?:, \d+)?>|(.+)\[\d+\]")  # of the type of a field
_KINDS = {bool: "true or false", float: "a number", str: "text"}


@dataclass(frozen=True)
class MessageType:
    """Fields and constants of a message."""

    fields: Mapping[str, str]  # field name -> its type, as in `sequence<double>`
    constants: Mapping[str, Value]  # constant name -> value


MessageTypes: TypeAlias = Callable[[str], MessageType | None]
"""Returns a message type by its name, such as `std_msgs/msg/Bool`; None if it is not installed."""


@dataclass(frozen=True)
class Reading:
    """What is known about a condition at one moment."""

    holds: bool
    reason: str = ""  # why it does not hold, a clause
    failed: bool = False  # whether it can never hold
    known: bool = True  # False while there is no value yet


@dataclass(frozen=True)
class Signal:
    """A condition on one value of other nodes.

    It is a field of the newest message of a topic, a field of a service's answer, or the distance
    of two frames of tf.
    """

    topic: str = ""  # name, relative to the namespace of the task server or absolute
    service: str = ""  # likewise, of a service that is called until the condition holds
    request: Mapping[str, Any] = own_field(default_factory=dict)  # fields of its request
    frames: tuple[str, ...] = ()  # two frames of tf, whose distance [m] is compared
    field: str = ""  # path such as `pose.position.x` or `position[2]`; "" for a distance
    type: str = ""  # type of topic or service; "" for that of its publishers or servers
    equals: Value | None = None  # a number, a text, true or false
    above: float | None = None
    below: float | None = None

    @property
    def source(self) -> str:
        """What it is about: the name of a topic or service, or the frames."""
        return self.topic or self.service or " and ".join(self.frames)

    @property
    def problem(self) -> str:
        """Why it can never be evaluated, whatever the other nodes are; or ""."""
        if sum(map(bool, (self.topic, self.service, self.frames))) != 1:
            return "give one of topic, service and frames"
        bounds = self.above is not None or self.below is not None
        if (self.equals is not None) == bounds or (self.frames and not bounds):
            either = "" if self.frames else "either equals, or "
            return f"give {either}above and below"
        if self.above is not None and self.below is not None and self.above >= self.below:
            return f"no value is above {self.above:g} and below {self.below:g}"
        if self.frames:
            both = len(set(self.frames)) == 2 and not (self.field or self.type)
            return "" if both else "frames are two names of frames, without field and type"
        if not _PATH.fullmatch(self.field):
            return f"field '{self.field}' is not a path such as pose.position.x or position[2]"
        what, example = ("srv", "std_srvs/srv/Trigger")
        if self.topic:
            what, example = ("msg", "std_msgs/msg/Bool")
        if self.type and not re.fullmatch(rf"\w+/({what}/)?\w+", self.type):
            return f"type '{self.type}' is not a type such as {example}"
        return ""

    def resolved(self, type_name: str, types: MessageTypes) -> Signal:
        """Return the condition for a message of a type, with a constant replaced by its value.

        Raises:
            PlanError: The type is not the expected one or not installed, or it has no such field,
                or the field's value is of another kind.
        """
        kind, owner = _kind_of(self.field, full_type(type_name), types)
        if self.equals is None:
            if kind is not float:
                raise PlanError(f"{self.field} is {_KINDS[kind]}; above and below need a number")
            return self
        equals = self.equals
        if kind is float and isinstance(equals, str):
            if equals not in owner.constants:
                known = did_you_mean(equals, owner.constants) if owner.constants else ""
                what = f"{self.field} is a number, but equals is '{equals}'"
                raise PlanError(f"{what}; {known}" if known else what)
            equals = owner.constants[equals]
        if not isinstance(equals, kind):
            raise PlanError(f"{self.field} is {_KINDS[kind]}, but equals is {_text(equals)}")
        return replace(self, equals=equals)

    def read(self, message: Any) -> Reading:
        """Evaluate a resolved condition on a message."""
        value = message
        for name, index in _parts(self.field):
            value = getattr(value, name)
            if index is not None:
                if index >= len(value):
                    return Reading(False, f"{name} has {len(value)} elements")
                value = value[index]
        return self.compare(value[0] if isinstance(value, bytes) else value)  # a `byte`

    def compare(self, value: Value) -> Reading:
        """Evaluate the condition on its value."""
        holds = (
            value == self.equals
            if self.equals is not None
            else (self.above is None or value > self.above)  # type: ignore[operator]
            and (self.below is None or value < self.below)  # type: ignore[operator]
        )
        return Reading(bool(holds), "" if holds else f"it is {_text(value)}")

    def __str__(self) -> str:
        """Return the condition as a clause."""
        if self.frames:
            place, scale, unit = f"the distance of {self.source}", 1e3, " mm"
        else:
            place, scale, unit = f"{self.field} of {self.source}", 1.0, ""
        if self.equals is not None:
            return f"{place} is {_text(self.equals)}"
        bounds = (("above", self.above), ("below", self.below))
        texts = [f"{w} {scale * v:g}{unit}" for w, v in bounds if v is not None]
        return f"{place} is {' and '.join(texts)}"


def full_type(name: str, kind: str = "msg") -> str:
    """Return the name of a message type with `/msg/`, or of another kind."""
    return name if name.count("/") > 1 else name.replace("/", f"/{kind}/")


def _parts(path: str) -> Iterator[tuple[str, int | None]]:
    """Yield the names of a path, each with its index or None."""
    for part in path.split("."):
        name, _, index = part.partition("[")
        yield name, int(index[:-1]) if index else None


def _kind_of(path: str, type_name: str, types: MessageTypes) -> tuple[type, MessageType]:
    """Return the kind of value of a field (float, str or bool), and the message that has it."""
    kind, owner = type_name, MessageType({}, {})
    for name, index in _parts(path):
        if "/" not in kind:
            raise PlanError(f"{path}: a {kind} has no field '{name}'")
        found = types(full_type(kind))
        if found is None:
            raise PlanError(f"the message type {kind} is not installed")
        if name not in found.fields:
            raise PlanError(f"{kind} has no field '{name}'; {did_you_mean(name, found.fields)}")
        owner, kind = found, found.fields[name]
        element = _LIST.fullmatch(kind)
        if element is None and index is not None:
            raise PlanError(f"{name} is not a list, it is a {kind}")
        if element is not None:
            if index is None:
                raise PlanError(f"{name} is a list; give an index, as in {name}[0]")
            kind = element[1] or element[2]
    if "/" in kind:
        raise PlanError(f"{path} is of the type {kind}; name one of its fields")
    word = kind.partition("<")[0]
    return {"boolean": bool, "string": str, "wstring": str}.get(word, float), owner


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}'" if isinstance(value, str) else f"{value:g}"
