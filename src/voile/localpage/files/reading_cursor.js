// Where the reviewer stands in a line: a word, and the word from which a selection extends.

export const DOUBTFUL = 0.5;

export const markAt = (line, word) => line.marks.find((m) => m.from <= word && word < m.to);

export function start(line) {
  const first = line.marks.find((m) => m.doubt >= DOUBTFUL) ?? line.marks.find((m) => !m.column) ?? line.marks[0];
  return place(first ? first.from : 0);
}

export const place = (at) => ({ at, anchor: at });

export function step(line, cursor, by, extending) {
  const at = Math.max(0, Math.min(line.words.length - 1, cursor.at + by));
  return { at, anchor: extending ? cursor.anchor : at };
}

export function jump(line, cursor, by) {
  const starts = line.marks.map((m) => m.from);
  const own = markAt(line, cursor.at)?.from ?? cursor.at;
  const next = by > 0 ? starts.find((s) => s > cursor.at) : starts.findLast((s) => s < own);
  return place(next ?? cursor.at);
}

// The words that a key is about: the selection, else the whole mark, else the word.
export function reach(line, cursor) {
  const [low, high] = [cursor.at, cursor.anchor].sort((a, b) => a - b);
  const mark = low === high ? markAt(line, low) : undefined;
  return mark ? [mark.from, mark.to] : [low, high + 1];
}

export function isMarked(line, [from, to]) {
  for (let word = from; word < to; word++) if (!markAt(line, word)) return false;
  return true;
}
