# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What contact physics cost: CPU and memory of the nut transfer, and the time to its first step.

The pulses of a transfer are recorded from the driver on an emulated chip. Processes that import
only what the simulated world needs replay them. A nut that falls ends the measurement.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ik.tables import add_write, processor, table, write

from arm_common import cli

MODEL, SCENE, TASK = "nut_arm", "nut_transfer", "nut_transfer"


def record(file: Path) -> None:
    """Write the pulses of all frames of the task."""
    from arm_hardware.motion.options import DriverOptions
    from arm_simulation.arms.driver_arm import DriverArm
    from arm_tasks.execution.engine import Engine
    from arm_tasks.planning.planner import plan_task
    from arm_tasks.scene.file import load_scene
    from arm_tasks.task.condition import Observation
    from arm_tasks.task.parser import load_task
    from arm_tasks.task.request import TaskRequest

    from arm_description import load_robot
    from arm_kinematics import Chain

    model = load_robot(MODEL)
    arm = DriverArm(model, DriverOptions(hardware="sim", backend="i2c_dev"))
    assert arm.driver.emulation is not None
    chip, frames = arm.driver.emulation.chip, []
    arm.arm()
    scene, task, start = load_scene(SCENE, model.name), load_task(TASK), arm.configuration()
    plan = plan_task(TaskRequest(task, scene, model, Chain.from_model(model), start))
    if not plan.feasible:
        raise SystemExit(plan.message)
    engine = Engine(plan, arm, clock=lambda: arm.time, observe=lambda *_: Observation(None, 0.0))
    while not engine.tick().done:
        arm.step()
        frames.append([chip.pulse_us(channel) for channel in range(16)])
    maps = dict(zip((axis.name for axis in arm.driver.axes), arm.driver.output.maps, strict=True))
    file.write_bytes(pickle.dumps((maps, frames)))


def replay(file: Path) -> dict[str, Any]:
    """Replay pulses and return what it cost; the times of waiting for the nut are separate."""
    from arm_simulation.contact.world import FRAME, ContactWorld
    from arm_tasks.scene.file import load_scene

    from arm_description import load_robot

    maps, frames = pickle.loads(file.read_bytes())
    model = load_robot(MODEL)
    world = ContactWorld(model, load_scene(SCENE, model.name), maps)
    world.step(frames[0].__getitem__)
    first, cost, worst, touched = time.monotonic(), [], 0.0, 0
    for pulses in frames[1:]:
        begin = time.process_time()
        world.step(pulses.__getitem__)
        truth = world.nut()
        world.joints()
        cost.append(time.process_time() - begin)
        worst, touched = max(worst, cost[-1]), touched + truth.held
        if truth.fallen:
            break
    return {
        "first": first,
        "simulated": len(cost) * FRAME,
        "share": sum(cost) / (len(cost) * FRAME),
        "worst": worst,
        "held": touched / len(cost),
        "memory": peak_memory(),
        "end": f"{truth.turns_engaged:.1f} turns on {truth.bolt}" if truth.bolt else "nut fell",
    }


def peak_memory() -> float:
    """Return the peak of this process [MB]; that of getrusage begins with its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024.0


def measured(file: Path) -> dict[str, Any]:
    """Return what a new process measured."""
    begin = time.monotonic()
    command = [sys.executable, __file__, "--replay", str(file)]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found | {"start": found["first"] - begin}


def main() -> None:
    """Measure, print, and write where told to."""
    parser = argparse.ArgumentParser(prog="./arm bench contact_world", description=__doc__)
    parser.add_argument("--runs", type=cli.whole_number(1), default=3, help="processes (3)")
    add_write(parser)
    parser.add_argument("--replay", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.replay:
        print(json.dumps(replay(chosen.replay)))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pulses"
        record(file)
        measured(file)  # stores the compiled threads
        rows, loads = [], []
        for _ in range(chosen.runs):
            found = measured(file)
            loads.append(os.getloadavg()[0])
            rows.append(
                [
                    f"{found['simulated']:.1f} s, {found['end']}",
                    f"{found['share']:.2f}",
                    f"{1e3 * found['worst']:.0f} ms",
                    f"{found['start']:.1f} s",
                    f"{found['memory']:.0f} MB",
                ]
            )
            print("  ".join(rows[-1]), flush=True)
    head = ["simulated", "CPU s per s", "longest frame of 20 ms", "to the first step", "memory"]
    load = f"load of {min(loads):.1f} to {max(loads):.1f}"
    text = f"{processor()}, {os.cpu_count()} cores, {load}.\n\n{table(head, rows)}"
    write(chosen.write, "contact_world", text)


if __name__ == "__main__":
    main()
