# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the nut is, as far as somebody says so: the simulated world, or a camera some day."""

from __future__ import annotations

from rclpy.task import Future

from arm_kinematics import Chain
from arm_tasks.errors import PlanError
from arm_tasks.foreseen import Foreseen, safe_state
from arm_tasks.plan import Plan
from arm_tasks.ports import ArmPort
from arm_tasks.ros_planning import Planning
from arm_tasks.ros_senses import RosSenses
from arm_tasks.scene import Scene


class NutWatch:
    """The latest nut_world/state, held against what a plan needs.

    Args:
        senses: Hears of the nut.
        planning: Works in the background.
        port: The arm.
        chain: Its kinematics.
    """

    def __init__(self, senses: RosSenses, planning: Planning, port: ArmPort, chain: Chain) -> None:
        self._planning, self._port, self._chain = planning, port, chain
        self._senses = senses

    async def check(self, plan: Plan, scene: Scene, step: int) -> list[str]:
        """Check that the nut is as a step of a plan needs it; return what cannot be checked.

        Raises:
            PlanError: It is not.
        """
        nut = self._senses.nut
        if scene.nut is None:
            return []
        if nut is None:
            return ["nobody says where the nut is; that it is where the task needs it is on you"]
        foreseen = await self._foresee(plan, scene)
        why = foreseen.disagreement(step, self._port.where(), nut)
        if why:
            raise PlanError(why)
        return []

    async def safe_state(self, plan: Plan, scene: Scene, step: int) -> str:
        """Return what an arm that stopped in a step holds still with, "" without a nut.

        It is told by what is seen; if nobody sees, by what was planned.
        """
        if scene.nut is None:
            return ""
        here, nut = self._port.where(), self._senses.nut
        if nut is None:
            nut = (await self._foresee(plan, scene)).nut(step, here)
        T_tool = self._chain.fk([here.positions[name] for name in plan.joint_names])
        return safe_state(T_tool, nut, scene.nut.across_flats).value

    def _foresee(self, plan: Plan, scene: Scene) -> Future:
        return self._planning.in_background(lambda: Foreseen.of(plan, scene, self._chain))
