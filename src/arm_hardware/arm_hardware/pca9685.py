# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The registers of a PCA9685 that a servo driver needs (NXP data sheet, rev. 4, 16 April 2015)."""

from __future__ import annotations

MODE1, LED0, ALL_LED_OFF_H, PRE_SCALE = 0x00, 0x06, 0xFD, 0xFE
RESTART, AUTO_INCREMENT, SLEEP = 0x80, 0x20, 0x10  # of MODE1
FULL = 0x10  # of the upper byte of LEDn_ON and LEDn_OFF: always on, always off
CHANNELS = 16
COUNTS = 4096


def count_of(led: bytes) -> int | None:
    """Return how many counts an output is high, None if never (section 7.3.3).

    Args:
        led: LEDn_ON_L, LEDn_ON_H, LEDn_OFF_L, LEDn_OFF_H.
    """
    on = int.from_bytes(led[:2], "little")
    off = int.from_bytes(led[2:], "little")
    always_on, always_off = on >> 8 & FULL, off >> 8 & FULL
    if always_off or (on == off and not always_on):
        return None
    return COUNTS if always_on else (off - on) % COUNTS
