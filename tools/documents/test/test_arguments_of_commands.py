# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of every command: numbers in every notation, and no option without an effect."""

import argparse
import contextlib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from documents.arguments import parser_of
from documents.programs import PACKAGES

from arm_common import cli

SPELLED = (
    "-1",
    "-.5",
    "-1.",
    "-1e-6",
    "-1.199E-05",
    "-0",
    "-90/4",
    "-(1+2)",
    "--2",
    "-+3",
    "-1e400",
)
WORDS = ("-pi/2", "-pi", "--pi", "-sqrt(2)", "-hypot(3,4)", "-max(1, 2)", "-rad(90)", "-h1", "-o")


COMMANDS = (
    *("calibrate", "check", "demo", "describe", "design", "dexterity", "dh2mjcf", "dh2moveit"),
    *("dh2srdf", "dh2urdf", "draw", "explain", "export", "fk", "follow", "gallery", "ik", "new"),
    *("play", "replay", "rvs2dh", "scene", "servos", "set", "trajectory", "urdf2dh", "verify"),
)


def parsers():
    for package in PACKAGES:
        for point in distribution(package).entry_points.select(group="console_scripts"):
            if point.name in COMMANDS:
                yield f"{package} {point.name}", parser_of(point.load())


PARSERS = dict(parsers())


def chains(parser, words=()):
    """Yield the words of each command of a parser, and its own parser."""
    yield list(words), parser
    for word, command in cli._commands(parser).items():
        yield from chains(command, [*words, word])


def takes_numbers(action):
    return action.nargs != 0 and action.type not in (None, str, Path)


@pytest.mark.parametrize("name", PARSERS)
def test_no_number_is_read_as_an_option(name, capsys):
    """Every argument with a number, with each count of them."""
    for before, parser in chains(PARSERS[name]):
        for action in parser._actions:
            if not takes_numbers(action):
                continue
            count = action.nargs if isinstance(action.nargs, int) else 1
            for number in (*SPELLED, *WORDS):
                if number in parser._option_string_actions:
                    continue
                words = [*action.option_strings[-1:], *[number] * count]
                with contextlib.suppress(SystemExit):
                    cli.parse(PARSERS[name], [*before, *words])
                said = capsys.readouterr().err
                assert "there is no option" not in said and "Traceback" not in said, words


UNUSED = [
    ("dh2urdf", "ur5 --macro m --prefix a"),
    ("dh2urdf", "ur5 --macro m --dh-frames"),
    ("dh2urdf", "ur5 --macro m --parent world"),
    ("dh2urdf", "ur5 --macro m --ros2-control mock"),
    ("dh2urdf", "ur5 --macro m --xyz 0 -1e-3 0"),
    ("dh2urdf", "ur5 --rpy 0 0 -pi/2"),
    ("urdf2dh", "arm.urdf --force"),
    ("rvs2dh", "arm.txt --force"),
    ("explain", "ur5 --code c --posture rest"),
    ("explain", "ur5 --code c --seconds 3"),
    ("dexterity", "ur5 --cells 9"),
    ("dexterity", "ur5 --workers 2"),
    ("design", "--workers 2"),
    ("design", "--viewer-port 8090"),
    ("dexterity", "ur5 --slice xz"),
    ("design", "--from puma560 --seed 2"),
    ("design", "--from puma560 --joints 7"),
    ("design", "--force"),
    ("export", "run.mcap end.svg --speed 2"),
    ("export", "run.mcap run.gif --field 0.1"),
    ("play", "ur5 wave --viewer-port 8081"),
    ("replay", "run.mcap --no-view --viewer-port 8081"),
    ("new", "a.yaml --from learm --ruler"),
    ("new", "a.yaml --wrist rolls"),
    ("new", "a.yaml --servo mg996r"),
    ("new", "a.yaml --base-height 95"),
    ("new", "a.yaml --upper-arm 105"),
    ("new", "a.yaml --forearm 98"),
    ("new", "a.yaml --hand 160"),
    ("new", "a.yaml --gripper 55"),
    ("play", "ur5 wave --height-mm 9"),
    ("play", "ur5 wave --width-mm 9"),
    ("play", "ur5 wave --at-mm 9 9"),
    ("play", "ur5 wave --lift-mm 9"),
    ("trajectory", "ur5 wave --height-mm 9"),
    ("trajectory", "ur5 wave --width-mm 9"),
    ("trajectory", "ur5 wave --at-mm 9 9"),
    ("trajectory", "ur5 wave --lift-mm 9"),
    ("play", "ur5 wave --scene paper"),
    ("demo", "--spacing 2"),
    ("demo", "--force"),
    ("demo", "--headless --viewer-port 8081"),
    ("follow", "--force"),
    ("verify", "arm.yaml --mend --speed 0.1"),
    ("verify", "arm.yaml --mend --hardware sim"),
    ("verify", "arm.yaml --mend --backend auto"),
    ("scene", "bench --robot ur5 remove bolt"),
]


@pytest.mark.parametrize(("command", "words"), UNUSED)
def test_option_without_an_effect_is_refused(command, words, capsys):
    (parser,) = (p for name, p in PARSERS.items() if name.split()[1] == command)
    with pytest.raises(SystemExit) as end:
        cli.parse(parser, words.split())
    said = capsys.readouterr().err
    assert end.value.code == 2 and said.count("\n") == 1
    assert " has no effect " in said


def test_every_option_that_may_have_no_effect_is_tried():
    declared = {
        (parser.prog.split()[-1], option)
        for parser in PARSERS.values()
        for options, _, _ in cli._UNUSED.get(parser, ())
        for option in options
    }
    tried = {(command, word) for command, words in UNUSED for word in words.split()}
    always = {("dh2moveit", "--force"), ("new", "--force")}  # they always write a file
    missing = declared - tried - always
    assert not {pair for pair in missing if pair[1] not in ("--follow", "--dask", "--xyz")}
    assert all(isinstance(parser, argparse.ArgumentParser) for parser in PARSERS.values())
