# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The robot, its frames, markers and task in a browser.

`scene/` is what is shown, without ROS and without a browser; `browser/` draws it with viser;
`port.py` is how a page reaches an arm; `control/` moves it, in `panels/` of a `page/`; `ros/` and
`local_arm.py` are the implementations of the port: topics, and a model in the same process.
"""

from arm_viewer.errors import ViewerError

__all__ = ["ViewerError"]
