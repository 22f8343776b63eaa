// A small device's end in JavaScript: what is sent, proved, stored and acknowledged. No dependency.
//
//     const end = new End(record, { entropy, store }, { topic: "voile", stored });
//     end.send([170, 71.3]);          encodes and stores; then publish end.post() at end.posts,
//     end.hear(payload);              and give it what comes at end.hears
//
// record: the bytes that `voile signals enrol --small` wrote, with the subject's class and key, and
// its known columns if the kit has any: where they change, a new record, and begin without `stored`.
// Dither is drawn from that key: a device that is restored, cloned or begun again encodes a reading
// with the same bits.
// entropy(n): n fresh bytes, as of crypto.getRandomValues; never from a seed in a snapshot.
// store(state): writes a plain object where a loss of power leaves it or the one before, and
// returns true once it is there. stored: what it was given last; none on a device's first start.
import { DRAW, VoileError, encode, nearest } from "./voile_map.mjs";
import { Mac, hmac, join, sha256 } from "./voile_hash.mjs";
import { tables } from "./voile_tables.mjs";

const MAC = 32, HEADER = 36, REPLY = 164, BESIDE = 256, KNOWN = tables.grids.length;
const RECORD = 149 + (KNOWN ? 8 * KNOWN + 32 : 0);
const encoder = new TextEncoder(), decoder = new TextDecoder();
const PAIRS = Array.from({ length: 256 }, (_, one) => one.toString(16).padStart(2, "0"));
const TWO = Array.from({ length: 100 }, (_, two) => `${two}`.padStart(2, "0"));
const bytes = (text) => encoder.encode(text);
const hex = (data) => data.reduce((text, one) => text + PAIRS[one], "");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const MARK = unhex(tables.mark);
const ANSWER = /^\{"check":"([0-9a-f]{16}|)","again":(?:true|false),"refused":"([a-z]{0,15})"\} *$/;

/** Whether bytes are the same, in a time that does not depend on them. */
function same(a, b) {
  let apart = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) apart |= a[i] ^ b[i];
  return apart === 0;
}

/** Write a whole number below 2^53 as eight bytes, the largest first. */
function put(data, at, value) {
  const high = Math.floor(value / 2 ** 32);
  for (let i = 0; i < 4; i++) {
    data[at + i] = high >>> (24 - 8 * i);
    data[at + 4 + i] = value >>> (24 - 8 * i);
  }
}

function big(value, n) {
  const out = new Uint8Array(8);
  put(out, 0, value);
  return out.slice(8 - n);
}

const read = (data) => data.reduce((value, one) => value * 256 + one, 0);

/** Return a place as it stands before what a MAC is of: its length in front. */
function framed(place) {
  const at = bytes(place);
  return join(big(at.length, 4), at);
}

/** Return a multiple of 2^-44 as text, every digit of it: two at a time, from two halves of 22 bits. */
function shown(value) {
  const size = Math.abs(value), units = Math.floor(size), scaled = (size - units) * 2 ** 22;
  let high = Math.floor(scaled), low = (scaled - high) * 2 ** 22, two = 0;
  let text = `${value < 0 ? "-" : ""}${units}.`;
  do {
    low *= 100;
    high = high * 100 + (low >> 22);
    two = high >> 22;
    low &= 0x3fffff;
    high &= 0x3fffff;
    text += TWO[two];
  } while (high | low);
  return two % 10 ? text : text.slice(0, -1);
}

/** Write numbers as eight bytes each, the lowest first. */
function pack(data, at, numbers) {
  const view = new DataView(data.buffer);
  for (let j = 0; j < numbers.length; j++) view.setFloat64(at + 8 * j, numbers[j], true);
}

const shortened = (digest) => hex(digest.subarray(0, 8));

/** Return the digest with one more message: of its numbers, as the line shows them. */
function chain(check, z) {
  const data = new Uint8Array(16 + 8 * z.length);
  encoder.encodeInto(check, data);
  pack(data, 16, z);
  return shortened(sha256(data));
}

function isState(state) {
  const digest = (text) => typeof text === "string" && /^[0-9a-f]{16}$/.test(text);
  return (
    typeof state === "object" && state !== null && Number.isSafeInteger(state.number) &&
    state.number >= 0 && Number.isSafeInteger(state.before) && state.before >= 0 &&
    /^[0-9a-f]{32}$/.test(state.session) && digest(state.check) &&
    (state.letter === "" || digest(state.next)) && typeof state.letter === "string"
  );
}

export class End {
  #mac;
  #which;
  #generation;
  #whose;
  #ways;
  #state;
  #dither;
  #moving; // what dither is drawn from, but for the reading and its number
  #opening; // what the MAC of a message is of, up to its letter, but for its number
  #known = [];
  #proof = new Uint8Array(0);

  constructor(record, ways, { topic = "voile", stored = null } = {}) {
    const own = new Mac(record.slice(85, 117));
    this.#mac = new Mac(own.of(bytes("voile mac")));
    const mac = this.#mac.of(join(framed("device"), record.slice(0, RECORD - MAC)));
    const which = read(record.slice(18, 20));
    if (
      record.length !== RECORD || !same(mac, record.slice(RECORD - MAC)) ||
      hex(record.slice(0, 16)) !== hex(bytes("VOILEDV1")) + tables.mark ||
      which >= tables.plans.length
    ) {
      throw new VoileError("record", "the record is damaged, or of another kit");
    }
    const pseudonym = decoder.decode(record.slice(21, 21 + record[20]));
    this.posts = `${topic}/${pseudonym}/readings`;
    this.hears = `${topic}/${pseudonym}/receipts`;
    this.#dither = new Mac(own.of(bytes("voile dither")));
    this.#which = which;
    this.#generation = read(record.slice(16, 18));
    const beside = record.slice(117, RECORD - MAC), view = new DataView(beside.buffer);
    this.#whose = shortened(sha256(join(record.slice(18, 85), beside)));
    this.#known = tables.grids.map((_, j) => view.getFloat64(8 * j, true));
    this.#proof = beside.slice(8 * KNOWN);
    this.#moving = join(MARK, big(which, 2), new Uint8Array(9), this.#proof, new Uint8Array(DRAW));
    this.#ways = ways;
    if (stored === null) this.beginAgain();
    else if (isState(stored) && stored.mark === tables.mark && stored.whose === this.#whose) {
      this.#state = { ...stored };
      this.#open();
    } else {
      const what = "the stored state is damaged, or of another kit, subject, class or known columns";
      throw new VoileError("state", what);
    }
  }

  /** Begin a new session, after an error "step"; the reading under way is dropped. */
  beginAgain() {
    const session = hex(this.#drawn(16));
    const name = bytes(`${tables.mark} ${session}`);
    // a clinic with other known columns has another digest, and refuses
    const check = shortened(KNOWN ? hmac(this.#proof, name) : sha256(name));
    const own = { mark: tables.mark, whose: this.#whose };
    const before = this.#state ? this.#state.before + this.#state.number : 0;
    this.#keep({ ...own, session, before, number: 0, check, next: "", letter: "" });
    this.#open();
  }

  #open() {
    const versions = join(Uint8Array.of(2, 0), big(this.#generation, 2), MARK);
    const session = unhex(this.#state.session);
    this.#opening = join(framed(this.posts), versions, session, new Uint8Array(8));
  }

  /** Encode a reading and store it as the message under way; beside: a plain object. */
  send(x, beside = {}) {
    const state = this.#state;
    if (state.letter) throw new VoileError("waiting", "a message is under way: post it again");
    const with_it = JSON.stringify(beside);
    if (bytes(with_it).length > BESIDE) {
      throw new VoileError("long", "what goes beside a reading is too long");
    }
    const z = encode(this.#which, x, this.#ditherOf(x), this.#known);
    const on = `{"ahead":1,"after":${state.number},"check":"${state.check}"`;
    const letter = `${on},"values":[${[...z].map(shown).join(",")}],"beside":${with_it}}`;
    this.#keep({ ...state, letter, next: chain(state.check, z) });
  }

  /**
   * Draw the dither of a reading: of the key, the kit, the class, the known columns, the reading and
   * its number.
   */
  #ditherOf(x) {
    const { before, number } = this.#state, data = this.#moving, out = new Uint8Array(DRAW + 32);
    put(data, 10, before + number);
    pack(data, data.length - DRAW, nearest(x));
    for (let at = 0; at < DRAW; at += 32) {
      data[18] = at / 32;
      out.set(this.#dither.of(data), at);
    }
    return out.subarray(0, DRAW);
  }

  /** Return the message under way, the same bytes each time; null where there is none. */
  post() {
    const { number, letter } = this.#state, opening = this.#opening, text = bytes(letter);
    if (!letter) return null;
    put(opening, opening.length - 8, number + 1);
    const whole = new Uint8Array(opening.length + text.length);
    whole.set(opening);
    whole.set(text, opening.length);
    const out = new Uint8Array(MAC + HEADER + text.length);
    out.set(this.#mac.of(whole));
    out.set(whole.subarray(opening.length - HEADER), MAC);
    return out;
  }

  /** Take a reply in; what is not ours, or old, changes nothing. */
  hear(reply) {
    const state = this.#state, rest = reply.slice(MAC);
    const header = rest.slice(0, HEADER);
    if (
      reply.length !== REPLY || !same(this.#mac.of(join(framed(this.hears), rest)), reply.slice(0, MAC)) ||
      header[0] !== 2 || header[1] !== 0 || read(header.slice(2, 4)) !== this.#generation ||
      hex(header.slice(12, 28)) !== state.session
    ) {
      return;
    }
    const answer = ANSWER.exec(decoder.decode(rest.slice(HEADER)));
    if (!answer) return;
    const [, check, refused] = answer, number = read(header.slice(28));
    const under_way = state.number + (state.letter ? 1 : 0);
    if (refused) {
      if (state.letter && number === under_way) {
        throw new VoileError("refused", `the recipient refuses the message: ${refused}`);
      }
      return;
    }
    if (number < state.number || (number === state.number && check === state.check)) return;
    if (number !== under_way || number === state.number || check !== state.next) {
      throw new VoileError("step", "the two ends are out of step: begin again");
    }
    this.#keep({ ...state, number, check, next: "", letter: "" });
  }

  #drawn(n) {
    const fresh = typeof this.#ways.entropy === "function" ? this.#ways.entropy(n) : null;
    const sound = fresh instanceof Uint8Array && fresh.length === n && fresh.some((one) => one);
    if (!sound) throw new VoileError("entropy", "there is no entropy");
    return fresh;
  }

  /** Store a state and take it over; nothing changes where it cannot be stored. */
  #keep(state) {
    if (typeof this.#ways.store !== "function" || this.#ways.store({ ...state }) !== true) {
      throw new VoileError("store", "the state could not be stored");
    }
    this.#state = state;
  }
}
