# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0

import os
from pathlib import Path
from unittest.mock import Mock

import pytest
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from arm_common.errors import InputError
from arm_common.signals import INTERRUPTED
from arm_tasks.bringup import demo, supervisor, view
from arm_tasks.bringup.arguments import default_values
from arm_tasks.bringup.demo import demo_values, main
from arm_tasks.bringup.fitting_task import FittingTask
from arm_tasks.bringup.processes import Process, several_processes
from arm_tasks.bringup.supervisor import ProcessGroup, keep_view, single_instance
from arm_tasks.commands.check import main as check
from arm_tasks.errors import TasksError


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("", {"hardware": "sim", "viewer": "browser", "speed": "1.0", "scene": "nut_transfer"}),
        ("--task draw_square", {"scene": "easel"}),
        ("--task draw_square --scene nut_transfer", {"scene": "nut_transfer"}),
        ("--headless", {"viewer": "none"}),
    ],
)
def test_demo_defaults_to_simulation_in_the_tasks_own_scene(arguments, values):
    assert values.items() <= demo_values(arguments.split()).items()


@pytest.mark.parametrize(
    ("arguments", "world"),
    [
        ("--headless", "contact"),
        ("--headless --task nut_transfer --speed 1", "contact"),
        ("--headless --speed 8", "geometric"),
        ("--headless --speed 8 --world contact", "contact"),
        ("--robot five_axis --task nut_transfer", "geometric"),
        ("--hardware fake", "geometric"),
        ("--robots left,right", "geometric"),
        ("--task pick_and_place", "geometric"),
        ("--task pick_and_place --world contact", "contact"),
        ("--world geometric", "geometric"),
    ],
)
def test_demo_as_shipped_runs_in_contact_physics(monkeypatch, arguments, world):
    monkeypatch.setattr("arm_tasks.bringup.arguments.find_spec", lambda name: True)
    assert demo_values(arguments.split())["world"] == world


@pytest.mark.parametrize(
    ("arguments", "judge"),
    [
        ("--headless", "contact physics."),
        ("--headless --speed 8", "the rules of the geometric world, since speed is 8 and"),
        ("--task pick_and_place", "geometric world, since task is pick_and_place and world is"),
        ("--hardware fake", "geometric world, since hardware is fake and"),
        ("--robots left,right", "geometric world, since robots is left,right and"),
        ("--speed 8 --world geometric", "the rules of the geometric world."),
        ("--speed 8 --world contact", "contact physics."),
        ("--hardware real", ""),
    ],
)
def test_demo_names_the_judge_before_the_start(monkeypatch, capsys, arguments, judge):
    monkeypatch.setattr("arm_tasks.bringup.arguments.find_spec", lambda name: True)
    demo_values(arguments.split())
    said = [line for line in capsys.readouterr().err.splitlines() if "judge" in line]
    assert len(said) == bool(judge)
    assert all(line.startswith("arm: The judge of the task: ") and judge in line for line in said)


def test_bringup_without_tasks_has_no_contact_physics(monkeypatch):
    monkeypatch.setattr("arm_tasks.bringup.arguments.find_spec", lambda name: True)
    assert default_values(tasks="true")["world"] == "contact"
    assert default_values(tasks="false")["world"] == "geometric"
    with pytest.raises(TasksError, match="tasks is false"):
        default_values(tasks="false", world="contact")


def test_demo_without_mujoco_is_geometric_and_reports_that_once(monkeypatch, capsys):
    monkeypatch.setattr(
        "arm_tasks.bringup.arguments.find_spec", lambda name: name != "mujoco" or None
    )
    assert demo_values(["--headless"])["world"] == "geometric"
    assert capsys.readouterr().err.count("MuJoCo") == 1


def test_arm_that_contact_physics_cannot_simulate_is_refused_before_the_start(
    monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr("arm_tasks.bringup.arguments.find_spec", lambda name: True)
    monkeypatch.chdir(tmp_path)
    cases = (
        (["--robot", "so101"], "has none; use the geometric world"),
        (["--calibration", "x"], "'x'"),
    )
    for options, why in cases:
        assert main(["--headless", "--world", "contact", *options]) == 1
        output = capsys.readouterr()
        assert why in output.err and output.err.count("\n") == 1
        assert not output.out
    assert not list(tmp_path.iterdir())  # no logs: nothing was started


@pytest.mark.parametrize(
    ("option", "message", "values"),
    [
        ("speed", "give a number from 0.1 to 20", ["0", "-1", "nan", "inf", "fast", "1000"]),
        ("viewer_port", "give a number from 1 to 65535", ["0", "-1", "70000", "http"]),
    ],
)
def test_invalid_number_is_rejected(option, message, values):
    for value in values:
        with pytest.raises(TasksError, match=f"{option} is '{value}'; {message}"):
            demo_values([f"--{option.replace('_', '-')}={value}"])


def test_speed_is_rejected_for_real_hardware():
    with pytest.raises(TasksError, match="speed is 8, but real servos have no simulated time"):
        demo_values(["--hardware", "real", "--speed", "8"])


def test_misspelt_scene_is_rejected_before_any_process_starts():
    with pytest.raises(TasksError, match="did you mean 'nut_transfer'"):
        demo_values(["--scene", "nut_tranfer"])


def test_robot_without_gripper_is_refused_a_nut_before_any_process_starts():
    with pytest.raises(TasksError, match=r"puma560 has no gripper .* leave out task"):
        demo_values(["--robot", "puma560", "--task", "nut_transfer"])
    assert demo_values(["--robot", "puma560", "--task", "draw_line"])["scene"] == "easel"


@pytest.mark.parametrize("robot", ["puma560", "planar2", "spherical_arm", "braccio"])
def test_robot_of_any_kind_gets_a_task_that_it_can_do(monkeypatch, tmp_path, robot):
    monkeypatch.chdir(tmp_path)
    values = demo_values(["--robot", robot])
    words = [values["task"], "--scene", values["scene"], "--robot", robot]
    assert check(words) == 0
    assert (values["task"] == "pick_and_place") == (robot == "braccio")


FOLDED = """\
name: folded
convention: standard
units: {length: mm, angle: deg}
joints:
  - {name: shoulder, type: revolute, d: 0, a: 300, alpha: 0, limits: {lower: -170, upper: 170}}
  - {name: elbow, type: revolute, d: 0, a: 300, alpha: 0, limits: {lower: -170, upper: 170}}
  - {name: wrist, type: revolute, d: 0, a: 300, alpha: 0, limits: {lower: -170, upper: 170}}
postures:
  rest: {shoulder: 0, elbow: 170, wrist: 170}
"""


def test_arm_that_starts_inside_itself_is_told_so(tmp_path):
    file = tmp_path / "folded.yaml"
    file.write_text(FOLDED)
    with pytest.raises(TasksError, match=r"collision: .* deep in .* posture rest"):
        demo_values(["--robot", str(file)])


def test_no_task_is_chosen_for_real_servos():
    with pytest.raises(TasksError, match="no gripper"):
        demo_values(["--robot", "puma560", "--hardware", "real"])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("--record run.mp4", "run.mp4; give a name that ends in .gif"),
        ("--record no/such/run.gif", "no/such/run.gif cannot be written"),
        ("--record run.gif --robots left,right", "shows one arm"),
    ],
)
def test_recording_that_cannot_be_made_is_refused_before_the_run(arguments, why):
    with pytest.raises(TasksError, match=why):
        demo_values(arguments.split())


def test_recording_overwrites_only_if_told(tmp_path):
    options = ["--record", str(tmp_path / "run.gif")]
    assert "force" not in demo_values(options)
    (tmp_path / "run.mcap").touch()
    with pytest.raises(InputError, match=r"run\.mcap: already exists; .* --force"):
        demo_values(options)
    demo_values([*options, "--force"])


@pytest.mark.parametrize(("code", "draws"), [(0, True), (1, True), (INTERRUPTED, False)])
def test_run_is_recorded_and_drawn_whatever_its_result(monkeypatch, tmp_path, code, draws):
    monkeypatch.setenv("ROS_DOMAIN_ID", "64")
    started, drawn = [], []

    def run_table(table, values, keep_open):
        started.extend(process.label for process in table)
        (tmp_path / "run.mcap").touch()
        return code

    monkeypatch.setattr(demo, "run_table", run_table)
    monkeypatch.setattr("subprocess.call", lambda words: drawn.append(words[1:]) or 0)
    assert main(["--headless", "--record", str(tmp_path / "run.gif")]) == code
    assert started[0] == "recorder"
    assert bool(drawn) == draws
    assert not draws or drawn[0][:2] == [str(tmp_path / "run.mcap"), str(tmp_path / "run.gif")]


@pytest.mark.parametrize(
    "start", [lambda: main(["--robot", "nut_amr"]), lambda: view.main(["nut_amr"])]
)
def test_unknown_robot_is_reported_in_one_sentence(start, capsys):
    assert start() == 1
    error = capsys.readouterr().err
    assert error.startswith("arm: ") and "nut_arm" in error and error.count("\n") == 1


def test_second_start_in_the_same_domain_is_rejected(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    for _ in range(2):  # and again once the first has ended
        monkeypatch.setenv("ROS_DOMAIN_ID", "61")
        with single_instance():
            with pytest.raises(TasksError, match="running in ROS domain 61"), single_instance():
                pass
            monkeypatch.setenv("ROS_DOMAIN_ID", "62")
            with single_instance():
                pass


def test_lock_of_another_user_is_reported_in_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("ROS_DOMAIN_ID", "61")
    (tmp_path / f"arm-{os.getuid()}-domain-61.lock").symlink_to(tmp_path / "another")
    with pytest.raises(TasksError, match=r"cannot be opened .*; remove it"), single_instance():
        pass


def test_simulation_that_ends_is_no_success_even_if_the_task_is(capsys):
    group = Mock(**{"errors.return_value": []})
    group.ended.return_value = {"task_client": 0, "contact_world": 1}
    group.log_tail.return_value = "    the simulation diverged"
    assert supervisor._wait(group, ["task_client"]) == 1
    assert "contact_world ended unexpectedly (code 1)" in capsys.readouterr().err


def without_rviz(package):
    if package == "rviz2":
        raise PackageNotFoundError(package)
    return get_package_prefix(package)


def test_missing_viewer_starts_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROS_DOMAIN_ID", "63")
    monkeypatch.setattr(
        "arm_tasks.bringup.supervisor.ProcessGroup.start", lambda *_, **__: pytest.fail("started")
    )
    monkeypatch.setattr("arm_tasks.bringup.supervisor.get_package_prefix", without_rviz)
    assert main(["--viewer", "rviz"]) == 1
    assert "rviz2 is not installed; use --viewer browser" in capsys.readouterr().err


def test_unwritable_log_folder_is_reported(monkeypatch, tmp_path, capsys):
    (tmp_path / "log").write_text("a file, no folder")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROS_DOMAIN_ID", "63")
    assert main(["--headless"]) == 1
    assert "the folder for logs" in capsys.readouterr().err


def test_ctrl_c_ends_an_open_view_with_success():
    group = Mock(**{"errors.return_value": [], "ended.side_effect": KeyboardInterrupt})
    assert keep_view(group, ["task_client"], ["arm_viewer"]) == 0


def test_crash_while_the_view_is_open_is_reported(capsys):
    for name, code in (("rviz2", -11), ("arm_hardware", 0)):
        group = Mock(**{"errors.return_value": [], "ended.return_value": {name: code}})
        assert keep_view(group, ["task_client"], ["rviz2"]) == 1
        assert f"{name} ended unexpectedly (code {code})" in capsys.readouterr().err


def test_closing_the_view_after_a_success_ends_with_success(capsys):
    group = Mock(**{"errors.return_value": [], "ended.return_value": {"rviz2": 0}})
    assert keep_view(group, ["task_client"], ["rviz2"]) == 0
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--robots", "left,left"], "--robots is left,left; give different names"),
        (["--robots", "left,../x"], "give different names of letters"),
        (["--robots", "a,b", "--calibration", "x,y,z"], "3 entries for 2 arms"),
        (["--robots", "a,b", "--spacing", "far"], "--spacing is far; give a length in m"),
        (["--robots", "a,b", "--viewer", "rviz"], "use --viewer browser, or ros2 launch"),
        (["--robots", "a,b", "--namespace", "c"], "--namespace is for one arm"),
        (["--namespace", "a/../b"], "--namespace is a/../b; give letters"),
    ],
)
def test_arms_that_cannot_run_together_are_rejected(options, message):
    with pytest.raises(TasksError, match=message):
        demo_values(options)


def test_each_arm_has_its_own_names_and_one_publishes_the_clock():
    values = demo_values(["--robots", "left,right", "--calibration", "l.yaml,r.yaml"])
    table = {p.label: p for p in several_processes(("left", "right"), values)}
    assert len([p for p in table.values() if p.ends_all]) == 2
    for arm, file, clock in (("left", "l.yaml", True), ("right", "r.yaml", False)):
        driver = table[f"{arm}_arm_hardware"]
        own = {"prefix": f"{arm}_", "calibration": file, "publish_clock": clock}
        assert own.items() <= driver.parameters.items() and driver.namespace == arm
        stop = "arm_hardware/emergency_stop"  # one message stops all arms
        assert driver.remappings == {stop: f"/{stop}"}


def test_what_a_node_logs_as_an_error_reaches_the_terminal_once(tmp_path):
    group = ProcessGroup(
        {"params_file": "", "log_level": "info", "network": "auto"}, tmp_path / "logs"
    )
    group._running["driver"] = Mock()
    log = tmp_path / "logs" / "driver.log"
    log.write_text(
        "[INFO] [1.5] [a]: fine\n[ERROR] [1.5] [a]: no board at 0x40\n[FATAL] [1.6] [a]: ha"
    )
    assert group.errors() == ["driver: no board at 0x40"]
    with log.open("a") as file:
        file.write("lf\n")
    assert group.errors() == ["driver: half"] and group.errors() == []
    log.unlink()
    assert group.errors() == [] and "cannot be read: No such file" in group.log_tail("driver")


def test_logs_are_read_at_the_end_but_not_in_every_round(monkeypatch):
    monkeypatch.setattr(supervisor, "_POLL_PERIOD", 0.0)
    monkeypatch.setattr(supervisor, "_ERROR_PERIOD", 1000.0)
    rounds = [{}] * 20 + [{"task_client": 0}]
    group = Mock(**{"errors.return_value": [], "ended.side_effect": rounds})
    assert supervisor._wait(group, ["task_client"]) == 0
    assert group.errors.call_count == 2


def test_edited_task_of_a_demo_is_kept(tmp_path):
    FittingTask("task: a\n", "scene: b\n", False).write(tmp_path, "mine")
    FittingTask("task: a\n", "scene: b\n", False).write(tmp_path, "mine")
    assert not list(tmp_path.glob("*.bak"))
    (tmp_path / "mine_task.yaml").write_text("task: edited\n")
    task, scene = FittingTask("task: a\n", "scene: b\n", False).write(tmp_path, "mine")
    assert (Path(task).read_text(), Path(scene).read_text()) == ("task: a\n", "scene: b\n")
    assert [file.name for file in tmp_path.glob("*.bak")] == ["mine_task.yaml.bak"]
    assert (tmp_path / "mine_task.yaml.bak").read_text() == "task: edited\n"


@pytest.mark.parametrize("arguments", ["", "--no-wait", "--headless", "--record run.gif"])
def test_task_does_not_wait_for_a_page_that_nobody_is_asked_to_open(arguments):
    assert demo_values(arguments.split())["wait"] == ""  # tests have no terminal


def test_task_waits_for_the_page_on_request_and_in_a_terminal(monkeypatch):
    assert demo_values(["--wait"])["wait"]
    with pytest.raises(TasksError, match="leave out --headless"):
        demo_values(["--wait", "--headless"])
    monkeypatch.setattr("sys.stdin", Mock(isatty=lambda: True))
    assert demo_values([])["wait"]
    assert demo_values(["--no-wait"])["wait"] == ""


def test_task_starts_once_the_page_is_open(tmp_path, monkeypatch):
    opened, started = tmp_path / "opened", []
    monkeypatch.setattr("sys.stdin", Mock(isatty=lambda: False))

    class Group:
        def start(self, process, to_terminal):
            started.append((process.label, opened.exists()))
            if process.label == "arm_viewer":
                assert process.parameters["opened_file"] == str(opened)

        def ended(self):
            if started and not opened.exists():
                opened.touch()  # a browser comes
            return {}

    table = supervisor.chosen(demo.processes(), demo_values(["--wait"]))
    supervisor._start(Group(), table, str(opened))
    assert started[-1] == ("task_client", True)
    assert not any(is_open for _, is_open in started[:-1]) and len(started) == len(table)


@pytest.mark.parametrize("robot", ["puma560", "planar2"])
def test_square_is_drawn_by_arms_that_do_not_suit_the_board(robot, capsys):
    assert check(["draw_square", "--robot", robot]) == 0
    shown = capsys.readouterr()
    assert "a square in the air" in shown.err
    assert "Fine: all 9 steps of draw_square" in shown.out


@pytest.fixture
def finished(monkeypatch):
    """Run a table whose task has ended with a code; return exit code and text."""

    def run(code, capsys, terminal=False, keep_open=False, **values):
        ended = iter([{"task_client": code}] * 3)
        group = Mock(
            **{"errors.return_value": [], "reach": "", "pids.return_value": {"task_client": 1}}
        )
        group.ended.side_effect = lambda: next(ended, None) or _interrupt()
        monkeypatch.setattr(supervisor, "ProcessGroup", lambda *_: group)
        monkeypatch.setattr(supervisor, "interrupt_on_signals", lambda: None)
        monkeypatch.setattr(supervisor.signal, "signal", lambda *_: None)
        monkeypatch.setattr("sys.stdin", Mock(**{"isatty.return_value": terminal}))
        client = Process("arm_tasks", "run_task", "task_client", ends_all=True)
        result = supervisor.run_table([client], default_values(**values), keep_open)
        return result, capsys.readouterr().out

    return run


def _interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("terminal", "viewer", "held"),
    [(True, "none", True), (False, "browser", True), (False, "none", False)],
)
def test_failed_task_alone_takes_no_torque_from_a_real_arm(
    finished, capsys, terminal, viewer, held
):
    code, said = finished(1, capsys, terminal, hardware="real", viewer=viewer)
    assert code == 1
    assert ("the arm is held" in said) is held
    ends = "No terminal and no view keep it after a failed task: the run ends, the servos are"
    assert (ends in said) is not held
    assert said.count("the servos are released: support the arm") == 1


@pytest.mark.parametrize(("keep_open", "held"), [(True, True), (False, False)])
def test_view_stays_open_after_a_failed_task(finished, capsys, keep_open, held):
    code, said = finished(1, capsys, keep_open, keep_open, viewer="browser")
    assert code == 1 and ("The task has not been done; the arm is held" in said) is held
