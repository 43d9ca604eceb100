# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/browser/test_server.py
"""The package's exceptions; each message names the cause and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from arm_common.errors import InputError
from arm_common.suggestions import install_command


class ViewerError(InputError):
    """Something cannot be shown, served or opened."""


@contextmanager
def required(package: str, purpose: str) -> Iterator[None]:
    """Import a package from PyPI in this context; a ViewerError explains that it is missing."""
    try:
        yield
    except ImportError as error:
        raise ViewerError(
            f"the Python package {package} is missing ({purpose})",
            remedy=f"install it with: {install_command(package)}",
        ) from error
