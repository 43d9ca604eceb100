# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Commands in the documents are typed by a test or give a reason, and name existing things."""

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from arm_description.trajectories.trajectory import shipped_trajectories
from arm_hardware.calibration.selection import config_folder
from arm_tasks.errors import shipped
from documents.blocks import COMMANDS, NOT_TYPED, ROOT, blocks, pages, typed
from documents.launch_files import launch_arguments
from documents.nodes import inspect_nodes
from documents.programs import all_commands, programs
from pip_ros import cli as arm

from arm_common import cli
from arm_description import shipped_robots

PROGRAMS = (*COMMANDS, "keys")  # blocks with commands
NAMES = {command.name for command in arm.all_commands()}
SHELL_BLOCKS = [block for page in pages() for block in blocks(page) if block.kind in COMMANDS]
# What the reader of a page has that the page does not make, and where it is from.
OWN = {
    "follower.json": "LeRobot's calibration",
    "mine.yaml": "the servo calibration that docs/tutorials/calibration.md makes",
    "my.yaml": "a scene of one's own",
    "my_arm.yaml": "the robot on README's first page",
    "my_scene.yaml": "a scene of one's own",
    "taught_poses.yaml": "what ./arm teach saved",
}
SHIPPED = {  # what an argument may name, besides a file
    "robot": {*shipped_robots()},
    "template": {*shipped_robots()},
    "task": {*shipped("tasks")},
    "scene": {*shipped("scenes")},
    "calibration": {path.stem for path in config_folder().glob("*.yaml")},
}
# Arguments that name files: of what is read, and of what is written.
READ = {*SHIPPED, "urdf", "points", "file", "policy", "poses", "params_file", "write"}
WRITTEN = {"output", "record", "plot", "folder"}
WRITE_FILE = {"new", "calibrate"}  # commands whose argument `file` is written


@pytest.fixture(scope="module")
def nodes():
    return list(inspect_nodes())


@pytest.fixture(scope="module")
def parsers():
    """The parser of each program by its name, such as `check` or `bench ik`."""
    return {told.name: told.parser for told in all_commands()}


def words_of(command):
    """Return the parts of a command line, split at operators."""
    return re.split(r" (?:&&|\||>) ", " ".join(shlex.split(command, comments=True)))


def used(pattern):
    """Yield all matches of a pattern in the documents' commands, each with its place."""
    for block in SHELL_BLOCKS:
        for command, _ in block.commands:
            for part in words_of(command):
                for found in re.finditer(pattern, part):
                    yield f"{block.page}:{block.line}", *found.groups()


def test_each_block_is_typed_or_has_a_reason():
    assert len(SHELL_BLOCKS) > 40
    for block in SHELL_BLOCKS:
        place = f"{block.page}:{block.line}"
        assert not block.word or block.word in NOT_TYPED, f"{place}: what is {block.word!r}?"
        assert block.commands, place
    assert {block.word for block in SHELL_BLOCKS} - {""} == NOT_TYPED.keys()


def test_many_blocks_are_typed():
    assert sum(block.is_typed for block in SHELL_BLOCKS) > 35


def test_typed_blocks_use_only_allowed_commands():
    for block in SHELL_BLOCKS:
        if block.is_typed:
            for command, _ in block.commands:
                first = shlex.split(command, comments=True)[0]
                assert first in ("./arm", "sed", "grep", "cat"), f"{block.page}: {command}"


def parsed(line, parsers, capsys):
    """Return the arguments of a documented command, read by its own parser, or its refusal."""
    name, words = line.name, list(line.words)
    if "--ros-args" in words:
        words = words[: words.index("--ros-args")]
    if name == "bench":
        name, words = f"bench {words[0]}", words[1:]
    executables = programs(line.package).names if line.package else NAMES
    assert line.name in executables, line
    if name in ("exec", "test"):
        assert "-m" not in words or find_spec(words[words.index("-m") + 1]), line
        return {"file": next((word for word in words if Path(word).suffix == ".py"), None)}
    if parsers.get(name) is None:
        return {}
    try:
        return vars(cli.parse(parsers[name], words))
    except SystemExit:
        return f"{line.location}: {capsys.readouterr().err}"


def missing(line, arguments, files):
    """Yield what a command reads and its page does not make; add what it writes to files."""
    written = WRITTEN | ({"file"} if line.name in WRITE_FILE else set())
    for name, value in arguments.items():
        if not value or name not in READ | written:
            continue
        known = SHIPPED.get(name, {})
        if name == "file" and arguments.get("robot") in SHIPPED["robot"]:
            known = shipped_trajectories(arguments["robot"])
        if name in written:
            files.add(str(value))
        elif str(value) not in {*files, *known} and not (ROOT / str(value)).exists():
            yield str(value), f"{line.location}: {line.name}: there is no {name} {value}"


def test_every_command_is_accepted_by_its_own_parser_and_names_what_exists(parsers, capsys):
    refused, absent, seen = [], {}, set()
    for page in pages():
        shown = list(blocks(page))
        files = {block.word for block in shown if block.kind not in COMMANDS}
        for line in (line for block in shown if block.kind in PROGRAMS for line in typed(block)):
            read = parsed(line, parsers, capsys)
            if isinstance(read, str):
                refused.append(read)
            else:
                absent.update(missing(line, read, files))
            seen.add(line.name)
    refused += [why for file, why in absent.items() if file not in OWN]
    assert not refused, "\n".join(refused)
    assert absent.keys() == OWN.keys()
    assert len(seen) > 30


def test_every_parameter_exists(nodes):
    by_program = {node.program.executable: node.parameters for node in nodes}
    by_program["driver"] = by_program["hardware"]
    found = [line for block in SHELL_BLOCKS for line in typed(block) if "--ros-args" in line.words]
    assert len(found) > 4
    for line in found:
        for parameter in re.findall(r" -p ([\w.]+):=", " ".join(line.words)):
            assert parameter in by_program[line.name], f"{line.location}: {line.name} {parameter}"


def test_every_launch_file_and_argument_exists():
    seen = 0
    for place, package, file, rest in used(r"ros2 launch (arm_\w+) (\S+)(.*)"):
        path = ROOT / "src" / package / "launch" / file
        assert path.is_file(), f"{place}: {package} {file}"
        known = {argument.name: argument.choices for argument in launch_arguments(path)}
        for name, value in re.findall(r"(\w+):=(\S+)", rest):
            assert name in known, f"{place}: {file} {name}"
            assert not known[name] or value in known[name], f"{place}: {name}:={value}"
        seen += 1
    assert seen > 3


def test_every_topic_service_and_parameter_of_a_node_exists(nodes):
    names = {(end.kind, end.name.lstrip("/")): end.type for n in nodes for end in n.ends}
    for place, kind, name, type_ in used(r"ros2 (topic|service) (?:pub --once|call) (\S+) (\S+)"):
        assert names.get((kind, name.lstrip("/"))) == type_, f"{place}: {name} {type_}"
    parameters = {n.name: n.parameters for n in nodes}
    for place, node, name in used(r"ros2 param [gs]et (\S+) (\S+)"):
        assert name in parameters[node.lstrip("/")], f"{place}: {node} {name}"


def test_every_section_that_a_benchmark_writes_has_its_place():
    document, seen = (ROOT / "docs" / "benchmarks.md").read_text(), 0
    for file in sorted((ROOT / "benchmarks").glob("bench_*.py")):
        for call in re.findall(r"^ +write\(\w+\.write, (.*)", file.read_text(), re.MULTILINE):
            section = re.compile(r'"([a-z_]+)"(?: if \w+ else "([a-z_]+)")?').match(call)
            for name in filter(None, section.groups()):
                assert document.count(f"<!-- begin: {name} -->") == 1, name
                assert document.count(f"<!-- end: {name} -->") == 1, name
                seen += 1
    assert seen > 9


def test_benchmark_refuses_a_run_that_measures_nothing():
    command = [sys.executable, ROOT / "benchmarks" / "run.py", "nut_transfer", "--trials", "0"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert "--trials: 0 is not a whole number from 1 on" in run.stderr.splitlines()[-1]
