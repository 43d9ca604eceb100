# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The core's log lines in ROS's log."""

from __future__ import annotations

import logging
from typing import Any


class _Forward(logging.Handler):
    """Hands records to a ROS logger."""

    def __init__(self, logger: Any) -> None:
        super().__init__()
        self._by_level = {
            logging.DEBUG: logger.debug,
            logging.INFO: logger.info,
            logging.WARNING: logger.warning,
            logging.ERROR: logger.error,
        }

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record."""
        level = max((k for k in self._by_level if k <= record.levelno), default=logging.DEBUG)
        self._by_level[level](record.getMessage())


def forward_logging(logger: Any) -> None:
    """Send what ``arm_hardware``'s modules log to a ROS logger."""
    core = logging.getLogger("arm_hardware")
    core.setLevel(logging.INFO)
    core.addHandler(_Forward(logger))
    core.propagate = False
