# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draw the figures of docs/kinematics.md.

./arm exec python3 docs/figures/make_kinematics_figures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from arm_kinematics.dexterity.conditioning import frobenius_condition
from matplotlib.figure import Figure

from arm_description import load_robot
from arm_kinematics import Chain

IMAGES = Path(__file__).resolve().parents[1] / "images"
TARGETS = 2000
STYLE = {
    "svg.fonttype": "none",  # text stays text: small, and sharp at any size
    "svg.hashsalt": "arm",  # the same file each time
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def starts() -> Figure:
    """Share of random poses solved within so many descents, the first one from mid-range."""
    figure, axes = plt.subplots(figsize=(5.2, 2.8))
    for name in ("nut_arm", "puma560", "ur5", "panda", "rediestro", "raghavan_roth"):
        model = load_robot(name)
        chain = Chain.from_model(model)
        joints = np.random.default_rng(1).uniform(model.lower, model.upper, (TARGETS, model.n))
        used = np.array([chain.ik(chain.fk(q)).starts for q in joints])
        counts = np.arange(1, 33)
        axes.semilogx(counts, [100.0 * np.mean(used <= k) for k in counts], label=name, lw=1.2)
    axes.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    axes.minorticks_off()
    axes.set_xlabel("descents")
    axes.set_ylabel("solved [%]")
    axes.legend(frameon=False)
    return figure


def postures() -> Figure:
    """All postures of a UR5 that hold one pose: the origins of its DH frames joined by lines."""
    model = load_robot("ur5")
    chain = Chain.from_model(model)
    T = chain.fk([0.3, -1.1, 1.4, 0.4, 0.8, -0.2])
    found = chain.ik(T, max_solutions=16).solutions
    figure = plt.figure(figsize=(4.2, 3.6))
    axes = figure.add_subplot(projection="3d")
    for solution in found:
        points = np.array([frame[:3, 3] for frame in model.dh_frames(solution.q)])
        axes.plot(*points.T, marker="o", ms=2.5, lw=1.3)
    axes.scatter(*T[:3, 3], marker="*", s=60, c="black", zorder=5)
    axes.set_title(f"{len(found)} postures inside the limits")
    axes.set_aspect("equal")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    return figure


def condition() -> Figure:
    """Condition number of a planar arm of two links by its elbow."""
    chain = Chain.from_model(load_robot("planar2"))
    elbow = np.linspace(0.05, np.pi - 0.05, 150)
    values = [frobenius_condition(chain.jacobian([0.0, x])[:2]) for x in elbow]
    figure, axes = plt.subplots(figsize=(4.6, 2.4))
    axes.plot(np.degrees(elbow), values, lw=1.2)
    axes.axhline(1.0, lw=0.6, color="grey")
    axes.set_ylim(0.9, 5.0)
    axes.set_xlabel("elbow [deg]")
    axes.set_ylabel("$k_F$")
    best = int(np.argmin(values))
    line = {"arrowstyle": "-", "lw": 0.6}
    note = f"{values[best]:.3f} at {np.degrees(elbow[best]):.0f} deg"
    axes.annotate(note, (np.degrees(elbow[best]), values[best]), (60.0, 2.2), arrowprops=line)
    return figure


def main() -> None:
    """Write docs/images/kinematics_*.svg."""
    for draw in (starts, postures, condition):
        with plt.rc_context(STYLE):
            figure = draw()
            file = IMAGES / f"kinematics_{draw.__name__}.svg"
            figure.savefig(file, bbox_inches="tight", metadata={"Date": None})
            print(f"{file.name}: {file.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
