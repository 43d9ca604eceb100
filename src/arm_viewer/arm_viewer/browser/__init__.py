# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Drawing the scene and the sidebar with viser."""
