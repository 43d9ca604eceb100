# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pages of other origins attack the view in a real browser; a page without the token only sees.

In Chromium every name below .localhost is this computer, so such a name stands for one that an
attacker's name server gives our address (DNS rebinding). The token is stored for 127.0.0.1, so
localhost opens the page as a browser without the token does.
"""

import http.server
import threading
from urllib.parse import urlsplit

import numpy as np
import pytest
import viser
from arm_common.ros.qos import LATCHED
from arm_testing.pages.viewer_client import CAMERA, encoded
from arm_testing.waiting import wait_for
from arm_viewer.screenshot import DRAWN
from control_msgs.msg import SpeedScalingFactor

from arm_interfaces.msg import HardwareStatus

pytestmark = pytest.mark.system

BOUND = 60.0  # [s]
PATIENCE = 240.0  # [s], an upper bound; a browser without a graphics card may be slow
# Resolves to how the websocket ended; while it is open, it sends each message again and again.
ATTACK = """([url, protocol, messages]) => new Promise(done => {
  const socket = new WebSocket(url, [protocol]);
  socket.binaryType = 'arraybuffer';
  let opened = false;
  socket.onopen = () => {
    opened = true;
    const send = () => messages.forEach(m => socket.send(new Uint8Array(m)));
    const timer = setInterval(send, 50);
    setTimeout(() => { clearInterval(timer); done('opened'); }, 2000);
  };
  socket.onclose = () => opened || done('refused');
})"""


def message(kind, **fields):
    return list(encoded({"type": kind, **fields}))


@pytest.fixture(scope="module")
def port(viewer):
    return urlsplit(viewer.address()).port


@pytest.fixture(scope="module")
def page(browser_page):
    """A small page, which is drawn in little time."""
    browser_page.set_viewport_size({"width": 640, "height": 300})
    browser_page.set_default_timeout(1e3 * PATIENCE)
    yield browser_page
    browser_page.goto("about:blank")


@pytest.fixture(scope="module")
def joints(ros, viewer):
    """A function that returns the newest joint positions."""
    ros.until(lambda: ros.joint_states, BOUND)
    return lambda: np.array(ros.joint_states[-1].position)


@pytest.fixture(scope="module")
def other_origin():
    """The port of another web server on this computer, and the requests that it received."""
    requests, received = [], []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            received.append(str(self.headers))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>other</title>")

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, requests, received
        server.shutdown()


@pytest.fixture
def drag(model):
    """The messages of a drag of the tool, as viser's page sends them, 4 cm to the side."""
    x, y, z = model.fk(np.zeros(4))[:3, 3].tolist()
    target = {"wxyz": (1.0, 0.0, 0.0, 0.0), "position": (x, y + 0.04, z), "owner": ""}
    return [
        list(encoded(CAMERA)),
        message("TransformControlsDragStartMessage", name="/handle", owner=""),
        message("TransformControlsUpdateMessage", name="/handle", **target),
    ]


class PausedDriver:
    """Stands in for a driver whose speed scaling a paused task has left at 0."""

    def __init__(self, ros):
        self.received = []
        self._ros = ros
        self._status = ros.node.create_publisher(HardwareStatus, "arm_hardware/status", LATCHED)
        ros.node.create_subscription(
            SpeedScalingFactor,
            "arm_controller/speed_scaling_input",
            lambda message: self.received.append(message.factor),
            10,
        )

    def speed_up(self, page):
        """Move the slider of the speed from the driver's 0 to its upper end."""
        slider = page.get_by_role("slider").first

        def shows_zero():
            self._status.publish(HardwareStatus(state=HardwareStatus.MOVING, speed_scaling=0.0))
            speed = page.get_by_text("Speed [%]", exact=True)
            return speed.is_visible() and slider.get_attribute("aria-valuenow") == "0"

        self._ros.until(shows_zero, BOUND)
        slider.focus()
        page.keyboard.press("End")


@pytest.fixture(scope="module")
def driver(ros):
    return PausedDriver(ros)


def moved_by(ros, joints, attack):
    """Return how far the joints moved [rad] during an attack, and what that returned."""
    before = joints()
    said = attack()
    ros.wait_for_joint_states()
    return float(np.abs(joints() - before).max()), said


@pytest.mark.thorough  # the panel's tests do the same
def test_page_with_the_token_moves_the_arm(page, viewer, ros, joints, drag, port):
    """The attacks below would succeed if they were let in."""
    page.goto(viewer.address())
    page.wait_for_selector(DRAWN, state="attached")
    assert "token" not in page.url  # where a picture or another person might show it
    assert page.locator('[data-arm="read-only"]').count() == 0
    with_token = f"ws://127.0.0.1:{port}/?{urlsplit(viewer.address()).query}"
    sent = [with_token, f"viser-v{viser.__version__}", drag]
    moved, said = moved_by(ros, joints, lambda: page.evaluate(ATTACK, sent))
    assert said == "opened"
    assert moved > 0.05


def test_no_other_server_of_this_host_is_sent_the_token(page, viewer, other_origin):
    server, _, received = other_origin
    token = urlsplit(viewer.address()).query.partition("=")[2]
    page.goto(viewer.address())
    page.wait_for_selector(DRAWN, state="attached")
    assert page.evaluate("document.cookie") == ""
    received.clear()
    page.goto(f"http://127.0.0.1:{server}/")
    assert received
    assert page.evaluate("Object.keys(sessionStorage).length") == 0
    assert not any(token in text or "Cookie" in text for text in received)


def test_page_with_the_token_ends_a_pause_that_was_left_behind(page, viewer, ros, driver):
    page.goto(viewer.address())
    page.wait_for_selector(DRAWN, state="attached")
    driver.speed_up(page)
    ros.until(lambda: driver.received, BOUND)
    assert driver.received == [1.0]


@pytest.mark.parametrize(
    "name", ["127.0.0.1", pytest.param("localhost", marks=pytest.mark.thorough)]
)
def test_page_of_another_origin_cannot_move_the_arm(
    name, page, viewer, ros, joints, drag, port, other_origin
):
    page.goto(f"http://{name}:{other_origin[0]}/")
    with_token = f"ws://{name}:{port}/?{urlsplit(viewer.address()).query}"  # even if it had it
    sent = [with_token, f"viser-v{viser.__version__}", drag]
    moved, said = moved_by(ros, joints, lambda: page.evaluate(ATTACK, sent))
    assert (moved, said) == (0.0, "refused")


def test_name_of_an_attacker_is_refused_although_it_leads_here(page, viewer, port):
    for path in ("/", urlsplit(viewer.address()).query):
        response = page.goto(f"http://rebound.localhost:{port}/{path}")
        assert response.status == 403
    assert "parameter allowed_hosts" in page.inner_text("body")


def test_link_cannot_connect_the_page_to_another_server(page, port, other_origin):
    """viser's page does what the server in its query says, for instance runs a script."""
    server, requests, _ = other_origin
    requests.clear()
    address = f"http://127.0.0.1:{port}/"
    page.goto(f"{address}?websocket=ws://127.0.0.1:{server}")
    page.wait_for_selector(DRAWN, state="attached")  # by its own server
    assert page.url == address
    assert requests == []


def test_page_cannot_be_shown_inside_another(page, port, other_origin):
    page.goto(f"http://127.0.0.1:{other_origin[0]}/")
    page.evaluate(
        "url => { document.body.innerHTML = `<iframe src=${url}></iframe>`; }",
        f"http://127.0.0.1:{port}/",
    )
    wait_for(lambda: len(page.frames) > 1, "the frame", BOUND)
    page.wait_for_load_state("load")
    assert page.frames[1].locator("canvas").count() == 0


def test_page_without_the_token_sees_stops_and_moves_nothing(
    page, viewer, ros, joints, drag, driver, port
):
    page.goto(f"http://localhost:{port}/?token=wrong")
    page.wait_for_selector(DRAWN, state="attached")
    note = page.locator('[data-arm="read-only"]')
    note.wait_for()
    assert "open the address that it printed when it started" in note.inner_text()
    sent = [f"ws://localhost:{port}", f"viser-v{viser.__version__}", drag]
    moved, said = moved_by(ros, joints, lambda: page.evaluate(ATTACK, sent))
    assert (moved, said) == (0.0, "opened")
    ready = page.get_by_role("button", name="ready", exact=True)
    moved, _ = moved_by(ros, joints, lambda: ready.dispatch_event("click"))
    assert moved == 0.0
    driver.received.clear()
    driver.speed_up(page)
    page.get_by_role("button", name="STOP", exact=True).click()
    page.wait_for_selector(
        '[data-arm="ik"]:has-text("Stopped")'
    )  # later than what was sent before
    ros.wait_for_joint_states()
    assert driver.received == []
