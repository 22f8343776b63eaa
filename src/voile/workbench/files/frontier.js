// The curve of policies: drag along it, or use the arrow keys of its slider.

import { h, put, s } from "./dom.js";

const HEIGHT = 300;
const EDGE = { left: 52, right: 16, top: 30, bottom: 26 };

export class FrontierChart {
  constructor(block, width, { at, onmove, onchoose, onhold }) {
    this.block = block;
    this.policies = block.policies;
    this.onmove = onmove;
    this.onchoose = onchoose;
    this.edited = at === undefined ? block.edited : null;
    this.at = at ?? block.chosen ?? block.edited?.began ?? this.policies.length - 1;
    this.says = h("p", { class: "note" });
    this.figures = h("dl", { class: "figures", "aria-live": "off" });
    this.slider = h("input", {
      type: "range", id: "slider", min: 0, max: this.policies.length - 1, step: 1, value: this.at,
      "aria-label": block.slider, oninput: () => this.move(Number(this.slider.value)), onchange: () => this.choose(),
    });
    this.svg = s("svg", { "aria-hidden": "true" });
    this.less = h("button", { type: "button", id: "less", onclick: () => this.step(-1) }, "‹ Less risk");
    this.more = h("button", { type: "button", id: "more", onclick: () => this.step(1) }, "More use ›");
    this.where = h("span", { class: "soft" });
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.svg.setPointerCapture(event.pointerId);
      onhold(true);
      this.drag(event);
    });
    this.svg.addEventListener("pointermove", (event) => this.svg.hasPointerCapture(event.pointerId) && this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) {
      this.svg.addEventListener(name, () => {
        onhold(false);
        this.choose();
      });
    }
    this.node = h("div", { class: "chart" }, h("p", { class: "axis" }, "less information lost ↑"), this.svg, h("p", { class: "axis right" }, `${block.title} →`), this.slider, h("div", { class: "steps" }, this.less, this.more, this.where));
    this.resize(width);
  }

  resize(width) {
    this.width = Math.max(width, 240);
    const all = [...this.policies, ...this.block.marks].map((one) => one.x).filter((value) => value > 0 || !this.block.is_log);
    const low = this.scale(Math.min(...all)), high = this.scale(Math.max(...all));
    const pad = Math.max((high - low) * 0.04, 0.05);
    this.range = this.block.is_log ? [low - pad, high + pad] : [0, Math.max(1, high)];
    this.xs = this.policies.map((one) => this.x(one.x));
    this.draw();
    this.move(this.at, true);
  }

  scale(value) {
    return this.block.is_log ? Math.log10(value) : Math.max(value, 0);
  }

  x(value) {
    const [low, high] = this.range;
    const share = (this.scale(this.block.is_log ? Math.max(value, 10 ** low) : value) - low) / (high - low || 1);
    return EDGE.left + share * (this.width - EDGE.left - EDGE.right);
  }

  y(loss) {
    return EDGE.top + loss * (HEIGHT - EDGE.top - EDGE.bottom);
  }

  draw() {
    const { width } = this;
    const bottom = HEIGHT - EDGE.bottom;
    const grid = [0, 0.25, 0.5, 0.75, 1].map((loss) => [
      s("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: this.y(loss), y2: this.y(loss) }),
      s("text", { x: EDGE.left - 8, y: this.y(loss) + 4, "text-anchor": "end" }, `${loss * 100}%`),
    ]);
    const ticks = [];
    for (const value of this.ticks()) {
      ticks.push(s("text", { x: this.x(value), y: HEIGHT - 6, "text-anchor": "middle" }, value.toLocaleString("en", this.block.is_log ? { maximumFractionDigits: 6 } : { style: "percent" })));
    }
    const points = this.policies.map((one, i) => `${i ? "L" : "M"}${this.xs[i].toFixed(1)} ${this.y(one.loss).toFixed(1)}`).join("");
    const under = `${points}L${this.xs.at(-1).toFixed(1)} ${bottom}L${this.xs[0].toFixed(1)} ${bottom}Z`;
    const limits = this.limits().map(([risk, at]) => {
      const isRight = this.xs[at] > width - 110;
      return [
        s("line", { class: "limit", x1: this.xs[at], x2: this.xs[at], y1: EDGE.top - 6, y2: bottom }),
        s("text", { class: "limit-text", x: this.xs[at], y: EDGE.top - 12, "text-anchor": isRight ? "end" : "middle" }, `1 in ${Math.round(1 / risk).toLocaleString("en")}`),
      ];
    });
    const marks = this.block.marks.map((one) => {
      const [x, y] = [this.x(one.x), this.y(one.loss)];
      const isRight = x > width - 110;
      return [
        s("path", { class: "mark", d: `M${x} ${y - 7}l7 7l-7 7l-7 -7z` }),
        s("text", { class: "mark-text", x: isRight ? x + 8 : x, y: y - 13, "text-anchor": isRight ? "end" : "middle" }, one.name),
      ];
    });
    this.drop = s("path", { class: "drop" });
    this.ring = s("circle", { class: "ring", r: 9, cx: this.xs[this.at], cy: this.y(this.policies[this.at].loss) });
    this.knob = s("circle", { class: "knob", r: 9 });
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    put(this.svg, grid, ticks, s("path", { class: "under", d: under }), s("path", { class: "curve", d: points }), limits, marks, this.drop, this.ring, this.knob);
  }

  ticks() {
    const [low, high] = this.range;
    const found = [];
    if (this.block.is_log) for (let power = Math.ceil(low); power <= high; power += 1) found.push(10 ** power);
    else found.push(0, 0.25, 0.5, 0.75, 1);
    return found;
  }

  /** A threshold bounds the largest risk: its line is at the last policy within it. */
  limits() {
    const found = [];
    let last = -Infinity;
    if (!this.block.limit) return found;
    for (const risk of [0.001, 0.01, this.block.limit]) {
      const at = this.policies.findLastIndex((one) => one.risk <= risk * (1 + 1e-9));
      if (at < 0 || risk >= 1 || this.xs[at] - last < 62) continue;
      last = this.xs[at];
      found.push([risk, at]);
    }
    return found;
  }

  drag(event) {
    const box = this.svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.width;
    let low = 0, high = this.xs.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.xs[middle] < x) low = middle + 1;
      else high = middle;
    }
    const near = low > 0 && x - this.xs[low - 1] < this.xs[low] - x ? low - 1 : low;
    this.move(near);
  }

  step(by) {
    this.move(Math.min(Math.max(this.at + by, 0), this.policies.length - 1));
    this.choose();
  }

  move(at, isFirst = false) {
    this.at = at;
    if (!isFirst) this.edited = null;
    const one = this.edited ?? this.policies[at];
    const [x, y] = [this.x(one.x), this.y(one.loss)];
    this.ring.classList.toggle("hidden", !this.edited);
    this.knob.setAttribute("cx", x);
    this.knob.setAttribute("cy", y);
    this.drop.setAttribute("d", `M${EDGE.left} ${y}H${x}V${HEIGHT - EDGE.bottom}`);
    this.slider.value = at;
    this.slider.setAttribute("aria-valuetext", `${name(one)}: ${one.figures.map(([big, of], i) => `${this.block.labels[i]} ${big} ${of}`).join(", ")}`);
    this.less.disabled = at === 0;
    this.more.disabled = at === this.policies.length - 1;
    this.where.textContent = this.edited ? name(one) : `${name(one)}, of 0 to ${this.policies.at(-1).number}`;
    put(this.figures, one.figures.map(([big, of, below], i) => figure(this.block.labels[i], big, of, below)));
    this.says.textContent = one.says ?? "";
    this.says.hidden = !one.says;
    if (!isFirst) this.onmove(one);
  }

  /** Paint an edit at once: its columns arrive later. */
  edit(one) {
    const at = this.policies.findIndex(({ number }) => number === (one.number ?? one.began));
    this.edited = one.number === null ? one : null;
    this.move(at < 0 ? this.at : at, true);
    this.ring.setAttribute("cx", this.xs[this.at]);
    this.ring.setAttribute("cy", this.y(this.policies[this.at].loss));
  }

  choose() {
    this.onchoose(this.policies[this.at]);
  }
}

const name = (one) => one.name ?? (one.number === null ? `an edited policy, from policy ${one.began ?? "–"}` : `policy ${one.number}`);
export const figure = (label, big, of, below) => h("div", {}, h("dt", {}, label), h("dd", { class: "big" }, big, of ? h("em", {}, of) : ""), h("dd", { class: "below" }, below));
