// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// What viser's page lacks: keys that stop and turn the arm, a camera as fast as the arm is large,
// folders and switches that the browser remembers, buttons of the camera and a list of the keys over
// the picture, one style of buttons, and names that do not cover each other.
// `gate` puts it into the page, after `link.js`. It finds what it needs in elements of the panels:
//   <span data-arm="keys" data-element="uuid">      the text element that takes lines of the keys
//   <span data-arm="picture" data-element="uuid">   the button that saves the picture
//   <span data-arm="commands">                      present if there is a list of commands
//   <span data-arm="robot" data-size="0.5">         the size of the robot [m]
//   <span data-arm="views" data-element="uuid" data-options="a|b">  the buttons of the camera
//   <span data-arm="chosen">                        the joint that the keys have chosen
//   <span data-remember="label" data-element="uuid" data-fresh="1">  an element whose value is kept
//   <button data-send="text" data-element="uuid">   sends a text to a text element
(() => {
  "use strict";
  const viser = () => window.__viserMutable;
  const element = (name) => document.querySelector(`[data-arm="${name}"]`);
  let count = 0; // viser ignores a text that is equal to the one before

  const update = (uuid, value) =>
    window.armLink.send({ type: "GuiUpdateMessage", uuid, updates: { value } });
  const send = (uuid, text) => update(uuid, `${text} #${++count}`);
  window.armLink.sendText = send; // for the scripts of panels
  const { stop, isDead } = window.armLink;
  const sendKeys = (text) => {
    const uuid = element("keys")?.dataset.element;
    if (!uuid || (isDead() && text !== "turn 0")) return false;
    send(uuid, text);
    return true;
  };

  // ---- Keys. A row: the code of a key -> what a press does, and what its release does.

  const TURN_EVERY = 100; // [ms]; the view stops a joint when these messages end
  let turning = null;
  const endTurn = () => {
    if (turning === null) return;
    clearInterval(turning);
    turning = null;
    sendKeys("turn 0");
  };
  const turn = (direction) => () => {
    endTurn();
    if (!sendKeys(`turn ${direction}`)) return false;
    turning = setInterval(() => sendKeys(`turn ${direction}`), TURN_EVERY);
    return true;
  };
  const savePicture = () => {
    const uuid = element("picture")?.dataset.element;
    if (uuid) update(uuid, true); // as a click on the button does
    return Boolean(uuid);
  };
  const KEYS = {
    Space: [stop],
    Escape: [() => {
      help.hidden = true;
      return !isOpen() && stop();
    }],
    KeyJ: [turn(-1), endTurn],
    KeyL: [turn(1), endTurn],
    KeyP: [savePicture],
  };
  for (let n = 0; n <= 9; n++) {
    KEYS[`Digit${n}`] = KEYS[`Numpad${n}`] = [() => sendKeys(`choose ${n}`)];
  }

  // Closed lists stay in the page.
  const isOpen = () =>
    [...document.querySelectorAll('.mantine-Spotlight-content, .mantine-Modal-content, ' +
      '[role="listbox"]')].some((element) => element.getClientRects().length);
  const isTyping = (target) =>
    target instanceof HTMLElement &&
    (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT" ||
      (target.tagName === "INPUT" && !/^(button|checkbox|radio|range)$/.test(target.type)));
  // Before all other listeners: the space bar must not press the button that has the focus.
  const swallowed = new Set();
  const swallow = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  window.addEventListener("keydown", (event) => {
    const row = event.key === "?" ? [toggleHelp] : KEYS[event.code];
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    if (isTyping(event.target) && event.code !== "Escape") return;
    if (event.repeat ? swallowed.has(event.code) : row[0]()) {
      swallowed.add(event.code);
      swallow(event);
    }
  }, true);
  window.addEventListener("keyup", (event) => {
    KEYS[event.code]?.[1]?.();
    if (swallowed.delete(event.code)) swallow(event);
  }, true);
  for (const name of ["blur", "pagehide"]) window.addEventListener(name, endTurn);
  document.addEventListener("visibilitychange", endTurn);

  // ---- Buttons in the text of a panel.

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-send]");
    if (button) send(button.dataset.element, button.dataset.send);
  });

  // ---- Over the picture: the buttons of the camera, the keys, and the joint that they turn.

  const STYLE = `
    button.mantine-Button-root { --button-bg: transparent !important;
      --button-color: var(--mantine-primary-color-filled) !important;
      --button-hover: var(--mantine-primary-color-light) !important;
      --button-bd: 1px solid var(--mantine-primary-color-filled) !important }
    [data-arm="over"] { position: fixed; z-index: 5; padding: .5em; font: 13px/1.5 sans-serif }
    [data-arm="over"] button { background: #fffc; color: var(--mantine-primary-color-filled);
      border: 1px solid; border-radius: 2px; font: inherit; padding: 0 .6em; margin-right: .4em;
      cursor: pointer }
    [data-arm="over"] div { background: #fffc; color: #222; padding: .2em .6em; margin-top: .4em;
      border-radius: 2px; width: fit-content }
    [data-arm="over"] td:first-child { font-weight: bold; padding-right: 1em }
    [data-arm="over"] [hidden], [data-arm="over"] div:empty { display: none }`;
  document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
  const over = Object.assign(document.createElement("div"), { hidden: true });
  over.dataset.arm = "over";
  const views = over.appendChild(document.createElement("span"));
  const addButton = (parent, label, press) => {
    const button = Object.assign(document.createElement("button"), { type: "button" });
    button.textContent = label;
    button.addEventListener("click", press);
    parent.append(button);
  };
  const KEY_LIST = [ // keys, what they do, and the element without which they do nothing
    ["Space, Esc", "STOP", "keys"],
    ["1 … 9, 0", "choose a joint, or none", "keys"],
    ["J, L", "turn it while held", "keys"],
    ["W A S D, Q E", "fly"],
    ["Arrows", "turn the camera about the arm"],
    ["Wheel", "zoom at the pointer"],
    ["P", "save the picture", "picture"],
    ["Ctrl+K", "all commands", "commands"],
    ["?", "show or hide these keys"],
  ];
  const toggleHelp = () => {
    const table = document.createElement("table");
    for (const [keys, action, needed] of KEY_LIST) {
      if (needed && !element(needed)) continue;
      const row = table.insertRow();
      for (const text of [keys, action]) row.insertCell().textContent = text;
    }
    help.replaceChildren(table);
    help.hidden = !help.hidden;
    return true;
  };
  addButton(over, "?", toggleHelp);
  const chosen = over.appendChild(document.createElement("div"));
  const help = Object.assign(over.appendChild(document.createElement("div")), { hidden: true });
  const showOver = (canvas) => {
    if (!over.isConnected) document.body.append(over);
    const { left, top } = canvas.getBoundingClientRect();
    Object.assign(over.style, { left: `${left}px`, top: `${top}px` });
    over.hidden = false;
    const text = element("chosen")?.textContent ?? "";
    if (chosen.textContent !== text) chosen.textContent = text;
    const mark = element("views");
    if (!mark || views.dataset.element === mark.dataset.element) return;
    views.dataset.element = mark.dataset.element;
    views.replaceChildren();
    for (const label of mark.dataset.options.split("|")) {
      addButton(views, label, () => update(mark.dataset.element, label));
    }
  };

  // ---- The camera: viser flies at 2 m/s, and by as much as passed since the last picture.

  const VISER_SPEED = 2.0; // [m/s]
  const LONGEST = 0.1; // [s] of flight in one picture
  const SIZES_PER_SECOND = 0.6;
  const tamed = new WeakSet();
  const slowed = (step) => {
    const size = Number(element("robot")?.dataset.size) || 0.5;
    const seconds = Math.min(Math.abs(step) / VISER_SPEED, LONGEST);
    return Math.sign(step) * seconds * SIZES_PER_SECOND * size;
  };
  const tameCamera = (controls) => {
    // The wheel zooms at the pointer. Each time this is set, viser draws a picture.
    if (!controls.dollyToCursor) controls.dollyToCursor = true;
    const kind = Object.getPrototypeOf(controls);
    if (tamed.has(kind)) return;
    tamed.add(kind);
    // Their last argument is false where a key moves the camera, and true for the mouse.
    for (const [name, lengths] of [["truck", 2], ["forward", 1], ["elevate", 1]]) {
      const original = kind[name];
      kind[name] = function (...values) {
        const steps = values.slice(0, lengths);
        const smooth = values[lengths];
        return original.call(this, ...(smooth ? steps : steps.map(slowed)), smooth);
      };
    }
  };

  // ---- What the browser remembers: folded folders, and elements with data-remember.

  const STORE = "arm_viewer";
  const load = () => {
    try {
      return JSON.parse(localStorage.getItem(STORE)) ?? {};
    } catch {
      return {};
    }
  };
  const keep = (part, key, value) => {
    const all = load();
    (all[part] ??= {})[key] = value;
    try {
      localStorage.setItem(STORE, JSON.stringify(all));
    } catch {
      // A private window may have no storage: nothing is remembered there.
    }
  };
  const FOLDER = '[data-with-border="true"]';
  const headerOf = (icon) => {
    const header = icon.parentElement;
    return header?.parentElement?.matches(FOLDER) ? header : null;
  };
  const nameOf = (header) => {
    const outer = header.parentElement.parentElement?.closest(FOLDER);
    const title = header.textContent.trim();
    return outer ? `${outer.firstElementChild.textContent.trim()} > ${title}` : title;
  };
  const ICONS = ".tabler-icon-chevron-down, .tabler-icon-chevron-up";
  const isFolded = (icon) => icon.classList.contains("tabler-icon-chevron-down");
  const seen = new WeakSet();
  const isNew = (found) => found && !seen.has(found) && seen.add(found);
  const restoreFolders = () => {
    const icons = [...document.querySelectorAll(ICONS)].filter((icon) =>
      icon.style.display !== "none" && isNew(headerOf(icon)));
    if (!icons.length) return;
    const folds = load().folds ?? {};
    for (const icon of icons) {
      const header = headerOf(icon);
      const kept = folds[nameOf(header)];
      if (kept !== undefined && kept !== isFolded(icon)) header.click();
      header.addEventListener("click", () => {
        const now = header.querySelector("svg"); // as before this click
        if (now) keep("folds", nameOf(header), !isFolded(now));
      });
    }
  };
  const restoreValues = () => {
    const marks = [...document.querySelectorAll("[data-remember]")].filter(isNew);
    if (!marks.length) return;
    const values = load().values ?? {};
    for (const mark of marks) {
      const value = values[mark.dataset.remember];
      // Not what somebody has chosen since the view started, perhaps in another browser.
      if (value !== undefined && mark.dataset.fresh) update(mark.dataset.element, value);
    }
  };
  const rememberSent = (message) => {
    if (message.type !== "GuiUpdateMessage") return;
    const mark = document.querySelector(
      `[data-remember][data-element="${CSS.escape(message.uuid)}"]`,
    );
    if (mark && "value" in message.updates) {
      keep("values", mark.dataset.remember, message.updates.value);
    }
  };
  // viser sends at most one message in 50 ms, the newest: Enter would replace the letters before it.
  const completeLine = (message, sendNow) => {
    const field = document.activeElement;
    const label = field?.closest("form")?.querySelector("label[for]");
    if (message.type !== "GuiFormSubmitMessage" || !label || field.tagName !== "INPUT") return;
    const updates = { value: field.value };
    sendNow({ type: "GuiUpdateMessage", uuid: label.htmlFor, updates });
  };
  window.armLink.before.push((message, send) => {
    rememberSent(message);
    completeLine(message, send);
  });

  // ---- Names that would cover each other: those farther away are hidden.

  const hidden = new Map(); // name of the node -> viser's record of it
  const LETTER = [7.5, 17]; // width and height of a letter of a name [px]
  const spotOf = (name, record, mutable) => {
    const parent = mutable.nodeRefFromName[name.slice(0, name.lastIndexOf("/"))];
    if (!parent || !mutable.camera) return null;
    const { camera, canvas } = mutable;
    const at = camera.position.clone();
    at.set(...(mutable.nodePoseData?.[name]?.position ?? [0, 0, 0])).applyMatrix4(
      parent.matrixWorld,
    );
    const depth = at.distanceTo(camera.position);
    at.project(camera);
    const props = record.message.props;
    const half = Math.tan((camera.fov * Math.PI) / 360);
    const scale = props.font_size_mode === "screen"
      ? props.font_screen_scale
      : (props.font_scene_height * canvas.clientHeight) / (2 * depth * half) / LETTER[1];
    const lines = props.text.split("\n");
    const width = LETTER[0] * scale * Math.max(...lines.map((line) => line.length));
    const height = LETTER[1] * scale * lines.length;
    const anchor = props.anchor ?? "";
    const anchorOffset = (low, high) =>
      anchor.includes(low) ? 0 : anchor.includes(high) ? 1 : 0.5;
    const left = 0.5 * (at.x + 1) * canvas.clientWidth - anchorOffset("left", "right") * width;
    const top = 0.5 * (1 - at.y) * canvas.clientHeight - anchorOffset("top", "bottom") * height;
    return { left, top, right: left + width, bottom: top + height, depth };
  };
  const separateNames = (mutable) => {
    const records = window.__viserSceneTree?.getState();
    if (!records) return;
    const shown = [];
    for (const [name, record] of Object.entries(records)) {
      if (record?.message?.type !== "LabelMessage") continue;
      if (hidden.get(name) !== record) hidden.delete(name);
      if (!record.effectiveVisibility && !hidden.has(name)) continue;
      const spot = spotOf(name, record, mutable);
      if (spot) shown.push([spot, name, record]);
    }
    shown.sort((a, b) => a[0].depth - b[0].depth || (a[1] < b[1] ? -1 : 1));
    const free = [];
    let changed = false;
    for (const [spot, name, record] of shown) {
      const covered = free.some((other) =>
        spot.left < other.right && other.left < spot.right &&
        spot.top < other.bottom && other.top < spot.bottom);
      if (!covered) free.push(spot);
      if (record.effectiveVisibility === covered) {
        record.effectiveVisibility = !covered;
        changed = true;
      }
      if (covered) hidden.set(name, record);
      else hidden.delete(name);
    }
    if (changed) mutable.requestRender();
  };

  // ---- Frames and centres of mass on top of the bodies.

  const ON_TOP = /^\/frames\/[^/]+(\/axis|\/triangle)?$|\/(centres_of_mass|dh_frames|link_frames)\/\d+$/;
  const LAST = 900; // viser's own handles are drawn later
  const setOnTop = (object, on) => {
    const materials = [object.material ?? []].flat();
    if (!materials.some((material) => material.depthTest === on)) return false;
    for (const material of materials) {
      material.depthTest = !on;
      material.transparent = on || material.opacity < 1;
      material.needsUpdate = true;
    }
    return true;
  };
  const raise = (mutable) => {
    const mark = element("on_top");
    if (!mark) return;
    const on = mark.dataset.on === "1";
    const nodes = new Set(Object.values(mutable.nodeRefFromName));
    let changed = false;
    const visit = (object) => {
      changed = setOnTop(object, on) || changed;
      object.renderOrder = on ? LAST : 0;
      for (const child of object.children) if (!nodes.has(child)) visit(child);
    };
    for (const [name, node] of Object.entries(mutable.nodeRefFromName)) {
      if (node && ON_TOP.test(name)) visit(node);
    }
    if (changed) mutable.requestRender();
  };

  setInterval(() => {
    restoreFolders();
    restoreValues();
    const mutable = viser();
    if (!mutable) return;
    if (mutable.cameraControl) tameCamera(mutable.cameraControl);
    if (document.hidden) return;
    if (mutable.canvas) showOver(mutable.canvas);
    separateNames(mutable);
    raise(mutable);
  }, 200);
})();
