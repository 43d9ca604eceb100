# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What each topic, service and action is for, in a few words, and who else has a part in it."""

TOPICS = {
    "/clock": "simulated time, if `speed` is not 1",
    "/diagnostics": "once a second: lateness of the control loop, refusals; state of the solver",
    "/rosout": "the log of all nodes; the page shows the last warning",
    "arm_controller/goal": "where the trajectory under way ends",
    "arm_controller/joint_trajectory": "a trajectory without an answer, also for streams;"
    " without points: brake and hold",
    "arm_hardware/status": "state of the driver, each servo's pulse, one sentence why",
    "arm_hardware/emergency_stop": "the latched stop, for those who cannot call a service",
    "arm_hardware/stop_now": "deprecated name of `arm_hardware/emergency_stop`",
    "joint_states": "joints and gripper as commanded, rounded to the board's counts; without a"
    " driver the sliders'",
    "joint_targets": "where sliders and views without a driver shall go",
    "joy": "a joystick; the standard `joy` package publishes it",
    "kinematics_markers": "the kinematics in pictures, each layer switched by a parameter",
    "nut_world/state": "where the simulated nut is, turns engaged, why it fell",
    "payload_world/poses": "where the simulated payloads are",
    "robot_description": "the URDF",
    "robot_file/status": "what is wrong with the robot file; empty if nothing is",
    "run_task/state": "the task under way: step, progress, paused or not",
    "scene_markers": "what stands around the arm, the nut, the text of the task",
    "task_text": "one sentence: what the task is doing",
    "tf": "frames that move",
    "tf_static": "frames that do not",
    "tool_handle/feedback": "what is done to the handle at the tool in RViz",
    "tool_handle/update": "the handle at the tool, for RViz",
}
SERVICES = {
    "arm_hardware/change_state": "configure, activate, deactivate, clean up, shut down: as every"
    " lifecycle node",
    "arm_hardware/get_available_states": "as every lifecycle node",
    "arm_hardware/get_available_transitions": "as every lifecycle node",
    "arm_hardware/get_state": "as every lifecycle node",
    "arm_hardware/get_transition_graph": "as every lifecycle node",
    "arm_hardware/reset": "allows motion again after a stop; moves nothing",
    "arm_hardware/stop": "freezes every command within a control period, until reset",
    "check_task": "can a task be done? each step's report, and what would help",
    "kinematics/get_jacobian": "Jacobian, manipulability and condition number",
    "kinematics/plan_path": "a straight or arced way of the tool as a timed trajectory, or where"
    " and why it ends",
    "kinematics/solve_fk": "poses of any links at any joint positions",
    "kinematics/solve_ik": "joint positions for a pose, or why there are none",
    "list_tasks": "tasks, scenes, taught poses and paths that there are",
    "run_task/pause": "brakes on the way and holds",
    "run_task/resume": "goes on",
    "run_task/step": "does one step, then pauses again",
    "run_task/stop": "ends the task; the arm holds",
    "teach/end_recording": "ends the recording and writes the path",
    "teach/forget_pose": "removes a taught pose",
    "teach/record": "records how the arm is moved",
    "teach/replay": "plays a recorded path, checked as a task",
    "teach/save_pose": "keeps where the arm is, under a name",
    "teach/touch_bolt": "finds a bolt by touching it, writes it into the scene",
    "tool_handle/get_interactive_markers": "the handle at the tool, for an RViz that comes later",
}
# Served only where their types are installed: name -> type, node, what it is.
WHERE_INSTALLED = {
    "compute_fk": (
        "moveit_msgs/srv/GetPositionFK",
        "kinematics",
        "poses of links with MoveIt's semantics and codes; where moveit_msgs is installed",
    ),
    "compute_ik": (
        "moveit_msgs/srv/GetPositionIK",
        "kinematics",
        "inverse kinematics with MoveIt's semantics and codes; where moveit_msgs is installed",
    ),
}
ACTIONS = {
    "arm_controller/follow_joint_trajectory": "a trajectory, with joint_trajectory_controller's"
    " semantics",
    "gripper_controller/gripper_cmd": "a width of the jaws [m], counts to press past it",
    "run_task": "a task, checked as a whole before anything moves; feedback a step",
}
