# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A person edits the table in a real browser: types, moves, pastes, errs, takes back, saves."""

import threading

import pytest
from arm_description.model.elements import dh_matrix
from arm_testing.waiting import wait_for
from arm_viewer.local_arm import local_page
from arm_viewer.page.arm_page import PageSettings
from arm_viewer.screenshot import open_page, visit

from arm_description import robot_path

pytestmark = pytest.mark.system

BOUND = 60.0  # [s]
PASTE = """([field, text]) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""
REMOVE = """name => document.querySelector(`[data-arm="${name}"]`)?.remove()"""
SEND = """text =>
  window.armLink.sendText(document.querySelector("[data-paste]").dataset.grid, text)"""


class Editor:
    """The page of a robot file in a browser, and the file that it edits."""

    def __init__(self, browser, page):
        self.browser, self.page = browser, page

    def cell(self, key):
        return self.browser.locator(f'[data-cell="{key}"]')

    def click(self, label):
        self.browser.get_by_role("button", name=label, exact=True).first.click()

    def rows(self):
        return [joint.row for joint in self.page.postures.model.rows]

    def press(self, *keys):
        for key in keys:
            self.browser.keyboard.press(key)

    def until(self, condition, what="the edit"):
        wait_for(condition, what, BOUND)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "mine.yaml"
    path.write_bytes(robot_path("planar2").read_bytes())
    return path


@pytest.fixture(scope="module")
def editor(file):
    """One view for all tests, which may have edited the table before."""
    with (
        open_page((1100, 300)) as browser,  # a small picture is drawn in little time
        local_page(PageSettings(robot=str(file))) as (page, arm),
    ):
        browser.context.set_default_timeout(1e3 * BOUND)
        thread = threading.Thread(target=arm.run)
        thread.start()
        try:
            visit(browser, page.address, timeout=BOUND, settle=0.0)
            editor = Editor(browser, page)
            browser.get_by_role("tab", name="Robot", exact=True).click()
            browser.get_by_label("Show the table").click()
            editor.cell("0 a").wait_for()
            yield editor
        finally:
            arm.end()
            thread.join()


def test_tab_and_enter_move_and_each_entry_is_kept(editor):
    editor.cell("0 d").click()
    editor.cell("0 d").fill("0.11")
    editor.press("Tab")
    editor.browser.keyboard.type("0.4")  # perhaps before the answer to the one before
    editor.press("Enter")
    editor.browser.keyboard.type("l1/2")
    editor.press("Shift+Tab")
    editor.until(lambda: [row.a for row in editor.rows()] == [0.4, 0.15])
    editor.until(lambda: editor.rows()[0].d == 0.11)
    focused = "document.activeElement.dataset.cell"
    editor.until(lambda: editor.browser.evaluate(focused) == "1 d")
    editor.until(lambda: editor.cell("1 a").input_value() == "l1/2")


def test_a_block_is_pasted_marked_and_taken_back_in_one_step(editor):
    before = editor.page.postures.model
    field = editor.cell("0 theta")
    field.click()
    block = "q1\t0,1\t0\t-90°\n0\tq2\t0\tπ/2\nq3 - 90\t0\t0,3\t0"
    editor.browser.evaluate(PASTE, [field.element_handle(), block])
    editor.cell("2 a").wait_for()
    types = [joint.type for joint in editor.page.postures.model.joints]
    assert types == ["revolute", "prismatic", "revolute"]
    assert editor.cell("1 alpha").input_value() == "90"
    mark = editor.cell("1 d").locator("xpath=..")
    assert (mark.get_attribute("class"), mark.inner_text()) == ("q", "q2 +")
    editor.click("Undo")
    editor.until(lambda: editor.page.postures.model == before)
    editor.cell("2 a").wait_for(state="detached")


def test_a_click_on_a_number_draws_its_row_and_shows_the_matrix(editor):
    editor.cell("1 a").click()
    matrix = editor.browser.locator('[data-arm="row-matrix"]')
    row = editor.rows()[1]
    expected = dh_matrix(row, editor.page.postures.model.convention).ravel()

    def numbers():
        return [float(text) for text in matrix.inner_text().split()]

    editor.until(lambda: numbers() == pytest.approx(expected, abs=1e-4))
    drawn = "() => window.__viserSceneTree.getState()['/table_row/motion']?.message.props.text"
    editor.until(lambda: (editor.browser.evaluate(drawn) or "").startswith("Rx"))


def test_a_wrong_cell_says_why_and_save_waits_until_it_is_right(editor, file):
    before = file.read_bytes()
    editor.cell("0 a").fill("l9")
    editor.press("Enter")
    wrong = editor.browser.locator('tr:has([data-cell="0 a"]) + tr [data-arm="wrong"]')
    wrong.wait_for()
    assert "l9" in wrong.inner_text()
    assert editor.cell("0 a").get_attribute("aria-invalid") == "true"
    editor.click("Save")
    answer = editor.browser.locator('[data-arm="file-answer"]')
    answer.wait_for()
    assert "marked" in answer.inner_text()
    assert file.read_bytes() == before
    editor.cell("0 a").fill("0.5")
    editor.press("Tab")
    wrong.wait_for(state="detached")
    editor.click("Save")
    editor.until(lambda: b"a: 0.5" in file.read_bytes())


def test_escape_brings_back_what_was_in_a_cell(editor):
    before, field = editor.page.postures.model, editor.cell("1 a")
    text = field.input_value()
    field.click()
    editor.browser.keyboard.type("0.77")
    editor.press("Escape")
    assert field.input_value() == text
    editor.press("Tab")
    editor.cell("1 d").fill("0.01")
    editor.press("Enter")
    editor.until(lambda: editor.rows()[1].d == 0.01)
    assert editor.rows()[1].a == before.rows[1].row.a


def test_the_list_of_keys_has_only_those_that_do_something(editor):
    keys = {"Space, Esc", "J, L", "P", "Ctrl+K"}
    for missing, absent in (("", set()), ("picture", {"P"}), ("commands", {"P", "Ctrl+K"})):
        editor.browser.evaluate(REMOVE, missing)
        editor.click("?")
        listed = editor.browser.locator('[data-arm="over"] td:first-child').all_inner_texts()
        editor.click("?")
        assert keys & {*listed} == keys - absent


def test_a_message_that_is_no_edit_changes_nothing_and_the_page_goes_on(editor):
    before = editor.page.postures.model
    for text in (
        "",
        "[" * 20_000,
        '{"do": "set", "cell": "7 a", "text": "1"}',
        '{"do": "exec", "cell": "0 a", "text": "1"}',
        '{"do": ["set"], "cell": {}, "text": 1}',
        "x" * 30_000,
        '{"do": "set", "cell": "0 a", "text": "\\ud800\\u0000: {"}',
    ):
        editor.browser.evaluate(SEND, text)
    editor.browser.locator('[data-arm="wrong"]').first.wait_for()  # of the last one
    assert editor.page.postures.model == before
    editor.cell("0 a").fill("0.25")
    editor.press("Enter")
    editor.until(lambda: editor.rows()[0].a == 0.25)
