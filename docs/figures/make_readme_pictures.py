# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Make the pictures of README: the arm of its ten lines, and the page while they are edited.

    ./arm exec python3 docs/figures/make_readme_pictures.py

my_arm.png is the output of `./arm draw`. edit_the_file.gif shows the scene of `./arm view` as a
headless Chromium sees it after each time that the file is saved, below the lines of the file, and
the message that the page shows for a file with an error.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import numpy as np
from arm_studio.commands import draw
from arm_viewer.screenshot import (
    PAINTED,
    WITHOUT_SIDEBAR,
    address_in,
    open_page,
    scene_box,
    settle_picture,
    visit,
)
from documents.blocks import ROOT, blocks
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

IMAGES = ROOT / "docs/images"
FILE = "my_arm.yaml"
WRIST = """\
  - {name: wrist, type: revolut, d: 0, a: 60, alpha: 0,
     limits: {lower: -90, upper: 90}}
"""
PAGE = (640 + 324, 360)  # of the browser; its panel takes the second number of the width [pixel]
SCENE, TEXT_HEIGHT, LINE, LETTERS = (640, 360), 12 * 20 + 8, 20, 15  # [pixel]
INK, NEW, RED = "#24292f", "#fff3bf", "#c92a2a"
COLOURS = 128
KEY, PAUSE = 140, 1800  # [ms] a frame lasts: while keys are pressed, and when the file is saved
PATIENCE = 120.0  # for a start of the page [s]
SETTLING = 10.0  # longest wait for a picture at rest [s]
PROBLEM = '[data-arm="file"]'  # the message of the page about the robot file
SEEN = """() => document.querySelector('[data-arm="drawn"]').dataset.revision
  + (document.querySelector('[data-arm="file"]')?.innerText ?? "")"""


@dataclass(frozen=True)
class State:
    """The text of the file after some keys: the edited lines are marked."""

    text: str
    marked: frozenset[int]
    is_saved: bool


def text_of_readme() -> str:
    """Return the robot file of README."""
    return next(b.body for b in blocks(ROOT / "README.md") if b.word == FILE)


def states(text: str) -> Iterator[State]:
    """Yield the text while it is edited: two lengths, then a joint with a typing error."""
    yield State(text, frozenset(), True)
    for old, new in (("a: 150", "a: 110"), ("a: 130", "a: 190")):
        yield from _typed(text, old, new)
        text = text.replace(old, new)
    first = text.count("\n")
    for count in (*range(6, len(WRIST), 6), len(WRIST)):
        marked = frozenset(range(first, first + WRIST[:count].count("\n") + 1))
        yield State(text + WRIST[:count], marked, count == len(WRIST))
    yield from _typed(text + WRIST, "revolut,", "revolute,")


def _typed(text: str, old: str, new: str) -> Iterator[State]:
    """Yield a text while some of it is replaced, key by key."""
    marked = frozenset({text.count("\n", 0, text.index(old))})
    same = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    tail = "," if old.endswith(",") else ""
    old_word, new_word = old.removesuffix(tail), new.removesuffix(tail)
    same = min(same, len(old_word))
    steps = [old_word[:n] for n in range(len(old_word) - 1, same - 1, -1)]
    steps += [new_word[:n] for n in range(same + 1, len(new_word) + 1)]
    for step in steps:
        yield State(text.replace(old, step + tail), marked, False)
    yield State(text.replace(old, new), marked, True)


@contextmanager
def served(*command: str, folder: Path) -> Iterator[str]:
    """Run `./arm ...` in a folder, and yield the address of its page."""
    log = folder / "log.txt"
    with log.open("w") as output:
        program = subprocess.Popen(
            [str(ROOT / "arm"), *command], cwd=folder, stdout=output, stderr=output
        )
    try:
        yield address_in(log, PATIENCE)
    finally:
        program.terminate()
        program.wait()


def frame(state: State, scene: Image.Image, problem: str) -> Image.Image:
    """Return a frame: the text, below it the scene of the page, with the page's message on it."""
    picture = Image.new("RGB", (SCENE[0], TEXT_HEIGHT + SCENE[1]), "white")
    picture.paste(scene, (0, TEXT_HEIGHT))
    pen = ImageDraw.Draw(picture)
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans Mono"), LETTERS)
    for number, line in enumerate(state.text.splitlines()):
        top = 6 + LINE * number
        if number in state.marked:
            pen.rectangle((0, top - 1, SCENE[0], top + LINE - 3), fill=NEW)
        pen.text((8, top), line, INK, font)
    lines = textwrap.wrap(problem, (SCENE[0] - 16) // round(font.getlength("x")))
    for number, line in enumerate(reversed(lines)):
        place = (8, picture.height - 4 - LINE * (number + 1))
        pen.rectangle((0, place[1] - 2, SCENE[0], place[1] + LINE), fill="white")
        pen.text(place, line, RED, font)
    return picture


def scenes(page: Any, file: Path, shown: Sequence[State]) -> Iterator[tuple[Image.Image, str]]:
    """Save each text that is to be saved; yield what the page shows then, and its message."""
    scene, problem = photograph(page), ""
    for state in shown:
        if state.is_saved and state.text != file.read_text(encoding="utf-8"):
            before = page.evaluate(SEEN)
            file.write_text(state.text, encoding="utf-8")
            page.wait_for_function(f"before => ({SEEN})() !== before", arg=before)
            problem = "".join(page.locator(PROBLEM).all_inner_texts())
            problem = problem.replace(f"{file.parent}/", "").partition(" (")[0]
            scene = photograph(page)
        yield scene, problem


def photograph(page: Any) -> Image.Image:
    """Return the scene of the page without its panel."""
    page.evaluate(PAINTED, 10)
    settle_picture(page, SETTLING)
    data = page.screenshot(style=WITHOUT_SIDEBAR, clip=scene_box(page))
    return Image.open(io.BytesIO(data)).convert("RGB").resize(SCENE)


def animation(folder: Path) -> None:
    """Write edit_the_file.gif."""
    shown = list(states(text_of_readme()))
    file = folder / FILE
    with served("view", str(file), folder=folder) as address, open_page(PAGE) as page:
        visit(page, address, PATIENCE)
        for switch in ("Drag handle", "Tool path"):
            page.get_by_label(switch, exact=True).click()
        filmed = list(scenes(page, file, shown))
    frames = [frame(state, *seen) for state, seen in zip(shown, filmed, strict=True)]
    lasts = [PAUSE if state.is_saved else KEY for state in shown]
    every = Image.fromarray(
        np.vstack([np.asarray(picture) for picture in frames[:: len(frames) - 1]])
    )
    colours = every.quantize(COLOURS, Image.Quantize.FASTOCTREE)
    small = [picture.quantize(palette=colours, dither=Image.Dither.NONE) for picture in frames]
    target = IMAGES / "edit_the_file.gif"
    small[0].save(target, save_all=True, append_images=small[1:], duration=lasts, loop=0)


def main() -> None:
    """Make the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        file.write_text(text_of_readme(), encoding="utf-8")
        draw.main([str(file), "-o", str(IMAGES / "my_arm.png")])
        animation(Path(folder))


if __name__ == "__main__":
    main()
