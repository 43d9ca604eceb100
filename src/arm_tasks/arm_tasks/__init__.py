# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tasks for an arm, proven before it moves: scenes, task files, plans, an engine, a nut.

The core does not need ROS. A typical use::

    start = ArmConfiguration.of_posture(model, "rest")
    request = load_request("nut_transfer", model, Chain.from_model(model), start)
    plan = plan_task(request)
    engine = Engine(plan, port)  # then call engine.tick() until engine.state.done

NutWorld(scene) tracks the nut in simulation from tool poses and jaw widths alone.
"""
