# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""When the driver tells where it is, and with what time; on a clock that the test moves."""

from types import SimpleNamespace

import pytest
from arm_description.library import robot_path
from arm_hardware.clock import SteadyClock
from arm_hardware.control.snapshot import UNCONFIGURED, DriverSnapshot, DriverState
from arm_hardware.driver import Driver
from arm_hardware.motion.options import DriverOptions
from arm_hardware.ros import state_publisher as publisher_module
from arm_hardware.ros.driver_context import DriverContext, DriverTime
from arm_hardware.ros.state_publisher import DriverStatePublisher, diagnostics
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from arm_description import load_robot

TICK = 0.02  # [s] of the driver's clock
NANO = 1_000_000_000


def endpoint(name):
    """The publisher of a node, as the graph describes it."""
    namespace, _, node = name.rpartition("/")
    return SimpleNamespace(node_namespace=namespace or "/", node_name=node)


class World:
    """A node, a driver and the time; the driver's clock runs `speed` times as fast."""

    def __init__(
        self, speed=1.0, rate=50.0, rest_rate=5.0, publish_clock=True, robot="nut_arm", prefix=""
    ):
        self.wall, self.speed, self.state, self.moment = 1000.0, speed, DriverState.MOVING, None
        self.sent = {}
        driver = SimpleNamespace(
            controller=SimpleNamespace(snapshot=self.snapshot),
            axes=SimpleNamespace(
                arm=("a",),
                names=("a",),
                hand=None,
                all=("a",),
                dependents=(),
                dependent=lambda _: [],
            ),
            output=SimpleNamespace(maps=()),
        )
        clock = SimpleNamespace(
            now=lambda: (self.wall - 900.0) * speed,
            speed=speed,
            origin=900.0 * speed,
            simulated=speed != 1.0,
        )
        ros = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=round(self.wall * NANO)))
        options = SimpleNamespace(speed=speed, hardware="fake")
        parameters = SimpleNamespace(
            options=options,
            robot=robot,
            prefix=prefix,
            joint_state_rate_hz=rate,
            joint_state_rest_rate_hz=rest_rate,
            publish_clock=publish_clock,
        )
        self.context = DriverContext(parameters, DriverTime(ros, clock), None)
        self.context.driver = driver
        self.clocks = ["/left/arm"]
        node = SimpleNamespace(
            create_publisher=self.create_publisher,
            get_fully_qualified_name=lambda: "/left/arm",
            get_publishers_info_by_topic=lambda _: map(endpoint, self.clocks),
            count_publishers=lambda _: 0,
        )
        self.tracked = []  # stamps of controller_state
        self.monitor = SimpleNamespace(
            tracking=lambda _: None, publish=lambda *sent: self.tracked.append(sent[-1])
        )
        self.publisher = DriverStatePublisher(node, self.context, self.monitor)
        self.states = self.sent[JointState]

    def create_publisher(self, kind, name, qos):
        return SimpleNamespace(publish=self.sent.setdefault(kind, []).append)

    def snapshot(self):
        return DriverSnapshot(self.state, "", (0.5,), (0.0,), (0,), moment=self.moment)

    def stamps(self):
        return [m.header.stamp.sec * NANO + m.header.stamp.nanosec for m in self.states]

    def run(self, seconds, ticks=True, late=0.0):
        """Let the reporter work as its thread does; return how often it looked."""
        looks, end, next_tick = 0, self.wall + seconds, self.wall
        while self.wall < end:
            wait = max(0.0, self.publisher.time_to_next(self.wall))
            self.publisher.woken.clear()
            if ticks and next_tick <= self.wall + wait:
                self.wall = max(self.wall, next_tick)
                self.moment = (next_tick - 900.0) * self.speed
                self.wall += late
                next_tick += TICK / self.speed
                self.publisher.tick()
                if not self.publisher.woken.is_set():
                    continue
            else:
                self.wall += max(wait, 1e-4)
            self.publisher.publish()
            looks += 1
        return looks


@pytest.fixture
def world(monkeypatch):
    def make(*arguments, **options):
        made = World(*arguments, **options)
        monkeypatch.setattr(publisher_module.time, "monotonic", lambda: made.wall)
        array = DiagnosticArray(status=[DiagnosticStatus()])
        monkeypatch.setattr(publisher_module, "diagnostics", lambda *_: array)
        monkeypatch.setattr(publisher_module.driver_messages, "status", lambda *_: None)
        return made

    return make


def test_controller_state_is_that_of_the_joint_state_although_ticks_go_on(world):
    made = world()
    made.moment = 1.0

    def tracking(driver):
        found = SimpleNamespace(snapshot=made.snapshot())
        made.moment += TICK  # the control loop's thread does not wait
        return found

    made.monitor.tracking = tracking
    for _ in range(5):
        made.publisher.publish()
    assert len(made.states) == 5
    assert [m.header.stamp for m in made.states] == made.tracked
    assert made.stamps()[1] - made.stamps()[0] == pytest.approx(TICK * NANO, abs=1)


@pytest.mark.parametrize("late", [0.0, 0.003])
def test_each_tick_of_a_motion_is_published_once_with_its_stamp(world, late):
    made = world()
    made.run(2.0, late=late)
    assert len(made.states) == pytest.approx(100, abs=2)
    gaps = [b - a for a, b in zip(made.stamps(), made.stamps()[1:], strict=False)]
    assert gaps[1:] == pytest.approx([TICK * NANO] * len(gaps[1:]), abs=1000)


@pytest.mark.parametrize("rate", [1.0, 2.0, 10.0])
def test_slow_rate_is_kept_without_busy_polling(world, rate):
    made = world(rate=rate)
    looks = made.run(4.0)
    assert len(made.states) == pytest.approx(4.0 * rate, abs=2)
    assert looks < 250  # 50 ticks a second, and what else is due


def test_fast_simulated_time_is_published_at_most_100_times_per_wall_second(world):
    made = world(speed=20.0)
    made.run(2.0)
    assert len(made.states) == pytest.approx(200, abs=10)
    assert made.stamps() == sorted(made.stamps())


@pytest.mark.parametrize(("speed", "rate"), [(1.0, 5.0), (20.0, 5.0), (1.0, 2.0), (1.0, 25.0)])
def test_resting_arm_is_published_at_its_own_rate_even_if_the_loop_hangs(world, speed, rate):
    made = world(speed=speed, rest_rate=rate)
    made.state = DriverState.ARMED
    made.run(0.1)
    made.states.clear()
    looks = made.run(2.0, ticks=False)
    assert len(made.states) == pytest.approx(2.0 * rate, abs=1)
    assert len(set(made.stamps())) == 1  # the time at which the loop last was there
    assert looks < 150


def test_nothing_is_published_without_a_driver(world):
    made = world()
    made.context.driver = None
    assert made.run(2.0, ticks=False) < 30 and made.states == []


@pytest.mark.parametrize("speed", [1.0, 8.0])
def test_stamp_of_a_moment_does_not_drift(world, speed):
    made = world(speed=speed)
    first = made.context.time.at(790.0)
    made.wall += 12.34
    again = made.context.time.at(790.0)
    assert abs(first.nanosec - again.nanosec) < 1000 and first.sec == again.sec


def test_drivers_of_one_speed_have_the_same_simulated_time():
    first, second = SteadyClock(4.0), SteadyClock(4.0)
    times = [DriverTime(None, clock).now() for clock in (first, second)]
    ahead = (times[1].sec - times[0].sec) + 1e-9 * (times[1].nanosec - times[0].nanosec)
    assert 0.0 <= ahead < 1.0


def test_only_chosen_drivers_publish_the_clock():
    assert Clock in World(speed=4.0).sent
    assert Clock not in World(speed=4.0, publish_clock=False).sent


@pytest.mark.parametrize(
    ("other", "publishes"), [("/right/arm", True), ("/arm", False), ("/gazebo", False)]
)
def test_one_of_several_drivers_publishes_the_clock(world, other, publishes):
    made = world(speed=8.0)
    made.clocks.append(other)  # it sees this one in the same way
    made.run(2.0, ticks=False)
    assert bool(made.sent[Clock]) is publishes


def test_driver_takes_over_the_clock_of_one_that_ended_and_leaves_it_again(world):
    made = world(speed=8.0)
    made.clocks.append("/arm")
    made.run(2.0, ticks=False)
    assert not made.sent[Clock]
    made.clocks.remove("/arm")
    made.run(2.0, ticks=False)
    assert made.sent[Clock]
    made.clocks.append("/arm")
    made.run(1.1, ticks=False)
    made.sent[Clock].clear()
    made.run(2.0, ticks=False)
    assert not made.sent[Clock]


def test_diagnostics_name_node_and_robot_in_full_whether_configured_or_not(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(robot_path("nut_arm").read_text())
    configured = Driver(load_robot(str(file)), DriverOptions(prefix="left_"))
    for driver in (None, configured):
        world = World(robot=str(file), prefix="left_")
        world.context.driver = driver
        array = diagnostics(world.publisher._name, world.context, UNCONFIGURED, Time())
        (status,) = array.status
        assert (status.name, status.hardware_id) == ("/left/arm: servo driver", "left_nut_arm")


def test_robot_file_that_cannot_be_read_names_the_robot():
    world = World(robot="robots/nosuch.yaml", prefix="left_")
    assert world.context.robot == "left_nosuch"
