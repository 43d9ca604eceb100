# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The command blocks in the documents: which of them a test types, and why not the others.

A command block is ```console or ```sh. A test types it, unless a word after the language gives a
reason, such as ```console screen. Lines that start with `$` are commands, the others their output
(`...` for any text); in a block without `$`, every line is a command that must succeed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("*.md", "docs/**/*.md", "src/*/README.md")
COMMANDS = ("console", "sh")
NOT_TYPED = {
    "hardware": "needs servos on their board",
    "ros2": "in a full ROS 2",
    "screen": "needs a person at a screen",
    "docker": "needs Docker",
    "network": "needs two computers and the network between them",
    "long": "takes minutes, or does not end by itself",
}
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        page: Its path in the repository.
        line: Line of the fence.
        kind: Language of the fence.
        word: The word after it: a file to save, or why it is not typed; "" if there is none.
        body: The text.
    """

    page: str
    line: int
    kind: str
    word: str
    body: str

    @property
    def is_typed(self) -> bool:
        """Whether it contains commands that a test types."""
        return self.kind in COMMANDS and not self.word

    @property
    def commands(self) -> list[tuple[str, str | None]]:
        """The commands, each with its output; None where that is not shown."""
        body = self.body.replace("\\\n", " ")
        if not re.search(r"^\$ ", body, re.MULTILINE):
            lines = (line for line in body.splitlines() if line.strip())
            return [(line, None) for line in lines if not line.startswith("#")]
        parts = re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]
        return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


@dataclass(frozen=True)
class Typed:
    """A program of this repository with its words, as a page shows it.

    Attributes:
        location: Page and line of its block.
        name: The command of ./arm, or the executable of a package.
        words: Its arguments.
        package: The package that `ros2 run` names; "" if it is run by ./arm.
    """

    location: str
    name: str
    words: Sequence[str]
    package: str = ""


def typed(block: Block) -> Iterator[Typed]:
    """Yield the programs of this repository in a block, as ./arm or `ros2 run` starts them."""
    for command, _ in block.commands:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        for is_operator, group in groupby(lexer, key=lambda word: not word.strip("();<>|&")):
            words = list(group)
            words = words[1:] if words[0] == "arm" else words  # the shell function of the Pi
            if is_operator or len(words) < 2:
                continue
            if Path(words[0]).name == "arm":
                words = words[1:]
                if words[:2] != ["ros2", "run"]:
                    yield Typed(f"{block.page}:{block.line}", words[0], words[1:])
            if words[:2] == ["ros2", "run"] and words[2].startswith("arm_"):
                yield Typed(f"{block.page}:{block.line}", words[3], words[4:], words[2])


def pages() -> list[Path]:
    """Return all pages of the documents."""
    return [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(name, line, found[1], found[2] or "", found[3])
