# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads task files; errors have file and line."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, product
from pathlib import Path

from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.suggestions import did_you_mean
from arm_common.yaml.document import Field, parse_yaml, read_yaml
from arm_common.yaml.expressions import constant_name_problem
from arm_common.yaml.typed_mapping import NO_VARIABLES, TypedMapping, Variables

from arm_tasks.errors import TaskFileError, resolve
from arm_tasks.scene.poses import TaughtPose, load_poses
from arm_tasks.task.step_parsers import PARSERS, Defaults, condition, play
from arm_tasks.task.steps import (
    Call,
    Expectation,
    For,
    If,
    MoveLinear,
    Repeat,
    SetSpeed,
    StepBase,
    Task,
    Until,
    all_steps,
)
from arm_tasks.task.task_keys import (
    DEFAULTS,
    EXPECT,
    MAX_ROUNDS,
    MAX_STEPS,
    ROUNDS,
    STEPS_KEYS,
    TASK,
    WHEN,
)

DEFAULT_TASK = "nut_transfer"
_TOO_MANY = (
    f"the task has more than {MAX_STEPS} steps, repetitions expanded; divide it into several"
)
_MAX_CALLS = 20  # of files, each within the one before


def load_task(name_or_path: str | Path, files: FileAccess = ANY_FILE) -> Task:
    """Load a task by its shipped name, such as "nut_transfer", or by the path of a YAML file.

    Raises:
        TaskFileError: One sentence with file and line, or the names of the shipped tasks.
    """
    path = resolve(str(name_or_path), "tasks", "task", TaskFileError, files)
    root = read_yaml(path, TaskFileError, files=files)
    return _TaskReader((_normal(path),), files).task(root)


def task_from_text(
    text: str,
    file: str = "task",
    poses: Mapping[str, TaughtPose] | None = None,
    files: FileAccess = ANY_FILE,
) -> Task:
    """Read a task from a string; the poses are for a text without the key `poses`."""
    reader = _TaskReader((_normal(Path(file)),), files, poses=poses or {})
    return reader.task(parse_yaml(text, file, TaskFileError))


@dataclass(frozen=True)
class _TaskReader:
    """Reads one task file."""

    chain: tuple[Path, ...]  # of calling files, ending with this one
    files: FileAccess  # where named files may be
    given: Variables = NO_VARIABLES  # variables from the caller
    variables: Variables = NO_VARIABLES  # those of this file
    # taught poses for a file without the key `poses`
    poses: Mapping[str, TaughtPose] = field(default_factory=dict)
    number: Iterator[int] = field(default_factory=count)  # of the next step, in all files

    def task(self, root: Field) -> Task:
        """Read the whole file."""
        keys = TypedMapping(root, "the task", TASK, self.variables)
        variables = Variables.read(keys.children("variables"), self.given)
        reader = replace(self, variables=variables)
        section = keys.children("defaults")
        values = TypedMapping(root, "defaults", DEFAULTS, variables, section)
        defaults = Defaults.read(values, self._taught(keys))
        steps = reader.steps(keys.require("steps"), defaults)
        if _count(steps) > MAX_STEPS:
            raise keys.fail(_TOO_MANY)
        expect = None
        if keys.has("expect"):
            expect = _expectation(keys.require("expect"), variables, steps)
        return Task(
            keys.text("task"), root.file, steps, self._scene(keys.text("scene", "")), expect
        )

    def _taught(self, keys: TypedMapping) -> Mapping[str, TaughtPose]:
        """Return the poses of the file under `poses`, or the given ones."""
        if not keys.has("poses"):
            return self.poses
        path = self._beside(keys.text("poses"))
        if not self.files.has(path):
            raise keys.fail(f"poses: there is no file {path}", keys.require("poses"))
        return load_poses(path, self.files)

    def _scene(self, name: str) -> str:
        """Return a shipped name unchanged and a path relative to this file."""
        path = self._beside(name)
        return str(path) if path.suffix in (".yaml", ".yml") else name

    def _recording(self, name: str) -> str:
        """Return a shipped name unchanged and a path relative to this file."""
        path = self.files.path(name)
        return str(self._beside(name)) if path.suffix or len(path.parts) > 1 else name

    def _beside(self, name: str) -> Path:
        """Return the path of a file that this file names."""
        return _normal(self.chain[-1].parent / self.files.path(name))

    def steps(self, item: Field, defaults: Defaults) -> tuple[StepBase, ...]:
        """Read a list of steps; a set_speed applies to the steps below it."""
        if not item.is_list or not item.items():
            name = item.key.rpartition(".")[2]
            found = "an empty one" if item.is_list else item.kind
            what = f"{name} must be a list of at least one step, not {found}"
            raise TaskFileError(what, file=item.file, line=item.line)
        steps: list[StepBase] = []
        for child in item.items():
            steps.append(self.step(child, defaults))
            if isinstance(steps[-1], SetSpeed):
                defaults = replace(defaults, speed=steps[-1].speed)
        return tuple(steps)

    def step(self, item: Field, defaults: Defaults) -> StepBase:
        """Read one step: a bare kind, or a mapping from the kind to its keys."""
        found = item.mapping() if item.is_mapping else {item.raw("a step"): None}
        if len(found) != 1:
            what = f"a step has one key, its kind; found {', '.join(found) or 'none'}"
            raise TaskFileError(what, file=item.file, line=item.line)
        if next(self.number) >= MAX_STEPS:  # before its aliases multiply them further
            raise TaskFileError(_TOO_MANY, file=item.file, line=item.line)
        word, body = next(iter(found.items()))
        if word not in STEPS_KEYS:
            what = f"there is no step '{word}'; {did_you_mean(word, STEPS_KEYS)}"
            raise TaskFileError(what, file=item.file, line=item.line)
        keys = self._keys(word, body, item)
        if word in PARSERS:
            step = PARSERS[word](keys, word, defaults)
        elif word == "play":
            path = self._recording(keys.text("path")) if keys.has("path") else ""
            step = play(keys, word, defaults, path)
        else:
            return self._nested(keys, word, defaults)
        if "on_failure" in STEPS_KEYS[word].table.keys and keys.has("on_failure"):
            step = replace(step, on_failure=self.steps(keys.require("on_failure"), defaults))
        return step

    def _nested(self, keys: TypedMapping, kind: str, defaults: Defaults) -> StepBase:
        def steps(name: str) -> tuple[StepBase, ...]:
            return self.steps(keys.require(name), defaults) if keys.has(name) else ()

        common = defaults.common(keys, kind)
        if kind == "for":
            values = list(self._loop(keys))
            readers = [replace(self, variables=self.variables.with_values(v)) for v in values]
            item = keys.require("steps")
            return For(
                **common,
                values=tuple(map(_round_name, values)),
                rounds=tuple(reader.steps(item, defaults) for reader in readers),
            )
        if kind == "call":
            return Call(**common, steps=self._called(keys).steps)
        if kind == "if":
            when = condition(self._when(keys))
            return If(**common, when=when, then=steps("then"), otherwise=steps("else"))
        if kind == "until":
            when, most = condition(self._when(keys)), keys.count("at_most")
            return Until(**common, when=when, at_most=most, steps=steps("steps"))
        return Repeat(**common, times=keys.count("times"), steps=steps("steps"))

    def _when(self, keys: TypedMapping) -> TypedMapping:
        return TypedMapping(keys.require("when"), f"{keys.what}: when", WHEN, self.variables)

    def _loop(self, keys: TypedMapping) -> Iterator[dict[str, Field | int]]:
        """Yield the values of a loop's variables, the last of which changes fastest."""
        each = keys.children("each")
        ranges: list[Sequence[Field | int]] = []
        for name, item in each.items():
            problem = constant_name_problem(name)
            if name in self.variables.texts:
                problem = f"the variable {name} exists already; choose another name"
            if problem:
                raise keys.fail(problem, item)
            if item.is_list:
                ranges.append(item.items())
                continue
            count = keys.read_number(item)
            if count != int(count) or not ROUNDS.allows(count):
                whole = f"must be a list or a whole number {ROUNDS.bounds()}"
                raise keys.fail(f"{name} {whole}, not {count:g}", item)
            ranges.append(range(int(count)))
        if not 1 <= math.prod(map(len, ranges)) <= MAX_ROUNDS or not ranges:
            rounds = math.prod(map(len, ranges)) if ranges else 0
            raise keys.fail(f"each gives {rounds} rounds; 1 to {MAX_ROUNDS} are possible")
        for values in product(*ranges):
            yield dict(zip(each, values, strict=True))

    def _keys(self, word: str, body: Field | None, item: Field) -> TypedMapping:
        """Return the keys of a step; `move_posture: rest` is `move_posture: {posture: rest}`."""
        kind = STEPS_KEYS[word]
        what = f"step {word}"
        if body is None or (not body.is_mapping and not body.is_list and body.value is None):
            return TypedMapping(item, what, kind.table, self.variables, {})
        short = {kind.short: body} if kind.short and not body.is_mapping else None
        return TypedMapping(body, what, kind.table, self.variables, short)

    def _called(self, keys: TypedMapping) -> Task:
        """Read a called task; raise TaskFileError if it calls this one again."""
        name, at = keys.text("task"), keys.require("task")

        def refuse(what: str, *, file: str = "") -> TaskFileError:
            return TaskFileError(
                f"step call: {what}{file and ': '}{file}", file=at.file, line=at.line
            )

        beside = self._beside(name)
        is_path = beside.suffix in (".yaml", ".yml")
        given = str(beside) if is_path else name
        path = _normal(resolve(given, "tasks", "task", refuse, self.files))
        if path in self.chain:
            chain = [file.stem for file in (*self.chain[self.chain.index(path) :], path)]
            raise refuse(f"the tasks call each other endlessly: {' -> '.join(chain)}")
        if len(self.chain) >= _MAX_CALLS:
            raise refuse(f"the tasks call each other more than {_MAX_CALLS} deep")
        variables = self.variables.evaluate_arguments(keys.children("variables"))
        root = read_yaml(path, TaskFileError, files=self.files)
        callers = (*self.chain, path)
        return _TaskReader(callers, self.files, variables, number=self.number).task(root)


def _round_name(values: Mapping[str, Field | int]) -> str:
    texts = {k: str(v if isinstance(v, int) else v.value) for k, v in values.items()}
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def _normal(path: Path) -> Path:
    """Return a path without `..`, the same on the computers of client and server."""
    return Path(os.path.normpath(path))


def _expectation(item: Field, variables: Variables, steps: Sequence[StepBase]) -> Expectation:
    keys = TypedMapping(item, "expect", EXPECT, variables)
    if not item.mapping():
        raise keys.fail(f"expect is empty; give one of {', '.join(EXPECT.keys)}, or leave it out")
    if keys.has("line_within") and not any(isinstance(s, MoveLinear) for s in all_steps(steps)):
        raise keys.fail("line_within needs a move_linear step, whose line is measured")
    if keys.has("turns") and not keys.has("nut_on"):
        raise keys.fail("turns need a bolt; give nut_on, too")
    if keys.has("payload") != keys.has("lies_on"):
        raise keys.fail("give both payload and lies_on, or neither")
    within = keys.optional("line_within")
    texts = {name: keys.text(name, "") for name in ("nut_on", "payload", "lies_on")}
    turns = keys.number("turns")
    return Expectation(turns=turns, line_within=within, line=item.line, **texts)


def _count(steps: Sequence[StepBase]) -> int:
    """Return the number of steps with repetitions expanded."""
    total = 0
    for step in steps:
        if isinstance(step, Repeat):
            total += step.times * _count(step.steps)
        elif isinstance(step, Until):
            total += step.at_most * _count(step.steps)
        elif isinstance(step, Call | For):
            total += _count(step.steps)
        elif isinstance(step, If):
            total += 1 + _count((*step.then, *step.otherwise))
        else:
            total += 1 + _count(step.on_failure)
    return total
