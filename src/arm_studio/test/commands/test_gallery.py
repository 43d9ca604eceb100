# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0


from arm_description.library import shipped_robots
from arm_studio.commands import gallery
from arm_testing.repository import repository


def test_gallery_shows_every_shipped_robot():
    docs = repository() / "docs"
    page = (docs / "gallery.md").read_text()
    for robot in shipped_robots():
        assert f"(images/robots/{robot}.png) `{robot}`" in page
        assert (docs / f"images/robots/{robot}.png").is_file()


def test_gallery_into_a_file_is_refused_in_one_sentence(tmp_path, capsys):
    (tmp_path / "a.png").touch()
    assert gallery.main([str(tmp_path / "a.png"), "planar2"]) == 1
    assert capsys.readouterr().err.endswith("a.png can be made: it is a file\n")
