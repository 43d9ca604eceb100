# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Plans the single steps of a task: motions, recordings, screwing, waiting."""
