# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A network between browser and view stalls, two pages set one slider, and a page cannot draw.

A relay stands for the network, and for a proxy that serves the view in a folder.
"""

import asyncio
import math
import threading
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from arm_testing.ros.programs import joint_field
from arm_viewer.browser.access import make_access
from arm_viewer.browser.server import address_of, close_server, open_server
from arm_viewer.screenshot import DRAWN

pytestmark = pytest.mark.system

BOUND = 60.0  # [s]
LINK, DROPPED = '[data-arm="link"]', '[data-arm="page"]:has-text("dropped")'
NO_WEBGL = """(() => {
  const own = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...options) {
    return kind.startsWith("webgl") ? null : own.call(this, kind, ...options);
  };
})()"""


class Relay:
    """Passes on what browsers and the view send, or keeps it while it is stalled."""

    def __init__(self, port, folder="", host=""):
        self._target, self._folder, self._host = port, folder.encode(), host.encode()
        self._loop, self._ends = asyncio.new_event_loop(), []
        self.up = self.down = None
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait()

    def _run(self, ready):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._open())
        ready.set()
        self._loop.run_forever()

    async def _open(self):
        self.up, self.down = asyncio.Event(), asyncio.Event()
        self.up.set()
        self.down.set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    async def _accept(self, reader, writer):
        with suppress(OSError, asyncio.IncompleteReadError):
            to = await asyncio.open_connection("127.0.0.1", self._target)
            self._ends += [writer, to[1]]
            request = await reader.readuntil(b"\r\n\r\n")
            await self.up.wait()
            to[1].write(self._rewritten(request))
            await asyncio.gather(
                self._pass(reader, to[1], self.up), self._pass(to[0], writer, self.down)
            )

    def _rewritten(self, request):
        if self._folder:
            request = request.replace(b"GET " + self._folder, b"GET ", 1)
        if self._host:
            lines = request.split(b"\r\n")
            hosts = (
                b"Host: " + self._host if x.lower().startswith(b"host:") else x for x in lines
            )
            request = b"\r\n".join(hosts)
        return request

    async def _pass(self, reader, writer, flows):
        with suppress(OSError):
            while data := await reader.read(65536):
                await flows.wait()
                writer.write(data)
                await writer.drain()
        writer.close()

    def _call(self, *functions):
        for function in functions:
            self._loop.call_soon_threadsafe(function)

    def stall(self):
        self._call(self.up.clear, self.down.clear)

    def stall_up(self):
        self._call(self.up.clear)

    def flow(self):
        self._call(self.up.set, self.down.set)

    def cut(self):
        self._call(*(end.close for end in self._ends))
        self._ends = []


@pytest.fixture(scope="module")
def address(viewer):
    return urlsplit(viewer.address())


@pytest.fixture(scope="module")
def relay(address):
    return Relay(address.port)


@pytest.fixture(scope="module")
def browser(browser_page):
    browser_page.set_viewport_size({"width": 800, "height": 420})
    browser_page.set_default_timeout(1e3 * BOUND)
    return browser_page


def opened(page, port, address, folder=""):
    page.goto(f"http://127.0.0.1:{port}{folder}/?{address.query}")
    page.wait_for_selector(DRAWN, state="attached")
    page.wait_for_function("() => !window.armLink.isDead()")
    return page


@pytest.fixture(scope="module")
def opened_page(browser, relay, address):
    return opened(browser, relay.port, address)


@pytest.fixture
def page(opened_page, relay, ros):
    page = opened_page
    set_waist(page, "12")
    ros.until(lambda: close(ros, 12.0), BOUND)
    yield page
    relay.flow()
    page.wait_for_function("() => !window.armLink.isDead()")


def field(page):
    return joint_field(page, "waist")


def set_waist(page, text):
    field(page).fill(text)
    field(page).press("Enter")


def waist(ros):
    message = ros.joint_states[-1]
    return math.degrees(dict(zip(message.name, message.position, strict=True))["waist"])


def close(ros, degrees):
    return ros.joint_states and abs(waist(ros) - degrees) < 0.1


def says(page, text):
    page.wait_for_selector(f'{LINK}:has-text("{text}")')


def shows(page, degrees):
    page.wait_for_function(
        "([input, x]) => Math.abs(parseFloat(input.value) - x) < 0.06",
        arg=[field(page).element_handle(), degrees],
    )


def is_disabled(page, locator):
    return locator.evaluate("element => element.closest('[inert]') !== null")


def reset(page):
    """Let the arm move again, which a page has stopped."""
    page.wait_for_selector('[data-arm="ik"]:has-text("Stopped")')
    page.get_by_role("button", name="Reset", exact=True).click()
    page.wait_for_selector('[data-arm="ik"]', state="detached")


def test_command_of_an_outage_moves_nothing_when_the_network_is_back(page, relay, ros):
    relay.stall()
    set_waist(page, "40")
    says(page, "No connection to the arm")
    stop = page.get_by_role("button", name="STOP", exact=True)
    assert is_disabled(page, field(page))
    assert is_disabled(page, page.get_by_role("button", name="ready", exact=True))
    assert not is_disabled(page, stop)
    says(page, "for 3 s")
    relay.flow()
    page.wait_for_selector(DROPPED)
    shows(page, 12.0)
    assert close(ros, 12.0)
    page.wait_for_selector(f"{LINK} div", state="hidden")
    assert not is_disabled(page, field(page))
    set_waist(page, "20")
    ros.until(lambda: close(ros, 20.0), BOUND)


def test_network_that_stalls_in_one_direction_is_noticed_too(page, relay, ros):
    relay.stall_up()
    set_waist(page, "40")
    says(page, "No connection to the arm")
    page.wait_for_timeout(1500)  # the command becomes old
    relay.flow()
    page.wait_for_selector(DROPPED)
    assert close(ros, 12.0)
    page.wait_for_selector(DROPPED, state="hidden")  # after a while, though nobody acts


@pytest.mark.parametrize("outage", ["stall", "cut"])
def test_stop_of_an_outage_is_said_not_to_be_sent_and_stops_later(page, relay, ros, outage):
    relay.stall()
    if outage == "cut":
        relay.cut()
    says(page, "No connection to the arm")
    page.get_by_role("button", name="STOP", exact=True).click()
    says(page, "STOP could not be sent")
    relay.flow()
    says(page, "STOP was received")
    reset(page)


def test_stop_is_acknowledged_also_while_a_number_is_typed(page):
    field(page).focus()
    page.keyboard.press("Escape")
    says(page, "STOP was received")
    reset(page)


def test_two_pages_that_set_one_slider_end_equal(page, relay, address, ros):
    other = opened(page.context.new_page(), relay.port, address)
    for trial in range(6):
        for each, degrees in ((page, 10 + trial), (other, 20 + trial), (page, 30 + trial)):
            field(each).evaluate(SET, f"{degrees}")

        def equal():
            shown = [float(field(each).input_value()) for each in (page, other)]
            return shown[0] == shown[1] and abs(shown[0] - waist(ros)) < 0.1

        ros.until(equal, BOUND)
    other.close()


SET = """(field, text) => {
  const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
  value.set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
}"""


def test_stop_works_in_a_browser_without_webgl(opened_page, relay, address, ros):
    page = opened_page.context.new_page()
    page.add_init_script(NO_WEBGL)
    page.goto(f"http://127.0.0.1:{relay.port}/?{address.query}")
    says(page, "draws no picture")
    page.get_by_role("button", name="STOP", exact=True).click()
    says(page, "STOP was received")
    page.close()
    reset(opened_page)


def test_end_of_the_view_is_said_for_good(opened_page):
    access = make_access("127.0.0.1")
    server, page = open_server("127.0.0.1", 0, access), opened_page.context.new_page()
    page.goto(address_of(server, access))
    page.wait_for_function("() => !window.armLink.isDead()")
    close_server(server)
    says(page, "The view has ended")
    page.wait_for_function("() => window.armLink.isDead()")
    says(page, "The view has ended")
    page.close()


def test_view_is_served_in_a_folder_by_a_proxy(browser, address, ros):
    proxy = Relay(address.port, "/arm")
    page = opened(browser, proxy.port, address, "/arm")
    assert page.locator('[data-arm="read-only"]').count() == 0
    assert "token" not in page.url
    set_waist(page, "15")
    ros.until(lambda: close(ros, 15.0), BOUND)
    page.goto("about:blank")


def test_proxy_that_rewrites_the_host_is_named(browser, address):
    proxy = Relay(address.port, host=f"127.0.0.1:{address.port}")
    browser.goto(f"http://127.0.0.1:{proxy.port}/?{address.query}")
    says(browser, "must pass the header Host on")
    browser.goto("about:blank")
