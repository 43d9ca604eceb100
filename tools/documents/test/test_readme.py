# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What README promises on its first pages is true."""

import numpy as np
from arm_studio.commands import draw
from documents.blocks import ROOT, blocks
from PIL import Image

from arm_description import load_robot

PAGE = ROOT / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")
LARGEST = 3e6  # [byte] of an animation


def test_ten_lines_make_an_arm(tmp_path):
    (lines,) = [block.body for block in blocks(PAGE) if block.kind == "yaml"]
    assert len(lines.splitlines()) == 10
    file = tmp_path / "my_arm.yaml"
    file.write_text(lines)
    assert load_robot(str(file)).n == 3
    drawn = tmp_path / "my_arm.png"
    assert draw.main([str(file), "-o", str(drawn)]) == 0
    both = (drawn, ROOT / "docs/images/my_arm.png")
    new, shown = (np.asarray(Image.open(picture).convert("L"), dtype=float) for picture in both)
    assert new.shape == shown.shape
    assert np.abs(new - shown).mean() < 0.5  # of 255: run docs/figures/make_readme_pictures.py


def test_first_screen_is_a_sentence_a_picture_and_two_commands():
    first = TEXT.partition("\n## ")[0]
    commands = next(blocks(PAGE)).commands
    assert len(commands) == 2
    assert all(command in first for command, _ in commands)
    assert len(first.splitlines()) < 25
    assert "./arm test" not in first


def test_animations_are_small():
    animations = sorted((ROOT / "docs/images").glob("*.gif"))
    assert len(animations) > 1
    for file in animations:
        assert file.stat().st_size < LARGEST, file
