# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Recordings of topics as MCAP files (https://mcap.dev): written, and played again."""
