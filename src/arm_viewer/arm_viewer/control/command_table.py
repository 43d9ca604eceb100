# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The commands that can be typed in the page: names, usage, completion, answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from arm_common.suggestions import did_you_mean

from arm_viewer.errors import ViewerError


def _no_words() -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class PageCommand:
    """One command.

    Attributes:
        name: the first word of a line.
        usage: the words after it, for people, such as ``JOINT=VALUE ...``.
        text: what it does, in one line.
        run: takes the words after the name; returns the answer in one sentence or "", and raises a
            ViewerError (or another ValueError with a sentence) for wrong words.
        words: returns the words that may follow now, for completion; each is offered in the
            command palette, too, as a line of its own if `listed`.
        listed: whether name and word are a complete line, such as ``trace off``.
        pause: the word that only pauses a motion; "" for none.
    """

    name: str
    usage: str
    text: str
    run: Callable[[Sequence[str]], str]
    words: Callable[[], Iterable[str]] = _no_words
    listed: bool = False
    pause: str = ""


class CommandTable:
    """Commands by name."""

    def __init__(self) -> None:
        self._commands: dict[str, PageCommand] = {}

    def add(self, command: PageCommand) -> None:
        """Add a command, or replace the one with its name."""
        self._commands[command.name] = command

    def remove(self, name: str) -> None:
        """Remove a command."""
        self._commands.pop(name, None)

    @property
    def commands(self) -> tuple[PageCommand, ...]:
        """All commands, by name."""
        return tuple(self._commands[name] for name in sorted(self._commands))

    def run(self, line: str) -> str:
        """Run a line and return its answer in one sentence.

        Raises:
            ViewerError: There is no such command, or its words are wrong.
        """
        words = line.split()
        if not words:
            return ""
        command = self._commands.get(words[0])
        if command is None:
            known = did_you_mean(words[0], sorted(self._commands))
            raise ViewerError(f"there is no command {words[0]!r}: {known}")
        try:
            return command.run(words[1:])
        except ViewerError:
            raise
        except ValueError as error:
            raise ViewerError(f"{command.name}: {error}") from None

    def only_pauses(self, line: str) -> bool:
        """Return whether a line does nothing but pause a motion."""
        name, _, word = line.strip().partition(" ")
        command = self._commands.get(name)
        return command is not None and bool(word) and word.strip() == command.pause

    def lines(self) -> dict[str, str]:
        """Return all complete lines that can be chosen without typing, with what they do."""
        lines: dict[str, str] = {}
        for command in self.commands:
            if not command.usage:
                lines[command.name] = command.text
            elif command.listed:
                lines |= {f"{command.name} {word}": command.text for word in command.words()}
        return lines

    def complete(self, line: str) -> tuple[str, ...]:
        """Return the lines that can follow from the start of one, sorted."""
        before, _, last = line.rpartition(" ")
        if not before:
            return tuple(
                f"{name} " if command.usage else name
                for name, command in sorted(self._commands.items())
                if name.startswith(last)
            )
        command = self._commands.get(before.split()[0])
        words = () if command is None else sorted(command.words())
        return tuple(f"{before} {word}" for word in words if word.startswith(last))
