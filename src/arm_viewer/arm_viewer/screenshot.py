# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the browser view, taken by a headless Chromium without a graphics card."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arm_viewer.errors import BrowserError, MissingPackageError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
LAUNCH_WITHIN = 120.0  # s
DRAWN = '[data-arm="drawn"]:not([data-revision="0"])'
# Resolves after a few pictures were painted, hence after the scene reached the canvas.
PAINTED = """count => new Promise(done => {
  const step = () => (count-- > 0 ? requestAnimationFrame(step) : done());
  step();
})"""
NOTICES = ".mantine-Notifications-root { display: none !important; }"


def find_chromium() -> str:
    """Return the path of the installed Chromium.

    Raises:
        BrowserError: If there is none; names the command that installs it.
    """
    for program in PROGRAMS:
        if path := shutil.which(program):
            return path
    raise BrowserError(
        "no Chromium is installed; on Debian: sudo apt-get update && "
        "sudo apt-get install -y chromium"
    )


@contextmanager
def open_page(size: tuple[int, int] = (1280, 720)) -> Iterator[Any]:
    """Give an empty page of a fresh headless Chromium, and close it all at the end.

    Args:
        size: Width and height of the page in pixels.

    Yields:
        A playwright.sync_api.Page.

    Raises:
        BrowserError: If Chromium is missing or does not start.
        MissingPackageError: If playwright is not installed.
    """
    program = find_chromium()
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise MissingPackageError("playwright", "it drives the headless browser") from error
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        try:
            context = playwright.chromium.launch_persistent_context(
                profile,
                executable_path=program,
                headless=True,
                args=list(FLAGS),
                viewport={"width": size[0], "height": size[1]},
                timeout=1e3 * LAUNCH_WITHIN,
            )
        except Error as error:
            raise BrowserError(f"{program} does not start: {error.message}") from error
        try:
            yield context.pages[0]
        finally:
            context.close()


def wait_drawn(page: Any, timeout: float = 60.0, settle: float = 5.0) -> None:
    """Wait until the page shows a robot.

    Args:
        page: A page that was sent to a browser view.
        timeout: The longest time to wait for a robot [s].
        settle: The longest time to wait until two pictures in a row are equal [s]. Lettering
            comes last; while the arm moves, without a graphics card, that may take half a minute.

    Raises:
        BrowserError: If no robot was drawn in that time.
    """
    from playwright.sync_api import Error

    try:
        page.wait_for_selector("canvas", timeout=1e3 * timeout)
        page.wait_for_selector(DRAWN, state="attached", timeout=1e3 * timeout)
        page.add_style_tag(content=NOTICES)
        page.evaluate(PAINTED, 2)
        _settle(page, settle)
    except Error as error:
        raise BrowserError(
            f"{page.url} showed no robot within {timeout:g} s; "
            "is something publishing robot_description?"
        ) from error


def _settle(page: Any, longest: float) -> None:
    """Wait until two pictures in a row are equal, or for the longest time [s]."""
    end = time.monotonic() + longest
    former, present = b"", page.screenshot()
    while former != present and time.monotonic() < end:
        page.evaluate(PAINTED, 2)
        former, present = present, page.screenshot()


def scene_box(page: Any) -> dict[str, float]:
    """Return where the page shows the scene, beside the panel: x, y, width, height in pixels."""
    box: dict[str, float] = page.locator("canvas").last.bounding_box()
    return box


def screenshot(
    url: str,
    path: Path,
    size: tuple[int, int] = (1280, 720),
    timeout: float = 60.0,
    settle: float = 5.0,
) -> None:
    """Save a picture of a browser view as soon as its robot is drawn.

    Args:
        url: The view's address, e.g. http://127.0.0.1:8080.
        path: The PNG file to write.
        size: Width and height in pixels.
        timeout: The longest time to wait for the robot [s].
        settle: The longest time to wait for a picture that stands still [s].

    Raises:
        BrowserError: If there is no Chromium, no view at the address, or no robot in it.
        MissingPackageError: If playwright is not installed.
    """
    with open_page(size) as page:
        visit(page, url, timeout, settle)
        page.screenshot(path=str(path))


def visit(page: Any, url: str, timeout: float = 60.0, settle: float = 5.0) -> None:
    """Open a browser view in a page and wait until its robot is drawn.

    Raises:
        BrowserError: If nothing answers at the address, or no robot appears.
    """
    from playwright.sync_api import Error

    try:
        page.goto(url, timeout=1e3 * timeout)
    except Error as error:
        raise BrowserError(f"nothing answers at {url}: {error.message.splitlines()[0]}") from error
    wait_drawn(page, timeout, settle)
