# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Each pair of state and event is in a table once: in a row or refused."""

from enum import Enum

import pytest
from arm_common.control.transition_table import Transition, TransitionTable


class Light(Enum):
    RED = "red"
    GREEN = "green"


class Turn(Enum):
    GO = "go"


GO = (Light.RED, Turn.GO, Light.GREEN, Turn.GO)


def test_row_and_refusal_of_a_pair():
    table = TransitionTable(Light, Turn, [GO], {(Light.GREEN, Turn.GO): "it is green"})
    assert table.row(Light.RED, Turn.GO) == Transition(*GO)
    assert table.refusal(Light.RED, Turn.GO) == ""
    assert table.row(Light.GREEN, Turn.GO) is None
    assert table.refusal(Light.GREEN, Turn.GO) == "it is green"


@pytest.mark.parametrize("times", [0, 2])
def test_a_pair_that_is_missing_or_twice_is_refused(times):
    rows = [(Light.GREEN, Turn.GO, Light.GREEN, Turn.GO)]
    with pytest.raises(ValueError, match=r"\(RED, GO\)$"):
        TransitionTable(Light, Turn, rows + times * [GO], {})


def test_a_pair_that_has_a_row_and_is_refused_is_refused():
    refusals = {(Light.RED, Turn.GO): "no", (Light.GREEN, Turn.GO): "no"}
    with pytest.raises(ValueError, match=r"\(RED, GO\)$"):
        TransitionTable(Light, Turn, [GO], refusals)
