"""Running a TeX engine, and reading its log: a document that compiles with warnings does not pass."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

_ERROR = re.compile(r"^(!|l\.[0-9]+ |error:|.*\bnot found\b|I can't )", re.IGNORECASE)
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


PACKAGES = ("lmodern", "amsmath", "amssymb", "mathtools", "graphicx", "geometry", "array", "longtable", "hyperref")


def missing_packages() -> tuple[str, ...]:
    """The packages of the book that the installed TeX does not have; tectonic fetches what it needs."""
    if engine() != "latexmk" or shutil.which("kpsewhich") is None:
        return ()
    files = [f"{name}.sty" for name in PACKAGES]
    done = subprocess.run(["kpsewhich", *files], capture_output=True, text=True, check=False)
    there = {Path(line).name for line in done.stdout.splitlines()}
    return tuple(name for name, file in zip(PACKAGES, files, strict=True) if file not in there)


def compile_pdf(source: Path, folder: Path) -> tuple[Path, tuple[str, ...]]:
    """Compile a LaTeX file in a scratch folder: the PDF and the log's warnings.

    Errors: TexError if it does not compile or takes longer than five minutes.
    """
    source, folder = source.resolve(), folder.resolve()  # the engine runs in the folder, not here
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
    printed = (done.stdout + done.stderr).decode(errors="replace")
    text = log.read_text(encoding="latin-1") if log.exists() else printed
    pdf = folder / (source.stem + ".pdf")
    if done.returncode != 0 or not pdf.exists():
        raise TexError(
            f"{source.name}: {_failure(text) or _failure(printed) or f'{name} ended with status {done.returncode}'}"
        )
    return pdf, tuple(line for line in text.splitlines() if _TROUBLE.match(line))


def _failure(text: str) -> str:
    """TeX's first error with the lines that place it; else the last lines that name an error; else the last lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    at = next((i for i, line in enumerate(lines) if line.startswith("!")), None)
    if at is not None:
        return " ".join(lines[at : at + 4])[:400]
    named = [line for line in lines if _ERROR.match(line)]
    return " ".join((named or lines)[-3:])[-400:]
