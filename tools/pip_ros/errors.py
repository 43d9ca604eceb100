# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The error of the set-up tools."""


class SetupError(RuntimeError):
    """Something is missing or failed; the message includes the remedy."""
