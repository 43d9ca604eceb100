# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A simulated bus of Feetech STS servos behind a pseudo-terminal, packet by packet.

driver.servo_bus.servos[3].stops = (1500, 2400)     # something is in the way
driver.servo_bus.servos[3].voltage = 4.5            # the supply sags
driver.servo_bus.faults.silent = {3}                # its plug is loose
driver.servo_bus.faults.corrupt(0.05, seed=7)       # one byte of every 20th answer is wrong
driver.servo_bus.faults.echo = True                 # the adapter returns what it sends
driver.servo_bus.unplug()                           # the adapter

Source: Feetech's communication protocol manual for serial bus servos. That a servo ignores an
instruction with a wrong checksum is an assumption: the manual does not say.
"""

from __future__ import annotations

import os
import random
import select
import threading
import time
import tty
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from arm_hardware.clock import SteadyClock
from arm_hardware.simulation.feetech_servo import SimulatedServo

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


class SimulatedServoBus:
    """Servos by id behind the serial port ``path``, served by a thread until closed."""

    def __init__(self, ids: Iterable[int], clock: SteadyClock) -> None:
        self._clock = clock
        self.faults = BusFaults()
        self.byte_time = 0.0  # [s] that a byte takes on the wire; 1e-5 at 1 Mbit/s
        self.servos: Mapping[int, SimulatedServo] = {n: SimulatedServo(n) for n in ids}
        self._lock = threading.Lock()
        self._answered, self._progress = 0, threading.Condition()  # instructions so far
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._serve, name="servo_bus", daemon=True)
        self._thread.start()

    def exchange(self, send: Callable[[], int]) -> int:
        """Call a function that sends one instruction; return its result once it is answered.

        A computer that is too busy for the thread of the servos is then no silent servo.
        """
        before = self._answered
        result = send()
        with self._progress:
            self._progress.wait_for(
                lambda: self._answered > before or not self._thread.is_alive(), _LONGEST
            )
        return result

    def unplug(self) -> None:
        """End the thread and remove the serial port."""
        self.close()

    def close(self) -> None:
        """End the thread and close the serial port."""
        with self._lock:
            if self._master < 0:
                return
            os.write(self._wake_write, b"x")
            self._thread.join()
            with self._progress:
                self._progress.notify_all()
            for number in (self._master, self._slave, self._wake_read, self._wake_write):
                os.close(number)
            self._master = -1

    def _serve(self) -> None:
        stream = bytearray()
        while True:
            ready, _, _ = select.select([self._master, self._wake_read], [], [])
            if self._wake_read in ready:
                return
            data = os.read(self._master, 4096)
            if self.faults.echo:
                os.write(self._master, data)
            stream += data
            for instruction in split(stream):
                answer = self.answer(instruction)
                if self.byte_time:
                    time.sleep(self.byte_time * (len(instruction) + len(answer)))
                if answer:
                    os.write(self._master, answer)
                with self._progress:
                    self._answered += 1
                    self._progress.notify_all()

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
            if servo.number != number:
                continue
            data = call(servo) or b""
            if number not in self.faults.silent:
                shown = self.faults.answers_as.get(number, number)
                answers += self.faults.sent(packet(shown, int(servo.faults), data))
        return answers
