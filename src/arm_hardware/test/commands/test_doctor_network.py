# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The addresses on which processes listen, from the kernel."""

import contextlib
import os
import socket

import pytest
from arm_common.network import NETWORK, RANGE
from arm_hardware.commands.doctor_network import (
    Endpoint,
    check_processes,
    endpoints_of,
)

ADDRESSES = [
    (socket.AF_INET, "127.0.0.1", True),
    (socket.AF_INET, "0.0.0.0", False),
    (socket.AF_INET6, "::1", True),
    (socket.AF_INET6, "::", False),
    (socket.AF_INET6, "::ffff:127.0.0.1", True),
]
HEADER = "sl local_address rem_address st tx_queue:rx_queue tr:tm retrnsmt uid timeout inode\n"


@pytest.mark.parametrize(("family", "address", "is_local"), ADDRESSES)
@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_sockets_of_this_process_are_measured(family, address, is_local, kind):
    before = endpoints_of(os.getpid())
    with contextlib.closing(socket.socket(family, kind)) as opened:
        try:
            opened.bind((address, 0))
        except OSError as error:
            pytest.skip(f"no IPv6 here: {error}")
        if kind == socket.SOCK_STREAM:
            assert endpoints_of(os.getpid()) == before  # it does not listen yet
            opened.listen()
        (found,) = set(endpoints_of(os.getpid())) - set(before)
        assert found.port == opened.getsockname()[1] and found.is_local is is_local
        assert found.protocol == ("tcp" if kind == socket.SOCK_STREAM else "udp")
    assert endpoints_of(os.getpid()) == before


def process(
    proc,
    pid,
    local,
    command="hardware\0--ros-args\0-r\0__node:=arm_hardware\0",
    environment="",
):
    """Add a process with a ROS 2 node and one UDP socket to a simulated /proc."""
    folder = proc / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "fd/3").symlink_to(f"socket:[{pid}77]")
    (folder / "fd/4").symlink_to("/dev/null")
    (folder / "net").mkdir()
    rows = [f"1: {local} 00000000:0000 07 0:0 0:0 0 0 0 {pid}77\n"]
    rows += ["2: 00000000:1CF2 00000000:0000 07 0:0 0:0 0 0 0 99\n"]  # of another process
    (folder / "net/udp").write_text(HEADER + "".join(rows))
    (folder / "maps").write_text("7f00 r-xp /opt/ros/jazzy/lib/librmw_implementation.so\n")
    (folder / "cmdline").write_text(command)
    (folder / "environ").write_text(f"HOME=/home/me\0{environment}")
    return folder


def test_each_ros_process_is_checked(tmp_path):
    process(tmp_path, 11, "0100007F:1CF2")
    process(tmp_path, 12, "0201A8C0:1CF4", "/usr/bin/python3\0/opt/ros/bin/ros2\0topic\0")
    near, far = check_processes(tmp_path)
    assert near.ok and near.what == "arm_hardware, pid 11"
    assert near.detail == "listens on udp 127.0.0.1: this computer only"
    assert far.mark == "note" and far.fix and far.what == "ros2, pid 12"
    assert far.detail == "listens on udp 192.168.1.2: other computers can send to it"


def test_the_hint_depends_on_the_cause(tmp_path):
    cyclone = process(tmp_path, 11, "00000000:1CF2", environment=f"{RANGE}=SUBNET\0")
    with (cyclone / "maps").open("a") as maps:
        maps.write("7f01 r-xp /opt/ros/jazzy/lib/librmw_cyclonedds_cpp.so\n")
    process(tmp_path, 12, "00000000:1CF2", environment=f"{NETWORK}=subnet\0{RANGE}=SUBNET\0")
    process(tmp_path, 13, "00000000:1CF2")
    process(tmp_path, 14, "00000000:1CF2", environment=f"{RANGE}=LOCALHOST\0")
    mine = "FASTRTPS_DEFAULT_PROFILES_FILE"
    process(tmp_path, 15, "00000000:1CF2", environment=f"{mine}=/home/me/mine.xml\0")
    process(tmp_path, 16, "00000000:1CF2", environment=f"{RANGE}=SYSTEM_DEFAULT\0")
    process(tmp_path, 17, "00000000:1CF2", environment=f"{RANGE}=SUBNET\0")
    firewall, unset, *own, configured, system, sourced = (
        check.fix for check in check_processes(tmp_path)
    )
    assert "firewall" in firewall and RANGE not in firewall
    assert f"unset {NETWORK}" in unset and "./arm exec" not in unset
    assert f"unset {RANGE}" in system and "./arm exec" not in system
    own.append(sourced)
    assert mine in configured and "./arm exec" not in configured
    assert all("./arm exec" in fix and "unset" not in fix for fix in own)


def test_other_programs_and_ended_processes_are_left_out(tmp_path):
    (process(tmp_path, 11, "00000000:1CF2") / "maps").write_text("/usr/lib/libc.so\n")
    (process(tmp_path, 12, "00000000:1CF2") / "maps").unlink()
    (process(tmp_path, 13, "00000000:1CF2") / "net/udp").unlink()
    (check,) = check_processes(tmp_path)
    assert check.what == "arm_hardware, pid 13"
    assert check.ok and check.detail == "listens on no address: this computer only"


def test_an_address_is_read_in_the_order_of_the_cpu(tmp_path):
    process(tmp_path, 11, "0100007F:1CF2")
    assert endpoints_of(11, tmp_path) == (Endpoint("udp", "127.0.0.1", 7410),)
