# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which arguments a program takes, as its own parser says."""

import argparse
import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

_DEFAULT = re.compile(r" \(default:? \S+\)$| Default: \S+$")  # where help says it too


@dataclass(frozen=True)
class Argument:
    """One argument of a program.

    Attributes:
        name: As typed, such as "-o, --output FILE" or "ROBOT".
        default: What counts if it is left out; "" for nothing worth saying.
        text: What it means.
        optional: Whether it may be left out.
    """

    name: str
    default: str
    text: str
    optional: bool


class CaughtError(BaseException):
    """Carries a parser out of a program; no program catches it."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__(parser.prog)
        self.parser = parser


def parser_of(main: Callable[[], Any]) -> argparse.ArgumentParser:
    """Return the parser that a program asks about its arguments; the program goes no further.

    Raises:
        LookupError: It ended without having asked one.
    """

    def caught(parser: argparse.ArgumentParser, *_: Any, **__: Any) -> NoReturn:
        raise CaughtError(parser)

    before = argparse.ArgumentParser.parse_args
    argparse.ArgumentParser.parse_args = caught  # type: ignore[assignment, method-assign]
    typed, sys.argv = sys.argv, [sys.argv[0]]
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            main()
    except CaughtError as error:
        return error.parser
    finally:
        argparse.ArgumentParser.parse_args = before  # type: ignore[method-assign]
        sys.argv = typed
    raise LookupError("the program has no parser")


def arguments_of(parser: argparse.ArgumentParser) -> Iterator[Argument]:
    """Yield what a parser takes, then its subcommands with what they take."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action._choices_actions:
                yield Argument(sub.dest, "", sub.help or "", True)
                for told in arguments_of(action.choices[sub.dest]):
                    yield replace(told, name=f"{sub.dest} {told.name}", optional=True)
        elif action.help != argparse.SUPPRESS and action.dest != "help":
            yield _argument(action)


def synopsis(arguments: Sequence[Argument]) -> str:
    """Return what may follow the name of a program, options as [...]."""
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
    """Return a default worth saying, else ""."""
    if isinstance(value, float):
        return f"{value:g}"
    plain = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if plain and value != argparse.SUPPRESS else ""


def _value(action: argparse.Action) -> str:
    """Return what stands for the value of an argument."""
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
