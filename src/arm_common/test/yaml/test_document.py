# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The YAML reader behind every file of the project."""

import os
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml
from arm_common.errors import InputError
from arm_common.yaml.document import check_params_file, load_plain, parse_yaml, read_yaml
from arm_common.yaml.schema_types import Key, Leaf, Table
from arm_common.yaml.typed_mapping import TypedMapping


def root(text):
    return parse_yaml(text, "f.yaml", InputError)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("1e-3", 1e-3), ("-2.5E+2", -250.0), ("010", 8), ("1:30", 90), ("0x40", 64)],
        *[("no", False), ("~", None), ("", None), ("word", "word"), ("'1e-3'", "1e-3")],
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_scalars_follow_yaml_1_1_except_exponents_and_dates(text, value):
    read = root(f"a: {text}").mapping()["a"].value
    assert read == value and type(read) is type(value)


def test_raw_returns_the_text_of_the_file():
    fields = root("[010, 1:30, no, 1e-3]").items()
    assert [field.raw("a word") for field in fields] == ["010", "1:30", "no", "1e-3"]


def test_fields_know_their_line_and_key_path():
    inner = root("a:\n  b:\n\n    [1,\n    2]\n").mapping()["a"].mapping()["b"]
    assert (inner.line, inner.key) == (2, "a.b")
    assert [(f.line, f.key) for f in inner.items()] == [(4, "a.b[0]"), (5, "a.b[1]")]


@pytest.mark.parametrize(
    "text", ["x", "true", ".nan", "-.inf", "1e999", "9" * 400, "", "[1]", "{a: 1}", "'1'"]
)
def test_only_finite_numbers_are_accepted(text):
    with pytest.raises(InputError, match=r"^f.yaml:1: a: must be a finite number, not "):
        root(f"a: {text}").mapping()["a"].number()


@pytest.mark.parametrize(("text", "value"), [("010", 8), ("-010", -8), ("1:30", 90)])
def test_numbers_that_yaml_takes_for_others_are_refused(text, value):
    with pytest.raises(InputError, match=rf"^f.yaml:1: a: {text} is not .*as {value};"):
        root(f"a: {text}").mapping()["a"].number()


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("0.5", 0.5), ("0x40", 64), ("1_0", 10)])
def test_other_spellings_are_read(text, value):
    assert root(f"a: {text}").mapping()["a"].number() == value


@pytest.mark.parametrize("text", ["!!bool x", "!!int ''", "!!binary aGk=", "!!float x", "!x y"])
def test_other_tags_are_rejected(text):
    with pytest.raises(InputError, match=r"^f.yaml:1: a: .*put it in quotes$"):
        root(f"a: {text}").mapping()["a"].value  # noqa: B018


def test_aliases_may_be_shared_but_not_recursive():
    shared = root("a: &a [1, &b {c: 2}]\nd: *a\ne: [*a, *b]").mapping()
    assert shared["e"].items()[1].mapping()["c"].value == 2
    for text in ("a: &a [*a]", "a: 1\nb: &b {c: [*b]}"):
        with pytest.raises(InputError, match="alias must not contain itself"):
            root(text)


@pytest.mark.parametrize(
    ("layer", "problem"),
    [
        ("[*a{0}, *a{0}]", "its aliases stand for more than 1000000 values"),
        ("{{b: *a{0}}}", "its aliases nest values more than 60 deep"),
    ],
)
def test_aliases_that_multiply_are_rejected_in_linear_time(layer, problem):
    layers = [f"a{i}: &a{i} {layer.format(i - 1)}" for i in range(1, 300)]
    text = "\n".join(["a0: &a0 [1]", *layers])
    with pytest.raises(InputError, match=problem):
        root(text)
    assert len(root("\n".join(["a0: &a0 [1]", *layers[:15]])).mapping()) == 16


@pytest.mark.parametrize("text", ["[" * 5000, "- " * 5000, "{a: " * 500, "? " * 5000])
def test_deep_nesting_is_rejected_with_its_line(text):
    with pytest.raises(InputError, match=r"^f\.yaml:2: .*nested too deeply"):
        root("# one\n" + text)


def test_merge_keys_are_rejected(tmp_path):
    file = tmp_path / "f.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: &a {b: 1}\nc:\n  <<: *a\n")
    with pytest.raises(InputError, match=r":3: c: a key must be a single word"):
        read_yaml(file, InputError).mapping()["c"].mapping()


def test_names_stay_on_one_line(tmp_path):
    """In messages, whatever their origin, and as keys, which are names."""
    error = InputError("no 're\nst'", remedy="\x1b[31m", file="a")
    assert str(error) == "a: no 're\\nst'; \\x1b[31m"
    file = tmp_path / "f.yaml"
    file.write_text('a:\n  "re\\nst": 1\n')
    with pytest.raises(InputError, match=r":2: a: 're\\nst' is not one line"):
        read_yaml(file, InputError).mapping()["a"].mapping()


def outline(item):
    if item.is_mapping:
        return [(key, field.line, outline(field)) for key, field in item.mapping().items()]
    if item.is_list:
        return [(field.line, outline(field)) for field in item.items()]
    return item.node.value, item.node.tag, bool(item.node.style)


@pytest.mark.parametrize(
    "text",
    [
        "a: {b: [1, 'x', \"y\"], c: }\nd:\n  - 1\n  -\n  - >-\n    folded\n    text\n",
        "a: &x [1]\nb: *x\n\u2028c: \u00e9 # comment\r\nd: !!str 1\n",
        "a:\t1\n",
        "{what? a: 1}",
        "a: {b: !x, c: 1}",
        "- |#\n  text\n",
        "a: [1, 2\nb: 3\n",
        "a: b: c\n",
        "a: 1\n--- b\n",
        "a: *missing\n",
        "a: \x07\n",
        "[" * 10_000,
    ],
)
def test_libyaml_and_pyyaml_loaders_agree(text, monkeypatch):
    def read():
        try:
            return outline(root(text))
        except InputError as error:
            return str(error)

    fast = read()
    monkeypatch.setattr("arm_common.yaml.document.CParser", None)
    assert read() == fast


def test_long_value_is_elided_in_a_message():
    with pytest.raises(InputError, match=r"not 'words and .* \.\.\. .* words'; with") as refused:
        root("words and " * 200 + "words").mapping(("name",))
    assert len(str(refused.value)) < 220


@pytest.mark.parametrize("text", ['a: "\\ud83d\\ude00"', 'a: "\\U0001F600"', "a: \U0001f600"])
def test_surrogate_pair_is_one_character(text):
    value = root(text).mapping()["a"].text()
    assert value == "\U0001f600" and value.encode()


@pytest.mark.parametrize("half", ["d800", "dfff", "DE00", "de00\\ud83d"])
@pytest.mark.parametrize("text", ['b: 1\na: "x\\u{}"', 'b: 1\n"\\u{}": 1', 'b: 1\na: ["\\u{}"]'])
def test_half_of_a_surrogate_pair_is_refused_with_its_line(text, half):
    with pytest.raises(InputError) as refused:
        root(text.format(half))
    message = str(refused.value)
    assert message.startswith("f.yaml:2: \\u" + half[:4].lower()) and message.encode()
    assert message.endswith("is half a character; write the character itself")


def test_plain_values_are_those_of_pyyaml():
    assert load_plain("{a: [1, x, ~], 2: 1.5}") == {"a": [1, "x", None], 2: 1.5}
    assert load_plain("") is None and load_plain('"\\ud83d\\ude00"') == "\U0001f600"
    for text in ('"\\ud83d"', "2001-99-99", "!!int ''", "!!bool x", "[" * 5000):
        with pytest.raises(yaml.YAMLError):
            load_plain(text)


def test_error_with_a_path_that_is_not_utf8_can_be_sent():
    with pytest.raises(InputError) as refused:
        read_yaml(Path(os.fsdecode(b"/nosuch/caf\xe9.yaml")), InputError)
    assert str(refused.value).encode() and "caf\\udce9.yaml" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [b\n", "is not valid YAML"),
        ("- arm_hardware\n", "has no ROS parameters; write NODE"),
        ("arm_hardware: {rate_hz: 50}\n", "has no ROS parameters; write NODE"),
        ("arm_hardware: {ros__parameters: 50}\n", "has no ROS parameters; write NODE"),
        ("/**: {ros__parameters: {a: 1}}\nleft: {driver: {ros__parameters: {b: [1]}}}\n", ""),
    ],
)
def test_params_file_has_parameters_below_its_nodes(tmp_path, text, problem):
    file = tmp_path / "parameters.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=problem) if problem else nullcontext():
        check_params_file({"params_file": str(file)})


@pytest.mark.parametrize("known", ["color", "colour"])
@pytest.mark.parametrize("written", ["color", "colour"])
def test_color_and_colour_are_one_key(known, written):
    field = root(f"{written}: red")
    assert list(field.mapping([known, "mass"])) == [known]
    table = Table({known: Key(Leaf("name", "text"), "its colour")})
    assert TypedMapping(field, "the box", table).find(known)[1].value == "red"
    for read in (lambda both: both.mapping([known]), lambda both: TypedMapping(both, "it", table)):
        with pytest.raises(InputError, match=r"given twice|two spellings"):
            read(root("color: red\ncolour: blue"))
