# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Replaces this process by another program."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from .errors import SetupError


def become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this process by a program, which keeps the shared lock on the build.

    Raises:
        SetupError: The program cannot be run.
    """
    sys.stdout.flush()
    try:
        os.execvpe(command[0], list(command), environment)
    except OSError as error:
        raise SetupError(f"{command[0]} cannot be run: {error.strerror}") from None
