# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/ros/test_panel_browser.py
"""Opens the browser view in a headless Chromium, which needs no graphics card."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arm_viewer.errors import ViewerError, required

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "microsoft-edge")
FLAGS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
LAUNCH_TIMEOUT = 120.0  # [s]
DRAWN = '[data-arm="drawn"]:not([data-revision="0"])'
# Resolves after a few frames were painted, hence after the scene reached the canvas.
PAINTED = """count => new Promise(done => {
  const step = () => (count-- > 0 ? requestAnimationFrame(step) : done());
  step();
})"""
# Style of a picture of the scene alone.
WITHOUT_SIDEBAR = '[class*=mantine], [data-arm="over"] { visibility: hidden !important; }'
NOTICES = ".mantine-Notifications-root { display: none !important; }"


def find_chromium() -> str:
    """Return the path of the installed Chromium; a ViewerError names the command to install it."""
    for program in PROGRAMS:
        if path := shutil.which(program):
            return path
    raise ViewerError(
        "no Chromium is installed; on Debian: sudo apt-get update && "
        "sudo apt-get install -y chromium"
    )


@contextmanager
def open_page(size: tuple[int, int] = (1280, 720)) -> Iterator[Any]:
    """Open a playwright page (width, height in pixels) in a new headless Chromium.

    Raises:
        ViewerError: Chromium or playwright is missing, or Chromium does not start.
    """
    program = find_chromium()
    with required("playwright", "it controls the headless browser"):
        from playwright.sync_api import Error, sync_playwright
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        try:
            context = playwright.chromium.launch_persistent_context(
                profile,
                executable_path=program,
                headless=True,
                args=list(FLAGS),
                viewport={"width": size[0], "height": size[1]},
                timeout=1e3 * LAUNCH_TIMEOUT,
            )
        except Error as error:
            raise ViewerError(f"{program} does not start: {error.message}") from error
        try:
            yield context.pages[0]
        finally:
            context.close()


def address_in(log: Path, timeout: float) -> str:
    """Return the page's address as soon as a started view prints it, within `timeout` [s].

    Raises:
        ViewerError: It does not; the message contains what the view printed.
    """
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if found := re.search(r"Browser view: (\S+)", log.read_text()):
            return found[1]
        time.sleep(0.05)
    raise ViewerError(f"the view did not start within {timeout:g} s:\n{log.read_text()}")


def visit(page: Any, url: str, timeout: float = 60.0, settle: float = 5.0) -> None:
    """Open a browser view in a page and wait until its robot is drawn, at most `timeout` [s].

    Then wait until two consecutive pictures are equal, at most `settle` [s]; text appears last.

    Raises:
        ViewerError: Nothing answers at the address, or no robot appears.
    """
    from playwright.sync_api import Error

    try:
        page.goto(url, timeout=1e3 * timeout)
    except Error as error:
        raise ViewerError(f"nothing answers at {url}: {error.message.splitlines()[0]}") from error
    try:
        page.wait_for_selector("canvas", timeout=1e3 * timeout)
        page.wait_for_selector(DRAWN, state="attached", timeout=1e3 * timeout)
        page.add_style_tag(content=NOTICES)
        page.evaluate(PAINTED, 2)
        if settle:
            settle_picture(page, settle)
    except Error as error:
        raise ViewerError(
            f"{page.url} showed no robot within {timeout:g} s; "
            "is something publishing robot_description?"
        ) from error


def settle_picture(page: Any, longest: float) -> None:
    """Wait until two consecutive pictures of a page are equal, at most `longest` [s]."""
    end = time.monotonic() + longest
    previous, present = b"", page.screenshot()
    while previous != present and time.monotonic() < end:
        page.evaluate(PAINTED, 2)
        previous, present = present, page.screenshot()


def scene_box(page: Any) -> dict[str, float]:
    """Return the area of the scene beside the sidebar: x, y, width, height in pixels."""
    box: dict[str, float] = page.locator("canvas").last.bounding_box()
    return box
