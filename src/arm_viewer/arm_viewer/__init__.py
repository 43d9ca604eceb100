# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The robot, its frames, markers and task in a browser.

The cores (URDF visuals, markers, scene store, trace, sliders) know neither ROS nor the browser;
`scene_drawer.py` and `panel.py` draw with viser, `viewer_node.py` listens to ROS.
"""

from arm_viewer.errors import ViewerError

__all__ = ["ViewerError"]
