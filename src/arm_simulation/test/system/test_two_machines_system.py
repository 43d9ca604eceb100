# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver runs on one computer, the rest on another, and the cable between them is cut.

These tests check the behaviour on a lost network that docs/safety.md describes.
"""

import itertools
import json
import subprocess
import sys
import threading
import time

import pytest
from arm_common.network import limit_to_this_computer
from arm_tasks.bringup.arguments import default_values
from arm_tasks.bringup.processes import chosen, processes
from arm_tasks.bringup.supervisor import ProcessGroup
from arm_testing.ros import machine_watcher, two_machines

from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus

WHY_NOT = two_machines.why_not()
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
BOUND = 60.0  # s
NEAR = 0.01  # rad
GONE = "client of the goal has gone"
SWING = """\
task: swing
steps:
  - move_joints: {name: there, joints: {waist: -1.2}, speed: 0.02}
"""
NETWORK = {
    "ARM_NETWORK": "subnet",
    "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",  # for the watchers, as where ROS 2 is sourced
    "ROS_DOMAIN_ID": "27",
    "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4",  # two computers share no memory
}


class Watcher:
    """A program on one machine that reports what it receives and sends commands."""

    def __init__(self, machine):
        program = [sys.executable, str(machine_watcher.__file__)]
        with machine.inside():
            self._process = subprocess.Popen(
                program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        self._numbers = itertools.count()
        self.known = {"joints": {}, "state": None, "ready": False, "accepted": []}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self.known = json.loads(line)

    def __getitem__(self, key):
        return self.known[key]

    @property
    def is_alive(self):
        return self._process.poll() is None

    @property
    def waist(self):
        return self.known["joints"]["waist"]

    def command(self, do, **how):
        """Send a command; return the number of its answer."""
        number = str(next(self._numbers))
        self._process.stdin.write(json.dumps({"do": do, "number": number, **how}) + "\n")
        self._process.stdin.flush()
        return number

    def close(self):
        self._process.kill()
        self._process.wait()


class World:
    """Two machines with their processes and a watcher on each."""

    def __init__(self, pi, desk, cable, logs):
        self.cable = cable
        self.groups = []
        for machine, part in ((pi, "hardware"), (desk, "rest")):
            values = default_values(viewer="none", backend="i2c_dev", part=part)
            group = ProcessGroup(values, logs / part)
            self.groups.append(group)
            with machine.inside():
                for process in chosen(processes("arm_description"), values):
                    if process.name != "task_client":
                        group.start(process)
        self.pi, self.desk = Watcher(pi), Watcher(desk)

    def until(self, condition, what, bound=BOUND):
        end = time.monotonic() + bound
        while not condition():
            assert time.monotonic() < end, f"no {what} within {bound:.0f} s; {self.status()}"
            assert self.pi.is_alive and self.desk.is_alive, "a watcher ended; see its output"
            time.sleep(0.02)

    def status(self):
        """Return the watchers' data and the log tails of all processes."""
        logs = [f"{n}: {g.log_tail(n)}" for g in self.groups for n in g.pids()]
        return "\n".join(map(str, (self.pi.known, self.desk.known, *logs)))

    def ready(self):
        """Wait until the machines are connected and the arm can be moved."""
        for watcher in (self.pi, self.desk):
            self.until(lambda w=watcher: w["state"] == HardwareStatus.ARMED, "armed driver")
            self.until(lambda w=watcher: w["joints"], "joint_states")
            self.until(lambda w=watcher: w["ready"], "servers")

    def answer(self, number):
        self.until(lambda: number in self.desk["answers"], "answer")
        return self.desk["answers"][number]

    def end(self, number):
        self.until(lambda: isinstance(self.answer(number), dict), "end of a goal")
        return self.answer(number)

    def go(self, waist, seconds=0.5):
        assert self.end(self.desk.command("follow", waist=waist, seconds=seconds)) == {
            "error_code": 0,
            "error_string": "Commanded to the goal; the servos report no position.",
        }
        for watcher in (self.pi, self.desk):
            self.until(lambda w=watcher: abs(w.waist - waist) < NEAR, "arm at the goal")

    def home(self):
        self.ready()
        if abs(self.desk.waist) > NEAR:
            self.go(0.0, 3.0)

    def swing(self):
        """Begin a task that moves the waist slowly; return the number of its answer."""
        start, number = self.pi.waist, self.desk.command("task", text=SWING)
        self.until(lambda: self.pi.waist < start - NEAR, "motion")
        return number

    def preempt(self, number):
        """Preempt a task with another goal, which ends it."""
        self.go(self.pi.waist - 0.1, 1.0)
        assert self.end(number)["status"] == RunTask.Result.HARDWARE

    def close(self):
        for obj in (self.pi, self.desk):
            obj.close()
        for group in self.groups:
            group.stop()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in NETWORK.items():
            patch.setenv(name, value)
        for name in limit_to_this_computer({}).keys() - NETWORK.keys():
            patch.delenv(name)
        pi, desk = (two_machines.Machine(*m) for m in (("pi", "10.27.0.1"), ("desk", "10.27.0.2")))
        cable = two_machines.Cable(pi, desk)
        made = World(pi, desk, cable, tmp_path_factory.mktemp("logs"))
        try:
            made.ready()
            yield made
        finally:
            made.close()
            pi.remove()
            desk.remove()


def test_states_description_and_trajectories_cross_the_network(world):
    world.until(lambda: world.pi["description"], "robot_description on the Pi")
    assert '<robot name="nut_arm"' in world.pi["description"]
    assert {"waist", "shoulder", "elbow", "wrist_roll"} <= set(world.desk["joints"])
    world.go(0.3)


@pytest.mark.thorough
def test_motion_continues_through_a_one_second_outage(world):
    world.home()
    number, began = world.swing(), world.pi.waist
    world.cable.cut()
    time.sleep(1.0)  # the duration of the outage
    world.cable.mend()
    seen = world.pi.waist
    assert seen < began - NEAR  # the motion continued
    world.until(lambda: world.pi.waist < seen - 3 * NEAR, "motion")
    world.until(lambda: world.desk.waist < seen - 3 * NEAR, "joint_states")
    assert world.pi["state"] == HardwareStatus.MOVING and world.answer(number) == "accepted"
    world.preempt(number)


@pytest.mark.thorough
@pytest.mark.parametrize("seconds", [5.0, 30.0])
def test_longer_outage_stops_the_arm_and_drops_stale_commands(world, seconds):
    world.home()
    task, before = world.swing(), len(world.pi["accepted"])
    world.cable.cut()
    cut = time.monotonic()
    # commands sent now must never be executed
    late = world.desk.command("follow", waist=1.0, seconds=5.0)
    world.desk.command("stream", waist=1.0, seconds=5.0)
    world.until(lambda: GONE in world.pi["message"], "end of the goal", seconds)
    world.until(lambda: world.pi["state"] == HardwareStatus.ARMED, "arm at rest", seconds)
    held = world.pi.waist
    assert -1.1 < held < -NEAR
    time.sleep(max(0.0, cut + seconds - time.monotonic()))
    world.cable.mend()
    end = world.end(task)
    assert end["status"] == RunTask.Result.HARDWARE and end["can_resume"], end
    world.ready()
    # goals are accepted in order of arrival: a late one would precede this
    world.go(held + 0.1)
    assert late not in world.desk["answers"]
    world.until(lambda: len(world.pi["accepted"]) > before, "goal")
    assert [round(waist - held, 2) for waist in world.pi["accepted"][before:]] == [0.1]
    world.preempt(world.swing())  # and tasks run again
