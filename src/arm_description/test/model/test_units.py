# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is printed for people reads back as the same number, to the printed precision."""

import math

import pytest
from arm_common.errors import InputError, finite_number
from arm_description.model.units import (
    ANGLES,
    LENGTHS,
    SHOWN,
    SI,
    UNITS,
    millimetres,
    with_degree_sign,
)
from hypothesis import given
from hypothesis import strategies as st

KINDS = {**dict.fromkeys(LENGTHS, "prismatic"), **dict.fromkeys(ANGLES, "revolute")}
POSITIONS = st.floats(-10.0, 10.0)


@pytest.mark.parametrize("unit", UNITS)
@given(value=POSITIONS)
def test_printed_number_reads_back_to_its_precision(unit, value):
    units, kind = SI.using(unit), KINDS[unit]
    size = units.si(1.0, kind)
    rounding = 0.5 * size * 10.0 ** -UNITS[unit].decimals
    text = units.text(value, kind, digits=15)
    assert text.endswith(f" {unit}")
    assert SHOWN.read(text, kind) == pytest.approx(value, abs=1.001 * rounding)
    assert units.read(units.number(value, kind, digits=15), kind) == SHOWN.read(text, kind)
    fixed = units.fixed(value, kind, 3)
    assert SI.read(fixed, kind) == pytest.approx(value, abs=1.001 * 0.5e-3 * size)


@pytest.mark.parametrize("unit", UNITS)
@given(value=POSITIONS)
def test_conversion_to_a_unit_and_back_is_exact_to_rounding(unit, value):
    units, kind = SI.using(unit), KINDS[unit]
    assert units.written(units.si(value, kind), kind) == pytest.approx(
        value, rel=1e-15, abs=1e-300
    )


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("105", "prismatic", 0.105),
        ("105 mm", "prismatic", 0.105),
        (" 4inch ", "prismatic", 0.1016),
        ("(10 + 20)cm", "prismatic", 0.3),
        ("0.3m", "prismatic", 0.3),
        ("90", "revolute", math.pi / 2),
        ("pi/2 rad", "revolute", math.pi / 2),
        ("(pi/2)rad", "revolute", math.pi / 2),
        ("pirad", "revolute", None),
        ("1e2deg", "revolute", math.radians(100.0)),
        ("30 mm", "revolute", None),
        ("mm", "prismatic", None),
        ("inf", "prismatic", None),
        ("", "revolute", None),
    ],
)
def test_number_is_read_with_or_without_its_unit(text, kind, value):
    if value is None:
        with pytest.raises(InputError):
            SHOWN.read(text, kind)
    else:
        assert SHOWN.read(text, kind) == value


def test_zero_has_no_sign():
    assert SHOWN.fixed(-1e-9, "prismatic") == "0.0 mm" and SHOWN.text(-1e-9, "revolute") == "0 deg"
    assert millimetres((0.012, -0.0, -1e-6)) == "12.0, 0.0, 0.0"
    assert with_degree_sign(SHOWN.fixed(-math.pi / 4, "revolute")) == "-45.0°"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x", "'x' is not a number"),
        ("", "'' is not"),
        ("nan", "nan is not finite"),
        ("-inf", ""),
    ],
)
def test_plain_number_is_finite(text, says):
    with pytest.raises(InputError, match=says):
        finite_number(text)
    assert finite_number(" -1.5e3 ") == -1500.0
