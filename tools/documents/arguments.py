# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads the arguments of a program from its own parser."""

import argparse
import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

_DEFAULT = re.compile(r" \(default:? \S+\)$| Default: \S+$")  # a default repeated in the help


@dataclass(frozen=True)
class Argument:
    """One argument of a program.

    Attributes:
        name: As typed, such as "-o, --output FILE" or "ROBOT".
        default: Its default; "" if there is none worth showing.
        text: Its meaning.
        optional: Whether it may be omitted.
    """

    name: str
    default: str
    text: str
    optional: bool


class CaughtError(BaseException):
    """Carries a parser out of a program, which cannot catch it."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__(parser.prog)
        self.parser = parser


def parser_of(main: Callable[[], Any]) -> argparse.ArgumentParser:
    """Run a program until it parses its arguments, and return its parser.

    Raises:
        LookupError: The program ended without parsing arguments.
    """

    def caught(parser: argparse.ArgumentParser, *_: Any, **__: Any) -> NoReturn:
        raise CaughtError(parser)

    before = argparse.ArgumentParser.parse_known_args
    argparse.ArgumentParser.parse_known_args = caught  # type: ignore[assignment, method-assign]
    typed, sys.argv = sys.argv, [sys.argv[0]]
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            main()
    except CaughtError as error:
        return error.parser
    finally:
        argparse.ArgumentParser.parse_known_args = before  # type: ignore[method-assign]
        sys.argv = typed
    raise LookupError("the program has no parser")


def arguments_of(parser: argparse.ArgumentParser) -> Iterator[Argument]:
    """Yield a parser's arguments, then its subcommands with theirs."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action._choices_actions:
                yield Argument(sub.dest, "", sub.help or "", True)
                for argument in arguments_of(action.choices[sub.dest]):
                    yield replace(argument, name=f"{sub.dest} {argument.name}", optional=True)
        elif action.help != argparse.SUPPRESS and action.dest != "help":
            yield _argument(action)


def synopsis(arguments: Sequence[Argument]) -> str:
    """Return the usage of a program after its name, options as [...]."""
    given = [a.name.rpartition(", ")[2] for a in arguments if not a.optional]
    return " ".join([*given, *(["[...]"] if any(a.optional for a in arguments) else [])])


def _argument(action: argparse.Action) -> Argument:
    value = _value(action)
    names = ", ".join(action.option_strings)
    name = f"{names} {value}".strip()
    optional = not action.required if names else action.nargs in ("?", "*")
    default = _default(action.default)
    text = (action.help or "").replace("%%", "%")
    return Argument(
        name=f"[{name}]" if optional and not names else name,
        default=default,
        text=_DEFAULT.sub("", text) if default else text,
        optional=optional,
    )


def _default(value: object) -> str:
    """Return a default worth showing, otherwise ""."""
    if isinstance(value, float):
        return f"{value:g}"
    plain = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if plain and value != argparse.SUPPRESS else ""


def _value(action: argparse.Action) -> str:
    """Return the placeholder for the value of an argument."""
    if action.nargs == 0:
        return ""
    if action.choices and not action.metavar:
        return "{" + ",".join(map(str, action.choices)) + "}"
    plain = action.metavar or action.dest.upper()
    if isinstance(plain, tuple):
        return " ".join(plain)
    if isinstance(action.nargs, int):
        return " ".join([plain] * action.nargs)
    return f"{plain} ..." if action.nargs in ("*", "+") else plain
