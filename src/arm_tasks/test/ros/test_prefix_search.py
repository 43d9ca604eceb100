# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tests of arm_tasks.ros.prefix_search."""

import pytest
from arm_tasks.ros.prefix_search import PrefixSearch, fitting_prefixes

JOINTS = ("waist", "elbow")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("waist", "elbow", "finger"), [""]),
        (("left_elbow", "left_waist"), ["left_"]),
        (("left_waist", "waist", "elbow"), [""]),
        (("left_waist", "right_elbow"), []),
        (("right_waist", "left_waist", "left_elbow", "right_elbow"), ["left_", "right_"]),
        (("left_waist", "left_elbow", "waist", "elbow"), ["", "left_"]),
        ((), []),
    ],
)
def test_prefix_is_found_only_if_all_joints_have_it(names, found):
    assert fitting_prefixes(names, JOINTS) == found


def test_search_refuses_to_choose_one_of_several_arms():
    search = PrefixSearch(JOINTS)
    assert not search.receive(("left_waist",)) and not search.problem
    both = ("left_waist", "left_elbow", "right_waist", "right_elbow")
    assert not search.receive(both) and search.names.prefix == ""
    assert "the prefixes 'left_', 'right_'; choose one by --prefix" in search.problem
    assert search.receive(both[2:]) and search.names.prefix == "right_" and not search.problem
    assert search.receive(both) and search.names.prefix == "right_"  # it keeps to its arm


def test_given_prefix_is_used_whatever_the_message_has():
    search = PrefixSearch(JOINTS, "left_")
    both = ("left_waist", "left_elbow", "right_waist", "right_elbow")
    assert search.receive(both) and search.names.prefix == "left_" and not search.problem
