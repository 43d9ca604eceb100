# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The tool's path: without small steps, in pieces of bounded number and size."""

import numpy as np
from arm_viewer.scene.tool_trace import PIECE_POINTS, PIECES, ToolTrace


def line(trace_screen, changes):
    for number in changes.dropped:
        trace_screen.pop(number, None)
    trace_screen.update(changes.grown)
    return np.concatenate([trace_screen[n] for n in sorted(trace_screen)]) if trace_screen else []


def test_trace_omits_small_steps():
    trace, screen, path = ToolTrace(step=0.01), {}, []
    for i in range(500):
        position = np.array([0.004 * i, 0.0, 0.0])
        trace.add(position)
        path.append(position)
        if i % 7 == 0:
            shown = line(screen, trace.take())
    shown = line(screen, trace.take())
    gaps = np.linalg.norm(np.diff(shown, axis=0), axis=1)
    assert set(np.round(gaps, 6)) <= {0.0, 0.012}  # Pieces share their end points.
    assert np.linalg.norm(shown[-1] - path[-1]) < 0.01
    assert all(len(piece) <= PIECE_POINTS for piece in screen.values())


def test_trace_sends_only_growth_and_stays_bounded():
    trace, screen = ToolTrace(step=0.5), {}
    for i in range(PIECE_POINTS * (PIECES + 20)):
        trace.add(np.array([float(i), 0.0, 0.0]))
        changes = trace.take()
        assert len(changes.grown) <= 1
        line(screen, changes)
    assert len(screen) <= PIECES
    trace.clear()
    line(screen, trace.take())
    assert not screen
    assert not trace.take().grown


def test_tool_at_rest_draws_nothing():
    trace = ToolTrace()
    for _ in range(10):
        trace.add(np.zeros(3))
    assert not trace.take().grown
