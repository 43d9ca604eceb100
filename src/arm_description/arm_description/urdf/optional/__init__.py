# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Parts of a URDF that few robots have; most readers and writers of it never import them."""
