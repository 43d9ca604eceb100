# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The formulas of an arm as SymPy expressions in metres and radians (`arm.SymbolicArm`).

Importing it raises a DescriptionError if SymPy is not installed.
"""

from arm_common.suggestions import install_command
from arm_description.errors import DescriptionError

try:
    import sympy  # noqa: F401 - asked for here, before the modules that use it
except ModuleNotFoundError as error:
    raise DescriptionError(
        f"formulas need SymPy, and {error.name} is not installed",
        remedy=install_command("sympy", "python3-sympy"),
    ) from None
