# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A request reads only files that came with it or that the server allows."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from arm_common.errors import InputError
from arm_common.files.requests import RestrictedFiles
from arm_description.trajectories.trajectory import shipped_trajectories
from arm_tasks.errors import SceneError, shipped
from arm_tasks.planning.planner import plan_task
from arm_tasks.ros.task_server.forked import run_in_child
from arm_tasks.scene.file import load_scene
from arm_tasks.task.parser import load_task
from arm_tasks.task.request import (
    MAX_BYTES,
    MAX_FILES,
    ArmConfiguration,
    RecordedFiles,
    SentFiles,
    check_amount,
    load_request,
)
from arm_tasks.task.sending import files_of

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\n"
OURS = [f.parent for kind in ("tasks", "scenes") for f in shipped(kind).values()]
OPEN = "steps: [open]\n"
TEXTS = (  # a task that names a file, in every place where one can
    "task: t\nscene: '{}'\n" + OPEN,
    "task: t\nposes: '{}'\n" + OPEN,
    "task: t\nsteps:\n  - call: {{task: '{}'}}\n",
    "task: t\nsteps:\n  - play: {{path: '{}'}}\n",
)
SECRETS = ("key.yaml", "key.csv", "key.txt")
OTHERS = (
    "/etc/passwd",
    "/dev/zero",
    "/proc/self/environ",
    "link.yaml",
    "fifo.yaml",
    "../key.yaml",
)


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """A folder that no request may read, with private keys; the work folder is in it."""
    for name in SECRETS:
        (tmp_path / name).write_text(KEY)
    work = tmp_path / "work"
    work.mkdir()
    (work / "link.yaml").symlink_to("../key.yaml")
    os.mkfifo(work / "fifo.yaml")
    monkeypatch.chdir(work)
    return tmp_path


@pytest.fixture
def planned(model, chain):
    """Return a function that plans a request with the files that a server would read."""
    start = ArmConfiguration.of_posture(model)
    ours = [*OURS, *(file.parent for file in shipped_trajectories(model.name).values())]

    def plan(task="", scene="", text="", sent=None, allowed=()):
        files = SentFiles(sent or {}, RestrictedFiles([*ours, *allowed]))
        request = load_request(task, model, chain, start, scene, text, files=files)
        return plan_task(request, collisions=False, files=files)

    return plan


def refusal(planned, *names, **request):
    """Return the error with the name of the file replaced."""
    with pytest.raises(InputError) as refused:
        planned(**request)
    message = str(refused.value)
    for name in names:
        message = message.replace(name, "FILE")
    return message


@pytest.mark.parametrize("name", [*SECRETS, *OTHERS])
@pytest.mark.parametrize("form", TEXTS, ids=["scene", "poses", "call", "play"])
def test_file_named_in_a_task_is_not_read(planned, secret, form, name):
    path = str(secret / name) if name in SECRETS else name
    missing = path.replace("key", "yek") if "key" in path else "/etc/nowhere" + path[-5:]
    found, unknown = (
        refusal(planned, str(secret / "work" / file), file, os.path.normpath(file), text=text)
        for file, text in ((file, form.format(file)) for file in (path, missing))
    )
    assert "BEGIN" not in found and "root:" not in found and "b3Bl" not in found
    assert found.split("FILE")[0] == unknown.split("FILE")[0]


@pytest.mark.parametrize("field", ["task", "scene"])
@pytest.mark.parametrize(
    "name", [*SECRETS[:1], *OTHERS, "~nobody_here/x.yaml", "a" * 5000 + ".yaml"]
)
def test_file_named_by_a_request_is_not_read(planned, secret, field, name):
    path = str(secret / name) if name in SECRETS else name
    found = refusal(planned, path, os.path.normpath(path), **{field: path})
    assert "there is no such" in found and "BEGIN" not in found and "root:" not in found


def test_name_of_a_text_opens_no_folder(planned, secret):
    text = TEXTS[1].format("key.yaml")
    assert "there is no file" in refusal(planned, task=str(secret / "t.yaml"), text=text)


def test_sent_file_opens_no_others(planned, secret):
    sent = {str(secret / "t.yaml"): TEXTS[2].format("key.yaml")}
    assert "BEGIN" not in refusal(planned, task=str(secret / "t.yaml"), sent=sent)


def test_allowed_folder_is_read_and_its_errors_quote_it(planned, secret):
    (secret / "work/own.yaml").write_text("task: t\n" + OPEN)
    (secret / "work/bad.yaml").write_text("task: t\nsteps: [nosuch]\n")
    assert planned("own.yaml", allowed=[secret / "work"]).feasible
    assert ":2: " in refusal(planned, task="bad.yaml", allowed=[secret / "work"])
    assert "BEGIN" not in refusal(planned, task="link.yaml", allowed=[secret / "work"])


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a task of several files."""
    files = {
        "my.yaml": "task: my\nscene: scenes/my.yaml\nposes: poses.yaml\nsteps:\n"
        "  - call: {task: sub/called.yaml}\n  - move_posture: there\n"
        "  - repeat: {times: 2, steps: [{play: {path: sub/path.yaml}}]}\n"
        "  - play: {path: look_around}\n",
        "sub/called.yaml": "task: called\nsteps:\n  - play: {path: ../other.yaml}\n",
        "scenes/my.yaml": "scene: mine\n",
        "poses.yaml": "robot: nut_arm\nposes:\n  there: {joints: {waist: 0.1, shoulder: 0, "
        "elbow: 0, wrist_roll: 0}, tool: {xyz: [0.2, 0, 0.1], rpy: [0, 0, 0]}}\n",
    }
    for name in ("sub/path.yaml", "other.yaml"):
        files[name] = shipped_trajectories("nut_arm")["look_around"].read_text()
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return files


def test_task_of_several_files_runs_on_a_server_that_has_none_of_them(
    planned, project, tmp_path_factory, monkeypatch
):
    sent = files_of("my.yaml")
    assert sent == project
    whole = planned("my.yaml", allowed=["."])
    monkeypatch.chdir(tmp_path_factory.mktemp("server"))
    there = planned("my.yaml", sent=sent)
    assert there.feasible and len(there.steps) == len(whole.steps) > 4
    for step, other in zip(there.steps, whole.steps, strict=True):
        if step.trajectory is not None:
            assert np.array_equal(step.trajectory.positions, other.trajectory.positions)


def test_shipped_files_are_not_sent(project):
    assert files_of("nut_transfer", "easel") == {}
    assert files_of("nowhere.yaml") == {}
    assert set(files_of("nut_transfer", "scenes/my.yaml")) == {"scenes/my.yaml"}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("form", [*TEXTS, "task: ["], ids=["scene", "poses", "call", "play", "-"])
def test_file_that_is_not_what_a_task_uses_it_as_is_not_sent(secret, form, name):
    Path("my.yaml").write_text(form.format(secret / name))
    with pytest.raises(InputError):
        files_of("my.yaml")


@pytest.mark.parametrize("text", ["time,word\n0,secret\n", "# a comment\n", "time\n", "0.1 key\n"])
@pytest.mark.parametrize("ending", ["csv", "txt", "yaml"])
def test_text_that_is_no_recording_is_not_sent(secret, ending, text):
    Path(f"path.{ending}").write_text(text)
    Path("my.yaml").write_text(TEXTS[3].format(f"path.{ending}"))
    with pytest.raises(InputError):
        files_of("my.yaml")


def test_number_and_size_of_sent_files_are_limited():
    check_amount([("a.yaml", "x")] * MAX_FILES)
    for files in ([("a.yaml", "x")] * (MAX_FILES + 1), [("a.txt", "1 " * (MAX_BYTES // 2))]):
        with pytest.raises(InputError, match=r"can have .*; put them into a folder"):
            check_amount(files)


def test_plan_of_sent_files_does_not_contain_them(planned, project):
    plan = planned("my.yaml", sent=files_of("my.yaml"))
    answer = run_in_child(lambda: pickle.dumps(plan))  # as the task server sends it
    assert plan.feasible and b"From rest to both" not in answer
    assert load_task("my.yaml").steps[2:] == load_task("my.yaml", RecordedFiles()).steps[2:]


@pytest.mark.parametrize("name", ["waist_link", "left_finger_link", "flange"])
def test_scene_must_not_name_a_frame_as_a_link_of_the_robot(tmp_path, chain, model, name):
    """tf would have two parents of one frame, and the collision check two bodies of one name."""
    scene = tmp_path / "mine.yaml"
    scene.write_text(f"scene: mine\nframes:\n  {name}: {{xyz: [0.2, 0, 0.1]}}\n")
    start = ArmConfiguration.of_posture(model)
    with pytest.raises(SceneError, match=f"the name '{name}' is that of a link of nut_arm"):
        load_request("draw_line", model, chain, start, str(scene))


def test_task_that_names_no_scene_has_nothing_around_it_but_the_table(tmp_path, chain, model):
    file, start = tmp_path / "bare.yaml", ArmConfiguration.of_posture(model)
    file.write_text("task: bare\nsteps: [{move_posture: {posture: ready}}]\n")
    scene = load_request(str(file), model, chain, start).scene
    assert not scene.bolts and scene.nut is None and list(scene.objects) == ["table"]
    table = load_scene("nut_transfer", model.name).objects["table"]
    np.testing.assert_array_equal(scene.frames["table"], table.pose)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a file and one below it, and beside it a secret."""
    (tmp_path / "allowed/below").mkdir(parents=True)
    for name in ("allowed/own.yaml", "allowed/below/own.yaml", "secret.yaml"):
        (tmp_path / name).write_text(OPEN)
    monkeypatch.chdir(tmp_path / "allowed")
    return tmp_path / "allowed"


def test_sent_files_go_before_others_and_open_no_others(folder):
    sent = SentFiles({"own.yaml": "sent", "a/../b.yaml": "b"}, RestrictedFiles([folder]))
    assert sent.read(Path("./own.yaml"), 100) == b"sent"
    assert sent.has(Path("b.yaml")) and sent.read(Path("below/own.yaml"), 100) == OPEN.encode()
    assert not sent.has(Path("../secret.yaml"))


def test_recorded_files_are_those_that_were_read(folder):
    files = RecordedFiles()
    files.read(Path("below/../own.yaml"), 100)
    (folder / "binary").write_bytes(b"\xff\xfe")
    files.read(folder / "binary", 100)
    assert files.texts == {"own.yaml": OPEN}
