# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table of backends, and a backend of another package, for servos of another protocol."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from arm_hardware.backends import BACKENDS, Backend, backend_for, backend_names, load_backend
from arm_hardware.bus.fake import FakeBus
from arm_hardware.bus.interface import SerialBus, ServoBoard
from arm_hardware.calibration.file import load_calibration
from arm_hardware.commands import calibrate, doctor, lerobot, release, servos, verify
from arm_hardware.driver import Driver
from arm_hardware.errors import CalibrationError, HardwareError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import single_point_goal
from arm_hardware.motion.options import DriverOptions
from arm_testing.hardware.bus_contract import LAWS
from arm_testing.programs import terminal as pp

DUMMY = '''
"""Dummy servos: their bus is a file at the port, which keeps the target of each by its id."""
import json, pathlib
from arm_hardware.backends import Backend
from arm_hardware.bus.interface import BusPhrases

class DummyBus:
    def __init__(self, wiring, lock):
        self.name, self.rewrites = f"The dummy bus at {wiring.port}", 0
        self.together, self.measures, self.phrases = True, False, BusPhrases("a dummy servo")
        self._port, self._lock = pathlib.Path(wiring.port), lock
    def open(self):
        if self._lock:
            self._lock.acquire()
    def start(self): pass
    def running(self): return True
    def scan(self): return sorted(self._targets())
    def read_counts(self, channels):
        return {channel: self._targets().get(channel) for channel in channels}
    def write_counts(self, counts): self._store({**self._targets(), **counts})
    def release(self, channels):
        gone = set(channels)
        self._store({c: n for c, n in self._targets().items() if c not in gone})
    def measure(self, channels): return {}
    def label(self, channel): return f"Dummy servo {channel}"
    def close(self):
        if self._lock:
            self._lock.release()
    def _targets(self): return {int(c): n for c, n in json.loads(self._port.read_text()).items()}
    def _store(self, targets): self._port.write_text(json.dumps(targets))

class EmulatedDummies:
    def __init__(self, wiring, clock, registers): self.bus = DummyBus(wiring, None)
    def rehearsal(self, axes, maps): return None
    def close(self): pass

DUMMY = Backend(
    protocol="dummy",
    text="servos that exist in a test alone",
    connect="dummy_servos:DummyBus",
    emulate="dummy_servos:EmulatedDummies",
    packages=("dummy-servo-sdk",),
)
MUTE = Backend("mute", "servos that nothing emulates", connect="dummy_servos:DummyBus")
'''
POINTS = "points_deg_counts: [[-90, 1024], [90, 3072]], count_limits: [1024, 3072]"
CALIBRATION = f"""
example: false
robot: nut_arm
bus: {{port: PORT, protocol: dummy, baud_rate: 2000000}}
joints:
  waist: {{id: 1, {POINTS}}}
  shoulder: {{id: 2, {POINTS}}}
  elbow: {{id: 3, {POINTS}}}
  wrist_roll: {{id: 4, {POINTS}}}
gripper: {{id: 5, points_mm_counts: [[0, 1024], [30, 3072]], count_limits: [1024, 3072]}}
"""


@pytest.fixture
def port(tmp_path):
    """Return the serial port of five dummy servos without torque."""
    made = tmp_path / "ttyDUMMY0"
    made.write_text("{}")
    return made


@pytest.fixture
def path(port, tmp_path):
    """Return the path of their calibration."""
    made = tmp_path / "dummies.yaml"
    made.write_text(CALIBRATION.replace("PORT", str(port)))
    return made


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """Install the package of the dummy servos; those of Feetech and Adafruit cannot be used."""
    folder = tmp_path / "site"
    info = folder / "dummy_servos-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "dummy_servos.py").write_text(DUMMY)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dummy-servos\nVersion: 1.0\n")
    lines = ["[arm_hardware.backends]", "dummy = dummy_servos:DUMMY", "mute = dummy_servos:MUTE"]
    (info / "entry_points.txt").write_text("\n".join([*lines, "wrong = json:dumps", ""]))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "dummy_servos", raising=False)
    for module in ("scservo_sdk", "adafruit_servokit", "arm_simulation"):
        monkeypatch.setitem(sys.modules, module, None)
    BACKENDS.__dict__.pop("_installed", None)
    yield folder
    BACKENDS.__dict__.pop("_installed", None)


def targets(port):
    return {int(number): count for number, count in json.loads(port.read_text()).items()}


def refused(capsys, code):
    """Return the one sentence of a command that failed."""
    error = capsys.readouterr().err
    assert code == 1 and error.count("\n") == 1 and "Traceback" not in error, error
    return error


# -- The table ------------------------------------------------------------------------------------


def test_every_backend_is_a_row_of_one_table():
    assert backend_names()[:4] == ("auto", "servokit", "i2c_dev", "feetech")
    assert {"dummy", "mute", "wrong"} <= set(backend_names()[4:])
    assert len(set(backend_names())) == len(backend_names())
    rows = {name: load_backend(name) for name in BACKENDS.shipped}
    assert {name: row.protocol for name, row in rows.items()} == {
        "servokit": "pca9685",
        "i2c_dev": "pca9685",
        "feetech": "feetech",
    }
    assert all(row.text and row.modules and row.packages for row in rows.values())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dumy", "There is no backend 'dumy'; did you mean 'dummy'?"),
        ("wrong", "The entry point wrong of arm_hardware.backends is no Backend."),
    ],
)
def test_mistaken_name_is_one_sentence(name, text):
    with pytest.raises(HardwareError) as caught:
        load_backend(name)
    assert str(caught.value).startswith(text)


def test_broken_package_of_others_does_not_stop_a_shipped_backend(installed, monkeypatch):
    monkeypatch.setitem(sys.modules, "adafruit_servokit", sys)
    (installed / "dummy_servos.py").write_text("1 / 0\n")
    assert backend_for("auto", ServoBoard(), Path("x.yaml")).protocol == "pca9685"


def test_protocol_that_no_backend_speaks_names_the_key_and_those_that_do(path):
    bus = SerialBus("/dev/ttyACM0", protocol="dumy")
    with pytest.raises(CalibrationError, match=r"x\.yaml: bus\.protocol: no backend speaks"):
        backend_for("auto", bus, Path("x.yaml"))
    with pytest.raises(HardwareError, match=r"protocol dummy \(bus\).* feetech cannot"):
        backend_for("feetech", load_calibration(path).board, path)


@pytest.mark.parametrize("law", LAWS)
def test_fake_bus_keeps_the_contract(law):
    law(FakeBus(), range(16))


# -- A backend of another package -----------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_bus_of_another_package_keeps_the_contract(law, path):
    calibration = load_calibration(path)
    bus = backend_for("auto", calibration.board, path).bus(calibration.board)
    bus.open()
    law(bus, range(1, 6))
    bus.close()


def test_calibration_of_another_protocol_is_read(path):
    board = load_calibration(path).board
    assert (board.protocol, board.baud_rate, sorted(board.servos)) == (
        "dummy",
        2_000_000,
        [*range(1, 6)],
    )
    feetech = path.with_name("feetech.yaml")
    feetech.write_text(path.read_text().replace("protocol: dummy, ", ""))
    with pytest.raises(CalibrationError, match=r"bus\.baud_rate: must be one of 38400, "):
        load_calibration(feetech)


@pytest.fixture(params=["real", "sim"])
def driver(request, model, path):
    """Return a driver of dummy servos; arm_simulation emulates none of them."""
    options = DriverOptions(
        hardware=request.param,
        calibration=str(path),
        recovery="direct",
        realtime_priority=0,
        exit_action="release",
    )
    made = Driver(model, options)
    made.open()
    yield made
    made.close()


def test_driver_opens_arms_moves_and_releases(driver, port):
    assert not targets(port)
    driver.arm()
    assert targets(port) == dict(
        zip(range(1, 6), (2048, 2048, 2048, 2048, targets(port)[5]), strict=True)
    )
    goal = driver.controller.follow(single_point_goal(driver.axes, 0.5, (0.1, 0.0, 0.0, 0.0)))
    assert goal.wait(10.0) and goal.outcome is GoalOutcome.SUCCEEDED, goal.message
    assert targets(port)[1] == 2048 + round(0.1 / (2.0 * 3.14159265 / 4096))
    driver.close()
    assert not targets(port)


LOADED = """
import sys
from arm_description import load_robot
from arm_hardware.driver import Driver
from arm_hardware.motion.options import DriverOptions
Driver(load_robot("nut_arm"), DriverOptions(hardware="real", calibration=sys.argv[1])).open()
print(*sorted(sys.modules))
"""


def test_driver_loads_its_own_backend_alone(installed, path):
    search = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", LOADED, str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": search}
    )
    loaded = done.stdout.split()
    assert "dummy_servos" in loaded, done.stderr
    others = ("arm_simulation", "arm_hardware.bus.feetech", "arm_hardware.bus.servokit")
    assert not [name for name in loaded if name.startswith(others)]


def test_second_driver_of_the_port_is_refused(model, path):
    options = DriverOptions(hardware="real", calibration=str(path), realtime_priority=0)
    first, second = Driver(model, options), Driver(model, options)
    first.open()
    with pytest.raises(HardwareError, match=f"is in use by process {os.getpid()}"):
        second.open()
    first.close("hold")


def test_release_switches_the_servos_off_by_their_own_protocol(path, port, capsys):
    port.write_text(json.dumps({1: 2000, 5: 2100, 9: 1}))
    assert release.main(["--calibration", str(path)]) == 0
    assert targets(port) == {9: 1}  # which is not in the calibration
    assert capsys.readouterr().out == f"Released all servos at {port}.\n"


def test_release_of_an_unknown_protocol_sends_nothing(path, port, capsys):
    port.write_text(json.dumps({1: 2000}))
    path.write_text(path.read_text().replace("protocol: dummy", "protocol: unheard_of"))
    assert "no backend speaks the protocol 'unheard_of'" in refused(
        capsys, release.main(["--calibration", str(path)])
    )
    assert targets(port) == {1: 2000}


def test_servos_are_listed_and_not_changed(port, capsys):
    port.write_text(json.dumps({2: 2000, 7: 2100}))
    chosen = ["--port", str(port), "--protocol", "dummy", "--baud-rate", "2000000"]
    assert servos.main(chosen) == 0
    assert capsys.readouterr().out == "id 2\nid 7\n"
    for change in (["--set-id", "2", "3"], ["--centre", "2"]):
        error = refused(capsys, servos.main([*chosen, *change]))
        assert "Servos of the protocol dummy can only be listed here" in error
    assert targets(port) == {2: 2000, 7: 2100}


def test_doctor_looks_for_their_package_and_their_bus(path, port, tmp_path, capsys):
    port.write_text(json.dumps({2: 2000}))
    host = doctor.Host(
        *(tmp_path / "i2c-1", tmp_path, {}),
        throttled=lambda: "",
        loopback=None,
        today=date(2026, 6, 1),
        proc=tmp_path,
    )
    assert doctor.main(["--real", "--calibration", str(path)], host) == 1
    said = capsys.readouterr().out
    assert "problem  dummy-servo-sdk: not installed\n         -> " in said
    assert f"ok       servo bus {port}: ids 1, 2, 3, 4, 5 answer\n" in said
    assert "ok       torque: servos 2\n" in said and targets(port) == {2: 2000}
    assert not any(word in said for word in ("feetech", "adafruit", "i2c-1", "settings"))


def test_doctor_says_that_no_backend_speaks_a_protocol(path, tmp_path, capsys):
    path.write_text(path.read_text().replace("protocol: dummy", "protocol: unheard_of"))
    host = doctor.Host(tmp_path, tmp_path, {}, loopback=None, proc=tmp_path)
    assert doctor.main(["--real", "--calibration", str(path)], host) == 1
    assert "problem  protocol unheard_of: no backend speaks it\n" in capsys.readouterr().out


def test_new_calibration_names_the_protocol(installed, port, tmp_path):
    search = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    with pp.PtyProgram(
        *(sys.executable, "-m", "arm_hardware.commands.calibrate", "mine.yaml", "--robot"),
        *("nut_arm", "--backend", "dummy", "--port", str(port)),
        folder=tmp_path,
        environment=os.environ | {"PYTHONPATH": search},
    ) as wizard:
        wizard.wait_for("waist (id 1)")
        wizard.ask("py", "waist (id 1)")
        wizard.ask("m", "in deg")
        wizard.ask("1.5\n", "1.5 deg: 2048")
        wizard.ask("w", "Write this to mine.yaml?")
        wizard.ask("y", "Written.")
        wizard.type("q")
        assert wizard.end() == 0, wizard.said
    written = load_calibration(tmp_path / "mine.yaml")
    assert written.board.protocol == "dummy" and written.board.port == str(port)
    assert targets(port) == {1: 2048}


def test_calibrate_refuses_a_backend_of_another_protocol(path, port, capsys):
    code = calibrate.main([str(path), "--backend", "servokit", "--robot", "nut_arm"])
    assert "is for smart servos of the protocol dummy (bus)" in refused(capsys, code)
    assert not targets(port)


def test_what_only_feetech_servos_have_is_refused(path, port, tmp_path, capsys):
    out = ["-o", str(tmp_path / "out.json")]
    assert "is for servos of the protocol dummy, not for Feetech's" in refused(
        capsys, lerobot.main(["export", str(path), *out])
    )
    assert "--mend knows nothing of the memory of servos of the protocol dummy" in refused(
        capsys, verify.main([str(path), "--mend"])
    )
    assert not targets(port)


# -- Emulators ------------------------------------------------------------------------------------


def test_emulated_hardware_without_its_package_is_one_sentence(model):
    with pytest.raises(HardwareError) as caught:
        Driver(model, DriverOptions(hardware="sim", backend="i2c_dev"))
    assert str(caught.value).startswith(
        "Emulated servos are in the package arm_simulation, which is not installed: build it ("
    )
    assert str(caught.value).endswith("), or use hardware:=fake.")


def test_backend_without_an_emulator_is_one_sentence(model, path):
    path.write_text(path.read_text().replace("protocol: dummy", "protocol: mute"))
    with pytest.raises(HardwareError, match="Nothing emulates servos of the protocol mute; use"):
        Driver(model, DriverOptions(hardware="sim", calibration=str(path)))


def test_backend_needs_no_more_than_a_protocol_and_a_bus():
    row = Backend(protocol="x", text="x", connect="dummy_servos:DummyBus")
    assert (row.emulate, row.modules, row.packages, row.needs) == ("", (), (), "")
