# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A package of somebody else, which adds a part of each kind to the arm packages."""
