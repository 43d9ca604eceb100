# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Client behind the command `run_task`."""
