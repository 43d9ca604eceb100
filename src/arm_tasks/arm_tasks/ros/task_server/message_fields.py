# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/task_server/test_other_nodes.py
"""Message and service types by name, and messages filled from plain data; without rclpy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from arm_common.suggestions import did_you_mean

from arm_tasks.errors import PlanError
from arm_tasks.planning.plan import TaskPlan
from arm_tasks.task.condition import MessageType, Signal, full_type
from arm_tasks.task.policy import refuse_arm_command
from arm_tasks.task.steps import Command

NOW = "now"  # as the value of a field of the type TIME
_KINDS = {
    "msg": ("message", "std_msgs/msg/Bool"),
    "srv": ("service", "std_srvs/srv/Trigger"),
    "action": ("action", "control_msgs/action/FollowJointTrajectory"),
}
TIME = "builtin_interfaces/Time"
# of the type of a field: element and largest length, or element and length; text; whole number
_SEQUENCE = re.compile(r"sequence<(.+?)(?:, (\d+))?>")
_ARRAY = re.compile(r"(.+)\[(\d+)\]")
_TEXT = re.compile(r"w?string(?:<(\d+)>)?")
_WHOLE = re.compile(r"(u?)int(\d+)")


def message_class(name: str) -> Any:
    """Return the class of a type such as `std_msgs/msg/Bool`, None if it is not installed."""
    try:
        from arm_common.ros.message_conversions import interface_class
    except ImportError:  # no message type is installed
        return None
    return interface_class(name)


def message_type(name: str) -> MessageType | None:
    """Return the fields and constants of a message type, None if it is not installed."""
    cls = message_class(name)
    return None if cls is None else fields_of(cls)


def fields_of(cls: Any) -> MessageType:
    """Return the fields and constants of the class of a message."""
    names = [n for n in dir(type(cls)) if n.isupper() and not n.startswith("_")]
    found = {n: getattr(cls, n) for n in names}
    constants = {
        n: float(v) if isinstance(v, int) and not isinstance(v, bool) else v
        for n, v in found.items()
        if isinstance(v, bool | int | float | str)
    }
    return MessageType(cls.get_fields_and_field_types(), constants)


def required_class(name: str, kind: str) -> Any:
    """Return the class of a type of a kind: msg, srv or action; PlanError if there is none."""
    word, example = _KINDS[kind]
    if not re.fullmatch(rf"\w+/({kind}/)?\w+", name):
        raise PlanError(f"type '{name}' is not a type such as {example}")
    cls = message_class(full_type(name, kind))
    if cls is None:
        raise PlanError(f"the {word} type {full_type(name, kind)} is not installed")
    return cls


def filled(cls: Any, content: Mapping[str, Any], now: Any = None) -> Any:
    """Return a message with fields from plain data; `now` replaces the text of that name.

    Raises:
        PlanError: There is no such field, or its value is of another kind.
    """
    message = cls()
    known = cls.get_fields_and_field_types()
    name = f"{cls.__module__.split('.')[0]}/{cls.__name__}"
    for key, value in content.items():
        if key not in known:
            raise PlanError(f"{name} has no field '{key}'; {did_you_mean(key, known)}")
        try:
            setattr(message, key, _converted(known[key], value, now))
        except PlanError:  # of a field within this one; it is a ValueError, too
            raise
        except (AssertionError, TypeError, ValueError, OverflowError):
            article = "an" if known[key][0] in "aeio" else "a"
            what = f"{key} of {name} is {article} {known[key]}, not {_shown(value)}"
            raise PlanError(what) from None
    return message


def _shown(value: Any) -> str:
    if isinstance(value, str | int | float | bool):
        return repr(value)
    if value is None:
        return "nothing"
    return "a mapping" if isinstance(value, Mapping) else f"a list of {len(value)}"


def _converted(kind: str, value: Any, now: Any) -> Any:
    """Return a value as a field of some type needs it; raise ValueError if it cannot be."""
    many = _SEQUENCE.fullmatch(kind) or _ARRAY.fullmatch(kind)
    if many is not None:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise ValueError
        _require_length(value, many[2], exact=many.re is _ARRAY)
        return [_converted(many[1], each, now) for each in value]
    if "/" in kind:
        package, word = kind.split("/")
        if kind == TIME and value == NOW:
            return message_class(f"{package}/msg/{word}")() if now is None else now
        if not isinstance(value, Mapping):
            raise ValueError
        return filled(message_class(f"{package}/msg/{word}"), value, now)
    text = _TEXT.fullmatch(kind)
    if text is not None or kind == "boolean":
        if not isinstance(value, str if text else bool):
            raise ValueError
        if isinstance(value, str) and text is not None:
            _require_length(value, text[1])
        return value
    return _number(kind, value)


def _require_length(value: Sequence[Any], most: str | None, exact: bool = False) -> None:
    if most and (len(value) > int(most) or (exact and len(value) < int(most))):
        raise ValueError


def _number(kind: str, value: Any) -> float | bytes:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    if kind in ("float", "double"):
        return float(value)
    if value != int(value):
        raise ValueError
    if kind == "octet":
        return bytes([int(value)])
    whole = _WHOLE.fullmatch(kind)
    unsigned, bits = (whole[1], int(whole[2])) if whole else ("u", 8)
    low = 0 if unsigned else -(2 ** (bits - 1))
    if not low <= value < low + 2**bits:
        raise ValueError
    return int(value)


def check_types(plan: TaskPlan) -> None:
    """Check the types that a plan names, and the fields that it gives.

    Raises:
        PlanError: A type is not installed or has no such field, or a step commands an arm.
    """
    for step in plan.steps:
        try:
            if step.when is not None and step.when.signal is not None:
                refuse_arm_command(step.when.signal.service, step.when.signal.request)
                check_signal(step.when.signal, step.when.signal.type)
            if step.command is not None and step.command.type:
                refuse_arm_command(step.command.to, step.command.content)
                message_of(step.command)
        except PlanError as error:
            raise PlanError(f"{step.label}: {error.message}") from None


def check_signal(signal: Signal, type_name: str) -> None:
    """Check a signal from a topic or service of a type, "" if that is unknown."""
    if signal.frames or not type_name:
        return
    if signal.service:
        cls = required_class(type_name, "srv")
        filled(cls.Request, signal.request)
    else:
        required_class(type_name, "msg")
    resolved(signal, type_name)


def resolved(signal: Signal, type_name: str) -> Signal:
    """Return a signal from a topic or service of a type, with a constant replaced by its value."""
    kind = "srv" if signal.service else "msg"
    name = full_type(type_name, kind)
    if signal.type and full_type(signal.type, kind) != name:
        raise PlanError(f"the type of {signal.source} is {name}, not {signal.type}")
    if not signal.service:
        return signal.resolved(name, message_type)
    response = fields_of(required_class(name, "srv").Response)
    return signal.resolved(name, lambda asked: response if asked == name else message_type(asked))


def message_of(command: Command, now: Any = None) -> Any:
    """Return the message or request of a command."""
    if command.kind == "publish":
        return filled(required_class(command.type, "msg"), command.content, now)
    return filled(required_class(command.type, "srv").Request, command.content, now)
