# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Task YAML -> Task, every key checked, every error with file and line."""

from __future__ import annotations

from pathlib import Path

from arm_description.nearest import nearest
from arm_description.yaml_fields import Field
from arm_description.yaml_source import parse_yaml, read_yaml

from arm_tasks.errors import TaskFileError
from arm_tasks.files import resolve
from arm_tasks.keys import Keys
from arm_tasks.step_parsers import PARSERS, WORDS, Defaults
from arm_tasks.task_steps import Expectation, Repeat, StepBase, Task

_MOST_REPEATS = 10_000


def load_task(name_or_path: str | Path) -> Task:
    """Read a task.

    Args:
        name_or_path: Name of a shipped task, such as "nut_transfer", or path of a YAML file.

    Returns:
        The task, checked by itself; plan_task checks it against scene and robot.

    Raises:
        TaskFileError: One sentence with file and line, or the names of the shipped tasks.
    """
    path = resolve(str(name_or_path), "tasks", "task", TaskFileError)
    return _task(read_yaml(path, TaskFileError))


def task_from_text(text: str, file: str = "task") -> Task:
    """Read a task from a string; file is the name used in errors."""
    return _task(parse_yaml(text, file, TaskFileError))


def _task(root: Field) -> Task:
    keys = Keys(root, "the task")
    name = keys.text("task")
    scene = keys.text("scene", "")
    defaults = Defaults.read(keys.get("defaults"))
    steps = keys.item_of("steps")
    expect = _expectation(keys.item_of("expect")) if keys.has("expect") else None
    keys.finish()
    return Task(name, root.file, _steps(steps, defaults), scene, expect)


def _expectation(item: Field) -> Expectation:
    keys = Keys(item, "expect")
    expected = Expectation(keys.text("nut_on"), keys.number("turns"))
    keys.finish()
    return expected


def _steps(item: Field, defaults: Defaults) -> tuple[StepBase, ...]:
    if not isinstance(item.value, list) or not item.value:
        what = f"steps must be a list of at least one step, not {item.kind}"
        raise TaskFileError(what, item.file, item.line)
    return tuple(_step(child, defaults) for child in item.value)


def _step(item: Field, defaults: Defaults) -> StepBase:
    """Read one step: a bare word, or a mapping of one key to the step's own keys."""
    found = item.value if isinstance(item.value, dict) else {item.raw("a step"): None}
    if len(found) != 1:
        what = f"a step has one key, its kind; here are {', '.join(found) or 'none'}"
        raise TaskFileError(what, item.file, item.line)
    word, body = next(iter(found.items()))
    if word not in READERS:
        what = f"there is no step '{word}'; {nearest(word, READERS)}"
        raise TaskFileError(what, item.file, item.line)
    keys = _keys(word, body, item)
    step = READERS[word](keys, word, defaults)
    keys.finish()
    return step


def _keys(word: str, body: Field | None, item: Field) -> Keys:
    """Return the keys of a step; `move_posture: rest` is `move_posture: {posture: rest}`."""
    if body is None or body.value is None:
        return Keys(item, f"step {word}", {})
    short = word in WORDS and not isinstance(body.value, dict)
    return Keys(body, f"step {word}", {WORDS[word]: body} if short else None)


def _repeat(keys: Keys, kind: str, defaults: Defaults) -> Repeat:
    times = keys.count("times", least=1)
    if times > _MOST_REPEATS:
        raise keys.fail(f"times is {times}, at most {_MOST_REPEATS} is possible")
    steps = _steps(keys.item_of("steps"), defaults)
    return Repeat(**defaults.common(keys, kind), times=times, steps=steps)


READERS = {**PARSERS, "repeat": _repeat}
