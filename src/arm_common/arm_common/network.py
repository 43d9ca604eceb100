# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Limits ROS 2 to this computer unless the user opens it to a network.

ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST alone does not: it limits whom a node searches for, but its
sockets listen on every address, and it answers any computer that names this one in
ROS_STATIC_PEERS. Here, the sockets themselves are bound to 127.0.0.1.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import TypeVar

from arm_common.files import shipped_files

RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
_LOCALHOST_ONLY = "ROS_LOCALHOST_ONLY"  # its predecessor, which overrides it
# The middleware adds transports of its own for LOCALHOST; with this value it adds none.
_CONFIGURED_HERE = "SYSTEM_DEFAULT"
_FAST_DDS_2, _FAST_DDS_3 = "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"
_FAST_DDS = (_FAST_DDS_2, _FAST_DDS_3)
_LAST_WITH_FAST_DDS_2 = "jazzy"  # the next releases warn about the older name
# Variables by which each middleware is configured.
_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "": _FAST_DDS,  # the default of ROS 2
    "rmw_fastrtps_cpp": _FAST_DDS,
    "rmw_fastrtps_dynamic_cpp": _FAST_DDS,
    "rmw_cyclonedds_cpp": ("CYCLONEDDS_URI",),
    "rmw_zenoh_cpp": ("ZENOH_CONFIG_OVERRIDE", "ZENOH_SESSION_CONFIG_URI"),
}
_ZENOH = (
    'listen/endpoints=["tcp/127.0.0.1:0"];connect/endpoints=["tcp/127.0.0.1:7447"]'
    ";scouting/multicast/enabled=false"
)

# Values of the argument `network`. auto leaves the decision to ROS_AUTOMATIC_DISCOVERY_RANGE.
NETWORKS: Mapping[str, str] = {"auto": "", "this_computer": "LOCALHOST", "subnet": "SUBNET"}

_Environment = TypeVar("_Environment", bound=MutableMapping[str, str])


def limit_to_this_computer(environment: _Environment) -> _Environment:
    """Change and return environment variables so that ROS 2 listens on 127.0.0.1 only.

    Nothing is limited if ROS_AUTOMATIC_DISCOVERY_RANGE has another value than LOCALHOST, or if the
    user has configured the middleware. An unknown middleware gets the range LOCALHOST alone. A
    limit inherited from a parent process is replaced or, with SUBNET, removed.
    """
    _remove_limit(environment)
    if environment.get(_LOCALHOST_ONLY) == "1":
        environment.update({_LOCALHOST_ONLY: "0", RANGE: "LOCALHOST"})
    if (environment.get(RANGE) or "LOCALHOST") != "LOCALHOST":
        return environment
    if configured_by(environment):
        return environment
    variables = _variables(environment)
    if (release := environment.get("ROS_DISTRO", "")) and variables == _FAST_DDS:
        variables = (_FAST_DDS_2 if release <= _LAST_WITH_FAST_DDS_2 else _FAST_DDS_3,)
    limits = {name: value for name, value in _limits().items() if name in variables}
    environment.update(limits, **{RANGE: _CONFIGURED_HERE if limits else "LOCALHOST"})
    return environment


def node_environment(environment: Mapping[str, str], network: str) -> dict[str, str]:
    """Return the environment variables for nodes that are reached as one of NETWORKS says."""
    changed = dict(environment)
    if chosen := NETWORKS[network]:
        changed.pop(_LOCALHOST_ONLY, None)
        changed[RANGE] = chosen
    return limit_to_this_computer(changed)


def configured_by(environment: Mapping[str, str]) -> list[str]:
    """Return the variables by which the user has configured the chosen middleware."""
    names = (name for name in _variables(environment) if environment.get(name))
    return [name for name in names if not _is_ours(name, environment[name])]


def is_limited(environment: Mapping[str, str]) -> bool:
    """Return whether environment variables have such a limit."""
    return any(_is_ours(name, environment.get(name, "")) for name in _limits())


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
    """Return whether a value was set here, perhaps with a file of another installation."""
    ours = _limits().get(name, "")
    if name == "ZENOH_CONFIG_OVERRIDE":
        return value == ours
    return bool(ours) and value.endswith("/".join(["", *ours.split("/")[-3:]]))


def _remove_limit(environment: MutableMapping[str, str]) -> None:
    inherited = [name for name in _limits() if _is_ours(name, environment.get(name, ""))]
    for name in inherited:
        del environment[name]
    if inherited and environment.get(RANGE) == _CONFIGURED_HERE:
        environment[RANGE] = "LOCALHOST"
