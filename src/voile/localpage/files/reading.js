// One key after the other: each is saved by voile before the next is heard.

import { isMarked, jump, place, reach, start, step } from "./reading_cursor.js";
import { drawFrame } from "./reading_frame.js";
import { actOf } from "./reading_keys.js";
import { say, showBusy, showCursor, showLine, showNotice, showStanding, showTypes } from "./reading_view.js";

const POLL = 400; // milliseconds between two looks for further lines
const SLOW = 300; // milliseconds until a key that is not answered is said to be at work
const by = (id) => document.getElementById(id);

export async function askServer(path, body) {
  const options = body === undefined ? {} : { method: "POST", body };
  const answer = await fetch(path, { ...options, cache: "no-store", credentials: "same-origin" });
  const content = answer.status === 204 ? {} : await answer.json();
  return answer.ok ? content : Promise.reject(Object.assign(new Error(content.error), { status: answer.status, path }));
}

/** The lines that a person reads, drawn into a node until `close`. */
export class Reading {
  /** `ask` sends a path and a body; `lost` gets its failure; `ended` comes after Finish. */
  constructor(root, { ask, lost, ended }) {
    Object.assign(this, { ask, lost, ended });
    this.screen = { state: "opening" };
    this.cursor = place(0);
    this.label = "";
    this.last = Promise.resolve();
    this.listening = new AbortController();
    drawFrame(root);
    const { signal } = this.listening;
    document.addEventListener("keydown", (event) => this.press(event), { signal });
    document.addEventListener("click", (event) => this.click(event), { signal });
  }

  open() {
    this.queue(async () => this.show(await this.ask("/screen")));
  }

  close() {
    this.listening.abort();
    this.screen = { state: "ended" };
  }

  async stroke(act, words = [0, 0], type = "", until = 0) {
    const { number = 0, key = 0 } = this.screen.line ?? {};
    const slow = setTimeout(() => showBusy(true), SLOW);
    try {
      this.show(await this.ask("/stroke", JSON.stringify({ act, line: number, key, words, label: type, until })));
    } catch (error) {
      if (![400, 409].includes(error.status)) throw error;
      this.show({ ...(await this.ask("/screen")), said: error.message });
    } finally {
      clearTimeout(slow);
      if (this.screen.state !== "ended") showBusy(false);
    }
  }

  show(next) {
    const { screen } = this;
    if (screen.state === "ended") return;
    const isSame = next.state === "line" && next.line.number === screen.line?.number;
    if (screen.state === "opening") showTypes(next.types);
    this.screen = next;
    this.label ||= next.types[0];
    showStanding(next);
    if (next.state === "line") {
      showLine(next);
      this.cursor = isSame ? step(next.line, place(this.cursor.at), 0) : start(next.line);
      showCursor(next.line, this.cursor);
      if (!isSame) {
        by("line").focus();
        scrollTo(0, 0);
      }
    } else if (next.state === "learning") {
      const { read } = next.standing; // before the first answer there is nothing to learn from
      const title = read ? "Learning from your answers" : "Choosing the first lines";
      showNotice(title, "The next lines come in a moment.", { back: read > 0 });
      setTimeout(() => this.queue(async () => this.screen.state === "learning" && this.show(await this.ask("/screen"))), POLL);
    } else if (next.state === "waiting") {
      showNotice("Nothing is left for you to read", "Others have lines to read. Look again when they are done, or go back.", { again: true, back: true });
    } else {
      showNotice("Nothing is left to read", "Finish, and voile goes on. Or go back.", { end: true, back: true });
    }
    say(sentence(next.said), isSame ? null : next.line);
  }

  toggle() {
    const words = reach(this.screen.line, this.cursor);
    return isMarked(this.screen.line, words) ? this.stroke("clear", words) : this.stroke("mark", words, this.label);
  }

  setType(type) {
    const chosen = typeof type === "string" ? type : this.screen.types[type];
    if (!chosen) return undefined;
    this.label = chosen;
    return this.stroke("mark", reach(this.screen.line, this.cursor), chosen);
  }

  async perform(act, detail, extending) {
    const { screen, cursor } = this;
    if (act === "help") {
      by("help").showModal(); // which scrolls to the button that it focuses, at its end
      return by("help").scrollTo(0, 0);
    }
    if (act === "undo") return this.stroke("undo");
    if (screen.state === "waiting" && (act === "confirm" || act === "look")) return this.show(await this.ask("/screen"));
    if (screen.state === "done" && (act === "confirm" || act === "end")) return this.end();
    if (screen.state !== "line" || (!screen.line.words.length && !["confirm", "sheet", "unsure"].includes(act))) return undefined;
    if (act === "choose") return by("choice").showModal();
    const acts = {
      confirm: () => this.stroke("confirm"),
      sheet: () => (screen.sheet.length ? this.stroke("sheet", [0, 0], "", screen.sheet.at(-1).number) : this.stroke("confirm")),
      unsure: () => this.stroke("unsure"),
      all: () => this.stroke("all", reach(screen.line, cursor)),
      never: () => this.stroke("never", reach(screen.line, cursor)),
      clear: () => this.stroke("clear", [Math.min(cursor.at, cursor.anchor), Math.max(cursor.at, cursor.anchor) + 1]),
      toggle: () => this.toggle(),
      type: () => this.setType(detail),
    };
    if (act in acts) return acts[act]();
    const moves = {
      step: () => step(screen.line, cursor, detail, extending),
      jump: () => jump(screen.line, cursor, detail),
      place: () => (extending ? { at: detail, anchor: cursor.anchor } : place(detail)),
    };
    if (act in moves) {
      this.cursor = moves[act]();
      showCursor(screen.line, this.cursor);
    }
    return undefined;
  }

  async end() {
    await this.ask("/end", "");
    this.close();
    showNotice("Finished", "Every answer is saved. You can close this window.");
    say("", null);
    this.ended();
  }

  queue(job) {
    const isOver = () => ["lost", "ended"].includes(this.screen.state);
    this.last = this.last.then(() => (isOver() ? undefined : job())).catch((error) => {
      this.screen = { state: "lost" };
      this.lost(error);
    });
  }

  press(event) {
    if (document.querySelector("dialog[open]")) return undefined;
    if (event.target.closest("a, input, select, textarea")) return undefined;
    if (by("desk").ariaBusy === "true") return event.preventDefault(); // of lines not seen yet
    const act = actOf(event);
    if (!act) return undefined;
    event.preventDefault();
    this.queue(() => this.perform(...act, event.shiftKey));
    return undefined;
  }

  click(event) {
    const word = event.target.closest("[data-word]");
    const button = event.target.closest("button");
    if (word) {
      const at = Number(word.dataset.word);
      const isAgain = at === this.cursor.at && !event.shiftKey;
      this.queue(() => (isAgain ? this.perform("toggle") : this.perform("place", at, event.shiftKey)));
    } else if (button?.dataset.label) {
      by("choice").close();
      this.queue(() => this.perform("type", button.dataset.label));
    } else if (button?.dataset.act) this.queue(() => this.perform(button.dataset.act));
    else return;
    if (this.screen.state === "line" && button?.dataset.act !== "help") by("line").focus();
  }
}

const sentence = (said = "") => said && `${said[0].toUpperCase()}${said.slice(1)}.`;
