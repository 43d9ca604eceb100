# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tasks for an arm, proven before they move: scenes, task files, plans, an engine, a nut.

The core has no ROS in it. The way through it::

    scene = load_scene("nut_transfer")
    task = load_task("nut_transfer")
    plan = plan_task(task, scene, model, chain, start={"waist": 0.0, ...}, start_width=0.03)
    engine = Engine(plan, port)  # then engine.tick() until it says that it is done

NutWorld(scene) is the judge of a simulated run: it sees tool poses and gripper widths alone.
"""
