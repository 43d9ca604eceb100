# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Schemas, reference pages and planner of tasks and scenes agree with the reader."""

import re
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from arm_tasks.errors import SceneError, TaskFileError, shipped
from arm_tasks.planning.single_steps.motions import MOTIONS
from arm_tasks.planning.single_steps.step_planner import PLANNERS, RECORDED_MOTIONS
from arm_tasks.scene.file import OBJECTS, SCENE, scene_from_text
from arm_tasks.task.parser import task_from_text
from arm_tasks.task.schemas import scene_schema, task_schema, texts
from arm_tasks.task.step_parsers import PARSERS
from arm_tasks.task.steps import all_steps
from arm_tasks.task.task_keys import STEPS_KEYS, TASK
from arm_testing.files.key_bounds import bounded, check_bounds, owners
from arm_testing.files.plain_data import at, places
from arm_testing.repository import repository
from jsonschema import Draft202012Validator

REPOSITORY = repository()
HERE = Path(__file__).parent


# a task file is beside its file of poses
READERS = {
    "task": lambda text, file=str(HERE / "task.yaml"): task_from_text(text, file),
    "scene": scene_from_text,
}
ERRORS = (TaskFileError, SceneError)


def written(data):
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the C dumper is much faster
    return yaml.dump(data, Dumper=dumper, sort_keys=False)


class Core(yaml.SafeLoader):
    """YAML 1.2, which editors use: `on` is a string."""


Core.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith(":bool")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Core.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true$|false$"), list("tf"))


def load_as_editor(text):
    return yaml.load(text, Loader=Core)


@pytest.fixture(scope="module")
def validators():
    schemas = {"task": task_schema(), "scene": scene_schema()}
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    return {kind: Draft202012Validator(schema) for kind, schema in schemas.items()}


def full(kind):
    return (HERE / f"every_key_{kind}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", texts(REPOSITORY), ids=lambda path: path.name)
def test_generated_files_are_up_to_date(path):
    expected = texts(REPOSITORY)[path]
    assert path.read_text(encoding="utf-8") == expected, "run: python3 -m arm_tasks.task.schemas"


@pytest.mark.parametrize("kind", ["task", "scene"])
def test_shipped_and_complete_files_pass_schema_and_reader(kind, validators):
    files = [*shipped(f"{kind}s").values(), HERE / f"every_key_{kind}.yaml"]
    assert len(files) > 1
    for file in files:
        text = file.read_text(encoding="utf-8")
        if file.parent != HERE:
            first = text.splitlines()[0].removeprefix("# yaml-language-server: $schema=")
            assert (file.parent / first).resolve().name == f"{kind}.schema.json"
            assert (file.parent / first).is_file()
        validators[kind].validate(load_as_editor(text))
        read = READERS[kind](text, str(file))
        assert file.parent == HERE or read.name == file.stem


def test_complete_files_use_every_key():
    steps = [step for step in load_as_editor(full("task"))["steps"] if isinstance(step, dict)]
    for word, step in STEPS_KEYS.items():
        used = {k for s in steps for k in (s.get(word) if isinstance(s.get(word), dict) else ())}
        known = step.table.spellings
        assert {known[key] for key in used} == set(step.table.keys), word
    scene = load_as_editor(full("scene"))
    for kind, (_, table) in OBJECTS.items():
        used = {table.spellings[key] for obj in scene[kind].values() for key in obj}
        assert used == set(table.keys), kind


def test_every_step_that_is_read_has_one_planner():
    found = {step.kind: type(step) for step in all_steps(READERS["task"](full("task")).steps)}
    assert found.keys() == STEPS_KEYS.keys() > PARSERS.keys()
    for kind in PARSERS:
        tables = (found[kind] in table for table in (PLANNERS, MOTIONS))
        count = sum(tables) + (kind in RECORDED_MOTIONS.names)
        assert count == 1, f"the step {kind} has {count} planners"


DATA = {"request", "message", "arguments"}  # any value, as the type of a message decides
FREE = {"each", "variables", "joints", "joints_deg", "frames", "bolts", "placements", *OBJECTS}


def mappings(data):
    found = [path for path in places(data) if isinstance(at(data, path), dict)]
    return [path for path in found if not DATA & set(path)]


def copy_around(data, path):
    """Return a copy of a file, with only the step that holds a place, and the place in it."""
    if len(path) < 2 or path[0] != "steps":
        return deepcopy(data), path
    return deepcopy({**data, "steps": [data["steps"][path[1]]]}), ("steps", 0, *path[2:])


@pytest.mark.parametrize("kind", ["task", "scene"])
def test_schema_and_reader_reject_unknown_keys(kind, validators):
    data = load_as_editor(full(kind))
    tried = 0
    for path in mappings(data):
        if path and path[-1] in FREE:
            continue  # free names
        changed, place = copy_around(data, path)
        at(changed, place)["colur"] = 1
        assert not validators[kind].is_valid(changed), path
        with pytest.raises(ERRORS, match="colur"):
            READERS[kind](written(changed))
        tried += 1
    assert tried > 20


@pytest.mark.parametrize("kind", ["task", "scene"])
def test_schema_and_reader_agree_on_missing_keys(kind, validators):
    """Only the reader checks references between names and alternatives of keys."""
    data = load_as_editor(full(kind))
    for path in mappings(data):
        for key in () if path and path[-1] in FREE else at(data, path):
            changed, place = copy_around(data, path)
            del at(changed, place)[key]
            try:
                READERS[kind](written(changed), str(HERE / "x.yaml"))
            except ERRORS as error:
                if "is missing" in str(error):
                    assert not validators[kind].is_valid(changed), (path, key)
            else:
                assert validators[kind].is_valid(changed), (path, key)


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("task", "width_mm: 12", "width_mm: 12, width: 0.012"),
        ("task", "width_mm: 12", "width_mm: -1"),
        ("task", "tilt_deg: 9", "tilt_deg: -1"),
        ("task", "search_mm: 1", "search_mm: -1"),
        ("task", "distance_mm: 20", "distance_mm: 0"),
        ("task", "speed: 0.25", "speed: 1.5"),
        ("task", "orientation: axis", "orientation: up"),
        ("task", "nut_held: true", "nut_held: 3"),
        ("task", "wait: 0.5", "wait: [1]"),
        ("task", "- close", "- wait"),
        ("scene", "pitch_mm: 1.27", "pitch_mm: 0"),
        ("scene", "handedness: left", "handedness: up"),
        ("scene", "color: [1, 0, 0, 1]", "color: [1, 0, 0, 2]"),
        ("scene", "mass: 0.02", "mass: 0"),
    ],
)
def test_schema_and_reader_reject_invalid_values(kind, old, new, validators):
    text = full(kind)
    assert old in text
    changed = text.replace(old, new, 1)
    assert not validators[kind].is_valid(load_as_editor(changed))
    with pytest.raises(ERRORS):
        READERS[kind](changed)


def test_reader_refuses_what_the_declared_bounds_of_a_task_exclude():
    data, read = load_as_editor(full("task")), lambda task: READERS["task"](written(task))
    head = {**data, "steps": ["open"], "expect": {"nut_on": "lower_bolt"}}
    numbers = bounded(TASK, head)
    assert check_bounds(numbers, head, read, ERRORS) >= 4
    covered = {number.owner for number in numbers}
    for step in data["steps"]:
        ((word, body),) = step.items() if isinstance(step, dict) else ((step, None),)
        if isinstance(body, dict):
            one = {**head, "steps": [step]}
            numbers = bounded(STEPS_KEYS[word].table, body, ("steps", 0, word))
            assert check_bounds(numbers, one, read, ERRORS) >= len(numbers), word
            covered |= {number.owner for number in numbers}
    known = {owner for keys in STEPS_KEYS.values() for owner in owners(keys.table)}
    assert covered >= known and len(known) >= 29


def test_reader_refuses_what_the_declared_bounds_of_a_scene_exclude():
    data = load_as_editor(full("scene"))
    numbers = bounded(SCENE, data)
    accepted = check_bounds(numbers, data, lambda scene: READERS["scene"](written(scene)), ERRORS)
    assert {number.owner for number in numbers} == set(owners(SCENE))
    assert len(numbers) >= 10 and accepted >= 8
