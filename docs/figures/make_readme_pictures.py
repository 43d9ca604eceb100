# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of README: the arm of its ten lines, and what edits of these lines do.

    ./arm exec python3 docs/figures/make_readme_pictures.py

my_arm.png is the output of `./arm draw`. In edit_the_file.gif, each saved text is read as a robot
file; if it is no valid one, the last arm stays and the error is shown, as in `./arm view`.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from arm_description.commands import draw
from arm_description.errors import DescriptionError
from arm_description.exporters.drawing import posed
from arm_description.exporters.page import VIEWS, Extent, Page, draw_page, extent_of
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_model import RobotModel, home_posture
from documents.blocks import ROOT, blocks
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

IMAGES = ROOT / "docs/images"
FILE = "my_arm.yaml"
WRIST = """\
  - {name: wrist, type: revolut, d: 0, a: 60, alpha: 0,
     limits: {lower: -90, upper: 90}}
"""
SIZE, TEXT_WIDTH, LINE, LETTERS = (760, 330), 410, 21, 11  # [pixel]
INK, NEW, RED = "#24292f", "#fff3bf", "#c92a2a"
VIEW = VIEWS["iso"]
KEY, PAUSE = 140, 1800  # [ms] a frame lasts: while keys are pressed, and when the arm has changed


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
    for old, new in (("a: 150", "a: 220"), ("a: 130", "a: 90")):
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


def read(text: str) -> RobotModel | DescriptionError:
    """Return the arm of a text, or what is wrong with it."""
    try:
        return parse_robot(text, FILE)
    except DescriptionError as error:
        return error


def arm_picture(model: RobotModel, extent: Extent) -> Image.Image:
    """Return an arm at the posture where everything starts, in the frame of all arms."""
    page = Page(posed(model, home_posture(model)[1]).solids, VIEW, (), extent)
    picture = Image.open(io.BytesIO(draw_page(page, "", "png"))).convert("RGB")
    width = SIZE[0] - TEXT_WIDTH
    return picture.resize((width, round(picture.height * width / picture.width)))


def frame(state: State, arm: Image.Image, problem: str) -> Image.Image:
    """Return a frame: the text, the arm, and the error below them."""
    picture = Image.new("RGB", SIZE, "white")
    picture.paste(arm, (TEXT_WIDTH, max(0, (SIZE[1] - arm.height) // 2)))
    pen = ImageDraw.Draw(picture)
    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans Mono"), LETTERS)
    for number, line in enumerate(state.text.splitlines()):
        top = 12 + LINE * number
        if number in state.marked:
            pen.rectangle((4, top - 2, TEXT_WIDTH, top + LINE - 3), fill=NEW)
        pen.text((10, top), line, INK, font)
    pen.text((10, SIZE[1] - LINE - 4), problem.replace("\n", " ")[:110], RED, font)
    return picture


def animation() -> None:
    """Write edit_the_file.gif."""
    shown = list(states(text_of_readme()))
    found = [read(state.text) if state.is_saved else None for state in shown]
    arms = [model for model in found if isinstance(model, RobotModel)]
    solids = (posed(model, home_posture(model)[1]).solids for model in arms)
    extent = reduce(Extent.joined, (extent_of(each, VIEW) for each in solids))
    frames, lasts = [], []
    arm, problem = arm_picture(arms[0], extent), ""
    for state, model in zip(shown, found, strict=True):
        if isinstance(model, RobotModel):
            arm, problem = arm_picture(model, extent), ""
        elif model is not None:
            problem = str(model)
        frames.append(frame(state, arm, problem))
        lasts.append(PAUSE if state.is_saved else KEY)
    small = [picture.quantize(64, dither=Image.Dither.NONE) for picture in frames]
    target = IMAGES / "edit_the_file.gif"
    small[0].save(target, save_all=True, append_images=small[1:], duration=lasts, loop=0)


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        file.write_text(text_of_readme(), encoding="utf-8")
        draw.main([str(file), "-o", str(IMAGES / "my_arm.png")])
    animation()


if __name__ == "__main__":
    main()
