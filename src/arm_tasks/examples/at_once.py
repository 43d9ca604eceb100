# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""asyncio: solve inverse kinematics while the arm moves."""

import asyncio

from arm_tasks.client import Arm


async def main() -> None:
    """Solve two poses while the arm moves."""
    with Arm() as arm:
        moving = arm.later.move_joints({"waist": -0.4}, speed=0.1)
        targets = [0.16, -0.1, 0.18], [0.16, 0.1, 0.18]
        for answer in await asyncio.gather(*map(arm.later.ik, targets)):
            print(answer.message)
        print((await moving).message)


asyncio.run(main())
