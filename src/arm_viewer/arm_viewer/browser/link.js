// Copyright 2026 Arm developers
// SPDX-License-Identifier: Apache-2.0
// The page's link to the view (`access.py`): heartbeats, whose numbers its commands carry, STOP and
// its acknowledgement, and what the page shows while the link is dead. `gate` puts this script
// before viser's own; it needs neither WebGL nor anything that viser draws.
// It finds STOP in an element of the sidebar:
//   <span data-arm="stop" data-button="uuid" data-command="uuid">
(() => {
  "use strict";
  const DEAD = 1000; // [ms] without a heartbeat, or without an answer that the view has received
  const RECENT = 400; // [ms] since a heartbeat
  const PATIENCE = 300; // [ms] that a command waits for a heartbeat, as a busy page reads it late
  const UNACKNOWLEDGED = 700; // [ms] after which a STOP without an answer is doubtful
  const SHOWN = 4000; // [ms] for which an acknowledgement is shown
  const RECONNECT = 500, ANOTHER = 3000; // [ms] until the next attempt, beside a silent link
  const GOING_AWAY = 1001; // the code with which a server that ends closes its connections (RFC 6455)
  const HUNG = 5000; // [ms] of lag after which viser's connection is made anew
  const NO_COMMANDS = new Set(["ViewerCameraMessage", "GetRenderResponseMessage"]);

  const folder = location.pathname.replace(/[^/]*$/, "");
  let token = null;
  try {
    token = sessionStorage.getItem(`arm_viewer token ${location.pathname}`);
  } catch {
    // Without storage, this page is read-only.
  }
  const page = [...crypto.getRandomValues(new Uint32Array(4))].join("-");
  const query = new URLSearchParams({ page, ...(token ? { token } : {}) });
  const now = () => performance.now();

  // ---- Heartbeats.

  let beat = 0, beatAt = now(), lag = 0, canStop = false, dead = false, refusal = "";
  let hasEnded = false; // whether the view has said so
  let socket = null, triedAt = -Infinity;
  const connect = () => {
    triedAt = now();
    const address = `${location.origin.replace(/^http/, "ws")}${folder}?${query}&link=1`;
    const attempt = new WebSocket(address);
    attempt.onopen = () => {
      if (socket !== attempt) socket?.close();
      socket = attempt;
      sendStop(); // one that a link before this one has lost
    };
    attempt.onmessage = ({ data }) => receive(JSON.parse(data));
    attempt.onclose = ({ code }) => {
      hasEnded ||= code === GOING_AWAY;
      if (socket !== attempt && socket !== null) return;
      socket = null;
      if (beat) lag = Infinity;
      else explain();
    };
  };
  const explain = async () => {
    const origin = encodeURIComponent(location.origin);
    const answer = await fetch(`${folder}refusal?origin=${origin}`).catch(() => null);
    refusal = answer ? await answer.text() : "";
  };
  const receive = (message) => {
    if ("stopped" in message && message.stopped >= stopping) {
      stopping = 0;
      stoppedAt = now();
    }
    if ("beat" in message) {
      ({ beat, lag, stop: canStop } = message);
      beatAt = now();
      refusal = "";
      hasEnded = false;
      release();
    }
    show();
  };

  // ---- Commands: viser's page sends everything through one worker.

  let worker = null;
  // Functions that take a message before it is sent, and what sends another; false drops it.
  const before = [];
  const received = []; // functions that take a message of the view before viser's page does
  const held = []; // commands that wait for a heartbeat
  const release = () => {
    for (const { send, message, number, at } of held.splice(0)) {
      send({ ...message, beat: now() - at < 2 * PATIENCE ? beat : number });
    }
  };
  const outgoing = (message, send) => {
    if (NO_COMMANDS.has(message.type)) return send(message);
    held.push({ send, message, number: beat, at: now() });
    if (message.type === "CommandTriggerMessage" && message.uuid === ids()?.command) stop();
    if (now() - beatAt < RECENT || message.uuid === ids()?.button) release();
    else if (held.length === 1) setTimeout(release, PATIENCE);
  };
  const PlainWorker = window.Worker;
  window.Worker = class extends PlainWorker {
    set onmessage(listener) {
      super.onmessage = (event) => {
        for (const message of event.data.messages ?? []) received.forEach((take) => take(message));
        listener(event);
      };
    }

    postMessage(data, ...options) {
      const post = (changed) => super.postMessage({ ...data, ...changed }, ...options);
      if (data?.type === "set_server") {
        worker = this;
        post({ server: `${data.server.split("#")[0]}/?${query}` });
      } else if (data?.type === "send") {
        const send = (message) => outgoing(message, (stamped) => post({ message: stamped }));
        if (before.every((listener) => listener(data.message, send) !== false)) send(data.message);
      } else {
        super.postMessage(data, ...options);
      }
    }
  };

  // ---- STOP.

  let stopping = 0, pressed = 0, pressedAt = 0, stoppedAt = -Infinity;
  const ids = () => document.querySelector('[data-arm="stop"]')?.dataset;
  const panelButton = () => document.getElementById(ids()?.button ?? "");
  const sendStop = () => {
    if (stopping && socket?.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify({ stop: stopping }));
    }
  };
  const stop = () => {
    if (!canStop) return false;
    stopping = ++pressed;
    pressedAt = now();
    sendStop();
    show();
    return true;
  };
  window.addEventListener("click", (event) => {
    if (panelButton()?.contains(event.target)) stop();
  }, true);

  // ---- What the page shows of it.

  const STYLE = `
    [data-arm="link"] { position: fixed; z-index: 1000; top: 2em; left: 0; max-width: 30em; margin: .6em;
      font: 15px/1.4 sans-serif; pointer-events: none; user-select: none }
    [data-arm="link"] div { background: #7f1d1d; color: #fff; padding: .5em .8em; border-radius: 4px }
    [data-arm="link"] div.good { background: #166534 }
    [data-arm="link"] button { pointer-events: auto; font: bold 20px sans-serif; color: #fff;
      background: #dc2626; border: 0; border-radius: 4px; padding: .5em 1.6em; margin-top: .5em }
    [data-arm="link"] [hidden] { display: none }
    .mantine-Select-dropdown .mantine-ScrollArea-viewport {
      max-height: min(400px, var(--arm-list)) !important }
    [data-dead] { opacity: .4; pointer-events: none }
    [data-link="dead"] .tabler-icon-cloud-check { visibility: hidden }
    [data-link="dead"] .tabler-icon-cloud-check + div { font-size: 0 }
    [data-link="dead"] .tabler-icon-cloud-check + div::after { content: "No connection";
      font-size: 16px; color: #dc2626 }`;
  const box = document.createElement("div");
  box.dataset.arm = "link";
  box.setAttribute("role", "status");
  const line = box.appendChild(document.createElement("div"));
  const spare = box.appendChild(document.createElement("button")); // where the sidebar has none
  spare.type = "button";
  spare.textContent = "STOP";
  spare.addEventListener("click", stop);

  const sentence = () => {
    if (stopping && dead) {
      return "STOP could not be sent: there is no connection to the arm. Use its emergency stop or " +
        "cut its power. STOP is sent as soon as there is a connection again.";
    }
    if (stopping) {
      return now() - pressedAt > UNACKNOWLEDGED
        ? "STOP was sent, but is not acknowledged yet. Use the arm's emergency stop if it moves."
        : "STOP is being sent.";
    }
    if (refusal && !beat) return refusal;
    if (hasEnded && dead) {
      return "The view has ended, and what this page shows is old. Start it again, and open its " +
        "address.";
    }
    if (dead && beat) {
      const seconds = Math.round((now() - beatAt) / 1000);
      return `No connection to the arm${seconds > 1 ? ` for ${seconds} s` : ""}: what this page ` +
        "shows is old, and nothing but STOP is sent.";
    }
    if (dead && now() > HUNG) return "No connection to the arm yet.";
    if (now() - stoppedAt < SHOWN) return "STOP was received.";
    return isEmpty() ? "This browser draws no picture (is WebGL switched off?). STOP works." : "";
  };
  const isEmpty = () => now() > HUNG && !window.__viserMutable; // viser sets it when it draws
  const hasButton = () => {
    const button = panelButton();
    const area = button?.getBoundingClientRect();
    return Boolean(area?.height) && button.checkVisibility?.() !== false;
  };
  // However low its field, an open list does not reach as high as STOP.
  let listHeight = 0; // [px]
  const limitLists = () => {
    const low = panelButton()?.getBoundingClientRect().bottom ?? 0;
    const height = Math.max(60, (window.innerHeight - low) / 2 - 40);
    if (height === listHeight) return;
    listHeight = height;
    document.documentElement.style.setProperty("--arm-list", `${height}px`);
  };
  const show = () => {
    if (!document.body) return;
    limitLists();
    dead = now() - beatAt > DEAD || lag > DEAD;
    document.documentElement.dataset.link = dead ? "dead" : "alive";
    const text = sentence();
    if (line.textContent !== text) line.textContent = text;
    line.className = text === "STOP was received." ? "good" : "";
    line.hidden = !text;
    spare.hidden = !canStop || hasButton();
    disable(dead && canStop);
    if (box.parentElement !== document.body) document.body.append(box);
  };

  // All of the sidebar but STOP, and what contains it.
  const disable = (on) => {
    const button = panelButton();
    for (const element of document.querySelectorAll("[data-dead]")) {
      if (on && element.isConnected && !element.contains(button)) continue;
      delete element.dataset.dead;
      element.removeAttribute("inert");
      element.removeAttribute("aria-disabled");
    }
    const panel = button?.closest(".mantine-ScrollArea-viewport");
    if (!on || !panel) return;
    for (let inner = button; inner !== panel; inner = inner.parentElement) {
      for (const sibling of inner.parentElement.children) {
        if (sibling === inner || sibling.inert) continue;
        sibling.dataset.dead = "";
        sibling.setAttribute("inert", "");
        sibling.setAttribute("aria-disabled", "true");
      }
    }
  };

  document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
  connect();
  setInterval(() => {
    const tried = now() - triedAt, silent = now() - beatAt;
    if (socket ? silent > ANOTHER && tried > ANOTHER : tried > RECONNECT) connect();
    // A connection whose packets were lost may hang for long after the network is back.
    if (silent < DEAD && lag > HUNG && tried > HUNG) {
      connect();
      worker?.postMessage({ type: "retry" });
    }
    show();
  }, 100);
  const send = (message) => worker?.postMessage({ type: "send", message }); // as viser's page does
  window.armLink = { before, received, send, stop, isDead: () => dead };
})();
