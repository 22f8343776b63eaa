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
  }

  function show(stop, text) {
    says.textContent = text;
    const frame = stage.getBoundingClientRect();
    const spot = (stop.querySelector(".mark") ?? stop).getBoundingClientRect();
    const middle = spot.left + spot.width / 2 - frame.left;
    const left = Math.min(Math.max(middle - says.offsetWidth / 2, 0), frame.width - says.offsetWidth);
    const above = spot.top - frame.top - says.offsetHeight - 10;
    says.style.left = `${left}px`;
    says.style.top = `${above > 0 ? above : spot.bottom - frame.top + 10}px`;
  }

  function hide() {
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
    element.addEventListener("focusin", () => show(stops[at], descriptions[at]));
    element.addEventListener("focusout", hide);
    canvas.addEventListener("pointermove", (event) => {
      hide();
      const near = nearest(canvas, stops, event);
      if (near === -1) return;
      stops[near].classList.add("near");
      show(stops[near], descriptions[near]);
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
    for (const hidden of figure.querySelectorAll(".switch, .keys")) hidden.hidden = false;
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

// Policies by risk, the named ones among them.
function inOrder(plot) {
  const stops = [...plot.querySelectorAll(".stop:not([data-at])")];
  const named = [...plot.querySelectorAll(".stop[data-at]")];
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
