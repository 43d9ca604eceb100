# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Other solvers behind one call each; each is called as its documentation shows.

Each gets the same arm, targets and seeds, and tolerances as near to ours as it can be told. Runs
in the peers' own environment: nothing of the arm packages is imported here.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import logging
import subprocess
import sys
import tempfile
import warnings
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from ik.problem import NotForThisError, Problem, Solve

DAMPING, STEPS = 1e-6, 100  # of the closed loop with pinocchio
TRAC_IK_SECONDS = 0.005


def urdf_file(problem: Problem) -> str:
    """Return the path of a file with the arm's URDF."""
    file = Path(tempfile.mkdtemp()) / "robot.urdf"
    file.write_text(problem.urdf)
    return str(file)


def only(problem: Problem, *modes: str) -> None:
    """Refuse other modes."""
    if problem.mode not in modes:
        raise NotForThisError(f"no mode {problem.mode}")


def six_turning(problem: Problem, most: int = 6) -> None:
    """Refuse arms of other than six (to most) turning joints."""
    if not 6 <= problem.n <= most or problem.prismatic.any():
        raise NotForThisError("not an arm of six turning joints")


def roboticstoolbox(problem: Problem) -> Solve:
    """Levenberg-Marquardt in C++, with its default method and restarts."""
    only(problem, "pose", "position")
    from roboticstoolbox import ET, ETS

    ets, past = ETS(), np.eye(4)
    for k in range(problem.n):
        frame = problem.joint_frame(k)
        ets *= ET.SE3(np.linalg.inv(past) @ frame)
        limits = [problem.lower[k], problem.upper[k]]
        ets *= ET.tz(qlim=limits) if problem.prismatic[k] else ET.Rz(qlim=limits)
        past = frame
    ets *= ET.SE3(np.linalg.inv(past) @ problem.M)
    least = min(problem.position_tolerance, problem.orientation_tolerance)
    tolerance = 0.5 * least**2  # of half the squared error of both
    mask = np.array([1.0] * 3 + [float(problem.mode == "pose")] * 3)

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        answer = ets.ik_LM(T, q0=seed, tol=tolerance, mask=mask)
        q, success = answer[:2] if isinstance(answer, tuple) else (answer.q, answer.success)
        return q if success else None

    return solve


def roboticstoolbox_c(problem: Problem) -> Solve:
    """The C code that it generates from a symbolic closed form: all branches, without limits."""
    only(problem, "pose")
    solutions, count = np.empty((64, problem.n)), ctypes.c_int()
    ikine = ctypes.CDLL(str(_library(problem))).ikine
    number = np.ctypeslib.ndpointer(np.float64, flags="C")
    ikine.argtypes = [number, ctypes.c_double, number, ctypes.c_void_p]
    before, after = np.linalg.inv(problem.base), np.linalg.inv(problem.tool)
    as_it_is = np.allclose(before, np.eye(4)) and np.allclose(after, np.eye(4))
    tolerance = min(problem.position_tolerance, problem.orientation_tolerance)
    place = ctypes.byref(count)

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        ikine(T if as_it_is else before @ T @ after, tolerance, solutions, place)
        return solutions[: count.value].copy() if count.value else None

    return solve


def _library(problem: Problem) -> Path:
    """Return the compiled closed form of an arm; kept on disk."""
    from roboticstoolbox import DHRobot, PrismaticDH, RevoluteDH

    if not np.isfinite(problem.dh).all():
        raise NotForThisError("no standard DH table")
    name = "rtb_" + hashlib.sha256(problem.dh.tobytes()).hexdigest()[:16]
    folder = Path(sys.prefix) / "rtb_arms"
    library = folder / f"{name}.so"
    if not library.exists():
        links = [
            PrismaticDH(theta=theta, a=a, alpha=alpha, offset=d)
            if slides
            else RevoluteDH(d=d, a=a, alpha=alpha, offset=theta)
            for (theta, d, a, alpha), slides in zip(problem.dh, problem.prismatic, strict=True)
        ]
        try:
            text = DHRobot(links, name=problem.name).analytic_ik().generate("c", "ikine")
        except NotImplementedError as error:
            raise NotForThisError(f"not generated: {error}") from None
        folder.mkdir(exist_ok=True)
        source = library.with_suffix(".c")
        source.write_text(text)
        compiler = ["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source, "-lm"]
        subprocess.run(compiler, check=True)
    return library


def pytracik(problem: Problem) -> Solve:
    """TRAC-IK: KDL's Newton with restarts and a nonlinear programme, in two threads; 5 ms."""
    only(problem, "pose")
    from trac_ik import TracIK

    solver = TracIK(
        "base_link",
        "tool0",
        urdf_file(problem),
        timeout=TRAC_IK_SECONDS,
        epsilon=min(problem.position_tolerance, problem.orientation_tolerance),
    )

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        return solver.ik(T[:3, 3], T[:3, :3], seed)

    return solve


def eaik(problem: Problem) -> Solve:
    """Closed form by subproblems (no seed, no limits): all branches, of which any may be right."""
    only(problem, "pose")
    six_turning(problem)
    from eaik.IK_HP import HPRobot

    points = problem.points()
    tip = problem.M[:3, 3]
    P = np.diff(np.vstack([np.zeros(3), points, tip]), axis=0)
    robot = HPRobot(np.ascontiguousarray(problem.S[3:].T), P)
    if not robot.hasKnownDecomposition():
        raise NotForThisError("no known decomposition")
    R = np.linalg.inv(problem.M[:3, :3])

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        turned = T.copy()
        turned[:3, :3] = T[:3, :3] @ R  # its tip is parallel to the base at q = 0
        return np.asarray(robot.IK(turned).Q)

    return solve


def ssik(problem: Problem, most: int | None = 1) -> Solve:
    """Closed form or elimination, in a module built for the arm; the solution nearest the seed."""
    only(problem, "pose")
    six_turning(problem, most=7)
    arm = _ssik_module(problem.urdf)

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        found = arm.solve(T, max_solutions=most, q_seed=seed, enumerate_windings=most == 1)
        return np.array([s.q for s in found]) if found else None

    return solve


@cache
def _ssik_module(urdf: str) -> ModuleType:
    """Return the module that `ssik build` makes, as its documentation advises; kept on disk."""
    name = "arm_" + hashlib.sha256(urdf.encode()).hexdigest()[:16]
    folder = Path(sys.prefix) / "ssik_arms"
    file = folder / f"{name}.py"
    if not file.exists():
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.urdf").write_text(urdf)
        rest = f"build {name}.urdf --base base_link --ee tool0 --no-validate --out {name}.py"
        command = [sys.executable, "-m", "ssik.cli", *rest.split()]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise NotForThisError(f"not built: {done.stderr.strip()[-100:]}")
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ssik_all(problem: Problem) -> Solve:
    """The same, every solution once; of seven joints, those at the values that it samples."""
    if problem.n != 7:
        six_turning(problem)
    return ssik(problem, most=None)


def pin(problem: Problem) -> Solve:
    """Pinocchio's own example: a closed loop with damped least squares, in Python, no restarts."""
    only(problem, "pose", "position")
    import pinocchio

    model = pinocchio.buildModelFromXML(_without_others(problem.urdf))
    data, tip = model.createData(), model.getFrameId("tool0")
    if model.nq != problem.n or model.nv != problem.n:
        raise NotForThisError("joints of another kind in pinocchio's model")
    rows = 6 if problem.mode == "pose" else 3
    limits = problem.position_tolerance, problem.orientation_tolerance

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        q, goal = seed.copy(), pinocchio.SE3(T)
        for _ in range(STEPS):
            pinocchio.framesForwardKinematics(model, data, q)
            error = data.oMf[tip].actInv(goal)
            twist = pinocchio.log6(error).vector[:rows]
            if rows == 3:
                twist = error.translation
            if _norm(twist[:3]) < limits[0] and _norm(twist[3:]) < limits[1]:
                return q
            J = pinocchio.computeFrameJacobian(model, data, q, tip)[:rows]
            step = J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(rows), twist)
            q = np.clip(q + step, problem.lower, problem.upper)
        return None

    return solve


def _norm(x: np.ndarray) -> float:
    return float(np.sqrt(x @ x))


def _without_others(urdf: str) -> str:
    """Return the URDF with the joints off the way to tool0 (a gripper's fingers) fixed."""
    root = ElementTree.fromstring(urdf)
    above = {
        j.find("child").get("link"): j for j in root.iter("joint") if j.find("child") is not None
    }
    way, link = set(), "tool0"
    while link in above:
        way.add(above[link].get("name"))
        link = above[link].find("parent").get("link")
    for joint in root.iter("joint"):
        if joint.find("child") is not None and joint.get("name") not in way:
            joint.set("type", "fixed")
            for mimic in joint.findall("mimic"):
                joint.remove(mimic)
    return ElementTree.tostring(root, encoding="unicode")


def numba_sketch(problem: Problem) -> Solve:
    """Damped least squares in a hundred lines, see numba_sketch.py."""
    from ik import numba_sketch

    return numba_sketch.solver(problem)


def ikpy(problem: Problem) -> Solve:
    """Scipy's bounded least squares on a symbolic chain (a position alone takes it seconds)."""
    only(problem, "pose")
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    from ikpy.chain import Chain

    root = ElementTree.fromstring(problem.urdf)
    above = {
        j.find("child").get("link"): j for j in root.iter("joint") if j.find("child") is not None
    }
    way, link = ["tool0"], "tool0"
    while link in above:
        parent = above[link].find("parent").get("link")
        way[:0] = [parent, above[link].get("name")]
        link = parent
    chain = Chain.from_urdf_file(urdf_file(problem), base_elements=way)
    active = np.array([link.joint_type != "fixed" for link in chain.links])
    chain.active_links_mask = active

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        start = np.zeros(len(active))
        start[active] = seed
        answer = chain.inverse_kinematics_frame(T, initial_position=start, orientation_mode="all")
        return answer[active]

    return solve


SOLVERS = {
    "EAIK": ("eaik", eaik),
    "roboticstoolbox LM": ("roboticstoolbox-python", roboticstoolbox),
    "roboticstoolbox C": ("roboticstoolbox-python", roboticstoolbox_c),
    "TRAC-IK": ("pytracik", pytracik),
    "ssik": ("ssik", ssik),
    "ssik, all": ("ssik", ssik_all),
    "pinocchio CLIK": ("pin", pin),
    "Numba sketch": ("numba", numba_sketch),
    "ikpy": ("ikpy", ikpy),
}
"""Name in the tables -> name on PyPI, function that makes the solver."""
