# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tables of spreadsheets and books give the entries that a person would type."""

import re

import pytest
from arm_common.errors import InputError
from arm_description.model.units import Units
from arm_studio.editing.pasted_table import MAX_PASTED, cleaned, entry, read_block
from hypothesis import example, given
from hypothesis import strategies as st

COLUMNS = ("theta", "d", "a", "alpha", "lower", "upper")
MM, RAD = Units("mm", "deg"), Units("m", "rad")
SCARA = [
    ("revolute", "0", "0", "250", "0"),
    ("revolute", "0", "0", "200", "180"),
    ("prismatic", "0", "0", "0", "0"),
    ("revolute", "0", "105.5", "0", "0"),
]


def read(text, columns=COLUMNS, units=MM):
    rows = read_block(text, columns, units)
    return [(row.kind, *(row.texts.get(column, "") for column in COLUMNS[:4])) for row in rows]


@pytest.mark.parametrize(
    "text",
    [
        "q1\t0\t250\t0\nq2\t0\t200\t180\n0\tq3\t0\t0\nq4\t105.5\t0\t0\n",
        "θ₁* 0 250 0°\nθ₂* 0 200 180°\n0° d₃* 0 0\nθ₄* 105,5 0 0",
        "1 theta_1 0 250 0\n2 theta_2 0 200 pi\n3 0 d3 0 0\n4 theta_4 105.5 0 0",
        "Link  a_i  α_i  d_i  θ_i\n1 250 0 0 θ1\n2 200 π 0 θ2\n3 0 0 d3* 0\n4 0 0 105,5 θ4",
        "i,alpha,a,d,theta\n1,0,250,0,q1\n2,pi,200,0,q2\n3,0,0,q3,0\n4,0,0,105.5,q4",
        "q1; 0; 250; 0\nq2; 0; 200; 180\n0; q3; 0; 0\nq4; 105,5; 0; 0",
        r"$\theta_1^*$ & 0 & 250 & 0 \\"
        "\n"
        r"$\theta_2$ & 0 & 200 & $\pi$ \\"
        "\n"
        r"0 & $d_3^*$ & 0 & 0 \\"
        "\n"
        r"$\theta_{4}$ & 105.5 & 0 & 0 \\",
        "| q1 | 0 | 250 | 0 |\n| q2 | 0 | 200 | 180 |\n| 0 | q3 | 0 | 0 |\n| q4 | 105.5 | 0 | 0 |",
        "q1 0 0.25 m 0".replace(" m", "m") + "\nq2 0 20cm 180 °\n0 q3 0 0\nq4 105.5 0 0",
    ],
)
def test_a_table_is_the_same_however_it_is_printed(text):
    assert read(text) == SCARA


@pytest.mark.parametrize(
    ("text", "column", "units", "expected"),
    [
        ("q1 - 90", "theta", MM, ("- 90", True)),
        ("θ₁ + π/2", "theta", MM, ("90", True)),
        ("90° + q1", "theta", MM, ("90", True)),
        ("−90°", "alpha", MM, ("-90", False)),
        ("-π/2", "alpha", MM, ("-90", False)),
        ("3pi/4", "alpha", MM, ("135", False)),
        (r"\frac{\pi}{2}", "alpha", MM, ("90", False)),
        ("tilt + pi/2", "alpha", MM, ("rad(tilt + pi/2)", False)),
        ("-pi/2", "alpha", RAD, ("-pi/2", False)),
        ("90°", "alpha", RAD, ("deg(90)", False)),
        ("0,425", "a", RAD, ("0.425", False)),
        ("425 mm", "a", RAD, ("0.425", False)),
        ("l₁", "a", MM, ("l1", False)),
        ("d4", "d", MM, ("d4", False)),
        ("max(l1,20)", "a", MM, ("max(l1,20)", False)),
        ("90 - q1", "theta", MM, ("90 - q1", False)),  # the reader of the file says what to write
    ],
)
def test_one_cell(text, column, units, expected):
    assert entry(text, column, units) == expected


def test_a_column_of_one_cell_in_each_row_and_a_row_of_limits():
    assert [row.texts for row in read_block("1\n2\n", ("a", "alpha"), MM)] == [
        {"a": "1"},
        {"a": "2"},
    ]
    (row,) = read_block("-90\t90", ("lower", "upper"), MM)
    assert row.texts == {"lower": "-90", "upper": "90"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 2 3\n1 2", "line 2 has 2 cells, but line 1 has 3"),
        ("1\t2\t3\t4\t5\t6\t7", "7 columns do not fit"),
        ("\n \n", "no cells"),
        ("θ1* d1* 0 0", "row 1 marks theta and d"),
        ("0\n" * 65, "65 rows are too many"),
        ("0 " * MAX_PASTED, "characters are too many"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(InputError, match=sentence):
        read_block(text, COLUMNS, MM)


numbers = st.decimals(-999, 999, places=3).map(str)


@given(
    st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=8),
    st.sampled_from(["\t", " ", "; ", " | "]),
    st.sampled_from(".,"),
)
def test_any_numbers_arrive_as_they_are_written(rows, separator, point):
    text = "\n".join(separator.join(row).replace(".", point) for row in rows)
    assert read(text) == [("", *row) for row in rows]


@given(st.text("1$\\ \xa0\x0b\u2028\t\n", max_size=80))
@example(text=f"1{' ' * 19_000}2")
@example(text=f"1{' $' * 9_000}2")
def test_a_cleaned_text_has_no_run_of_blanks(text):
    assert re.search(r"[^\S\t\n]{2}", cleaned(text)) is None


@given(
    st.text(st.characters(codec="utf-8"), max_size=80)
    | st.text("q1θ*°,;|&\t\n -+/(){}\\d_", max_size=80)
)
def test_any_text_gives_rows_or_one_sentence(text):
    try:
        rows = read_block(text, COLUMNS, MM)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert rows is not None
