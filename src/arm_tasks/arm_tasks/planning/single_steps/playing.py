# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plans the step that plays a recording or a drawing: along a file of joints or of the tool."""

from __future__ import annotations

import numpy as np
from arm_common.files.access import FileAccess
from arm_common.transforms import Array
from arm_description.errors import DescriptionError
from arm_description.model.units import millimetres, mm
from arm_description.trajectories.drawing import text_path
from arm_description.trajectories.files import read_tool_trajectory, read_trajectory
from arm_description.trajectories.trajectory import ToolTrajectory
from arm_kinematics.ik.options import MODES
from arm_kinematics.paths.cartesian_path import PathOptions, PathStatus
from arm_kinematics.paths.timing import TimedPath, keep_pace
from arm_kinematics.paths.trajectories import follow_poses

from arm_kinematics import Chain, IkResult, KinematicsError
from arm_tasks.planning.collision.checker import TOUCH, thickness, tip_depths
from arm_tasks.planning.plan_builder import Errors, Labels, PlanBuilder
from arm_tasks.planning.tool_path import OutOfReach, out_of_reach, path_options
from arm_tasks.scene.scene import BASE_FRAME, Scene, SceneObject
from arm_tasks.task import steps


class PlayPlanner:
    """Plans motions along files in a scene, and adds them to a builder."""

    def __init__(self, scene: Scene, builder: PlanBuilder, files: FileAccess) -> None:
        self._scene, self._builder, self._files = scene, builder, files

    def plan(self, step: steps.Play, name: str) -> None:
        """Plan a step along a trajectory of the joints or the tool."""
        chain = self._builder.chain
        tool: ToolTrajectory | None
        try:
            if step.text:
                tool = text_path(step.text, step.drawing)
            else:
                tool = read_tool_trajectory(
                    step.path, chain.joint_names, self._files, step.drawing
                )
        except DescriptionError as error:
            raise self._builder.invalid(step, str(error)) from None
        if tool is not None:
            self._play_tool(step, name, tool)
        elif step.frame or step.orientation or step.tool_speed or step.touch:
            what = f"{step.what} is a trajectory of the joints, without frame, orientation,"
            raise self._builder.invalid(step, f"{what} tool_speed and touch")
        else:
            self._play_joints(step, name)

    def _play_tool(self, step: steps.Play, name: str, tool: ToolTrajectory) -> None:
        tool = tool.reversed() if step.reverse else tool
        if tool.times is not None and step.tool_speed is not None:
            what = f"{step.what} has times, so it cannot have a tool_speed"
            raise self._builder.invalid(step, what)
        chain, where = self._builder.chain, step.what
        obj = self._scene.object(step.touch) if step.touch else None
        begin = Labels(step, name, f"moving to the beginning of {where}", "begin")
        along = Labels(step, name, f"playing {where}{' in reverse' if step.reverse else ''}")
        poses = self._scene.frame(step.frame or BASE_FRAME) @ tool.poses
        orientation = step.orientation or MODES[tool.orientation].step
        options = path_options(orientation, step.tolerance)

        def plan(start: IkResult) -> None:
            times = tool.times_at(step.tool_speed)
            positions, timed, errors = joint_path(chain, poses, times, start.q, options)
            self._builder.joint_motion(begin, start.q)
            if obj is not None:
                self._require_shallow(along, obj, positions)
            with self._builder.allow_contact(step.touch, step.depth):
                self._builder.motion(along, positions, errors, timed=timed)

        builder = self._builder
        builder.first_feasible(begin, lambda: builder.postures(poses[0], options), plan)

    def _require_shallow(self, labels: Labels, obj: SceneObject, rows: Array) -> None:
        """Refuse a step whose tool is deeper in an object than it may be, at rows (m, n)."""
        assert isinstance(labels.source, steps.Play)
        half = thickness(obj) / 2.0  # beyond the middle a tip would leave at the back
        if labels.source.depth >= half:
            what = f"depth must be below {mm(half)}, half the thickness of {obj.name}"
            raise self._builder.invalid(labels.source, what)
        tips = np.array([self._builder.chain.fk(row) for row in rows])
        depths = tip_depths(obj, tips[:, :3, 3])
        deepest = int(np.argmax(depths))
        if depths[deepest] > labels.source.depth + TOUCH:
            at = millimetres(tips[deepest, :3, 3])
            what = (
                f"the tool would be {mm(depths[deepest], 1)} deep in {obj.name}, where"
                f" {mm(labels.source.depth)} are allowed, at ({at}) mm"
            )
            raise self._builder.refuse(labels, OutOfReach(what, reason=PathStatus.COLLISION))

    def _play_joints(self, step: steps.Play, name: str) -> None:
        model, chain = self._builder.model, self._builder.chain
        try:
            recorded = read_trajectory(step.path, model, fit=True, files=self._files)
        except DescriptionError as error:
            raise self._builder.invalid(step, str(error)) from None
        recorded = recorded.reversed() if step.reverse else recorded
        begin = Labels(step, name, f"moving to the beginning of {step.what}", "begin")
        self._builder.joint_motion(begin, recorded.positions[0])
        timed = keep_pace(recorded.times, recorded.positions, chain.velocity, chain.acceleration)
        along = Labels(step, name, f"playing {step.what}{' in reverse' if step.reverse else ''}")
        self._builder.motion(along, timed.positions.copy(), timed=timed)


def joint_path(
    chain: Chain, poses: Array, times: Array | None, start: Array, options: PathOptions
) -> tuple[Array, TimedPath | None, Errors]:
    """Return the joint path through poses base_link <- tool0 (k, 4, 4), straight between them.

    It starts at joint positions (n,); the times (k,) [s] are those of the poses.

    Returns:
        Its rows (m, n) [rad or m]; the same at the pace of the times, slower where the limits
        require it, or None without times; and the largest distance [m] and angle [rad] from it.

    Raises:
        OutOfReach: The path ends before the last pose.
    """
    try:
        way = follow_poses(chain, poses, start, options)
    except KinematicsError as error:  # it is too long
        raise OutOfReach(str(error)) from None
    if (end := way.failure) is not None:
        miss = out_of_reach(end, options, end.missing_distance, end.missing_angle)
        miss.what = f"{way.where}: {miss.what}"
        raise miss
    if times is None:
        return way.positions, None, way.errors
    taken = np.interp(way.at, np.arange(len(times)), times)
    timed = keep_pace(taken, way.positions, chain.velocity, chain.acceleration)
    return way.positions, timed, way.errors
