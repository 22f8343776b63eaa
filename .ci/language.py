"""Check the English of pages, messages and docstrings: sentence length, grammar and readability.

Run with `page:docs`, `string:src/voile/cli` or the like to see only those sentences.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import readability

ROOT = Path(__file__).parent.parent
MOST_WORDS = 25
MOST_LIX = 40.0
"""Bjoernsson's LIX: words a sentence, plus the percentage of words of more than six letters."""
FEW = 5  # sentences below which a page has no score
PAPERWORK = (
    "archive|certificate|column|determination|error|file|figure|header|help|key|kit|ledger|line"
    "|list|manifest|message|name|option|page|plan|policy|release|report|row|rule|section|sentence"
    "|table|title|value"
)
SPEAKS = "(?:says?|said|tells?|told|knows?|knew|stands?|stood|lies|hold|holds|held|asks?|asked)"
AFTER_WHAT = (
    "is|was|are|were|it|they|he|she|you|we|a|an|the|no|each|every|one|others|voile|this|these"
    "|has|have|had|can|may|could|would|must|remains?|follows?|goes|makes?|does|do|did|comes?"
)
RULES = {
    "free relative (name the thing)": rf"\bwhat (?:{AFTER_WHAT})\b(?!.*\?$)",
    "file that speaks (use contain, list, set)": rf"\b(?:{PAPERWORK})s? {SPEAKS}\b",
    "chain of who or whose (split it)": r"\b(?:who|whose|whom)\b.*\b(?:who|whose|whom)\b",
    "'beside' (use 'with' or 'next to')": r"\bbeside\b",
    "'anew' (use 'again')": r"\banew\b",
    "bare negation (use 'no')": r"\bnot any\b|\bnothing that\b",
    "'what of' (use 'whether')": r"\bwhat of\b",
    "verb last (begin with the subject or the verb)": r"^(?-i:Of|Only of|Both of) (?!course)[^.]*,",
    "chain of semicolons (use a list)": r";[^;]*;",
}
PATTERNS = {rule: re.compile(pattern, re.IGNORECASE) for rule, pattern in RULES.items()}
LONG = f"more than {MOST_WORDS} words"
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "src/**/*.md")
BETWEEN = re.compile(
    r"(?<=[.!?:])\s+(?=[A-Z`\"'(*\[{<]|voile\b)|\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=[\w, *]+ : )"
)
CODE = re.compile(r"``[^`]*``|`[^`\n]*`|\{[^{}]*\}|<[^<>]*>|\b\w\([^()]*\)")
COMMON = {
    "a",
    "an",
    "and",
    "are",
    "as",
    "be",
    "for",
    "has",
    "in",
    "is",
    "it",
    "no",
    "of",
    "on",
    "the",
    "to",
}
ITEM = re.compile(r"^(?:\s*(?:[-*]|\d+\.) |[\w, *]+ :(?: |$))|\*")
NO_PROSE = re.compile(
    r"SELECT|FROM |DROP |CREATE |CASE WHEN|[\\^$|]|=>|</|\{\{|::|\(\?|^\s*[\[#]|\w = |-src "
    r"|\S {2,}\S|\[\w+\] \["
)


def split_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence with the number of lines before it; code counts as one word."""
    begin = 0
    for end in [*(match.start() for match in BETWEEN.finditer(text)), len(text)]:
        sentence = CODE.sub("X", text[begin:end])
        sentence = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence)
        said = " ".join(ITEM.sub("", sentence.strip("\n")).split())
        if said:
            yield (
                text.count("\n", 0, begin + len(text[begin:end]) - len(text[begin:end].lstrip())),
                said,
            )
        begin = end


def find_faults(sentence: str) -> Iterator[str]:
    """Yield the rules that a sentence breaks."""
    if len(re.findall(r"[A-Za-z][\w'’/-]*", sentence)) > MOST_WORDS:
        yield LONG
    yield from (rule for rule, pattern in PATTERNS.items() if pattern.search(sentence))


def list_texts(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield each text of a file with its kind and first line."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        yield "page", 1, clear_page(text)
        return
    tree = ast.parse(text)
    docstrings = {
        id(node.body[0].value): node.body[0].value.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    lists = {
        id(node.func.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "split"
    }
    parts = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    skipped = lists | parts
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            texts = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            said = "".join(map(str, texts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in skipped:
                continue
            said = node.value
        else:
            continue
        if id(node) in docstrings or id(node) in bare:
            yield "docstring", node.lineno, clear_examples(said)
        elif is_prose(said):
            yield "string", node.lineno, said


def clear_page(text: str) -> str:
    """Blank code, tables, headings and pictures of a page, and keep its lines."""
    text = re.sub(r"```.*?```|~~~.*?~~~|<!--.*?-->", _blank, text, flags=re.DOTALL)
    return re.sub(r"^(?:[|#!]| {4,}(?!(?:[-*]|\d+\.) )|---).*$", "", text, flags=re.MULTILINE)


def clear_examples(text: str) -> str:
    """Blank the examples and the headings of a docstring, and keep its lines."""
    text = re.sub(r"^ *\x08\n(?:.+\n)*", _blank, text, flags=re.MULTILINE)
    text = re.sub(r"^ *>>> .*(?:\n(?! *\n).*)*", _blank, text, flags=re.MULTILINE)
    return re.sub(r"^ *[-=]+ *$|^ *(?:::|\|).*$", "", text, flags=re.MULTILINE)


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def is_prose(text: str) -> bool:
    """Return whether a string is a text for people, and no code, pattern or query."""
    words = [word for word in re.findall(r"[A-Za-z]+", text) if word[1:] == word[1:].lower()]
    if "\n" in text and "." not in text:  # a list of words
        return False
    return (
        len(words) > 3
        and not NO_PROSE.search(text)
        and bool(COMMON & {word.lower() for word in words})
    )


def score_page(text: str) -> float:
    """Return the LIX of a page's sentences; lower is easier."""
    lines = (
        " ".join(re.findall(r"\w[\w'’-]*", one)) for _, one in split_sentences(clear_page(text))
    )
    said = [f"{line} ." for line in lines if " " in line]
    if len(said) < FEW:
        return 0.0
    return float(readability.getmeasures("\n".join(said))["readability grades"]["LIX"])


def main(wanted: str = "") -> int:
    """Print each sentence that breaks a rule, and fail above a ceiling."""
    files = sorted({p for one in (*PAGES, "src/**/*.py") for p in ROOT.glob(one)})
    counts: Counter[str] = Counter()
    failed = False
    for path in files:
        place = str(path.relative_to(ROOT))
        for kind, line, text in list_texts(path):
            for before, sentence in split_sentences(text):
                for rule in find_faults(sentence):
                    counts[kind] += 1
                    if f"{kind}:{place}".startswith(wanted):
                        print(f"{place}:{line + before}: {rule}: {sentence}")
        if path.suffix == ".md" and (score := score_page(path.read_text("utf-8"))) > MOST_LIX:
            failed = True
            print(f"{place}: readability {score:.0f}, at most {MOST_LIX:.0f}: shorten sentences")
    for kind in ("page", "string", "docstring"):
        print(f"{kind}: {counts[kind]} sentences break a rule")
    return int(failed or bool(counts.total()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
