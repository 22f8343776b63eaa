"""Make small faults in a module's source, one at a time: the mutants that tests should notice.

The faults are a reversed comparison, a condition without one of its parts, a sum instead of a
difference, a number that is one too large, a result that is always true, and a missing step. Texts,
types and the content of errors stay unchanged. So does `strict=`, which has an effect only together
with another fault.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NO_DEEDS = ("annotation", "returns", "args", "decorator_list", "bases")
LEFT_ALONE = (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr)


@dataclass(frozen=True)
class Mutant:
    """A fault: where it is, the line as it was and as it is, and the whole module with it."""

    line: int
    statement: int
    function: str
    before: str
    after: str
    module: str

    @property
    def name(self) -> str:
        """What changed, whatever line it stands in now."""
        return f"{self.function}: {self.before} -> {self.after}"


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module; what reads the same as another comes once."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for place, node in enumerate(_places(tree)):
        for number in range(len(list(_faults(node)))):
            changed = copy.deepcopy(tree)
            old = list(_places(changed))[place]
            new = list(_faults(old))[number]
            statement = _statement(changed, old)
            begins, before = statement.lineno, _first_line(statement)
            _replace(changed, old, new)
            after = _first_line(new if old is statement else statement)
            module = ast.unparse(ast.fix_missing_locations(changed))
            if module not in seen:
                seen.add(module)
                yield Mutant(node.lineno, begins, _function(tree, node), before, after, module)


def _places(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Walk through what is done: no annotations, decorators, docstrings, or errors' words."""
    for name, field in ast.iter_fields(tree):
        if name in NO_DEEDS and not isinstance(tree, ast.Call):
            continue
        for node in field if isinstance(field, list) else [field]:
            if not isinstance(node, ast.AST) or isinstance(node, LEFT_ALONE) or _is_aside(node):
                continue
            if isinstance(node, ast.If) and "sys.platform" in ast.unparse(node.test):
                node = ast.Module(node.orelse, [])  # the first part is another system's
            if isinstance(node, ast.expr | ast.stmt):
                yield node
            yield from _places(node)


def _is_aside(node: ast.AST) -> bool:
    """Whether it is a text, what only a type checker reads, or that lengths are held to agree."""
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _faults(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            swapped = ([*ops[:i], _swapped(op), *ops[i + 1 :]] for i, op in enumerate(ops))
            yield from _with(node, "ops", swapped)
        case ast.BoolOp(op=operator, values=values):
            yield from _with(node, "op", [_swapped(operator)])
            yield from (_joined(node, values[:i] + values[i + 1 :]) for i in range(len(values)))
        case ast.BinOp(op=operator) if type(operator) in SWAPPED:
            yield from _with(node, "op", [_swapped(operator)])
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.If() | ast.IfExp():
            yield from _with(node, "test", [ast.Constant(True), ast.Constant(False)])
        case ast.Return(value=ast.Compare() | ast.BoolOp() | ast.Call() as value):
            if not isinstance(value, ast.Call) or _answers(value):
                yield from _with(node, "value", [ast.Constant(True), ast.Constant(False)])
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield ast.Pass()


def _answers(call: ast.Call) -> bool:
    """Whether a call gives yes or no, by its name."""
    name = ast.unparse(call.func).rpartition(".")[2]
    return name.startswith(("is", "has", "same", "exists", "any", "all", "bool"))


def _with(node: ast.AST, field: str, values: Iterable[object]) -> Iterator[ast.AST]:
    for value in values:
        changed = copy.copy(node)
        setattr(changed, field, value)
        yield changed


def _joined(node: ast.BoolOp, values: list[ast.expr]) -> ast.expr:
    return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)


def _swapped(operator: ast.AST) -> ast.AST:
    return SWAPPED[type(operator)]()


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if value is old:
                setattr(node, field, new)
            elif isinstance(value, list):
                value[:] = [new if one is old else one for one in value]


def _statement(tree: ast.AST, node: ast.AST) -> ast.stmt:
    """Return the smallest statement with a node in it."""
    around = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and _holds(one, node)]
    return min(around, key=lambda one: len(list(ast.walk(one))))


def _function(tree: ast.AST, node: ast.AST) -> str:
    """Name the function or class that a node is in."""
    named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    around = (one for one in ast.walk(tree) if isinstance(one, named) and _holds(one, node))
    return ".".join(one.name for one in around) or "module"


def _holds(one: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(one))


def _first_line(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split("\n")[0].split())
