# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Client of run_task behind the command `run_task`."""
