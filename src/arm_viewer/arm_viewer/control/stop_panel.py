# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The STOP button of the page and the button that resets the arm; its keys are in page.js."""

from __future__ import annotations

from collections.abc import Callable

from arm_viewer.browser.callbacks import PageGui, element_id
from arm_viewer.port import PagePort

RED = (220, 38, 38)
# The button stays at the top of the sidebar while it scrolls; its parents must not clip it.
STICKY = """<style>
.mantine-ScrollArea-content div:has([id="{button}"]) {{ overflow: visible !important }}
.mantine-ScrollArea-content div:has(> [id="{button}"]) {{
  position: sticky; top: 0.4em; z-index: 9
}}
button.mantine-Button-root[id="{button}"] {{ pointer-events: auto !important;
  --button-bg: #dc2626 !important; --button-color: #fff !important; --button-bd: 0 !important;
  --button-hover: #b91c1c !important }}
</style>"""


class StopPanel:
    """Stops the arm and the page's own motions, and resets both.

    It is built first, and `follow` tells it later what else to stop; so it stops the arm, whatever
    fails in other parts of the page.
    """

    def __init__(self, port: PagePort, gui: PageGui) -> None:
        self._port = port
        self._on_stop: Callable[[], None] = lambda: None
        self._on_reset: Callable[[], None] = lambda: None
        hint = "Stops the arm at once (Space or Esc); it holds its position."
        button = gui.button("STOP", self.stop, color=RED, order=-2, hint=hint)
        command = gui.elements.add_command("STOP", description="Stops the arm", hotkey="escape")
        gui.on_user(command.on_trigger, self.stop)
        for element in (button, command):  # everyone who sees the arm can stop it
            gui.open_to_everyone(element)
        self._reset_button = gui.button(
            "Reset", self.reset, order=-1, hint="Allows motion again.", visible=False
        )
        gui.offer_stop(self.stop)
        ids = f'data-button="{element_id(button)}" data-command="{element_id(command)}"'
        stop = f'<span data-arm="stop" {ids} hidden></span>'
        sticky = STICKY.format(button=element_id(button))
        gui.mark(sticky + stop)  # for `browser/link.js`

    def follow(self, on_stop: Callable[[], None], on_reset: Callable[[], None]) -> None:
        """Also stop and reset the motions that the page itself makes."""
        self._on_stop, self._on_reset = on_stop, on_reset

    def stop(self) -> None:
        """Stop everything until a reset."""
        self._port.stop()
        self._on_stop()
        self.offer_reset()

    def offer_reset(self) -> None:
        """Show the button that allows motion again."""
        self._reset_button.visible = True

    def reset(self) -> None:
        """Allow motion again; nothing moves by itself."""
        self._port.reset()
        self._on_reset()
        self._reset_button.visible = False
