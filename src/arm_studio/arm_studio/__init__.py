# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What teaches, designs, draws and converts an arm; no node of a running arm needs it."""
