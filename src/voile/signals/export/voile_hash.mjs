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

const words = new Int32Array(64), now = new Int32Array(8); // one of each: no call here waits

// The standard's functions, each rotation spelt out: V8 inlines so much code into one, and no more.
const sigma0 = (v) => ((v >>> 7) | (v << 25)) ^ ((v >>> 18) | (v << 14)) ^ (v >>> 3);
const sigma1 = (v) => ((v >>> 17) | (v << 15)) ^ ((v >>> 19) | (v << 13)) ^ (v >>> 10);
const sum0 = (v) => ((v >>> 2) | (v << 30)) ^ ((v >>> 13) | (v << 19)) ^ ((v >>> 22) | (v << 10));
const sum1 = (v) => ((v >>> 6) | (v << 26)) ^ ((v >>> 11) | (v << 21)) ^ ((v >>> 25) | (v << 7));
const choose = (e, f, g) => g ^ (e & (f ^ g));
const most = (a, b, c) => (a & b) | (c & (a | b));

export function join(...parts) {
  const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

// loops, since calls of set and fill cost more than so few words
function copy(to, from) {
  for (let i = 0; i < 8; i++) to[i] = from[i];
}

function clear(from) {
  for (let i = from; i < 16; i++) words[i] = 0;
}

/** Take the block in words into a state: four rounds a pass, the schedule 16 words ahead of them. */
function compress(state) {
  const w = words;
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7], y = w[14], z = w[15];
  for (let i = 0; i < 64; i += 4) {
    const w0 = w[i], w1 = w[i + 1], w2 = w[i + 2], w3 = w[i + 3];
    if (i < 48) {
      y = w[i + 16] = (w0 + sigma0(w1) + w[i + 9] + sigma1(y)) | 0;
      z = w[i + 17] = (w1 + sigma0(w2) + w[i + 10] + sigma1(z)) | 0;
      y = w[i + 18] = (w2 + sigma0(w3) + w[i + 11] + sigma1(y)) | 0;
      z = w[i + 19] = (w3 + sigma0(w[i + 4]) + w[i + 12] + sigma1(z)) | 0;
    }
    h = (h + sum1(e) + choose(e, f, g) + K[i] + w0) | 0;
    d = (d + h) | 0;
    h = (h + sum0(a) + most(a, b, c)) | 0;
    g = (g + sum1(d) + choose(d, e, f) + K[i + 1] + w1) | 0;
    c = (c + g) | 0;
    g = (g + sum0(h) + most(h, a, b)) | 0;
    f = (f + sum1(c) + choose(c, d, e) + K[i + 2] + w2) | 0;
    b = (b + f) | 0;
    f = (f + sum0(g) + most(g, h, a)) | 0;
    e = (e + sum1(b) + choose(b, c, d) + K[i + 3] + w3) | 0;
    a = (a + e) | 0;
    e = (e + sum0(f) + most(f, g, h)) | 0;
    const a4 = a, b4 = b, c4 = c, d4 = d;
    a = e, b = f, c = g, d = h;
    e = a4, f = b4, g = c4, h = d4;
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

/** Take in the whole blocks among data[from..to); return where they end. */
function take(state, data, from, to) {
  let at = from;
  while (to - at >= 64) {
    for (let i = 0; i < 16; i++, at += 4) {
      words[i] = (data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3];
    }
    compress(state);
  }
  return at;
}

/** Take in data[from..to) and the padding, after so many bytes before; now is then the digest. */
function finish(before, data, from, to) {
  const rest = take(now, data, from, to), n = to - rest, total = before + to - from;
  clear(0);
  for (let i = 0; i < n; i++) words[i >> 2] |= data[rest + i] << (24 - 8 * (i & 3));
  words[n >> 2] |= 0x80 << (24 - 8 * (n & 3));
  if (n >= 56) {
    compress(now);
    clear(0);
  }
  words[14] = total / 2 ** 29;
  words[15] = total << 3;
  compress(now);
}

function bytesOf(state, out = new Uint8Array(32)) {
  for (let i = 0; i < 8; i++) {
    const word = state[i];
    out[4 * i] = word >>> 24;
    out[4 * i + 1] = word >>> 16;
    out[4 * i + 2] = word >>> 8;
    out[4 * i + 3] = word;
  }
  return out;
}

export function sha256(data) {
  copy(now, FIRST);
  finish(0, data, 0, data.length);
  return bytesOf(now);
}

/** MACs under one key, whose two blocks are taken in once. */
export class Mac {
  #inner;
  #outer;
  #before; // bytes that the inner state has taken in

  constructor(inner, outer, before) {
    this.#inner = inner;
    this.#outer = outer;
    this.#before = before;
  }

  static under(key) {
    const states = [0x36, 0x5c].map((pad) => {
      const state = FIRST.slice(), block = new Uint8Array(64).fill(pad);
      for (let i = 0; i < key.length; i++) block[i] ^= key[i];
      take(state, block, 0, 64);
      return state;
    });
    return new Mac(...states, 64);
  }

  /** Return the MACs of what goes on after these whole blocks, which are taken in once. */
  after(blocks) {
    const inner = this.#inner.slice();
    take(inner, blocks, 0, blocks.length);
    return new Mac(inner, this.#outer, this.#before + blocks.length);
  }

  /** Return the MAC of data[from..to), or what it is then the first 32 bytes of. */
  of(data, from = 0, to = data.length, out = new Uint8Array(32)) {
    copy(now, this.#inner);
    finish(this.#before, data, from, to);
    clear(8);
    copy(words, now); // the inner digest, and its padding
    words[8] = 1 << 31;
    words[15] = (64 + 32) << 3;
    copy(now, this.#outer);
    compress(now);
    return bytesOf(now, out);
  }
}

export const hmac = (key, data) => Mac.under(key).of(data);
