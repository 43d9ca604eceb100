# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a sheet says: the arm and its frames, and each question in words and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import sympy as sp
from arm_common.errors import number_text
from arm_common.transforms import Array
from arm_description.model.units import Units

from arm_studio.derivation.dh_table import UnitsOfPage
from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.forward import rounded
from arm_studio.exercises.questions import Question, questions_of
from arm_studio.exercises.variants import Variant
from arm_studio.pictures.drawing import Style, picture, posed


class Statements:
    """Writes the questions of one variant.

    Attributes:
        variant: The variant.
        questions: Its questions by key.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant, self.questions = variant, questions_of(variant)
        self._model = variant.model
        self._units: Units = variant.model.units
        self._page_units = UnitsOfPage(variant.model)
        self._bare = replace(variant.model, gripper=None)
        self._zeros = dict.fromkeys(variant.model.joint_names, 0.0)
        self._drawings: dict[str, bytes] = {}
        self._writers: Mapping[str, Callable[[DerivationPage], None]] = {
            "dh_table": self._dh_table,
            "fk": self._fk,
            "ik": self._ik,
            "singular": self._singular,
            "jacobian": self._jacobian,
            "workspace": self._workspace,
        }

    def write(self, page: DerivationPage, solved: bool = False) -> None:
        """Append the whole sheet, with the right numbers if ``solved``."""
        page.heading(f"Exercise on {self._model.name}", 1)
        page.say(f"For {page.literal(self.variant.student)}.")
        self.arm(page)
        for key, question in self.questions.items():
            page.heading(question.title)
            self.question(page, key)
            if solved:
                _solution(page, question)

    def arm(self, page: DerivationPage) -> None:
        """Append the drawing, the frames and the limits of the arm."""
        model, n = self._model, self._model.n
        page.picture(self.drawing, "All joints are at 0; $x$ is red, $y$ green, $z$ blue.")
        at = "z_{i-1}" if model.convention == "standard" else "z_i"
        page.say(
            f"Joint $i$ turns about, or slides along, ${at}$. {self._page_units.sentence} "
            "The frames with all joints at 0, in base_link:"
        )
        frames = posed(self._bare, self._zeros).dh
        named = [(str(i), T) for i, T in enumerate(frames[: n + 1])]
        head = ("frame", "origin", "direction of $x$", "direction of $z$")
        rows = [
            (name, self._point(T[:3, 3]), _vector(T[:3, 0]), _vector(T[:3, 2]))
            for name, T in [*named, ("tool0", model.fk(np.zeros(n)))]
        ]
        page.table(head, rows)
        limits = []
        for i, joint in enumerate(model.joints, start=1):
            unit, kind = self._units.unit(joint.type), joint.type
            low, high = (self._units.number(x, kind) for x in (joint.lower, joint.upper))
            moves = "slides" if kind == "prismatic" else "turns"
            limits.append((f"$q_{{{i}}}$", joint.name, moves, f"${low}$", f"${high}$ {unit}"))
        page.table(("variable", "joint", "moves", "lower limit", "upper limit"), limits)

    def drawing(self, kind: str) -> bytes:
        """Return the drawing of the arm in a format, such as svg."""
        if kind not in self._drawings:
            style = Style(dh_frames=True)
            self._drawings[kind] = picture(self._bare, self._zeros, "", style, kind)
        return self._drawings[kind]

    def question(self, page: DerivationPage, key: str) -> None:
        """Append what a question asks."""
        self._writers[key](page)

    def _point(self, point: Array) -> str:
        return _vector([self._units.written(float(x), "prismatic") for x in point])

    def _dh_table(self, page: DerivationPage) -> None:
        convention = self._model.convention
        page.say(
            f"Write the Denavit-Hartenberg table of these frames in the {convention} convention, "
            r"with all joints at 0: a row for each joint, in the order $\theta$, $d$, $a$, "
            r"$\alpha$."
            + (
                r" Row $i$ has $a_{i-1}$ and $\alpha_{i-1}$."
                if convention == "modified"
                else r" Row $i$ has $a_i$ and $\alpha_i$."
            )
        )

    def _fk(self, page: DerivationPage) -> None:
        page.say(
            f"At {self._page_units.posture(self.variant.q)}: the pose of tool0 in base_link, its "
            "position and its rotation matrix."
        )

    def _ik(self, page: DerivationPage) -> None:
        what, T = "the pose", self._page_units.pose(self.variant.target)
        if self.variant.mode == "position":
            what, T = "the position", T[:3, 3:]
        page.say(
            f"All postures within the limits that bring tool0 to {what} in base_link below, a row "
            "for each; whole turns of a joint count as one posture."
        )
        page.show(sp.Symbol("p" if self.variant.mode == "position" else "T"), rounded(T))

    def _singular(self, page: DerivationPage) -> None:
        singular = self.variant.singular
        assert singular is not None
        number = singular.joint + 1
        fixed = self._page_units.posture(self.variant.other, without=singular.joint)
        joint, half = self._model.joints[singular.joint], self._units.number(np.pi, "revolute")
        around = f" and from $-{half}$ to {half} {self._units.unit('revolute')}"
        if joint.type == "prismatic" or joint.lower >= np.pi or joint.upper <= -np.pi:
            around = ""
        of = " of its position" if self.variant.mode == "position" else ""
        at = f"With {fixed}: at" if fixed else "At"
        page.say(
            f"{at} which $q_{{{number}}}$ does the Jacobian{of} lose rank? Write all that are "
            f"within its limits{around}."
        )

    def _jacobian(self, page: DerivationPage) -> None:
        page.say(
            f"The geometric Jacobian of tool0 at {self._page_units.posture(self.variant.q)}: its "
            "upper three rows give the velocity, its lower three the angular velocity, both along "
            f"the axes of base_link, with lengths in {self._units.length} and angles in rad."
        )

    def _workspace(self, page: DerivationPage) -> None:
        page.say(
            "The largest and the smallest distance of tool0 from the origin of base_link within "
            "the limits of the joints."
        )


def _vector(values: Array | list[float]) -> str:
    return f"$({', '.join(number_text(float(value)) for value in values)})$"


def _solution(page: DerivationPage, question: Question) -> None:
    """Append the right numbers of a question."""
    for name, part in question.parts.items():
        if not part.names:
            page.say(f"Solution, {name}: ${number_text(float(part.right[0, 0]))}$")
            continue
        page.say(f"Solution, {name}:" if name else "Solution:")
        page.table(part.names, [tuple(map(float, row)) for row in part.right])
