# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/test_feetech_servo.py
"""A simulated bus of Feetech STS servos behind pseudo-terminals, packet by packet.

The bus has two adapters: one for the driver, and one for any other program that speaks the
protocol.

driver.emulation.servos[3].stops = (1500, 2400)     # something is in the way
driver.emulation.servos[3].voltage = 4.5            # the supply sags; 0: its plug is out
driver.emulation.faults.silent = {3}                # its wire of data is loose
driver.emulation.faults.corrupt(0.05, seed=7)       # one byte of every 20th answer is wrong
driver.emulation.faults.echo = True                 # the adapter returns what it sends
driver.emulation.unplug()                           # the driver's adapter, until plug()

Source: Feetech's communication protocol manual for serial bus servos. That a servo ignores an
instruction with a wrong checksum is an assumption: the manual does not say.
"""

from __future__ import annotations

import math
import os
import random
import select
import tempfile
import threading
import time
import tty
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from arm_hardware.bus.feetech.bus import FeetechBus
from arm_hardware.bus.feetech.sts3215 import HOMING_OFFSET
from arm_hardware.bus.interface import COUNTS, SerialBus
from arm_hardware.clock import SteadyClock

from arm_simulation.emulation.feetech_servo import NOMINAL_VOLTAGE, SimulatedServo
from arm_simulation.emulation.rehearsal import Emulation

HEADER, BROADCAST = b"\xff\xff", 0xFE
PING, READ, WRITE, REG_WRITE, ACTION = 1, 2, 3, 4, 5
SYNC_READ, SYNC_WRITE = 0x82, 0x83
_SHORTEST = 6  # bytes of a packet without parameters
_LONGEST = 10.0  # [s] that the thread of the servos may have to wait for the processor


def packet(number: int, code: int, parameters: bytes = b"") -> bytes:
    """Return an instruction (its code) or a status packet (its error byte)."""
    body = bytes([number, len(parameters) + 2, code]) + parameters
    return HEADER + body + bytes([~sum(body) & 0xFF])


def split(stream: bytearray) -> list[bytes]:
    """Remove and return the complete packets with a right checksum at the head of a stream."""
    packets: list[bytes] = []
    while True:
        start = stream.find(HEADER)
        if start < 0:
            del stream[:-1]
            return packets
        del stream[:start]
        if len(stream) > 2 and stream[2] == HEADER[0]:  # no id
            del stream[:1]
            continue
        if len(stream) < _SHORTEST or len(stream) < stream[3] + 4:
            return packets
        whole = bytes(stream[: stream[3] + 4])
        if packet(whole[2], whole[4], whole[5:-1]) == whole:
            packets.append(whole)
            del stream[: len(whole)]
        else:
            del stream[:1]


def _write(address: int, data: bytes, servo: SimulatedServo) -> None:
    servo.write(address, data)


class BusFaults:
    """The faults of a bus, initially none; they may be changed from any thread at any time."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """End all faults."""
        self.silent: set[int] = set()  # ids that do not answer
        self.answers_as: dict[int, int] = {}  # wrong id in the answers of an id
        self.echo = False  # whether the adapter returns what it sends
        self.deaf = 0  # instructions that are lost from now on
        self.corrupted = 0  # answers with a wrong byte so far
        self._probability, self._random = 0.0, random.Random(0)

    def corrupt(self, probability: float, seed: int = 0) -> None:
        """Invert one bit of some answers."""
        self._probability, self._random = probability, random.Random(seed)

    def sent(self, answer: bytes) -> bytes:
        """Return an answer as it arrives."""
        if self._random.random() >= self._probability:
            return answer
        self.corrupted += 1
        wrong = bytearray(answer)
        wrong[self._random.randrange(len(wrong))] ^= 1 << self._random.randrange(8)
        return bytes(wrong)


class _Adapter:
    """A serial port: a pseudo-terminal behind a path that stays the same when plugged in again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stream = bytearray()
        self.answered = 0  # instructions so far
        self.master = self._slave = -1

    @property
    def plugged(self) -> bool:
        """Whether the port exists."""
        return self.master >= 0

    def plug(self) -> None:
        """Create the port."""
        if not self.plugged:
            self.master, self._slave = os.openpty()
            os.set_blocking(self.master, False)
            tty.setraw(self._slave)
            self.path.symlink_to(os.ttyname(self._slave))

    def unplug(self) -> None:
        """Remove the port."""
        if self.plugged:
            self.path.unlink(missing_ok=True)
            for number in (self.master, self._slave):
                os.close(number)
            self.master = self._slave = -1
            self.stream.clear()


class SimulatedServoBus(Emulation):
    """Servos by id behind serial ports, served by a thread until closed.

    Attributes:
        path: The driver's port.
        port: The port of other programs.
        bus: What a driver drives them by, still closed.
    """

    channels, travel = "servo", (0.0, COUNTS - 1.0)

    def __init__(
        self, wiring: SerialBus, clock: SteadyClock, registers: Path | None = None
    ) -> None:
        """Plug the servos of a bus in; their registers are kept in no file."""
        del registers
        self._clock = clock
        self.faults = BusFaults()
        self.byte_time = 0.0  # [s] that a byte takes on the wire; 1e-5 at 1 Mbit/s
        self.servos: Mapping[int, SimulatedServo] = {n: SimulatedServo(n) for n in wiring.servos}
        self._supply, self._without = NOMINAL_VOLTAGE, set()
        self._folder = tempfile.TemporaryDirectory(prefix="arm_servos_")
        self._driver, self._tools = (
            _Adapter(Path(self._folder.name, name)) for name in ("driver", "tools")
        )
        self.path, self.port = str(self._driver.path), str(self._tools.path)
        for number, servo in wiring.servos.items():
            self.servos[number].set(HOMING_OFFSET, servo.homing_offset or 0)
        self.bus = FeetechBus(wiring, self.path, exchange=self.exchange)
        self._lock = threading.RLock()  # held while packets are answered
        self._progress = threading.Condition()  # of the instructions that were answered
        self._wake_read, self._wake_write = os.pipe()
        self._ended = False
        for adapter in (self._driver, self._tools):
            adapter.plug()
        self._thread = threading.Thread(target=self._serve, name="servo_bus", daemon=True)
        self._thread.start()

    def exchange(self, send: Callable[[], int]) -> int:
        """Call a function that sends one instruction; return its result once it is answered.

        A computer that is too busy for the thread of the servos is then no silent servo.
        """
        before = self._driver.answered
        result = send()
        with self._progress:
            self._progress.wait_for(
                lambda: self._driver.answered > before or not self._driver.plugged, _LONGEST
            )
        return result

    def close(self) -> None:
        """End the thread and close the serial ports."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
        self._wake()
        self._thread.join()
        for adapter in (self._driver, self._tools):
            adapter.unplug()
        with self._progress:
            self._progress.notify_all()
        for number in (self._wake_read, self._wake_write):
            os.close(number)
        self._folder.cleanup()

    # -- What a person does to it -----------------------------------------------------------------

    def _connect(self, on: bool) -> None:
        with self._lock:
            if not on:
                self._driver.unplug()
            elif not self._ended:
                self._driver.plug()
        self._wake()

    def supply(self, volts: float | None = None) -> None:
        """Set the voltage of the supply [V], by default that of a good one."""
        self._supply = NOMINAL_VOLTAGE if volts is None else volts
        with self._lock:
            for number, servo in self.servos.items():
                servo.voltage = self._voltage(number)

    def push(self, channel: int, setpoint: float | None) -> None:
        """Let a hand hold a servo's horn at a count, None to let go."""
        with self._lock:
            servo = self.servos[channel]
            servo.hand, servo.overpowers = setpoint, setpoint is not None

    def block(self, channel: int, lower: float = -math.inf, upper: float = math.inf) -> None:
        """Bound the counts between which a horn can turn."""
        self.servos[channel].stops = (lower, upper)

    def setpoint(self, channel: int) -> float:
        """Return the count at which a horn stands."""
        return self.servos[channel].position

    # -- Packets ----------------------------------------------------------------------------------

    def _wake(self) -> None:
        """Let the thread look at the ports again."""
        os.write(self._wake_write, b"x")
        with self._progress:
            self._progress.notify_all()

    def _serve(self) -> None:
        while not self._ended:
            ports = {a.master: a for a in (self._driver, self._tools) if a.plugged}
            try:
                ready, _, _ = select.select([*ports, self._wake_read], [], [])
            except OSError:  # a port was unplugged meanwhile
                continue
            if self._wake_read in ready:
                os.read(self._wake_read, 1)
                continue
            for number in ready:
                with self._lock:
                    if ports[number].master == number:
                        self._receive(ports[number])

    def _receive(self, adapter: _Adapter) -> None:
        """Answer the instructions that have arrived at a port."""
        data = b""
        with suppress(BlockingIOError):
            data = os.read(adapter.master, 4096)
        if self.faults.echo:
            self._send(adapter, data)
        adapter.stream += data
        for instruction in split(adapter.stream):
            answer = self.answer(instruction)
            if self.byte_time:
                time.sleep(self.byte_time * (len(instruction) + len(answer)))
            self._send(adapter, answer)
            with self._progress:
                adapter.answered += 1
                self._progress.notify_all()

    @staticmethod
    def _send(adapter: _Adapter, data: bytes) -> None:
        """Send data; what nobody reads is lost once the port is full, as on a wire."""
        with suppress(BlockingIOError):
            os.write(adapter.master, data)

    def answer(self, instruction: bytes) -> bytes:
        """Carry out an instruction packet; return the answers of all servos."""
        if self.faults.deaf > 0:
            self.faults.deaf -= 1
            return b""
        now = self._clock.now()
        for servo in self.servos.values():
            servo.advance(now)
        number, code, parameters = instruction[2], instruction[4], instruction[5:-1]
        if code == SYNC_READ:
            ids, block = list(parameters[2:]), parameters[:2]
            return b"".join(self._each(i, lambda s: s.read(*block)) for i in ids)
        if code == SYNC_WRITE:
            self._sync_write(parameters)
            return b""
        return self._unicast(number, code, parameters)

    def _sync_write(self, parameters: bytes) -> None:
        address, length = parameters[:2]
        for start in range(2, len(parameters), length + 1):
            number, *data = parameters[start : start + length + 1]
            self._each(number, partial(_write, address, bytes(data)))

    def _unicast(self, number: int, code: int, parameters: bytes) -> bytes:
        calls: dict[int, Callable[[SimulatedServo], bytes | None]] = {
            PING: lambda servo: None,
            READ: lambda servo: servo.read(*parameters),
            WRITE: lambda servo: servo.write(parameters[0], parameters[1:]),
            REG_WRITE: lambda servo: servo.register_write(parameters[0], parameters[1:]),
            ACTION: lambda servo: servo.act(),
        }
        call = calls.get(code)
        if call is None:
            return b""
        ids = [s.number for s in self.servos.values()] if number == BROADCAST else [number]
        answers = b"".join(self._each(i, call) for i in ids)
        return answers if number != BROADCAST or code == PING else b""

    def _each(self, number: int, call: Callable[[SimulatedServo], bytes | None]) -> bytes:
        """Call the servos with an id; return their answers, as they arrive."""
        answers = b""
        for servo in self.servos.values():
            if servo.number != number or not servo.powered:
                continue
            data = call(servo) or b""
            if number not in self.faults.silent:
                shown = self.faults.answers_as.get(number, number)
                answers += self.faults.sent(packet(shown, int(servo.faults), data))
        return answers
