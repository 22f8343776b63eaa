// An end in JavaScript, asked line by line: each line is JSON, and so is each answer.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { randomFillSync } from "node:crypto";

const folder = pathToFileURL(`${process.argv[2]}/`);
const { End, POST } = await import(new URL("voile_end.mjs", folder));
const { hmac, sha256 } = await import(new URL("voile_hash.mjs", folder));
const hex = (data) => Buffer.from(data).toString("hex");
const unhex = (text) => new Uint8Array(Buffer.from(text, "hex"));
const ends = {};
let stored = null, store = "sound", entropy = "sound";

const ways = {
  entropy(n) {
    if (entropy === "none") return null;
    return entropy === "sound" ? randomFillSync(new Uint8Array(n)) : new Uint8Array(n).fill(+entropy);
  },
  store(state) {
    if (store !== "sound") return false;
    stored = state;
    return true;
  },
};

const asked = {
  open: ({ name, record, state }) => {
    const given = entropy === "absent" ? { store: ways.store } : ways;
    const own = store === "absent" ? { entropy: ways.entropy } : given;
    ends[name] = new End(unhex(record), own, { stored: state });
  },
  set: (given) => ({ store, entropy } = given),
  send: ({ name, x, beside }) => ends[name].send(x, beside),
  hear: ({ name, reply }) => ends[name].hear(unhex(reply)),
  again: ({ name }) => ends[name].beginAgain(),
  post: ({ name }) => {
    const post = ends[name].post(), again = ends[name].post(new Uint8Array(POST));
    if (post && hex(post) !== hex(again)) throw new Error("in room of its own it has other bytes");
    return post && hex(post);
  },
  topics: ({ name }) => [ends[name].posts, ends[name].hears],
  sha256: ({ data }) => hex(sha256(unhex(data))),
  hmac: ({ key, data }) => hex(hmac(unhex(key), unhex(data))),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { verb, ...rest } = JSON.parse(line);
  let answer;
  try {
    answer = { result: asked[verb](rest) ?? null, stored };
  } catch (error) {
    answer = { wrong: error.code ?? String(error.stack), stored };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
