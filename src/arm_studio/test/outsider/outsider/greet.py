# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A command of ./arm."""

import argparse
from collections.abc import Sequence

from arm_common import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="greet", description="Greet an arm.")
    parser.add_argument("name")
    return cli.run(parser, lambda arguments: print(f"Hello, {arguments.name}."), argv)
