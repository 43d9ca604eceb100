# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A panel of the page: one line that says how many joints the robot has."""

from arm_viewer.browser.callbacks import PageGui
from arm_viewer.panels.interface import PanelContext, PanelEntry, PanelState
from arm_viewer.port import Where


class GreetingPanel:
    """The number of joints as text."""

    title = "Greeting"

    def __init__(self, context: PanelContext) -> None:
        self._model = context.model()

    def build(self, gui: PageGui) -> None:
        """Add the text."""
        joints = 0 if self._model is None else self._model.n
        gui.elements.add_markdown(f"A robot with {joints} joints.")

    def update(self, state: PanelState) -> None:
        """Nothing depends on the posture."""

    def close(self) -> None:
        """Nothing is left."""


ENTRY = PanelEntry(GreetingPanel, 6.0, Where.EVERYWHERE)
