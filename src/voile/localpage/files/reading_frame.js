// The places into which lines are drawn, and the buttons of their keys.

import { h } from "./dom.js";

const KEYS = [
  [["Enter"], "The line is right as shown: save it, go on"],
  [["Shift", "Enter"], "So are the next lines, as far as they are shown: save all"],
  [["←", "→"], "Previous or next word"],
  [["↑", "↓"], "Previous or next marked word"],
  [["Shift", "←", "→"], "Extend over several words"],
  [["Space"], "Mark the word, or clear the mark"],
  [["Backspace"], "Clear these words alone"],
  [["1", "…", "9"], "Mark as this type"],
  [["0"], "Choose among all types"],
  [["A"], "The same word is the same in all waiting lines"],
  [["N"], "This word never identifies anybody, here and everywhere"],
  [["?"], "Nobody can know: leave the line undecided, go on"],
  [["U"], "Undo the last key"],
];
const MARKS = [
  ["", "proposed", "found by a rule, a pattern or what was learnt"],
  [" doubtful", "doubtful", "perhaps an identifier"],
  [" known", "known", "stands in a column beside the notes, which is named"],
];

const kbd = (key) => h("kbd", {}, key);
const act = (name, key, shortcut, text, more = {}) => h("button", { type: "button", "data-act": name, "aria-keyshortcuts": shortcut, ...more }, kbd(key), ` ${text}`);

export function drawFrame(root) {
  root.classList.add("reading");
  root.replaceChildren(drawStanding(), drawDesk(), drawNotice(), h("p", { id: "said", role: "status" }), h("p", { id: "heard", role: "status", class: "unseen" }), drawHelp(),
    h("dialog", { id: "choice", "aria-labelledby": "choose" }, h("h2", { id: "choose" }, "Type"), h("div", { id: "choices", role: "group", "aria-labelledby": "choose" })));
}

function drawStanding() {
  return h("div", { class: "standing" }, h("span", { id: "reviewer" }), h("progress", { id: "bar", max: "1", value: 0, "aria-labelledby": "standing" }), h("p", { id: "standing" }));
}

function drawDesk() {
  const line = h("span", { id: "line", role: "listbox", tabindex: "0", "aria-label": "The line, word by word", "aria-describedby": "why", "aria-multiselectable": "true", "aria-orientation": "horizontal" });
  const every = act("sheet", "Shift Enter", "Shift+Enter", "Confirm all ", { id: "every", hidden: true });
  every.append(h("span", { id: "count" }));
  return h("section", { id: "desk", "aria-labelledby": "task", hidden: true }, h("h1", { id: "task" }), h("p", { id: "why" }),
    h("div", { class: "sheet" }, h("p", { id: "place" }), h("div", { class: "text", id: "text", dir: "auto" }, h("span", { class: "near", id: "before" }), line, h("span", { class: "near", id: "after" }))),
    h("p", { id: "at" }),
    h("section", { id: "beside", class: "sheet", "aria-labelledby": "next", hidden: true }, h("h2", { id: "next" }, "Next"), h("ol", { id: "sheet" })),
    h("div", { id: "types", role: "group", "aria-label": "Type of the word" }),
    h("div", { class: "acts sure" }, act("confirm", "Enter", "Enter", "Confirm", { class: "first" }), every),
    h("div", { class: "acts" }, act("unsure", "?", "?", "Unsure"), act("undo", "U", "U", "Undo"), act("help", "H", "H", "Keys"), act("all", "A", "A", "All the same"), act("never", "N", "N", "Never a name")));
}

function drawNotice() {
  return h("section", { id: "notice", tabindex: "-1", "aria-labelledby": "title" }, h("h1", { id: "title" }, "Opening the review"), h("p", { id: "message" }),
    h("p", {}, act("end", "Enter", "Enter", "Finish", { id: "end", class: "first", hidden: true }), " ", act("look", "Enter", "Enter", "Look again", { id: "again", class: "first", hidden: true }), " ", act("undo", "U", "U", "Undo the last answer", { id: "back", hidden: true })));
}

function drawHelp() {
  const keys = KEYS.map(([names, text]) => h("div", {}, h("dt", {}, names.flatMap((name) => (name === "…" ? [" … "] : [" ", kbd(name)])).slice(1)), h("dd", {}, text)));
  const marks = MARKS.map(([kind, word, text]) => h("li", {}, h("span", { class: `mark${kind}` }, h("span", { class: "word" }, word)), ` ${text}`));
  return h("dialog", { id: "help", "aria-labelledby": "keys" }, h("h2", { id: "keys" }, "Keys"), h("dl", {}, keys), h("h2", {}, "Marks"), h("ul", { class: "legend" }, marks),
    h("form", { method: "dialog" }, h("button", { class: "first" }, kbd("Esc"), " Close")));
}
