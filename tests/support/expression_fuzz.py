"""Random and hostile expressions, and what reading any of them may do: an expression, or a refusal of one line.

The generator draws from a `random.Random`, so that hypothesis can drive it (`st.randoms`) and shrink what it finds, and
so can a plain seed, which is many times faster:

    python -m tests.support.expression_fuzz COUNT SEED [SECONDS [nonlinearity]]

reads COUNT inputs, stops after SECONDS, prints every offender, and ends with status 1 if there was one.
"""

from __future__ import annotations

import gc
import resource
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random
from types import FrameType
from typing import Any

import sympy as sp

from bulkedge.theory.functions.catalogue import ALIASES, CATALOGUE
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.functions.parse import FUNCTIONS, expression
from bulkedge.theory.numbers.errors import InputError, PrecisionError
from bulkedge.theory.numbers.symbols import z

CPU_SECONDS = 20.0  # the contract says two; ten times that is no busy machine
MEGABYTES = 256  # by which one input may raise the peak of the process
MAX_MESSAGE = 400

CONSTANTS = ("pi", "E", "z", "1/3", "-2/7", "22/7", "(1/3)", "(-z)")
NUMBERS = (
    "0", "1", "2", "3", "-1", "00", "01", "1.", ".5", "0.5", "2.50", "1e3", "1E-3", "1e+2", ".5e-1", "0.0",
    "-0", "1e-1200",
    "1e1200", "1e1201", "1e-99999999", "9" * 30, "9" * 401, "10**30", "1_000", "0x10", "0b11", "0o7", "1j", "2.j", "1e",
    "1e5.5", "1..2", "٣", "½", "inf", "nan", "0.1", "1000", "1001", "0.30000000000000004",
)  # fmt: skip
POWERS = (
    "2", "3", "0", "-1", "-2", "1/2", "(1/2)", "(-1/3)", "(2/3)", "0.5", "7", "31", "1000", "1001", "-1000",
    "10**9", "1e9",
    "(1/1001)", "z", "(-z)", "pi", "(z*z)", "E", "9**9**9", "(3/2)", "(-5/2)",
)  # fmt: skip
RELATIONS = ("<", "<=", ">", ">=", "==", "!=", "in", "is", "not in")
HOSTILE = (
    "__import__('this')", "__import__('os').system('true')", "eval('1')", "exec('import this')",
    "open('/etc/hostname')",
    "z.__class__.__mro__", "().__class__.__bases__[0].__subclasses__()", "lambda: z", "[z for z in (1,)]", "(z:=1)",
    "f'{z}'", "'z'", "b'z'", "'''", '"', "...", "None", "True", "False", "self", "sympy", "sp.tanh(z)", "np.exp(z)",
    "z[0]", "z if z else 1", "yield", "await z", "*z", "**z", "print(z)", "getattr(z, 'x')", "globals()",
    "{z}", "{1: z}",
    "z\x00", "\x1b[31m", "import this", "from this import s", "antigravity", "webbrowser", "z; import this", "# z",
    "\\", "Symbol('x')", "Function", "Integral(z, z)", "zoo", "oo", "I", "S", "N", "Q", "lambdify", "sympify('1')",
    "Piecewise", "He", "Max", "exp", "_", "__", "__name__", "__builtins__", "z" * 300, "a" * 1999, "True + True",
    "gamma(z)", "tan(z)", "x", "e", "ln(z)", "relu.build", "CATALOGUE", "z!", "|z|", "z'", "z(z)", "2(z)",
    "2z", "(z)(z)",
)  # fmt: skip
TOKENS = (
    *"()+-*/,<>=&|.~%@:!^[]{}_'\"\n\t ", "**", "//", "<=", ">=", "==", "!=", " and ", " or ", " not ", " if ", " else ",
    "z", "0", "1e", "->", ":=", "<<", ">>", "((", "))", "e9", "\r", "\x0b", "\x0c", "\xa0", "\u200b", "\u2028",
    "\ufeff",
    "π", "²", "−", "×", "√", "ｚ", "𝐳", "é", "\U0001f600", "\ud800", "\0", "0" * 50, "-" * 80, "(" * 80, "not " * 70,
)  # fmt: skip


def tree(random: Random, depth: int) -> str:
    """An expression of the grammar, or nearly so, of at most `depth` levels."""
    if depth <= 0 or random.random() < 0.12:
        return _leaf(random)
    kind = random.randrange(13)
    if kind <= 2:
        return f"{tree(random, depth - 1)}{random.choice('+-*/')}{tree(random, depth - 1)}"
    if kind == 3:
        return f"({tree(random, depth - 1)}{random.choice(['+', ' - ', '*', ' / '])}{tree(random, depth - 1)})"
    if kind == 4:
        return f"({tree(random, depth - 1)})**{random.choice(POWERS)}"
    if kind <= 6:
        return f"{random.choice(tuple(FUNCTIONS))}({tree(random, depth - 1)})"
    if kind == 7:
        return _catalogued(random, depth)
    if kind == 8:
        degree = random.choice(["0", "1", "2", "5", "12", "200", "1000", "1001", "-1", "2.0", "z"])
        return f"He({degree}, {tree(random, depth - 2)})"
    if kind == 9:
        more = "".join(f", {tree(random, depth - 2)}" for _ in range(random.randint(0, 3)))
        return f"{random.choice(['Max', 'Min'])}({tree(random, depth - 1)}{more})"
    if kind == 10:
        return _piecewise(random, depth)
    if kind == 11:
        sign = random.choice(("-", "+", "--", "~", "not ")) if random.random() < 0.1 else "-"
        return f"{sign}{tree(random, depth - 1)}"
    return f"({tree(random, depth - 1)})"


def _leaf(random: Random) -> str:
    kind = random.random()
    if kind < 0.45:
        return "z"
    if kind < 0.62:
        return random.choice(CONSTANTS)
    if kind < 0.78:
        return str(random.randint(-9, 9))
    if kind < 0.90:
        return random.choice((*CATALOGUE, *ALIASES))
    if kind < 0.995:
        return random.choice(NUMBERS[:16]) if random.random() < 0.8 else random.choice(NUMBERS)
    return random.choice(HOSTILE)


def _catalogued(random: Random, depth: int) -> str:
    name = random.choice((*CATALOGUE, *ALIASES))
    wanted = len(CATALOGUE[ALIASES.get(name, name)].parameters)
    count = wanted if random.random() < 0.9 else random.randint(0, 3)
    values = [random.choice(["1/5", "2", "0.3", "-1", "0", "1e-3", "z", "pi", "7/3"]) for _ in range(count)]
    return f"{name}({', '.join([tree(random, depth - 1), *values])})"


def _condition(random: Random, depth: int) -> str:
    kind = random.random()
    if kind < 0.7 or depth <= 0:
        relation = random.choice(RELATIONS[:4] if random.random() < 0.95 else RELATIONS)
        return f"{tree(random, depth - 2)} {relation} {tree(random, 0)}"
    if kind < 0.8:
        return f"{random.randint(-3, 0)} < {tree(random, 0)} <= {random.randint(0, 3)}"
    if kind < 0.97:
        left, right = _condition(random, depth - 1), _condition(random, depth - 1)
        return random.choice(
            [f"{left} and {right}", f"{left} or {right}", f"({left}) & ({right})", f"({left}) | ({right})"]
        )
    return random.choice(["True", "False", "z", "1"])


def _piecewise(random: Random, depth: int) -> str:
    pairs = [f"({tree(random, depth - 2)}, {_condition(random, depth - 2)})" for _ in range(random.randint(0, 3))]
    last = "True" if random.random() < 0.95 else _condition(random, 0)
    return f"Piecewise({', '.join([*pairs, f'({tree(random, depth - 2)}, {last})'])})"


def mutated(random: Random, text: str) -> str:
    """The text after a few insertions, deletions, swaps and repetitions."""
    for _ in range(random.randint(1, 4)):
        i = random.randint(0, len(text))
        j = min(len(text), i + random.randint(1, 6))
        kind = random.randrange(8)
        if kind <= 2:
            text = text[:i] + random.choice(TOKENS) + text[i:]
        elif kind == 3:
            text = text[:i] + text[j:]
        elif kind == 4:
            text = text[:i] + random.choice(HOSTILE) + text[j:]
        elif kind == 5:
            text = text[:i] + text[i:j] * random.randint(2, 40) + text[j:]
        elif kind == 6:
            text = text[j:] + text[:i]
        else:
            text = nested(random, text)
    return text[:2500]


def nested(random: Random, text: str) -> str:
    """The text inside many levels of the same call, or in a long chain."""
    head, tail = random.choice(
        [("(", ")"), ("-", ""), ("exp(", ")"), ("Abs(", ")"), ("1+", ""), ("", "*z"), ("", "**2"), ("2**", ""),
        ("tanh(", ")"),
         ("relu(", ")"), ("(", "+z)"), ("1/(1+", ")"), ("(", "+1)**2"), ("He(2, ", ")"), ("Max(z, ", ")"), ("", "/3"),
         ("sqrt(", ")"), ("Piecewise((", ", z > 0), (z, True))"), ("sign(", ")"), ("log(", ")"), ("(", ")**(1/2)")]
    )  # fmt: skip
    times = random.choice([1, 2, 3, 5, 12, 31, 59, 61, 300])
    return head * times + text + tail * times


def well_formed(random: Random) -> str:
    """Mostly what a user would write: a few levels of the grammar."""
    return tree(random, random.randint(0, 5))


def malformed(random: Random) -> str:
    """A mutated expression, a hostile text, or noise."""
    kind = random.random()
    if kind < 0.85:
        return mutated(random, tree(random, random.randint(0, 4)))
    if kind < 0.95:
        return random.choice(HOSTILE) + random.choice(["", "+", "*z", "(z)"])
    return "".join(random.choice(TOKENS) for _ in range(random.randint(0, 60)))


class TooSlowError(BaseException):
    """More than the allowed CPU time; no `except Exception` on the way may swallow it."""


_watched: list[str] | None = None
_reader = 0  # the thread that reads
_WATCHED = {
    *("import", "open", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "socket.connect", "os.remove")
}
_OWN = ("sympy", "mpmath", "flint", "theory")


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    # Other threads (the monitor of an earlier test's cluster) may open what they like.
    if _watched is None or event not in _WATCHED or threading.get_ident() != _reader:
        return
    what = str(arguments[0])
    # SymPy loads some of its own modules only when it needs them.
    own = what.split(".")[0] in _OWN if event == "import" else "/sympy/" in what and what.endswith((".pyc", ".py"))
    if not own:
        _watched.append(f"{event} {what}")


sys.addaudithook(_audit)


@contextmanager
def guarded() -> Iterator[None]:
    """Bounded CPU time and memory, and no import, file or process; violations are AssertionErrors."""
    global _watched, _reader

    def stop(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_name != "gc_callback":  # from there it would not get out
            raise TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    # An earlier test's cluster left a callback that reads /proc at every collection, in whatever thread that falls.
    callbacks, gc.callbacks[:] = gc.callbacks[:], []
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # Linux: the peak counts from here, whatever earlier tests took
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _reader, _watched = threading.get_ident(), (seen := [])
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS, 0.1)
    try:
        yield
    except TooSlowError as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        raise AssertionError(f"more than {CPU_SECONDS:g} s of CPU time") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _watched = None
        gc.callbacks[:] = callbacks
        signal.signal(signal.SIGPROF, before)
    assert not seen, f"reading it did {seen}"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
    assert grown < MEGABYTES, f"{grown:.0f} MB more"


def _refusal(error: Exception) -> str:
    message = str(error)
    assert message.isprintable(), f"the message is not one line: {message!r}"
    assert 0 < len(message) <= MAX_MESSAGE, f"the message has {len(message)} characters"
    return message


def _finite(expr: sp.Expr) -> None:
    assert isinstance(expr, sp.Expr), type(expr)
    assert expr.free_symbols <= {z}, expr.free_symbols
    assert not expr.has(sp.nan, sp.zoo, sp.oo, -sp.oo, sp.I, sp.Float), "not finite, real and exact"


def read(text: str) -> sp.Expr | None:
    """The expression, all of whose nodes are finite, or None for a refusal; anything else is an AssertionError."""
    with guarded():
        try:
            result = expression(text, "FUNCTION")
        except InputError as error:
            _refusal(error)
            return None
    _finite(result)
    return result


def certify(text: str) -> Nonlinearity | None:
    """The nonlinearity, its pieces finite and in order, or None for a refusal."""
    with guarded():
        try:
            result = nonlinearity(text)
        except (InputError, PrecisionError) as error:
            _refusal(error)
            return None
    assert result.pieces[0].lower is -sp.oo
    assert result.pieces[-1].upper is sp.oo
    assert all(p.upper == q.lower for p, q in zip(result.pieces, result.pieces[1:], strict=False))
    for piece in result.pieces:
        _finite(piece.expr)
    return result


def survey(count: int, seed: int, seconds: float, check: Callable[[str], object]) -> tuple[Counter[str], list[str]]:
    """How many inputs were accepted and refused, and the offenders with what they did."""
    random, outcomes, offenders = Random(seed), Counter[str](), []
    stop = time.monotonic() + seconds
    for _ in range(count):
        if time.monotonic() > stop:
            break
        text = well_formed(random) if random.random() < 0.5 else malformed(random)
        try:
            outcomes["refused" if check(text) is None else "accepted"] += 1
        except Exception as error:
            outcomes["offending"] += 1
            offenders.append(f"{type(error).__name__}: {str(error)[:200]}\n    {text!r}")
            print(offenders[-1], flush=True)
    return outcomes, offenders


def main(arguments: list[str]) -> int:
    """Read many inputs from one seed; with the word nonlinearity, certify them too."""
    count, seed = int(arguments[0]), int(arguments[1])
    seconds = float(arguments[2]) if len(arguments) > 2 else float("inf")
    check = certify if "nonlinearity" in arguments else read
    begun = time.process_time()
    outcomes, offenders = survey(count, seed, seconds, check)
    print(f"{sum(outcomes.values())} inputs, {time.process_time() - begun:.0f} s CPU: {dict(outcomes)}")
    return int(bool(offenders))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
