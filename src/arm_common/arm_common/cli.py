# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Common parts of the commands: arguments, exit codes, output files.

Exit codes: 0, also for a closed pipe, 1 with one sentence, 2 for bad arguments, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import difflib
import errno
import functools
import io
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias
from weakref import WeakKeyDictionary

from arm_common import signals
from arm_common.errors import InputError
from arm_common.files.saving import write_bytes


def run(
    parser: argparse.ArgumentParser,
    action: Callable[[argparse.Namespace], int | None],
    argv: Sequence[str] | None,
    errors: tuple[type[Exception], ...] = (InputError,),
    refused: int = 1,
) -> int:
    """Parse the arguments, run a command and return its exit code.

    Args:
        parser: parses the arguments; its name begins every error message.
        action: does the work and returns the exit code, None for 0.
        argv: arguments, by default those of the process.
        errors: exceptions reported by their text alone, without a traceback.
        refused: the exit code after one of them.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # letters that the terminal cannot show
    caught: tuple[type[Exception], ...] = (OSError, *errors)
    try:
        code = action(_parsed(parser, argv))
        sys.stdout.flush()
        return code or 0
    except caught as error:
        if isinstance(error, OSError) and error.errno in (errno.EPIPE, errno.ENOSPC):
            return _without_output(parser.prog, error)
        if not isinstance(error, errors):
            raise
        words = sys.argv[1:] if argv is None else argv
        if _like_option(parser, words):  # it was taken for an expression
            _fail(parser, words, parser.prog, "")
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return refused
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return signals.INTERRUPTED


def _without_output(prog: str, error: OSError) -> int:
    """Drop what cannot be written: no error for a closed pipe, a sentence for a full disk."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return 0
    sys.stderr.write(f"{prog}: the output cannot be written: {error.strerror}\n")
    return 1


def parse(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments of a program that runs on when nobody reads its output any longer.

    Abbreviations are refused; a mistake ends the process with code 2.
    """
    signals.outlive_readers()
    return _parsed(parser, argv)


def _parsed(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse arguments without abbreviations; a mistake ends the process with code 2.

    A word is an option only if it equals a declared one, or is ``--name=value``: -pi/2 and -1e-6
    are numbers. The error is one sentence; that of a misspelt option names the nearest.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    for each in _with_commands(parser):
        fail = functools.partial(_fail, parser, words, each.prog)
        each.error = fail  # type: ignore[method-assign,assignment]
        each._parse_optional = functools.partial(_option, each)  # type: ignore[method-assign]
    if wrong := next(_misspelt(parser, words), ""):
        _fail(parser, words, parser.prog, "", wrong)
    given, unknown = parser.parse_known_args(words)
    if unknown and not _commands(parser):  # perhaps an option was between the positional ones
        given, unknown = parser.parse_known_intermixed_args(words)
    _refuse_unused(parser, words, given)
    if unknown:
        wrong = next(filter(_LONG_OPTION.fullmatch, unknown), "")
        problem = "" if wrong else f"{unknown[0]!r} is one too many"
        _fail(parser, words, parser.prog, problem, wrong)
    return given


_Unused: TypeAlias = "tuple[tuple[str, ...], Callable[[argparse.Namespace], bool], str]"
_UNUSED = WeakKeyDictionary["argparse.ArgumentParser", "list[_Unused]"]()


def unused(
    parser: argparse.ArgumentParser,
    options: Iterable[str],
    where: Callable[[argparse.Namespace], object],
    reason: str,
) -> None:
    """Refuse options where they would have no effect.

    Args:
        parser: has the options.
        options: their names, such as "--xyz".
        where: takes the parsed arguments; returns whether the options have no effect.
        reason: completes "--xyz has no effect ...", such as "without --parent".
    """
    _UNUSED.setdefault(parser, []).append((tuple(options), lambda g: bool(where(g)), reason))


def _refuse_unused(
    parser: argparse.ArgumentParser, words: Sequence[str], given: argparse.Namespace
) -> None:
    names = set(map(_name, words))
    for options, where, reason in _UNUSED.get(parser, ()):
        for option in options:
            if option in names and where(given):
                _fail(parser, words, parser.prog, f"{option} has no effect {reason}")


def _options(parser: argparse.ArgumentParser) -> Mapping[str, argparse.Action]:
    return parser._option_string_actions


def _option(parser: argparse.ArgumentParser, word: str) -> Any:
    """Return what argparse makes of an option, None for a word that is not one."""
    if word and _name(word) in _options(parser):
        return type(parser)._parse_optional(parser, word)
    return None


_LONG_OPTION = re.compile(r"--[A-Za-z][\w-]*(=.*)?", re.DOTALL)
_NUMERAL = re.compile(r"[-+]+[\d.(]")


def _misspelt(parser: argparse.ArgumentParser, words: Sequence[str]) -> Iterator[str]:
    """Yield the words that begin with -, but are neither options nor may be numbers."""
    commands, numbers = [parser], 0.0  # how many numbers the last option may still have
    for word in words:
        option = next((o for each in commands if (o := _options(each).get(_name(word)))), None)
        if word == "--":
            return
        if option:
            numbers = _count_of_numbers(option) if _name(word) == word else 0.0
        elif len(word) < 2 or word[0] != "-":
            numbers -= 1.0
            commands += filter(None, [_commands(commands[-1]).get(word)])
        elif word != _name(word):
            yield word
        elif numbers > 0.0:
            numbers -= 1.0
        elif not (_NUMERAL.match(word) or _takes_numbers(commands)):
            yield word


def _like_option(parser: argparse.ArgumentParser, words: Sequence[str]) -> str:
    """Return the first word with the form of an undeclared long option, "" without one."""
    options = [name for each in _with_commands(parser, words) for name in _options(each)]
    for word in words:
        if _LONG_OPTION.fullmatch(word) and _name(word) not in options:
            try:
                number(word)
            except argparse.ArgumentTypeError:
                return word
    return ""


def _takes_numbers(parsers: Iterable[argparse.ArgumentParser]) -> bool:
    """Return True if a positional argument may be a number."""
    positional = (a for each in parsers for a in each._actions if not a.option_strings)
    return any(_count_of_numbers(action) for action in positional)


def _count_of_numbers(action: argparse.Action) -> float:
    """Return how many numbers an argument may have; infinity if it has no limit."""
    if action.type in (None, str, Path) or action.nargs == 0:
        return 0.0
    if isinstance(action.nargs, int):
        return float(action.nargs)
    return math.inf if action.nargs in ("*", "+") else 1.0


def number(text: str) -> float:
    """Return the value of a number or expression of the command line, always finite."""
    from arm_common.yaml.expressions import Expressions  # here: not every command has numbers

    try:
        return Expressions().evaluate(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def positive(text: str) -> float:
    """Return the value of a number or expression of the command line that is above 0."""
    if (value := number(text)) <= 0.0:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def expression(text: str) -> str:
    """Return the text of a number or expression that the command evaluates itself."""
    return text


def _fail(
    parser: argparse.ArgumentParser, words: Sequence[str], prog: str, problem: str, wrong: str = ""
) -> NoReturn:
    """End the process with a problem and a wrong option, by default a misspelt long one."""
    options = [name for each in _with_commands(parser, words) for name in _options(each)]
    parts = [problem, "--help lists all arguments"]
    if name := _name(wrong or _like_option(parser, words)):
        if near := difflib.get_close_matches(name, options, n=1):
            parts = [f"did you mean {near[0]}? {parts[-1]}"]
        elif name[:2] in options:
            parts = [f"did you mean {name[:2]} {name[2:]}? {parts[-1]}"]
        parts.insert(0, f"there is no option {name}")
    parser.exit(2, f"{prog}: {'; '.join(filter(None, parts))}\n")


def _name(word: str) -> str:
    """Return the option of a word, without the value of ``--name=value``."""
    return word.partition("=")[0] if word[:2] == "--" else word


def _commands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Return the parsers of the commands of a parser by name."""
    kinds = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {word: command for kind in kinds for word, command in kind.choices.items()}


def _with_commands(
    parser: argparse.ArgumentParser, words: Collection[str] | None = None
) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its commands, or only of the commands that are among words."""
    yield parser
    for word, command in _commands(parser).items():
        if words is None or word in words:
            yield from _with_commands(command, words)


def confirm(question: str) -> bool:
    """Return whether the user answers a question with y; without a terminal, it is not asked."""
    return sys.stdin.isatty() and input(f"{question} (y/n) ").strip().lower() == "y"


def add_robot(parser: argparse.ArgumentParser, shipped: Iterable[str]) -> None:
    """Add the positional argument ``robot``; its help lists the shipped robots."""
    parser.add_argument("robot", help=f"name of a shipped robot ({', '.join(shipped)}) or a path")


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``-o FILE``."""
    to_write = "output file (default: standard output)"
    parser.add_argument("-o", "--output", default="", metavar="FILE", help=to_write)


def add_force(parser: argparse.ArgumentParser, file: str = "-o") -> None:
    """Add ``--force``, for the file that another argument names, by default ``-o``."""
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    dest = "output" if file == "-o" else file.lstrip("-")
    unused(parser, ["--force"], lambda given: not vars(given).get(dest, "."), f"without {file}")


def print_status(text: str) -> None:
    """Print a status line to standard error, apart from the output."""
    sys.stderr.write(f"{text}\n")


def write_text(text: str, output: str) -> None:
    """Write text to a file (see `write_bytes`), or to standard output if the name is empty."""
    if output:
        write_bytes(text.encode(), output)
    else:
        sys.stdout.write(text)


def refuse_overwriting(output: str, force: bool) -> None:
    """Raise an InputError if the file exists and `force` is not set."""
    if output and not force and os.path.lexists(output):
        remedy = "choose another name or give --force"
        raise InputError("already exists", remedy=remedy, file=output)


def whole_number(lowest: int, highest: float = math.inf) -> Callable[[str], int]:
    """Return the type of a whole number of the command line within bounds."""
    bounds = f"from {lowest} {'on' if highest == math.inf else f'to {highest}'}"

    def number(text: str) -> int:
        if not text.isdecimal() or not lowest <= int(text) <= highest:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number {bounds}")
        return int(text)

    return number
