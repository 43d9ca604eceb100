# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The server's address, mesh files, and one clear sentence for each thing that is missing."""

import builtins
import gc
import os
import socket

import pytest
import viser
from arm_common.files.access import installed_share
from arm_common.files.requests import RestrictedFiles
from arm_testing.pages.viewer_client import visit
from arm_testing.waiting import wait_for
from arm_viewer.browser import server
from arm_viewer.browser.access import make_access
from arm_viewer.errors import ViewerError
from arm_viewer.scene.shapes import MeshFiles

from arm_viewer import screenshot

CUBE = """solid one
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid one
"""


@pytest.fixture
def busy():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def without(monkeypatch):
    imported = builtins.__import__

    def hide(package):
        def refuse(name, *args, **kwargs):
            if name.split(".")[0] == package:
                raise ImportError(f"No module named {name!r}")
            return imported(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", refuse)

    return hide


def test_next_free_port_is_used_if_one_is_busy(busy):
    assert busy < server.free_port("127.0.0.1", busy) <= busy + server.TRIES


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid"])
def test_host_of_another_machine_is_rejected(host):
    says = f'cannot use host "{host}".*127.0.0.1 shows it on this machine only'
    with pytest.raises(ViewerError, match=says):
        server.free_port(host, 0)


def test_range_without_free_ports_is_reported(monkeypatch, busy):
    monkeypatch.setattr(server, "TRIES", 1)
    with pytest.raises(ViewerError, match=f"ports {busy} to {busy} are all in use"):
        server.free_port("127.0.0.1", busy)


@pytest.mark.parametrize("package", ["viser", "playwright", "trimesh"])
def test_missing_package_is_reported_with_its_install_command(
    package, tmp_path, without, monkeypatch
):
    (tmp_path / "a.stl").write_text(CUBE)
    monkeypatch.setattr(screenshot, "find_chromium", lambda: "chromium")
    without(package)
    needs = {
        "viser": lambda: server.open_server("127.0.0.1", 0, make_access("127.0.0.1")),
        "playwright": screenshot.open_page().__enter__,
        "trimesh": lambda: MeshFiles({}.__getitem__).load(str(tmp_path / "a.stl")),
    }
    with pytest.raises(
        ViewerError, match=f"package {package} is missing .* pip install {package}"
    ):
        needs[package]()


def test_missing_chromium_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ViewerError, match="sudo apt-get install -y chromium"):
        screenshot.find_chromium()


def test_meshes_are_found_by_package_url_and_path(tmp_path):
    (tmp_path / "a b.stl").write_text(CUBE)
    files = MeshFiles({"here": tmp_path}.__getitem__)
    for uri in ("package://here/a%20b.stl", f"file://{tmp_path}/a%20b.stl", f"{tmp_path}/a b.stl"):
        assert len(files.load(uri).faces) == 1
    assert files.load(uri) is files.load(uri)


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("package://nowhere/a.stl", 'no package "nowhere" is installed'),
        ("/no/such.stl", "there is no file /no/such.stl"),
        ("https://example.org/a.stl", "https:// is not read"),
    ],
)
def test_missing_mesh_is_reported(uri, sentence):
    with pytest.raises(ViewerError, match=f"^mesh {uri}: .*{sentence}"):
        MeshFiles({}.__getitem__).load(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "file://{0}/secret.stl",
        "{0}/secret.stl",
        "package://here/../secret.stl",
        "package://here/%2e%2e/secret.stl",
        "package://here//..//secret.stl",
        "file://{0}/allowed/../secret.stl",
        "file://{0}/allowed/link.stl",
        "file:///dev/zero",
        "package://here/fifo.stl",
        "{0}/allowed/fifo.stl",
    ],
)
def test_mesh_outside_of_the_allowed_folders_does_not_exist(tmp_path, uri):
    share, allowed = tmp_path / "share", tmp_path / "allowed"
    for folder in (share, allowed):
        folder.mkdir()
        (folder / "own.stl").write_text(CUBE)
        os.mkfifo(folder / "fifo.stl")
    (tmp_path / "secret.stl").write_text(CUBE)
    (allowed / "link.stl").symlink_to("../secret.stl")
    files = MeshFiles({"here": share}.__getitem__, RestrictedFiles([allowed]))
    with pytest.raises(ViewerError, match="there is no file"):
        files.load(uri.format(tmp_path))
    for known in ("package://here/own.stl", f"file://{allowed}/own.stl"):
        assert len(files.load(known).faces) == 1


@pytest.mark.parametrize("name", ["a.stl", "a.obj", "a.xyz", "a.glb", "a.unknown"])
def test_broken_mesh_is_reported(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\x00nonsense")
    with pytest.raises(ViewerError, match="cannot be read"):
        MeshFiles({}.__getitem__).load(str(path))


def test_packages_are_found_in_the_ament_index():
    pytest.importorskip("ament_index_python")
    assert (installed_share("std_msgs") / "package.xml").is_file()
    with pytest.raises(ViewerError, match='no package "no_such_package" is installed'):
        MeshFiles(installed_share).load("package://no_such_package/a.stl")


@pytest.fixture
def rare_collections():
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def test_ended_visits_leave_no_objects(rare_collections):
    opened = server.open_server("127.0.0.1", 0, make_access("127.0.0.1"))
    server.free_after_visits(opened)

    def kept():
        return [o for o in gc.get_objects() if type(o) is viser.ClientHandle]

    for _ in range(8):
        visit(f"127.0.0.1:{opened.get_port()}")
    wait_for(lambda: not opened.get_clients(), "end of the visits", 10.0)
    wait_for(lambda: len(kept()) <= 2, "the last visit", 10.0)
    server.close_server(opened)
