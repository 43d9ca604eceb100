# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import dataclasses
import errno
import functools
import grp
import json
import os
import subprocess
import sys
from datetime import date
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
import yaml
from arm_hardware.bus.feetech.sts3215 import MIN_POSITION, OVERLOAD_TORQUE
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.selection import config_folder
from arm_hardware.clock import SteadyClock
from arm_hardware.commands import doctor_checks
from arm_hardware.commands.doctor import Host, main, run_checks
from arm_hardware.commands.doctor_network import Endpoint, Loopback
from arm_simulation.emulation.board import SimulatedBoard, i2c_dev_bus
from arm_simulation.emulation.feetech_bus import SimulatedServoBus

TODAY = date(2026, 6, 1)
RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
OPEN = {"ARM_NETWORK": "subnet"}
GOVERNOR = "devices/system/cpu/cpu0/cpufreq/scaling_governor"


def written(folder, **texts):
    """Write files below a folder; __ in a name is a slash."""
    for name, text in texts.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def pulsing(wanted, counts=((0, 300), (3, 301)), **changes):
    """Return a bus to a board to which another program sends counts."""
    sim = SimulatedBoard(wanted, SteadyClock())
    other = i2c_dev_bus(dataclasses.replace(wanted, **changes), sim)
    other.open()
    other.start()
    other.write_counts(dict(counts))
    return i2c_dev_bus(wanted, sim)


TOO_FAST = functools.partial(pulsing, frequency_hz=60.0)


def elsewhere(wanted):
    board = dataclasses.replace(wanted, address=0x41)
    return i2c_dev_bus(wanted, SimulatedBoard(board, SteadyClock()))


def disturbed(wanted):
    def fail():
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    return SimpleNamespace(open=fail, close=lambda: None)


def gone(wanted):
    raise AssertionError("no board is searched on a missing bus")


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A healthy computer with a board of which channels 0 and 3 send pulses."""
    monkeypatch.setattr(doctor_checks, "has_ros", lambda: True)
    node = tmp_path / "dev/i2c-1"
    written(tmp_path, **{"dev__i2c-1": ""})
    sys = tmp_path / "sys"
    written(sys, class__net__lo__flags="0x9\n", class__net__eth0__flags="0x1003\n")
    written(sys, class__net__wlan0__flags="0x1002\n", class__net__odd__flags="?")
    written(sys, class__thermal__thermal_zone0__temp="48312\n")
    (sys / GOVERNOR).parent.mkdir(parents=True)
    (sys / GOVERNOR).write_text("ondemand\n")

    return Host(
        *(node, sys, OPEN, pulsing, lambda: "throttled=0x0\n"),
        lambda: Loopback(True, (Endpoint("udp", "127.0.0.1", 7410),)),
        TODAY,
        tmp_path / "proc",
    )


@pytest.fixture
def measured(tmp_path, calibration_path):
    """A calibration of a real arm, measured in May."""
    content = yaml.safe_load(calibration_path.read_text())
    content["example"] = False
    for servo in (*content["joints"].values(), content["gripper"]):
        servo["calibrated"] = "2026-05-17"
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def seen(host, real=False, file=None, **changes):
    host = dataclasses.replace(host, **changes)
    return {result.what: result for result in run_checks(host, real, file)}


def test_healthy_machine_has_no_problems(host, measured, capsys):
    assert main(["--real", "--calibration", str(measured)], host) == 0
    out = capsys.readouterr().out
    assert "problem" not in out
    assert "servo board 0x40: answers" in out and "pulses: on channels 0, 3" in out
    assert "the oldest measured 15 days ago" in out and "other computers by eth0" in out
    assert "48 degrees" in out and "ondemand" in out and "supply: good" in out


@pytest.fixture
def servos(tmp_path, clock):
    """Return the path of a calibration of smart servos, and these, simulated."""
    pytest.importorskip("scservo_sdk")
    text = (config_folder() / "nut_arm_feetech.yaml").read_text()
    path = tmp_path / "answering.yaml"
    path.write_text(text.replace("example: true", "example: false"))
    made = SimulatedServoBus(load_calibration(path).board, clock)
    yield path, made
    made.close()


def test_servos_that_answer_need_no_i2c(host, servos, tmp_path):
    path, made = servos
    absent = tmp_path / "dev/i2c-9"
    found = seen(host, True, path, device=absent, connect_servos=lambda bus: made.bus)
    assert found["servo bus /dev/ttyACM0"].detail == "ids 1, 2, 3, 4, 6 answer"
    assert found["servos' supply"].detail == "7.4 to 7.4 V" and found["torque"].ok
    assert str(absent) not in found and "servo board 0x40" not in found
    assert found["feetech-servo-sdk"].ok and "adafruit-blinka" not in found


def test_shipped_calibration_of_a_bus_hides_no_board(host):
    found = seen(host)
    assert "calibration so101_servos.yaml" in found and found["servo board 0x40"].ok


def test_missing_library_of_servos_that_answer_is_a_problem(host, servos, monkeypatch):
    def missing(name):
        raise doctor_checks.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor_checks.metadata, "version", missing)
    result = seen(host, True, servos[0])["feetech-servo-sdk"]
    assert result.mark == "problem" and result.fix.endswith("feetech-servo-sdk")


def test_doctor_reports_what_is_set_in_the_servos(host, servos):
    path, made = servos
    made.servos[6].set(OVERLOAD_TORQUE, 25)
    buses = []

    def connect(bus):
        buses.append(bus)
        made.bus._bus = bus
        return made.bus

    found = seen(host, True, path, connect_servos=connect)
    assert found["servos' settings"].detail == "servo 6: Overload_Torque 25"
    assert buses[0].servos[1].counts == (1024, 3072)
    made.servos[1].set(MIN_POSITION, 1500)
    result = seen(host, True, path, connect_servos=connect)["servo bus /dev/ttyACM0"]
    assert "Min_Position_Limit 1500" in result.detail and "--mend corrects" in result.fix


def test_warm_servo_is_a_note(host, servos):
    path, made = servos
    made.servos[3].temperature = 65.0
    found = seen(host, True, path, connect_servos=lambda bus: made.bus)
    heat = found["servos' temperature"]
    assert heat.mark == "note" and heat.detail == "up to 65 degrees Celsius (servo 3)"


def test_missing_port_of_servos_is_a_problem(host, servos):
    result = seen(host, True, servos[0])["servo bus /dev/ttyACM0"]
    assert result.mark == "problem" and "/dev/ttyACM0 does not exist" in result.detail
    assert result.fix.startswith("plug the adapter in")


def test_results_as_json(host, measured, capsys):
    assert main(["--real", "--calibration", str(measured), "--json"], host) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"what", "ok", "detail", "fix", "needed", "mark"} == set(rows[0])
    assert any(row["what"] == "servo board 0x40" and row["mark"] == "ok" for row in rows)
    assert main(["--json"], dataclasses.replace(host, environment={"ROS_DOMAIN_ID": "x"})) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [row["what"] for row in rows if row["mark"] == "problem"] == ["ROS_DOMAIN_ID"]


def test_checks_write_nothing_to_the_board(host, measured):
    made = []

    def connect(wanted):
        sim = SimulatedBoard(wanted, SteadyClock())
        made.append((sim.chip, bytes(sim.chip.registers)))
        return i2c_dev_bus(wanted, sim)

    assert seen(host, True, measured, connect=connect)["pulses"].detail.startswith("none")
    ((chip, before),) = made
    assert bytes(chip.registers) == before


@pytest.mark.parametrize(
    ("what", "changes", "detail", "fix"),
    [
        ("servo board 0x40", {"connect": elsewhere}, "addresses that answer: 0x41", "power"),
        ("servo board 0x40", {"connect": disturbed}, "Input/output error", "wires"),
        ("servo board 0x40", {"connect": TOO_FAST}, "another frequency", "power off and on"),
        ("ROS_DOMAIN_ID", {"environment": {"ROS_DOMAIN_ID": "233"}}, "233", "0 to 232"),
        ("ROS_DOMAIN_ID", {"environment": {"ROS_DOMAIN_ID": "-1"}}, "-1", "0 to 232"),
        ("two nodes here", {"loopback": lambda: Loopback(False, ())}, "no message", "firewall"),
        ("discovery", {"environment": {RANGE: "OFF"}}, "no other nodes", "unset"),
        ("discovery", {"environment": {RANGE: "LAN"}}, "LAN", "SUBNET"),
        ("discovery", {"environment": {"ARM_NETWORK": "lan"}}, "'lan'", "subnet"),
        ("computer's supply", {"throttled": lambda: "throttled=0x50005"}, "voltage now", "5 A"),
    ],
)  # fmt: skip
def test_each_problem_is_reported_with_its_fix(host, measured, what, changes, detail, fix):
    result = seen(host, True, measured, **changes)[what]
    assert result.mark == "problem"
    assert detail in result.detail and fix in result.fix


@pytest.mark.parametrize(
    ("bits", "detail"), [("10000", "under-voltage since"), ("4", "throttled now")]
)
def test_problem_that_is_not_needed_is_a_note(host, bits, detail):
    result = seen(host, throttled=lambda: f"throttled=0x{bits}")["computer's supply"]
    assert result.mark == "note" and detail in result.detail and result.fix


def test_kernel_files_are_read(host):
    written(host.sys, class__hwmon__hwmon0__name="cpu_thermal\n")
    written(host.sys, class__hwmon__hwmon1__name="rpi_volt\n")
    written(host.sys, class__hwmon__hwmon1__in0_lcrit_alarm="1\n")
    (host.sys / GOVERNOR).write_text("powersave\n")
    written(host.sys, class__thermal__thermal_zone0__temp="85000\n")
    results = seen(host, throttled=lambda: "")
    for what in ("computer's supply", "CPU governor", "CPU temperature"):
        assert results[what].mark == "note" and results[what].fix


def test_unreadable_values_are_left_out(host, tmp_path):
    results = seen(host, sys=tmp_path / "none", throttled=lambda: "error")
    assert not {"computer's supply", "CPU governor", "CPU temperature"} & set(results)
    assert results["discovery"].mark == "note"


def test_discovery_names_the_reachable_computers(host):
    def detail(**environment):
        return seen(host, environment=environment)["discovery"].detail

    peers = {"ROS_STATIC_PEERS": "10.0.0.2"}
    assert detail(**OPEN, **peers) == "other computers by eth0, static peers 10.0.0.2"
    server = {"ROS_DISCOVERY_SERVER": "10.0.0.2:11811"}
    assert "by the server at 10.0.0.2:11811" in detail(**OPEN, **server)
    assert detail(**{RANGE: "SYSTEM_DEFAULT"}) == "other computers by eth0"
    sourced = detail(**{RANGE: "SUBNET"})  # by ROS 2 itself, when it is sourced
    assert sourced.startswith("this computer only") and f"{RANGE}=SUBNET" in sourced
    assert detail() == detail(ROS_LOCALHOST_ONLY="1") == "this computer only"
    assert "as your ZENOH_CONFIG_OVERRIDE configures it" in detail(
        RMW_IMPLEMENTATION="rmw_zenoh_cpp", ZENOH_CONFIG_OVERRIDE="mode='client'"
    )
    assert "as far as rmw_mine limits it" in detail(RMW_IMPLEMENTATION="rmw_mine")
    unused = seen(host, environment={RANGE: "LOCALHOST", **peers})["discovery"]
    assert unused.mark == "note" and "ROS_STATIC_PEERS without effect" in unused.detail
    assert "ARM_NETWORK=subnet" in unused.fix


def test_enabled_security_needs_a_keystore(host, tmp_path):
    def keys(**environment):
        return seen(host, environment=environment)["keys (SROS 2)"]

    assert "every user of this computer" in keys().detail
    assert "every user of this computer" in keys(**{RANGE: "SUBNET"}).detail
    assert "anyone on the network" in keys(**OPEN).detail
    asked = {"ROS_SECURITY_ENABLE": "true"}
    assert keys(**asked).mark == "problem" and "keystore FOLDER" in keys(**asked).fix
    asked["ROS_SECURITY_KEYSTORE"] = str(tmp_path / "keys")
    assert keys(**asked).mark == "problem"
    (tmp_path / "keys/enclaves").mkdir(parents=True)
    assert keys(**asked).mark == "note" and "Enforce" in keys(**asked).fix
    assert keys(**asked, ROS_SECURITY_STRATEGY="Enforce").mark == "ok"


@pytest.mark.parametrize("real", [True, False])
def test_missing_device_is_a_problem_only_for_real_servos(host, tmp_path, real):
    node = tmp_path / "dev/i2c-7"
    results = seen(host, real, None, device=node, connect=gone)
    assert results[str(node)].mark == ("problem" if real else "note")
    assert "i2c-1" in results[str(node)].detail and "raspi-config" in results[str(node)].fix


def test_inaccessible_device_names_its_group(host, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    result = seen(host, True, connect=gone)[str(host.device)]
    group = grp.getgrgid(host.device.stat().st_gid).gr_name
    assert f"group {group}, no permission" in result.detail and "usermod" in result.fix


@pytest.mark.parametrize(
    ("change", "mark", "detail"),
    [
        (lambda c: c.update(example=True), "problem", "an example"),
        (lambda c: c["gripper"].pop("calibrated"), "note", "day of calibration: gripper"),
        (lambda c: c["gripper"].update(calibrated="2025-01-02"), "note", "515 days ago"),
        (lambda c: c["gripper"].update(calibrated="2027-01-02"), "problem", "in the future"),
        (lambda c: c.pop("board"), "problem", "needs either board or bus"),
    ],
)
def test_calibration_of_a_real_arm_is_checked(host, measured, change, mark, detail):
    content = yaml.safe_load(measured.read_text())
    change(content)
    measured.write_text(yaml.safe_dump(content))
    result = seen(host, True, measured)["calibration mine.yaml"]
    assert result.mark == mark and detail in result.detail and result.fix


def test_real_servos_need_a_calibration_of_their_own(host, calibration_path, capsys):
    assert main(["--real"], host) == 1
    assert "give --calibration FILE" in capsys.readouterr().out
    assert main(["--real", "--calibration", str(calibration_path)], host) == 1
    assert "an example, for sim only" in capsys.readouterr().out


def test_every_problem_of_a_broken_computer_has_a_fix(host, tmp_path):
    broken = {
        "connect": disturbed,
        "throttled": lambda: "throttled=0x50005\n",
        "loopback": lambda: Loopback(False, ()),
    }
    no_bus = {**broken, "device": tmp_path / "dev/i2c-9"}
    for changes in (broken, no_bus):
        results = seen(host, True, **changes)
        problems = [result for result in results.values() if not result.ok]
        assert len(problems) >= 4
        assert all(problem.fix for problem in problems), problems


@pytest.mark.skipif(find_spec("rclpy") is None, reason="needs ROS 2")
@pytest.mark.parametrize(("ways", "loopback"), [("LOCALHOST", True), ("OFF", False)])
def test_two_nodes_reach_each_other_unless_discovery_is_off(monkeypatch, ways, loopback):
    monkeypatch.setenv("ROS_DOMAIN_ID", "49")
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", ways)
    from arm_hardware.ros.loopback import loopback_works

    assert loopback_works(60.0 if loopback else 1.0) is loopback


def test_closed_pipe_is_not_an_error():
    program = "import sys; from arm_hardware.commands.doctor import main; sys.exit(main([]))"
    first = subprocess.run(
        f"{sys.executable} -c '{program}' | head -n 1", shell=True, capture_output=True, text=True
    )
    assert first.stdout and not first.stderr


def test_middleware_that_is_not_installed_is_named_and_no_node_is_started(host, tmp_path):
    index = tmp_path / "share/ament_index/resource_index/rmw_typesupport"
    written(index, rmw_fastrtps_cpp="")
    environment = {"RMW_IMPLEMENTATION": "rmw_nosuch", "AMENT_PREFIX_PATH": str(tmp_path)}
    results = seen(host, environment=environment, loopback=None)
    assert "middleware" not in results
    results = seen(host, environment=environment, loopback=lambda: 1 / 0)
    assert not results["middleware"].ok and "rmw_fastrtps_cpp" in results["middleware"].fix
    assert "temperature" in " ".join(results), "the report goes on"
    environment["RMW_IMPLEMENTATION"] = "rmw_fastrtps_cpp"
    assert "middleware" not in seen(host, environment=environment)
