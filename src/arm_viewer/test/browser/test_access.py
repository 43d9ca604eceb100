# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which requests the view answers, and which messages it takes without the token.

Attacks by a real browser are in test/ros/test_access_browser.py.
"""

import gc
import gzip
import http.client
import json
import socket
import time
from contextlib import suppress
from functools import partial

import pytest
import viser
from arm_testing.pages.viewer_client import CAMERA, connected, decoded, decompressed, encoded
from arm_testing.repository import repository
from arm_testing.waiting import wait_for
from arm_viewer.browser import gate
from arm_viewer.browser.access import DROPPED, TOKEN_VARIABLE, Access, make_access
from arm_viewer.browser.callbacks import CallbackQueue, PageGui
from arm_viewer.browser.gate import VISER_VERSION
from arm_viewer.browser.server import address_of, close_server, open_server
from arm_viewer.errors import ViewerError
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Opcode
from websockets.sync.client import connect

TOKEN = "the-right-token-of-a-test"
ACCESS = Access(TOKEN, frozenset({"localhost", "pi.local"}))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8080", "[::1]:8080", "192.168.1.20", "LOCALHOST:1", "pi.local:8080", "0.0.0.0:80"],
)
def test_own_hosts_are_answered(host):
    assert ACCESS.refusal(Headers({"Host": host})) == ""
    assert ACCESS.refusal(Headers({"Host": host, "Origin": f"http://{host}"})) == ""


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost:8080@evil",
        "localhost:80:80",
        "127.0.0.1:x",
        "[evil]",
        "2130706433",
        "::1",
    ],
)
def test_other_hosts_are_refused(host):
    headers = Headers({"Host": host, "Origin": f"http://{host}"})
    assert "parameter allowed_hosts" in ACCESS.refusal(headers)


def test_request_with_no_or_two_hosts_is_refused():
    headers = Headers([("Host", "localhost"), ("Host", "localhost")])
    assert ACCESS.refusal(Headers()) and ACCESS.refusal(headers)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "file://",
        "http://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:8081",
        "http://127.0.0.1:8080.evil.example",
        "http://localhost:8080",
    ],
)
def test_other_origins_are_refused(origin):
    headers = Headers({"Host": "127.0.0.1:8080", "Origin": origin})
    assert "another origin" in ACCESS.refusal(headers)


@pytest.mark.parametrize("wrong", ["", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "é", "*", "\udce9"])
def test_only_the_token_grants_control(wrong):
    for text, granted in ((TOKEN, True), (wrong, False)):
        assert ACCESS.is_granted(f"/?a=b&token={text}") == granted
    assert not ACCESS.is_granted("/")


def test_tokens_are_random_or_from_the_environment(monkeypatch):
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    tokens = {make_access("127.0.0.1").token for _ in range(10)}
    assert len(tokens) == 10 and min(map(len, tokens)) >= 22  # 128 bits
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    assert make_access("127.0.0.1").token == TOKEN
    for weak in ("short", 20 * "é", "with; semicolons; in it"):
        monkeypatch.setenv(TOKEN_VARIABLE, weak)
        with pytest.raises(ViewerError, match=f"the token in {TOKEN_VARIABLE} is refused"):
            make_access("127.0.0.1")


def test_names_of_this_computer_and_of_the_operator_are_allowed(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Pi.lan")
    names = make_access("0.0.0.0", ["robot.example"]).names
    assert {"localhost", "pi.lan", "pi", "pi.local", "robot.example"} <= names


def test_tested_version_of_viser_is_the_one_that_is_installed_everywhere():
    root = repository()
    for file in ("tools/pip_ros/requirements.txt", "docker/requirements.txt"):
        assert f"viser=={VISER_VERSION}" in (root / file).read_text().splitlines()


def test_other_version_of_viser_is_not_started(monkeypatch):
    monkeypatch.setattr(viser, "__version__", "1.2.0")
    monkeypatch.setattr(viser, "ViserServer", None)
    with pytest.raises(ViewerError, match=r"needs viser 1\.1\.1, but 1\.2\.0 is installed"):
        open_server("127.0.0.1", 0, ACCESS)


def test_server_that_the_rules_did_not_reach_is_not_used(monkeypatch):
    monkeypatch.setattr(viser, "ViserServer", lambda **options: None)
    with pytest.raises(ViewerError, match="not protected"):
        open_server("127.0.0.1", 0, ACCESS)


class Guarded:
    """A server with a slider, a text, a button STOP and a drag handle; `used` lists events."""

    def __init__(self):
        self.server = open_server("127.0.0.1", 0, ACCESS)
        self.port, self.used, self.received = self.server.get_port(), [], []
        self.queue = CallbackQueue()
        gui = PageGui(self.server, self.queue, ACCESS)
        self.slider = gui.elements.add_slider("waist", -1.0, 1.0, 0.1, 0.0)
        self.text = gui.elements.add_text("task", "nut_transfer")
        self.stop = gui.button("STOP", lambda: self.used.append("stop"))
        self.key, self.other_key = (gui.elements.add_command(name) for name in ("STOP", "Run"))
        for command in (self.key, self.other_key):
            gui.on_user(command.on_trigger, lambda: self.used.append("key"))
        for element in (self.stop, self.key):
            gui.open_to_everyone(element)
        gui.never_too_late(self.slider, lambda value: value == 0)
        gui.offer_stop(lambda: self.used.append("link"))
        self.said = []
        ACCESS.link.on_dropped = self.said.append
        gui.on_dropped_drag("/handle", lambda: self.used.append("put back"))
        gui.on_change(self.slider, lambda value: self.used.append(value))
        self.run = gui.button("Run", lambda: self.used.append("run"))
        self.handle = self.server.scene.add_transform_controls("/handle")
        self.handle.on_update(lambda event: self.used.append(event.phase))
        inner = self.server._websock_server._handle_incoming_message

        async def spy(client, message):
            self.received.append(type(message).__name__)
            await inner(client, message)

        self.server._websock_server._handle_incoming_message = spy

    def connect(self, query="", **options):
        return connected(f"127.0.0.1:{self.port}/{query}", **options)

    def attacks(self):
        """Return messages that command, that change what others see, or that use resources."""

        def update(element, **values):
            return {"type": "GuiUpdateMessage", "uuid": element._impl.uuid, "updates": values}

        pose = {"wxyz": (1.0, 0.0, 0.0, 0.0), "position": (1.0, 0.0, 0.0), "owner": ""}
        upload = {"source_component_uuid": "x", "transfer_uuid": "y", "filename": "z"}
        return [
            update(self.slider, value=0.5),
            update(self.text, value="another"),
            update(self.run, value=True),
            update(self.stop, value=True, update_cb=[]),
            update(self.stop, removed=True),
            {"type": "TransformControlsDragStartMessage", "name": "/handle", "owner": ""},
            {"type": "TransformControlsUpdateMessage", "name": "/handle", **pose},
            {"type": "TransformControlsDragEndMessage", "name": "/handle", "owner": ""},
            {"type": "CommandTriggerMessage", "uuid": self.other_key._impl.uuid},
            {"type": "GuiFormDirtyMessage", "uuid": "x"},
            {"type": "ShareUrlRequest"},
            {
                "type": "FileTransferStartUpload",
                **upload,
                "mime_type": "",
                "part_count": 1,
                "size_bytes": 1,
            },
        ]

    def send(self, socket, *messages):
        """Send messages, then a camera, and wait until that was handled."""
        count = self.received.count("ViewerCameraMessage")
        for message in (*messages, CAMERA):
            socket.send(encoded(message))
        wait_for(lambda: self.received.count("ViewerCameraMessage") > count, "the camera")

    def wait_until_used(self, *events):
        def used():
            self.queue.drain()
            return self.used == list(events)

        wait_for(used, f"callbacks {events}, but {self.used}")

    def get(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20.0)
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        response.text = response.read()
        connection.close()
        return response


@pytest.fixture(scope="module")
def guarded():
    guarded = Guarded()
    yield guarded
    close_server(guarded.server)


@pytest.mark.parametrize("query", ["", "?token=wrong"])
def test_nothing_but_camera_and_stop_is_received_without_the_token(guarded, query):
    guarded.used.clear()
    with guarded.connect(query) as socket:
        guarded.send(socket)
        guarded.received.clear()
        guarded.send(socket, *guarded.attacks())
        assert guarded.received == ["ViewerCameraMessage"]
        guarded.wait_until_used()
        assert (guarded.slider.value, guarded.text.value) == (0.0, "nut_transfer")
        press = {"value": True}
        stop = {"type": "GuiUpdateMessage", "uuid": guarded.stop._impl.uuid, "updates": press}
        key = {"type": "CommandTriggerMessage", "uuid": guarded.key._impl.uuid}
        guarded.send(socket, stop, key)
        guarded.wait_until_used("stop", "key")


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_numbers_that_are_not_finite_are_not_received(guarded, number):
    uuid = guarded.slider._impl.uuid
    with guarded.connect(f"?token={TOKEN}") as socket:
        guarded.send(socket)
        guarded.received.clear()
        camera = {**CAMERA, "position": (number, 0.0, 1.0)}
        slider = {"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": number}}
        guarded.send(socket, camera, slider)
        assert guarded.received == ["ViewerCameraMessage"]


def test_visitor_without_the_token_receives_the_scene(guarded):
    with guarded.connect() as socket:
        guarded.send(socket)
        seen = b""
        while b"/handle" not in seen and len(seen) < 10**7:
            seen += decompressed(socket.recv())
    assert b"/handle" in seen


def test_everything_is_received_with_the_token(guarded):
    guarded.used.clear()
    with guarded.connect(f"?token={TOKEN}") as socket:
        guarded.send(socket)
        guarded.send(socket, *guarded.attacks()[:3])
        guarded.wait_until_used(0.5, "run")
    guarded.slider.value, guarded.text.value = 0.0, "nut_transfer"


def stamped(message, seconds_ago):
    """Return a message as a page sends it, with the number of an earlier heartbeat."""
    return {**message, "beat": round(1e3 * (time.monotonic() - seconds_ago))}


@pytest.mark.parametrize("age", [1.5, 9.0, -5.0])
def test_old_commands_are_dropped_and_what_they_set_is_sent_again(guarded, age):
    guarded.used.clear()
    guarded.said.clear()
    with guarded.connect(f"?token={TOKEN}") as socket:
        guarded.send(socket)
        guarded.received.clear()
        old = [stamped(message, age) for message in guarded.attacks()]
        release = old.pop(7)
        assert release["type"] == "TransformControlsDragEndMessage"
        form_dirty = old.pop(8)
        assert form_dirty["type"] == "GuiFormDirtyMessage"
        guarded.send(socket, *old)
        assert guarded.received == ["ViewerCameraMessage"]
        guarded.wait_until_used("put back")
        assert len(guarded.said) == len(old)
        assert set(guarded.said) == {DROPPED}
        guarded.send(socket, stamped(guarded.attacks()[0], 0.2))
        guarded.wait_until_used("put back", 0.5)
    guarded.slider.value = 0.0


def sent_values(socket, element):
    """Yield the values of an element that a browser is sent."""
    while True:
        for message in decoded(socket.recv(timeout=20.0)):
            if message.get("uuid") == element._impl.uuid and "value" in message.get("updates", {}):
                yield message["updates"]["value"]


def test_browser_whose_command_was_dropped_shows_again_what_was_before(guarded):
    with guarded.connect(f"?token={TOKEN}") as socket:
        guarded.send(socket)
        guarded.send(socket, stamped(guarded.attacks()[1], 9.0))
        assert next(sent_values(socket, guarded.text)) == "nut_transfer"
    assert guarded.text.value == "nut_transfer"


def test_what_stops_or_slows_the_arm_is_never_too_late(guarded):
    guarded.used.clear()

    def update(element, value):
        uuid = element._impl.uuid
        return stamped(
            {"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": value}}, 9.0
        )

    key = stamped({"type": "CommandTriggerMessage", "uuid": guarded.key._impl.uuid}, 9.0)
    guarded.slider.value = 0.5
    with guarded.connect(f"?token={TOKEN}") as socket:
        guarded.send(socket)
        guarded.send(socket, update(guarded.stop, True), key, update(guarded.slider, 0.2))
        guarded.send(socket, update(guarded.slider, 0))
        guarded.wait_until_used("stop", "key", 0.0)


def test_commands_of_a_program_that_answers_no_ping_become_too_old(guarded):
    guarded.used.clear()
    with guarded.connect(f"?token={TOKEN}") as socket:
        guarded.send(socket)
        own = socket.protocol.send_frame
        socket.protocol.send_frame = lambda frame: frame.opcode is Opcode.PONG or own(frame)
        run = guarded.attacks()[2]

        def dropped():
            guarded.said.clear()
            guarded.send(socket, run)
            guarded.queue.drain()
            return guarded.said == [DROPPED]

        wait_for(dropped, "a dropped command")
        count = len(guarded.used)
        guarded.send(socket, run)
        guarded.queue.drain()
        assert len(guarded.used) == count


def test_two_browsers_that_set_one_element_are_sent_the_same_value(guarded):
    with (
        guarded.connect(f"?token={TOKEN}") as one,
        guarded.connect(f"?token={TOKEN}") as other,
    ):
        for socket, value in ((one, 0.3), (other, 0.4)):
            guarded.send(socket)
            uuid = guarded.slider._impl.uuid
            message = {"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": value}}
            socket.send(encoded(stamped(message, 0.1)))
        for socket in (one, other):  # also to the one that set it last
            assert any(value == 0.4 for value in sent_values(socket, guarded.slider))
    guarded.slider.value = 0.0


@pytest.mark.parametrize("query", ["", f"&token={TOKEN}"])
def test_link_of_a_page_sends_heartbeats_and_acknowledges_stop(guarded, query):
    guarded.used.clear()
    address = f"ws://127.0.0.1:{guarded.port}/?page=1&link=1{query}"
    with connect(address) as socket:
        beats = [json.loads(socket.recv(timeout=20.0)) for _ in range(3)]
        assert beats[0]["beat"] < beats[1]["beat"] < beats[2]["beat"] <= 1e3 * time.monotonic()
        assert all(beat["stop"] and beat["lag"] < 1e3 for beat in beats)
        socket.send(json.dumps({"stop": 7}))
        guarded.wait_until_used("link")
        while "stopped" not in (answer := json.loads(socket.recv(timeout=20.0))):
            pass
        assert answer == {"stopped": 7}


ODD = [{"type": "CommandTriggerMessage", "uuid": [1]}, {"type": "GuiUpdateMessage", "uuid": {}}]
ODD += [{"type": "TransformControlsUpdateMessage", "name": [1]}, {"type": [1]}, [1], None]


@pytest.mark.parametrize(
    "raw", ["no JSON", "[]", '{"stop": 0}', b"\xc1", "{}", *map(encoded, ODD)]
)
def test_odd_messages_harm_no_other_page(guarded, raw, capfd):
    address = f"ws://127.0.0.1:{guarded.port}/?link=1"
    for opened in (partial(connect, address), guarded.connect, granted(guarded)):
        with opened(close_timeout=1.0) as socket, suppress(ConnectionClosed, TimeoutError):
            socket.send(raw)
            for _ in range(5):
                socket.recv(timeout=0.3)
    with guarded.connect(f"?token={TOKEN}") as socket:
        guarded.used.clear()
        guarded.send(socket)
        guarded.send(socket, stamped(guarded.attacks()[2], 0.1))
        guarded.wait_until_used("run")
    gc.collect()  # asyncio reports the exception of a task when it forgets the task
    assert "Traceback" not in capfd.readouterr().err


def granted(guarded):
    return partial(guarded.connect, f"?token={TOKEN}")


def test_text_that_utf8_cannot_encode_ends_no_connection(guarded):
    odd = guarded.server.gui.add_dropdown("files", ("caf\udce9.yaml", "b"))
    odd.options = ("\ud800", "c")
    label = guarded.server.scene.add_label("/odd", "x\udcff")
    with guarded.connect() as socket:
        guarded.send(socket)
        seen = b""
        while b"x?" not in seen:
            seen += decompressed(socket.recv(timeout=20.0))
    odd.remove()
    label.remove()


@pytest.mark.parametrize("token", ["", f"?token={TOKEN}"])
def test_other_origins_and_hosts_get_no_connection(guarded, token):
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}):
        with (
            pytest.raises(InvalidStatus, match="403"),
            guarded.connect(token, additional_headers=headers),
        ):
            pass
    with pytest.raises(InvalidStatus, match="403"), socket.socket() as plain:
        plain.connect(("127.0.0.1", guarded.port))
        connected(f"evil.example:{guarded.port}/{token}", sock=plain)


def test_page_is_refused_to_other_hosts_and_origins(guarded):
    assert guarded.get("/").status == 200
    assert guarded.get("/", Host="evil.example").status == 403
    assert guarded.get("/", Origin="http://evil.example").status == 403


def test_page_has_the_script_of_its_keys(guarded):
    scripts = [file.read_bytes() for file in gate.SCRIPTS]
    for encoding in ({}, {"Accept-Encoding": "gzip"}):
        response = guarded.get("/", **encoding)
        page = gzip.decompress(response.text) if encoding else response.text
        assert len(response.text) == int(response.headers["Content-Length"])
        assert [page.count(script) for script in scripts] == [1] * len(scripts)
        ours = [page.index(script) for script in scripts]
        assert ours == sorted(ours)
        assert page.index(b"<head>") < ours[0] < ours[-1] < page.index(b"<meta")  # before viser's


def test_no_cookie_carries_or_grants_anything(guarded):
    """Browsers send cookies to every server on the same host, whatever its port."""
    address = address_of(guarded.server, ACCESS)
    assert address == f"http://127.0.0.1:{guarded.port}/?token={TOKEN}"
    for path in (f"/?token={TOKEN}", "/"):
        response = guarded.get(path)
        assert response.status == 200
        assert response.headers["Set-Cookie"] is None
        assert TOKEN.encode() not in response.text
    cookie = f"arm_viewer_{guarded.port}={TOKEN}"
    with guarded.connect(additional_headers={"Cookie": cookie}) as socket:
        guarded.used.clear()
        guarded.send(socket)
        guarded.send(socket, guarded.attacks()[2])
        guarded.wait_until_used()


@pytest.mark.parametrize("path", ["x" * 6000, "x" * 300, "a%00b", "%ff", "../" * 900])
def test_page_of_an_impossible_name_is_not_found(guarded, path):
    assert guarded.get(f"/{path}").status in (400, 403, 404)


@pytest.mark.parametrize("query", ["token=wrong", "websocket=ws://evil.example", "a", ""])
def test_page_is_never_sent_with_a_query(guarded, query):
    response = guarded.get(f"/?{query}")
    assert (response.status, response.headers["Location"]) == (303, "./")
    response = guarded.get(f"/?{query}&token={TOKEN}")
    assert (response.status, response.headers["Referrer-Policy"]) == (200, "no-referrer")
    assert len(response.text) < 1000  # what stores the token, not the page


def test_page_learns_that_a_proxy_rewrites_its_address(guarded):
    for origin, sentence in (
        ("http://robot.example", "A proxy in between must pass the header Host on"),
        (f"http://127.0.0.1:{guarded.port}", ""),
    ):
        response = guarded.get(f"/refusal?origin={origin}")
        assert response.status == 200
        assert sentence in response.text.decode()
        assert bool(response.text) == bool(sentence)
