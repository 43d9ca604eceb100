# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The messages quoted on the troubleshooting page are those of the programs."""

import ast
import re

import pytest
from documents.blocks import ROOT
from house.layout import package_files

PAGE = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
SYMPTOMS = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| ")]
SENTENCES = [
    quote for symptom in SYMPTOMS for quote in re.findall(r"`([^`]+)`", symptom) if " " in quote
]


@pytest.fixture(scope="module")
def said():
    """Every string in the programs, f-strings assembled from their parts."""
    texts = []
    for file in [*package_files(), *(ROOT / "tools").glob("*/*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                values = [v.value if isinstance(v, ast.Constant) else "\0" for v in node.values]
                texts.append("".join(values).lower())
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value.lower())
    return texts


def test_page_quotes_many_messages():
    assert len(SENTENCES) > 20


@pytest.mark.parametrize("sentence", SENTENCES)
def test_quoted_message_exists_in_a_program(said, sentence):
    if sentence.startswith("./arm"):
        return
    parts = [part.strip("'\" ;:").lower() for part in re.split(r"\.\.\.", sentence)]
    for part in filter(None, parts):
        assert any(part in text for text in said), part
