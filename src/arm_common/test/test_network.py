# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What is limited to this computer, and what the user decides."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from arm_common.errors import InputError
from arm_common.network import (
    NETWORK,
    RANGE,
    Reach,
    configured_by,
    is_limited,
    limit_to_this_computer,
    node_environment,
    reach,
    report_reach,
)

FAST, FAST_3 = "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"
CONFIGURED = {
    "": (FAST, FAST_3),
    "rmw_fastrtps_cpp": (FAST, FAST_3),
    "rmw_cyclonedds_cpp": ("CYCLONEDDS_URI",),
    "rmw_zenoh_cpp": ("ZENOH_CONFIG_OVERRIDE", "ZENOH_SESSION_CONFIG_URI"),
}


@pytest.mark.parametrize("middleware", CONFIGURED)
@pytest.mark.parametrize("wanted", ["", "LOCALHOST", None])
def test_every_known_middleware_is_limited_unless_opened(middleware, wanted):
    given = {"RMW_IMPLEMENTATION": middleware, **({} if wanted is None else {RANGE: wanted})}
    limited = limit_to_this_computer(dict(given))
    assert is_limited(limited) and not configured_by(limited)
    assert limited[RANGE] == "SYSTEM_DEFAULT"  # LOCALHOST would add transports without a limit
    assert {CONFIGURED[middleware][0]} <= limited.keys()
    others = {name for names in CONFIGURED.values() for name in names} - {*CONFIGURED[middleware]}
    assert not others & limited.keys()


@pytest.mark.parametrize(
    ("release", "names"), [("jazzy", {FAST}), ("lyrical", {FAST_3}), ("rolling", {FAST_3})]
)
def test_fast_dds_gets_the_variable_that_its_release_reads(release, names):
    """That of Lyrical warns about the older name."""
    limited = limit_to_this_computer({"ROS_DISTRO": release})
    assert {FAST, FAST_3} & limited.keys() == names and is_limited(limited)
    assert limit_to_this_computer(dict(limited)) == limited
    for mine in ({FAST: "/home/me/mine"}, {FAST_3: "/home/me/mine"}):
        assert limit_to_this_computer({"ROS_DISTRO": release, **mine}).items() >= mine.items()


def test_memory_policy_of_our_profile_holds_as_long_as_the_limit():
    flag = "RMW_FASTRTPS_USE_QOS_FROM_XML"
    limited = limit_to_this_computer({})
    policies = [
        element.text
        for element in ET.parse(Path(limited[FAST])).iter()
        if element.tag.endswith("}historyMemoryPolicy")
    ]
    assert limited[flag] == "1" and policies == ["DYNAMIC"] * 2  # of writers and readers
    assert flag not in limit_to_this_computer({**limited, NETWORK: "subnet"})
    assert flag not in limit_to_this_computer({"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"})
    assert flag not in limit_to_this_computer({FAST: "/home/me/mine"})


def test_every_locator_of_fast_dds_has_content():
    """Fast DDS 3.5 and later reject the whole profile otherwise, and with it the limit."""
    elements = ET.parse(Path(limit_to_this_computer({})[FAST])).iter()
    locators = [e for e in elements if e.tag.endswith("}locator")]
    assert len(locators) == 2 and all(len(locator) for locator in locators)


@pytest.mark.parametrize(
    ("wanted", "reached"), [("SYSTEM_DEFAULT", Reach.NETWORK), ("OFF", Reach.NOWHERE)]
)
def test_a_range_that_only_a_user_sets_is_left_alone(wanted, reached):
    assert limit_to_this_computer({RANGE: wanted}) == {RANGE: wanted}
    assert reach({RANGE: wanted}) is reached


@pytest.mark.parametrize("sourced", ["SUBNET", "subnet", "LAN"])
def test_the_range_that_jazzy_sets_when_it_is_sourced_opens_nothing(sourced):
    """Its ros_environment sets SUBNET, so the value does not tell what the user wants."""
    assert limit_to_this_computer({RANGE: sourced}) == limit_to_this_computer({})
    assert reach(limit_to_this_computer({RANGE: sourced})) is Reach.THIS_COMPUTER
    opened = limit_to_this_computer({RANGE: sourced, NETWORK: "subnet"})
    assert opened == {RANGE: "SUBNET", NETWORK: "subnet"} and reach(opened) is Reach.NETWORK


@pytest.mark.parametrize(
    ("middleware", "name"), [(m, name) for m, names in CONFIGURED.items() for name in names]
)
@pytest.mark.parametrize("sourced", [{}, {RANGE: "SUBNET"}])
def test_a_configuration_of_the_user_is_left_alone(middleware, name, sourced):
    given = {"RMW_IMPLEMENTATION": middleware, name: "/home/me/mine", **sourced}
    assert limit_to_this_computer(dict(given)) == given
    assert configured_by(given) == [name] and reach(given) is Reach.CONFIGURED
    closed = limit_to_this_computer({**given, NETWORK: "this_computer"})
    assert is_limited(closed) and closed.get(name) != "/home/me/mine"
    opened = limit_to_this_computer({**given, NETWORK: "subnet"})
    assert opened == {**given, NETWORK: "subnet", RANGE: "SUBNET"}


def test_an_unknown_network_is_refused_before_anything_changes():
    given = {NETWORK: "lan", RANGE: "SUBNET"}
    with pytest.raises(InputError, match="ARM_NETWORK is 'lan'; set it to one of auto, this_comp"):
        limit_to_this_computer(given)
    assert given == {NETWORK: "lan", RANGE: "SUBNET"}
    assert limit_to_this_computer({NETWORK: ""}).items() >= limit_to_this_computer({}).items()


def test_the_reach_is_reported_once_for_a_process_and_its_children():
    environment = limit_to_this_computer({RANGE: "SUBNET"})
    sentence = report_reach(environment)
    assert "this computer only" in sentence and "ARM_NETWORK=subnet" in sentence
    child = limit_to_this_computer(dict(environment))
    assert report_reach(child) == ""
    opened = limit_to_this_computer({**environment, NETWORK: "subnet"})
    assert "every computer of the network" in report_reach(opened)
    cyclone = limit_to_this_computer({"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"})
    sentence = report_reach(cyclone)
    assert "receives on every address" in sentence and "ARM_NETWORK=subnet" in sentence


def test_a_configuration_that_only_ends_as_the_limit_is_the_users():
    zenoh = {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"}
    limit = limit_to_this_computer(dict(zenoh))["ZENOH_CONFIG_OVERRIDE"]
    mine = limit.replace("tcp/127.0.0.1:0", "tcp/0.0.0.0:0")
    given = {**zenoh, "ZENOH_CONFIG_OVERRIDE": mine}
    assert mine.endswith("/".join(limit.split("/")[-3:])) and configured_by(given)
    assert limit_to_this_computer(dict(given)) == given and not is_limited(given)
    path = "/home/me/my" + "/".join(limit_to_this_computer({})[FAST].split("/")[-3:])
    assert limit_to_this_computer({FAST: path}) == {FAST: path}


@pytest.mark.parametrize("before", ["", "LOCALHOST", "SUBNET", "SYSTEM_DEFAULT"])
@pytest.mark.parametrize("variable", ["subnet", "this_computer", "lan"])
def test_an_argument_decides_before_the_environment(before, variable):
    given = {RANGE: before, "ROS_LOCALHOST_ONLY": "1", NETWORK: variable}
    opened = {RANGE: "SUBNET", NETWORK: "subnet"}
    assert is_limited(node_environment(given, "this_computer"))
    assert node_environment(given, "subnet") == opened
    limited = limit_to_this_computer({})
    assert node_environment(limited, "subnet") == opened
    for network in ("subnet", "this_computer"):  # what a node decides that a launch starts
        child = node_environment(given, network)
        assert limit_to_this_computer(dict(child)) == child
    alone = {RANGE: before}
    assert node_environment(alone, "auto") == limit_to_this_computer(dict(alone))


def test_a_limit_is_inherited_replaced_and_removed():
    limited = limit_to_this_computer({})
    assert limit_to_this_computer(dict(limited)) == limited
    elsewhere = {name: value.replace("/src/", "/opt/share/") for name, value in limited.items()}
    assert limit_to_this_computer(elsewhere) == limited
    assert limit_to_this_computer({**limited, RANGE: "SUBNET"}) == limited
    assert limit_to_this_computer({**limited, RANGE: "OFF"}) == {RANGE: "OFF"}
    cyclone = limit_to_this_computer({**limited, "RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"})
    assert FAST not in cyclone and "CYCLONEDDS_URI" in cyclone


def test_the_predecessor_of_the_range_does_not_undo_the_limit():
    limited = limit_to_this_computer({"ROS_LOCALHOST_ONLY": "1", RANGE: "SUBNET"})
    assert is_limited(limited) and limited["ROS_LOCALHOST_ONLY"] == "0"


def test_an_unknown_middleware_gets_the_range():
    given = {"RMW_IMPLEMENTATION": "rmw_connextdds"}
    assert limit_to_this_computer(dict(given)) == {**given, RANGE: "LOCALHOST"}


def test_the_files_name_no_address_but_loopback():
    limited = limit_to_this_computer({})
    cyclone = limit_to_this_computer({"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"})
    for path in (limited[FAST], cyclone["CYCLONEDDS_URI"].removeprefix("file://")):
        elements = list(ET.parse(Path(path)).iter())
        named = [e.get("name") or e.get("address") for e in elements if "nterface" in e.tag]
        named += [e.text or e.get("address") for e in elements if e.tag.endswith(("ress", "Peer"))]
        assert {name.strip() for name in named if name} == {"127.0.0.1"}
