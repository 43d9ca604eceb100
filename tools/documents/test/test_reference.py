# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The reference pages match the code: nothing is missing, outdated or undescribed."""

import argparse
import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from documents import pages, words
from documents.arguments import arguments_of, parser_of, synopsis
from documents.launch_files import launch_arguments
from documents.nodes import inspect_nodes
from documents.programs import CommandInfo
from documents.reference import FOLDER, texts
from house.layout import package_files
from pip_ros.paths import REPOSITORY


@pytest.fixture(scope="module")
def nodes():
    return list(inspect_nodes())


@pytest.fixture(scope="module")
def wanted():
    return texts()


@pytest.mark.parametrize(
    "name",
    [
        *("interfaces.md", "parameters.md", "messages.md", "launch.md", "commands.md", "files.md"),
        *("../states.md", "../images/states_driver.svg", "../images/states_task.svg"),
    ],
)
def test_page_is_up_to_date(wanted, name):
    path = (FOLDER / name).resolve()
    why = "run ./arm exec python3 tools/documents/write.py"
    assert path.read_text(encoding="utf-8") == wanted[path], why


def test_every_generated_page_is_compared(wanted):
    assert {path.stem for path in wanted if path.suffix == ".md"} == {
        "interfaces", "parameters", "messages", "launch", "commands", "files", "states",
    }  # fmt: skip


def test_shipped_parameter_files_have_every_parameter_with_its_default(wanted, nodes):
    files = {path: text for path, text in wanted.items() if path.suffix == ".yaml"}
    by_name = {node.name: node for node in nodes}
    assert len(files) >= 7
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, "run tools/documents/write.py"
        ((key, content),) = yaml.safe_load(text).items()
        given, node = content["ros__parameters"], by_name[path.stem]
        assert key == f"/**/{path.stem}"
        assert given.keys() <= node.parameters.keys()
        for name, parameter in node.parameters.items():
            assert f"{name}:" in text
            assert (name in given) == (parameter.default is not None)
            if name in given:
                assert given[name] == parameter.default or list(parameter.default) == given[name]


def numbers(nodes):
    for node in nodes:
        for parameter in node.parameters.values():
            value = parameter.default
            entry = value[0] if isinstance(value, list | tuple) else value
            if isinstance(entry, int | float) and not isinstance(entry, bool):
                yield parameter, entry


def test_every_number_has_a_range_that_includes_its_default(nodes):
    assert len(list(numbers(nodes))) > 40
    for parameter, value in numbers(nodes):
        assert parameter.bounds is not None, parameter
        assert parameter.bounds[0] <= value <= parameter.bounds[1], parameter


def test_every_measure_has_a_unit_or_is_a_ratio(nodes):
    for parameter, value in numbers(nodes):
        if isinstance(value, float):
            assert re.search(r"\[[^]]+\]|fraction|factor|scaling| per ", parameter.text, re.I) or (
                parameter.text.startswith("The same ")
            ), parameter


def test_every_description_is_a_sentence(nodes):
    for node in nodes:
        for parameter in node.parameters.values():
            assert re.fullmatch(r"\S.+\.", parameter.text, re.S), parameter


def test_every_parameter_refuses_wrong_values_with_a_reason(nodes):
    for node in nodes:
        for parameter in node.parameters.values():
            assert parameter.refusals and all(parameter.refusals), parameter


def test_topic_without_a_description_is_rejected(nodes, monkeypatch):
    monkeypatch.delitem(words.TOPICS, "joint_states")
    with pytest.raises(pages.UndescribedError, match="no description of joint_states"):
        pages.interfaces_page(nodes)


def test_description_of_a_missing_service_is_rejected(nodes, monkeypatch):
    monkeypatch.setitem(words.SERVICES, "make_coffee", "black")
    with pytest.raises(pages.UndescribedError, match="no longer exists: make_coffee"):
        pages.interfaces_page(nodes)


def test_part_of_another_package_is_not_described(tmp_path, monkeypatch):
    info = tmp_path / "dummy_servos-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[arm_hardware.backends]\ndummy = dummy:DUMMY\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(pages.UndescribedError, match="dummy_servos adds parts"):
        texts()


def test_parameter_without_a_description_is_rejected(nodes):
    node = next(node for node in nodes if node.name == "kinematics")
    bare = replace(node.parameters["tip_frame"], text="")
    changed = replace(node, parameters={"tip_frame": bare})
    with pytest.raises(pages.UndescribedError, match="kinematics parameter tip_frame"):
        pages.parameters_page([changed])


def test_option_without_help_is_rejected():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fast", action="store_true")
    told = CommandInfo("./arm go", "Go.", "", parser)
    with pytest.raises(pages.UndescribedError, match=r"./arm go: --fast has no help"):
        pages.commands_page([told])


@pytest.mark.parametrize(
    ("definition", "why"),
    [
        ("float64 x\n", "float64 x"),
        ("# of the request\nfloat64 x\n---\nfloat64 y\n", "float64 y"),
        ("# the first\nfloat64 x\n\nfloat64 y\n", "float64 y"),
    ],
)
def test_field_without_a_comment_is_rejected(tmp_path, definition, why):
    for folder in ("srv", "action", "msg"):
        (tmp_path / folder).mkdir()
    (tmp_path / "srv" / "Ask.srv").write_text(definition)
    with pytest.raises(pages.UndescribedError, match=f"Ask.srv: {why} has no comment"):
        pages.messages_page(tmp_path)


def test_launch_argument_without_a_description_is_rejected(tmp_path):
    file = tmp_path / "arm" / "launch" / "x.launch.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "from launch import LaunchDescription\n"
        "from launch.actions import DeclareLaunchArgument\n"
        "def generate_launch_description():\n"
        "    return LaunchDescription([DeclareLaunchArgument('pace', default_value='1')])\n"
    )
    assert [argument.name for argument in launch_arguments(file)] == ["pace"]
    with pytest.raises(pages.UndescribedError, match=r"x.launch.py: pace has no description"):
        pages.launch_page([file])


def test_program_without_a_parser_is_reported():
    with pytest.raises(LookupError, match="no parser"):
        parser_of(lambda: 0)


def test_arguments_are_read_from_a_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", help="a file")
    parser.add_argument("--speed", type=float, default=2.0, help="the pace (default: 2.0)")
    parser.add_argument("--secret", help=argparse.SUPPRESS)
    edit = parser.add_subparsers().add_parser("move", help="put it elsewhere")
    edit.add_argument("--to", nargs=2, metavar=("X", "Y"), required=True, help="there")
    taken = list(arguments_of(parser))
    assert [(a.name, a.default, a.text) for a in taken] == [
        ("FILE", "", "a file"),
        ("--speed SPEED", "2", "the pace"),
        ("move", "", "put it elsewhere"),
        ("move --to X Y", "", "there"),
    ]
    assert synopsis(taken) == "FILE [...]"


def test_trajectory_page_names_every_key_and_column():
    from arm_description.trajectories import formats

    text = (FOLDER / "trajectories.md").read_text(encoding="utf-8")
    keys = {*formats.POINTS.keys, *formats.FUNCTIONS.keys, *formats.TOOL_POSITION, formats.TIME}
    keys |= {column for columns in formats.TOOL_ORIENTATIONS for column in columns}
    assert not [key for key in keys if not re.search(rf"`[^`]*\b{key}\b|^{key}:", text, re.M)]


def test_client_page_names_every_method_of_arm():
    from arm_tasks.client import Arm

    text = (FOLDER / "client.md").read_text(encoding="utf-8")
    verbs = {name for name, of in vars(Arm).items() if callable(of) or isinstance(of, property)}
    missing = {
        verb for verb in verbs if not verb.startswith("_") and not re.search(rf"\b{verb}\b", text)
    }
    assert not missing


MAKERS = {
    "ActionClient", "action_server", "create_client", "create_publisher", "create_service",
    "create_subscription", "serve",
}  # fmt: skip
NOT_OURS = {"doctor_echo", "list_parameters", "get_parameters", "set_parameters"}


def test_reference_names_every_interface_in_the_code():
    """This includes interfaces created late, or only if a package is installed."""
    text = (FOLDER / "interfaces.md").read_text(encoding="utf-8")
    names = set(re.findall(r"^\| `/?([\w/]+)`", text, re.MULTILINE))
    seen = 0
    for file in package_files():
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = isinstance(call, ast.Call) and getattr(
                call.func, "attr", getattr(call.func, "id", "")
            )
            if name in MAKERS:
                for word in (a.value for a in call.args if isinstance(a, ast.Constant)):
                    if isinstance(word, str) and word.rpartition("/")[2] not in NOT_OURS:
                        end = word.lstrip("~/")
                        assert any(n == end or n.endswith(f"/{end}") for n in names), word
                        seen += 1
    assert seen > 40


def test_readme_names_only_existing_interfaces(nodes):
    """A README may explain more than the reference, but name no other interfaces."""
    names = {end.name for node in nodes for end in node.ends}
    text = (REPOSITORY / "src/arm_hardware/README.md").read_text(encoding="utf-8")
    table = text.partition("## Interfaces")[2].partition("**Trajectories.**")[0]
    said = set(
        re.findall(
            r"`([\w/]+)`",
            "\n".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `")),
        )
    )
    assert len(said) > 8 and said <= names, said - names
    assert Path(REPOSITORY / "docs/reference/interfaces.md").is_file()


@pytest.mark.parametrize(
    ("page", "node"),
    [
        ("src/arm_viewer/README.md", "arm_viewer"),
        ("src/arm_hardware/README.md", "arm_hardware"),
        ("docs/reference/teleop.md", "teleop"),
    ],
)
def test_other_parameter_tables_are_complete(nodes, page, node):
    (facts,) = (facts for facts in nodes if facts.name == node)
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    tables = [
        block
        for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
        if re.match(r"\| (?:name|parameter) \| default", block)
    ]
    first = [line.split("|")[1] for table in tables for line in table.splitlines()[2:]]
    assert {name for cell in first for name in re.findall(r"`([\w.]+)`", cell)} == set(
        facts.parameters
    )
