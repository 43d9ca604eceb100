# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Planning: every step of a task proven before the first motion."""
