"""Write the page of closed forms: `python docs/closed_forms.py docs/closed-forms.md`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from bulkedge import registry
from bulkedge.arguments import declarations
from bulkedge.cli import call
from bulkedge.commands import COMMANDS
from bulkedge.commands import function as command_function
from bulkedge.commands import module as command_module
from bulkedge.derivations.engine.latex import latex
from bulkedge.parser import parse

# One call a command; every command that takes letters has one (the test compares).
CALLS = {
    "hermite": ("'leaky_relu(z, s)' --degree 3 --positive s",),
    "kernel": ("'leaky_relu(z, s)' --positive s",),
    "sphere": ("relu --dim d --degree 3 --positive d",),
    "mp": ("--ratio c --scale s --positive c,s",),
    "spike": (
        "--ratio psi --strength theta --positive psi,theta",
        "--ratio psi --observed s --positive psi,s",
        "--ensemble covariance --ratio c --strength l --positive c,l",
        "--ensemble wigner --strength t --real t",
        "--ensemble wishart --ratio c --strength t --positive c --real t",
    ),
    "gamma": (
        "relu 'z + He(2, z)/2' --n alpha*d --m beta*d --d d --step eta --noise s --positive alpha,beta,d,s --real eta",
        "relu tanh --n alpha*d --m beta*d --d d --step eta --positive alpha,beta,d --real eta",
    ),
    "outliers": ("a b --degree inf --positive a,b",),
    "align": ("'He(2, z) + He(3, z)' --power 1 --alpha a --batch reused --noise s --positive a,s",),
    "convert": ("--from F --to O --step eta --width m --d d --n n --ridge l --positive eta,m,d,n,l",),
    "floor": ("relu 'z + He(2, z)' --noise s --positive s",),
}
HEAD = """# Closed forms

This page is made by `python docs/closed_forms.py docs/closed-forms.md` from the commands and from the registry of
statements; a test makes it anew and compares. With `--latex` a call prints the formula, with `--json` SymPy text, with
`--python` a NumPy function of the letters.

## Over your own letters
"""


def lettered() -> set[str]:
    """The commands whose numbers may hold declared symbols."""
    return {name for name in COMMANDS if any(a.letters for a in declarations(command_function(name)).values())}


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for name, calls in CALLS.items():
        parts.append(f"### {name}\n\n{COMMANDS[name]}.\n")
        for arguments in calls:
            found = call(name, parse(name, command_module(name), shlex.split(arguments)))
            parts.append(f"`bulkedge {name} {arguments} --latex`\n\n$${found.latex()}$$\n")
    parts.append("## Statements\n")
    for statement in registry.statements():
        forms = (statement.expression(), *(form() for form in statement.beside))
        shown = "\n\n".join(f"$${latex(form)}$$" for form in forms)
        parts.append(f"**{statement.id}** {statement.title}: `bulkedge show {statement.id} --latex`\n\n{shown}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
