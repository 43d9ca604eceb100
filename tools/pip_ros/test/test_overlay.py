# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The overlay's types match the published ones by ROS 2's type hash (REP 2011)."""

import json

import pytest
from pip_ros import messages_for_tests
from pip_ros.paths import Paths

# From builds of ros-controls/control_msgs and ros2/geometry2, branch jazzy.
PUBLISHED = {
    "control_msgs/action/FollowJointTrajectory": (
        "RIHS01_738ebcb7a2d7cfa42f9f1001cc99ce3a4383d1cfe508015d9be8485e4b1c66f6"
    ),
    "control_msgs/action/GripperCommand": (
        "RIHS01_e17c0e644eccf14bea84a0a93e0977182872c2eb7873ca6694900059b46dbc84"
    ),
    "control_msgs/msg/GripperCommand": (
        "RIHS01_57eb8f326c9889ca8bb34ead82cc94cc09bf6bc5c3b6c09546dca3a00b589890"
    ),
    "control_msgs/msg/JointComponentTolerance": (
        "RIHS01_739ea7566931944d33830fa10f1bf5e7a7fbdc3172bce7a7eaac642bd6e3ffa4"
    ),
    "control_msgs/msg/JointTolerance": (
        "RIHS01_c254f9cece0f3b733017b6990fd46d1326e25242d6b8844398c97d9a88e7d648"
    ),
    "control_msgs/msg/JointTrajectoryControllerState": (
        "RIHS01_51d8dd89cc624cbe9daaeeb4d80d6de9b86168ffdc3be41fefc0953e3c26e480"
    ),
    "control_msgs/msg/SpeedScalingFactor": (
        "RIHS01_0c240f349f2b74e33e8741f83e0f196ddeb6585923663876ed3c1f51f0566037"
    ),
    "control_msgs/srv/QueryTrajectoryState": (
        "RIHS01_4a0935dffef18bc5b9e101c9d03d84e681ecd4cebd724b8f11fde008751a325a"
    ),
    "tf2_msgs/msg/TFMessage": (
        "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"
    ),
}
# From a build of moveit/moveit_msgs 2.6.0, branch ros2; a hash covers all nested types.
PUBLISHED_FOR_TESTS = {
    "moveit_msgs/srv/GetPositionFK": (
        "RIHS01_2f16ec361a135d84b85a29385abeb9eeb025e39c09038bd6b2826645edc7edad"
    ),
    "moveit_msgs/srv/GetPositionIK": (
        "RIHS01_054ed6f6f71a09b01b5246c5d80beb4dacc6f444f58df039849c76292933e9e3"
    ),
}


def type_hash(prefix, name):
    file = prefix / "share" / f"{name}.json"
    hashes = {
        entry["type_name"]: entry["hash_string"]
        for entry in json.loads(file.read_text())["type_hashes"]
    }
    return hashes[name]


@pytest.mark.parametrize("name", PUBLISHED)
def test_type_hash_matches_the_published_one(name):
    assert type_hash(Paths().install, name) == PUBLISHED[name]


@pytest.mark.parametrize("name", PUBLISHED_FOR_TESTS)
def test_type_hash_of_test_messages_matches_the_published_one(name):
    assert type_hash(messages_for_tests.prefix(Paths()), name) == PUBLISHED_FOR_TESTS[name]


def test_every_type_of_the_overlay_is_checked():
    overlay = Paths().repository / "tools" / "pip_ros" / "overlay"
    files = [f for kind in ("msg", "srv", "action") for f in overlay.glob(f"*/{kind}/*")]
    assert {f"{f.parts[-3]}/{f.parts[-2]}/{f.stem}" for f in files} == set(PUBLISHED)
