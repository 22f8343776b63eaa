// One key after the other: each is saved by voile before the next is heard.

import { isMarked, jump, place, reach, start, step } from "./cursor.js";
import { actOf } from "./keys.js";
import { say, showBusy, showCursor, showLine, showNotice, showStanding, showTypes } from "./view.js";

const POLL = 400; // milliseconds between two looks for further lines
const SLOW = 300; // milliseconds until a key that is not answered is said to be at work
const by = (id) => document.getElementById(id);
let screen = { state: "opening" };
let cursor = place(0);
let label = "";
let last = Promise.resolve();

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", body };
  const answer = await fetch(path, { ...options, cache: "no-store", credentials: "same-origin" });
  const content = answer.status === 204 ? {} : await answer.json();
  return answer.ok ? content : Promise.reject(Object.assign(new Error(content.error), { status: answer.status, path }));
}

async function stroke(act, words = [0, 0], type = "", until = 0) {
  const { number = 0, key = 0 } = screen.line ?? {};
  const slow = setTimeout(() => showBusy(true), SLOW);
  try {
    show(await ask("/stroke", JSON.stringify({ act, line: number, key, words, label: type, until })));
  } catch (error) {
    if (![400, 409].includes(error.status)) throw error;
    show({ ...(await ask("/screen")), said: error.message });
  } finally {
    clearTimeout(slow);
    showBusy(false);
  }
}

function show(next) {
  const isSame = next.state === "line" && next.line.number === screen.line?.number;
  if (screen.state === "opening") showTypes(next.types);
  screen = next;
  label ||= screen.types[0];
  showStanding(screen);
  if (screen.state === "line") {
    showLine(screen);
    cursor = isSame ? step(screen.line, place(cursor.at), 0) : start(screen.line);
    showCursor(screen.line, cursor);
    if (!isSame) {
      by("line").focus();
      scrollTo(0, 0);
    }
  } else if (screen.state === "learning") {
    const { read } = screen.standing; // before the first answer there is nothing to learn from
    const title = read ? "Learning from your answers" : "Choosing the first lines";
    showNotice(title, "The next lines come in a moment.", { back: read > 0 });
    setTimeout(() => queue(async () => screen.state === "learning" && show(await ask("/screen"))), POLL);
  } else if (screen.state === "waiting") {
    showNotice("Nothing is left for you to read", "Others have lines to read. Look again when they are done, or go back.", { again: true, back: true });
  } else {
    showNotice("Nothing is left to read", "Finish, and voile goes on in its terminal. Or go back.", { end: true, back: true });
  }
  say(sentence(screen.said), isSame ? null : screen.line);
}

const sentence = (said = "") => said && `${said[0].toUpperCase()}${said.slice(1)}.`;

const MOVES = {
  step: (by, extending) => step(screen.line, cursor, by, extending),
  jump: (by) => jump(screen.line, cursor, by),
  place: (at, extending) => (extending ? { at, anchor: cursor.anchor } : place(at)),
};
const ACTS = {
  confirm: () => stroke("confirm"),
  sheet: () => (screen.sheet.length ? stroke("sheet", [0, 0], "", screen.sheet.at(-1).number) : stroke("confirm")),
  unsure: () => stroke("unsure"),
  all: () => stroke("all", reach(screen.line, cursor)),
  never: () => stroke("never", reach(screen.line, cursor)),
  clear: () => stroke("clear", [Math.min(cursor.at, cursor.anchor), Math.max(cursor.at, cursor.anchor) + 1]),
  toggle: () => {
    const words = reach(screen.line, cursor);
    return isMarked(screen.line, words) ? stroke("clear", words) : stroke("mark", words, label);
  },
  type: (number) => {
    label = typeof number === "string" ? number : screen.types[number] ?? label;
    return screen.types[number] || typeof number === "string" ? stroke("mark", reach(screen.line, cursor), label) : undefined;
  },
};

async function perform(act, detail, extending) {
  if (act === "help") {
    by("help").showModal(); // which scrolls to the button that it focuses, at its end
    return by("help").scrollTo(0, 0);
  }
  if (act === "undo") return stroke("undo");
  if (screen.state === "waiting" && (act === "confirm" || act === "look")) return show(await ask("/screen"));
  if (screen.state === "done" && (act === "confirm" || act === "end")) return end();
  if (screen.state !== "line" || (!screen.line.words.length && !["confirm", "sheet", "unsure"].includes(act))) return undefined;
  if (act === "choose") return by("choice").showModal();
  if (act in ACTS) return ACTS[act](detail);
  if (act in MOVES) {
    cursor = MOVES[act](detail, extending);
    showCursor(screen.line, cursor);
  }
  return undefined;
}

async function end() {
  await ask("/end", "");
  screen = { state: "ended" };
  showNotice("Finished", "Every answer is saved. You can close this window.");
  say("", null);
}

function lost(error) {
  screen = { state: "lost" };
  if (error.status === 403 && error.path !== "/session") showNotice("Open the address that voile printed", "It works once. For another, end voile in its terminal and start it again.");
  else if (error.status === 403) showNotice("This address was used before", "Return to the window that it opened in, or end voile in its terminal and start it again for a new address.");
  else showNotice("voile has stopped", "Every answer until the last key is saved. Start it again with the same command, and open the address that it prints.");
}

function queue(job) {
  last = last.then(() => (screen.state === "lost" || screen.state === "ended" ? undefined : job())).catch(lost);
}

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (by("desk").ariaBusy === "true") return event.preventDefault(); // of lines not seen yet
  const act = actOf(event);
  if (!act) return;
  event.preventDefault();
  queue(() => perform(...act, event.shiftKey));
});

document.addEventListener("click", (event) => {
  const word = event.target.closest("[data-word]");
  const button = event.target.closest("button");
  if (word) {
    const at = Number(word.dataset.word);
    const isAgain = at === cursor.at && !event.shiftKey;
    queue(() => (isAgain ? perform("toggle") : perform("place", at, event.shiftKey)));
  } else if (button?.dataset.label) {
    by("choice").close();
    queue(() => perform("type", button.dataset.label));
  } else if (button?.dataset.act) queue(() => perform(button.dataset.act));
  else return;
  if (screen.state === "line" && button?.dataset.act !== "help") by("line").focus();
});

async function open() {
  const token = location.hash.slice(1);
  if (token) {
    history.replaceState(null, "", "/");
    await ask("/session", token);
  }
  show(await ask("/screen"));
}

queue(open);
