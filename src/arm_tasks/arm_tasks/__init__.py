# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tasks for an arm, proven before it moves: scenes, task files, plans, an engine, a nut.

The core has no ROS in it. The way through it::

    start = ArmConfiguration.of_posture(model, "rest")
    request = load_request("nut_transfer", model, Chain.from_model(model), start)
    plan = plan_task(request)
    engine = Engine(plan, port)  # then engine.tick() until its state is done

NutWorld(scene) judges a simulated run by tool poses and jaw widths alone.
"""
