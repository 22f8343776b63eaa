"use strict";

// Each frontier: one focusable policy at a time, what it says beside it, and a choice of axis.
for (const figure of document.querySelectorAll("figure.frontier")) {
  const stage = figure.querySelector(".stage");
  const says = figure.querySelector(".says");
  const plots = [...figure.querySelectorAll(".plot")].map((element) => ({
    element,
    canvas: element.querySelector("svg"),
    stops: inOrder(element),
  }));
  const descriptions = plots[0].stops.map(takeTitle);
  const panel = figure.querySelector(".detail");
  const detail = panel && detailReader(figure, plots[0]);
  const named = plots[0].stops.flatMap((stop, at) => (stop.dataset.at ? [at] : []));
  const last = descriptions.length - 1;
  let at = 0;

  function enter(next) {
    for (const { stops } of plots) {
      stops[at].removeAttribute("tabindex");
      stops[next].tabIndex = 0;
      stops[next].setAttribute("role", "img");
      stops[next].setAttribute("aria-label", `Policy ${next + 1} of ${last + 1}`);
    }
    at = next;
    describe(at);
  }

  // Below the chart: what is known of a policy, until a reader steps on another.
  function describe(i) {
    if (!panel) return;
    const known = detail(i);
    const name = known.length ? descriptions[i].split(": ")[0] : descriptions[i];
    panel.replaceChildren(textIn("p", name, "name"), ...known);
  }

  function show(stop, i) {
    says.textContent = descriptions[i];
    describe(i);
    const frame = stage.getBoundingClientRect();
    const spot = (stop.querySelector(".mark") ?? stop).getBoundingClientRect();
    const middle = spot.left + spot.width / 2 - frame.left;
    const left = Math.min(Math.max(middle - says.offsetWidth / 2, 0), frame.width - says.offsetWidth);
    const above = spot.top - frame.top - says.offsetHeight - 10;
    says.style.left = `${left}px`;
    says.style.top = `${above > 0 ? above : spot.bottom - frame.top + 10}px`;
  }

  function hide() {
    if (says.textContent) describe(at);
    says.textContent = "";
    for (const stop of figure.querySelectorAll(".near")) stop.classList.remove("near");
  }

  function target(key) {
    switch (key) {
      case "ArrowRight": case "ArrowDown": return Math.min(at + 1, last);
      case "ArrowLeft": case "ArrowUp": return Math.max(at - 1, 0);
      case "Home": return 0;
      case "End": return last;
      case "PageDown": return named.find((i) => i > at) ?? at;
      case "PageUp": return named.findLast((i) => i < at) ?? at;
      default: return null;
    }
  }

  for (const { element, canvas, stops } of plots) {
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      const next = event.ctrlKey || event.altKey || event.metaKey ? null : target(event.key);
      if (next === null) return;
      event.preventDefault();
      enter(next);
      stops[next].focus();
    });
    // On the frame, since an SVG element that listens for focus becomes a tab stop itself.
    element.addEventListener("focusin", () => show(stops[at], at));
    element.addEventListener("focusout", hide);
    canvas.addEventListener("pointermove", (event) => {
      hide();
      const near = nearest(canvas, stops, event);
      if (near === -1) return;
      stops[near].classList.add("near");
      show(stops[near], near);
    });
    canvas.addEventListener("pointerleave", hide);
    canvas.addEventListener("click", (event) => {
      const near = nearest(canvas, stops, event);
      if (near === -1) return;
      enter(near);
      stops[near].focus();
    });
  }

  function choose(scale) {
    for (const { element } of plots) element.hidden = element.dataset.scale !== scale;
  }

  figure.querySelector(".switch").addEventListener("change", (event) => choose(event.target.value));
  if (last >= 0) {
    enter(0);
    describe(Math.max(plots[0].stops.findIndex((stop) => stop.querySelector(".mark-0")), 0));
    for (const hidden of figure.querySelectorAll(".switch, .keys, .detail")) hidden.hidden = false;
  }
  choose(figure.querySelector(".switch input:checked").value);
}

// What scrolls sideways can be focused, and only that.
function markScrollers() {
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
markScrollers();
window.addEventListener("resize", markScrollers);
document.addEventListener("toggle", markScrollers, true); // a <details> that opens

// Policies by risk, then the named ones, as they are drawn.
function asDrawn(plot) {
  return [".stop:not([data-at])", ".stop[data-at]"].map((found) => [...plot.querySelectorAll(found)]);
}

// Policies by risk, the named ones among them.
function inOrder(plot) {
  const [stops, named] = asDrawn(plot);
  named.sort((a, b) => a.dataset.at - b.dataset.at);
  for (const mark of named) stops.splice(Number(mark.dataset.at), 0, mark);
  return stops;
}

function takeTitle(stop) {
  const title = stop.querySelector("title");
  const text = title.textContent;
  title.remove();
  return text;
}

// A function from a stop's number to the elements that show its figures, settings and intervals.
function detailReader(figure, { element, stops }) {
  const stored = JSON.parse(figure.querySelector("script").textContent);
  const detailOf = new Map(asDrawn(element).flat().map((stop, i) => [stop, stored.stops[i]]));
  return (i) => {
    const [facts, strips] = detailOf.get(stops[i]);
    const list = document.createElement("dl");
    for (const [name, value] of facts) {
      const pair = document.createElement("div");
      pair.append(textIn("dt", stored.names[name]), textIn("dd", value));
      list.append(pair);
    }
    const cuts = strips.flatMap((strip) => {
      const [column, places] = stored.strips[strip];
      const intervals = places.map((place) => stored.intervals[place]);
      const labels = intervals.map(([label]) => label).join("   ");
      return [
        textIn("p", `${column}: ${intervals.length} interval${intervals.length === 1 ? "" : "s"}`, "cut"),
        stripOf(intervals),
        textIn("p", labels, "labels"),
      ];
    });
    return facts.length ? [list, ...cuts] : cuts;
  };
}

function textIn(name, text, of = "") {
  const element = document.createElement(name);
  element.textContent = text;
  element.className = of;
  return element;
}

// Intervals side by side, in the colours of the report's other strips.
function stripOf(intervals) {
  const names = document.querySelector("svg").namespaceURI;
  const strip = document.createElementNS(names, "svg");
  const whole = intervals.reduce((sum, [, share]) => sum + share, 0) || 1;
  let left = 0;
  strip.setAttribute("class", "strip");
  strip.setAttribute("aria-hidden", "true");
  intervals.forEach(([, share], i) => {
    const box = document.createElementNS(names, "rect");
    const parts = { x: `${(100 * left) / whole}%`, width: `${(100 * share) / whole}%`, height: "100%" };
    for (const [name, value] of Object.entries(parts)) box.setAttribute(name, value);
    box.setAttribute("class", i % 2 ? "odd" : "even");
    strip.append(box);
    left += share;
  });
  return strip;
}

// The stop nearest to the pointer within 24 pixels, or -1.
function nearest(canvas, stops, event) {
  const frame = canvas.getBoundingClientRect();
  let best = -1;
  let least = 24 ** 2;
  stops.forEach((stop, i) => {
    const x = (stop.cx ?? stop.x).baseVal.value - (event.clientX - frame.left);
    const y = (stop.cy ?? stop.y).baseVal.value - (event.clientY - frame.top);
    const distance = x * x + y * y;
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}
