# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Joints of a robot file that depend on others: sums that a joint follows, and limits.

A constant of the file takes precedence over a joint with its name. In a sum or a limit, the name
of a dependent joint means its position, without the offset of its row.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import yaml
from arm_common.errors import number_text
from arm_common.suggestions import did_you_mean
from arm_common.yaml.document import Field
from arm_common.yaml.expressions import RESERVED, Expressions, parse_expression

from arm_description.errors import DescriptionError
from arm_description.model.constraints import LinearExpression, LinearLimits
from arm_description.model.elements import (
    DependentJoint,
    Joint,
    JointType,
    dependent_joint,
    mimic_names,
)
from arm_description.robot_file.joints import JointRange, JointRow, JointRows
from arm_description.robot_file.robot_keys import EFFORT, LIMITS
from arm_description.robot_file.scope import MAX_ROTATION, EvaluationContext, sourced_value

T = TypeVar("T")


def related_joints(
    table: JointRows, field: Field
) -> tuple[tuple[Joint, ...], tuple[DependentJoint, ...]]:
    """Return the independent and the dependent joints of a table; its field is for errors."""
    relations = JointRelations(table.scope, table.types)
    for number, row in enumerate(table.rows, 1):
        relations.read_variable(row, number)
    dependents = relations.add(table.rows)
    if len(dependents) == len(table.rows):
        raise field.error("has only dependent joints", "give one row limits")
    joints = table.joints(lambda name, _: relations.range(name), dependents)
    return joints, tuple(_dependent_joints(table, relations, joints))


def _dependent_joints(
    table: JointRows, relations: JointRelations, joints: Sequence[Joint]
) -> Iterator[DependentJoint]:
    index, leaders = 0, {joint.name: joint for joint in joints}
    for row in table.rows:
        name = row.names[0]
        if name not in leaders:
            followed = relations.followed(name)
            _reject_used_names(table, row, followed.factors)
            dh = replace(table.dh_row(row, dependent=True), **{row.variable: followed.constant})
            joint = dependent_joint(
                name, row.simple, dh, followed.factors, leaders, index, row.source
            )
            if "effort" in row.keys:
                joint = replace(joint, effort=table.scope.number(row.keys["effort"], EFFORT))
            yield joint
        index += len(row.names)


def _reject_used_names(
    table: JointRows, row: JointRow, terms: Sequence[tuple[str, float]]
) -> None:
    """Raise an error if a mimic joint of the URDF would have the name of another joint."""
    for name in mimic_names(row.names[0], terms):
        if name in table.types.keys() - set(row.names):
            raise row.field.error(
                f"the URDF needs the name {name!r} for a part of it", "rename that joint"
            )


class JointRelations:
    """Reads what joints follow and what their limits depend on, whatever the order of the rows.

    Args:
        scope: units and constants of the file; a constant is never a variable.
        types: type of every joint by name.
        limits: limits of independent joints by name; those of `add` come to them.
    """

    def __init__(
        self,
        scope: EvaluationContext,
        types: Mapping[str, JointType],
        limits: Mapping[str, Field] | None = None,
    ) -> None:
        self._scope, self._types, self._limits = scope, types, dict(limits or {})
        self._sums: dict[str, Field] = {}  # theta or d of each dependent joint by name
        self._names = frozenset(types) - frozenset(scope.expressions.names)
        self._followed: dict[str, LinearExpression] = {}
        self._ranges: dict[str, JointRange] = {}
        self._path: list[str] = []

    def read_variable(self, row: JointRow, number: int) -> None:
        """Leave the offset alone in a cell that also has the joint's variable."""
        if (cell := row.keys.get(row.variable)) is None:
            return
        words = {"q", "theta"} if row.variable == "theta" else {"q", "d"}
        own = {row.keys["name"].text(), *words}
        own |= {f"{word}{sep}{number}" for word in words for sep in ("", "_")}
        limited = "limits" in row.keys
        self._drop_own_variable(cell, own, self._names - set(row.names), limited)
        if limited:
            self._reject_variable(cell)

    def add(self, rows: Sequence[JointRow]) -> tuple[str, ...]:
        """Add the sums and limits of rows; return the names of the dependent joints."""
        dependents = {row.names[0]: row for row in rows if self._is_dependent(row)}
        self._sums = {name: row.keys[row.variable] for name, row in dependents.items()}
        for row in rows:
            if row.names[0] not in dependents:
                self._limits |= row.limits
        return tuple(dependents)

    def _is_dependent(self, row: JointRow) -> bool:
        """Return whether a row has a sum of joints in place of limits."""
        cell = row.keys.get(row.variable)
        names = self._scope.names_in(cell) if cell else ()
        named = [name for name in names if name in self._names]
        if "limits" in row.keys:
            if named:
                raise row.keys["limits"].error(
                    f"contradict {row.variable}, by which the joint follows {' and '.join(named)}",
                    "delete them: its range follows from theirs",
                )
            if "effort" in row.keys:
                raise row.keys["effort"].error(
                    "is for a joint that follows others", "write it into limits"
                )
            return False
        if not named:
            if cell:
                self._reject_unknown_names(cell)
                self._scope.number(cell)
            raise row.field.error(
                f"has no limits, and {row.variable} names no joint that it follows",
                f"add {row.field.key}.limits, or write {row.variable} as a sum of joints",
            )
        return True

    def followed(self, joint: str) -> LinearExpression:
        """Return the offset of a dependent joint, and the independent joints that it follows."""
        return self._resolved(self._followed, joint, self._read_sum, self._sums[joint])

    def range(self, joint: str) -> JointRange:
        """Return lower and upper of a joint, and its limits if they depend on other joints.

        Lower and upper then enclose the limits wherever the other joints are.
        """
        field = self._limits.get(joint) or self._sums[joint]
        return self._resolved(self._ranges, joint, self._read_range, field)

    def _resolved(
        self, known: dict[str, T], joint: str, read: Callable[[str], T], field: Field
    ) -> T:
        if joint not in known:
            if joint in self._path:
                circle = " -> ".join((*self._path[self._path.index(joint) :], joint))
                raise field.error(
                    f"depends on itself ({circle})", "write one of them without the others"
                )
            self._path.append(joint)
            known[joint] = read(joint)
            self._path.pop()
        return known[joint]

    def _read_sum(self, joint: str) -> LinearExpression:
        field = self._sums[joint]
        (total,) = self._independent(field, self._types[joint])
        if not total.factors:
            raise field.error("follows no joint: its terms cancel", "correct the sum")
        return total

    def _read_range(self, joint: str) -> JointRange:
        if joint in self._sums:
            followed = self.followed(joint)
            position = LinearExpression(0.0, followed.factors)
            return *position.range(self._range_by_name(position)), None
        keys, kind = LIMITS.read(self._limits[joint]), self._types[joint]
        ends = [keys["lower"], keys["upper"]]
        if not any(self._names.intersection(self._scope.names_in(end)) for end in ends):
            lower, upper = (self._scope.position(end, kind) for end in ends)
            return lower, upper, None
        lows, highs = (
            self._independent(end, kind, outermost)
            for end, outermost in zip(ends, ("max", "min"), strict=True)
        )
        for end, side in zip(ends, (lows, highs), strict=True):
            if any(name == joint for one in side for name, _ in one.factors):
                raise end.error(f"depends on {joint!r} itself", "write it with other joints")
        return self._enclosed(LinearLimits(joint, lows, highs))

    def _enclosed(self, limits: LinearLimits) -> JointRange:
        field = self._limits[limits.joint]
        lows = [one.range(self._range_by_name(one))[0] for one in limits.lower]
        highs = [one.range(self._range_by_name(one))[1] for one in limits.upper]
        lower, upper = max(lows), min(highs)
        gaps = [high.plus(low, -1.0) for low in limits.lower for high in limits.upper]
        if min(gap.range(self._range_by_name(gap))[1] for gap in gaps) <= 0.0:
            others = " and ".join(name for name in limits.joints if name != limits.joint)
            raise field.error(
                f"never allow a position: lower is never below upper for any position of {others}",
                "check the signs",
            )
        if self._types[limits.joint] == "revolute" and max(-lower, upper) > MAX_ROTATION:
            worst = math.degrees(max(-lower, upper))
            raise field.error(f"reach {worst:.4g} deg", "check units.angle and the factors")
        return lower, upper, limits

    def _range_by_name(self, one: LinearExpression) -> dict[str, tuple[float, float]]:
        return {name: self.range(name)[:2] for name, _ in one.factors}

    def _independent(
        self, field: Field, kind: JointType, outermost: str = ""
    ) -> tuple[LinearExpression, ...]:
        """Return an expression over independent joints in radians and metres."""
        self._reject_unknown_names(field)
        expressions = self._linear(field, self._names, outermost)
        return tuple(self._si(expression, kind) for expression in expressions)

    def _si(self, one: LinearExpression, kind: JointType) -> LinearExpression:
        total = LinearExpression(self._scope.units.si(one.constant, kind))
        for name, factor in one.factors:
            if self._types[name] != kind:
                units = self._scope.units
                factor = units.si(factor, kind) / units.si(1.0, self._types[name])
            term = LinearExpression(0.0, ((name, factor),))
            if name in self._sums:
                term = LinearExpression(0.0, self.followed(name).times(factor).factors)
            total = total.plus(term)
        return total

    def _drop_own_variable(
        self, field: Field, own: Collection[str], joints: Collection[str], limited: bool
    ) -> None:
        """Replace an expression such as ``q1 - 90``, as books print it, by its offset, -90.

        Args:
            field: theta, or d of a prismatic joint.
            own: names of the variable of the row.
            joints: names of the other joints.
            limited: whether the row has limits.

        Raises:
            DescriptionError: it has a variable in another form than once with the factor 1.
        """
        value = sourced_value(field)
        names = frozenset(own) - frozenset(joints)
        leaders = [name for name in self._scope.names_in(value) if name in names]
        if not leaders:
            return
        text, name = value.raw("a number or an expression"), leaders[0]
        (one,) = self._linear(field, {*leaders, *joints})
        if one.factors != ((name, 1.0),):
            if not limited:
                return  # it depends on itself
            problem = f"has the joint's own variable {name!r} in {text!r}"
            remedy = f"the variable is implied, with the factor 1: write {_written(one)} alone"
            if dict(one.factors).get(name) == -1.0:
                remedy += (
                    " and limits with the opposite sign, so that the joint counts the other way"
                )
            raise field.error(problem, remedy)
        cast(yaml.ScalarNode, value.node).value = _offset_text(text, name)

    def _reject_variable(self, field: Field) -> None:
        """Raise an error if a cell is a sum of a number and a name that nothing has."""
        if not (name := self._unknown_name(field)):
            return
        try:
            (one,) = self._linear(field, {name})
        except DescriptionError:
            return  # reported where it is evaluated
        if one.factors == ((name, 1.0),):
            constants = self._scope.expressions.names
            remedy = f"write {_written(one)}: the variable is implied"
            raise field.error(
                f"{name!r} is neither a joint nor a constant of this file",
                f"{remedy}; {did_you_mean(name, constants)}" if constants else remedy,
            )

    def _reject_unknown_names(self, field: Field) -> None:
        """Raise an error if an expression names what is neither a constant nor a joint."""
        if name := self._unknown_name(field):
            allowed = (*self._names, *self._scope.expressions.names)
            raise field.error(
                f"{name!r} is neither a joint nor a constant of this file",
                did_you_mean(name, allowed),
            )

    def _unknown_name(self, field: Field) -> str:
        """Return the first name in an expression that is nothing known, "" if all are known."""
        allowed = self._names | RESERVED
        return next((name for name in self._scope.names_in(field) if name not in allowed), "")

    def _linear(
        self, field: Field, variables: Collection[str], outermost: str = ""
    ) -> tuple[LinearExpression, ...]:
        """Return an expression as linear in some variables.

        Args:
            field: the expression.
            variables: names of the variables.
            outermost: "min" or "max" if the expression may be the least or greatest of several;
                one within another is one with all of their arguments.

        Returns:
            One expression, or the arguments of the outermost function.
        """
        text = sourced_value(field).raw("a number or an expression")
        try:
            parts, flat = [parse_expression(text)], list[ast.expr]()
            while parts:
                match parts.pop(0):
                    case ast.Call(func=ast.Name(id=function), args=[a, b], keywords=[]) if (
                        function == outermost
                    ):
                        parts[:0] = [a, b]
                    case node:
                        flat.append(node)
            linear = _Linear(self._scope.expressions, text, variables)
            return tuple(map(linear.of, flat))
        except DescriptionError as error:
            raise field.error(error.problem, error.remedy) from None


def _written(one: LinearExpression) -> str:
    """Return the offset of an expression, in the units of its file."""
    return number_text(one.constant, 9, 9)


def _offset_text(text: str, name: str) -> str:
    """Return an expression in which a variable with the factor 1 is 0."""
    first = re.fullmatch(rf"\s*{re.escape(name)}\s*(?:\+\s*(.+)|(-.+))?", text, re.DOTALL)
    if first:
        return (first[1] or first[2] or "0").strip()
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "0", text)


class _Linear:
    """Linear form of the nodes of one text."""

    def __init__(self, expressions: Expressions, text: str, variables: Collection[str]) -> None:
        self._expressions, self._text, self._variables = expressions, text, variables

    def _names(self, node: ast.expr) -> list[str]:
        """Return the variables in a part of the expression, in their order."""
        found = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in self._variables]
        return [n.id for n in sorted(found, key=lambda name: name.col_offset)]

    def of(self, node: ast.expr) -> LinearExpression:
        if not self._names(node):
            return LinearExpression(self._expressions.evaluate(ast.unparse(node)))
        match node:
            case ast.Name(id=name):
                return LinearExpression(0.0, ((name, 1.0),))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.of(operand).times(-1.0)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.of(operand)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self.of(left).plus(self.of(right))
            case ast.BinOp(op=ast.Sub(), left=left, right=right):
                return self.of(left).plus(self.of(right), -1.0)
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                one, other = self.of(left), self.of(right)
                if not one.factors:
                    return other.times(one.constant)
                if not other.factors:
                    return one.times(other.constant)
            case ast.BinOp(op=ast.Div(), left=left, right=right):
                divisor = self.of(right)
                if not divisor.factors:
                    return self._divided(self.of(left), divisor.constant)
        raise DescriptionError(
            f"{self._text!r} is not linear in {', '.join(self._names(node))}",
            remedy="write a sum of joints times numbers, such as 0.5*shoulder - elbow + 10",
        )

    def _divided(self, expression: LinearExpression, number: float) -> LinearExpression:
        if number == 0.0:
            raise DescriptionError(
                f"{self._text!r} divides by zero", remedy="divide by another number"
            )
        factors = tuple((name, factor / number) for name, factor in expression.factors)
        return LinearExpression(expression.constant / number, factors)
