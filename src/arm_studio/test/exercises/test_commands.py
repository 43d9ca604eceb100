# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""./arm exercise and ./arm grade: from a list of names to grades."""

import io
import os
import shutil

import pytest
from arm_studio.commands import exercise
from arm_studio.exercises import sheets
from arm_studio.exercises.sheets import LIST, SECRET_VARIABLE, ClassList, read_names

NAMES = "name,email\nAda Lovelace,ada@example.org\nÉmile Borel,\n\n../王小明,\nAda  LOVELACE,\n"
STEMS = ["ada-lovelace", "emile-borel", "student", "ada-lovelace-2"]


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    """A class with its sheets and solutions."""
    folder = tmp_path_factory.mktemp("school")
    (folder / "names.csv").write_text(NAMES)
    (folder / "secret").write_text("correct horse battery\n")
    assert run(folder, "sheets", "--solutions", str(folder / "solutions")) == 0
    return folder


def run(folder, output, *more, arm="planar2", secret="secret"):
    students, file = str(folder / "names.csv"), str(folder / secret)
    where = ["-o", str(folder / output), "--secret", file]
    return exercise.main([arm, "--students", students, *where, *more])


def grade(folder, answers, *more, secret="secret"):
    where = [str(folder / "sheets"), str(answers), "--secret", str(folder / secret)]
    return exercise.grade([*where, *more])


def test_each_student_has_a_sheet_and_a_form_inside_the_folder(school):
    written = sorted(path.name for path in (school / "sheets").iterdir())
    expected = [f"{stem}.{kind}" for stem in STEMS for kind in ("html", "yaml")]
    assert written == sorted([LIST, *expected])
    texts = {stem: (school / "sheets" / f"{stem}.html").read_text() for stem in STEMS}
    assert "Émile Borel" in texts["emile-borel"] and len(set(texts.values())) == len(STEMS)
    assert not any("Solution" in text for text in texts.values())
    solved = (school / "solutions" / "ada-lovelace.html").read_text()
    assert solved.count("Solution") >= 7


def test_same_names_and_secret_make_the_same_bytes_and_another_secret_other_numbers(school):
    assert run(school, "again", "--moodle", str(school / "quiz.xml")) == 0
    (school / "other secret").write_text("another secret")
    assert run(school, "other", secret="other secret") == 0
    for stem in STEMS:
        first, again, other = (
            (school / name / f"{stem}.html").read_bytes() for name in ("sheets", "again", "other")
        )
        assert first == again and first != other
    assert (school / "quiz.xml").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("arm", ["puma560", "scara", "so101"])
def test_graded_solutions_have_full_marks(arm, school, tmp_path, capsys):
    shutil.copy(school / "names.csv", tmp_path)
    shutil.copy(school / "secret", tmp_path)
    assert run(tmp_path, "sheets", "--solutions", str(tmp_path / "solutions"), arm=arm) == 0
    assert grade(tmp_path, tmp_path / "solutions", "-o", str(tmp_path / "grades.csv")) == 0
    assert capsys.readouterr().out.count("100 %") == len(STEMS)
    lines = (tmp_path / "grades.csv").read_text().splitlines()
    assert len(lines) == 1 + len(STEMS)
    assert all(set(line.split(",")[1:-1]) == {"1"} for line in lines[1:])


def test_hostile_files_leave_the_others_graded(school, tmp_path, capsys):
    answers = tmp_path / "answers"
    shutil.copytree(school / "solutions", answers)
    (answers / "emile-borel.yaml").unlink()
    (answers / "emile-borel.yaml").symlink_to("/etc/passwd")
    (answers / "student.yaml").write_bytes(b"fk: [[[[\xff")
    (answers / "ada-lovelace-2.yaml").unlink()
    os.mkfifo(answers / "ada-lovelace-2.yml")
    (answers / "nobody.yaml").write_text("fk: 1")
    assert grade(school, answers) == 0
    out, err = capsys.readouterr()
    assert out.count("100 %") == 1 and out.count(" 0 %") == 3
    for part in ("symbolic link", "UTF-8", "not a regular file"):
        assert part in out
    assert "nobody.yaml is the file of no student" in err and "Traceback" not in err
    assert "root:" not in out


def test_files_with_other_names_are_those_of_the_student_named_in_them(school, tmp_path, capsys):
    answers = tmp_path / "answers"
    shutil.copytree(school / "solutions", answers)
    (answers / "emile-borel.yaml").rename(answers / "Borel_17_assignsubmission_file.yaml")
    shutil.copy(answers / "ada-lovelace.yaml", answers / "again.yaml")
    assert grade(school, answers) == 0
    out, err = capsys.readouterr()
    assert out.count("100 %") == len(STEMS)
    assert "again.yaml is a second file of Ada Lovelace" in err and "Borel" not in err


def test_answers_that_are_not_graded_are_named(school, tmp_path, capsys):
    (tmp_path / "Zoe_12_submission").mkdir()
    for name, text in (("emile.yaml.txt", "{}"), ("broken (1).yaml", "a: [")):
        (tmp_path / name).write_text(text)
    (tmp_path / "notes.pdf").write_text("")
    assert grade(school, tmp_path) == 0
    err = capsys.readouterr().err
    assert "Zoe_12_submission is not read: put the" in err and "emile.yaml.txt is not read" in err
    assert "broken (1).yaml" in err and "notes" not in err
    assert grade(school, tmp_path / "missing") == 1
    assert "check the path" in capsys.readouterr().err


def test_a_wrong_secret_is_refused_before_anything_is_graded(school, tmp_path, capsys):
    (school / "wrong").write_text("not the secret")
    csv = tmp_path / "grades.csv"
    assert grade(school, school / "solutions", "-o", str(csv), secret="wrong") == 1
    out, err = capsys.readouterr()
    assert "the secret is not that of the sheets" in err and err.count("\n") == 1
    assert not out and not csv.exists()
    assert "correct horse" not in (school / "sheets" / LIST).read_text()


def test_a_secret_is_between_its_bounds_or_one_sentence(school, monkeypatch, tmp_path, capsys):
    (school / "long").write_text("x" * 5000)
    assert run(school, "never", secret="long") == 1
    assert "the secret has 5000 bytes, not 8 to 4096" in capsys.readouterr().err
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    monkeypatch.setattr(sheets.sys, "stdin", Terminal())
    monkeypatch.setattr(sheets.getpass, "getpass", Terminal().ended)
    words = ["--students", str(school / "names.csv"), "-o", str(tmp_path / "a")]
    assert exercise.main(["planar2", *words]) == 1
    error = capsys.readouterr().err
    assert "the secret has 0 bytes, not 8 to 4096" in error and error.count("\n") == 1


class Terminal(io.StringIO):
    """A terminal at which Ctrl-D is pressed."""

    def isatty(self):
        return True

    def ended(self, prompt):
        raise EOFError


def test_names_without_latin_letters_have_a_file_each():
    names = tuple(f"{chr(0x4E00 + i)}" for i in range(300))
    stems = ClassList("planar2", names).files()
    assert len(set(stems.values())) == 300 and stems[names[-1]] == "student-300"


def test_markdown_has_its_drawing_beside_it(school, tmp_path):
    shutil.copy(school / "names.csv", tmp_path)
    shutil.copy(school / "secret", tmp_path)
    assert run(tmp_path, "sheets", "--format", "md") == 0
    assert (tmp_path / "sheets" / "ada-lovelace_frames.svg").is_file()


def test_sheets_are_overwritten_only_by_force(school, capsys):
    assert run(school, "sheets") == 1
    assert "already exists" in capsys.readouterr().err
    assert run(school, "sheets", "--force") == 0


def test_solutions_never_lie_with_the_sheets(school, capsys):
    assert run(school, "same", "--solutions", str(school / "x" / ".." / "same")) == 1
    assert "choose another one" in capsys.readouterr().err


def test_a_changed_arm_is_not_graded(school, tmp_path, capsys):
    shutil.copytree(school / "sheets", tmp_path / "sheets")
    file = tmp_path / "sheets" / LIST
    file.write_text(file.read_text().replace('"planar2"', '"planar3"'))
    shutil.copy(school / "secret", tmp_path)
    assert grade(tmp_path, school / "solutions") == 1
    assert "have changed since the sheets were made" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has 0 names"),
        ("name\nAda\nAda\n", "'Ada' is there twice"),
        ("A" * 200, "is no name"),
        ("a\x1bb", "is no name"),
        ("\n".join(f"s{i}" for i in range(1001)), "has 1001 names"),
        ('"a' + "\x00" * 3, ""),
    ],
)
def test_lists_of_names_that_cannot_be_used(text, message, school, tmp_path, capsys):
    (tmp_path / "names.csv").write_text(text)
    shutil.copy(school / "secret", tmp_path)
    assert run(tmp_path, "sheets") == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and "Traceback" not in error


def test_names_are_the_first_column(tmp_path):
    (tmp_path / "a.csv").write_text('"Lovelace, Ada",1\nBob,2\n')
    (tmp_path / "b.csv").write_text("Students;mail\nAda;x\n")
    assert read_names(tmp_path / "a.csv") == ("Lovelace, Ada", "Bob")
    assert read_names(tmp_path / "b.csv") == ("Ada",)


def test_names_of_files_are_plain_and_different():
    names = ("Ada", "ada", "../../etc", "", "_exercise")
    stems = list(ClassList("planar2", names).files().values())
    assert stems == ["ada", "ada-2", "etc", "student", "exercise"]


def test_the_secret_is_of_a_file_or_the_environment(school, monkeypatch, tmp_path, capsys):
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    monkeypatch.setattr(sheets.sys, "stdin", io.StringIO())  # no terminal
    students = ["--students", str(school / "names.csv")]
    assert exercise.main(["planar2", *students, "-o", str(tmp_path / "a")]) == 1
    assert "the secret of the exercise is missing" in capsys.readouterr().err
    monkeypatch.setenv(SECRET_VARIABLE, "short")
    assert exercise.main(["planar2", *students, "-o", str(tmp_path / "a")]) == 1
    assert "the secret has 5 bytes" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()  # nothing is left of what was refused
    monkeypatch.setenv(SECRET_VARIABLE, "correct horse battery")
    assert exercise.main(["planar2", *students, "-o", str(tmp_path / "a")]) == 0
    name = "ada-lovelace.html"
    assert (tmp_path / "a" / name).read_bytes() == (school / "sheets" / name).read_bytes()
