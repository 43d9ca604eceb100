# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The servo driver: lateness of its loop, its share of a core, the time to stop.

One driver process at speed 1 over real DDS, on the simulated board. Its registers are in a file
that this process also reads, so the times of their last changes are the board's own. Simulated
servos that answer are in a process of their own, in which bytes take the time of the wire.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from arm_common.cli import whole_number
from arm_hardware.backends import backends_of, load_backend
from arm_hardware.bus.interface import PCA9685, SerialBus
from arm_hardware.bus.retrying_bus import RetryingBus
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.selection import config_folder
from arm_hardware.motion.goal_validation import GoalPoint, TrajectoryGoal, validate_goal
from arm_hardware.motion.trajectory_start import plan_motion
from arm_simulation.emulation.pca9685_chip import ChipMemory, Pca9685Chip
from bench_stack import cpu_seconds
from diagnostic_msgs.msg import DiagnosticArray
from ik.tables import above_zero, add_write, processor, write
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Empty
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_description import load_robot

DOMAIN = "79"
PATIENCE = 60.0  # [s]
NAMES = ("waist", "shoulder", "elbow", "wrist_roll")
THERE = (1.0, -0.5, 0.5, 1.0)
SWING = 1.5  # [s] from one to the other; every register changes in nearly every tick
TICK = 0.02  # [s]
WAVE = 20.0  # [s] period of the motion whose planning is measured
QUIET = 0.1  # [s] after which registers that did not change will not
BURN = "while True: pass"
PORT = "/dev/ttyACM0"  # in the shipped calibration
SERVOS = """
import sys
from arm_hardware.bus.interface import BusServo, SerialBus
from arm_hardware.clock import SteadyClock
from arm_simulation.emulation.feetech_bus import SimulatedServoBus
wiring = SerialBus("", servos={i: BusServo("") for i in range(1, 7)})
bus = SimulatedServoBus(wiring, SteadyClock())
bus.byte_time = 1e-5  # ten bits at 1 Mbit/s
print(bus.path, flush=True)
sys.stdin.read()
"""
LATENESS = "lateness median, p99, worst [ms]"


class Driver:
    """A driver process with clients for the measurements."""

    def __init__(
        self, names: Sequence[str], there: Sequence[float], board: Path | None, **values: Any
    ) -> None:
        """Start a driver with parameters.

        Args:
            names: Joints that move.
            there: Their positions at one end of the motion, negated at the other [rad].
            board: File of the simulated board's registers.
            values: Parameters of the driver.
        """
        arguments = {"hardware": "sim", "autostart": "activate", **values}
        self.changed_at: Sequence[float] = []
        if board is not None:
            arguments["sim_registers"] = board
            self.changed_at = Pca9685Chip(memory=ChipMemory(board)).changed_at
        options = [x for k, v in arguments.items() for x in ("-p", f"{k}:={v}")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "arm_hardware.ros.process", "--ros-args", *options],
            stderr=subprocess.DEVNULL,
        )
        self.node = rclpy.create_node("bench_hardware")
        self.values: dict[str, str] = {}
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self._motion = self.node.create_publisher(
            JointTrajectory, "arm_controller/joint_trajectory", 10
        )
        self._stop_now = self.node.create_publisher(Empty, "arm_hardware/emergency_stop", 1)
        self._stop = self.node.create_client(Trigger, "arm_hardware/stop")
        self._reset = self.node.create_client(Trigger, "arm_hardware/reset")
        self._state = ""
        self._names = list(names)
        self._postures = deque((list(there), [-q for q in there]))
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        threading.Thread(target=self._executor.spin, daemon=True).start()

    def wait_armed(self) -> None:
        """Wait until it is ready."""
        self.wait_for(lambda: self._state == "ARMED", "the driver")

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.values = {value.key: value.value for value in message.status[0].values}
        self._state = message.status[0].message.partition(":")[0]

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            time.sleep(0.001)
            if time.monotonic() > end:
                raise SystemExit(f"timed out after {PATIENCE:.0f} s waiting for {what}")

    def swing(self) -> None:
        """Start moving to the other posture."""
        self._postures.rotate()
        point = JointTrajectoryPoint(positions=self._postures[0])
        point.time_from_start.sec, fraction = int(SWING), SWING % 1
        point.time_from_start.nanosec = int(fraction * 1e9)
        self._motion.publish(JointTrajectory(joint_names=self._names, points=[point]))

    def call(self, client: Any) -> None:
        """Call a service and wait for the answer."""
        future = client.call_async(Trigger.Request())
        self.wait_for(future.done, "an answer")
        assert future.result().success, future.result().message

    def stop(self, by_topic: bool) -> tuple[float, float]:
        """Stop a motion; return seconds to the last change of a register, and to the answer."""
        self.wait_for(lambda: time.monotonic() - max(self.changed_at) < 0.02, "motion")
        time.sleep(random.uniform(0.0, TICK))
        begin = time.monotonic()
        if by_topic:
            self._stop_now.publish(Empty())
        else:
            self.call(self._stop)
        answered = time.monotonic() - begin
        self.wait_for(lambda: time.monotonic() - max(self.changed_at) > QUIET, "rest")
        last = max(0.0, max(self.changed_at) - begin)
        self.call(self._reset)
        return last, answered

    def end(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.wait(PATIENCE)
        self._executor.shutdown()
        self.node.destroy_node()


@contextmanager
def load(wanted: bool) -> Iterator[None]:
    """Keep as many processes busy as there are cores."""
    number = (os.cpu_count() or 1) if wanted else 0
    burners = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(number)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def phase(driver: Driver, moving: bool, seconds: float) -> str:
    """Return lateness and CPU share of a stretch of time, as cells of a table."""
    begin, used = time.monotonic(), cpu_seconds(driver.process.pid)
    while (left := begin + seconds - time.monotonic()) > 0.0:
        if moving:
            driver.swing()
        time.sleep(min(left, SWING + 0.1))
    share = (cpu_seconds(driver.process.pid) - used) / (time.monotonic() - begin)
    late = " | ".join(f"{float(x):.2f}" for x in driver.values[LATENESS].split(","))
    return f"{late} | {100.0 * share:.1f} %"


def stops(driver: Driver, by_topic: bool, number: int) -> str:
    """Return times of stops as cells of a table [ms]."""
    measured = []
    for _ in range(number):
        driver.swing()
        measured.append(driver.stop(by_topic))
    last, answer = (sorted(1e3 * x for x in column) for column in zip(*measured, strict=True))
    answers = "- | -" if by_topic else f"{statistics.median(answer):.1f} | {answer[-1]:.1f}"
    return f"{statistics.median(last):.1f} | {last[-1]:.1f} | {answers}"


def measure(backend: str, seconds: float, number: int) -> tuple[list[str], list[str]]:
    """Return the rows of both tables for one backend."""
    loop, stop = [], []
    with tempfile.TemporaryDirectory() as folder:
        driver = Driver(NAMES, THERE, Path(folder) / "board", backend=backend)
        try:
            driver.wait_armed()
            for name, moving, busy in (
                ("at rest", False, False),
                ("moving", True, False),
                ("moving, every core busy", True, True),
            ):
                with load(busy):
                    loop.append(f"| `{backend}` | {name} | {phase(driver, moving, seconds)} |")
                print(loop[-1], flush=True)
            time.sleep(SWING)
            for by_topic, busy in ((False, False), (True, False), (False, True)):
                name = f"{'topic' if by_topic else 'service'}{', every core busy' * busy}"
                with load(busy):
                    stop.append(f"| `{backend}` | {name} | {stops(driver, by_topic, number)} |")
                print(stop[-1], flush=True)
        finally:
            driver.end()
    return loop, stop


@contextmanager
def servo_bus() -> Iterator[Path]:
    """Start the servos of an SO-101; yield a calibration with their serial port."""
    text = (config_folder() / "so101_servos.yaml").read_text()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVOS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    port = process.stdout.readline().strip()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "servos.yaml"
        path.write_text(text.replace("example: true", "example: false").replace(PORT, port))
        try:
            yield path
        finally:
            process.stdin.close()
            process.wait(PATIENCE)


def tick(path: Path, number: int = 1000) -> str:
    """Return the times of a tick's transfers with six servos, as cells of a table [ms]."""
    board = load_calibration(path).board
    assert isinstance(board, SerialBus)
    bus = RetryingBus(load_backend("feetech").bus(board))
    bus.open()
    bus.start()
    ids, taken = list(board.servos), []
    targets = {i: m.count for i, m in bus.measure(ids).items()}
    bus.write(targets)
    for n in range(number):
        begin, used = time.perf_counter(), time.thread_time()
        bus.measure(ids)
        bus.differences(targets)
        targets = dict.fromkeys(ids, 2048 + n % 2)
        bus.write(targets)
        taken.append((time.perf_counter() - begin, time.thread_time() - used))
    bus.release(ids)
    bus.close()
    wall, cpu = (sorted(1e3 * x for x in column) for column in zip(*taken, strict=True))
    return f"{statistics.median(wall):.2f} | {wall[int(0.99 * number)]:.2f} | " + (
        f"{statistics.median(cpu):.2f}"
    )


def six_servos(seconds: float) -> list[str]:
    """Return rows: an arm with six servos on a board and on a bus at 50 and 100 Hz."""
    rows = []
    for rate in (50.0, 100.0):
        with servo_bus() as path, tempfile.TemporaryDirectory() as folder:
            on_bus = {"hardware": "real", "robot": "so101", "calibration": path}
            on_bus |= {"realtime_priority": 0, "exit_action": "release"}
            for backend, robot, board, values in (
                ("i2c_dev", "learm", Path(folder) / "board", {"robot": "learm"}),
                ("feetech", "so101", None, on_bus),
            ):
                names = load_robot(robot).joint_names
                driver = Driver(
                    *(names, [0.5] * len(names), board), backend=backend, rate_hz=rate, **values
                )
                try:
                    driver.wait_armed()
                    for name, moving in (("at rest", False), ("moving", True)):
                        cells = phase(driver, moving, seconds)
                        rows.append(f"| `{backend}` | {rate:.0f} | {name} | {cells} |")
                        print(rows[-1], flush=True)
                finally:
                    driver.end()
    return rows


def planning(number: int) -> str:
    """Return the time to validate and to plan a smooth trajectory of so many points [ms]."""
    axes = axes_of(load_robot("nut_arm"))
    times = TICK * np.arange(1, number + 1)
    way = 0.25 * (1.0 - np.cos(2.0 * np.pi * times / WAVE))
    goal = TrajectoryGoal(
        axes.names,
        [GoalPoint(t, (q,) * len(axes.arm)) for t, q in zip(times, way, strict=True)],
    )
    rest = np.zeros(len(axes.arm))
    taken = []
    for _ in range(5):
        begin = time.perf_counter()
        validated = validate_goal(goal, axes)
        between = time.perf_counter()
        plan_motion(validated, axes, rest, rest, TICK)
        taken.append((between - begin, time.perf_counter() - between))
    return " | ".join(f"{1e3 * min(column):.1f}" for column in zip(*taken, strict=True))


def main() -> None:
    """Run the measurements, print the results, and write them with --write."""
    parser = argparse.ArgumentParser(prog="./arm bench hardware", description=__doc__)
    parser.add_argument(
        "--backend", choices=tuple(backends_of(PCA9685)), help="one backend only (both)"
    )
    parser.add_argument(
        "--seconds", type=above_zero, default=25.0, help="per row of lateness (25)"
    )
    parser.add_argument("--stops", type=whole_number(1), default=40, help="per row of stops (40)")
    add_write(parser)
    chosen = parser.parse_args()
    os.environ["ROS_DOMAIN_ID"] = DOMAIN
    rclpy.init()
    loop, stop = [], []
    for backend in [chosen.backend] if chosen.backend else backends_of(PCA9685):
        rows = measure(backend, chosen.seconds, chosen.stops)
        loop += rows[0]
        stop += rows[1]
    answering = six_servos(chosen.seconds)
    with servo_bus() as path:
        transfers = tick(path)
    text = "\n".join(
        [
            f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}; ticks of "
            f"20 ms, the last 1000 of each phase of {chosen.seconds:g} s; {chosen.stops} stops a "
            "line.",
            "",
            "| backend | | lateness p50 [ms] | p99 | max | share of a core |",
            "|---|---|---|---|---|---|",
            *loop,
            "",
            "| backend | stop by | to the last changed register, median [ms] | max "
            "| to the answer, median [ms] | max |",
            "|---|---|---|---|---|---|",
            *stop,
            "",
            "| points | to validate [ms] | to plan, aside from the control loop [ms] |",
            "|---|---|---|",
            *(f"| {number} | {planning(number)} |" for number in (100, 10_000, 50_000)),
            "",
            "| six servos | Hz | | lateness p50 [ms] | p99 | max | share of a core |",
            "|---|---|---|---|---|---|---|",
            *answering,
            "",
            "| transfers of a tick, six servos, 1 Mbit/s | p50 [ms] | p99 | CPU [ms] |",
            "|---|---|---|---|",
            f"| measure, check, write and read back | {transfers} |",
        ]
    )
    print("\n".join(text.splitlines()[-14:]))
    write(chosen.write, "hardware", text)


if __name__ == "__main__":
    main()
