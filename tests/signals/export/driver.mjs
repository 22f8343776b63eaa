// Encode and decode what a file holds: per reading its class, columns, known columns and draw.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, given, out] = process.argv.slice(2);
const { DRAW, decode, encode } = await import(pathToFileURL(`${folder}/voile_map.mjs`));
const { tables } = await import(pathToFileURL(`${folder}/voile_tables.mjs`));
const columns = DRAW / 8, first = 1 + columns + tables.grids.length, size = first + columns;
const data = readFileSync(given);
const bytes = new Uint8Array(data.buffer, data.byteOffset, data.length);
const numbers = new Float64Array(bytes.slice().buffer);
const codes = ["", "class", "missing", "off", "far", "implausible"];
codes[17] = "known";
const rows = numbers.length / size, results = new Float64Array(rows * (2 + 2 * columns));
for (let row = 0; row < rows; row++) {
  const at = row * size, to = row * (2 + 2 * columns);
  const draw = bytes.subarray(8 * (at + first), 8 * (at + size));
  const known = numbers.subarray(at + 1 + columns, at + first);
  results[to + 1 + columns] = -1;
  try {
    const z = encode(numbers[at], numbers.subarray(at + 1, at + 1 + columns), draw, known);
    results.set(z, to + 1);
    results[to + 1 + columns] = 0;
    results.set(decode(numbers[at], z, known), to + 2 + columns);
  } catch (error) {
    const place = results[to + 1 + columns] < 0 ? to : to + 1 + columns;
    results[place] = codes.indexOf(error.code);
  }
}
writeFileSync(out, new Uint8Array(results.buffer));
