# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The kinematics of a robot model as SymPy expressions, in metres (or another length) and radians.

Forward kinematics are the product of the rows' matrices; the screw axes and the home pose are
those of the product of exponentials (Lynch and Park, "Modern Robotics", eq. 4.14); the Jacobian is
the geometric one: the tool's velocity and angular velocity along the base axes.

Products are those of elementary motions, in which turns about parallel axes add up. Multiplied as
matrices, two parallel axes give cos q2 cos q3 - sin q2 sin q3, and a general simplifier needs
minutes to find cos(q2 + q3) in the product of six. Here a turn waits until one about another axis
follows it, so that the sums arise by themselves.

Cells of a robot file are expressions of its constants. A constant becomes a symbol with its name.
The value of the symbol is in radians or the unit of the formulas, that of the constant is in the
units of the file; the expression contains the factor, which cancels in sums of lengths and of
angles. A number that is
not 0, a multiple of a quarter turn, or an expression that has no simple form, gets a symbol such
as a_2 (of row 2), so that formulas stay readable.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp
from arm_common.errors import InputError
from arm_common.yaml.expressions import parse_expression
from arm_description.model.elements import DependentJoint, Joint, Origin
from arm_description.model.units import UNITS, Units

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

_ROUNDING = 1e-12  # relative
_MAX_SIZE = 12  # operations of an expression that is shown instead of a symbol
_LENGTH = "prismatic"
_ANGLE = "revolute"
_AXES = "xyz"
_LONG = 120  # operations above which an entry is left as it is


class FormulaReader:
    """Turns the cells of one file into expressions, and collects the symbols that they use.

    Args:
        units: units of the file.
        constants: values of its constants, in these units.
        texts: its cells as written, by key such as ``joints.elbow.d``.
        length: unit of the lengths in the expressions.

    Attributes:
        values: value of each symbol, in the order in which they appear [rad or ``length``].
        meanings: what each symbol stands for: a constant of the file, or a cell.
    """

    def __init__(
        self,
        units: Units,
        constants: Mapping[str, float],
        texts: Mapping[str, str],
        length: str = "m",
    ) -> None:
        self._units, self._constants, self._texts = units, constants, texts
        self._length = UNITS[length]
        self.values: dict[sp.Symbol, float] = {}
        self.meanings: dict[sp.Symbol, str] = {}
        self._kinds: dict[str, str] = {}  # of the constants in use

    def length(self, key: str, name: str, value: float) -> sp.Expr:
        """Return the expression of a cell [m]; ``name`` is the symbol for it if it is a number."""
        return self._expression(key, name, self._length.written(value), _LENGTH)

    def kind(self, symbol: sp.Symbol) -> str:
        """Return "prismatic" for a symbol that is a length, "revolute" for an angle."""
        return self._kinds[symbol.name]

    def angle(self, key: str, name: str, value: float) -> sp.Expr:
        """Return the expression of a cell [rad]; quarter turns stay numbers."""
        quarters = value / (math.pi / 2.0)
        if abs(quarters - round(quarters)) < _ROUNDING:
            return sp.Integer(round(quarters)) * sp.pi / 2
        return self._expression(key, name, value, _ANGLE)

    def _expression(self, key: str, name: str, value: float, kind: str) -> sp.Expr:
        if value == 0.0:
            return sp.Integer(0)
        found = self._from_text(self._texts.get(key, ""), value, kind)
        if found is not None:
            return found
        name = f"{name}_cell" if name in self._constants else name
        symbol = sp.Symbol(name, real=True)
        self.values[symbol], self.meanings[symbol] = value, key
        self._kinds[name] = kind
        return symbol

    def _from_text(self, text: str, value: float, kind: str) -> sp.Expr | None:
        """Return the expression of a text, None if it has no constants or no simple form."""
        try:
            tree = parse_expression(text)
            names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            if not names & set(self._constants):
                return None
            expression = sp.expand(self._scale(kind) * self._value(tree, kind))
        except (InputError, KeyError, TypeError):
            return None
        symbols = {s: self._constant_value(s.name) for s in expression.free_symbols}
        found = float(expression.subs(symbols))
        if abs(found - value) > _ROUNDING * abs(value) or expression.count_ops() > _MAX_SIZE:
            return None
        for symbol in sorted(symbols, key=str):
            self.values[symbol] = symbols[symbol]
            self.meanings[symbol] = f"constants.{symbol.name}"
        return expression

    def _scale(self, kind: str) -> sp.Expr:
        """Return what one unit of the file is in radians or the unit of the formulas, exactly."""
        unit = self._units.unit(kind)
        if kind == _ANGLE:
            return sp.pi / 180 if unit == "deg" else sp.Integer(1)
        return sp.nsimplify(self._length.written(self._units.metres(1.0)), rational=True)

    def _constant_value(self, name: str) -> float:
        return float(self._scale(self._kinds[name])) * self._constants[name]

    def _value(self, node: Any, kind: str) -> sp.Expr:
        """Return a part of an expression in the units of the file."""
        match node:
            case ast.Constant(value=number):
                return sp.Rational(str(number))
            case ast.Name(id="pi"):
                return sp.pi
            case ast.Name(id=name):
                self._constants[name]  # a KeyError if it is none
                own = self._kinds.setdefault(name, kind)
                return sp.Symbol(name, real=True) / self._scale(own)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand, kind)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._value(operand, kind)
            case ast.BinOp(op=op, left=left, right=right):
                return _OPERATIONS[type(op)](self._value(left, kind), self._value(right, kind))
            case ast.Call(func=ast.Name(id="sin" | "cos" as name), args=[argument]):
                angle = sp.expand(self._value(argument, _ANGLE) * self._scale(_ANGLE))
                return sp.sin(angle) if name == "sin" else sp.cos(angle)
        raise KeyError(ast.unparse(node))


_OPERATIONS: dict[type[ast.operator], Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


class Motion(NamedTuple):
    """A turn about, or a shift along, an axis of the moving frame."""

    turns: bool
    axis: str  # x, y or z
    amount: sp.Expr  # [rad or m]


def turn(axis: str, amount: sp.Expr) -> Motion:
    """Return a turn [rad]."""
    return Motion(True, axis, amount)


def shift(axis: str, amount: sp.Expr) -> Motion:
    """Return a shift [m]."""
    return Motion(False, axis, amount)


def rotation(axis: str, angle: sp.Expr) -> sp.Matrix:
    """Return the rotation (3, 3) about an axis."""
    k = _AXES.index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    R, c, s = sp.eye(3), sp.cos(angle), sp.sin(angle)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


class Product:
    """The frame that motions lead to, one after the other: R = done Rot(axis, angle)."""

    def __init__(self, motions: Iterable[Motion] = ()) -> None:
        self._done, self._axis, self._angle = sp.eye(3), "z", sp.Integer(0)
        self.p = sp.zeros(3, 1)
        for motion in motions:
            self.move(motion)

    def move(self, motion: Motion) -> None:
        """Append a motion."""
        if motion.amount == 0:
            return
        if not motion.turns:
            along = sp.zeros(3, 1)
            along[_AXES.index(motion.axis)] = motion.amount
            turned = rotation(self._axis, self._angle) * along
            self.p = (self.p + self._done * turned).applyfunc(_tidy)
        elif motion.axis == self._axis:
            self._angle = sp.expand(self._angle + motion.amount)
        elif sp.simplify(sp.sin(motion.amount)) == 0 and self._angle.free_symbols:
            # Half a turn about another axis reverses those that were kept apart.
            self._done = (self._done * rotation(motion.axis, motion.amount)).applyfunc(_tidy)
            if sp.cos(motion.amount) == -1:
                self._angle = -self._angle
        else:
            self._done, self._axis, self._angle = self.R, motion.axis, motion.amount

    @property
    def R(self) -> sp.Matrix:
        """The rotation (3, 3)."""
        return (self._done * rotation(self._axis, self._angle)).applyfunc(_tidy)

    @property
    def matrix(self) -> sp.Matrix:
        """The transform (4, 4)."""
        return self.R.row_join(self.p).col_join(sp.Matrix([[0, 0, 0, 1]]))


def inverse_of(motions: Iterable[Motion]) -> list[Motion]:
    """Return the motions that undo others."""
    return [motion._replace(amount=-motion.amount) for motion in reversed(list(motions))]


def _tidy(entry: sp.Expr) -> sp.Expr:
    """Return the shorter of an entry as it is and with common factors in front."""
    if entry.count_ops() > _LONG:
        return entry
    return min((entry, sp.factor_terms(entry)), key=lambda e: e.count_ops())


class SymbolicArm:
    """The formulas of an arm.

    Args:
        model: The arm.
        length: Unit of the lengths in all formulas; where this class says m, it is this one.

    Attributes:
        joints: Symbol of each independent joint by name: q_1, q_2, ... [rad or m].
        values: Value of every other symbol [rad or m].
        meanings: What these symbols stand for: a constant of the file, or a cell of the table.
        kinds: Whether such a symbol is a length ("prismatic") or an angle ("revolute").
        cells: Of each row theta, d, a, alpha and beta by name, with the joint's variable.
        rows: Matrices (4, 4), frame i-1 <- frame i, one for each row of the table.
        base, tool: Matrices (4, 4), base_link <- frame 0 and frame n <- tool0.
        metre: A metre in the unit of the lengths.
        tool_motions: The elementary motions of the tool.
    """

    def __init__(self, model: RobotModel, length: str = "m") -> None:
        reader = FormulaReader(model.units, model.constants, model.formulas, length)
        self.metre = UNITS[length].written(1.0)
        self.joints: Mapping[str, sp.Symbol] = {
            name: sp.Symbol(f"q_{i}", real=True)
            for i, name in enumerate(model.joint_names, start=1)
        }
        self._standard = model.convention == "standard"
        base = _origin_motions(reader, "base", model.base)
        tool = _origin_motions(reader, "tool", model.tool)
        self._steps = [
            _RowMotions(reader, i, joint, self) for i, joint in enumerate(model.rows, start=1)
        ]
        self._before, self.tool_motions = base, tuple(tool)
        self.values: Mapping[sp.Symbol, float] = reader.values
        self.meanings: Mapping[sp.Symbol, str] = reader.meanings
        self.kinds: Mapping[sp.Symbol, str] = {s: reader.kind(s) for s in reader.values}
        self.cells = tuple(step.cells for step in self._steps)
        self.rows = tuple(Product(step.motions).matrix for step in self._steps)
        self.base, self.tool = Product(base).matrix, Product(tool).matrix

    @property
    def standard(self) -> bool:
        """Whether the table is in the standard convention."""
        return self._standard

    @cached_property
    def motions(self) -> tuple[Motion, ...]:
        """The elementary motions from base_link to tool0."""
        rows = (motion for step in self._steps for motion in step.motions)
        return (*self._before, *rows, *self.tool_motions)

    @cached_property
    def fk(self) -> sp.Matrix:
        """The pose (4, 4), base_link <- tool0, simplified [m]."""
        return Product(self.motions).matrix

    @cached_property
    def home(self) -> sp.Matrix:
        """The pose (4, 4) of the tool with all joints at 0 [m]."""
        return self.at_zero(self.motions)

    @cached_property
    def screws(self) -> sp.Matrix:
        """The screw axes (6, n) [v; w] in base_link with all joints at 0."""
        columns = {name: sp.zeros(6, 1) for name in self.joints}
        for step, T in zip(self._steps, self._frames(at_zero=True), strict=True):
            w, p = T[:3, step.column], T[:3, 3]
            screw = w.col_join(sp.zeros(3, 1)) if step.slides else p.cross(w).col_join(w)
            for name, factor in step.terms.items():
                columns[name] += factor * screw
        return sp.Matrix.hstack(*columns.values())

    @cached_property
    def jacobian(self) -> sp.Matrix:
        """The geometric Jacobian (6, n): velocity, then angular velocity, along the base axes."""
        linear = self.fk[:3, 3].jacobian(list(self.joints.values()))
        columns = {name: sp.zeros(3, 1) for name in self.joints}
        for step, T in zip(self._steps, self._frames(at_zero=False), strict=True):
            for name, factor in () if step.slides else step.terms.items():
                columns[name] += factor * T[:3, step.column]
        return linear.col_join(sp.Matrix.hstack(*columns.values()))

    @cached_property
    def is_geared(self) -> bool:
        """Whether a row follows others; then the screws of a joint are not one screw."""
        return any(not step.own for step in self._steps)

    def exponential(self, index: int) -> sp.Matrix:
        """Return exp([S_i] q_i) (4, 4) of the joint with an index, from 0."""
        name = list(self.joints)[index]
        q, (v, w) = self.joints[name], (self.screws[:3, index], self.screws[3:, index])
        if not any(w):
            R, p = sp.eye(3), q * v
        else:
            W = sp.Matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
            R = sp.eye(3) + sp.sin(q) * W + (1 - sp.cos(q)) * W * W
            p = (sp.eye(3) - R) * w.cross(v)
        return R.row_join(p).col_join(sp.Matrix([[0, 0, 0, 1]]))

    def numbers(self, expression: sp.Matrix | sp.Expr) -> sp.Matrix | sp.Expr:
        """Return an expression with the values of all symbols but those of the joints."""
        return expression.subs(dict(self.values))

    def local_screws(self, row: int) -> sp.Matrix:
        """Return the joints' screws (6, n) [v; w] seen from the frame of a row.

        They are those of the Jacobian for the point at the origin of that frame, along its axes.
        They have the rank of the Jacobian, and are the shorter the nearer the frame is.
        """
        columns = {name: sp.zeros(6, 1) for name in self.joints}
        for i, step in enumerate(self._steps):
            if i < row:
                between = [*step.motions[len(step.leading) :]]
                between += [m for other in self._steps[i + 1 : row] for m in other.motions]
                T = Product(inverse_of(between)).matrix
            else:
                between = [motion for other in self._steps[row:i] for motion in other.motions]
                T = Product([*between, *step.leading]).matrix
            w, p = T[:3, step.column], T[:3, 3]
            screw = w.col_join(sp.zeros(3, 1)) if step.slides else p.cross(w).col_join(w)
            for name, factor in step.terms.items():
                columns[name] += factor * screw
        return sp.Matrix.hstack(*columns.values())

    def local_velocities(self, row: int) -> sp.Matrix:
        """Return the tool's velocity (3, n) by each joint, along the axes of a row's frame."""
        motions = [motion for step in self._steps[row:] for motion in step.motions]
        p, screws = Product([*motions, *self.tool_motions]).p, self.local_screws(row)
        columns = [screws[:3, j] + screws[3:, j].cross(p) for j in range(screws.cols)]
        return sp.Matrix.hstack(*columns).applyfunc(sp.expand)

    def at_zero(self, motions: tuple[Motion, ...] | list[Motion]) -> sp.Matrix:
        """Return the product (4, 4) of motions with all joints at 0."""
        zero = dict.fromkeys(self.joints.values(), 0)
        return Product(m._replace(amount=sp.sympify(m.amount).subs(zero)) for m in motions).matrix

    def _frames(self, at_zero: bool) -> list[sp.Matrix]:
        """Return for each row the frame (4, 4) on whose axis its joint is."""
        done, found = list(self._before), []
        for step in self._steps:
            found.append(
                self.at_zero([*done, *step.leading])
                if at_zero
                else Product([*done, *step.leading]).matrix
            )
            done += step.motions
        return found


class _RowMotions:
    """The motions of one row; the joint moves after the leading ones."""

    def __init__(self, reader: FormulaReader, i: int, joint: Joint, arm: SymbolicArm) -> None:
        self.slides = joint.type == "prismatic"
        self.own = not isinstance(joint, DependentJoint)
        terms = joint.terms if isinstance(joint, DependentJoint) else ((joint.name, 1.0),)
        self.terms = {name: sp.nsimplify(factor, rational=True) for name, factor in terms}
        q = sum((f * arm.joints[name] for name, f in self.terms.items()), sp.Integer(0))
        key, row = f"joints.{joint.name}", joint.row
        theta = reader.angle(f"{key}.theta", f"theta_{i}", row.theta)
        d = reader.length(f"{key}.d", f"d_{i}", row.d)
        number = i if arm.standard else i - 1
        a = reader.length(f"{key}.a", f"a_{number}", row.a)
        alpha = reader.angle(f"{key}.alpha", f"alpha_{number}", row.alpha)
        beta = reader.angle(f"{key}.beta", f"beta_{number}", row.beta)
        link = [shift("x", a), turn("x", alpha), turn("y", beta)]
        q_theta, q_d = (0, q) if self.slides else (q if joint.axis == "z" else 0, 0)
        self.cells = {"theta": theta + q_theta, "d": d + q_d, "a": a, "alpha": alpha, "beta": beta}
        along = [turn("z", theta), shift("z", d)]
        moves = shift("z", q) if self.slides else turn(joint.axis, q)
        self.column = "xyz".index(joint.axis)
        if arm.standard:
            self.leading: list[Motion] = []
            self.motions = [moves, *along, *link]
        elif joint.axis == "z":
            self.leading = link[::-1]
            self.motions = [*link[::-1], moves, *along]
        else:
            self.leading = [*link[::-1], *along]
            self.motions = [*self.leading, moves]


def _origin_motions(reader: FormulaReader, key: str, origin: Origin) -> list[Motion]:
    """Return the motions of a fixed transform: xyz, then yaw, pitch and roll."""
    xyz, rpy = (
        [
            read(f"{key}.{part}[{k}]", f"{name}_{key}", value)
            for k, (name, value) in enumerate(zip(names, numbers, strict=True))
        ]
        for part, read, names, numbers in (
            ("xyz", reader.length, "xyz", origin.xyz),
            ("rpy", reader.angle, ("roll", "pitch", "yaw"), origin.rpy),
        )
    )
    moves = [shift(axis, amount) for axis, amount in zip("xyz", xyz, strict=True)]
    turns = [turn(axis, amount) for axis, amount in zip("xyz", rpy, strict=True)]
    return [*moves, *reversed(turns)]
