"""The report: complete, self-contained, honest about failures; in a browser formulas show and filters work."""

from __future__ import annotations

import itertools
import re
import subprocess
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sympy as sp
from chromium import FLAGS, Tab, browser

import bulkedge
from bulkedge import registry
from bulkedge.book import page
from bulkedge.book.selection import Entry, entries, select
from bulkedge.numerics.trials.check import Check, CheckResult, Control, Ladder, Point, Rate, SecondRoute, Verdict
from bulkedge.numerics.trials.estimate import Estimate
from bulkedge.results.mathml import LONG, formula
from bulkedge.results.svg import comparison, convergence
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import InputError

HALF = SecondRoute(lambda: Enclosure(Fraction(1, 2), Fraction(0), "exact"))
LADDER = Ladder(lambda rng, size: {"x": 1.0}, "x", (10, 20), 1.0, 2, (10, 20), 2)
RATE = Rate(lambda rng, size: {"x": 1.0}, "x", (10, 20, 40), 2, (10, 20, 40), 2)
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
    return page.page(shown, derived, results, commands, "0", 3)


class _Balanced(HTMLParser):
    VOID = frozenset({"meta", "link", "br", "input", "wbr"})

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
        assert "predicted" in root.attrib["aria-label"]  # what the picture says, said without it
        assert root.attrib["role"] == "img"
    assert convergence(_result("X", Verdict.CONFIRMED)) == ""


@pytest.mark.parametrize(("gap", "wrong"), [(0.0, 0.9), (0.0, 0.503), (-0.004, 0.503), (0.3, -2.0)])
def test_a_picture_shows_the_margin_and_says_where_the_control_lies(gap: float, wrong: float) -> None:
    check = Check("X1", "claim", "O", lambda: 0.5, LADDER, 1e-3, Control("k < 1", lambda: wrong))
    result = CheckResult(check, 0.5, Estimate(0.5 + gap, 2e-4, 16), Verdict.CONFIRMED, Verdict.REFUTED, wrong, POINTS)
    root = ElementTree.fromstring(comparison(result))
    bar = next(e for e in root if e.get("class") == "measured" and e.tag == "line")
    band = next(e for e in root if e.get("class") == "band")
    # The band is the resolution on both sides, the bar four standard errors: 0.8 of it.
    width, bar_width = float(band.attrib["width"]), float(bar.attrib["x2"]) - float(bar.attrib["x1"])
    assert bar_width == pytest.approx(0.8 * width, abs=0.2)
    outside = [e for e in root if e.get("class") == "arrow"]
    assert len(outside) == (abs(wrong - 0.5) > max(0.0025, 1.1 * (abs(gap) + 8e-4)))
    for e in outside:
        assert e.attrib["d"].startswith("M8 " if wrong < 0.5 else "M312 ")


def test_every_statement_has_mathml() -> None:
    for entry in entries(select(())):
        for claim in entry.claims:
            assert "<math" in formula(claim)


def test_a_long_sum_may_break_between_its_terms() -> None:
    terms = [(s.mu1 + n) ** n / (s.psi1 + n) for n in range(2, 9)]
    texts = []
    for long in (LONG, 10**6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bulkedge.results.mathml.LONG", long)
            root = ElementTree.fromstring(formula(sum(terms)).replace("<wbr>", "<wbr/>"))
        texts.append("".join(root.itertext()))
        assert len([e for e in root if e.tag.endswith("math")]) == (7 if long == LONG else 1)
    assert texts[0] == texts[1]  # nothing is lost
    assert formula(s.psi1 - 1).count("<math") == 1


def test_parentheses_stretch_around_what_is_tall_only() -> None:
    f, z = sp.Function("f"), s.z
    assert formula(f(z)).count('stretchy="false"') == 2
    assert 'stretchy="false"' not in formula(f(1 / z))


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
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
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
    assert re.search(r'class="none" hidden', shown)
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
    # The order of focus is the order of reading; the skip link's target takes the focus, but is no stop.
    assert re.findall(r'<(\w+)[^>]*tabindex="(?!0")', _page()) == ["main"]


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
            assert tab.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"  # the focus is seen
        assert order == ["skip", "paper", "verdict", "SUMMARY"]  # of the contents; no formula that fits
        tab.value("document.querySelector('.skip').focus()")
        assert tab.value("document.activeElement.getBoundingClientRect().left") >= 0
        tab.press("Enter")
        assert tab.value("document.activeElement.id") == "statements"
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
        assert tab.value("document.querySelector('.none').checkVisibility()")
        assert tab.value("location.hash") == "#paper=T&verdict=CONFIRMED"
        tab.press("Home")
        assert tab.value(SHOWN) == ["X2"]
        assert tab.value("location.hash") == "#paper=T"
        tab.press("Tab")
        assert tab.value("document.activeElement.textContent") == "Show all"
        tab.press("Enter")
        tab.value("new Promise(done=>setTimeout(done,50))")
        assert tab.value(SHOWN) == ["X1", "X2", "X3"]
        assert tab.value("document.activeElement.name") == "paper"


ROWS = "[...document.querySelectorAll('tbody tr')].filter(r=>!r.hidden).map(r=>r.cells[0].textContent)"


@pytest.mark.browser
def test_the_address_holds_the_filters(tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text(_page())
    with Tab(f"file://{file}#paper=O", tmp_path / "profile") as tab:
        assert tab.value(SHOWN) == tab.value(ROWS) == ["X1"]
        tab.value("location.hash='#paper=M&verdict=REFUTED'")  # a link, or an address typed in
        tab.value("new Promise(done=>setTimeout(done,50))")
        assert tab.value(SHOWN) == tab.value(ROWS) == ["X2"]
        tab.value("location.hash='#X1.b'")  # a link to what the filters hide
        tab.value("new Promise(done=>setTimeout(done,50))")
        assert tab.value(SHOWN) == ["X1", "X2", "X3"]
        top = "document.getElementById('X1.b').getBoundingClientRect().top"
        bar = "document.querySelector('form').getBoundingClientRect().bottom"
        assert tab.value(f"{bar}<={top}&&{top}<innerHeight")  # seen, and not under the bar


def _luminance(colour: str) -> float:
    """WCAG 2: relative luminance of a CSS colour rgb(r, g, b)."""
    channels = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def _contrast(a: str, b: str) -> float:
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


COLOURS = """(()=>{
  const e=document.createElement('i');document.body.append(e);
  const of=v=>{e.style.color=`var(--${v})`;return getComputedStyle(e).color};
  return Object.fromEntries(['ink','soft','good','bad','blind','blue','orange','back','card'].map(v=>[v,of(v)]));
})()"""


@pytest.mark.browser
def test_on_phone_tablet_and_desk_in_light_and_dark(tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    wide = (sum(((s.mu1 + n) ** n / (s.psi1 + n) for n in range(2, 6)), s.mu1)) ** 2 / s.psi2
    entry = Entry("X4", "Wide", (wide,), (), ("O",), "derived")
    result = _result("X4", Verdict.BLIND, LADDER, POINTS)
    file.write_text(page.page((entry,), (), (result,), {"X4": "bulkedge check X4"}, "0", 0))
    with Tab("about:blank", tmp_path / "profile") as tab:
        tab.send("Network.enable")
        tab.send("Runtime.enable")
        tab.send("Log.enable")
        for scheme, dark in (("light", False), ("dark", True)):
            tab.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for width, height, phone in ((390, 844, True), (820, 1180, True), (1280, 900, False)):
                size = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": phone}
                tab.send("Emulation.setDeviceMetricsOverride", **size)
                tab.open(f"file://{file}")
                assert tab.value("document.documentElement.scrollWidth") <= width  # the page never scrolls sideways
                # What does not fit scrolls within its own box, and can be reached by the keyboard.
                boxes = "[...document.querySelectorAll('.formula')].map(f=>[f.scrollWidth>f.clientWidth,f.tabIndex])"
                assert tab.value(boxes) == [[width == 390, 0 if width == 390 else -1]]
                assert tab.value("document.querySelector('form').offsetHeight") < height / 6
            found = tab.value(COLOURS)
            assert (_luminance(found["back"]) < 0.1) == dark
            for back in ("back", "card"):
                for text in ("ink", "soft", "good", "bad", "blind"):
                    assert _contrast(found[text], found[back]) >= 4.5, (scheme, text, back)  # WCAG AA, small text
                for line in ("blue", "orange"):
                    assert _contrast(found[line], found[back]) >= 3, (scheme, line, back)  # graphics
            assert _contrast(found["blue"], found["back"]) >= 4.5  # links
        asked = [e["params"]["request"]["url"] for e in tab.events if e["method"] == "Network.requestWillBeSent"]
        assert asked == [f"file://{file}"] * 6  # nothing but the page itself
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        assert [e for e in tab.events if e["method"] in kinds] == []


def test_landmarks_and_headings() -> None:
    text = _page()
    for landmark in ("<header>", "<main ", '<nav aria-label="contents">', '<form aria-label="filters">'):
        assert text.count(landmark) == 1
    levels = [int(n) for n in re.findall(r"<h(\d)", text)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert re.findall(r'<th scope="col">([\w ]+)<', text) == ["ID", "statement", "verdict", "checks passed"]
    assert re.findall(r'<th scope="row"><a href="#(\w+)"', text) == ["X1", "X2", "X3"]
    assert text.count("<svg") == text.count('role="img" aria-label="X')
    assert '<html lang="en">' in text


@pytest.fixture
def all_statements(tmp_path: Path) -> Path:
    """Every statement, with the derivation of H4."""
    chosen = select(())
    derived = [d.verify() for d in chosen.derivations if registry.owner(d.id) == "H4"]
    file = tmp_path / "index.html"
    file.write_text(page.page(entries(chosen), derived, (), {}, "0", 0))
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
    wide = sum(((s.mu1 + n) ** n / (s.psi1 + n) for n in range(2, 12)), s.mu1) ** 2  # nowhere to break
    file.write_text(page.page((Entry("X1", "Wide", (wide, s.mu1), (), (), "derived"),), (), (), {}, "0", 0))
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
