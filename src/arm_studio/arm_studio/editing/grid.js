// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Tests: src/arm_studio/test/panels/test_grid_browser.py
// The cells of `grid.py`: Tab and Enter move, and an entry is sent when it is left or at Enter.
//   <div data-grid="uuid">         a grid, and the text element that takes its messages
//   <input data-cell="0 theta">    a cell; in a grid with data-paste, a block of text is sent whole
// The view sends the whole grid anew after each edit; what is being typed then stays.
(() => {
  "use strict";
  const STYLE = `
    [data-grid] { overflow-x: auto; padding: .2em .6em; font-size: .8125em; box-sizing: border-box;
      width: 0; min-width: 100% }
    [data-grid] table { border-spacing: 0; width: 100% }
    [data-grid] th { opacity: .6; font-weight: 400; text-align: left; white-space: nowrap; padding: 0 .3em }
    [data-grid] td { padding: 1px; white-space: nowrap }
    [data-grid] td:first-child { position: sticky; left: 0; background: #fff; z-index: 1 }
    [data-grid] label { display: flex; align-items: baseline; border: 1px solid #d1d5db; border-radius: 3px }
    [data-grid] label:focus-within { border-color: #2563eb }
    [data-grid] label:has([aria-invalid]) { border-color: #dc2626; background: #fee2e2 }
    [data-grid] label.q { background: #fef3c7 }
    [data-grid] label b { padding-left: .3em; color: #92400e }
    [data-grid] label :is(input, select) { font: inherit; color: inherit; border: 0; outline: 0; background: none;
      flex: 1; min-width: 3.5em; padding: .15em .3em; box-sizing: border-box }
    [data-grid]:not([data-paste]) label input { width: 4em }
    [data-grid] td button { font: inherit; border: 0; border-radius: 3px; background: #e5e7eb; color: #374151;
      min-width: 1.7em; margin-left: 1px; cursor: pointer }
    [data-grid] [data-arm="wrong"] { color: #dc2626; white-space: normal; overflow-wrap: anywhere; position: static }`;
  document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));

  const gridOf = (field) => field.closest("[data-grid]")?.dataset.grid;
  const isCell = (field) => field instanceof Element && field.matches("[data-grid] [data-cell]");
  const send = (field, action, text) =>
    window.armLink.sendText(gridOf(field), JSON.stringify({ do: action, cell: field.dataset.cell, text }));
  const { isDead } = window.armLink; // then an entry stays as it is typed, and is sent later
  const isEdited = (field) => field.tagName === "INPUT" && field.value !== field.defaultValue;
  const commit = (field) => {
    if (!isEdited(field) || isDead()) return;
    send(field, "set", field.value);
    field.defaultValue = field.value;
  };

  // ---- The cell that is being edited, and where each grid is scrolled to.

  let active = null; // { field, grid }
  const scrolled = new Map();
  const restore = () => {
    for (const grid of document.querySelectorAll("[data-grid]:not([data-shown])")) {
      grid.dataset.shown = "";
      grid.scrollLeft = scrolled.get(grid.dataset.grid) ?? 0;
    }
    if (!active || active.field.isConnected) return;
    const { field, grid } = active;
    const again = document.querySelector(
      `[data-grid="${CSS.escape(grid)}"] [data-cell="${CSS.escape(field.dataset.cell)}"]`);
    active = null;
    if (!again) return;
    again.focus({ preventScroll: true });
    if (again.tagName !== "INPUT" || !isEdited(field)) return;
    again.value = field.value;
    again.setSelectionRange(field.selectionStart, field.selectionEnd);
  };
  new MutationObserver(restore).observe(document, { childList: true, subtree: true });
  document.addEventListener("scroll", ({ target }) => {
    if (target.dataset?.grid) scrolled.set(target.dataset.grid, target.scrollLeft);
  }, true);

  // ---- What a person does.

  const move = (field, step) => {
    const cell = field.closest("td");
    const below = cell.querySelectorAll("[data-cell]");
    let next = below[[...below].indexOf(field) + step];
    for (let row = cell.parentElement; row && !next;) {
      row = step > 0 ? row.nextElementSibling : row.previousElementSibling;
      next = row?.cells[cell.cellIndex]?.querySelector("[data-cell]");
    }
    (next ?? field).focus();
    if (!next) field.select?.();
  };
  const isBlock = (text) =>
    /[\t\n;|&]/.test(text.trim()) || /\S\s+\S/.test(text.trim().replace(/\s+[-+*/]\s+/g, ""));
  document.addEventListener("focusin", ({ target }) => {
    if (!isCell(target)) return;
    active = { field: target, grid: gridOf(target) };
    target.select?.();
  });
  document.addEventListener("focusout", ({ target: field, relatedTarget }) => {
    if (!isCell(field)) return;
    const leave = () => {
      if (!field.isConnected) return; // the view has sent the grid anew
      commit(field);
      if (active?.field === field) active = null;
    };
    if (relatedTarget) leave();
    else setTimeout(leave);
  });
  document.addEventListener("keydown", (event) => {
    const { target: field, key } = event;
    if (!isCell(field) || event.ctrlKey || event.altKey || event.metaKey) return;
    const step = { Enter: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1 }[key];
    if (!step || (field.tagName === "SELECT" && key !== "Enter")) return;
    event.preventDefault();
    commit(field);
    move(field, step);
  });
  document.addEventListener("change", ({ target }) => {
    if (isCell(target) && target.tagName === "SELECT") send(target, "set", target.value);
  });
  document.addEventListener("click", ({ target }) => {
    if (isCell(target) && target.closest("[data-show]")) send(target, "show", "");
  });
  document.addEventListener("paste", (event) => {
    const { target: field } = event;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!isCell(field) || !field.closest("[data-paste]") || !isBlock(text)) return;
    event.preventDefault();
    field.value = field.defaultValue;
    send(field, "paste", text);
  });
})();
