# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What every bus does, whatever it drives: functions of an open bus and some of its channels."""

from __future__ import annotations

from collections.abc import Sequence

from arm_hardware.bus.interface import Bus


def new_bus_sends_nothing(bus: Bus, channels: Sequence[int]) -> None:
    assert bus.running() and bus.name
    assert bus.read_counts(channels) == dict.fromkeys(channels)


def written_counts_are_read_back(bus: Bus, channels: Sequence[int]) -> None:
    first, second, *_, last = channels
    bus.write_counts({first: 300, second: 17})
    bus.write_counts({first: 301, last: 4095})
    wanted = {**dict.fromkeys(channels), first: 301, second: 17, last: 4095}
    assert bus.read_counts(channels) == wanted
    assert bus.read_counts([second]) == {second: 17} and bus.read_counts([]) == {}


def release_affects_only_the_given_channels(bus: Bus, channels: Sequence[int]) -> None:
    first, second, third, *_ = channels
    bus.write_counts({first: 300, second: 17})
    bus.release([second, third])
    assert bus.read_counts([first, second, third]) == {first: 300, second: None, third: None}
    bus.write_counts({second: 18})
    assert bus.read_counts([second]) == {second: 18}


def reopening_and_restarting_keep_the_counts(bus: Bus, channels: Sequence[int]) -> None:
    first, second, third, *_ = channels
    bus.write_counts({first: 300, third: 400})
    for _ in range(2):
        bus.open()
        bus.start()
    assert bus.read_counts([first, second, third]) == {first: 300, second: None, third: 400}
    assert bus.running()


LAWS = (
    new_bus_sends_nothing,
    written_counts_are_read_back,
    release_affects_only_the_given_channels,
    reopening_and_restarting_keep_the_counts,
)
