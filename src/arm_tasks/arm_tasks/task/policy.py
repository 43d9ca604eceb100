# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_policy.py
"""The security policy, and the topics and services by which a task may not command an arm.

The policy, security/arm.policy.xml, follows sros2's schemas/policy.xsd, version 0.2.0. It names
all that the servo driver receives, so it also says what commands an arm.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from arm_common.files.access import shipped_files

from arm_tasks.errors import PlanError, TasksError

_VERSION = "0.2.0"
# List element of a profile -> tag of its entries and allowed attributes of the list.
_LISTS = {
    "topics": ("topic", ("publish", "subscribe")),
    "services": ("service", ("reply", "request")),
    "actions": ("action", ("execute", "call")),
}


Rights = Mapping[str, set[str]]  # full names of topics, services and actions by verb


def shipped_policy() -> Path:
    """Return the path of the shipped policy."""
    return shipped_files("arm_tasks", "security", (".xml",))["arm.policy"]


def read_policy(path: Path) -> dict[str, Rights]:
    """Return the rights of each enclave by its path, with its profiles merged."""
    try:
        root = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        raise TasksError(f"{path}: cannot be read: {error}") from None
    _check(path, root, "policy", ("version",))
    if root.get("version") != _VERSION:
        raise TasksError(f"{path}: version {root.get('version')} is not {_VERSION}")
    rights: dict[str, Rights] = {}
    for enclaves in root:
        _check(path, enclaves, "enclaves", ())
        for enclave in enclaves:
            _check(path, enclave, "enclave", ("path",))
            name = enclave.get("path", "")
            if name in rights:
                raise TasksError(f"{path}: the enclave {name} is defined twice")
            rights[name] = _rights(path, enclave)
    return rights


def _rights(path: Path, enclave: ET.Element) -> Rights:
    rights: dict[str, set[str]] = defaultdict(set)
    for profiles in enclave:
        _check(path, profiles, "profiles", ())
        for profile in profiles:
            _check(path, profile, "profile", ("ns", "node"))
            for entries in profile:
                names = {_full_name(text, profile) for text in _entries(path, entries)}
                for verb in entries.attrib:
                    rights[verb] |= names
    return rights


def _entries(path: Path, entries: ET.Element) -> list[str]:
    """Check a list of a profile and return its names."""
    if entries.tag not in _LISTS:
        raise TasksError(f"{path}: a profile has no <{entries.tag}>")
    kind, verbs = _LISTS[entries.tag]
    if not entries.attrib or not set(entries.attrib) <= set(verbs):
        raise TasksError(f"{path}: <{entries.tag}> has attributes {' or '.join(verbs)} only")
    for entry in entries:
        _check(path, entry, kind, ())
        for verb, value in entries.attrib.items():
            if value != "ALLOW":  # everything else is denied anyway
                raise TasksError(f'{path}: {verb} is "{value}"; write "ALLOW" or leave it out')
    return [entry.text or "" for entry in entries]


def _full_name(name: str, profile: ET.Element) -> str:
    """Return the full name of an entry, expanded as in permissions.xsl of sros2."""
    space, node = profile.get("ns", "/").rstrip("/"), profile.get("node", "")
    if name.startswith("/"):
        return name
    if name.startswith("~/"):
        return f"{space}/{node}/{name[2:]}"
    return f"{space}/{name}"


def _check(path: Path, element: ET.Element, tag: str, attributes: tuple[str, ...]) -> None:
    if element.tag != tag or set(element.attrib) != set(attributes):
        expected = "".join(f' {name}="..."' for name in attributes)
        actual = "".join(f' {name}="{value}"' for name, value in element.attrib.items())
        raise TasksError(f"{path}: <{element.tag}{actual}> where <{tag}{expected}> is expected")


_DRIVER = "/arm/arm_hardware"
_QUERY = re.compile(r".*/(describe|get|list|query)_\w+")
_STOPS = {"/arm_hardware/emergency_stop", "/arm_hardware/stop"}
# A message that brakes has nothing in this field.
_BRAKES_WITHOUT = {
    "/arm_controller/joint_trajectory": "points",
    "/arm_controller/speed_scaling_input": "factor",
}
# They reach the driver through another node, which moves the arm or lets it move again.
_THROUGH_OTHER_NODES = {
    "/joy",
    "/leader/joint_states",
    "/task_server/resume",
    "/task_server/step",
    "/teach/replay",
    "/tool_handle/feedback",
}


@cache
def arm_commands() -> frozenset[str]:
    """Return the topics and services that command an arm in the namespace "/".

    They are what the driver receives by the shipped policy, except queries and stops, and the
    goals of all actions.
    """
    policy = read_policy(shipped_policy())
    driver = policy[_DRIVER]
    received = {
        name for name in driver["subscribe"] | driver["reply"] if not _QUERY.fullmatch(name)
    }
    actions = {action for rights in policy.values() for action in rights["execute"]}
    goals = {f"{action}/_action/send_goal" for action in actions}
    return frozenset((received | goals | _THROUGH_OTHER_NODES) - _STOPS)


def refuse_arm_command(name: str, content: Mapping[str, Any], received_as: str = "") -> None:
    """Refuse a topic or service that commands an arm in any namespace, unless it brakes the arm.

    Args:
        name: Its full name, or one relative to an unknown namespace.
        content: Fields of the message or request.
        received_as: "topic" or "service" if a driver receives it, whatever its name, else "".

    Raises:
        PlanError: It commands an arm.
    """
    full = f"/{name.lstrip('/')}"
    command = next((c for c in arm_commands() if full.endswith(c)), "")
    is_harmless = _QUERY.fullmatch(full) or any(map(full.endswith, _STOPS))
    if not command and (is_harmless or not received_as):
        return
    fields = [field for c, field in _BRAKES_WITHOUT.items() if c == (command or c)]
    is_renamed_service = not command and received_as == "service"
    if is_renamed_service or not fields or any(content.get(field) for field in fields):
        raise PlanError(
            f"{name} commands an arm; a task moves it by its other steps, which are planned and"
            " checked"
        )
