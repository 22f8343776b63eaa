// The frame: steps, the running command, this step's command, and what a person typed.

import { drawBlock } from "./blocks.js";
import { by, h, put } from "./dom.js";
import { askServer, Reading } from "./reading.js";

const POLL = 1000, BUSY_POLL = 250, SETTLE = 500, TYPED = 250, SPOKEN = 5000; // milliseconds
const VEIL_AFTER = 5 * 60 * 1000;

let state = null, step = null, screen = null, language = "shell", command = {};
let waiting = false, offered = null, timer = 0, settle = 0, typed = 0, veil = 0, isLost = false, drawn = "";
const drafts = {};

const page = {
  problems: {},
  shown: false,
  busy: "",
  width: () => by("main").clientWidth - 2 * parseFloat(getComputedStyle(by("main")).paddingLeft),
  go,
  act,
  plan: (name, form) => { clearTimeout(typed); typed = setTimeout(() => plan(name, form), TYPED); },
  later: (name, form, delay = SETTLE) => { waiting = true; clearTimeout(settle); settle = setTimeout(() => (isBusy() ? page.later(name, form) : act(name, form)), delay); },
  offer: (name, read) => { offered ??= [name, read]; },
  keep: (name, value) => { (drafts[step] ??= {})[name] = value; delete page.problems[name]; },
  kept: (name) => drafts[step]?.[name],
  hold: false, // while a pointer drags, the screen stays
};

const isBusy = () => ["running", "stopping"].includes(state?.job?.state);

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
  const answer = await fetch(path, { ...options, cache: "no-store", credentials: "same-origin" });
  const content = answer.status === 204 ? null : await answer.json();
  if (answer.ok) return content;
  throw Object.assign(new Error(content.error), { status: answer.status, field: content.field, problems: content.problems, path });
}

async function refresh() {
  clearTimeout(timer);
  try {
    const next = await ask("/state");
    const isFirst = state === null;
    state = next;
    step ??= first();
    endJob();
    if (isBusy() || isFirst) drawFrame();
    const key = JSON.stringify([step, state.version, isBusy(), page.problems, page.shown]);
    drawReading();
    if (!reading && (isFirst || key !== drawn) && !page.hold) await load(key);
    drawFrame();
    document.body.dataset.drawn = isBusy() ? "" : state.version;
  } catch (error) {
    if (error.status !== undefined && error.status !== 403) showProblem(sentence(error.message));
    else return lost(error);
  }
  timer = setTimeout(refresh, isBusy() ? BUSY_POLL : document.hidden ? 4 * POLL : POLL);
  return undefined;
}

const first = () => (state.steps.find((one) => ["open", "stale"].includes(one.state)) ?? state.steps[0]).name;
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

async function load(key) {
  const name = step;
  const found = await ask(`/screen/${name}`);
  if (name !== step || page.hold) return;
  const isSame = screen?.name === name;
  screen = { ...found, name };
  drawn = key;
  draw(isSame);
}

function draw(isSame) {
  const focused = document.activeElement?.id;
  const [from, to] = [document.activeElement?.selectionStart, document.activeElement?.selectionEnd];
  const top = scrollY;
  offered = null;
  page.busy = isBusy() ? "A command is running." : "";
  const warnings = state.job?.step === step && !isBusy() ? state.job.warnings ?? [] : [];
  put(by("main"), h("h1", {}, screen.title), h("p", { class: "lede" }, screen.lede), warnings.length ? h("details", { class: "note warn" }, h("summary", {}, `${warnings.length} warning${warnings.length > 1 ? "s" : ""} of the last command`), h("ul", {}, warnings.map((one) => h("li", {}, sentence(one))))) : "",
    screen.blocks.map((block) => drawBlock(block, page)));
  document.title = `${state.steps.find((one) => one.name === step).title} · voile`;
  if (isSame && focused && by(focused)) {
    by(focused).focus({ preventScroll: true });
    if (from !== undefined && from !== null && by(focused).type === "text") by(focused).setSelectionRange(from, to);
  } else if (!isSame) by("main").focus({ preventScroll: true });
  scrollTo(0, isSame ? top : 0);
  if (offered) plan(offered[0], offered[1]());
  else showCommand({ shell: "", python: "" });
}

function drawFrame() {
  by("project").textContent = state.name;
  if (performance.now() > spoken) setText("saved", `Saved in ${state.place}`);
  by("who").textContent = state.person;
  by("undo").setAttribute("aria-disabled", String(Boolean(state.undo)));
  by("undo").title = state.undo;
  by("undo-why").textContent = state.undo;
  drawSteps(JSON.stringify([step, state.steps]));
  drawJob();
}

let railed = "";
/** The steps are drawn again only if they changed: a control with the focus keeps it. */
function drawSteps(key) {
  if (key === railed) return;
  railed = key;
  const focused = document.activeElement?.id;
  const words = { done: "done", stale: "out of date", open: "open", blocked: "waits" };
  const signs = { done: "✓", stale: "!" };
  put(by("rail"), state.steps.map((one, i) => h("li", {}, h("button", { type: "button", id: `step-${one.name}`, class: one.state, "aria-current": one.name === step ? "step" : undefined, title: one.why, onclick: () => go(one.name) },
    h("i", { "aria-hidden": "true" }, signs[one.state] ?? String(i + 1)), h("span", {}, one.title, h("span", { class: "unseen" }, `, ${words[one.state]}`)), h("small", {}, one.note || one.why)))));
  put(by("jump"), state.steps.map((one, i) => h("option", { value: one.name }, `${i + 1} ${one.title}${one.note ? `: ${one.note}` : ""}`)));
  by("jump").value = step;
  if (focused && focused !== document.activeElement?.id) by(focused)?.focus({ preventScroll: true });
}

function drawJob() {
  const job = state.job;
  const isShown = isBusy();
  by("job").hidden = !isShown;
  if (!isShown) return by("job").replaceChildren();
  const { task = "starting", done = 0, total, seconds_left: left } = job.progress ?? {};
  const share = total ? Math.min(done / total, 1) : null;
  const parts = [task, share === null ? (done ? done.toLocaleString("en") : "") : `${Math.round(100 * share)}%`, typeof left === "number" ? `${writeTime(left)} left` : "", `${job.seconds} s so far`].filter(Boolean);
  if (!by("stop")) put(by("job"), h("span", { class: "job-text", role: "status" }, h("b", { id: "job-verb" }), " ", h("span", { id: "job-text" })), h("progress", { id: "job-bar", "aria-label": "Progress" }), h("button", { type: "button", id: "stop", onclick: stop }, "Stop"));
  by("job-verb").textContent = `voile ${job.verb}`;
  setText("job-text", job.state === "stopping" ? "stopping" : parts.join(", "));
  if (share === null) by("job-bar").removeAttribute("value");
  else by("job-bar").value = share;
  return undefined;
}

const writeTime = (seconds) => (seconds < 60 ? `${Math.max(1, Math.round(seconds))} s` : seconds < 3600 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`);

let reading = null, readOver = "";
/** While a command serves a reading, its lines take the place of the step's screen. */
function drawReading() {
  const { job } = state;
  const isOpen = isBusy() && Boolean(job.reading) && job.reading !== readOver && job.step === step;
  if (isOpen === Boolean(reading)) return;
  if (!isOpen) {
    reading.close();
    reading = null;
    by("main").classList.remove("reading");
    drawn = "";
    return;
  }
  const leave = () => { readOver = job.reading; refresh(); };
  reading = new Reading(by("main"), { ask: (path, body) => askServer(`/reading${path}`, body), lost: leave, ended: leave });
  document.title = `${state.steps.find((one) => one.name === step).title} · voile`;
  reading.open();
}

let ended = null;
/** An error of a command belongs to the button that started it. */
function endJob() {
  const job = state.job;
  if (!job || isBusy() || ended === job) return;
  if (ended?.waits && pending) {
    const { what, where, instead } = job.error ?? {};
    if (job.state === "failed") page.problems[pending] = sentence([where ? `${where}: ` : "", what, instead ? `; ${instead}` : ""].join(""));
    else if (job.state === "stopped") page.problems[pending] = "Stopped. Nothing changed.";
    else if (!waiting) delete drafts[job.step];
    pending = null;
  }
  ended = job;
}
let pending = null;

async function act(name, form) {
  const control = form.part ? `${name}-${form.part}` : name;
  clearTimeout(settle);
  waiting = false;
  page.problems = {};
  try {
    const done = await ask("/act", { act: name, form });
    if (done) {
      delete drafts[step];
      if (done.edited) page.chart.edit(done.edited);
    } else {
      pending = control;
      ended = { waits: true };
    }
  } catch (error) {
    if (error.status === undefined) return lost(error);
    for (const [field, text] of Object.entries(error.problems ?? { [control]: error.message })) page.problems[field] = sentence(text);
    await refresh();
    if (error.field && by(`field-${error.field}`)) by(`field-${error.field}`).focus();
    return undefined;
  }
  return refresh();
}

async function plan(name, form) {
  try {
    const found = await ask("/plan", { act: name, form });
    showCommand(found.problem ? { problem: sentence(found.problem) } : found);
  } catch (error) {
    showCommand({ problem: sentence(error.message) });
  }
}

function showCommand(found) {
  command = found;
  by("command").textContent = found.problem ?? found[language] ?? "";
  by("command").classList.toggle("soft", Boolean(found.problem));
  by("copy").disabled = !found[language];
}

function showProblem(text) {
  screen = null;
  put(by("main"), h("h1", {}, "This project has a problem"), h("p", { class: "error", role: "alert" }, text), h("p", { class: "lede" }, "The page goes on as soon as the file is right again."));
  drawn = "";
}

async function go(name) {
  step = name;
  page.problems = {};
  drawn = "";
  await refresh();
}

async function stop() {
  await ask("/stop", {}).catch(() => undefined);
  refresh();
}

async function undo() {
  if (state.undo) return announce(state.undo);
  try {
    const { step: name } = await ask("/undo", {});
    delete drafts[name];
    announce("Undone.");
    await go(name);
  } catch (error) {
    announce(sentence(error.message));
  }
  return undefined;
}

let spoken = 0;
function announce(text) {
  setText("saved", text);
  spoken = performance.now() + SPOKEN;
}

/** A status is announced when it changes, so it is set only then. */
function setText(id, text) {
  if (by(id).textContent !== text) by(id).textContent = text;
}

function toggleValues(isShown) {
  page.shown = isShown;
  clearTimeout(veil);
  if (isShown) veil = setTimeout(() => toggleValues(false), VEIL_AFTER);
  by("veil").setAttribute("aria-pressed", String(isShown));
  by("veil-text").textContent = isShown ? "Hide values" : "Show values";
  refresh();
}

async function showHistory() {
  const scripts = await ask("/history");
  by("scripts-place").textContent = `${state.place}/history.${language === "shell" ? "sh" : "py"}`;
  by("script").textContent = scripts[language];
  by("scripts").showModal();
}

function setLanguage(name) {
  language = name;
  for (const one of ["shell", "python"]) by(one).setAttribute("aria-pressed", String(one === name));
  showCommand(command);
}

async function copy(text, node) {
  await navigator.clipboard.writeText(text).catch(() => undefined);
  const before = node.textContent;
  node.textContent = "Copied";
  setTimeout(() => { node.textContent = before; }, 1500);
}

function lost(error) {
  isLost = true;
  const refused = error.path === "/session"
    ? ["This address was used before", "Return to the window that it opened in, or start voile again for a new address."]
    : ["Open the address that voile printed", "It works once. For another, end voile in its terminal and start it again."];
  const place = state ? ` voile open ${state.place}` : "";
  const [title, text] = error.status === 403 ? refused : ["voile has stopped", `Every step is saved. Start it again:${place}`];
  put(by("main"), h("h1", {}, title), h("p", { class: "lede" }, text));
  by("job").hidden = true;
  for (const node of document.querySelectorAll(".top button, .rail button, .jump select, .code button")) node.disabled = true;
  document.title = `${title} · voile`;
}

by("undo").addEventListener("click", undo);
by("veil").addEventListener("click", () => toggleValues(!page.shown));
by("jump").addEventListener("change", () => go(by("jump").value));
by("shell").addEventListener("click", () => setLanguage("shell"));
by("python").addEventListener("click", () => setLanguage("python"));
by("copy").addEventListener("click", () => copy(command[language] ?? "", by("copy")));
by("history").addEventListener("click", showHistory);
by("copy-script").addEventListener("click", () => copy(by("script").textContent, by("copy-script")));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isLost || reading || document.querySelector("dialog[open]")) return;
  if (event.target.closest("textarea, select") || (event.target.tagName === "INPUT" && event.target.type !== "range")) return;
  const key = event.key.toLowerCase();
  if (key === "u") undo();
  else if (key === "v") toggleValues(!page.shown);
  else if (key === "h") showHistory();
  else if (/^[1-8]$/.test(key)) go(state.steps[key - 1].name);
});
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width || !screen || reading) return;
  width = innerWidth;
  draw(true);
});
document.addEventListener("visibilitychange", () => !document.hidden && !isLost && refresh());

async function open() {
  const token = location.hash.slice(1);
  try {
    if (token && token !== "main") {
      history.replaceState(null, "", "/");
      await ask("/session", token);
    }
  } catch (error) {
    return lost(error);
  }
  return refresh();
}

open();
