// One function for each block of a screen.

import { h, put, s, size } from "./dom.js";
import { FrontierChart, figure } from "./frontier.js";

const HIDDEN = "●●●";
const FEW = 3; // findings of an attack that are always in view

export function drawBlock(block, page) {
  return (BLOCKS[block.block] ?? (() => null))(block, page);
}

const BLOCKS = {
  note: (block) => h("p", { class: `note ${block.tone}` }, block.text),
  next: (block, page) => h("div", { class: "next" }, button({ id: `next-${block.step}`, label: block.label, why: block.why, onclick: () => page.go(block.step) }, "next-button")),
  figures: (block) => h("dl", { class: "figures" }, block.figures.map((one) => figure(one.label, one.big, one.of, one.below))),
  form: drawForm,
  roles: drawRoles,
  frontier: drawFrontier,
  recoding: drawRecoding,
  rows: drawRows,
  table: drawTable,
  files: drawFiles,
  stories: (block) => h("div", { class: "stories" }, block.stories.map(drawStory)),
  criteria: drawCriteria,
  signatures: drawSignatures,
  commands: (block) => h("section", { class: "card" }, h("h2", {}, block.title), h("p", { class: "soft" }, block.text), h("pre", { tabindex: "0", role: "region", "aria-label": block.title }, block.commands.join("\n"))),
};

/** A button that stays where it is: without its reason it works, with it it explains itself. */
function button({ id, label, why, onclick, kind = "primary" }, extra = "") {
  const said = why ? h("span", { class: "why", id: `${id}-why` }, why) : "";
  const node = h("button", {
    type: "button", id, class: `${kind} ${extra}`, "aria-disabled": why ? "true" : undefined, "aria-describedby": why ? `${id}-why` : undefined,
    onclick: () => !why && onclick(),
  }, label);
  return h("span", { class: "button" }, node, said);
}

function problemOf(page, act) {
  const problem = page.problems[act];
  return h("p", { class: "error", id: `${act}-error`, role: "alert" }, problem ?? "");
}

function drawActions(actions, page, read, part = "") {
  const idOf = (act) => (part ? `${act}-${part}` : act);
  const nodes = actions.map((one) => button({
    id: idOf(one.act), label: one.label, why: one.why || page.busy, kind: one.primary ? "primary" : "", onclick: () => page.act(one.act, read()),
  }));
  return [h("div", { class: "actions" }, nodes), actions.map((one) => problemOf(page, idOf(one.act)))];
}

function drawForm(block, page) {
  const inputs = {};
  const read = () => Object.fromEntries(Object.entries(inputs).map(([name, node]) => [name, node.value]));
  const first = block.actions[0];
  const changed = (name) => {
    page.keep(name, inputs[name].value);
    page.plan(first.act, read());
  };
  const groups = block.groups.map((group) => h("fieldset", { class: group.layout }, h("legend", {}, group.title), group.hint ? h("p", { class: "soft" }, group.hint) : "",
    h("div", { class: "fields" }, group.fields.map((one) => drawField(one, page, inputs, changed)))));
  page.offer(first.act, read);
  return h("form", { class: groups.length ? "card" : "", novalidate: true, onsubmit: (event) => { event.preventDefault(); if (!first.why && !page.busy) page.act(first.act, read()); } }, groups, drawActions(block.actions, page, read));
}

function drawField(one, page, inputs, changed) {
  const id = `field-${one.name}`;
  const value = page.kept(one.name) ?? String(one.value);
  const error = page.problems[one.name];
  const described = [one.hint ? `${id}-hint` : "", one.warn ? `${id}-warn` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ") || undefined;
  const shared = { id, name: one.name, "aria-describedby": described, "aria-invalid": error ? "true" : undefined, oninput: () => changed(one.name), autocomplete: "off" };
  if (one.kind === "select") inputs[one.name] = h("select", shared, one.options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  else if (one.kind === "area") inputs[one.name] = h("textarea", { ...shared, rows: "3" });
  else inputs[one.name] = h("input", { ...shared, type: one.kind === "date" ? "date" : "text", inputmode: one.kind === "number" ? "decimal" : undefined, spellcheck: "false" });
  inputs[one.name].value = value;
  return h("div", { class: `field ${one.kind}` }, h("label", { for: id }, one.label), inputs[one.name],
    one.hint ? h("small", { id: `${id}-hint` }, one.hint) : "", one.warn ? h("p", { class: "note warn", id: `${id}-warn` }, one.warn) : "", error ? h("p", { class: "error", id: `${id}-error`, role: "alert" }, error) : "");
}

function drawRoles(block, page) {
  const selects = {};
  const { part } = block;
  const read = () => ({ part, roles: Object.fromEntries(Object.entries(selects).map(([name, node]) => [name, node.value])) });
  const rows = block.rows.map((one, i) => {
    const value = page.kept(`role ${part} ${one.name}`) ?? one.role;
    const becomes = h("span", {});
    const before = h("small", {});
    const row = h("tr", {});
    const show = () => {
      const now = selects[one.name].value;
      becomes.textContent = block.choices[now]?.[1] ?? "";
      const isChanged = one.proposed && now !== one.proposed;
      before.textContent = isChanged ? `proposed: ${block.choices[one.proposed]?.[0] ?? one.proposed}` : "";
      selects[one.name].classList.toggle("changed", Boolean(isChanged));
      row.classList.toggle("leaves", becomes.textContent.startsWith("leaves"));
    };
    selects[one.name] = h("select", { id: part ? `role-${part}-${i}` : `role-${i}`, "aria-label": `Role of ${part ? `${one.name} in ${part}` : one.name}`, onchange: () => { page.keep(`role ${part} ${one.name}`, selects[one.name].value); show(); page.plan("roles.save", read()); } },
      Object.entries(block.choices).map(([role, [text]]) => h("option", { value: role }, text)));
    selects[one.name].value = value;
    show();
    return fillRow(row, h("th", { scope: "row" }, one.name), h("td", { class: "soft wide" }, one.why), h("td", {}, selects[one.name], before), h("td", {}, becomes));
  });
  page.offer("roles.save", read);
  return h("section", {}, part ? h("h2", {}, part) : "", h("table", { class: "cards roles" }, head("Column", "Why voile proposes it", "Role", "What becomes of it"), h("tbody", {}, rows)), drawActions(block.actions, page, read, part));
}

const fillRow = (row, ...cells) => { row.append(...cells); return row; };
const head = (...names) => h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name))));

function drawFrontier(block, page) {
  const holder = h("div", {});
  const chart = new FrontierChart(block, Math.min(page.width() - (page.width() > 900 ? 300 : 0), 760), {
    at: page.kept("policy"),
    onhold: (isHeld) => { page.hold = isHeld; },
    onmove: (one) => { page.keep("policy", block.policies.indexOf(one)); page.plan("frontier.choose", { policy: one.number }); },
    onchoose: (one) => page.later("frontier.choose", { policy: one.number }),
  });
  page.chart = chart;
  if (!block.edited) page.offer("frontier.choose", () => ({ policy: chart.policies[chart.at].number }));
  const take = button({ id: "frontier.choose", label: `Choose policy ${chart.policies[chart.at].number}`, why: page.busy, onclick: () => page.act("frontier.choose", { policy: chart.policies[chart.at].number }) });
  const rules = block.rules.map((one) => h("div", {}, h("button", { type: "button", id: `rule-${one.rule}`, class: "rule", onclick: () => page.later("frontier.choose", { rule: one.rule }, 0) }, one.label, h("small", {}, one.below))));
  put(holder, chart.figures, chart.says, h("div", { class: "board" },
    h("section", { "aria-label": "Frontier" }, chart.node, block.chosen === null && !block.edited ? take : "", problemOf(page, "frontier.choose")),
    h("section", { class: "ways" }, h("h2", {}, "Choose by rule"), rules)));
  return holder;
}

function drawRecoding(block, page) {
  const edit = (way, place) => page.act("frontier.edit", { [way]: place });
  const columns = block.columns.map((one, i) => h("article", { class: "recoded" }, h("h3", {}, one.name), drawPeople(one, block.is_tree || page.busy ? null : edit), block.is_tree ? "" : drawEdits(one, i, page, edit),
    h("details", {}, h("summary", {}, one.more ? `the first ${one.labels.length} of ${one.labels.length + one.more} labels` : `${one.labels.length} label${one.labels.length === 1 ? "" : "s"}`), h("table", {}, head("Label", "People"), h("tbody", {}, one.labels.map(([label, people]) => h("tr", {}, h("th", { scope: "row" }, label), h("td", {}, people))))))));
  const leaves = block.leaves.map((one, i) => h("tr", {}, one.labels.map((label, at) => h("td", { "data-head": block.columns[at].name }, label)), h("td", { "data-head": "People" }, one.people),
    h("td", {}, button({ id: `leaf-${i}`, label: "Merge", why: one.node ? page.busy : "It is the whole tree.", kind: "", onclick: () => edit("merge", one.node) }))));
  return h("section", { class: "card" }, h("h2", {}, "What each column becomes"), h("p", { class: "soft" }, block.is_tree ? "Bars count people by value. In a tree the labels of two people may overlap; merge a group with the group next to it." : "Bars count people by value. Press a line to merge two labels, or a gap to split one."),
    problemOf(page, "frontier.edit"), h("div", { class: "recodings" }, columns),
    block.is_tree ? [h("h3", {}, `${block.leaves.length} typical groups of ${block.count}`), h("table", { class: "cards" }, head(...block.columns.map((one) => one.name), "People", "Edit"), h("tbody", {}, leaves))] : "");
}

const WIDE = 300, TALL = 64; // of a column's bars

function drawPeople(one, edit) {
  const count = one.values.length;
  const most = Math.max(...one.people, 1);
  const x = (place) => (WIDE * place) / count;
  const bars = one.people.map((people, i) => s("rect", { class: "bar", x: x(i) + 0.4, width: Math.max(x(1) - 0.8, 0.6), y: TALL * (1 - people / most), height: (TALL * people) / most }));
  const lines = one.starts.map((place) => s("line", { class: "split", x1: x(place), x2: x(place), y1: 0, y2: TALL }));
  const svg = s("svg", { class: edit ? "people edits" : "people", viewBox: `0 0 ${WIDE} ${TALL}`, preserveAspectRatio: "none", "aria-hidden": "true" }, bars, lines);
  if (edit && count > 1) svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const place = Math.min(Math.max(Math.round(((event.clientX - box.left) / box.width) * count), 1), count - 1);
    edit(one.starts.includes(place) ? "merge" : "split", `${one.name}=${one.values[place]}`);
  });
  return svg;
}

/** The same edits for a keyboard: a place to choose, and a button. */
function drawEdits(one, i, page, edit) {
  const ways = [["merge", "Merge at", (place) => one.starts.includes(place), "It has one label."], ["split", "Split at", (place) => !one.starts.includes(place), "Each value has its own label."]];
  return h("div", { class: "edits" }, ways.map(([way, label, fits, none]) => {
    const places = one.values.map((value, place) => [value, place]).filter(([, place]) => place > 0 && fits(place));
    const select = h("select", { id: `${way}-at-${i}`, "aria-label": `${label}, in ${one.name}`, onchange: () => page.plan("frontier.edit", { [way]: `${one.name}=${select.value}` }) }, places.map(([value]) => h("option", { value }, value)));
    return h("span", {}, button({ id: `${way}-${i}`, label, why: places.length ? page.busy : none, kind: "", onclick: () => edit(way, `${one.name}=${select.value}`) }), places.length ? select : "");
  }));
}

function drawRows(block, page) {
  const [columns = []] = block.columns;
  const rows = block.rows.map((row) => h("tr", {}, row.map((value, i) => h("td", { "data-head": columns[i] }, page.shown ? value : h("span", { class: "veil" }, h("span", { "aria-hidden": "true" }, HIDDEN), h("span", { class: "unseen" }, "hidden"))))));
  return h("section", { class: "card" }, h("h2", {}, block.title), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": block.title }, h("table", {}, head(...columns), h("tbody", {}, rows))));
}

function drawTable(block) {
  const rows = block.rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), rest.map((value, i) => h("td", { "data-head": block.head[i + 1] }, value))));
  return h("section", { class: "card" }, h("h2", {}, block.title), h("table", {}, head(...block.head), h("tbody", {}, rows)));
}

function drawFiles(block) {
  return h("section", { class: "card" }, h("h2", {}, block.title), h("ul", { class: "files" }, block.files.map(([name, text, fate]) => h("li", {}, h("span", {}, h("code", {}, name), h("small", {}, text)), h("span", { class: `verdict ${fate === "publish" ? "ok" : "no"}` }, fate === "publish" ? "publish" : "never publish")))));
}

function drawStory(one) {
  return h("article", { class: "card story" }, h("h2", {}, one.title), h("p", { class: "soft" }, one.story),
    h("p", {}, one.knows.map((name) => h("span", { class: "chip" }, `knows ${name}`))),
    one.findings.slice(0, FEW).map(drawFinding), one.findings.length > FEW ? h("details", {}, h("summary", {}, `${one.findings.length - FEW} more figures`), one.findings.slice(FEW).map(drawFinding)) : "");
}

function drawFinding(found) {
  return h("div", { class: "finding" }, h("p", {}, found.name, ": ", h("b", {}, found.found.words.value), ` (${found.found.words.interval})`), drawRange(found),
      h("small", {}, [found.baseline ? `baseline ${found.baseline.words.value}` : "", found.control ? `control ${found.control.words.value}` : ""].filter(Boolean).join(" · ")), found.says ? h("p", { class: "says" }, found.says) : "");
}

function drawRange(found) {
  const x = (value) => `${2 + 96 * value}%`;
  return s("svg", { class: "range", "aria-hidden": "true" },
    s("line", { class: "grid", x1: x(0), x2: x(1), y1: 10, y2: 10 }),
    s("line", { class: "whisker", x1: x(found.found.low), x2: x(found.found.high), y1: 10, y2: 10 }),
    found.baseline ? s("circle", { class: "ring", cx: x(found.baseline.value), cy: 10, r: 5 }) : null,
    s("circle", { class: "knob", cx: x(found.found.value), cy: 10, r: 5 }));
}

function drawCriteria(block) {
  const tone = (verdict) => (verdict === "meets" ? "ok" : verdict === "meets with conditions" ? "if" : "no");
  const gauge = (one) => {
    if (one.limit === null || one.most === null) return "";
    const share = one.limit > 0 ? Math.min(1, (0.62 * one.most) / one.limit) : 1;
    return h("div", { class: `gauge ${tone(one.verdict)}`, "aria-hidden": "true" }, size(h("i", {}), { width: `${100 * share}%` }), h("b", {}));
  };
  const rows = block.criteria.map((one) => h("tr", {}, h("th", { scope: "row" }, one.name, h("small", {}, one.what)), h("td", { "data-head": "Figure" }, one.shown, one.interval ? h("small", {}, one.interval) : ""),
    h("td", { "data-head": one.limit === null ? undefined : "Threshold" }, gauge(one), h("small", {}, one.threshold)), h("td", {}, h("span", { class: `verdict ${tone(one.verdict)}` }, one.verdict), one.condition ? h("small", {}, one.condition) : "")));
  return h("section", { class: "card" }, h("div", { class: "head" }, h("h2", {}, "Criteria"), h("span", { class: `verdict ${tone(block.verdict)}` }, block.verdict)),
    h("table", { class: "cards" }, head("Criterion", "Figure", "Threshold", "Verdict"), h("tbody", {}, rows)));
}

function drawSignatures(block) {
  const signed = block.signed.map(([signer, decision, day, conditions]) => h("li", {}, h("span", {}, h("b", {}, signer), h("small", {}, [day, conditions].filter(Boolean).join(" · "))), h("span", { class: `verdict ${decision.startsWith("approve") ? "ok" : "if"}` }, decision)));
  return h("section", { class: "card" }, h("h2", {}, block.title), signed.length ? h("ul", { class: "files" }, signed) : h("p", { class: "soft" }, "Nobody has signed yet."));
}
