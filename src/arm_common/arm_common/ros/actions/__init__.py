# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Clients and servers of actions, which notice when the other one is gone."""
