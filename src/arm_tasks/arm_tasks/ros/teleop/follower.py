# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Lets the arm follow the joint_states of another one, and records what it did."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from arm_common.errors import InputError
from arm_common.ros.message_conversions import stamp_seconds
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import NEWEST_STATE
from arm_common.terminal import Screen
from arm_description.robot_model import RobotModel
from sensor_msgs.msg import JointState

from arm_kinematics import Chain
from arm_tasks.errors import TasksError
from arm_tasks.manual.follower import Follower, FollowOptions, FollowState, JointMapping
from arm_tasks.manual.jogger import KEY_TIMEOUT
from arm_tasks.manual.teaching import PathRecorder
from arm_tasks.ros.prefix_search import PrefixSearch
from arm_tasks.ros.teleop.teleop_node import StreamingNode
from arm_tasks.ros.teleop.terminal import ARM_HELP, ArmTerminal, running_node

LEADER_TOPIC = "leader/joint_states"
FOLLOW_KEY = "f"
_NO_JOINT = "none"
_JAW_TOLERANCE = 5e-4  # [m] between the jaws of leader and follower
# Shares of the jaws' travel: how far they continue after the last command at most, at full speed,
# and always, since a board's counts would swallow smaller steps.
_JAW_SHARE, _LEAST_JAW_SHARE = 0.1, 0.01
_HELP = f"""\
Hold {FOLLOW_KEY} to follow the leader; release it and the arm stops.
  space  STOP: latched, nothing moves until z (reset)
{ARM_HELP}
  ?      these keys            q  quit (Ctrl-C too)
A joystick on the topic joy replaces the key: hold its dead man's button (LB).
"""


@dataclass(frozen=True)
class FollowerParameters:
    """Parameters of the node."""

    speed: float = parameter(
        FollowOptions.speed,
        "Speed limit, as a fraction of the joints' limits and of the jaws' travel per second "
        "(at least 0.1).",
        low=0.01,
        high=1.0,
    )
    align_speed: float = parameter(
        FollowOptions.align_speed,
        "The same until the arm has reached the leader's position.",
        low=0.01,
        high=1.0,
    )
    leader_timeout: float = parameter(
        FollowOptions.leader_timeout,
        "Time without valid joint_states of the leader after which the arm stops [s]; longer than "
        "the period of the leader's joint_states at rest (joint_state_rest_rate_hz).",
        low=0.3,
        high=10.0,
    )
    dead_man: int = parameter(
        4, "Joystick button to hold; nothing moves without it.", low=0, high=63
    )


@dataclass(frozen=True)
class FollowedJointParameters:
    """The parameters ``joints.<joint>.*``: the joint is at scale * leader + offset."""

    leader: str = parameter(
        "", "Joint of the leader; empty: the same name; none: the joint keeps its position."
    )
    scale: float = parameter(1.0, "Factor on the leader's position.", low=-100.0, high=100.0)
    offset: float = parameter(0.0, "Added position [rad or m].", low=-100.0, high=100.0)

    def mapping(self, joint: str) -> JointMapping:
        """Return the mapping of a joint of the follower."""
        leader = "" if self.leader == _NO_JOINT else self.leader or joint
        return JointMapping(leader, self.scale, self.offset)


class FollowerNode(StreamingNode):
    """Follows a leader while a dead man's switch is held.

    Args:
        model: The robot that follows.
        leader: Topic of the leader's joint_states.
        recorder: Gets every joint_states message of the follower; None to record nothing.
        prefix: Prefix of the follower's joints; None to find it in joint_states.
        leader_prefix: The same of the leader.
    """

    def __init__(
        self,
        model: RobotModel,
        leader: str = LEADER_TOPIC,
        recorder: PathRecorder | None = None,
        prefix: str | None = None,
        leader_prefix: str | None = None,
    ) -> None:
        super().__init__("follower", model, prefix)
        chosen = declare(self, FollowerParameters)
        joints = [
            declare(self, FollowedJointParameters, f"joints.{name}.").mapping(name)
            for name in model.joint_names
        ]
        followed = [joint.leader for joint in joints if joint.leader]
        self._search = PrefixSearch(followed, leader_prefix, "--leader-prefix")
        options = FollowOptions(chosen.speed, chosen.align_speed, chosen.leader_timeout)
        self._stream = self._follower = Follower(Chain.from_model(model), joints, options)
        self._dead_man = chosen.dead_man
        self._width: float | None = None
        self._jaw_share = max(_JAW_SHARE * chosen.speed, _LEAST_JAW_SHARE)
        self._recording_problem = ""
        self._leader_topic = self.resolve_topic_name(leader)
        if self._leader_topic == self.resolve_topic_name("joint_states"):
            raise TasksError(f"{leader} is the arm's own topic; give that of another arm")
        self.create_subscription(JointState, leader, self._on_leader, NEWEST_STATE)
        if recorder is not None:
            self._state.on_joints = partial(self._on_joints, recorder)

    @property
    def state(self) -> FollowState:
        """State of the follower."""
        return self._follower.state

    def held(self, now: float) -> bool:
        """Return True if the joystick's dead man's button is held."""
        _, buttons = self._joystick.at(now) or ((), ())
        return any(buttons[self._dead_man : self._dead_man + 1])

    def update(self, held: bool) -> str:
        """Follow for one period if the switch is held; return what prevents it, or "".

        Raises:
            TasksError: It is unclear which arm follows or leads.
        """
        if self._search.problem:
            raise TasksError(f"{self._leader_topic}: {self._search.problem}")
        at_rest = self._follower.settled and not self._follower.engaged
        if problem := self._begin_period(at_rest):
            return problem
        now = time.monotonic()
        self._publish(self._follower.step(held, now))
        width = self._width if self.state is FollowState.FOLLOWING else None
        if width is not None and abs(width - self._state.width) > _JAW_TOLERANCE:
            self._move_jaws(width, self._jaw_share)
        if problem := self._silence(now):
            return problem
        if self.state is FollowState.STOPPED:
            return "release the dead man's switch, then hold it again"
        return self._follower.leader.problem

    def recording_problem(self) -> str:
        """Return once why the recording does not continue; otherwise ""."""
        problem, self._recording_problem = self._recording_problem, ""
        return problem

    def brake(self) -> None:
        """Brake if the arm moves, and wait until the driver has received the message."""
        self._stop(self._follower.step(False, time.monotonic()))

    def _silence(self, now: float) -> str:
        """Return since when the leader is silent and why, or ""."""
        leader = self._follower.leader
        if not leader.silent(now):
            return ""
        age = leader.age(now)
        since = f"for {age:.1f} s" if math.isfinite(age) else "yet"
        reason = f": {leader.problem}" if leader.problem else ""
        return f"no valid joint_states on {self._leader_topic} {since}{reason}"

    def _on_leader(self, message: JointState) -> None:
        if len(message.name) != len(message.position):
            return
        if not self._search.receive(message.name) and self._search.problem:
            return
        positions = self._search.names.own(message.name, message.position)
        stamp = stamp_seconds(message.header.stamp)
        if self._follower.leader.receive(positions, stamp, time.monotonic()):
            self._width = self._jaw_width(positions)

    def _jaw_width(self, positions: Mapping[str, float]) -> float | None:
        """Return the leader's width between the jaws within limits [m], None if unknown."""
        gripper = self._state.model.gripper
        if gripper is None or not positions.keys() >= set(gripper.moving):
            return None
        width = gripper.width_of(positions)
        if not math.isfinite(width):
            return None
        return max(gripper.min_width, min(width, gripper.max_width))

    def _on_joints(self, recorder: PathRecorder, stamp: float, q: list[float]) -> None:
        try:
            recorder.add(stamp, q)
        except TasksError as full:
            self._state.on_joints = lambda *_: None
            self._recording_problem = str(full)


class FollowTerminal(ArmTerminal):
    """Follows while a key or the joystick's button is held."""

    def __init__(self, arm: FollowerNode, screen: Screen | None) -> None:
        super().__init__(arm, screen)
        self._arm = arm
        self._until = 0.0
        self._state = arm.state

    def press(self, key: str) -> None:
        """Handle a key; any other than the dead man's switch releases it."""
        self._until = time.monotonic() + KEY_TIMEOUT if key == FOLLOW_KEY else 0.0
        super().press(key)

    def _update(self, now: float) -> str:
        problem = self._arm.update(now < self._until or self._arm.held(now))
        prefix = self._noticed(problem)
        if full := self._arm.recording_problem():
            self._report(f"The recording does not continue: {full}.")
        if self._screen is None and self._arm.state is not self._state:
            self._report(f"{self._arm.state.value.capitalize()}. {problem}".rstrip())
        self._state = self._arm.state
        return f"{self._state.value}  {prefix}{self._arm.status()}"

    def _report(self, text: str) -> None:
        if self._screen is None:
            print(text, flush=True)
        self._print(text)

    def _help(self) -> str:
        return _HELP


def run_follow(
    model: RobotModel,
    leader: str,
    record: Path | None,
    joystick_only: bool,
    namespace: str = "",
    prefix: str | None = None,
    leader_prefix: str | None = None,
) -> None:
    """Follow a leader until a person quits; then write what the arm did to a file.

    The file is also written if an error ends it.
    """
    recorder = None if record is None else PathRecorder(model)
    try:
        with contextlib.suppress(KeyboardInterrupt, EOFError), contextlib.ExitStack() as stack:
            screen = None if joystick_only else stack.enter_context(Screen())
            make = partial(FollowerNode, model, leader, recorder, prefix, leader_prefix)
            node = stack.enter_context(running_node(make, namespace))
            FollowTerminal(node, screen).run()
    except BaseException:
        with contextlib.suppress(InputError):  # the first error is the one to report
            _save(recorder, record)
        raise
    _save(recorder, record)


def _save(recorder: PathRecorder | None, file: Path | None) -> None:
    if recorder is not None and file is not None:
        print(f"\nRecorded {recorder.save(file):.1f} s in {file}.", flush=True)
