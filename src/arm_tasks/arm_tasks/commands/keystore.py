# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What each node may do, as SROS 2 reads it: security/arm.policy.xml.

The form is that of sros2's schemas/policy.xsd, version 0.2.0; what is not in it is refused.

Make the keys of the arm's nodes: each may do what its policy allows, and nothing else.

The keys and permissions are made by SROS 2 (`ros2 security`), from the policy that is shipped.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ament_index_python.packages import get_package_share_directory

from arm_tasks.errors import TasksError

VERSION = "0.2.0"
# What is in a profile -> what is in that, and what may be said of it.
LISTS = {
    "topics": ("topic", ("publish", "subscribe")),
    "services": ("service", ("reply", "request")),
    "actions": ("action", ("execute", "call")),
}


@dataclass(frozen=True)
class Rights:
    """Full names of what a program may do.

    Attributes:
        publish: Topics.
        subscribe: Topics.
        reply: Services that it offers.
        request: Services that it calls.
        execute: Actions that it offers.
        call: Actions that it calls.
    """

    publish: set[str] = field(default_factory=set)
    subscribe: set[str] = field(default_factory=set)
    reply: set[str] = field(default_factory=set)
    request: set[str] = field(default_factory=set)
    execute: set[str] = field(default_factory=set)
    call: set[str] = field(default_factory=set)

    def of(self, verb: str) -> set[str]:
        """Return the names of one of the attributes."""
        names: set[str] = getattr(self, verb)
        return names


def shipped_policy() -> Path:
    """Return the policy of the processes in the table."""
    return Path(get_package_share_directory("arm_tasks")) / "security" / "arm.policy.xml"


def read_policy(path: Path) -> dict[str, Rights]:
    """Return the rights of each enclave, by its path; those of its profiles together.

    Raises:
        TasksError: The file is not one of SROS 2's policies.
    """
    try:
        root = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        raise TasksError(f"{path}: not to be read: {error}") from None
    _check(path, root, "policy", ("version",))
    if root.get("version") != VERSION:
        raise TasksError(f"{path}: version {root.get('version')} is not {VERSION}")
    found: dict[str, Rights] = {}
    for enclaves in root:
        _check(path, enclaves, "enclaves", ())
        for enclave in enclaves:
            _check(path, enclave, "enclave", ("path",))
            name = enclave.get("path", "")
            if name in found:
                raise TasksError(f"{path}: the enclave {name} is there twice")
            found[name] = _rights(path, enclave)
    return found


def _rights(path: Path, enclave: ET.Element) -> Rights:
    rights = Rights()
    for profiles in enclave:
        _check(path, profiles, "profiles", ())
        for profile in profiles:
            _check(path, profile, "profile", ("ns", "node"))
            for entries in profile:
                _take(path, profile, entries, rights)
    return rights


def _take(path: Path, profile: ET.Element, entries: ET.Element, rights: Rights) -> None:
    """Add what a list of a profile allows."""
    if entries.tag not in LISTS:
        raise TasksError(f"{path}: a profile has no <{entries.tag}>")
    kind, verbs = LISTS[entries.tag]
    if not entries.attrib or not set(entries.attrib) <= set(verbs):
        raise TasksError(f"{path}: <{entries.tag}> says {' or '.join(verbs)}, nothing else")
    for entry in entries:
        _check(path, entry, kind, ())
        for verb, what in entries.attrib.items():
            if what != "ALLOW":  # least rights need no exceptions; what is not allowed is denied
                raise TasksError(f'{path}: {verb} is "{what}"; write "ALLOW" or leave it out')
            rights.of(verb).add(_full_name(entry.text or "", profile))


def _full_name(name: str, profile: ET.Element) -> str:
    """Return a name as the graph has it, as sros2's permissions.xsl expands it."""
    space, node = profile.get("ns", "/").rstrip("/"), profile.get("node", "")
    if name.startswith("/"):
        return name
    if name.startswith("~/"):
        return f"{space}/{node}/{name[2:]}"
    return f"{space}/{name}"


def _check(path: Path, element: ET.Element, tag: str, attributes: tuple[str, ...]) -> None:
    """Refuse an element that is another one, or has not exactly these attributes."""
    if element.tag != tag or set(element.attrib) != set(attributes):
        wanted = "".join(f' {name}="..."' for name in attributes)
        given = "".join(f' {name}="{value}"' for name, value in element.attrib.items())
        raise TasksError(f"{path}: <{element.tag}{given}> where <{tag}{wanted}> is expected")


HOW_TO = """\
Made {count} enclaves in {folder}. In each terminal that starts a node of the arm:
    export ROS_SECURITY_KEYSTORE={folder} ROS_SECURITY_ENABLE=true ROS_SECURITY_STRATEGY=Enforce
The launch files and ./arm give each process its enclave. For the commands of ros2 also:
    export ROS_SECURITY_ENCLAVE_OVERRIDE=/arm/operator
Other computers get the folder `public` and their own enclaves, never `private`."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="keystore", description=__doc__)
    result.add_argument("folder", type=Path, help="where the keys are kept; made if missing")
    result.add_argument("--policy", type=Path, help="a policy of your own; default: the shipped")
    return result


def make(folder: Path, policy: Path) -> str:
    """Make keys and permissions; return what to do with them.

    Args:
        folder: Of the keystore; what is in it already is kept.
        policy: Checked before anything is written.

    Raises:
        TasksError: The policy makes no sense, or SROS 2 is missing or fails.
    """
    enclaves = read_policy(policy)
    ros2 = shutil.which("ros2")
    if ros2 is None:
        raise TasksError(
            "keys are made by SROS 2, which needs a full ROS 2: source one, with"
            " ros-<distro>-sros2 installed"
        )
    command = [ros2, "security", "generate_artifacts", "-k", str(folder), "-p", str(policy)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise TasksError(
            f"ros2 security failed: {''.join(last)} (is ros-<distro>-sros2 installed?)"
        )
    return HOW_TO.format(count=len(enclaves), folder=folder.resolve())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        sys.stdout.write(make(options.folder, options.policy or shipped_policy()) + "\n")
    except TasksError as error:
        sys.stderr.write(f"keystore: {error}\n")
        return 1
    return 0
