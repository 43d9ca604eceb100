# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Backends: what can drive the servos of an arm, one row of a table each.

A backend speaks the protocol of a calibration's `board`, a PCA9685, or that of its `bus`. Any
installed package adds rows as entry points of the group "arm_hardware.backends":

    entry_points={"arm_hardware.backends": ["dynamixel = my_package.backend:DYNAMIXEL"]}
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

from arm_common.errors import InputError
from arm_common.plugins import PluginGroup, resolve
from arm_common.suggestions import build_command, did_you_mean

from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.interface import DEVICE, FEETECH, PCA9685, Bus, SerialBus, ServoBoard
from arm_hardware.errors import CalibrationError, HardwareError

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

    from arm_hardware.calibration.axes import Axes
    from arm_hardware.calibration.calibration import Calibration
    from arm_hardware.calibration.servo_map import ServoMap
    from arm_hardware.clock import SteadyClock

_LOGGER = logging.getLogger(__name__)
AUTO = "auto"  # the first backend that speaks the calibration's protocol


class FailureRehearsal(Protocol):
    """Lets emulated servos fail."""

    def happen(self, name: str, servo: str = "", value: float = 0.0) -> str:
        """Let an event happen; return a sentence, or raise StateError if it is impossible."""


class EmulatedHardware(Protocol):
    """An emulated board, or bus of smart servos, in this process."""

    bus: Bus  # still closed, that drives it

    def rehearsal(self, axes: Axes, maps: Sequence[ServoMap]) -> FailureRehearsal:
        """Return what lets the servos that move some axes fail; maps as in ``axes.actuators``."""

    def close(self) -> None:
        """End its threads and files; the bus is closed before."""


@dataclass(frozen=True)
class Backend:
    """One way to drive servos; references are "module:function", imported when they are used.

    Attributes:
        protocol: What it speaks: PCA9685, or the `protocol` of a calibration's bus.
        text: What it drives, and by what; for the help.
        connect: Reference to a function that returns a closed `Bus` of this computer, of a
            ServoBoard or a SerialBus, and of a BoardLock that is held while it is open, or None.
            One of a SerialBus without servos opens whatever is connected, unchecked.
        emulate: Reference to a function that returns EmulatedHardware instead, of the same board
            or bus, a SteadyClock, and the file that keeps a board's registers, or None; "" if
            nothing emulates it.
        modules: Modules of other projects that it imports.
        packages: What pip installs to bring them.
        needs: Reference to a function that returns a SerialBus with what the servos must be able
            to do, of a calibration, its bus and a robot; "" if `connect` does not check it.
    """

    protocol: str
    text: str
    connect: str
    emulate: str = ""
    modules: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    needs: str = ""

    def bus(self, board: ServoBoard | SerialBus, locked: bool = True) -> Bus:
        """Return a bus, still closed, to hardware of this computer.

        Args:
            board: The board or bus.
            locked: Whether open() fails while another process drives it, and locks it.
        """
        lock = BoardLock(*_node_of(board)) if locked else None
        made: Bus = resolve(self.connect)(board, lock)
        return made

    def emulated(
        self, board: ServoBoard | SerialBus, clock: SteadyClock, registers: Path | None = None
    ) -> EmulatedHardware:
        """Return emulated hardware; raise HardwareError if its package is missing."""
        if not self.emulate:
            raise HardwareError(
                f"Nothing emulates servos of the protocol {self.protocol}; use hardware:=fake."
            )
        made: EmulatedHardware = of_simulation(self.emulate, ", or use hardware:=fake")(
            board, clock, registers
        )
        return made

    def connection(
        self,
        board: ServoBoard | SerialBus,
        clock: SteadyClock | None = None,
        registers: Path | None = None,
    ) -> tuple[Bus, EmulatedHardware | None]:
        """Return a closed bus to real hardware, or with a clock to emulated hardware, and that."""
        if clock is None:
            return self.bus(board), None
        emulation = self.emulated(board, clock, registers)
        return emulation.bus, emulation

    def with_needs(
        self, calibration: Calibration, board: ServoBoard | SerialBus, model: RobotModel
    ) -> ServoBoard | SerialBus:
        """Return a bus with what the arm needs of its servos, if that is checked.

        Raises:
            CalibrationError: The calibration does not suit the robot.
        """
        if not self.needs:
            return board
        made: SerialBus = resolve(self.needs)(calibration, board, model)
        return made


SHIPPED = SimpleNamespace(
    servokit=Backend(
        protocol=PCA9685,
        text="a PCA9685 by Adafruit's library",
        connect="arm_hardware.bus.servokit:servokit_bus",
        emulate="arm_simulation.emulation.board:emulate_servokit",
        modules=("adafruit_servokit", "board"),
        packages=(
            "adafruit-blinka",
            "adafruit-circuitpython-pca9685",
            "adafruit-circuitpython-servokit",
        ),
    ),
    i2c_dev=Backend(
        protocol=PCA9685,
        text="a PCA9685 by the kernel's interface, smbus2",
        connect="arm_hardware.bus.pca9685:i2c_dev_bus",
        emulate="arm_simulation.emulation.board:SimulatedBoard",
        modules=("smbus2",),
        packages=("smbus2",),
    ),
    feetech=Backend(
        protocol=FEETECH,
        text="smart servos of Feetech",
        connect="arm_hardware.bus.feetech.bus:serial_bus",
        emulate="arm_simulation.emulation.feetech_bus:SimulatedServoBus",
        modules=("scservo_sdk",),
        packages=("feetech-servo-sdk",),
        needs="arm_hardware.calibration.servo_needs:with_needs",
    ),
)
BACKENDS = PluginGroup(
    "arm_hardware.backends",
    "backend",
    {name: f"{__name__}:SHIPPED.{name}" for name in vars(SHIPPED)},
)
BACKENDS_HELP = "; ".join(
    (
        *(f"{name}: {backend.text}" for name, backend in vars(SHIPPED).items()),
        "auto: chosen by the calibration",
    )
)


def backend_names() -> tuple[str, ...]:
    """Return what the option `backend` may be, those of installed packages included."""
    return (AUTO, *BACKENDS.names)


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Add ``--backend``."""
    text = f"what drives the servos; {BACKENDS_HELP}"
    parser.add_argument("--backend", choices=backend_names(), default=AUTO, help=text)


def load_backend(name: str) -> Backend:
    """Return the row of a backend; raise HardwareError if there is none, or it is broken."""
    try:
        row = BACKENDS.load(name)
    except InputError as error:
        raise HardwareError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    if not isinstance(row, Backend):
        raise HardwareError(f"The entry point {name} of {BACKENDS.group} is no Backend.")
    return row


def backends_of(protocol: str) -> dict[str, Backend]:
    """Return the backends that speak a protocol by name: shipped ones, otherwise others."""
    for rows in (_shipped, _installed_by_others):
        suiting = {name: row for name, row in rows().items() if row.protocol == protocol}
        if suiting:
            return suiting
    return {}


def serial_protocols() -> tuple[str, ...]:
    """Return the protocols of serial buses that a backend speaks, Feetech's first."""
    rows = (_shipped() | _installed_by_others()).values()
    return tuple(dict.fromkeys(row.protocol for row in rows if row.protocol != PCA9685))


def _shipped() -> dict[str, Backend]:
    return {name: load_backend(name) for name in BACKENDS.shipped}


def _installed_by_others() -> dict[str, Backend]:
    """Return the backends of other packages; a broken one keeps no other from driving."""
    backends = {}
    for name in BACKENDS.names[len(BACKENDS.shipped) :]:
        try:
            backends[name] = load_backend(name)
        except HardwareError as error:
            _LOGGER.warning("%s", error)
    return backends


def backend_for(name: str, board: ServoBoard | SerialBus, calibration: Path) -> Backend:
    """Return the backend that drives what a calibration is for.

    If its modules are missing, and those of another one of the same protocol are not, it is that
    one, with a warning.

    Args:
        name: Of the backend, or AUTO.
        board: What the calibration is for.
        calibration: Its file, for errors.

    Raises:
        HardwareError: It does not speak the protocol, or none does.
    """
    suiting = backends_of(board.protocol)
    if name not in (AUTO, *suiting):
        named = load_backend(name)
        if named.protocol == board.protocol:
            return named
        if suiting:
            raise HardwareError(
                f"{calibration} is for {_described(board)}, which backend:=auto drives by "
                f"{next(iter(suiting))}; {name} cannot."
            )
    if not suiting:
        raise CalibrationError(
            f"no backend speaks the protocol {board.protocol!r} of its servos",
            file=str(calibration),
            key="bus.protocol",
            remedy=f"install its package; {did_you_mean(board.protocol, serial_protocols())}",
        )
    return _installed(next(iter(suiting)) if name == AUTO else name, suiting)


def _described(board: ServoBoard | SerialBus) -> str:
    if isinstance(board, SerialBus):
        return f"smart servos of the protocol {board.protocol} (bus)"
    return "a PCA9685 (board)"


def _installed(name: str, suiting: dict[str, Backend]) -> Backend:
    """Return a backend, or another suiting one if only that one's modules are installed."""
    missing = _missing(suiting[name])
    if missing:
        for other, row in suiting.items():
            if not _missing(row):
                _LOGGER.warning(
                    f"backend {name} needs {missing[0]}, which is not installed; {other} drives "
                    "the board."
                )
                return row
    return suiting[name]


def _missing(backend: Backend) -> list[str]:
    return [module for module in backend.modules if find_spec(module) is None]


def of_simulation(reference: str, instead: str = "") -> Any:
    """Return a part of a package of emulators; raise HardwareError if that is not installed.

    ``instead`` is the end of the error's sentence: what else a person can do.
    """
    package = reference.partition(".")[0].partition(":")[0]
    if find_spec(package) is None:
        raise HardwareError(
            f"Emulated servos are in the package {package}, which is not installed: build it "
            f"({build_command(package)}){instead}."
        )
    return resolve(reference)


def _node_of(board: ServoBoard | SerialBus) -> tuple[Path, int | None]:
    """Return the device node that a lock of a board or bus is on, and its address on it."""
    if isinstance(board, SerialBus):
        return Path(board.port), None
    return DEVICE, board.address
