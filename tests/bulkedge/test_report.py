"""The report: complete, self-contained, honest about failures; in a browser formulas show and filters work."""

from __future__ import annotations

import re
import subprocess
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from chromium import FLAGS, Tab, browser

import bulkedge
from bulkedge import page, registry
from bulkedge.selection import Entry, entries, select
from bulkedge.svg import comparison, convergence
from numerics.check import Check, CheckResult, Control, Ladder, Point, Rate, SecondRoute, Verdict
from numerics.estimate import Estimate
from theory import symbols as s
from theory.enclosure import Enclosure
from theory.errors import InputError

HALF = SecondRoute(lambda: Enclosure(Fraction(1, 2), Fraction(0), "exact"))
LADDER = Ladder(lambda rng, size: {"x": 1.0}, "x", (10, 20), 1.0, 2, (10, 20), 2)
RATE = Rate(lambda rng, size: {"x": 1.0}, "x", (10, 20), 2, (10, 20), 2)
POINTS = (Point(100, 0.7, 0.02), Point(200, 0.6, 0.02), Point(400, 0.55, 0.02))


def _result(id: str, verdict: Verdict, measure: object = HALF, points: tuple[Point, ...] = ()) -> CheckResult:
    check = Check(id, "claim <b> & more", "O, Theorem 1", lambda: 0.5, measure, 1e-3, Control("k < 1", float))
    measured = Estimate(0.5, 0.01 if points else 0.0, 16)
    return CheckResult(check, 0.5, measured, verdict, Verdict.REFUTED, 0.9, points)


def _page() -> str:
    shown = (
        Entry("X1", "One", (s.mu1_star**2 / s.psi1,), ("z ~ N(0, 1)",), ("O, section 2",), "proved"),
        Entry("X2", "Two", (s.eta,), (), ("T, section 3", "M"), "conjectured"),
        Entry("X3", "Three", (), (), ("a note",), "derived"),
    )
    results = (
        _result("X1.a", Verdict.CONFIRMED, LADDER, POINTS),
        _result("X1.b", Verdict.CONFIRMED, RATE, POINTS),
        _result("X2.a", Verdict.REFUTED),
    )
    commands = {r.check.id: f"bulkedge check {r.check.id} --seed 3" for r in results}
    derived = [registry.derivations()[0].verify()]
    return page.page(shown, derived, results, commands, "0", "seed 3")


class _Balanced(HTMLParser):
    VOID = frozenset({"meta", "link", "br", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_well_formed_and_self_contained() -> None:
    text = _page()
    parser = _Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "http://" not in text.replace("http://www.w3.org/1998/Math/MathML", "")
    assert "https://" not in text
    assert "claim &lt;b&gt; &amp; more" in text
    assert "bulkedge check X1.a --seed 3" in text


def test_states() -> None:
    text = _page()
    assert re.findall(r'<article id="(\w+)" data-papers="([\w ]+)" data-verdict="(\w+)"', text) == [
        ("X1", "O", "CONFIRMED"),
        ("X2", "T M", "REFUTED"),
        ("X3", "other", "none"),
    ]
    good = _result("X", Verdict.CONFIRMED)
    blind_control = CheckResult(good.check, 0.5, good.measured, Verdict.CONFIRMED, Verdict.CONFIRMED, 0.9)
    assert page.verdict([good, blind_control]) == "BLIND"


@pytest.mark.parametrize("measure", [LADDER, RATE])
def test_pictures(measure: object) -> None:
    result = _result("X1.a", Verdict.CONFIRMED, measure, POINTS)
    for picture in (comparison(result), convergence(result)):
        root = ElementTree.fromstring(picture)
        width, height = (float(root.attrib[key]) for key in ("width", "height"))
        for element in root.iter():
            for key, limit in (("cx", width), ("x1", width), ("x2", width), ("cy", height), ("y1", height)):
                assert 0 <= float(element.attrib.get(key, 0)) <= limit
        assert "predicted" in root.attrib["aria-label"]
    assert convergence(_result("X", Verdict.CONFIRMED)) == ""


def test_every_statement_has_mathml() -> None:
    for entry in entries(select(())):
        for claim in entry.claims:
            assert "<math" in page.mathml(claim)


def test_the_command(tmp_path: Path) -> None:
    result = bulkedge.report(str(tmp_path), ["H4"])
    assert [p.name for p in tmp_path.iterdir()] == ["index.html"]
    assert result.exit_status == 0
    assert result.statements[0][:1] + result.statements[0][2:3] == ("H4", "CONFIRMED")
    with pytest.raises(InputError, match="cannot be written"):
        bulkedge.report("/proc/nowhere", ["H4"])


PROBE = """<script>
document.title=JSON.stringify([...document.querySelectorAll('math')].map(m=>m.getBoundingClientRect().height));
</script>"""


def _browse(path: Path, profile: Path, fragment: str = "", *more: str) -> tuple[str, str]:
    flags = [*FLAGS.split(), "--enable-logging=stderr", "--v=0"]
    command = [browser(), *flags, f"--user-data-dir={profile}", *more, f"file://{path}{fragment}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    return done.stdout, done.stderr


@pytest.mark.browser
def test_in_a_browser(tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text(_page().replace("</body>", PROBE + "</body>"))
    shown, log = _browse(file, tmp_path / "profile", "", "--dump-dom")
    assert "CONSOLE" not in log
    heights = [float(h) for h in re.search(r"<title>\[([^\]]*)\]", shown)[1].split(",")]  # type: ignore[index]
    assert len(heights) >= 2
    assert min(heights[:2]) > 8
    assert "3 statements shown" in shown
    shown, _ = _browse(file, tmp_path / "profile", "#paper=T", "--dump-dom")
    assert re.findall(r'<article id="(\w+)"[^>]*hidden', shown) == ["X1", "X3"]
    shown, _ = _browse(file, tmp_path / "profile", "#verdict=CONFIRMED&paper=nonsense", "--dump-dom")
    assert re.findall(r'<article id="(\w+)"[^>]*hidden', shown) == ["X2", "X3"]


@pytest.mark.browser
def test_no_sideways_scrolling_on_a_phone(tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    probe = "<script>document.title=document.documentElement.scrollWidth+' '+innerWidth;</script>"
    file.write_text(_page().replace("</body>", probe + "</body>"))
    shown, _ = _browse(file, tmp_path / "profile", "", "--window-size=500,900", "--dump-dom")
    width, window = map(int, re.search(r"<title>(\d+) (\d+)", shown).groups())  # type: ignore[union-attr]
    assert width <= window


SHOWN = "[...document.querySelectorAll('article')].filter(a=>a.getClientRects().length).map(a=>a.id)"
ACTIVE = "(e=>e.name||e.className||e.tagName)(document.activeElement)"


def test_filters_are_native_labelled_controls() -> None:
    form = re.search(r"<form.*?</form>", _page(), re.DOTALL)[0]  # type: ignore[index]
    assert re.findall(r"<label>(\w+)<select name=\"(\w+)\">", form) == [("Paper", "paper"), ("Verdict", "verdict")]
    assert form.count("<select") == 2
    assert 'role="status"' in form  # the number shown is announced
    assert not re.search(r'tabindex="(?!0")', _page())  # the order of focus is the order of reading


@pytest.mark.browser
def test_the_keyboard_alone_works_it(tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text(_page())
    with Tab(f"file://{file}", tmp_path / "profile") as tab:
        assert tab.value(SHOWN) == ["X1", "X2", "X3"]
        order = []
        for _ in range(4):
            tab.press("Tab")
            order.append(tab.value(ACTIVE))
        assert order == ["paper", "verdict", "formula", "formula"]
        assert tab.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"  # the focus is seen
        labels = "[...document.querySelectorAll('select')].map(s=>s.labels[0].firstChild.data)"
        assert tab.value(labels) == ["Paper", "Verdict"]

        tab.value("document.activeElement.blur();document.querySelector('select').focus()")
        tab.press("ArrowDown")
        assert tab.value("document.querySelector('select').value") == "O"
        assert tab.value(SHOWN) == ["X1"]
        assert tab.value("document.querySelector('#count').textContent") == "1 statement shown of 3: paper O"
        tab.press("ArrowDown")
        assert tab.value(SHOWN) == ["X2"]
        tab.press("Tab")
        tab.press("c")  # by its first letter: CONFIRMED, which no statement of that paper is
        assert tab.value(SHOWN) == []
        tab.press("Home")
        assert tab.value(SHOWN) == ["X2"]


@pytest.fixture
def all_statements(tmp_path: Path) -> Path:
    """Every statement, with the derivation of H4."""
    chosen = select(())
    derived = [d.verify() for d in chosen.derivations if registry.owner(d.id) == "H4"]
    file = tmp_path / "index.html"
    file.write_text(page.page(entries(chosen), derived, (), {}, "0", "no checks"))
    return file


@pytest.mark.browser
def test_a_derivation_opens_by_the_keyboard(all_statements: Path, tmp_path: Path) -> None:
    with Tab(f"file://{all_statements}#paper=P11", tmp_path / "profile") as tab:
        assert tab.value("document.querySelector('details').open") is False
        for _ in range(40):
            tab.press("Tab")
            if tab.value("document.activeElement.tagName") == "SUMMARY":
                break
        tab.press("Enter")
        assert tab.value("document.querySelector('details').open") is True


def _printed(file: Path, profile: Path, fragment: str = "") -> str:
    with Tab(f"file://{file}{fragment}", profile) as tab:
        read = ["pdftotext", "-layout", "-", "-"]
        return (
            subprocess.run(read, input=tab.pdf(), capture_output=True, check=True).stdout.decode().replace("\f", "\n")
        )


def _heads(text: str) -> list[str]:
    """The statements whose heads stand on the paper."""
    all = entries(select(()))
    return [st.id for st in all if re.search(rf"^ *{st.id} {re.escape(st.title[:20])}", text, re.MULTILINE)]


@pytest.mark.browser
def test_in_print(all_statements: Path, tmp_path: Path) -> None:
    text = _printed(all_statements, tmp_path / "profile")
    assert _heads(text) == [st.id for st in entries(select(()))]
    assert "only k = l is left" in text  # a derivation's steps: it is opened for print
    assert "Verdict" not in text  # controls are of no use on paper
    assert not re.search("statements? shown", text)


@pytest.mark.browser
def test_in_print_with_a_filter(all_statements: Path, tmp_path: Path) -> None:
    text = _printed(all_statements, tmp_path / "profile", "#paper=P11")
    shown = [st.id for st in entries(select(())) if "P11" in page.papers(st)]
    assert len(shown) > 1
    assert _heads(text) == shown
    # That the rest is left out is said on paper too.
    assert re.search(rf"{len(shown)} statements? shown of {len(entries(select(())))}: paper P11", text)
    assert "Verdict" not in text


@pytest.mark.browser
def test_a_wide_formula_fits_on_paper(tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    wide = sum(((s.mu1 + n) ** n / (s.psi1 + n) for n in range(2, 12)), s.mu1)
    file.write_text(page.page((Entry("X1", "Wide", (wide, s.mu1), (), (), "derived"),), (), (), {}, "0", ""))
    edge = "(()=>{document.body.style.width='40rem';const fits=[...document.querySelectorAll('.formula')]"
    edge += ".map(f=>f.scrollWidth<=f.clientWidth);document.body.style.width='';return fits})()"
    sizes = "[...document.querySelectorAll('math')].map(m=>m.style.fontSize!=='')"
    with Tab(f"file://{file}", tmp_path / "profile") as tab:
        assert tab.value(edge) == [False, True]
        tab.value("dispatchEvent(new Event('beforeprint'))")
        assert tab.value(edge) == [True, True]
        assert tab.value(sizes) == [True, False]
        tab.value("dispatchEvent(new Event('afterprint'))")
        assert tab.value(sizes) == [False, False]
