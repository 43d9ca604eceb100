# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Commands in the documents are typed by a test or give a reason, and name existing things."""

import re
import shlex
import subprocess
import sys

import pytest
from documents.blocks import COMMANDS, NOT_TYPED, ROOT, blocks, pages
from documents.launch_files import launch_arguments
from documents.nodes import inspect_nodes
from documents.programs import all_commands
from pip_ros.cli import COMMANDS as ARM

SHELL_BLOCKS = [block for page in pages() for block in blocks(page) if block.kind in COMMANDS]


@pytest.fixture(scope="module")
def nodes():
    return list(inspect_nodes())


@pytest.fixture(scope="module")
def options():
    """The options of each program by its name, such as `check` or `bench ik`."""

    def name(title):
        short = title.removeprefix("./arm ")
        return short if short.startswith("bench ") else short.rpartition(" ")[2]

    return {
        name(told.title): {
            word
            for argument in told.arguments
            for word in re.findall(r"(?<!\S)--?[\w-]+", argument.name)
        }
        for told in all_commands()
    }


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


def test_many_blocks_are_typed():
    assert sum(block.is_typed for block in SHELL_BLOCKS) > 35


def test_typed_blocks_use_only_allowed_commands():
    for block in SHELL_BLOCKS:
        if block.is_typed:
            for command, _ in block.commands:
                first = shlex.split(command, comments=True)[0]
                assert first in ("./arm", "sed", "grep", "cat"), f"{block.page}: {command}"


def test_every_command_of_arm_exists_with_its_options(nodes, options):
    seen = set()
    by_program = {node.program.executable: node.parameters for node in nodes}
    by_program["driver"] = by_program["hardware"]
    for place, name, words in used(r"\./arm (\w+)(.*)"):
        assert name in {command.name for command in ARM}, f"{place}: ./arm {name}"
        rest, _, for_node = words.partition(" --ros-args")
        for parameter in re.findall(r"-p ([\w.]+):=", for_node) if name != "ros2" else ():
            assert parameter in by_program[name], f"{place}: {name} {parameter}"
        if name in ("exec", "test", "ros2"):
            continue
        first = rest.split()[0] if rest.split() else ""
        key = f"bench {first}" if name == "bench" and f"bench {first}" in options else name
        for option in re.findall(r"(?<!\S)(--?[a-z][\w-]*)", rest.replace("--help", "")):
            assert option in options[key], f"{place}: ./arm {key} {option}"
        seen.add(name)
    assert len(seen) > 15


def test_every_executable_and_parameter_exists(nodes, options):
    by_program = {(n.program.package, n.program.executable): n.parameters for n in nodes}
    seen = 0
    for place, package, name, rest in used(r"ros2 run (\w+) (\w+)(.*)"):
        if not package.startswith("arm_"):
            continue
        assert name in options, f"{place}: {package} {name}"
        for parameter in re.findall(r"-p ([\w.]+):=", rest):
            assert parameter in by_program[package, name], f"{place}: {name} {parameter}"
        seen += 1
    assert seen > 5


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
