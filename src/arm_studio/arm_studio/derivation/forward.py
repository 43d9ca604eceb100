# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/derivation/test_document.py
"""The derivation of forward kinematics, Jacobian and singular postures of one arm."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import sympy as sp
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_kinematics.chain.chain import Chain

from arm_studio.derivation.dh_table import UnitsOfPage
from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.singularities import SingularPostures, conditions_of
from arm_studio.pictures.drawing import Style, picture
from arm_studio.symbolic.arm import SymbolicArm
from arm_studio.symbolic.polynomials import equal

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")
_LONG = 1200  # operations of a matrix that is too long to read
_WIDE = 70  # operations of a matrix that is shown by columns
_PARTIAL = 0.6  # share of the time after which no more singular postures are looked for
_DIGITS = 12


def within(seconds: float, work: Callable[..., T], *arguments: Any) -> T | None:
    """Return the result of a function; None if it takes longer than a time [s] or is killed.

    It runs in a process of its own, since nothing inside SymPy can be interrupted; Ctrl-C reaches
    this process alone, which then ends the other one.
    """
    context: Any = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_result, args=(sender, work, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            return None
        result, error = receiver.recv()
    except EOFError:  # it was killed, perhaps for lack of memory
        return None
    finally:
        # Where there is SIGTERM, the process may have inherited a handler of it.
        (process.kill if hasattr(signal, "SIGKILL") else process.terminate)()
        process.join()
    if error is not None:
        raise error
    return cast("T", result)


def _send_result(sender: Connection, work: Callable[..., Any], arguments: Sequence[Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sender.send((work(*arguments), None))
    except Exception as error:  # noqa: BLE001 - raised where the result is awaited
        sender.send((None, error))


def rounded(matrix: Any) -> sp.Matrix:
    """Return numbers as a matrix to show."""
    return sp.Matrix(np.asarray(matrix, dtype=float)).applyfunc(
        lambda x: sp.Integer(0) if abs(x) < 5e-13 else sp.Float(round(float(x), _DIGITS))
    )


class ForwardDerivation:
    """Writes the forward part of a page.

    Args:
        model: The arm.
        seconds: Time for each part that may take long [s].
        tell: Called with what is being done.
    """

    def __init__(self, model: RobotModel, seconds: float, tell: Callable[[str], None]) -> None:
        self._model, self._seconds, self._tell = model, seconds, tell
        self._arm = SymbolicArm(model)
        self._units = UnitsOfPage(model)
        self._shown = self._units.arm
        self._chain = Chain.from_model(model)

    def write(self, page: DerivationPage, q: Array) -> None:
        """Append all sections; q (n,) is the posture of the example [rad or m]."""
        self._tell("frames and rows")
        self._frames(page, q)
        self._rows(page)
        self._tell("product of the rows")
        self._product(page)
        self._tell("product of exponentials")
        self._exponentials(page)
        self._tell("Jacobian")
        self._jacobian(page)
        self._tell("singular postures")
        self._singular(page)
        self._tell("example")
        self._example(page, q)

    def _frames(self, page: DerivationPage, q: Array) -> None:
        model, arm = self._model, self._shown
        axis = "$z_{i-1}$" if arm.standard else "$z_i$"
        page.heading("Frames and symbols")
        page.say(
            f"{model.name} has {model.n} joints. Its table is in the {model.convention} "
            f"Denavit-Hartenberg convention: joint $i$ turns about, or slides along, {axis}. "
            f"{self._units.sentence}"
        )
        names = dict(zip(model.joint_names, q.tolist(), strict=True))
        if model.gripper:
            names["gripper"] = model.gripper.min_width
        page.picture(
            lambda kind: picture(model, names, model.name, Style(dh_frames=True), kind),
            "The arm with its frames; $x$ is red, $y$ green, $z$ blue.",
        )
        page.say("The table, with the variable of each joint:")
        page.table(*self._units.table())
        if arm.values:
            page.table(("symbol", "value", "unit", "in the file"), self._units.symbols())
        page.say(r"Short forms: $c_1$ is $\cos q_1$, $s_{23}$ is $\sin(q_2 + q_3)$, and so on.")

    def _rows(self, page: DerivationPage) -> None:
        arm = self._shown
        page.heading("The matrix of each row")
        page.say(
            r"$A_i = \mathrm{Rot}(z, \theta_i)\, \mathrm{Trans}(z, d_i)\, "
            r"\mathrm{Trans}(x, a_i)\, \mathrm{Rot}(x, \alpha_i)$."
            if arm.standard
            else r"$A_i = \mathrm{Rot}(x, \alpha_{i-1})\, \mathrm{Trans}(x, a_{i-1})\, "
            r"\mathrm{Rot}(z, \theta_i)\, \mathrm{Trans}(z, d_i)$."
        )
        if arm.base != sp.eye(4):
            page.show("base", arm.base)
        for i, matrix in enumerate(arm.rows, start=1):
            page.show(sp.Symbol(f"A_{i}"), matrix)
        if arm.tool != sp.eye(4):
            page.show("tool", arm.tool)

    def _product(self, page: DerivationPage) -> None:
        page.heading("Forward kinematics")
        page.say("The pose $T$ of the tool in base_link is the product of these matrices.")
        fk = within(self._seconds, _formula, self._shown, "fk")
        if fk is None or _size(fk) > _LONG:
            page.say(
                "Multiplied out, it is too long to be read"
                + ("" if fk is not None else f" (not done after {self._seconds:g} s)")
                + "; it is left as the product of the rows. The output of --code has all of it."
            )
            return
        vars(self._shown)["fk"] = fk  # so that it is not computed again
        _show_large(page, "T", fk, ("n", "o", "a", "p"))

    def _exponentials(self, page: DerivationPage) -> None:
        arm, n = self._shown, self._model.n
        page.heading("Product of exponentials")
        page.say(
            "With all joints at 0 the tool is at the home pose $M$, and joint $i$ has the screw "
            r"axis $S_i = (v, w)$ in base_link: $w$ is its direction and $v = -w \times p$ for a "
            "point $p$ on it, or $w = 0$ and $v$ is the direction of a slide. "
            r"$T = \exp([S_1] q_1) \cdots \exp([S_n] q_n) M$."
        )
        page.show(sp.Symbol("M"), self._constant(arm.home))
        names = "\\ ".join(f"S_{{{i}}}" for i in range(1, n + 1))
        page.show(f"$({names})$", self._constant(arm.screws))
        if arm.is_geared:
            page.say(
                "A row follows other joints, whose column is the sum of the screws they drive."
            )
            return
        same = within(self._seconds, _is_same, arm)
        if same is None:
            page.say(
                "That both products are equal is not proved in symbols within "
                f"{self._seconds:g} s; the example below compares them numerically."
            )
        elif same:
            page.say(
                "Both products are the same: as polynomials in the cosines and sines of the "
                "joints, every entry of their difference is 0."
            )

    def _constant(self, matrix: sp.Matrix) -> sp.Matrix:
        """Return a matrix without joints as it is, or its numbers if it is too long to read."""
        return matrix if _size(matrix) <= _WIDE else rounded(numeric(self._shown, matrix, {}))

    def _jacobian(self, page: DerivationPage) -> None:
        page.heading("Geometric Jacobian")
        page.say(
            "Its upper three rows are the derivatives of the tool's position, its lower three the "
            "directions of the turning axes; both along the axes of base_link. $J q'$ is the "
            "tool's velocity and angular velocity."
        )
        J = within(self._seconds, _formula, self._shown, "jacobian")
        if J is None or _size(J) > _LONG:
            page.say(
                "Multiplied out, it is too long to be read. Column $i$ is "
                r"$(z \times (p - p_i), z)$ for a turning axis $z$ through $p_i$, and $(z, 0)$ "
                "for a slide."
            )
            return
        vars(self._shown)["jacobian"] = J
        _show_large(page, "J", J, [f"J_{i}" for i in range(1, self._model.n + 1)])

    def _singular(self, page: DerivationPage) -> None:
        page.heading("Singular postures")
        SingularPostures(
            page,
            self._model,
            self._arm,
            self._seconds,
            lambda arm, task, seconds: within(
                seconds, conditions_of, arm, task, _PARTIAL * seconds
            ),
        ).write()

    def _example(self, page: DerivationPage, q: Array) -> None:
        model, arm, chain = self._model, self._arm, self._chain
        page.heading("Example")
        page.say(f"At {self._units.posture(q)}:")
        at = dict(zip(arm.joints.values(), q.tolist(), strict=True))
        product = numeric(arm, arm.base, at)
        for i, matrix in enumerate(arm.rows, start=1):
            row = numeric(arm, matrix, at)
            page.show(sp.Symbol(f"A_{i}"), rounded(self._units.pose(row)))
            product = product @ row
        product = product @ numeric(arm, arm.tool, at)
        page.show(sp.Symbol("T"), rounded(self._units.pose(product)))
        page.say(f"It differs from fk by at most {np.abs(product - model.fk(q)).max():.1e}.")
        if not arm.is_geared:
            exponentials = np.eye(4)
            for i in range(model.n):
                exponentials = exponentials @ numeric(arm, arm.exponential(i), at)
            exponentials = exponentials @ numeric(arm, arm.home, at)
            off = np.abs(exponentials - product).max()
            page.say(f"The product of exponentials differs by at most {off:.1e}.")
        J = self._units.jacobian(chain.jacobian(q))
        page.show(sp.Symbol("J"), rounded(J))
        page.say(f"Its singular values are {_list(np.linalg.svd(J, compute_uv=False))}.")


def _show_large(
    page: DerivationPage, name: str, matrix: sp.Matrix, columns: Sequence[str]
) -> None:
    """Show a matrix, or its columns one by one if it is wide."""
    if _size(matrix) <= _WIDE:
        page.show(sp.Symbol(name), matrix)
        return
    shown = ", ".join(f"${column}$" for column in columns)
    page.say(f"The columns of ${name}$, {shown}, one by one:")
    for i, column in enumerate(columns):
        rows = matrix[: 3 if name == "T" else 6, i]
        page.show(sp.Symbol(column), rows)


def numeric(arm: SymbolicArm, matrix: sp.Matrix, at: dict[sp.Symbol, float]) -> Array:
    """Return the values of a matrix of formulas."""
    return np.array(sp.lambdify([], arm.numbers(matrix).subs(at))(), dtype=float)


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


def _size(matrix: sp.Matrix) -> int:
    return int(sum(entry.count_ops() for entry in matrix))


def _formula(arm: SymbolicArm, name: str) -> sp.Matrix:
    return getattr(arm, name)


def _is_same(arm: SymbolicArm) -> bool:
    exponentials = [arm.exponential(i) for i in range(len(arm.joints))]
    return equal(arm.fk, [*exponentials, arm.home])
