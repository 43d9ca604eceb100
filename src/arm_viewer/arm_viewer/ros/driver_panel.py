# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver of the arm in the page: its buttons, speed and state, and who moves the arm.

A page with sliders beside a driver shows the arm, and moves it only on request.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial

from arm_common.ros.executor import QUIET, PolledSubscriptions
from arm_common.ros.graph import driver_namespaces, has_driver
from arm_common.ros.names import remember_positions
from arm_common.ros.qos import GOAL, LATCHED, NEWEST_STATE, STEADY_CLOCK
from arm_description.errors import UrdfError
from arm_description.model.constraints import ConstraintSet
from arm_description.robot_model import RobotModel
from arm_description.ros.description import driven_robot, limited_model
from arm_description.urdf.servo_limits import TOPIC
from control_msgs.msg import SpeedScalingFactor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from arm_interfaces.msg import HardwareStatus
from arm_viewer.port import ShownPage
from arm_viewer.ros.joint_commands import DriverCommander, SliderPublisher
from arm_viewer.ros.page_services import PageService
from arm_viewer.scene.robot import VisualJoint

# mypy: disable-error-code="no-untyped-call"

SPEED_HOLD = 0.5  # [s] after a user moved the speed slider, in which it does not move by itself
_STATES = {
    HardwareStatus.UNKNOWN: "unknown position",
    HardwareStatus.DISARMED: "disarmed",
    HardwareStatus.ARMED: "armed",
    HardwareStatus.MOVING: "moving",
    HardwareStatus.STOPPED: "stopped",
    HardwareStatus.FAULT: "fault",
}
_ARMING = {  # label and hint of the button of a service of the driver
    "arm": ("Arm", "Switches the servos on, anew after a fault; they may move to rest."),
    "disarm": ("Hold", "Disarms: ends every motion; the servos hold until they are armed."),
}
PERIOD = 0.2  # [s] between two looks at the driver and its joints
ELSEWHERE_EVERY = 10  # looks, of which one is at other namespaces
READ_ONLY = "A driver moves this arm, and this page shows it. Take control to move it from here."
ELSEWHERE = "A driver runs in the namespace {0}; this view is in {1}: --namespace NAME changes it."
OTHER_ROBOT = (
    "A driver runs here that moves {0}; this view shows {1} and moves nothing beside it. End one "
    "of them, or start the view with another --namespace or ROS_DOMAIN_ID."
)


class DriverPanel:
    """Arms and disarms the driver, sets the speed, and shows its state.

    Publishes arm_controller/speed_scaling_input; calls arm_hardware/arm and disarm; subscribes
    arm_hardware/status.

    Args:
        node: of the page.
        page: shows the state.
    """

    def __init__(self, node: Node, page: ShownPage) -> None:
        self._page, gui = page, page.gui
        self._report = partial(page.show_text, "driver")
        self._arming = {
            name: PageService(node, Trigger, f"arm_hardware/{name}", self._report, qos=GOAL)
            for name in _ARMING
        }
        self._scaling = node.create_publisher(
            SpeedScalingFactor, "arm_controller/speed_scaling_input", GOAL
        )
        node.create_subscription(
            HardwareStatus, "arm_hardware/status", self._on_status, LATCHED, event_callbacks=QUIET
        )
        self._arming_buttons = {
            name: gui.button(
                label,
                partial(self._call, self._arming[name]),
                order=-0.8,
                hint=hint,
                visible=False,
            )
            for name, (label, hint) in _ARMING.items()
        }
        self._speed = gui.elements.add_slider(
            "Speed [%]",
            min=0,
            max=100,
            step=1,
            initial_value=100,
            order=-0.5,
            hint="Of all motions: 100 as planned; 0 pauses them, and they continue above 0.",
            visible=False,  # until a driver reports its speed
        )
        self._speed_set = 0.0  # when a user set it last [s]
        gui.on_change(self._speed, self._set_speed)
        gui.never_too_late(self._speed, lambda percent: percent == 0)

    def _call(self, client: PageService) -> None:
        client.send(lambda response: self._report(response.message))

    def _set_speed(self, percent: float) -> None:
        self._speed_set = time.monotonic()
        self._scaling.publish(SpeedScalingFactor(factor=0.01 * percent))

    def _on_status(self, status: HardwareStatus) -> None:
        state = _STATES.get(status.state, str(status.state))
        self._report(f"{status.hardware}, {state}: {status.message}")
        failed = status.state == HardwareStatus.FAULT
        self._page.show_text("fault", status.message if failed else "")  # its row is cut off
        if status.state == HardwareStatus.STOPPED:
            self._page.offer_reset()
        armed = status.state in (HardwareStatus.ARMED, HardwareStatus.MOVING)
        stopped = status.state == HardwareStatus.STOPPED
        self._arming_buttons["disarm"].visible = armed
        self._arming_buttons["arm"].visible = not (armed or stopped)
        self._speed.visible = True
        is_settled = time.monotonic() - self._speed_set > SPEED_HOLD
        if is_settled and 0.0 <= status.speed_scaling <= 1.0:  # anyone may publish any number
            self._speed.value = round(100.0 * status.speed_scaling)


class SharedControl:
    """Moves the joints of a view by its sliders, or by the driver of the arm while one runs.

    Beside a driver, whichever of them came first, the sliders publish nothing and follow the
    driver's joint_states, and the driver is commanded only after a person has taken control.

    Subscribes joint_targets and joint_states (sensor_msgs/JointState), arm_hardware/limits.

    Args:
        node: of the page.
        page: gets a checkbox while a driver runs.
        sliders: publish joint_states while none does.
    """

    def __init__(self, node: Node, page: ShownPage, sliders: SliderPublisher) -> None:
        self._node, self._page, self._sliders = node, page, sliders
        self._postures, self._store = page.postures, page.store
        self._driver: DriverCommander | None = None  # until there is one
        self._limits = ""  # its message; "" until it has arrived
        self._driven_robot = ("", "")  # prefix and name of the robot that the driver moves
        self._measured: dict[str, float] = {}  # positions by name [rad or m]
        self._arm: tuple[Sequence[VisualJoint], ConstraintSet] = ((), ConstraintSet((), ()))
        self._in_control, self._looks = False, 0
        self._box = page.gui.elements.add_checkbox(
            "Take control",
            False,
            order=-0.6,
            hint="Moves the arm of the running driver from this page.",
            visible=False,
        )
        page.gui.on_change(self._box, self._take_control)
        self._states = PolledSubscriptions()
        self._states.subscribe(node, JointState, "joint_states", self._follow, NEWEST_STATE)
        node.create_subscription(String, TOPIC, self._on_limits, LATCHED, event_callbacks=QUIET)
        node.create_subscription(
            JointState, "joint_targets", self._on_targets, 10, event_callbacks=QUIET
        )
        node.create_timer(PERIOD, self._look, clock=STEADY_CLOCK)

    def set_arm(self, joints: Sequence[VisualJoint], constraints: ConstraintSet) -> None:
        """Set the joints of the arm; all others are fingers of the gripper."""
        self._arm = joints, constraints
        if self._driver is not None:
            self._driver.set_arm(joints, constraints)

    def move(self, joints: Mapping[str, float]) -> str:
        """Move joints, by name [rad or m]; return why they cannot move, or "".

        Raises:
            ViewerError: A position is not finite.
        """
        if not has_driver(self._node):
            return self._sliders.move(joints)
        self._look()
        if self._driver is None or self._other_robot() or not self._in_control:
            return self._other_robot() or READ_ONLY
        return self._driver.move(joints)

    def limited(self, model: RobotModel) -> RobotModel:
        """Return the robot of this view with the limits of its driver where those are narrower."""
        if not self._limits or self._other_robot():
            return model
        try:
            return limited_model(model, self._limits)
        except UrdfError:  # reported when the message arrived
            return model

    def positions(self) -> dict[str, float]:
        """Return the position of every joint, by name [rad or m]."""
        if self._driver is not None:
            self._states.take()
        return self._sliders.values()

    def _newest(self) -> Mapping[str, float]:
        """Return the newest positions of the driver's joints, by name [rad or m]."""
        self._states.take()
        return self._measured

    def _take_control(self, on: bool) -> None:
        self._in_control = on
        self._look()

    def _look(self) -> None:
        """Follow the driver if there is one, and say what it means for this page."""
        if not has_driver(self._node):
            self._leave()
            if self._looks % ELSEWHERE_EVERY == 0:
                self._report(self._elsewhere())
            self._looks += 1
            return
        self._looks = 0
        if self._driver is None:
            self._driver = DriverCommander(
                self._node, self._newest, width_at=self._postures.width_at
            )
            self._driver.set_arm(*self._arm)
        other = self._other_robot()
        self._box.visible = not other
        self._report(other or ("" if self._in_control else READ_ONLY))
        self._states.take()

    def _leave(self) -> None:
        """Let the sliders move the joints again, from where the driver brought them."""
        if self._box.visible or self._in_control:
            self._box.visible = self._box.value = self._in_control = False
        self._measured.clear()

    def _report(self, text: str) -> None:
        if text != self._store.text("beside"):
            self._page.show_text("beside", text)

    def _elsewhere(self) -> str:
        """Return where a driver runs that this view does not see, or ""."""
        here = self._node.get_namespace()
        return "".join(ELSEWHERE.format(n, here) for n in driver_namespaces(self._node)[:1])

    def _other_robot(self) -> str:
        """Return that the driver moves another robot than this view shows, or ""."""
        robot = self._store.robot
        shown = self._postures.prefix, "" if robot is None else robot.name
        if "" in (self._driven_robot[1], shown[1]) or self._driven_robot == shown:
            return ""
        return OTHER_ROBOT.format(*map(_robot_text, (self._driven_robot, shown)))

    def _on_limits(self, message: String) -> None:
        self._limits, self._driven_robot = message.data, driven_robot(message.data)

    def _follow(self, message: JointState) -> None:
        """Show the driver's positions; the messages of this view arrive, too."""
        if not has_driver(self._node) or self._other_robot():
            return
        remember_positions(self._measured, message.name, message.position)
        if self._sliders.follow(self._measured):
            self._page.joints_moved()

    def _on_targets(self, message: JointState) -> None:
        """Move the joints to targets of other programs, which command the driver beside one."""
        if self._page.stopped or has_driver(self._node):
            return
        targets: dict[str, float] = {}
        remember_positions(targets, message.name, message.position)
        self._sliders.move(targets)
        self._page.joints_moved()


def _robot_text(robot: tuple[str, str]) -> str:
    prefix, name = robot
    return f"{name} ({f'prefix {prefix}' if prefix else 'no prefix'})"
