"""Arguments are declared once: every parameter, its help, its words, and what is made from them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Annotated, Any

import pytest

from bulkedge import arguments
from bulkedge.arguments import Count, Flag, Formula, Pairs, Real, Word, declarations, read
from bulkedge.commands import COMMANDS, EXAMPLES, INDEX, function, module
from bulkedge.parser import UsageError, parse, parser
from bulkedge.theory.numbers.errors import InputError


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_is_declared_and_nothing_else_configures(name):
    declared = declarations(function(name))
    assert set(inspect.signature(function(name)).parameters) - {"progress"} == set(declared)
    assert not hasattr(module(name), "configure")
    assert not hasattr(module(name), "run")
    for argument in declared.values():
        assert argument.help
        assert not argument.place or argument.metavar


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_every_argument_its_group_and_the_example(name):
    text = " ".join(parser(name, module(name)).format_help().split())
    assert EXAMPLES[name] in text
    for key, argument in declarations(function(name)).items():
        assert " ".join(argument.help.split()) in text, key
        assert f"{argument.group or ('arguments' if argument.place else 'options')}:" in text


def test_words_are_those_of_the_theory():
    from bulkedge.commands.spectra import spike, weights
    from bulkedge.numerics.weights import shrinkage
    from bulkedge.theory.spectra.spike import MAPS
    from bulkedge.theory.steps import phases, setting

    assert arguments.BATCHES == phases.BATCHES
    assert arguments.READOUTS == setting.READOUTS
    assert set(spike.ENSEMBLES) == {law.name for law in MAPS}
    assert weights.LOSSES == shrinkage.LOSSES


def toy(
    link: Annotated[Any, Formula("links", "LINK", place=True, many=True)],
    *,
    size: Annotated[Any, Count("a size", "N", low=2, high=9)],
    share_: Annotated[Any, Real("a share", "P", low=0, high=1, exclusive=True)] = "1/2",
    how: Annotated[str, Word("how", words=("one", "other"))] = "one",
    pairs: Annotated[Any, Pairs("pairs", "A=B", many=True)] = None,
    safe: Annotated[bool, Flag("safe")] = True,
) -> Any:
    """Read only."""
    return read(toy, locals())


def test_what_is_read_and_echoed():
    found = toy(["z", "tanh"], size="3.0", share_="0.25", pairs=["a=1", "b=-2"])
    assert [f.name for f in found.link] == found.inputs["link"] == ["z", "tanh"]
    assert (found.size, str(found.share_), found.pairs) == (3, "1/4", {"a": "1", "b": "-2"})
    assert found.inputs == {
        "link": ["z", "tanh"], "size": 3, "share": "1/4", "how": "one", "pairs": {"a": "1", "b": "-2"}, "safe": True
    }  # fmt: skip
    assert toy("z", size=2).inputs["pairs"] is None


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"size": 1}, "size"),
        ({"size": 10}, "size"),
        ({"size": "2.5"}, "size"),
        ({"size": None}, "size"),
        ({"share_": 1}, "share"),
        ({"share_": 0}, "share"),
        ({"how": "onr"}, "how"),
        ({"pairs": ["a"]}, "pairs"),
        ({"pairs": ["a=1", "a=2"]}, "pairs"),
        ({"safe": "no"}, "safe"),
        ({"link": []}, "LINK"),
        ({"link": "rleu"}, "LINK"),
    ],
)
def test_what_is_refused_is_named(given, argument):
    with pytest.raises(InputError) as error:
        toy(**{"link": "z", "size": 2, **given})
    assert error.value.argument == argument
    assert error.value.remedy


def test_the_command_line_of_a_function_that_is_no_command(monkeypatch):
    """A new command is its module and its line in the index: nothing else is asked for."""
    from types import SimpleNamespace

    monkeypatch.setitem(COMMANDS, "toy", "a toy")
    monkeypatch.setitem(EXAMPLES, "toy", "bulkedge toy z --size 2")
    host = SimpleNamespace(toy=toy)
    found = vars(parse("toy", host, ["-z", "--size", "-2", "--pairs", "a=1", "--pairs", "b=-1", "--no-safe"]))
    assert found == {"link": "-z", "size": "-2", "pairs": ["a=1", "b=-1"], "safe": False, "mode": "table"}
    assert vars(parse("toy", host, ["-z", "-tanh(z)", "--share=-1", "--size", "2"]))["link"] == ["-z", "-tanh(z)"]
    for tokens, said in ((["z", "--sise", "2"], "--size"), (["z", "--siz", "2"], "--size"), (["z"], "--size")):
        with pytest.raises(UsageError, match=said):
            parse("toy", host, tokens)


def test_a_commands_help_of_the_light_ones_imports_nothing_heavy():
    """Declarations are light: a command whose Result needs no SymPy tells its options without it."""
    light = ["mp", "spike", "gamma", "outliers", "spectrum", "risk", "check"]
    code = (
        "import sys\nfrom bulkedge.commands import module\nfrom bulkedge.parser import parser\n"
        f"for name in {light!r}: parser(name, module(name)).format_help()\n"
        "print([m for m in ('sympy', 'numpy', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_index_is_whole():
    assert all(len(row) == 3 and all(isinstance(x, str) for x in row) for row in INDEX.values())
