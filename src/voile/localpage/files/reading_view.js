// What the page shows. Text only ever becomes text: no markup is made of it.

import { h } from "./dom.js";
import { DOUBTFUL, markAt, reach } from "./reading_cursor.js";

const TASKS = {
  review: "Is every identifier marked?",
  adjudication: "Reviewers disagree: which is right?",
};
const asked = ({ words }) =>
  words.length === 1 ? "Is this word part of an identifier?" : "Which of these words are part of an identifier?";
const by = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");

export function showLine(screen) {
  const { line } = screen;
  by("desk").hidden = false;
  by("notice").hidden = true;
  by("task").textContent = TASKS[line.purpose] ?? asked(line);
  by("why").textContent = line.why;
  by("place").textContent = line.document > 0 ? `Document ${number.format(line.document)}` : "";
  by("before").textContent = line.before;
  by("after").textContent = line.after;
  by("line").replaceChildren(...pieces(line), line.tail);
  showSheet(screen.sheet);
}

function showSheet(lines) {
  const near = (text) => h("span", { class: "near" }, text);
  const row = ({ before, text, after }) => h("li", {}, near(before), h("bdi", { class: "asked" }, text), near(after));
  by("beside").hidden = by("every").hidden = !lines.length;
  by("sheet").replaceChildren(...lines.map(row));
  by("count").textContent = number.format(lines.length + 1);
}

function* pieces(line) {
  for (let word = 0; word < line.words.length; ) {
    yield line.gaps[word];
    const mark = markAt(line, word);
    if (mark) {
      yield marked(line, mark);
      word = mark.to;
    } else {
      yield option(line, word);
      word += 1;
    }
  }
}

function marked(line, mark) {
  const words = [];
  for (let word = mark.from; word < mark.to; word++) {
    words.push(...(word > mark.from ? [line.gaps[word]] : []), option(line, word, mark));
  }
  const kind = mark.column ? " known" : mark.doubt >= DOUBTFUL ? " doubtful" : "";
  const tag = h("span", { class: "tag", "aria-hidden": "true" }, tagOf(mark));
  return h("span", { class: `mark${kind}`, role: "group", "aria-label": mark.label }, ...words, tag);
}

const tagOf = (mark) => (mark.column ? `${mark.label} · ${mark.column}` : mark.label);

function option(line, word, mark) {
  const text = line.words[word];
  const name = mark ? `${text}: ${describe(line, mark)}` : text;
  return h("bdi", { class: "word", role: "option", id: `word-${word}`, "aria-label": name, "aria-selected": "false", "data-word": String(word) }, text);
}

function describe(line, { label, column, by, doubt }) {
  const act = line.purpose === "adjudication" ? "marked by" : "proposed by";
  const why = column ? `known from column ${column}` : by ? `${act} ${by}` : "marked by you";
  return `${label}, ${why}${doubt >= DOUBTFUL ? `, doubtful: ${Math.round(100 * (1 - doubt))}% likely` : ""}`;
}

export function showCursor(line, cursor) {
  const [low, high] = [cursor.at, cursor.anchor].sort((a, b) => a - b);
  for (const word of document.querySelectorAll("#line .word")) {
    const at = Number(word.dataset.word);
    word.setAttribute("aria-selected", String(low <= at && at <= high));
    word.classList.toggle("cursor", at === cursor.at);
  }
  const here = by(`word-${cursor.at}`);
  if (!here) return by("line").removeAttribute("aria-activedescendant");
  by("line").setAttribute("aria-activedescendant", here.id);
  here.scrollIntoView({ block: "nearest", inline: "nearest" });
  showType(line, cursor);
}

function showType(line, cursor) {
  const [from] = reach(line, cursor);
  const mark = markAt(line, from);
  by("at").textContent = mark ? describe(line, mark) : "Not marked";
  for (const button of document.querySelectorAll("[data-label]")) {
    button.setAttribute("aria-pressed", String(button.dataset.label === mark?.label));
  }
}

export function showTypes(types) {
  const button = (label, digit) => {
    const key = digit < 9 ? [h("kbd", {}, String(digit + 1)), " "] : [];
    return h("button", { type: "button", "data-label": label, "aria-pressed": "false" }, ...key, label);
  };
  const more = h("button", { type: "button", "data-act": "choose" }, h("kbd", {}, "0"), " Others");
  by("types").replaceChildren(...types.slice(0, 9).map(button), ...(types.length > 9 ? [more] : []));
  by("choices").replaceChildren(...types.map(button));
}

export function showStanding({ standing, reviewer, state }) {
  const { read, goal, lines, minutes, agreed, compared } = standing;
  by("reviewer").textContent = reviewer;
  const agree = compared ? ` · reviewers agree on ${number.format(agreed)} of ${number.format(compared)}` : "";
  const isDone = state === "done"; // fewer may have done than were expected
  by("bar").max = Math.max(1, isDone ? read : goal);
  by("bar").value = Math.min(read, goal);
  if (isDone) return (by("standing").textContent = `${number.format(read)} words read${agree}`);
  const left = `${number.format(lines)} ${lines === 1 ? "line" : "lines"} at hand`;
  const time = minutes ? ` · about ${number.format(minutes)} min to go` : "";
  by("standing").textContent = `${number.format(read)} of ${number.format(goal)} words read${time} · ${left}${agree}`;
}

export function showNotice(title, message, { end = false, again = false, back = false } = {}) {
  by("desk").hidden = true;
  for (const id of ["before", "line", "after", "sheet", "heard"]) by(id).replaceChildren();
  by("notice").hidden = false;
  by("title").textContent = title;
  by("message").textContent = message;
  by("end").hidden = !end;
  by("again").hidden = !again;
  by("back").hidden = !back;
  by("notice").focus();
}

export function showBusy(isBusy) {
  by("desk").ariaBusy = String(isBusy);
  if (isBusy) by("said").textContent = "Saved. The next lines come in a moment.";
}

// A new line is read out whole to who cannot see it.
export function say(text, line) {
  by("said").textContent = text;
  if (line) by("heard").textContent = line.words.map((word, at) => line.gaps[at] + word).join("") + line.tail;
}
