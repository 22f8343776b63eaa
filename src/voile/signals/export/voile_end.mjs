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
import { DRAW, VoileError, encodeBy, mapOf, nearest } from "./voile_map.mjs";
import { Mac, Room, digest, hmac, join, sha256 } from "./voile_hash.mjs";
import { tables } from "./voile_tables.mjs";

const MAC = 32, HEADER = 36, REPLY = 164, BESIDE = 256, KNOWN = tables.grids.length;
const RECORD = 149 + (KNOWN ? 8 * KNOWN + 32 : 0), COLUMNS = DRAW / 8;
const LETTER = 128 + BESIDE + 64 * COLUMNS; // longest letter, in bytes
export const POST = MAC + HEADER + LETTER; // longest message
const encoder = new TextEncoder(), decoder = new TextDecoder();
const bytes = (text) => encoder.encode(text);
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const MARK = unhex(tables.mark), DIGITS = bytes("0123456789abcdef");
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

/** Write text from a place on, as UTF-8; return where it ends. */
function say(data, at, text) {
  for (let i = 0; i < text.length; i++, at++) {
    const code = text.charCodeAt(i);
    if (code > 127) return at + encoder.encodeInto(text.slice(i), data.subarray(at)).written;
    data[at] = code;
  }
  return at;
}

/** Write bytes from a place on; return where they end. */
function lay(data, at, more) {
  for (let i = 0; i < more.length; i++) data[at++] = more[i];
  return at;
}

/** Write a whole number below 2^53. */
function sayWhole(data, at, value) {
  let end = at;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) end++;
  for (let i = end, rest = value; i >= at; i--) {
    const tenth = Math.floor(rest / 10);
    data[i] = 48 + (rest - 10 * tenth); // exact also close to 2^53
    rest = tenth;
  }
  return end + 1;
}

/** Write a multiple of 2^-44, every digit of it: two at a time, from two halves of 22 bits. */
function sayNumber(data, at, value) {
  const size = Math.abs(value), units = Math.floor(size), scaled = (size - units) * 2 ** 22;
  let high = Math.floor(scaled), low = (scaled - high) * 2 ** 22;
  if (value < 0) data[at++] = 45; // a minus
  at = sayWhole(data, at, units);
  data[at++] = 46; // a point
  do {
    low *= 100;
    high = high * 100 + (low >> 22);
    const two = high >> 22, ten = (two / 10) | 0;
    low &= 0x3fffff;
    high &= 0x3fffff;
    data[at++] = 48 + ten;
    data[at++] = 48 + two - 10 * ten;
  } while (high | low);
  return data[at - 1] === 48 ? at - 1 : at;
}

/** Write numbers as eight bytes each, the lowest first. */
function pack(view, at, numbers) {
  for (let j = 0; j < numbers.length; j++) view.setFloat64(at + 8 * j, numbers[j], true);
}

/** Return the first n bytes in hexadecimal digits. */
function hex(data, n = data.length) {
  const codes = [];
  for (let i = 0; i < n; i++) codes.push(DIGITS[data[i] >> 4], DIGITS[data[i] & 15]);
  return String.fromCharCode(...codes);
}

const AHEAD = bytes('{"ahead":1,"after":'), CHECK = bytes(',"check":"');
const VALUES = bytes('","values":['), WITH = bytes('],"beside":');
const link = Room.of(new Uint8Array(16 + DRAW)), hashed = new Uint8Array(32);
const drawn = new Uint8Array(DRAW), near = new Float64Array(COLUMNS); // one of each: no call waits

/** Return the digest with one more message: of its numbers, as the line shows them. */
function chain(check, z) {
  say(link.bytes, 0, check);
  pack(link.view, 16, z);
  return hex(digest(link, 16 + DRAW, hashed), 8);
}

function isState(state) {
  const isDigest = (text) => typeof text === "string" && /^[0-9a-f]{16}$/.test(text);
  return (
    typeof state === "object" && state !== null && Number.isSafeInteger(state.number) &&
    state.number >= 0 && Number.isSafeInteger(state.before) && state.before >= 0 &&
    /^[0-9a-f]{32}$/.test(state.session) && isDigest(state.check) &&
    typeof state.beside === "string" && bytes(state.beside).length <= BESIDE &&
    Array.isArray(state.values) && (state.next === "" ||
      (state.values.length === COLUMNS && state.next === chain(state.check, state.values)))
  );
}

export class End {
  #mac;
  #map;
  #generation;
  #whose;
  #ways;
  #state;
  #dither;
  #moving; // what dither is drawn from, a room
  #message; // what the MAC of a message is of, a room: the place, the header, the letter
  #header; // where the header starts
  #end; // where the letter ends
  #begun; // MACs of what begins with the whole blocks that all messages of a session share
  #proof = new Uint8Array(0);

  constructor(record, ways, { topic = "voile", stored = null } = {}) {
    const own = Mac.under(record.slice(85, 117));
    this.#mac = Mac.under(own.ofBytes(bytes("voile mac")));
    const mac = this.#mac.ofBytes(join(framed("device"), record.slice(0, RECORD - MAC)));
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
    this.#dither = Mac.under(own.ofBytes(bytes("voile dither")));
    this.#generation = read(record.slice(16, 18));
    const beside = record.slice(117, RECORD - MAC), view = new DataView(beside.buffer);
    this.#whose = hex(sha256(join(record.slice(18, 85), beside)), 8);
    this.#map = mapOf(which, tables.grids.map((_, j) => view.getFloat64(8 * j, true)));
    this.#proof = beside.slice(8 * KNOWN);
    const fixed = join(MARK, big(which, 2), new Uint8Array(9), this.#proof);
    this.#moving = Room.of(join(fixed, new Uint8Array(DRAW)));
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
    const check = hex(KNOWN ? hmac(this.#proof, name) : sha256(name), 8);
    const before = this.#state ? this.#state.before + this.#state.number : 0;
    this.#keep({ session, before, number: 0, check });
    this.#open();
  }

  #open() {
    const versions = join(Uint8Array.of(2, 0), big(this.#generation, 2), MARK);
    const before = join(framed(this.posts), versions, unhex(this.#state.session));
    this.#message = Room.of(join(before, new Uint8Array(8 + LETTER)));
    this.#header = before.length - HEADER + 8;
    const shared = before.length + 1; // a number is below 2^53, and its first byte 0
    this.#begun = this.#mac.after(this.#message, shared - (shared % 64));
    if (this.#state.next) this.#write(this.#state);
  }

  /** Write a state's message, all but its MAC. */
  #write({ number, check, values, beside }) {
    const message = this.#message.bytes;
    put(message, this.#header + HEADER - 8, number + 1);
    let at = lay(message, this.#header + HEADER, AHEAD);
    at = lay(message, sayWhole(message, at, number), CHECK);
    at = lay(message, say(message, at, check), VALUES);
    for (let j = 0; j < COLUMNS; j++) {
      if (j) message[at++] = 44; // a comma
      at = sayNumber(message, at, values[j]);
    }
    at = say(message, lay(message, at, WITH), beside);
    message[at] = 125; // a brace
    this.#end = at + 1;
  }

  /** Encode a reading and store it as the message under way; beside: a plain object. */
  send(x, beside) {
    if (this.#state.next) throw new VoileError("waiting", "a message is under way: post it again");
    const with_it = beside === undefined ? "{}" : JSON.stringify(beside);
    // a character takes three bytes at most: short ones need no count
    if (3 * with_it.length > BESIDE && bytes(with_it).length > BESIDE) {
      throw new VoileError("long", "what goes beside a reading is too long");
    }
    const values = encodeBy(this.#map, x, this.#ditherOf(x));
    const { session, before, number, check } = this.#state, next = chain(check, values);
    const state = { session, before, number, check, next, values, beside: with_it };
    this.#write(state);
    this.#keep(state);
  }

  /**
   * Draw the dither of a reading: of the key, the kit, the class, the known columns, the reading and
   * its number.
   */
  #ditherOf(x) {
    const { before, number } = this.#state, { bytes, view } = this.#moving;
    const reading = 19 + this.#proof.length;
    put(bytes, 10, before + number);
    pack(view, reading, nearest(x, near));
    for (let at = 0; at < DRAW; at += 32) {
      bytes[18] = at / 32;
      this.#dither.of(this.#moving, reading + DRAW, hashed);
      for (let i = at; i < DRAW && i < at + 32; i++) drawn[i] = hashed[i - at];
    }
    return drawn;
  }

  /**
   * Return the message under way, the same bytes each time; null where there is none. room: POST
   * bytes to write it into; else they are new, and take as long again as a block of SHA-256.
   */
  post(room = null) {
    if (!this.#state.next) return null;
    const message = this.#message, length = MAC + this.#end - this.#header;
    const out = room === null ? new Uint8Array(length) : room.subarray(0, length);
    out.set(message.bytes.subarray(this.#header, this.#end), MAC);
    return this.#begun.of(message, this.#end, out);
  }

  /** Take a reply in; what is not ours, or old, changes nothing. */
  hear(reply) {
    const state = this.#state, rest = reply.slice(MAC);
    const header = rest.slice(0, HEADER);
    if (
      reply.length !== REPLY ||
      !same(this.#mac.ofBytes(join(framed(this.hears), rest)), reply.slice(0, MAC)) ||
      header[0] !== 2 || header[1] !== 0 || read(header.slice(2, 4)) !== this.#generation ||
      hex(header.slice(12, 28)) !== state.session
    ) {
      return;
    }
    const answer = ANSWER.exec(decoder.decode(rest.slice(HEADER)));
    if (!answer) return;
    const [, check, refused] = answer, number = read(header.slice(28));
    const under_way = state.number + (state.next ? 1 : 0);
    if (refused) {
      if (state.next && number === under_way) {
        throw new VoileError("refused", `the recipient refuses the message: ${refused}`);
      }
      return;
    }
    if (number < state.number || (number === state.number && check === state.check)) return;
    if (number !== under_way || number === state.number || check !== state.next) {
      throw new VoileError("step", "the two ends are out of step: begin again");
    }
    const { session, before } = state;
    this.#keep({ session, before, number, check });
  }

  #drawn(n) {
    const fresh = typeof this.#ways.entropy === "function" ? this.#ways.entropy(n) : null;
    const sound = fresh instanceof Uint8Array && fresh.length === n && fresh.some((one) => one);
    if (!sound) throw new VoileError("entropy", "there is no entropy");
    return fresh;
  }

  /** Store a state and take it over; nothing changes where it cannot be stored. */
  #keep({ session, before, number, check, next = "", values = [], beside = "" }) {
    const mark = tables.mark, whose = this.#whose;
    // spelt out: to add to what is spread takes V8 more than a microsecond
    const state = { mark, whose, session, before, number, check, next, values, beside };
    if (typeof this.#ways.store !== "function" || this.#ways.store({ ...state }) !== true) {
      throw new VoileError("store", "the state could not be stored");
    }
    this.#state = state;
  }
}
