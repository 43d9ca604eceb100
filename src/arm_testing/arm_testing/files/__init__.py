# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Files for tests: robot files, the bounds of their keys, the ways in which editors save."""
