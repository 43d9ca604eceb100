# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Power, heat and speed of the computer, where it tells.

Under-voltage: the kernel's raspberrypi-hwmon (Documentation/hwmon/raspberrypi-hwmon.rst), or the
firmware's ``vcgencmd get_throttled``, whose bits 0 to 3 are now and 16 to 19 since the start
(documentation of Raspberry Pi OS, "vcgencmd").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from arm_hardware.examining.finding import Finding

HOT = 80.0  # [degrees Celsius] a Raspberry Pi throttles from here on
CPUFREQ = "devices/system/cpu/cpu0/cpufreq/scaling_governor"
SUPPLY = (
    "feed the computer with its own supply (5 V, 3 A; Pi 5: 5 A) and a short cable, "
    "the servos with another"
)
THROTTLED = {
    0: "under-voltage now",
    1: "frequency capped now",
    2: "throttled now",
    3: "soft temperature limit now",
    16: "under-voltage since the start",
    17: "frequency was capped",
    18: "was throttled",
    19: "soft temperature limit was reached",
}


def computer(sys: Path, throttled: Callable[[], str]) -> Iterator[Finding]:
    """Look at what can be read; what cannot is left out.

    Args:
        sys: The kernel's /sys.
        throttled: Returns what ``vcgencmd get_throttled`` says, "" where it is not there.
    """
    governor = _text(sys / CPUFREQ)
    if governor:
        slow = governor == "powersave"
        fix = f"echo performance | sudo tee /sys/{CPUFREQ}: ticks come in time then"
        yield Finding("CPU governor", not slow, governor, fix if slow else "", needed=False)
    heat = _text(sys / "class/thermal/thermal_zone0/temp")
    if re.fullmatch(r"-?\d+", heat):
        degrees = int(heat) / 1000.0
        ok = degrees < HOT
        fix = "" if ok else "cool the computer: it slows down when hot"
        yield Finding("CPU temperature", ok, f"{degrees:.0f} degrees Celsius", fix, needed=False)
    yield from _supply(sys, throttled())


def _supply(sys: Path, throttled: str) -> Iterator[Finding]:
    match = re.fullmatch(r"throttled=0x([0-9a-fA-F]+)", throttled.strip())
    if match:
        bits = int(match[1], 16)
        said = [text for bit, text in THROTTLED.items() if bits >> bit & 1]
        low = bits & (1 | 1 << 16)
        fix = SUPPLY if low else "cool the computer" if said else ""
        yield Finding("computer's supply", not said, ", ".join(said) or "good", fix, bool(low & 1))
        return
    for chip in sorted((sys / "class/hwmon").glob("hwmon*")):
        if _text(chip / "name") == "rpi_volt":
            low = _text(chip / "in0_lcrit_alarm") == "1"
            detail = "under-voltage since the start" if low else "good"
            yield Finding("computer's supply", not low, detail, SUPPLY if low else "", False)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
