# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Commands: misuse in one sentence."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest
from arm_common.errors import InputError, number_text

from arm_common import cli


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["--hedless"], "there is no option --hedless; did you mean --headless?"),
        (["--sped=3", "x"], "there is no option --sped; did you mean --speed?"),
        (["-q"], "there is no option -q;"),
        (["x", "y"], "'y' is one too many;"),
        (["--spee", "3"], "there is no option --spee; did you mean --speed?"),  # no abbreviation
        (["--speed"], "argument --speed: expected one argument;"),
        (["-oFILE"], "there is no option -oFILE; did you mean -o FILE?"),
        (["x", "-1e-6"], "'-1e-6' is one too many;"),
    ],
)
def test_unknown_argument_is_one_line_with_the_nearest_option(given, problem, capsys):
    parser = argparse.ArgumentParser(prog="draw")
    parser.add_argument("robot", nargs="?")
    parser.add_argument("--headless", action="store_true")
    parser.add_argument("--speed")
    parser.add_argument("-o", "--output")
    with pytest.raises(SystemExit) as end:
        cli.run(parser, lambda _: None, given)
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"draw: {problem}") and said.endswith("--help lists all arguments\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize("where", [0, 1, 2, 3])
def test_options_may_be_between_positional_arguments(where):
    parser = argparse.ArgumentParser(prog="verify")
    parser.add_argument("file")
    parser.add_argument("postures", nargs="*")
    parser.add_argument("--speed", type=cli.number)
    words = ["mine.yaml", "rest", "ready"]
    given = cli.parse(parser, [*words[:where], "--speed", "-1", *words[where:]])
    assert (given.file, given.postures, given.speed) == (words[0], words[1:], -1.0)


NEGATIVE = (
    *("-1", "-.5", "-1.", "-1e-6", "-1E+3", "-1.199e-05", "-0", "-90/4", "-(1+2)", "--2", "-+3"),
    *("-pi", "-pi/2", "--pi", "-sqrt(2)", "-hypot(3, 4)", "-max(1,2)", "-rad(90)", "-abs(-2)"),
)


def _speed_parser():
    parser = argparse.ArgumentParser(prog="fk")
    parser.add_argument("robot")
    parser.add_argument("q", nargs="+", type=cli.expression)
    parser.add_argument("--xyz", nargs=3, type=cli.number, default=())
    parser.add_argument("--by", nargs="+", type=cli.number, default=())
    parser.add_argument("-m", action="store_true")
    parser.add_argument("-p", "--plain", action="store_true")
    return parser


@pytest.mark.parametrize("text", NEGATIVE)
@pytest.mark.parametrize("count", [1, 2, 7])
def test_no_number_is_an_option(text, count):
    """Neither before nor behind an option, nor as one of several values of one."""
    value, words = cli.number(text), [text] * count
    for argv in (["x", *words, "-m"], ["x", "-m", *words], ["-m", "x", *words]):
        assert cli.parse(_speed_parser(), argv).q == words
    given = cli.parse(_speed_parser(), ["x", *words, "--xyz", "0", text, text, "-m"])
    assert (given.q, given.xyz, given.m) == (words, [0.0, value, value], True)
    assert cli.parse(_speed_parser(), ["x", "1", "--by", *words, "-p"]).by == [value] * count


@pytest.mark.parametrize("argv", [["x", "-p", "-pi", "-m"], ["-m", "x", "--", "-pi", "-p"]])
def test_declared_options_beside_numbers(argv):
    given = cli.parse(_speed_parser(), argv)
    assert given.m and given.plain == (argv[1] == "-p")
    assert given.q == ["-pi", "-p"][: 2 - given.plain]


@pytest.mark.parametrize(
    "argv", [["x", "--plian"], ["x", "--plian=3", "1"], ["x", "1", "--plian"]]
)
def test_misspelt_option_where_an_expression_may_be(argv, capsys):
    def refuse(given):
        raise InputError(f"{given.q[0]} is not a number")

    with pytest.raises(SystemExit) as end:
        cli.run(_speed_parser(), refuse, argv)
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert said.startswith("fk: there is no option --plian; did you mean --plain?")


@pytest.mark.parametrize("text", ["nan", "-inf", "1e999", "1,5", "0x10", "1_000", "010", "3 deg"])
def test_number_of_no_expression_is_one_sentence(text, capsys):
    with pytest.raises(SystemExit):
        cli.parse(_speed_parser(), ["x", "--by", text])
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(argparse.ArgumentTypeError, match="not a number above 0"):
        cli.positive("-1e-9")


@pytest.mark.parametrize("is_required", [False, True])
def test_nearest_option_is_one_of_the_given_command(is_required, capsys):
    parser = argparse.ArgumentParser(prog="scene")
    parser.add_argument("--robot")
    edits = parser.add_subparsers()
    edits.add_parser("move").add_argument("--turned", required=is_required)
    edits.add_parser("add").add_argument("--turn")
    with pytest.raises(SystemExit):
        cli.run(parser, lambda _: None, ["--robot", "puma560", "move", "--turnd", "1"])
    said = capsys.readouterr().err
    assert "there is no option --turnd; did you mean --turned?" in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("target", "code", "said"),
    [("/dev/full", 1, "x: the output cannot be written: No space left on device\n"), ("", 0, "")],
)
def test_output_that_cannot_be_written_is_no_traceback(target, code, said):
    """A full disk is one sentence, a reader that has gone is no error."""
    run = "sys.exit(cli.run(argparse.ArgumentParser('x'), lambda _: print('y' * 99999), []))"
    read, write = os.pipe()
    os.close(read)
    if target:
        write = os.open(target, os.O_WRONLY)
    program = f"import argparse, sys; from arm_common import cli; {run}"
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=write, stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (code, said)


def test_program_that_moves_an_arm_outlives_the_reader_of_its_output():
    """It parses its arguments itself; its standard error may go to the same reader."""
    program = "import argparse, sys; from arm_common import cli; cli.parse(PARSER, [])\n"
    program += "for stream in (sys.stdout, sys.stderr) * 2:\n"
    program += "    stream.write('y' * 99999), stream.flush()\n"
    program += "sys.exit(3)"
    program = program.replace("PARSER", "argparse.ArgumentParser('x')")
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, stdout=write, stderr=write).returncode == 3
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    said = "The output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (3, said + 2 * ("y" * 99999))


def test_letters_that_a_terminal_cannot_show_are_replaced():
    program = "import argparse; from arm_common import cli;"
    program += "cli.run(argparse.ArgumentParser(), lambda _: print('5 \\u00b5m'), [])"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    run = [sys.executable, "-c", program]
    assert subprocess.check_output(run, env=environment, text=True) == "5 ?m\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((-7.0316e-19, "0"), (-0.0, "0"), (-6.96439e-15, "0"), (1e-5, "0.00001"), (-90.0, "-90")),
        *((0.1 + 0.2, "0.3"), (1234567.0, "1234570"), (-0.0054908334, "-0.005491"), (2.5, "2.5")),
        *((1e300, "1e+300"), (float("inf"), "inf"), (float("nan"), "nan"), (999999.96, "1000000")),
    ],
)
def test_numbers_for_people_are_rounded_and_never_minus_zero(value, text):
    assert number_text(value) == text
    assert number_text(value, 3, 0) == number_text(value, 3, 0).removeprefix("-0.")
