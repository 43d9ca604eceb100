# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/test_rehearsal.py
"""Let the emulated servos of a running driver fail, and see what it does."""

from __future__ import annotations

import argparse
import sys

from arm_common.errors import InputError
from arm_common.ros.node_runner import add_namespace, user_arguments
from arm_common.terminal import print_line
from arm_description.model.units import UNITS
from arm_hardware.errors import HardwareError

from arm_common import cli
from arm_simulation.emulation.rehearsal import EVENTS

_WATCHED = 3.0  # [s] of the driver's status after an event; a servo is overloaded after 2 s


def rehearsal_parser() -> argparse.ArgumentParser:
    """Return the parser of `rehearse`."""
    text = (
        "Let the servos of a running driver fail, and see what it does. Only simulated servos do: "
        "those of driver without --real, and of demo."
    )
    parser = argparse.ArgumentParser(prog="rehearse", description=text)
    add_namespace(parser)
    events = parser.add_subparsers(dest="event", metavar="EVENT", required=True)
    for event in EVENTS:
        takes = events.add_parser(event.name, help=event.text, description=f"{event.text}.")
        if event.servo:
            takes.add_argument("servo", metavar="SERVO", help="its joint, gripper, or its number")
        if event.unit:
            unit = event.unit.upper()
            takes.add_argument("value", type=cli.number, metavar=unit, help=f"in {event.unit}")
        takes.set_defaults(unit=event.unit)
    return parser


def main() -> int:
    """Let the simulated servos of the running driver fail; return the exit code."""
    return cli.run(rehearsal_parser(), _rehearse, user_arguments(), (HardwareError, InputError))


def _rehearse(options: argparse.Namespace) -> None:
    from arm_hardware.ros.driver_calls import drivers, only_driver

    servo, value = getattr(options, "servo", ""), getattr(options, "value", 0.0)
    with drivers(options.namespace) as running:
        driver = only_driver(running)
        si = UNITS[options.unit].si(value) if options.unit in UNITS else value
        print_line(driver.rehearse(options.event, servo, si))
        if servo or options.unit:
            driver.watch(_WATCHED, print_line)


if __name__ == "__main__":
    sys.exit(main())
