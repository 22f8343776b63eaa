// The map alone: voile's own operations in voile's own order, and so the same bits.
import { tables } from "./voile_tables.mjs";

const LARGEST = 2 ** 52; // doubles from here on are whole
const GRAINS = 2 ** 44; // what is sent is a multiple of 2^-44
const MARGIN = 2 ** -20; // of a cell: see codec/lattice.py
const RANGE = 8; // normal scores of a plausible reading

const { columns, grids, lattice, numbers, plans, steps, wholes } = tables;
export const DRAW = 8 * columns; // bytes of dither that one reading takes

export class VoileError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "VoileError";
    this.code = code;
  }
}

/** The nearest whole number, halves to even. */
function whole(v) {
  if (!(Math.abs(v) < LARGEST)) return v;
  return v < 0 ? v - LARGEST + LARGEST : v + LARGEST - LARGEST;
}

/** The piece of v among n knots: as many reads whatever v is. */
function pieceOf(x, n, v) {
  let at = 0;
  for (let left = n - 2; left > 0; ) {
    const half = (left + 1) >> 1;
    at += numbers[x + at + half] <= v ? half : 0;
    left -= half;
  }
  return at;
}

function onPiece(x, y, i, v) {
  const slope = (numbers[y + i + 1] - numbers[y + i]) / (numbers[x + i + 1] - numbers[x + i]);
  return numbers[y + i] + slope * (v - numbers[x + i]);
}

const line = (x, y, n, v) => onPiece(x, y, pieceOf(x, n, v), v);

function times(matrix, v) {
  const given = v.slice();
  for (let j = 0; j < columns; j++) {
    let total = 0;
    for (let i = 0; i < columns; i++) total += numbers[matrix + j * columns + i] * given[i];
    v[j] = total;
  }
}

// each kind of step is a function of its place in the plan; back says whether it is undone
function affine(plan, at, v, back) {
  const shift = plan[at + 2];
  if (back) for (let j = 0; j < columns; j++) v[j] -= numbers[shift + j];
  times(plan[at + back], v);
  if (!back) for (let j = 0; j < columns; j++) v[j] += numbers[shift + j];
}

function bend(plan, at, v, back) {
  for (let j = 0; j < columns; j++) {
    const x = plan[at + 1 + 2 * j], y = plan[at + 2 + 2 * j];
    v[j] = back ? line(y, x, plan[at], v[j]) : line(x, y, plan[at], v[j]);
  }
}

function triangular(plan, at, v, back) {
  const n = plan[at++], grid = plan[at++];
  const bent = grid + plan[at++], m = plan[at++]; // means and spreads are flat beyond
  const low = numbers[bent], high = numbers[bent + m - 1];
  const z = v.slice(), order = [];
  for (let k = 0; k < columns; k++) {
    const j = plan[at++], curve = plan[at++];
    let shift = 0, scale = 1;
    for (const before of order) {
      const mean = plan[at++], spread = plan[at++];
      const held = z[before] < low ? low : z[before] > high ? high : z[before];
      const i = pieceOf(bent, m, held);
      shift += onPiece(bent, mean, i, held);
      scale *= onPiece(bent, spread, i, held);
    }
    order.push(j);
    if (back) v[j] = line(curve, grid, n, z[j]) / scale + shift;
    else v[j] = z[j] = line(grid, curve, n, (v[j] - shift) * scale);
  }
}

/** Add a table's sums at the levels: between two levels in proportion, rounded down. */
function addTable(a, b, first, levels, total) {
  const m = b < 0 ? 1 : grids[b].nodes + 1, outputs = total.length;
  const wa = grids[a].width, wb = b < 0 ? 1 : grids[b].width;
  const one = levels[a], other = b < 0 ? { left: 0, share: 0 } : levels[b];
  for (let o = 0; o < outputs; o++) {
    let sum = 0;
    for (let i = 0; i <= (one.share > 0 ? 1 : 0); i++) {
      for (let j = 0; j <= (other.share > 0 ? 1 : 0); j++) {
        const at = first + ((one.left + i) * m + other.left + j) * outputs + o;
        const weigh = (i ? one.share : wa - one.share) * (j ? other.share : wb - other.share);
        sum += wholes[at] * weigh;
      }
    }
    total[o] += Math.floor(sum / (wa * wb));
  }
}

const exponent = new DataView(new ArrayBuffer(8));

/** A power of 2: the exponent of a double. */
function powerOf2(n) {
  exponent.setUint32(0, (n + 1023) * 2 ** 20);
  return exponent.getFloat64(0);
}

/** The frame of side columns: see codec/conditional.py. */
function conditional(plan, at, v, back, levels) {
  const turned = plan[at] !== back, order = at + 1, rest = order + columns;
  const share = numbers[plan[rest]], matrix = plan[rest + 1], shift = plan[rest + 2];
  const ladder = plan[rest + 3], terms = plan[rest + 4];
  const total = new Float64Array(2 * columns + columns * (columns - 1) / 2), given = v.slice();
  for (let k = 0, term = rest + 5; k < terms; k++, term += 3) {
    addTable(plan[term], plan[term + 1], plan[term + 2], levels, total);
  }
  let slopes = 2 * columns;
  for (let k = 0; k < columns; k++) {
    const j = plan[order + k];
    const octave = Math.floor(total[columns + j] / 256);
    const spread = numbers[ladder + total[columns + j] - 256 * octave] * powerOf2(octave);
    const diagonal = share * spread + numbers[matrix + j * columns + j];
    let moved = share * (total[j] * 2 ** -24) + numbers[shift + j];
    for (let i = 0; i < k; i++) {
      const slope = share * (total[slopes++] * 2 ** -24), before = plan[order + i];
      // turned, or undone, the columns before are those that are found already
      moved += (slope + numbers[matrix + j * columns + before]) * (turned ? v : given)[before];
    }
    v[j] = turned ? (given[j] - moved) / diagonal : moved + diagonal * given[j];
  }
}

/** Return where known columns lie on their grids. */
function levelsOf(known) {
  if (known.length !== grids.length) {
    throw new VoileError("known", "the map takes other known columns");
  }
  return grids.map(({ step, per, offset, first, width, nodes }, j) => {
    if (Number.isNaN(known[j])) return { left: nodes, share: 0 };
    const k = whole((known[j] * per - offset) / step);
    const near = Math.abs((offset + step * k) / per - known[j]) <= 1e-6 * (step / per);
    if (!(Math.abs(k) * step + step + offset < LARGEST) || !near) {
      throw new VoileError("known", "a known column contradicts its resolution");
    }
    const held = Math.min(Math.max(k - first, 0), (nodes - 1) * width);
    return { left: Math.floor(held / width), share: held % width };
  });
}

const KINDS = [affine, bend, triangular, conditional];

function forward(which, v, levels) {
  for (const { kind, at } of steps) KINDS[kind](plans[which], at, v, 0, levels);
}

function inverse(which, v, levels) {
  for (let k = steps.length - 1; k >= 0; k--) {
    KINDS[steps[k].kind](plans[which], steps[k].at, v, 1, levels);
  }
}

// where a point lies on a column's lattice, in cells, and back
const placeOf = (j, v) => (v * lattice[j].per - lattice[j].offset) / lattice[j].step;
const valueAt = (j, k) => (lattice[j].offset + lattice[j].step * k) / lattice[j].per;

/** A point of a cell, from 53 of 64 bits: two halves, since a product of 64 would be rounded. */
function dither(draw, at) {
  const view = new DataView(draw.buffer, draw.byteOffset + at, 8);
  const bits = view.getUint32(4, true) * 2 ** 21 + (view.getUint32(0, true) >>> 11);
  return (bits * 2 ** -53 - 0.5) * (1 - 2 * MARGIN);
}

function check(which, v) {
  if (!Number.isInteger(which) || which < 0 || which >= plans.length) {
    throw new VoileError("class", "the kit has no such class");
  }
  if (v.length !== columns || !Array.prototype.every.call(v, Number.isFinite)) {
    throw new VoileError("missing", "a number is missing or infinite");
  }
}

/** Return the lattice's values nearest to a reading's. */
export const nearest = (x) =>
  Float64Array.from({ length: columns }, (_, j) => valueAt(j, whole(placeOf(j, x[j]))));

/**
 * Return the message of a reading: the class's number, its columns, and DRAW bytes that nobody can
 * guess, never the same for two readings. known: the known columns, if the kit has any, names by
 * their number in map.json, what is missing as NaN; both ends must have the same.
 */
export function encode(which, x, draw, known = []) {
  check(which, x);
  const levels = levelsOf(known);
  if (!(draw instanceof Uint8Array) || draw.length !== DRAW) {
    throw new VoileError("entropy", "the entropy is no Uint8Array, or of another length");
  }
  const k = new Float64Array(columns), v = new Float64Array(columns);
  for (let j = 0; j < columns; j++) {
    const { step, per, offset } = lattice[j];
    k[j] = whole(placeOf(j, x[j]));
    const near = Math.abs(valueAt(j, k[j]) - x[j]) <= 1e-6 * (step / per);
    if (!(Math.abs(k[j]) * step + step + offset < LARGEST) || !near) {
      throw new VoileError("off", "a reading contradicts its column's resolution");
    }
    v[j] = valueAt(j, k[j] + dither(draw, 8 * j));
  }
  forward(which, v, levels);
  let far = false;
  for (let j = 0; j < columns; j++) {
    v[j] = whole(v[j] * GRAINS) / GRAINS + 0; // no -0
    far ||= !(Math.abs(v[j]) <= LARGEST);
  }
  const z = v.slice();
  inverse(which, v, levels);
  for (let j = 0; j < columns; j++) {
    far ||= !(Math.abs(placeOf(j, v[j]) - k[j]) < 0.5 - MARGIN / 2);
  }
  if (far) throw new VoileError("far", "a reading lies too far out to be carried exactly");
  return z;
}

/** Return the reading of a message. */
export function decode(which, z, known = []) {
  check(which, z);
  const levels = levelsOf(known);
  let v = Float64Array.from(z);
  inverse(which, v, levels);
  v = nearest(v);
  const score = v.slice();
  forward(which, score, levels);
  if (!score.every((one) => Math.abs(one) <= RANGE)) {
    throw new VoileError("implausible", "a message decodes to what no reading can be");
  }
  return v;
}
