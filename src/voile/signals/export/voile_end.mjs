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
import { hmac, join, sha256 } from "./voile_hash.mjs";
import { tables } from "./voile_tables.mjs";

const MAC = 32, HEADER = 36, REPLY = 164, BESIDE = 256, KNOWN = tables.grids.length;
const RECORD = 149 + (KNOWN ? 8 * KNOWN + 32 : 0);
const bytes = (text) => new TextEncoder().encode(text);
const hex = (data) => Array.from(data, (one) => one.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const ANSWER = /^\{"check":"([0-9a-f]{16}|)","again":(?:true|false),"refused":"([a-z]{0,15})"\} *$/;

/** Whether bytes are the same, in a time that does not depend on them. */
function same(a, b) {
  let apart = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) apart |= a[i] ^ b[i];
  return apart === 0;
}

/** Return a whole number below 2^53 as bytes, the largest first. */
function big(value, n) {
  const out = new Uint8Array(n);
  for (let i = n - 1, rest = value; i >= 0; i--, rest = Math.floor(rest / 256)) out[i] = rest % 256;
  return out;
}

const read = (data) => data.reduce((value, one) => value * 256 + one, 0);

/** Return the MAC of what stands at a place, whose length stands before it. */
function macOf(key, place, data) {
  const at = bytes(place);
  return hmac(key, join(big(at.length, 4), at, data));
}

/** Return a multiple of 2^-44 as text, every digit of it. */
function shown(value) {
  const size = Math.abs(value), units = Math.floor(size);
  let rest = (size - units) * 2 ** 44, text = `${value < 0 ? "-" : ""}${units}.`;
  do {
    rest *= 10;
    const digit = Math.floor(rest / 2 ** 44);
    rest -= digit * 2 ** 44;
    text += digit;
  } while (rest);
  return text;
}

/** Return numbers as bytes, the lowest of each first. */
function packed(numbers) {
  const view = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((value, j) => view.setFloat64(8 * j, value, true));
  return new Uint8Array(view.buffer);
}

/** Return the digest with one more message: of its numbers, as the line shows them. */
const chain = (check, z) => hex(sha256(join(bytes(check), packed(z)))).slice(0, 16);

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
  #key;
  #which;
  #generation;
  #whose;
  #ways;
  #state;
  #dither;
  #known = [];
  #proof = new Uint8Array(0);

  constructor(record, ways, { topic = "voile", stored = null } = {}) {
    const key = hmac(record.slice(85, 117), bytes("voile mac"));
    const mac = macOf(key, "device", record.slice(0, RECORD - MAC));
    const which = read(record.slice(18, 20));
    if (
      record.length !== RECORD || !same(mac, record.slice(RECORD - MAC)) ||
      hex(record.slice(0, 16)) !== hex(bytes("VOILEDV1")) + tables.mark ||
      which >= tables.plans.length
    ) {
      throw new VoileError("record", "the record is damaged, or of another kit");
    }
    const pseudonym = new TextDecoder().decode(record.slice(21, 21 + record[20]));
    this.posts = `${topic}/${pseudonym}/readings`;
    this.hears = `${topic}/${pseudonym}/receipts`;
    this.#key = key;
    this.#dither = hmac(record.slice(85, 117), bytes("voile dither"));
    this.#which = which;
    this.#generation = read(record.slice(16, 18));
    const beside = record.slice(117, RECORD - MAC), view = new DataView(beside.buffer);
    this.#whose = hex(sha256(join(record.slice(18, 85), beside))).slice(0, 16);
    this.#known = tables.grids.map((_, j) => view.getFloat64(8 * j, true));
    this.#proof = beside.slice(8 * KNOWN);
    this.#ways = ways;
    if (stored === null) this.beginAgain();
    else if (isState(stored) && stored.mark === tables.mark && stored.whose === this.#whose) {
      this.#state = { ...stored };
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
    const check = hex(KNOWN ? hmac(this.#proof, name) : sha256(name)).slice(0, 16);
    const own = { mark: tables.mark, whose: this.#whose };
    const before = this.#state ? this.#state.before + this.#state.number : 0;
    this.#keep({ ...own, session, before, number: 0, check, next: "", letter: "" });
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
    const values = Array.from(z, shown).join(",");
    const letter = `${on},"values":[${values}],"beside":${with_it}}`;
    this.#keep({ ...state, letter, next: chain(state.check, z) });
  }

  /**
   * Draw the dither of a reading: of the key, the kit, the class, the known columns, the reading and
   * its number.
   */
  #ditherOf(x) {
    const { before, number } = this.#state, out = new Uint8Array(DRAW + 32);
    const fixed = join(unhex(tables.mark), big(this.#which, 2), big(before + number, 8));
    for (let at = 0; at < DRAW; at += 32) {
      const which = Uint8Array.of(at / 32);
      out.set(hmac(this.#dither, join(fixed, which, this.#proof, packed(nearest(x)))), at);
    }
    return out.subarray(0, DRAW);
  }

  /** Return the message under way, the same bytes each time; null where there is none. */
  post() {
    const { session, number, letter } = this.#state;
    if (!letter) return null;
    const header = join(
      Uint8Array.of(2, 0), big(this.#generation, 2), unhex(tables.mark), unhex(session),
      big(number + 1, 8),
    );
    const rest = join(header, bytes(letter));
    return join(macOf(this.#key, this.posts, rest), rest);
  }

  /** Take a reply in; what is not ours, or old, changes nothing. */
  hear(reply) {
    const state = this.#state, rest = reply.slice(MAC);
    const header = rest.slice(0, HEADER);
    if (
      reply.length !== REPLY || !same(macOf(this.#key, this.hears, rest), reply.slice(0, MAC)) ||
      header[0] !== 2 || header[1] !== 0 || read(header.slice(2, 4)) !== this.#generation ||
      hex(header.slice(12, 28)) !== state.session
    ) {
      return;
    }
    const answer = ANSWER.exec(new TextDecoder().decode(rest.slice(HEADER)));
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
