# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""For control: state machines as tables, the timing of paths."""
