// The map alone: voile's own operations in voile's own order, and so the same bits.
import { tables } from "./voile_tables.mjs";

const LARGEST = 2 ** 52; // doubles from here on are whole
const GRAINS = 2 ** 44; // what is sent is a multiple of 2^-44
const MARGIN = 2 ** -20; // of a cell: see codec/lattice.py
const RANGE = 8; // normal scores of a plausible reading

const { columns, lattice, numbers, plans, steps } = tables;
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
  const low = numbers[grid], high = numbers[grid + n - 1];
  const z = v.slice(), order = [];
  for (let k = 0; k < columns; k++) {
    const j = plan[at++], curve = plan[at++];
    let shift = 0, scale = 1;
    for (const before of order) {
      const mean = plan[at++], spread = plan[at++];
      const held = z[before] < low ? low : z[before] > high ? high : z[before];
      const i = pieceOf(grid, n, held);
      shift += onPiece(grid, mean, i, held);
      scale *= onPiece(grid, spread, i, held);
    }
    order.push(j);
    if (back) v[j] = line(curve, grid, n, z[j]) / scale + shift;
    else v[j] = z[j] = line(grid, curve, n, (v[j] - shift) * scale);
  }
}

const KINDS = [affine, bend, triangular];

function forward(which, v) {
  for (const { kind, at } of steps) KINDS[kind](plans[which], at, v, 0);
}

function inverse(which, v) {
  for (let k = steps.length - 1; k >= 0; k--) {
    KINDS[steps[k].kind](plans[which], steps[k].at, v, 1);
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
 * guess, never the same for two readings.
 */
export function encode(which, x, draw) {
  check(which, x);
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
  forward(which, v);
  let far = false;
  for (let j = 0; j < columns; j++) {
    v[j] = whole(v[j] * GRAINS) / GRAINS + 0; // no -0
    far ||= !(Math.abs(v[j]) <= LARGEST);
  }
  const z = v.slice();
  inverse(which, v);
  for (let j = 0; j < columns; j++) {
    far ||= !(Math.abs(placeOf(j, v[j]) - k[j]) < 0.5 - MARGIN / 2);
  }
  if (far) throw new VoileError("far", "a reading lies too far out to be carried exactly");
  return z;
}

/** Return the reading of a message. */
export function decode(which, z) {
  check(which, z);
  let v = Float64Array.from(z);
  inverse(which, v);
  v = nearest(v);
  const score = v.slice();
  forward(which, score);
  if (!score.every((one) => Math.abs(one) <= RANGE)) {
    throw new VoileError("implausible", "a message decodes to what no reading can be");
  }
  return v;
}
