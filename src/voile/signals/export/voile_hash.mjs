// SHA-256 (FIPS 180-4) and HMAC (RFC 2104), under keys of at most 64 bytes. Web Crypto would have
// every call wait, and what Node has is in no browser.

const K = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);
const FIRST = Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);

const now = new Int32Array(8); // one for all, since no call here waits

// V8 inlines any number of functions this small, but few that call others
const turned = (v, n) => (v >>> n) | (v << (32 - n));
const choose = (e, f, g) => g ^ (e & (f ^ g));

export function join(...parts) {
  const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const PADDING = 72; // the longest, in bytes

/** Bytes to be hashed, with room for the padding behind them. */
export class Room {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset);
  }

  static of(data) {
    return new Room(join(data, new Uint8Array(PADDING)));
  }
}

// a loop, since a call of set costs more than so few words
function copy(to, from) {
  for (let i = 0; i < 8; i++) to[i] = from[i];
}

/** Take a block into a state: eight rounds a pass, the words of the schedule in no array. */
function compress(state, view, at) {
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  let w0 = view.getInt32(at), w1 = view.getInt32(at + 4);
  let w2 = view.getInt32(at + 8), w3 = view.getInt32(at + 12);
  let w4 = view.getInt32(at + 16), w5 = view.getInt32(at + 20);
  let w6 = view.getInt32(at + 24), w7 = view.getInt32(at + 28);
  let w8 = view.getInt32(at + 32), w9 = view.getInt32(at + 36);
  let w10 = view.getInt32(at + 40), w11 = view.getInt32(at + 44);
  let w12 = view.getInt32(at + 48), w13 = view.getInt32(at + 52);
  let w14 = view.getInt32(at + 56), w15 = view.getInt32(at + 60);
  let p, q = b ^ c; // the majority of a, b and c is b, but where b differs from both
  for (let i = 0; i < 64; i += 8) {
    h = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choose(e, f, g) + K[i] + w0) | 0;
    d = (d + h) | 0;
    h = (h + (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + (b ^ ((p = a ^ b) & q))) | 0;
    g = (g + (turned(d, 6) ^ turned(d, 11) ^ turned(d, 25)) + choose(d, e, f) + K[i + 1] + w1) | 0;
    c = (c + g) | 0;
    g = (g + (turned(h, 2) ^ turned(h, 13) ^ turned(h, 22)) + (a ^ ((q = h ^ a) & p))) | 0;
    f = (f + (turned(c, 6) ^ turned(c, 11) ^ turned(c, 25)) + choose(c, d, e) + K[i + 2] + w2) | 0;
    b = (b + f) | 0;
    f = (f + (turned(g, 2) ^ turned(g, 13) ^ turned(g, 22)) + (h ^ ((p = g ^ h) & q))) | 0;
    e = (e + (turned(b, 6) ^ turned(b, 11) ^ turned(b, 25)) + choose(b, c, d) + K[i + 3] + w3) | 0;
    a = (a + e) | 0;
    e = (e + (turned(f, 2) ^ turned(f, 13) ^ turned(f, 22)) + (g ^ ((q = f ^ g) & p))) | 0;
    d = (d + (turned(a, 6) ^ turned(a, 11) ^ turned(a, 25)) + choose(a, b, c) + K[i + 4] + w4) | 0;
    h = (h + d) | 0;
    d = (d + (turned(e, 2) ^ turned(e, 13) ^ turned(e, 22)) + (f ^ ((p = e ^ f) & q))) | 0;
    c = (c + (turned(h, 6) ^ turned(h, 11) ^ turned(h, 25)) + choose(h, a, b) + K[i + 5] + w5) | 0;
    g = (g + c) | 0;
    c = (c + (turned(d, 2) ^ turned(d, 13) ^ turned(d, 22)) + (e ^ ((q = d ^ e) & p))) | 0;
    b = (b + (turned(g, 6) ^ turned(g, 11) ^ turned(g, 25)) + choose(g, h, a) + K[i + 6] + w6) | 0;
    f = (f + b) | 0;
    b = (b + (turned(c, 2) ^ turned(c, 13) ^ turned(c, 22)) + (d ^ ((p = c ^ d) & q))) | 0;
    a = (a + (turned(f, 6) ^ turned(f, 11) ^ turned(f, 25)) + choose(f, g, h) + K[i + 7] + w7) | 0;
    e = (e + a) | 0;
    a = (a + (turned(b, 2) ^ turned(b, 13) ^ turned(b, 22)) + (c ^ ((q = b ^ c) & p))) | 0;
    if (i < 48) {
      w0 = (w0 + (turned(w1, 7) ^ turned(w1, 18) ^ (w1 >>> 3)) + w9 +
        (turned(w14, 17) ^ turned(w14, 19) ^ (w14 >>> 10))) | 0;
      w1 = (w1 + (turned(w2, 7) ^ turned(w2, 18) ^ (w2 >>> 3)) + w10 +
        (turned(w15, 17) ^ turned(w15, 19) ^ (w15 >>> 10))) | 0;
      w2 = (w2 + (turned(w3, 7) ^ turned(w3, 18) ^ (w3 >>> 3)) + w11 +
        (turned(w0, 17) ^ turned(w0, 19) ^ (w0 >>> 10))) | 0;
      w3 = (w3 + (turned(w4, 7) ^ turned(w4, 18) ^ (w4 >>> 3)) + w12 +
        (turned(w1, 17) ^ turned(w1, 19) ^ (w1 >>> 10))) | 0;
      w4 = (w4 + (turned(w5, 7) ^ turned(w5, 18) ^ (w5 >>> 3)) + w13 +
        (turned(w2, 17) ^ turned(w2, 19) ^ (w2 >>> 10))) | 0;
      w5 = (w5 + (turned(w6, 7) ^ turned(w6, 18) ^ (w6 >>> 3)) + w14 +
        (turned(w3, 17) ^ turned(w3, 19) ^ (w3 >>> 10))) | 0;
      w6 = (w6 + (turned(w7, 7) ^ turned(w7, 18) ^ (w7 >>> 3)) + w15 +
        (turned(w4, 17) ^ turned(w4, 19) ^ (w4 >>> 10))) | 0;
      w7 = (w7 + (turned(w8, 7) ^ turned(w8, 18) ^ (w8 >>> 3)) + w0 +
        (turned(w5, 17) ^ turned(w5, 19) ^ (w5 >>> 10))) | 0;
    }
    const v0 = w0, v1 = w1, v2 = w2, v3 = w3, v4 = w4, v5 = w5, v6 = w6, v7 = w7;
    w0 = w8, w1 = w9, w2 = w10, w3 = w11, w4 = w12, w5 = w13, w6 = w14, w7 = w15;
    w8 = v0, w9 = v1, w10 = v2, w11 = v3, w12 = v4, w13 = v5, w14 = v6, w15 = v7;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

/** Take in the whole blocks of a room between two places. */
function take(state, room, from, to) {
  for (let at = from; at < to; at += 64) compress(state, room.view, at);
}

/** Take in the rest of a room's first n bytes, from a place on, and the padding after so many. */
function finish(room, from, n, total) {
  const { bytes, view } = room, end = (n + 72) & -64;
  bytes[n] = 0x80;
  for (let at = n + 1; at < end - 8; at++) bytes[at] = 0;
  view.setInt32(end - 8, total / 2 ** 29);
  view.setInt32(end - 4, total << 3);
  take(now, room, from, end);
}

function write(out, state) {
  for (let i = 0; i < 8; i++) {
    const word = state[i];
    out[4 * i] = word >>> 24;
    out[4 * i + 1] = word >>> 16;
    out[4 * i + 2] = word >>> 8;
    out[4 * i + 3] = word;
  }
  return out;
}

/** Return the digest of a room's first n bytes, in the first 32 of out. */
export function digest(room, n, out = new Uint8Array(32)) {
  copy(now, FIRST);
  finish(room, 0, n, n);
  return write(out, now);
}

export const sha256 = (data) => digest(Room.of(data), data.length);

const second = new Room(new Uint8Array(64)); // what the outer hash is of
second.bytes[32] = 0x80;
second.view.setInt32(60, (64 + 32) * 8);

/** MACs under one key, whose two blocks are taken in once. */
export class Mac {
  #inner;
  #outer;
  #from; // how much of a room the inner state has taken in

  constructor(inner, outer, from) {
    this.#inner = inner;
    this.#outer = outer;
    this.#from = from;
  }

  static under(key) {
    const states = [0x36, 0x5c].map((pad) => {
      const state = FIRST.slice(), block = new Room(new Uint8Array(64));
      for (let i = 0; i < 64; i++) block.bytes[i] = i < key.length ? key[i] ^ pad : pad;
      take(state, block, 0, 64);
      return state;
    });
    return new Mac(...states, 0);
  }

  /** Return the MACs of rooms that begin with the whole blocks of this one up to a place. */
  after(room, to) {
    const inner = this.#inner.slice();
    take(inner, room, this.#from, to);
    return new Mac(inner, this.#outer, to);
  }

  /** Return the MAC of a room's first n bytes, in the first 32 of out. */
  of(room, n, out = new Uint8Array(32)) {
    copy(now, this.#inner);
    finish(room, this.#from, n, 64 + n);
    for (let i = 0; i < 8; i++) second.view.setInt32(4 * i, now[i]);
    copy(now, this.#outer);
    compress(now, second.view, 0);
    return write(out, now);
  }

  ofBytes(data) {
    return this.of(Room.of(data), data.length);
  }
}

export const hmac = (key, data) => Mac.under(key).ofBytes(data);
