# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`keystore`: generate the security keys and permissions of the arm's nodes with SROS 2.

The permissions come from the shipped policy, security/arm.policy.xml, which follows sros2's
schemas/policy.xsd, version 0.2.0.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from arm_common.cli import run
from arm_common.files import shipped_files
from arm_common.ros.node_runner import add_namespace, checked_namespace

from arm_tasks.errors import TasksError

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
    found: dict[str, Rights] = {}
    for enclaves in root:
        _check(path, enclaves, "enclaves", ())
        for enclave in enclaves:
            _check(path, enclave, "enclave", ("path",))
            name = enclave.get("path", "")
            if name in found:
                raise TasksError(f"{path}: the enclave {name} is defined twice")
            found[name] = _rights(path, enclave)
    return found


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
        given = "".join(f' {name}="{value}"' for name, value in element.attrib.items())
        raise TasksError(f"{path}: <{element.tag}{given}> where <{tag}{expected}> is expected")


_INSTRUCTIONS = """\
Created {count} enclaves in {folder}. In each terminal that starts a node of the arm:
    export ROS_SECURITY_KEYSTORE={folder} ROS_SECURITY_ENABLE=true ROS_SECURITY_STRATEGY=Enforce
The launch files and ./arm give each process its enclave. For ros2 commands, also:
    export ROS_SECURITY_ENCLAVE_OVERRIDE=/arm/operator
Copy the folder `public` and their own enclaves to other computers, never `private`."""


def _parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        prog="keystore", description="Generate the security keys of the arm's nodes."
    )
    result.add_argument("folder", type=Path, help="folder of the keys; created if missing")
    result.add_argument(
        "--policy", type=Path, help="a policy of your own; default: the shipped one"
    )
    add_namespace(result)
    return result


def move_to_namespace(policy: Path, namespace: str, output: Path) -> None:
    """Write a policy whose profiles are those of nodes in an absolute namespace."""
    tree = ET.parse(policy)
    for profile in tree.iter("profile"):
        profile.set("ns", namespace)
    tree.write(output)


def make(folder: Path, policy: Path, namespace: str = "") -> str:
    """Generate keys and permissions; return instructions for their use.

    Existing files are kept. The policy is checked before anything is written.

    Args:
        folder: Folder of the keys.
        policy: The policy.
        namespace: Absolute namespace of the nodes; "" for that of the policy.
    """
    enclaves = read_policy(policy)
    with tempfile.TemporaryDirectory() as temporary:
        if namespace:
            moved = Path(temporary) / policy.name
            move_to_namespace(policy, namespace, moved)
            policy = moved
        _generate(folder, policy)
    return _INSTRUCTIONS.format(count=len(enclaves), folder=folder.resolve())


def _generate(folder: Path, policy: Path) -> None:
    ros2 = shutil.which("ros2")
    if ros2 is None:
        raise TasksError(
            "keys are generated by SROS 2, which needs a full ROS 2: install ros-<distro>-sros2"
            " and source ROS 2"
        )
    command = [ros2, "security", "generate_artifacts", "-k", str(folder), "-p", str(policy)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise TasksError(
            f"ros2 security failed: {''.join(last)} (is ros-<distro>-sros2 installed?)"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return the exit code."""

    def action(options: argparse.Namespace) -> None:
        namespace = checked_namespace(options.namespace)
        policy = options.policy or shipped_policy()
        sys.stdout.write(make(options.folder, policy, namespace) + "\n")

    return run(_parser(), action, arguments)
