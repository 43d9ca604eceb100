# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The variables of a task file: numbers in expressions, texts as $name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from arm_description.expressions import Expressions, constant_name_problem
from arm_description.nearest import nearest
from arm_description.yaml_fields import Field

from arm_description import DescriptionError

_DEGREE = math.pi / 180.0


@dataclass(frozen=True)
class Variables:
    """Values by name, each a number, an expression over the others, or a text.

    Attributes:
        texts: As written.
        fields: Where they are written, for errors.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Field] = field(default_factory=dict)

    @classmethod
    def read(cls, own: Mapping[str, Field], given: Variables | None = None) -> Variables:
        """Return the variables of a file, those that a calling task gives in place of its own."""
        for name, value in own.items():
            problem = constant_name_problem(name)
            if problem:
                raise value.error(problem)
        texts = {
            name: value.raw("a number, an expression or a text") for name, value in own.items()
        }
        given = given or NO_VARIABLES
        for name, value in given.fields.items():
            if name not in own:
                raise value.error(f"the task has no variable {name!r}", nearest(name, own))
        return cls({**texts, **given.texts}, {**own, **given.fields})

    def given(self, arguments: Mapping[str, Field]) -> Variables:
        """Return what a call hands on: numbers worked out here, and texts."""
        return Variables({k: self._handed_on(v) for k, v in arguments.items()}, dict(arguments))

    def number(self, item: Field, degrees: bool = False) -> float:
        """Return a finite number, or the value of an expression.

        Args:
            item: Where it stands.
            degrees: Whether angles within the expression are degrees, not radians.
        """
        if not isinstance(item.value, str):
            return item.number()
        try:
            return self._expressions(degrees).evaluate(item.raw("a number"))
        except DescriptionError as error:
            at = self.fields.get(error.key, item)
            raise at.error(error.problem, error.remedy) from None

    def text(self, item: Field) -> str:
        """Return a text, or what the variable says if it is `$name`."""
        text = item.raw("text")
        if not text.startswith("$"):
            return text
        if text[1:] not in self.texts:
            known = nearest(text[1:], self.texts)
            raise item.error(f"{text[1:]!r} is not a variable of this file", known)
        return self.texts[text[1:]]

    def _handed_on(self, item: Field) -> str:
        text = self.text(item) if item.raw("a value").startswith("$") else item.raw("a value")
        try:
            return repr(self._expressions(degrees=False).evaluate(text))
        except DescriptionError:
            return text  # it is told where it is used as a number

    def _expressions(self, degrees: bool) -> Expressions:
        return Expressions(self.texts, _DEGREE if degrees else 1.0, noun="variable")


NO_VARIABLES = Variables()
