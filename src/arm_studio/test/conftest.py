# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261120)
