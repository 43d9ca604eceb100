# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The tools of this package on the command line, one file each."""
