// Which act a key asks for.

const BY_NAME = {
  ArrowLeft: ["step", -1], ArrowRight: ["step", 1], ArrowUp: ["jump", -1], ArrowDown: ["jump", 1],
  Home: ["step", -Infinity], End: ["step", Infinity],
  Enter: ["confirm"], " ": ["toggle"], Backspace: ["clear"], Delete: ["clear"],
  a: ["all"], n: ["never"], u: ["undo"], h: ["help"], "?": ["unsure"], 0: ["choose"],
};
const ONCE = new Set(["confirm", "unsure", "all", "never", "toggle", "end"]);

export function actOf(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if ((event.ctrlKey || event.metaKey) && key === "z") return ["undo"];
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.target.closest("button") && (key === "Enter" || key === " ")) return null; // its own
  if (key === "Enter" && event.shiftKey) return event.repeat ? ["nothing"] : ["sheet"];
  const act = /^[1-9]$/.test(key) ? ["type", Number(key) - 1] : BY_NAME[key];
  return act && event.repeat && ONCE.has(act[0]) ? ["nothing"] : act ?? null;
}
