# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Geometric model of nut and payloads, and an ideal arm in it."""
