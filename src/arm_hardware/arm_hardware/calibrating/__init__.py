# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The guided tool that finds pulses of servos by small steps, and writes them to a file."""
