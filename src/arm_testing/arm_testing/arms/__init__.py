# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Arms for tests: random chains, plans, recorded answers, laws of rigid motions."""
