# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which requests the view answers, and which messages it takes without the token.

Attacks by a real browser are in test/ros/test_access_browser.py.
"""

import gzip
import http.client
import socket
from pathlib import Path

import pytest
import viser
from arm_testing.viewer_client import CAMERA, connected, decompressed, encoded
from arm_testing.waiting import wait_for
from arm_viewer.browser import gate
from arm_viewer.browser.access import TOKEN_VARIABLE, Access, make_access
from arm_viewer.browser.callbacks import CallbackQueue, PanelGui
from arm_viewer.browser.gate import VISER_VERSION
from arm_viewer.browser.server import address_of, close_server, open_server
from arm_viewer.errors import ViewerError
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus

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


@pytest.mark.parametrize("wrong", ["", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "é", "*"])
def test_only_the_token_grants_control(wrong):
    host = {"Host": "localhost:8080"}
    for text, granted in ((TOKEN, True), (wrong, False)):
        cookie = Headers(host | {"Cookie": f"a=b; arm_viewer_8080={text}"})
        assert ACCESS.is_granted("/", cookie) == granted
        assert ACCESS.is_granted(f"/?a=b&token={text}", Headers(host)) == granted
    of_another_port = Headers(host | {"Cookie": f"arm_viewer_8081={TOKEN}"})
    assert not ACCESS.is_granted("/", of_another_port)


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
    root = Path(__file__).resolve().parents[4]
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
        gui = PanelGui(self.server, self.queue, ACCESS)
        self.slider = gui.elements.add_slider("waist", -1.0, 1.0, 0.1, 0.0)
        self.text = gui.elements.add_text("task", "nut_transfer")
        self.stop = gui.button("STOP", lambda: self.used.append("stop"))
        self.key, self.other_key = (gui.elements.add_command(name) for name in ("STOP", "Run"))
        for command in (self.key, self.other_key):
            gui.on_user(command.on_trigger, lambda: self.used.append("key"))
        for element in (self.stop, self.key):
            gui.open_to_everyone(element)
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
    script = Path(gate.__file__).with_name("page.js").read_bytes()
    for encoding in ({}, {"Accept-Encoding": "gzip"}):
        response = guarded.get("/", **encoding)
        page = gzip.decompress(response.text) if encoding else response.text
        assert len(response.text) == int(response.headers["Content-Length"])
        assert page.count(script) == 1
        assert page.index(script) < page.index(b"</head>")


def test_token_in_the_address_is_moved_to_a_cookie(guarded):
    address = address_of(guarded.server, ACCESS)
    assert address == f"http://127.0.0.1:{guarded.port}/?token={TOKEN}"
    response = guarded.get(f"/?token={TOKEN}")
    assert (response.status, response.headers["Location"]) == (303, "/")
    cookie = response.headers["Set-Cookie"]
    assert cookie == f"arm_viewer_{guarded.port}={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    with guarded.connect(additional_headers={"Cookie": cookie.partition(";")[0]}) as socket:
        guarded.used.clear()
        guarded.send(socket)
        guarded.send(socket, guarded.attacks()[2])
        guarded.wait_until_used("run")


@pytest.mark.parametrize("path", ["x" * 6000, "x" * 300, "a%00b", "%ff", "../" * 900])
def test_page_of_an_impossible_name_is_not_found(guarded, path):
    assert guarded.get(f"/{path}").status in (400, 403, 404)


@pytest.mark.parametrize("query", ["token=wrong", "websocket=ws://evil.example", "a", ""])
def test_page_is_never_sent_with_a_query(guarded, query):
    response = guarded.get(f"/?{query}")
    assert (response.status, response.headers["Location"]) == (303, "/")
    assert response.headers["Set-Cookie"] is None
