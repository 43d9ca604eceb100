# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draw pictures of the pages: the plan of write_a_task, the steps of a recorded nut transfer.

./arm exec python3 docs/figures/make_page_pictures.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import numpy as np
from arm_studio.pictures.run_picture import draw_run
from arm_tasks.planning.planner import plan_task
from arm_tasks.task.request import ArmConfiguration, load_request
from documents.blocks import ROOT, blocks
from PIL import Image

from arm_description import load_robot
from arm_kinematics import Chain

IMAGES = ROOT / "docs/images"
TUTORIAL = ROOT / "docs/tutorials/write_a_task.md"
SHARES = (0.03, 0.2, 0.36, 0.79)  # of the animation: gripped, unscrewing, carried, screwed on
INTERVAL = 0.05  # between drawn positions [s]
WIDTH = 480  # of each step [pixel]


def carry() -> None:
    """Write carry.png: the planned path of the tutorial's task, in its scene."""
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks(TUTORIAL):
            if block.word in ("bench.yaml", "carry.yaml"):
                (Path(folder) / block.word).write_text(block.body, encoding="utf-8")
        model = load_robot("nut_arm")
        chain, start = Chain.from_model(model), ArmConfiguration.of_posture(model)
        request = load_request(str(Path(folder) / "carry.yaml"), model, chain, start)
        motions = [step.trajectory for step in plan_task(request).steps if step.trajectory]
        joints = [
            motion.at(time)
            for motion in motions
            for time in np.arange(0.0, motion.duration, INTERVAL)
        ]
        draw_run(IMAGES / "carry.png", model, request.scene, joints)


def screw_steps() -> None:
    """Write screw_steps.png: four moments of nut_transfer.gif, which `./arm demo` recorded."""
    film = Image.open(IMAGES / "nut_transfer.gif")
    height = round(film.height * WIDTH / film.width)
    strip = Image.new("RGB", (2 * WIDTH + 4, 2 * height + 4), "white")
    for k, share in enumerate(SHARES):
        film.seek(round(share * (film.n_frames - 1)))
        picture = film.convert("RGB").resize((WIDTH, height))
        strip.paste(picture, ((k % 2) * (WIDTH + 4), (k // 2) * (height + 4)))
    strip.save(IMAGES / "screw_steps.png", optimize=True)


if __name__ == "__main__":
    carry()
    screw_steps()
