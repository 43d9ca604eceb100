// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// Fields of numbers and texts act at Enter, or when they are left; Escape brings back what was
// there, also in the cells of a grid (input[data-cell]), whose own script sends them. viser's page
// sends each letter: those messages are dropped while someone types, and the whole entry is sent at
// its end. What the view sends meanwhile does not change it. A field in a form (`PageGui.line`) is
// left to viser, which sends its letters, that propose how the line can go on, and acts at Enter.
(() => {
  "use strict";
  const NUMBER = ".mantine-NumberInput-input", TEXT = ".mantine-TextInput-input";
  const SETTLE = 150; // [ms] after which viser's page has sent the last letter
  const typed = new Map(); // element -> its field, while someone types in it
  const undone = new Map(); // element -> until when its messages are dropped [ms]
  const before = new WeakMap(); // field -> its text before someone typed
  const entry = new WeakMap(); // field -> its text as someone typed it
  const isField = (target) =>
    (target.matches?.(NUMBER) || target.matches?.(TEXT)) && !target.closest("form");
  const uuidOf = (field) => {
    let row = field.parentElement;
    while (row && !row.querySelector("label[for]")) row = row.parentElement;
    return row?.querySelector("label[for]").htmlFor;
  };
  const isTyped = (field) => [...typed.values()].includes(field);
  const typedField = (uuid) => {
    if (typed.get(uuid)?.isConnected === false) typed.delete(uuid); // its tab was left
    return typed.get(uuid);
  };

  const restore = (field) => {
    if (!isTyped(field)) return;
    const uuid = uuidOf(field);
    typed.delete(uuid);
    undone.set(uuid, performance.now() + SETTLE);
    const text = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
    text.set.call(field, before.get(field));
    field.dispatchEvent(new Event("input", { bubbles: true })); // viser shows it, too
  };
  const commit = (field) => {
    if (!isTyped(field)) return;
    const uuid = uuidOf(field), isNumber = field.matches(NUMBER);
    const text = entry.get(field), value = isNumber ? Number(text) : text;
    if (isNumber && (text === "" || !Number.isFinite(value))) {
      restore(field);
      return;
    }
    typed.delete(uuid);
    window.armLink.send({ type: "GuiUpdateMessage", uuid, updates: { value } });
  };

  for (const kind of ["focusin", "beforeinput"]) {
    document.addEventListener(kind, ({ target }) => {
      if (isField(target) && !isTyped(target)) before.set(target, target.value);
    }, true);
  }
  document.addEventListener("input", ({ target, isTrusted }) => {
    const uuid = isField(target) && uuidOf(target);
    if (!uuid || (!isTrusted && undone.get(uuid) > performance.now())) return;
    undone.delete(uuid);
    typed.set(uuid, target);
    entry.set(target, target.value);
  }, true);
  // Before the keys of `page.js`, for Escape also stops the arm.
  window.addEventListener("keydown", ({ key, target }) => {
    if (["Enter", "ArrowUp", "ArrowDown"].includes(key)) commit(target);
    else if (key === "Escape") {
      restore(target);
      if (target.matches?.("input[data-cell]")) target.value = target.defaultValue;
    }
  }, true);
  document.addEventListener("focusout", ({ target }) => commit(target), true);
  document.addEventListener("pointerdown", ({ target }) => {
    if (target.closest?.(".mantine-NumberInput-control")) commit(document.activeElement);
  }, true);
  window.armLink.before.push((message) =>
    message.type !== "GuiUpdateMessage" ||
    !(typedField(message.uuid) || undone.get(message.uuid) > performance.now()));
  window.armLink.received.push(({ type, uuid, updates }) => {
    if (type !== "GuiUpdateMessage" || !("value" in updates) || !typedField(uuid)) return;
    before.set(typedField(uuid), String(updates.value));
    delete updates.value;
  });
})();
