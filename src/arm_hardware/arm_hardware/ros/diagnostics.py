# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What /diagnostics says about the driver, for people."""

from __future__ import annotations

from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from arm_hardware.states import Snapshot, State

LEVELS = {
    State.FAULT: DiagnosticStatus.ERROR,
    State.STOPPED: DiagnosticStatus.WARN,
    State.UNKNOWN: DiagnosticStatus.WARN,
}


def diagnostics(node: Any, snapshot: Snapshot, stamp: Time) -> DiagnosticArray:
    """Return state, hardware, lateness of the loop, transfers repeated and the last refusal."""
    status = DiagnosticStatus()
    status.level = LEVELS.get(snapshot.state, DiagnosticStatus.OK)
    status.name = f"{node.get_name()}: servo driver"
    status.hardware_id = node.parameters.options.hardware
    status.message = f"{snapshot.state.name}: {snapshot.message}"
    values = {"last refusal": node.last_refusal or "none"}
    driver = node.driver
    if driver is not None:
        late = driver.loop.lateness()
        values |= {
            "calibration": str(driver.calibration.path) if driver.calibration else "none needed",
            "period [ms]": f"{driver.period * 1e3:.2f}",
            "ticks": str(late.ticks),
            "lateness median, p99, worst [ms]": ", ".join(
                f"{1e3 * x:.2f}" for x in (late.median, late.p99, late.worst)
            ),
            "schedule slips": str(late.slips),
            "scheduling of the loop": driver.loop.scheduling,
            "channels written": str(driver.output.writes),
            "transfers repeated": str(driver.output.faults),
        }
    status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
    message = DiagnosticArray(status=[status])
    message.header.stamp = stamp
    return message
