"""Running a TeX engine, and reading its log: a document that compiles with warnings does not pass."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

# What in a log says that the page is not as it should be.
_TROUBLE = re.compile(r"^(!|LaTeX Warning|Package \w+ Warning|pdfTeX warning|Overfull|Underfull|Missing character)")
SECONDS = 300


class TexError(RuntimeError):
    """The engine failed: its first error and the line."""


def engine() -> str | None:
    """The engine that is installed: latexmk (with pdflatex) or tectonic, or None."""
    if shutil.which("latexmk") and shutil.which("pdflatex"):
        return "latexmk"
    return "tectonic" if shutil.which("tectonic") else None


def compile_pdf(source: Path, folder: Path) -> tuple[Path, tuple[str, ...]]:
    """Compile a LaTeX file in a scratch folder: the PDF and the log's warnings.

    Errors: TexError if it does not compile or takes longer than five minutes.
    """
    name = engine()
    if name is None:
        raise TexError("no TeX engine (latexmk with pdflatex, or tectonic) is installed")
    if name == "latexmk":
        command = ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
        command += [f"-outdir={folder}", str(source)]
    else:
        command = ["tectonic", "--untrusted", "--keep-logs", "--outdir", str(folder), str(source)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, cwd=folder, check=False)
    except subprocess.TimeoutExpired:
        raise TexError(f"{name} did not finish {source.name} in {SECONDS} s") from None
    log = folder / (source.stem + ".log")
    text = log.read_text(encoding="latin-1") if log.exists() else done.stdout.decode(errors="replace")
    pdf = folder / (source.stem + ".pdf")
    if done.returncode != 0 or not pdf.exists():
        lines = text.splitlines()
        at = next((i for i, line in enumerate(lines) if line.startswith("!")), 0)
        raise TexError(f"{source.name}: " + " ".join(lines[at : at + 4])[:400])
    return pdf, tuple(line for line in text.splitlines() if _TROUBLE.match(line))
