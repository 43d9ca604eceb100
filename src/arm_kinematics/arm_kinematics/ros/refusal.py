# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A request that cannot be answered: the status to give and the sentence to say."""

from __future__ import annotations

from arm_interfaces.srv import SolveIK
from arm_kinematics.errors import KinematicsError

BAD_REQUEST: int = SolveIK.Response.BAD_REQUEST
NO_TRANSFORM: int = SolveIK.Response.NO_TRANSFORM
NOT_READY: int = SolveIK.Response.NOT_READY


class RefusalError(KinematicsError):
    """A request is refused.

    Attributes:
        status: One of BAD_REQUEST, NO_TRANSFORM, NOT_READY.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def bad(message: str) -> RefusalError:
    """Return the refusal of a request that makes no sense."""
    return RefusalError(BAD_REQUEST, message)
