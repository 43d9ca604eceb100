# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The robot, its frames, markers and task in a browser.

`scene/` is what is shown, without ROS and without a browser; `browser/` draws it with viser;
`control/` moves the arm from the panel; `ros/` holds the nodes and recordings.
"""

from arm_viewer.errors import ViewerError

__all__ = ["ViewerError"]
