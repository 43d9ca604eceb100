# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Expressions compute arithmetic and reject everything else."""

import gc
import math
import sys
import time
from threading import get_ident

import pytest
from arm_common.errors import InputError
from arm_common.yaml.expressions import Expressions, constant_name_problem
from hypothesis import given, settings
from hypothesis import strategies as st

DEGREE = math.pi / 180


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.105", 0.105),
        ("-1e-3", -0.001),
        ("pi/2", math.pi / 2),
        ("l1 + l10", 3.0),
        ("-h1*cos(tilt)", -0.5 * math.cos(0.3)),
        ("2**-2 * (3 - 1)", 0.5),
        ("sqrt(2)", math.sqrt(2)),
        ("atan2(1, -1)", 3 * math.pi / 4),
        ("hypot(3, 4) + abs(-1) + min(1, 2) + max(1, 2)", 9.0),
        ("asin(1) + acos(1) + atan(1)", 0.75 * math.pi),
        ("deg(180)", math.pi),
        ("rad(1)", 1.0),
        ("+ (((l1)))", 1.0),
    ],
)
def test_expressions_are_evaluated(text, value):
    constants = {"l1": "1", "l10": "2*l1", "h1": "0.5", "tilt": "0.3"}
    assert Expressions(constants).evaluate(text) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sin(30)", 0.5),
        ("acos(0)", 90.0),
        ("atan2(1, 1)", 45.0),
        ("rad(pi/2)", 90.0),
        ("deg(45)", 45.0),
        ("cos(tilt)", 0.5),
    ],
)
def test_angles_are_in_the_unit_of_the_file(text, value):
    expressions = Expressions({"tilt": "60"}, DEGREE)
    assert expressions.evaluate(text) == pytest.approx(value, abs=1e-13)


def test_pi_is_rejected_in_degrees():
    with pytest.raises(InputError, match="angles are in deg"):
        Expressions({}, DEGREE).evaluate("pi/2")
    with pytest.raises(InputError, match="angles are in deg"):
        Expressions({"half": "pi/2"}, DEGREE).evaluate("rad(half)")


def test_constants_may_come_in_any_order():
    assert Expressions({"a": "b + 1", "b": "c*2", "c": "3"}).constant("a") == 7.0


@pytest.mark.parametrize(
    ("constants", "circle"),
    [
        ({"a": "a"}, "a -> a"),
        ({"a": "b", "b": "c", "c": "a + 1"}, "a -> b -> c -> a"),
        ({"x": "b", "b": "c", "c": "b"}, "b -> c -> b"),
    ],
)
def test_circular_constants_are_reported(constants, circle):
    with pytest.raises(InputError, match=circle):
        Expressions(constants).constant(next(iter(constants)))


REFUSED = {
    "not allowed": [
        *["__import__('os').system('true')", "().__class__.__bases__", "open('x')", "[1][0]"],
        *["'text'", "lambda: 1", "1 if 1 else 2", "(x := 1)", "True", "90°", "1 < 2"],
        *["7 % 2", "7 // 2", "1 << 9", "sin(x=1)", "sin(*[1])", "(sin)(1)(2)"],
    ],
    "'pi.real' is not allowed": ["pi.real"],
    "'l1.5and' is not allowed": ["l1.5and"],
    "'..5or' is not allowed": ["..5or"],
    "not a decimal number": ["1j"],
    "not a constant": ["sin"],
    "takes 1": ["sin(1, 2)"],
    "takes 2": ["atan2(1)"],
    "no function 'foo'": ["foo(1)"],
    "'l11' is not a constant": ["l11"],
    "q is implied": ["q - 90"],
    "comma": ["0,105"],
    "time of day": ["1:30"],
    "write 10": ["010"],
    "not a number|not allowed": ["1 2", "", "x := 1"],
    "divides by zero": ["1/0"],
    "no finite real value": ["0**-1", "sqrt(-1)", "(-8)**0.5"],
    "not finite": ["1e999", "1e308*10", "1e999 - 1e999"],
}


@pytest.mark.parametrize(
    ("text", "reason"), [(text, reason) for reason, texts in REFUSED.items() for text in texts]
)
def test_anything_but_arithmetic_is_rejected(text, reason):
    with pytest.raises(InputError, match=reason):
        Expressions({"l1": "1", "l10": "2"}).evaluate(text)


@pytest.mark.parametrize(
    "text",
    [
        *["9**9**9**9**9", "((9**9)**9)**9", "(" * 5000 + "1" + ")" * 5000, "-" * 5000 + "1"],
        *["1+" * 5000 + "1", "9" * 100_000, "-" * 250 + "1"],
    ],
)
def test_huge_expressions_are_rejected_quickly(text):
    start = time.monotonic()
    with pytest.raises(InputError):
        Expressions().evaluate(text)
    assert time.monotonic() - start < 5.0  # against an endless computation, not a speed test


@given(st.text(max_size=40))
def test_any_text_gives_a_finite_number_or_a_one_line_error(text):
    try:
        assert math.isfinite(Expressions({"l1": "1"}).evaluate(text))
    except InputError as error:
        assert "\n" not in str(error).replace(text, "")


@pytest.mark.parametrize("name", ["pi", "q", "sin", "1a", "a b", "lambda", "", "a-b"])
def test_invalid_constant_names_are_rejected(name):
    assert constant_name_problem(name)


def test_names_may_use_any_alphabet():
    assert constant_name_problem("größe") == ""
    assert Expressions({"λ": "2"}).evaluate("λ*2") == 4.0


def test_function_evaluates_its_variable_and_the_constants():
    expressions = Expressions({"l": "2", "twice": "2*l"})
    function = expressions.function("l*t + twice", "t")
    assert [function(t) for t in (0.0, 1.0, 0.5)] == [4.0, 6.0, 5.0]
    with pytest.raises(InputError, match="'t' is not a constant"):
        expressions.evaluate("t")
    with pytest.raises(InputError, match="'l' has the name of the variable"):
        expressions.function("l", "l")


def test_names_with_a_common_prefix_are_distinct():
    texts = {f"l{i}": str(float(i)) for i in (1, 10, 100, 11)} | {"l": "0.5", "l1_0": "7"}
    expressions = Expressions(texts)
    assert expressions.evaluate("l1*1000 + l10*100 + l100*10 + l11 + l + l1_0") == 3018.5
    assert expressions.values["l10"] == 10.0
    with pytest.raises(InputError, match=r"'l1l10' is not a constant.*did you mean 'l1"):
        expressions.evaluate("l1l10")


def test_long_chain_of_constants_is_evaluated():
    chain = {f"a{i}": f"-(-(a{i + 1}))" for i in range(3000)} | {"a3000": "2"}
    assert Expressions(chain).constant("a0") == 2.0


WORDS = (
    "l1 l10 pi sin max 1 2.5 1e3 __import__ __class__ os open eval exec print breakpoint . , ( ) "
    "[ ] { } + - * / ** // % @ ~ & | ^ << < == := = ' \" f' lambda : if else for in not and or "
    "await yield import None True ... \\ # ; ! ? ` $ \n é ｌ 010 1_0 0x1 9**9**9"
)
SEEN: list[str] = []
ARMED: list[int] = []  # the thread to watch: others may work beside it


@pytest.fixture(scope="module", autouse=True)
def audited():
    """Record Python's audit events: files opened, modules imported, code executed, .."""
    sys.addaudithook(lambda event, _: SEEN.append(event) if get_ident() in ARMED else None)
    gc.disable()  # finalizers of other tests would be recorded, too
    yield
    gc.enable()


@pytest.mark.filterwarnings("error")  # users must not see Python's own warnings about the text
@settings(max_examples=400)
@given(st.lists(st.sampled_from(WORDS.split(" ")), max_size=12), st.sampled_from(["", " "]))
def test_no_text_executes_code(words, between):
    expressions = Expressions({"l1": "1", "l10": "2"})
    ARMED.append(get_ident())
    try:
        assert math.isfinite(expressions.evaluate(between.join(words)))
    except InputError:
        pass
    finally:
        ARMED.clear()
    assert set(SEEN) <= {"compile"}  # to a syntax tree, which is not run


@pytest.mark.parametrize("text", ["__import__('os')", "open('/dev/null')", "exec('1')"])
def test_audit_hook_detects_executed_code(text):
    ARMED.append(get_ident())
    eval(text)
    ARMED.clear()
    assert set(SEEN) - {"compile"}
    SEEN.clear()
