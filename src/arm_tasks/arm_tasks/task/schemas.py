# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""JSON schemas and reference pages of task and scene files, generated from their key tables.

To regenerate them, in src/arm_tasks: python3 -m arm_tasks.task.schemas
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arm_common.files.saving import write_bytes
from arm_common.yaml.json_schema import (
    file_schema,
    key_reference,
    or_expression,
    schema_of,
    schema_text,
    with_reference,
)

from arm_tasks.scene.file import SCENE
from arm_tasks.task.task_keys import STEPS_KEYS, TASK, StepKeys


def task_schema() -> dict[str, Any]:
    """Return the schema of task files as plain data; numbers may be expressions."""
    forms = {
        "number": or_expression({"type": "number"}),
        "whole": or_expression({"type": "integer"}),
        "value": {"type": ["number", "string"]},
        "data": {},
        "scalar": {"type": ["number", "string", "boolean"]},
        "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}, "minItems": 1},
        "step": _step_schema(),
    }
    meaning = "Steps of an arm, checked before the first motion."
    return file_schema("Task file of arm_tasks", meaning, TASK, forms)


def scene_schema() -> dict[str, Any]:
    """Return the schema of scene files as plain data."""
    return file_schema("Scene file of arm_tasks", "The surroundings of an arm.", SCENE)


def texts(repository: Path) -> dict[Path, str]:
    """Return the generated files by path."""
    schemas = repository / "src/arm_tasks/schema"
    pages = repository / "docs/reference"
    tables = {
        "tasks": f"\n{key_reference({'': TASK})}\n{_meanings()}",
        "scenes": f"\n{key_reference({'': SCENE})}\n",
    }
    generated = {
        schemas / "task.schema.json": schema_text(task_schema()),
        schemas / "scene.schema.json": schema_text(scene_schema()),
    }
    for name, table in tables.items():
        page = pages / f"{name}.md"
        generated[page] = with_reference(page.read_text(encoding="utf-8"), table)
    return generated


def _step_schema() -> dict[str, Any]:
    bare = [word for word, step in STEPS_KEYS.items() if not _required(step)]
    kinds = {word: _body(step) for word, step in STEPS_KEYS.items()}
    one = {"type": "object", "properties": kinds, "minProperties": 1, "maxProperties": 1}
    return {"anyOf": [{"enum": bare}, {**one, "additionalProperties": False}]}


def _body(step: StepKeys) -> dict[str, Any]:
    """Return the schema of a step's value: a mapping, a bare value for its short key, or null."""
    forms = [schema_of(step.table)]
    if step.short:
        forms.append(schema_of(step.table.keys[step.short].kind))
    if not _required(step):
        forms.append({"type": "null"})
    return {"description": step.meaning, **(forms[0] if len(forms) == 1 else {"anyOf": forms})}


def _required(step: StepKeys) -> bool:
    """Return whether a step needs keys."""
    return step.one_of or any(key.required for key in step.table.keys.values())


def _meanings() -> str:
    """Return a paragraph and a table for each kind of step."""
    parts = []
    for word, step in STEPS_KEYS.items():
        short = f" Short: `{word}: {step.short.upper()}`." if step.short else ""
        keys = f"\n{key_reference({'': step.table})}" if step.table.keys else ""
        parts.append(f"### {word}\n\n{step.meaning}{short}\n{keys}\n")
    return "## The steps\n\n" + "".join(parts)


if __name__ == "__main__":
    for path, text in texts(Path(__file__).parents[4]).items():
        write_bytes(text.encode(), path)
