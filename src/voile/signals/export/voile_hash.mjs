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
const FIRST = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

const words = new Int32Array(64), tail = new Uint8Array(128); // one of each: no call here waits

const turned = (v, n) => (v >>> n) | (v << (32 - n));

export function join(...parts) {
  const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Take a block of 64 bytes into a state of eight words. */
function take(state, data, at) {
  const w = words;
  for (let i = 0; i < 16; i++, at += 4) {
    w[i] = (data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3];
  }
  for (let i = 16; i < 64; i++) {
    const a = w[i - 15], b = w[i - 2];
    const low = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3);
    const high = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10);
    w[i] = (w[i - 16] + low + w[i - 7] + high) | 0;
  }
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i++) {
    const high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = (h + high + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
    const low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const two = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
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

/** Return the digest of data that follow on a state of so many bytes, whole blocks of them. */
function digest(state, before, data) {
  let at = 0;
  for (; data.length - at >= 64; at += 64) take(state, data, at);
  const left = data.length - at, size = left < 56 ? 64 : 128, total = before + data.length;
  for (let i = 0; i < size; i++) tail[i] = i < left ? data[at + i] : 0;
  tail[left] = 0x80;
  for (let i = 1, rest = total * 8; i <= 8; i++, rest = Math.floor(rest / 256)) tail[size - i] = rest;
  for (let from = 0; from < size; from += 64) take(state, tail, from);
  const out = new Uint8Array(32);
  for (let i = 0; i < 32; i++) out[i] = state[i >> 2] >>> (24 - 8 * (i & 3));
  return out;
}

export const sha256 = (data) => digest(Int32Array.from(FIRST), 0, data);

/** MACs under one key, whose two blocks are taken in once. */
export class Mac {
  #inner;
  #outer;

  constructor(key) {
    [this.#inner, this.#outer] = [0x36, 0x5c].map((pad) => {
      const state = Int32Array.from(FIRST), block = new Uint8Array(64).fill(pad);
      for (let i = 0; i < key.length; i++) block[i] ^= key[i];
      take(state, block, 0);
      return state;
    });
  }

  of(data) {
    return digest(this.#outer.slice(), 64, digest(this.#inner.slice(), 64, data));
  }
}

export const hmac = (key, data) => new Mac(key).of(data);
