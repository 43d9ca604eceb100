# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/control/test_corruption.py
"""A bus that retries failed transfers, confirms what it reads, and can be halted immediately."""

from __future__ import annotations

import errno
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from functools import partial
from typing import TypeVar

from arm_hardware.bus.interface import Bus, BusPhrases, Measurement
from arm_hardware.errors import ARM, BusError

T = TypeVar("T")
Value = TypeVar("Value", bound=Hashable)
_LOGGER = logging.getLogger(__name__)
EQUAL_READS = 4  # that show the same before it is believed
MOST_READS = 24  # after which nothing that is read can be believed
TIMED_READS = 3
TRIES = 6  # attempts at one operation, a few transfers, before the bus counts as lost
# Bits on the wire: a read of n channels has READ_BITS + n * CHANNEL_BITS, a write of one channel
# with its read-back WRITE_BITS.
READ_BITS, CHANNEL_BITS, WRITE_BITS = 84, 36, 122
TRANSFERS = 4  # of a tick with all channels at once: check, measure, write and read back
GIVE_UP_AFTER = 0.1  # [s] of wall time after which a failed transfer is not retried

# Causes of bus errors (Linux, Documentation/i2c/fault-codes.rst).
_NO_CHIP = "no chip acknowledges; check its power and the wires SDA and SCL"
HINTS = {
    errno.EREMOTEIO: _NO_CHIP,
    errno.ENXIO: _NO_CHIP,
    errno.EIO: "transfers are disturbed; check the wires, keep them short and off the motors'",
    errno.ETIMEDOUT: "the bus is stuck, a wire or a chip holds SDA or SCL; check wires and power",
    errno.EHOSTDOWN: "check its plugs, its supply and its id",
    errno.ENODEV: "plug the adapter in again",
    errno.EBADMSG: "the bus corrupts data; check the wires, keep them short and off the motors'",
}


_SERIAL_PORT_FAULTS = {
    errno.ENOENT: (
        "does not exist",
        "plug the adapter in, or correct bus.port in the calibration "
        "(ls /dev/serial/by-id shows the ports)",
    ),
    errno.EACCES: (
        "may not be opened",
        "add yourself to the group dialout (sudo usermod -aG dialout $USER) and log in again",
    ),
    errno.EBUSY: ("is in use by another program", "end it first"),
}


def serial_port_error(path: object, error: OSError) -> BusError:
    """Return the error of a serial port that cannot be opened."""
    usual = (f"cannot be opened ({error})", "")
    problem, remedy = _SERIAL_PORT_FAULTS.get(error.errno or 0, usual)
    return BusError(f"The serial port {path} {problem}", remedy=remedy)


def confirmed(read: Callable[[], Value], *expected: Value) -> Value:
    """Return what a read shows: the expected value as soon as one read shows it.

    Anything else may have been corrupted on the way and is believed only if EQUAL_READS reads
    agree. Where a twentieth of all reads have one bit of 200 flipped, the expected value is missed
    once in 1e12 reads.

    Raises:
        OSError: errno EBADMSG, if the reads do not agree; or an error of ``read``.
    """
    seen: Counter[Value] = Counter()
    for _ in range(MOST_READS):
        value = read()
        seen[value] += 1
        if value in expected or seen[value] == EQUAL_READS:
            return value
    raise OSError(errno.EBADMSG, f"{MOST_READS} reads of the same registers differ")


def _fault(bus: str, error: OSError) -> str:
    """Return what has failed, a clause: one servo, or the whole bus."""
    reason = error.strerror or str(error)
    if error.errno == errno.EHOSTDOWN:
        return reason
    fault = "gets or returns wrong data" if error.errno == errno.EBADMSG else "does not answer"
    return f"{bus} {fault} ({reason})"


class RetryingBus:
    """A bus that retries failed transfers; error messages end with ``remedy``."""

    def __init__(self, bus: Bus, remedy: str = f"run {ARM}") -> None:
        self._bus = bus
        self._remedy = remedy
        self.faults = 0  # transfers that failed
        self.misreads = 0  # reads that others did not confirm
        # While true, no write() begins, not even as a retry; set from any thread, without a lock.
        # A write on its way still ends with its read-back; restore() and release() work.
        self.halted = False

    @property
    def measures(self) -> bool:
        """Whether the servos report their positions."""
        return self._bus.measures

    @property
    def phrases(self) -> BusPhrases:
        """What users read about the parts of the bus."""
        return self._bus.phrases

    def label(self, channel: int) -> str:
        """See Bus.label()."""
        return self._bus.label(channel)

    def open(self) -> None:
        """See Bus.open()."""
        self._repeat(self._bus.open, "configure again")

    def start(self) -> None:
        """See Bus.start()."""
        self._repeat(self._bus.start)

    def running(self) -> bool:
        """See Bus.running()."""
        return self._repeat(self._bus.running)

    @property
    def rewrites(self) -> int:
        """Writes that were repeated because they read back different."""
        return self._bus.rewrites

    def read(self, channels: Iterable[int]) -> dict[int, int | None]:
        """Return the counts that the board sends, confirmed, None where it sends no pulse."""
        numbers = list(channels)

        def read() -> tuple[int | None, ...]:
            return tuple(self._bus.read_counts(numbers).values())

        return dict(zip(numbers, self._repeat(lambda: confirmed(read)), strict=True))

    def measure(self, channels: Iterable[int]) -> dict[int, Measurement]:
        """See Bus.measure()."""
        numbers = list(channels)
        return self._repeat(lambda: self._bus.measure(numbers))

    def tick_time(self, channels: Iterable[int]) -> float:
        """Return the time [s] for reading all channels and writing each, extrapolated from reads.

        The fastest of some reads counts, since others may have waited for the processor.
        """
        numbers = list(channels)
        bits = READ_BITS + CHANNEL_BITS * (max(numbers) + 1)
        times = []
        for _ in range(TIMED_READS):
            begin = time.perf_counter()
            self._repeat(lambda: self._bus.read_counts(numbers))
            times.append(time.perf_counter() - begin)
        if self._bus.together:
            return min(times) * TRANSFERS
        return min(times) * (1.0 + len(numbers) * WRITE_BITS / bits)

    def differences(self, expected: Mapping[int, int | None]) -> dict[int, int | None]:
        """Return the confirmed counts of the channels that do not send the expected ones."""
        found = self._repeat(lambda: self._bus.read_counts(expected))
        suspects = [channel for channel, count in expected.items() if found[channel] != count]
        believed = {c: self._repeat(partial(self._count, c, expected[c])) for c in suspects}
        different = {c: count for c, count in believed.items() if count != expected[c]}
        self.misreads += bool(suspects) and not different
        return different

    def write(self, counts: Mapping[int, int]) -> list[int]:
        """Set the counts of channels unless halted, in one transfer where the bus can.

        Returns:
            The channels that were set.
        """
        if not counts:
            return []
        if self._bus.together:
            return list(counts) if self._write(counts) else []
        return [channel for channel, count in counts.items() if self._write({channel: count})]

    def _write(self, counts: Mapping[int, int]) -> bool:
        """Set counts by one call of the bus, unless halted; return whether they were set."""
        tried = False

        def transfer() -> bool:
            nonlocal tried
            if self.halted:  # perhaps during a failed attempt that has arrived
                return tried and all(self._count(c, n) == n for c, n in counts.items())
            tried = True
            self._bus.write_counts(counts)
            return True

        return self._set(counts, transfer)

    def restore(self, channel: int, count: int | None) -> None:
        """Set what was commanded last, None for no pulses; works while halted, too."""
        if count is None:
            self.release([channel])
        else:
            self._set([channel], lambda: self._bus.write_counts({channel: count}))

    def release(self, channels: Iterable[int]) -> None:
        """See Bus.release(); works while halted, too."""
        numbers = list(channels)
        self._repeat(lambda: self._bus.release(numbers))

    def close(self) -> None:
        """See Bus.close()."""
        self._bus.close()

    def _count(self, channel: int, expected: int | None) -> int | None:
        """Return the confirmed count of one channel."""
        return confirmed(lambda: self._bus.read_counts([channel])[channel], expected)

    def _set(self, channels: Collection[int], transfer: Callable[[], T]) -> T:
        """Run a write to channels; if it arrives corrupted again and again, end their pulses."""
        try:
            return self._repeat(transfer)
        except BusError as error:
            cause = error.__cause__
            if not isinstance(cause, OSError) or cause.errno != errno.EBADMSG:
                raise
            who = ", ".join(map(self._bus.label, channels))
            try:
                self._bus.release(channels)
            except OSError:
                raise BusError(f"{error} Could not be switched off: {who}.") from error
            raise BusError(f"{error} Switched off: {who}.") from error

    def _repeat(self, transfer: Callable[[], T], then: str = "") -> T:
        """Run a transfer and retry it if it fails; raise BusError if it keeps failing.

        ``then`` replaces the usual remedy in the error.
        """
        begin = time.monotonic()
        for left in reversed(range(TRIES)):
            try:
                return transfer()
            except OSError as error:
                self.faults += 1
                if left == 0 or time.monotonic() - begin > GIVE_UP_AFTER:
                    hint = HINTS.get(error.errno or 0, "check power and wires")
                    then = then or self._remedy
                    raise BusError(
                        f"{_fault(self._bus.name, error)}: {hint}", remedy=f"then {then}"
                    ) from error
                _LOGGER.debug("A transfer failed and is repeated: %s", error)
        raise AssertionError("unreachable")
