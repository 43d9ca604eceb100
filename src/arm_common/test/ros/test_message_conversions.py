# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Interface classes by names that come from requests, recordings and other computers."""

import sys

import pytest
from arm_common.ros.message_conversions import interface_class
from control_msgs.action import GripperCommand
from std_msgs.msg import Bool
from std_srvs.srv import Trigger


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("std_msgs/msg/Bool", Bool),
        ("std_srvs/srv/Trigger", Trigger),
        ("control_msgs/action/GripperCommand", GripperCommand),
    ],
)
def test_registered_interfaces_are_returned(name, cls):
    assert interface_class(name) is cls


@pytest.mark.parametrize(
    "name",
    [
        *("antigravity/msg/X", "this/msg/X", "os/msg/Path", "std_msgs/srv/Bool", "rclpy/msg/Node"),
        *("std_msgs/msg/Nothing", "std_msgs/msg/_bool", "std_msgs/msg/Bool_Event"),
        *(
            "std_msgs/Bool",
            "../std_msgs/msg/Bool",
            "std_msgs.msg/msg/Bool",
            "std_msgs/msg/Bool\n",
            "/msg/Bool",
            "",
        ),
    ],
)
def test_nothing_else_is_imported(name):
    before = set(sys.modules)
    assert interface_class(name) is None
    assert set(sys.modules) == before


def test_a_python_package_that_only_looks_like_one_of_interfaces_is_not_imported(
    tmp_path, monkeypatch
):
    (tmp_path / "trap").mkdir()
    (tmp_path / "trap/__init__.py").touch()
    (tmp_path / "trap/msg.py").write_text("raise SystemExit('sprung')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert interface_class("trap/msg/X") is None


def test_without_an_ament_index_nothing_is_installed(monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    interface_class.cache_clear()
    assert interface_class("std_msgs/msg/Bool") is None
    interface_class.cache_clear()
