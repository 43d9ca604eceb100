# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Image, compose file and workflows: linted, and true to the packages that they start."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from arm_tasks.bringup.arguments import ARGUMENTS
from arm_testing.hardware import units

REPOSITORY = Path(__file__).resolve().parents[3]
DOCKER, GITHUB = REPOSITORY / "docker", REPOSITORY / ".github"
SCRIPTS = ("docker/entrypoint.sh", "tools/release/build_debs.sh", ".ci/run")
WORKFLOWS = sorted(str(file) for file in (GITHUB / "workflows").iterdir())
SCHEMA = "check-jsonschema --builtin-schema vendor."
AT_BOOT = ("pi", "feetech", "tasks", "page")
DRIVER = """
import rclpy, sys, time
from rclpy.qos import DurabilityPolicy, QoSProfile
from arm_interfaces.msg import HardwareStatus
rclpy.init()
node = rclpy.create_node("driver")
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
status = HardwareStatus(state=int(sys.argv[1]), message="the bus is dead")
publisher = node.create_publisher(HardwareStatus, "arm_hardware/status", latched)
publisher.publish(status)
rclpy.spin(node)
"""


def compose() -> dict:
    return yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("hadolint", [str(DOCKER / "Dockerfile")]),
        ("shellcheck", [str(REPOSITORY / name) for name in SCRIPTS]),
        (SCHEMA + "compose-spec", [str(DOCKER / "compose.yaml")]),
        (SCHEMA + "github-workflows", WORKFLOWS),
        (SCHEMA + "dependabot", [str(GITHUB / "dependabot.yml")]),
        ("zizmor --offline --no-progress", WORKFLOWS),
    ],
    ids=["hadolint", "shellcheck", "compose", "workflows", "dependabot", "zizmor"],
)
def test_linters_pass(command, files):
    name, *arguments = shlex.split(command)
    linter = Path(sys.executable).parent / name
    done = subprocess.run([linter, *arguments, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_action_is_pinned_by_its_hash():
    used = [
        line for file in WORKFLOWS for line in re.findall(r"uses: (.*)", Path(file).read_text())
    ]
    assert used and all(re.fullmatch(r"[\w/.-]+@[0-9a-f]{40} # v[\d.]+", line) for line in used)


def test_gate_waits_for_every_job():
    jobs = yaml.safe_load((GITHUB / "workflows" / "test.yml").read_text())["jobs"]
    assert set(jobs["gate"]["needs"]) == set(jobs) - {"gate"}
    assert jobs["gate"]["steps"][0]["run"].count("success") == len(jobs) - 1


def test_workflow_runs_every_file_with_thorough_tests():
    jobs = yaml.safe_load((GITHUB / "workflows" / "test.yml").read_text())["jobs"]
    rows = jobs["thorough"]["strategy"]["matrix"]["include"]
    commands = [row["tests"] for row in rows]
    commands += [step.get("run", "") for step in jobs["keys"]["steps"]]
    run = [word for word in " ".join(commands).split() if word.startswith("src/")]
    files = REPOSITORY.glob("src/*/test/**/test_*.py")
    thorough = [str(f.relative_to(REPOSITORY)) for f in files if "mark.thorough" in f.read_text()]
    assert thorough
    assert [file for file in thorough if not file.startswith(tuple(run))] == []


def test_services_are_unprivileged_and_have_a_profile():
    services = compose()
    assert {"sim", "browser", "workstation", *AT_BOOT} <= set(services)
    for name, service in services.items():
        assert service["profiles"] == [name] and not service.get("privileged")
        assert service["cap_drop"] == ["ALL"] and "cap_add" not in service
    assert services["pi"]["devices"] == ["/dev/i2c-1"] and len(services["pi"]["group_add"]) == 1
    assert all(
        port.startswith("127.0.0.1:") for s in services.values() for port in s.get("ports", ())
    )


def test_services_on_a_computer_with_servos_start_with_it_and_arm_nothing():
    for name in AT_BOOT:
        service = compose()[name]
        assert service["restart"] == "unless-stopped"
        assert (service["network_mode"], service["ipc"]) == ("host", "host")
        assert bool(service.get("devices")) == (name in ("pi", "feetech"))
        assert "autostart:=activate" not in service["command"]
    drivers = [compose()[name]["command"] for name in ("pi", "feetech")]
    assert all("autostart:=configure" in command for command in drivers)


def test_example_of_settings_has_every_variable_of_those_services():
    text = (DOCKER / "compose.yaml").read_text()
    used = {v for name in AT_BOOT for v in re.findall(r"\$\{(\w+)", yaml.dump(compose()[name]))}
    shown = dict(re.findall(r"^#?([A-Z0-9_]+)=(.*)", (DOCKER / "example.env").read_text(), re.M))
    assert shown.pop("COMPOSE_PROFILES") == "pi,tasks,page"
    assert shown.keys() == used
    assert shown["ARM_CALIBRATION"].startswith(shown["ARM_FILES"])
    defaults = {name: set(re.findall(rf"\$\{{{name}:-([^}}]*)", text)) for name in shown}
    for name in shown.keys() - {"ARM_FILES", "ARM_CALIBRATION", "ARM_NETWORK"}:
        assert shown[name] in defaults[name], name


def test_page_and_task_server_are_started_as_by_systemd():
    """The same arguments; paths differ."""
    for name in ("tasks", "page"):
        unit = REPOSITORY / f"src/arm_tasks/systemd/arm-{name}.service"
        pattern = r"(\w+):=\"?([\w./]+|\$\{\w+)"
        given = dict(re.findall(pattern, units.service(unit)["ExecStart"]))
        assert dict(re.findall(pattern, compose()[name]["command"])) == given


def test_launch_arguments_of_images_exist():
    """Every launch argument that an image or a service gives is one of the launch file's."""
    known = {argument.name: argument.choices for argument in ARGUMENTS}
    known["tasks"] = ("true", "false")  # of bringup.launch.py alone
    last = re.findall(r"CMD \[(.*)\]", (DOCKER / "Dockerfile").read_text())[1:]
    commands = [service["command"] for service in compose().values()] + [
        x.replace('"', "") for x in last
    ]
    given = [x for command in commands for x in re.findall(r"(?<!-p )\b(\w+):=([\w./]+)", command)]
    assert len(given) > 6
    for name, value in given:
        assert name in known and (not known[name] or value in known[name])


def test_image_uses_the_pinned_versions():
    pins = (REPOSITORY / "tools" / "pip_ros" / "requirements.txt").read_text().splitlines()
    core, more = (
        [
            x
            for x in (DOCKER / f"requirements{end}.txt").read_text().splitlines()
            if x[:1] not in "#"
        ]
        for end in ("-core", "")
    )
    assert more.pop(0) == "-r requirements-core.txt"
    assert {*core, *more} <= {pin.partition(";")[0] for pin in pins}
    assert "gpiod" in {pin.partition("==")[0] for pin in core}
    assert "viser" in {pin.partition("==")[0] for pin in more}


def test_image_of_the_pi_needs_neither_sympy_nor_matplotlib_nor_viser():
    """Its packages are those that the stage core does not remove; no dependency brings others."""
    stage = (DOCKER / "Dockerfile").read_text().partition(" AS core\n")[2].partition("FROM")[0]
    removed = set(re.search(r"RUN rm -r (.*) \\\n", stage)[1].split())
    assert removed == {"src/arm_testing", "src/arm_viewer", "src/arm_studio"}
    text = (DOCKER / "requirements-core.txt").read_text()
    for package in sorted((REPOSITORY / "src").glob("arm_*/package.xml")):
        if f"src/{package.parent.name}" not in removed:
            text += package.read_text().replace("<test_depend>", "<!-- ")
    assert not re.search(r"viser|sympy|matplotlib|arm_studio", text, re.IGNORECASE)


def test_linter_versions_agree():
    text = (REPOSITORY / ".pre-commit-config.yaml").read_text()
    hooks = yaml.safe_load(text)["repos"][0]["hooks"]
    text = (REPOSITORY / "tools" / "pip_ros" / "requirements-test.txt").read_text()
    pins = {line.partition(";")[0] for line in text.splitlines()}
    assert {x for hook in hooks for x in hook["additional_dependencies"]} <= pins


@pytest.mark.parametrize(
    ("state", "code"), [(2, 0), (5, 1), (None, 1)], ids=["armed", "fault", "silent"]
)
def test_health_check_detects_faults_and_a_missing_driver(state, code):
    patience = 0.2 if state is None else 60.0
    check = f"import healthcheck as h; h.PATIENCE = {patience}; exit(h.main())"
    driver = state and subprocess.Popen([sys.executable, "-c", DRIVER, str(state)])
    try:
        done = subprocess.run(
            [sys.executable, "-c", check],
            cwd=DOCKER,
            capture_output=True,
            text=True,
        )
    finally:
        if driver:
            driver.kill()
            driver.wait()
    assert done.returncode == code, done.stderr
    assert ("fault: the bus is dead" in done.stdout) == (state == 5)


def test_first_stage_keeps_only_manifests(tmp_path):
    """The stage's own command, on a copy of the packages."""
    command = re.search(r"RUN (find src .*)", (DOCKER / "Dockerfile").read_text())
    subprocess.run(["cp", "-r", REPOSITORY / "src", tmp_path / "src"], check=True)
    subprocess.run(shlex.split(command[1]), cwd=tmp_path, check=True)
    left = {
        file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file()
    }
    assert left == {f"src/{p.name}/package.xml" for p in (REPOSITORY / "src").glob("arm_*")}
