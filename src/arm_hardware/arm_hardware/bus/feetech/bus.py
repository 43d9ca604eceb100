# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/bus/test_feetech.py
"""A bus of Feetech STS3215 servos, by Feetech's library scservo_sdk.

All transfers are sync reads and sync writes: instructions to the broadcast id, which no servo can
have. The echo of an adapter that returns what it sends can therefore not pass for an answer. No
servo confirms a sync write, so each is read back.
"""

from __future__ import annotations

import errno
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from arm_common.suggestions import install_command

from arm_hardware.bus.board_lock import BoardLock
from arm_hardware.bus.feetech.servo_settings import (
    SettingProblem,
    accepted_settings,
    problems,
    refusal,
)
from arm_hardware.bus.feetech.sts3215 import (
    ACCELERATION,
    COMMANDED,
    GOAL_POSITION,
    GOAL_VELOCITY,
    HOMING_OFFSET,
    ID,
    LOCK,
    MAX_ACCELERATION,
    MAX_VOLTAGE,
    MEASURED,
    MIN_VOLTAGE,
    MODEL,
    MODEL_NUMBER,
    OPERATING_MODE,
    SETTINGS,
    TORQUE_ENABLE,
    Register,
    measurement,
)
from arm_hardware.bus.interface import COUNTS, BusPhrases, BusServo, Measurement, SerialBus
from arm_hardware.bus.retrying_bus import serial_port_error
from arm_hardware.errors import BusError

_LOGGER = logging.getLogger(__name__)
PACKAGE = "feetech-servo-sdk"
WRITES = 10  # of a value that reads back different
TRIES = 3  # after which an id counts as free
HALF_TURN = COUNTS // 2
STORING_TIME = 0.02  # [s] in which a servo stores a value
ON = 1  # of TORQUE_ENABLE; 128 would set the servo's zero
EMPTY_ANSWER = 6  # bytes of an answer without data
READ_TIMEOUT = 0.005  # [s] of one read of the port, of which a transfer needs several
PHRASES = BusPhrases(
    "a servo",
    "a servo's operating mode, which was set again",
    "the servos",
    "was switched off by another program, such as release, or lost its power",
    "its baud_rate",
)
SCANNED = range(1, 21)  # ids that are tried when one is silent


def import_scservo() -> Any:
    """Return the module ``scservo_sdk``; raise BusError if it is missing."""
    try:
        import scservo_sdk
    except ImportError as error:
        raise BusError(
            f"A library is missing ({error})",
            remedy=f"install it: {install_command(PACKAGE)}",
        ) from error
    return scservo_sdk


class FeetechBus:
    """A Bus (see ``arm_hardware.bus.interface``) whose channels are the ids of servos."""

    def __init__(
        self,
        bus: SerialBus,
        path: str,
        lock: BoardLock | None = None,
        exchange: Callable[[Callable[[], int]], int] | None = None,
    ) -> None:
        """Create a closed bus.

        Args:
            bus: Its servos and its speed.
            path: The serial port, which may differ from the bus' own if that is simulated.
            lock: Held while the bus is open.
            exchange: Calls the function that sends an instruction and returns its result; that of
                simulated servos returns once they have answered.
        """
        self.name = f"The servo bus at {bus.port}"
        self.rewrites = 0
        self.together = self.measures = True
        self.phrases = PHRASES
        self._bus = bus
        self._path = path
        self._lock = lock
        self._exchange = exchange or (lambda send: send())
        self._sdk: Any = None
        self._port: Any = None
        self._packets: Any = None

    def open(self) -> None:
        """Open the port and check every servo; see Bus.open()."""
        self._sdk = import_scservo()
        if self._port is None:
            self._connect()
        if not self._bus.servos:
            return  # to be searched
        try:
            self._check_servos()
        except BusError:
            self.close()
            raise
        if accepted := self.accepted_settings():
            _LOGGER.info("Settings that are not the factory's and are accepted: %s.", accepted)

    def start(self) -> None:
        """Let the driver alone bound speed and acceleration; see Bus.start()."""
        if self._port is None:
            self._connect()
        self._check_servos()  # others may have been plugged in since open()
        for register in (ACCELERATION, GOAL_VELOCITY):
            self._confirm(register, dict.fromkeys(self._bus.servos, 0))

    def running(self) -> bool:
        """Return whether every servo is in position mode; see Bus.running()."""
        return not any(self._read(OPERATING_MODE).values())

    def scan(self) -> list[int]:
        """Return the ids from SCANNED that answer."""
        found = []
        for number in SCANNED:
            with suppress(OSError):
                self._model(number)
                found.append(number)
        return found

    def is_free(self, number: int) -> bool:
        """Return whether no servo has an id: silence, which the answers of two would break."""
        for _ in range(TRIES):
            try:
                self._model(number)
            except OSError as error:
                if error.errno != errno.EHOSTDOWN:
                    raise
            else:
                return False
        return True

    def read_counts(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return target counts, None of servos without torque; see Bus.read_counts()."""
        blocks = self._transfer(list(channels), COMMANDED.start, COMMANDED.stop - COMMANDED.start)
        return {
            number: GOAL_POSITION.decode(block, COMMANDED.start)
            if TORQUE_ENABLE.decode(block, COMMANDED.start) == ON
            else None
            for number, (block, _) in blocks.items()
        }

    def write_counts(self, counts: Mapping[int, int]) -> None:
        """Set targets, then switch the torque on where it is off; see Bus.write_counts()."""
        found = self._confirm(GOAL_POSITION, counts, COMMANDED)
        torques = {n: TORQUE_ENABLE.decode(block, COMMANDED.start) for n, block in found.items()}
        limp = [number for number, torque in torques.items() if torque != ON]
        self._confirm(TORQUE_ENABLE, dict.fromkeys(limp, ON))

    def release(self, channels: Iterable[int]) -> None:
        """Switch the torque off; see Bus.release()."""
        self._confirm(TORQUE_ENABLE, dict.fromkeys(channels, 0))

    def measure(self, channels: Iterable[int]) -> dict[int, Measurement]:
        """Return what servos measure; see Bus.measure()."""
        length = MEASURED.stop - MEASURED.start
        blocks = self._transfer(list(channels), MEASURED.start, length)
        return {number: measurement(block, error) for number, (block, error) in blocks.items()}

    def homing_offsets(self, channels: Iterable[int]) -> dict[int, int]:
        """Return the Homing_Offset of servos."""
        return self._read(HOMING_OFFSET, channels)

    def label(self, channel: int) -> str:
        """Return the name of a servo."""
        name = self._bus.servos[channel].name if channel in self._bus.servos else ""
        return f"Servo {channel}{f' ({name})' if name else ''} of {self._bus.port}"

    def setting_problems(self, servos: Mapping[int, BusServo]) -> dict[int, list[SettingProblem]]:
        """Return what is set wrong in the memory of servos, by id; raise OSError."""
        memories, measured = self._memories(servos), self.measure(servos)
        bounds = self._read(MAX_ACCELERATION, servos)
        return {n: problems(memories[n], servos[n], measured[n], bounds[n]) for n in servos}

    def accepted_settings(self) -> str:
        """Return which settings of which servos differ from the factory's, "" if none does."""
        memories = self._memories(self._bus.servos)
        listed = {number: accepted_settings(memory) for number, memory in memories.items()}
        return "; ".join(f"servo {number}: {text}" for number, text in listed.items() if text)

    def mend(self, number: int, problem: SettingProblem) -> None:
        """Correct settings, which lasts; the servo loses its torque; errors as in set_id()."""
        for register, value in problem.mends:
            self._store(number, register, value)

    def set_id(self, number: int, new: int) -> None:
        """Give a servo another id, which lasts; it loses its torque.

        Raises:
            BusError: The servo is no STS3215, or does not keep it.
            OSError: A transfer failed.
        """
        self._store(number, ID, new)

    def centre(self, number: int) -> int:
        """Make a servo's present position count 2048, which lasts; return its Homing_Offset.

        It loses its torque; errors as in set_id().
        """
        encoder = self.measure([number])[number].count + self.homing_offsets([number])[number]
        offset = encoder % COUNTS - HALF_TURN
        offset = max(offset, 1 - HALF_TURN)  # of 4096 offsets, the memory has room for 4095
        self._store(number, HOMING_OFFSET, offset)
        return offset

    def _store(self, number: int, register: Register, value: int) -> None:
        """Set a register that lasts without power; other models have others at its address."""
        self._check_model(number, self._model(number))
        self._confirm(TORQUE_ENABLE, {number: 0})
        self._confirm(LOCK, {number: 0})
        self._write(register, {number: value})
        now = value if register is ID else number
        for _ in range(WRITES):
            time.sleep(STORING_TIME)
            with suppress(OSError):
                if self._read(register, [now])[now] == value:
                    self._confirm(LOCK, {now: 1})
                    return
        raise BusError(f"{self.label(number)} does not keep {value}", remedy="try again")

    def close(self) -> None:
        """Close the port; servos keep torque and targets."""
        self._disconnect()
        if self._lock is not None:
            self._lock.release()

    # -- the port ---------------------------------------------------------------------------------

    def _connect(self) -> None:
        if self._lock is not None and Path(self._path).exists():
            self._lock.acquire()
        port = self._sdk.PortHandler(self._path)
        try:
            if not port.setBaudRate(self._bus.baud_rate):
                raise BusError(f"{self.name} cannot have {self._bus.baud_rate} baud.")
        except OSError as error:  # serial.SerialException is one
            raise serial_port_error(self._path, error) from error
        port.ser.timeout = READ_TIMEOUT  # the library would poll at full CPU load
        self._port, self._packets = port, self._sdk.PacketHandler(0)  # 0: little-endian

    def _disconnect(self) -> None:
        port, self._port = self._port, None
        if port is not None:
            port.closePort()

    # -- transfers --------------------------------------------------------------------------------

    def _transfer(self, ids: list[int], address: int, length: int) -> dict[int, tuple[bytes, int]]:
        """Return memory and error byte by id, by one sync read; raise OSError if it fails."""
        if not ids:
            return {}
        self._send(lambda: self._packets.syncReadTx(self._port, address, length, ids, len(ids)))
        # 34 ms besides the bytes', from now on: an exchange with simulated servos may take longer
        self._port.setPacketTimeout((EMPTY_ANSWER + length) * len(ids))
        answers = {}
        for number in ids:
            receive = partial(self._packets.readRx, self._port, number, length)
            data, result, error = self._guarded(receive)
            if result == self._sdk.COMM_RX_TIMEOUT:
                raise OSError(errno.EHOSTDOWN, f"{self.label(number)} is silent")
            if result != self._sdk.COMM_SUCCESS or len(data) != length:
                raise OSError(errno.EIO, f"the answer of {self.label(number)} is corrupt")
            answers[number] = bytes(data), int(error)
        return answers

    def _send(self, send: Callable[[], int]) -> None:
        """Send an instruction; raise OSError if that fails."""
        if self._port is None:
            raise OSError(errno.ENODEV, "the serial port is gone")
        self._guarded(self._port.ser.reset_input_buffer)
        self._port.is_using = False  # an exception of the port left it set
        if self._guarded(lambda: self._exchange(send)) != self._sdk.COMM_SUCCESS:
            raise OSError(errno.EIO, "the instruction was not sent")

    def _guarded(self, call: Callable[[], Any]) -> Any:
        """Return the result of a call of the port, whose errors mean that it was unplugged."""
        import termios

        try:
            return call()
        except (OSError, termios.error) as error:
            self._disconnect()
            raise OSError(errno.ENODEV, f"the serial port is gone ({error})") from error

    def _read(self, register: Register, channels: Iterable[int] | None = None) -> dict[int, int]:
        """Return a register of servos, by default of all of the calibration."""
        ids = list(self._bus.servos if channels is None else channels)
        blocks = self._transfer(ids, register.address, register.size)
        return {
            number: register.decode(block, register.address)
            for number, (block, _) in blocks.items()
        }

    def _write(self, register: Register, values: Mapping[int, int]) -> None:
        """Set a register by one sync write, which is not confirmed."""
        data = [
            byte for number, value in values.items() for byte in (number, *register.encode(value))
        ]
        self._send(
            lambda: self._packets.syncWriteTxOnly(
                self._port, register.address, register.size, data, len(data)
            )
        )

    def _confirm(
        self, register: Register, values: Mapping[int, int], block: slice | None = None
    ) -> dict[int, bytes]:
        """Set a register and read it back until it is right.

        Returns:
            The memory read back by id: the register, or the block around it.

        Raises:
            OSError: EBADMSG if it does not become right.
        """
        block = block or slice(register.address, register.address + register.size)
        left, seen = dict(values), dict[int, bytes]()
        for _ in range(WRITES):
            if not left:
                return seen
            self._write(register, left)
            found = self._transfer(list(left), block.start, block.stop - block.start)
            seen |= {number: memory for number, (memory, _) in found.items()}
            left = {
                number: value
                for number, value in left.items()
                if register.decode(seen[number], block.start) != value
            }
            self.rewrites += bool(left)
        if left:
            raise OSError(
                errno.EBADMSG, f"{self.label(next(iter(left)))} does not keep what is written"
            )
        return seen

    # -- checks -----------------------------------------------------------------------------------

    def _check_servos(self) -> None:
        """Raise BusError for a servo that is silent, of another kind, or set differently."""
        try:
            models = self._read(MODEL_NUMBER)
        except OSError as error:
            if error.errno != errno.EHOSTDOWN:
                raise
            raise self._missing_servo() from error
        for number, model in models.items():
            self._check_model(number, model)
        measured = self.measure(models)
        for number, memory in self._memories(models).items():
            self._check_voltage(number, measured[number].voltage, memory)
            self._check_offset(number, HOMING_OFFSET.decode(memory, SETTINGS.start))
        wrong = self.setting_problems(self._bus.servos)
        if any(wrong.values()):
            labels = {self.label(number): found for number, found in wrong.items()}
            raise refusal(labels, self._bus.calibration)

    def _model(self, number: int) -> int:
        """Return the Model_Number of a servo; raise OSError if it does not answer."""
        return self._read(MODEL_NUMBER, [number])[number]

    def _check_model(self, number: int, model: int) -> None:
        if model != MODEL:
            raise BusError(
                f"{self.label(number)} is model {model}, not {MODEL}",
                remedy="connect an STS3215",
            )

    def _missing_servo(self) -> BusError:
        """Return the error of a bus on which a servo is silent, with the ids that answer."""
        found = self.scan()
        missing = [number for number in self._bus.servos if number not in found]
        if not found:
            return BusError(
                f"No servo answers at {self._bus.port}, {self._bus.baud_rate} baud",
                remedy="switch the servos' supply on, and check plug and bus.baud_rate",
            )
        who = self.label(missing[0]) if missing else self.name
        return BusError(
            f"{who} does not answer, the ids {', '.join(map(str, found))} do",
            remedy="check its plugs and its id",
        )

    def _memories(self, channels: Iterable[int]) -> dict[int, bytes]:
        """Return the registers SETTINGS of servos."""
        blocks = self._transfer(list(channels), SETTINGS.start, SETTINGS.stop - SETTINGS.start)
        return {number: memory for number, (memory, _) in blocks.items()}

    def _check_voltage(self, number: int, voltage: float, memory: bytes) -> None:
        limits = MIN_VOLTAGE, MAX_VOLTAGE
        least, most = (0.1 * limit.decode(memory, SETTINGS.start) for limit in limits)
        if not least <= voltage <= most:
            raise BusError(
                f"{self.label(number)} has a supply of {voltage:.1f} V, outside of its "
                f"limits {least:.1f} to {most:.1f} V",
                remedy="use the right power supply",
            )

    def _check_offset(self, number: int, offset: int) -> None:
        expected = self._bus.servos[number].homing_offset
        if expected is not None and offset != expected:
            raise BusError(
                f"{self.label(number)} has the homing offset {offset}, its calibration "
                f"{expected}: its counts mean other angles",
                remedy="calibrate again, or import the calibration that was written to the servo",
            )


def serial_bus(bus: SerialBus, lock: BoardLock | None) -> FeetechBus:
    """Return a bus, still closed, at a serial port of this computer."""
    return FeetechBus(bus, bus.port, lock)
