# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Limits ROS 2 to this computer unless the user opens it to a network.

Jazzy sets ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET when it is sourced, so this value does not tell
what the user wants. ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST keeps nobody out: it limits whom a
node searches for, but its sockets listen on every address, and it answers any computer that names
this one in ROS_STATIC_PEERS. Here, the sockets themselves are bound to 127.0.0.1.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from enum import Enum
from typing import TypeVar

from arm_common.errors import InputError
from arm_common.files.access import shipped_files

NETWORK = "ARM_NETWORK"  # one of NETWORKS, for programs without the argument `network`
LAST_PORT = 65535  # of TCP and UDP
RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
_LOCALHOST_ONLY = "ROS_LOCALHOST_ONLY"  # its predecessor, which overrides it
REPORTED = "_ARM_REACH_REPORTED"  # the sentence that a parent process has reported
# The middleware adds transports of its own for LOCALHOST; with this value it adds none.
_CONFIGURED_HERE = "SYSTEM_DEFAULT"
_DECISIONS_OF_THE_USER = ("OFF", "SYSTEM_DEFAULT")  # LOCALHOST gets the same limit as none
_FAST_DDS_2, _FAST_DDS_3 = "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"
_FAST_DDS = (_FAST_DDS_2, _FAST_DDS_3)
# Without it, ROS 2 overrides the history memory policy of our profile, and each place of a queue
# keeps a buffer of the largest message that was there.
_FAST_DDS_QOS = "RMW_FASTRTPS_USE_QOS_FROM_XML"
_LAST_WITH_FAST_DDS_2 = "jazzy"  # the next releases warn about the older name
_CYCLONE_DDS = "rmw_cyclonedds_cpp"
# Variables by which each middleware is configured.
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "": _FAST_DDS,  # the default of ROS 2
    "rmw_fastrtps_cpp": _FAST_DDS,
    "rmw_fastrtps_dynamic_cpp": _FAST_DDS,
    _CYCLONE_DDS: ("CYCLONEDDS_URI",),
    "rmw_zenoh_cpp": ("ZENOH_CONFIG_OVERRIDE", "ZENOH_SESSION_CONFIG_URI"),
}
_ZENOH = (
    'listen/endpoints=["tcp/127.0.0.1:0"];connect/endpoints=["tcp/127.0.0.1:7447"]'
    ";scouting/multicast/enabled=false"
)

# Values of the argument `network` and of ARM_NETWORK; auto leaves the decision to the environment.
NETWORKS: Mapping[str, str] = {"auto": "", "this_computer": "LOCALHOST", "subnet": "SUBNET"}

_Environment = TypeVar("_Environment", bound=MutableMapping[str, str])


_OPENED_BY = (
    "network:=subnet or ARM_NETWORK=subnet opens them to the network,"
    " ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET alone does not"
)


class Reach(Enum):
    """From where nodes are reached; the value completes "The nodes are reached from"."""

    THIS_COMPUTER = f"this computer only; {_OPENED_BY}"
    FORGED_PACKETS = f"this computer only, but Cyclone DDS receives on every address; {_OPENED_BY}"
    UNKNOWN_MIDDLEWARE = f"this computer only, as far as the middleware limits them; {_OPENED_BY}"
    CONFIGURED = "where your configuration of the middleware opens them"
    NOWHERE = "nowhere, because ROS_AUTOMATIC_DISCOVERY_RANGE is OFF"
    NETWORK = "every computer of the network"


def limit_to_this_computer(environment: _Environment) -> _Environment:
    """Change and return environment variables so that ROS 2 listens on 127.0.0.1 only.

    ARM_NETWORK decides first. Without it, nothing is limited if ROS_AUTOMATIC_DISCOVERY_RANGE is
    OFF or SYSTEM_DEFAULT, or if the user has configured the middleware. An unknown middleware gets
    the range LOCALHOST alone. A limit inherited from a parent process is replaced or removed.

    Raises:
        InputError: ARM_NETWORK is none of NETWORKS.
    """
    requested = NETWORKS[_network(environment)]
    _remove_limit(environment)
    if requested:
        environment.pop(_LOCALHOST_ONLY, None)
        environment[RANGE] = requested
        if requested == "SUBNET":
            return environment
        for name in configured_by(environment):
            del environment[name]
    elif environment.get(_LOCALHOST_ONLY) == "1":
        environment.update({_LOCALHOST_ONLY: "0", RANGE: "LOCALHOST"})
    if environment.get(RANGE) in _DECISIONS_OF_THE_USER or configured_by(environment):
        return environment
    variables = _variables(environment)
    if (release := environment.get("ROS_DISTRO", "")) and variables == _FAST_DDS:
        variables = (_FAST_DDS_2 if release <= _LAST_WITH_FAST_DDS_2 else _FAST_DDS_3,)
    limits = {name: value for name, value in _limits().items() if name in variables}
    environment.update(limits, **{RANGE: _CONFIGURED_HERE if limits else "LOCALHOST"})
    if limits.keys() & set(_FAST_DDS):
        environment[_FAST_DDS_QOS] = "1"
    return environment


def node_environment(environment: Mapping[str, str], network: str) -> dict[str, str]:
    """Return the environment variables for nodes that are reached as one of NETWORKS says.

    Raises:
        InputError: ARM_NETWORK is none of NETWORKS.
    """
    requested = {} if network == "auto" else {NETWORK: network}
    return limit_to_this_computer({**environment, **requested})


def reach(environment: Mapping[str, str]) -> Reach:
    """Return from where nodes are reached that start with these variables, once limited."""
    if is_limited(environment):
        is_cyclone = environment.get("RMW_IMPLEMENTATION") == _CYCLONE_DDS
        return Reach.FORGED_PACKETS if is_cyclone else Reach.THIS_COMPUTER
    discovery_range = environment.get(RANGE)
    if discovery_range == "OFF":
        return Reach.NOWHERE
    if configured_by(environment):
        return Reach.CONFIGURED
    return Reach.UNKNOWN_MIDDLEWARE if discovery_range == "LOCALHOST" else Reach.NETWORK


def report_reach(environment: MutableMapping[str, str]) -> str:
    """Return the sentence about the reach of nodes, "" if a parent process has reported it."""
    sentence = f"The nodes are reached from {reach(environment).value}."
    is_new = environment.get(REPORTED) != sentence
    environment[REPORTED] = sentence
    return sentence if is_new else ""


def configured_by(environment: Mapping[str, str]) -> list[str]:
    """Return the variables by which the user has configured the chosen middleware."""
    names = (name for name in _variables(environment) if environment.get(name))
    return [name for name in names if not _is_ours(name, environment[name])]


def is_limited(environment: Mapping[str, str]) -> bool:
    """Return True if environment variables limit ROS 2 to this computer."""
    return any(_is_ours(name, environment.get(name, "")) for name in _limits())


def _network(environment: Mapping[str, str]) -> str:
    """Return the value of ARM_NETWORK, "auto" if it is not set."""
    network = environment.get(NETWORK) or "auto"
    if network not in NETWORKS:
        raise InputError(
            f"{NETWORK} is {network!r}", remedy=f"set it to one of {', '.join(NETWORKS)}"
        )
    return network


def _variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    return _VARIABLES.get(environment.get("RMW_IMPLEMENTATION", ""), ())


def _limits() -> dict[str, str]:
    files = shipped_files("arm_common", "transports", (".xml",))
    return {
        **dict.fromkeys(_FAST_DDS, str(files["fastdds"])),
        "CYCLONEDDS_URI": f"file://{files['cyclonedds']}",
        "ZENOH_CONFIG_OVERRIDE": _ZENOH,
    }


def _is_ours(name: str, value: str) -> bool:
    """Return True if a value was set here, perhaps with a file of another installation."""
    ours = _limits().get(name, "")
    if name == "ZENOH_CONFIG_OVERRIDE":
        return value == ours
    return bool(ours) and value.endswith("/".join(["", *ours.split("/")[-3:]]))


def _remove_limit(environment: MutableMapping[str, str]) -> None:
    inherited = [name for name in _limits() if _is_ours(name, environment.get(name, ""))]
    for name in inherited:
        del environment[name]
    if set(inherited) & set(_FAST_DDS):
        environment.pop(_FAST_DDS_QOS, None)
    if inherited and environment.get(RANGE) == _CONFIGURED_HERE:
        environment[RANGE] = "LOCALHOST"
