// The map alone: voile's own operations in voile's own order, and so the same bits.
import { tables } from "./voile_tables.mjs";

const LARGEST = 2 ** 52; // doubles from here on are whole
const GRAINS = 2 ** 44; // what is sent is a multiple of 2^-44
const MARGIN = 2 ** -20; // of a cell: see codec/lattice.py
const RANGE = 8; // normal scores of a plausible reading

const { columns, grids, lattice, numbers, plans, steps, wholes } = tables;
export const DRAW = 8 * columns; // bytes of dither that one reading takes

// one of each, since no call here waits: what a step is given, the order of columns, lattice points,
// what is sent
const given = new Float64Array(columns), order = new Int32Array(columns);
const point = new Float64Array(columns), sent = new Float64Array(columns);

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

/** The piece of v among n knots: as many reads whatever v is, and no branch to be mispredicted. */
function pieceOf(x, n, v) {
  let at = x;
  for (let left = n - 2; left > 0; ) {
    const half = (left + 1) >> 1;
    at += half & -(numbers[at + half] <= v | 0);
    left -= half;
  }
  return at - x;
}

function onPiece(x, y, i, v) {
  const slope = (numbers[y + i + 1] - numbers[y + i]) / (numbers[x + i + 1] - numbers[x + i]);
  return numbers[y + i] + slope * (v - numbers[x + i]);
}

const line = (x, y, n, v) => onPiece(x, y, pieceOf(x, n, v), v);

/** Copy numbers into given: a call of set costs more than so few. */
function give(v) {
  for (let j = 0; j < columns; j++) given[j] = v[j];
}

function times(matrix, v) {
  give(v);
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
  const z = given;
  give(v);
  for (let k = 0; k < columns; k++) {
    const j = plan[at++], curve = plan[at++];
    let shift = 0, scale = 1;
    for (let before = 0; before < k; before++) {
      const mean = plan[at++], spread = plan[at++], near = z[order[before]];
      const held = near < low ? low : near > high ? high : near;
      const i = pieceOf(bent, m, held);
      shift += onPiece(bent, mean, i, held);
      scale *= onPiece(bent, spread, i, held);
    }
    order[k] = j;
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

/**
 * The frame of side columns at their levels, see codec/conditional.py: per column its shift, then
 * per column its diagonal, then the slopes in the columns before.
 */
function frameOf(plan, at, levels) {
  const order = at + 1, rest = order + columns;
  const share = numbers[plan[rest]], matrix = plan[rest + 1], shift = plan[rest + 2];
  const ladder = plan[rest + 3], terms = plan[rest + 4];
  const frame = new Float64Array(2 * columns + columns * (columns - 1) / 2);
  for (let k = 0, term = rest + 5; k < terms; k++, term += 3) {
    addTable(plan[term], plan[term + 1], plan[term + 2], levels, frame);
  }
  for (let k = 0, slope = 2 * columns; k < columns; k++) {
    const j = plan[order + k], total = frame[columns + j];
    const octave = Math.floor(total / 256);
    const spread = numbers[ladder + total - 256 * octave] * powerOf2(octave);
    frame[j] = share * (frame[j] * 2 ** -24) + numbers[shift + j];
    frame[columns + j] = share * spread + numbers[matrix + j * columns + j];
    for (let i = 0; i < k; i++, slope++) {
      const before = matrix + j * columns + plan[order + i];
      frame[slope] = share * (frame[slope] * 2 ** -24) + numbers[before];
    }
  }
  return frame;
}

function conditional(plan, at, v, back, frame) {
  const turned = plan[at] !== back, order = at + 1;
  give(v);
  // turned, or undone, the columns before are those that are found already
  const before = turned ? v : given;
  for (let k = 0, slope = 2 * columns; k < columns; k++) {
    const j = plan[order + k], diagonal = frame[columns + j];
    let moved = frame[j];
    for (let i = 0; i < k; i++) moved += frame[slope++] * before[plan[order + i]];
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

function forward({ plan, frames }, v) {
  for (let k = 0; k < steps.length; k++) KINDS[steps[k].kind](plan, steps[k].at, v, 0, frames[k]);
}

function inverse({ plan, frames }, v) {
  for (let k = steps.length; k-- > 0; ) KINDS[steps[k].kind](plan, steps[k].at, v, 1, frames[k]);
}

/** Return the map of a class beside known columns, worked out once for all readings. */
export function mapOf(which, known = []) {
  if (!Number.isInteger(which) || which < 0 || which >= plans.length) {
    throw new VoileError("class", "the kit has no such class");
  }
  const levels = levelsOf(known), plan = plans[which], frames = Array(steps.length).fill(null);
  for (let k = 0; k < steps.length; k++) {
    if (KINDS[steps[k].kind] === conditional) frames[k] = frameOf(plan, steps[k].at, levels);
  }
  return { plan, frames };
}

// where a point lies on a column's lattice, in cells, and back
const placeOf = (j, v) => (v * lattice[j].per - lattice[j].offset) / lattice[j].step;
const valueAt = (j, k) => (lattice[j].offset + lattice[j].step * k) / lattice[j].per;

/** A point of a cell, from 53 of 64 bits: two halves, since a product of 64 would be rounded. */
function dither(draw, at) {
  const low = draw[at] | (draw[at + 1] << 8) | (draw[at + 2] << 16) | (draw[at + 3] << 24);
  const high = draw[at + 4] | (draw[at + 5] << 8) | (draw[at + 6] << 16) | (draw[at + 7] << 24);
  const bits = (high >>> 0) * 2 ** 21 + (low >>> 11);
  return (bits * 2 ** -53 - 0.5) * (1 - 2 * MARGIN);
}

/** Refuse what are not as many finite numbers as there are columns. */
function check(v) {
  let sound = v.length === columns;
  for (let j = 0; j < columns; j++) sound &&= Number.isFinite(v[j]);
  if (!sound) throw new VoileError("missing", "a number is missing or infinite");
}

/** Write the lattice's values nearest to a reading's into near, which is returned. */
export function nearest(x, near) {
  for (let j = 0; j < columns; j++) near[j] = valueAt(j, whole(placeOf(j, x[j])));
  return near;
}

/**
 * Return the message of a reading: the class's number, its columns, and DRAW bytes that nobody can
 * guess, never the same for two readings. known: the known columns, if the kit has any, names by
 * their number in map.json, what is missing as NaN; both ends must have the same.
 */
export const encode = (which, x, draw, known) => encodeBy(mapOf(which, known), x, draw);

/** Return the message of a reading by a map of mapOf. */
export function encodeBy(map, x, draw) {
  check(x);
  if (!(draw instanceof Uint8Array) || draw.length !== DRAW) {
    throw new VoileError("entropy", "the entropy is no Uint8Array, or of another length");
  }
  const k = point, v = sent;
  for (let j = 0; j < columns; j++) {
    const { step, per, offset } = lattice[j];
    k[j] = whole(placeOf(j, x[j]));
    const near = Math.abs(valueAt(j, k[j]) - x[j]) <= 1e-6 * (step / per);
    if (!(Math.abs(k[j]) * step + step + offset < LARGEST) || !near) {
      throw new VoileError("off", "a reading contradicts its column's resolution");
    }
    v[j] = valueAt(j, k[j] + dither(draw, 8 * j));
  }
  forward(map, v);
  const z = []; // plain, to be stored as JSON
  let far = false;
  for (let j = 0; j < columns; j++) {
    z.push((v[j] = whole(v[j] * GRAINS) / GRAINS + 0)); // no -0
    far ||= !(Math.abs(v[j]) <= LARGEST);
  }
  inverse(map, v);
  for (let j = 0; j < columns; j++) {
    far ||= !(Math.abs(placeOf(j, v[j]) - k[j]) < 0.5 - MARGIN / 2);
  }
  if (far) throw new VoileError("far", "a reading lies too far out to be carried exactly");
  return z;
}

/** Return the reading of a message. */
export function decode(which, z, known) {
  const map = mapOf(which, known);
  check(z);
  const v = new Float64Array(columns);
  for (let j = 0; j < columns; j++) v[j] = z[j];
  inverse(map, v);
  nearest(v, v);
  const score = v.slice();
  forward(map, score);
  if (!score.every((one) => Math.abs(one) <= RANGE)) {
    throw new VoileError("implausible", "a message decodes to what no reading can be");
  }
  return v;
}
