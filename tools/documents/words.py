# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Short descriptions of all topics, services and actions."""

TOPICS = {
    "/clock": "simulated time: with contact physics, and if `speed` is not 1",
    "/diagnostics": "once a second: lateness of the control loop, refusals; state of the solver; "
    "of every process the number of callbacks that failed, once there is one",
    "/rosout": "the log of all nodes; the page shows the last warning",
    "arm_controller/controller_state": "trajectory, command and their difference; nothing of it is"
    " measured",
    "arm_controller/goal": "end of the current trajectory",
    "arm_controller/joint_trajectory": "a trajectory without a result, also for streams;"
    " without points: brake and hold",
    "arm_controller/speed_scaling_input": "factor on the speed of all motions: 1 as planned, 0"
    " brakes on the path and waits",
    "arm_hardware/limits": "limits that robot file and calibration leave, as a URDF of joints",
    "arm_hardware/refusal": "action and reason of a rejected goal",
    "arm_hardware/status": "state of the driver with the reason, pulse of each servo",
    "arm_hardware/emergency_stop": "the latched stop, for clients that cannot call a service",
    "ground_truth/contacts": "contact physics: points and forces of contacts",
    "ground_truth/joint_states": "contact physics: true positions of all joints",
    "joint_states": "commanded positions of joints and gripper, rounded to the board's counts:"
    " 50 Hz in a motion, 5 Hz of wall time at rest; without a driver, the sliders",
    "joint_targets": "targets for sliders and views without a driver",
    "joy": "a joystick; the standard `joy` package publishes it",
    "kinematics_markers": "markers of the kinematics; a parameter switches each layer",
    "leader/joint_states": "positions of the arm that another one follows",
    "nut_world/state": "position of the simulated nut, engaged turns, why it fell",
    "payload_world/poses": "poses of the simulated payloads",
    "scene_file/status": "why the newest text of the scene's file is not shown; empty if it is",
    "scene_file/text": "text of the scene that is shown, once another one replaced the first",
    "scene_file/edited": "text of a scene that a page edits; it need not be saved",
    "robot_description": "the URDF",
    "robot_file/status": "error in the robot file; empty if there is none",
    "servo_supply": "current that the servos draw, negative, from a sensor in their supply's wire"
    " or from contact physics",
    "task_server/resume_step": "number of the step at which the last task can continue, or empty",
    "task_server/state": "the current task, at least once a second: after 3 s of silence the "
    "server is gone",
    "scene_markers": "objects around the arm, and the nut",
    "task_markers": "the text of the task",
    "task_text": "one sentence: what the task is doing",
    "/tf": "frames that move",
    "/tf_static": "frames that do not",
    "tool_handle/feedback": "interaction with the tool handle in RViz",
    "tool_handle/update": "the tool handle, for RViz",
}
SERVICES = {
    "arm_controller/query_state": "state of the running trajectory at a time",
    "arm_hardware/arm": "arm, anew after a fault: makes the transitions of the lifecycle",
    "arm_hardware/change_state": "configure, activate, deactivate, clean up, shut down: as every"
    " lifecycle node",
    "arm_hardware/disarm": "end every motion and hold, until it is armed",
    "arm_hardware/get_available_states": "as every lifecycle node",
    "arm_hardware/get_available_transitions": "as every lifecycle node",
    "arm_hardware/get_state": "as every lifecycle node",
    "arm_hardware/get_transition_graph": "as every lifecycle node",
    "arm_hardware/rehearse": "let simulated servos fail: unplug, push, change the supply",
    "arm_hardware/release": "take the torque or the pulses of all servos: hold the arm before",
    "arm_hardware/reset": "allow motion again after a stop; moves nothing",
    "arm_hardware/stop": "freeze every command within a control period, until reset",
    "check_task": "check a task: a report for each step, and remedies",
    "kinematics/cancel_ik_batch": "end a batch of inverse kinematics",
    "kinematics/get_jacobian": "Jacobian, manipulability and condition number",
    "kinematics/plan_path": "a straight or arced tool path as a timed trajectory, or where"
    " and why it ends",
    "kinematics/solve_dynamics": "torques at rest or in motion, their shares of the limits, and"
    " inertia",
    "kinematics/solve_fk": "poses of any links at any joint positions",
    "kinematics/solve_ik": "joint positions for a pose, or why there are none",
    "kinematics/solve_ik_batch": "joint positions for many targets at the solver's own speed",
    "list_tasks": "available tasks, scenes, taught poses and paths",
    "nut_world/reset": "put nut and payloads back where the scene has them, unless they are held",
    "task_server/pause": "brake on the path by a speed scaling of 0, and hold",
    "task_server/resume": "resume the task",
    "task_server/step": "run one step, then pause again",
    "task_server/stop": "end the task; the arm holds",
    "teach/end_recording": "end the recording and write the path",
    "teach/forget_pose": "delete a taught pose",
    "teach/record": "record the arm's motion",
    "teach/replay": "play a recorded path, checked as a task",
    "teach/save_pose": "save the current pose under a name",
    "teach/touch_bolt": "locate a bolt by touch, write it into the scene",
    "tool_handle/get_interactive_markers": "the tool handle, for an RViz that starts later",
}
# Served only where their types are installed: name -> type, node, description.
OPTIONAL_SERVICES = {
    "compute_fk": (
        "moveit_msgs/srv/GetPositionFK",
        "kinematics",
        "poses of links with MoveIt's semantics and codes; if moveit_msgs is installed",
    ),
    "compute_ik": (
        "moveit_msgs/srv/GetPositionIK",
        "kinematics",
        "inverse kinematics with MoveIt's semantics and codes; if moveit_msgs is installed",
    ),
}
ACTIONS = {
    "arm_controller/follow_joint_trajectory": "a trajectory, with joint_trajectory_controller's"
    " semantics",
    "gripper_controller/gripper_cmd": "a width of the jaws [m], counts to press beyond it",
    "run_task": "a task, checked completely before anything moves; feedback per step",
}
