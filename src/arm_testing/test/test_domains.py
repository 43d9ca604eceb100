# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""No two tests use the same ROS domain at the same time."""

import os

import pytest

from arm_testing import domains


def test_domain_is_leased_while_the_block_runs():
    with domains.leased() as one, domains.leased() as other:
        assert one != other and {one, other} <= set(range(1, domains.COUNT + 1))


def test_exhausted_domains_raise_an_error(monkeypatch):
    monkeypatch.setattr(domains, "COUNT", 0)
    with pytest.raises(RuntimeError, match="all 0 ROS domains"):
        domains.lease()


def test_each_test_runs_in_the_domain_of_its_file(ros_domain):
    assert os.environ["ROS_DOMAIN_ID"] == str(ros_domain)


def test_single_test_can_have_its_own_domain(ros_domain, fresh_domain):
    assert fresh_domain != ros_domain
