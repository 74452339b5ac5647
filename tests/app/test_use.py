"""By keyboard, on a phone, in several tabs; reloaded, stopped and taken back."""

import itertools

import pytest

NAMELESS = """() => [...document.querySelectorAll('a[href], button, input, select, textarea, svg[role]')]
    .filter(one => one.type !== 'hidden')
    .filter(one => !(one.labels?.length || one.getAttribute('aria-label') || one.textContent.trim()))
    .map(one => one.outerHTML.slice(0, 200))"""
REPEATED = """() => { const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
    return ids.filter((id, at) => ids.indexOf(id) !== at); }"""
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
OUTLINE = "() => getComputedStyle(document.activeElement).outlineStyle"
FOCUSED = """() => { const one = document.activeElement;
    return (one.getAttribute('aria-label') || one.textContent.trim() || one.name || '').trim(); }"""


@pytest.fixture
def people(tmp_path):
    lines = ["Näme,<b>Stadt</b>,Ålter,income €,disease"]
    for place in range(60):
        town, disease = ("Köln", "Bonn", "Ulm")[place % 3], ("flu", "gout", "none")[place % 3]
        lines.append(f"Person {place},{town},{20 + place * 7 % 50},{1000 + place * 37 % 900},{disease}")
    path = tmp_path / "some people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def check(page):
    """A page for everyone: names, one heading and one main part; nothing is cut off."""
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate(REPEATED) == []
    assert page.evaluate(TOO_WIDE) == 0
    assert page.get_by_role("main").count() == page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("navigation", name="Steps").count() == 1
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(one => +one.tagName[1])")
    assert levels[0] == 1
    assert all(after - before < 2 for before, after in itertools.pairwise(levels))


def press(page, label, key="Enter"):
    """Tab to what has this name, see where the focus is, and press a key."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED).startswith(label):
            assert page.evaluate(OUTLINE) == "solid"
            page.keyboard.press(key)
            return
    raise AssertionError(f"the keyboard does not reach {label}")


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_path_by_keyboard_on_a_phone(chromium, app, visit, people, tmp_path, look):
    tab = visit(app, viewport={"width": 390, "height": 800}, color_scheme=look)
    page = tab.page
    tab.enter()
    check(page)
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "Skip to the content"
    press(page, "path", "End")
    page.keyboard.type(f"{people}\n")
    tab.wait("text=Continue to roles")
    check(page)
    press(page, "Continue to roles")
    tab.wait("text=Continue to the risk")
    check(page)
    for name in ("Näme", "disease"):
        press(page, f"Role of {name}", "d")  # drop
    press(page, "Continue to the risk")
    tab.settle()
    check(page)
    press(page, "Continue to hierarchies")
    page.wait_for_url("**/hierarchies")
    check(page)
    press(page, "Continue to methods and k")
    tab.wait("svg.tradeoff a")
    tab.settle()
    check(page)
    press(page, "mondrian, k = 3")
    tab.wait("a.chosen[aria-label^='mondrian, k = 3:']")
    check(page)
    press(page, "Continue to the result")
    tab.wait("text=Continue to publish")
    check(page)
    press(page, "Continue to publish")
    page.wait_for_url("**/publish")
    check(page)
    press(page, "out", "Control+a")
    page.keyboard.type(f"{tmp_path / 'masked.csv'}\n")
    tab.wait("#command")
    check(page)
    assert (tmp_path / "masked.csv").is_file()


def test_tabs_do_not_disturb_each_other_and_every_step_is_taken_back(chromium, app, visit, people, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("age,sex\n" + "31,m\n44,f\n" * 20)
    first, second = visit(app), visit(app)
    first.open(people)
    second.enter()
    second.page.set_input_files("#file", other)  # dropped on the page
    second.press("Open")
    second.wait("text=Continue to roles")
    first.to_roles()
    first.set_roles(Näme="drop")
    first.to_risk()
    first.page.reload()  # work and decisions survive
    first.settle()
    assert "some people.csv" in first.page.inner_text("header")
    assert "40 records, 2 columns" in second.text()
    first.page.goto(first.page.url.replace("/risk", "/hierarchies?column=1"))
    first.page.click("summary:has-text('All values below one root')")
    first.page.locator("details[open] button:has-text('Use this')").last.click()
    first.wait("text=Remove it")
    first.press("Continue to methods and k")
    first.page.fill("#k", "four")
    first.press("Continue to the result")
    first.wait("#about-k:has-text('k must be an integer')")
    assert first.page.evaluate("() => document.activeElement.id") == "k"
    first.page.fill("#k", "4")
    first.press("Continue to the result")
    first.wait("text=Continue to publish")
    for decision in ("the options", "the hierarchy of <b>Stadt</b>", "the roles", "open some people.csv"):
        first.press(f"Undo {decision}")
    assert first.page.get_by_role("button", name="Undo").count() == 0
    assert first.page.input_value("#path") == ""
    assert "other.csv" in second.page.inner_text("header")


@pytest.fixture
def trying(chromium, app, visit, tmp_path):
    """A page on which methods are tried, on records enough that the work goes on while the test acts."""
    lines = ["age,income", *(f"{20 + place * 7 % 50},{1000 + place * 7919 % 90001}" for place in range(20_000))]
    path = tmp_path / "many people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tab = visit(app)
    tab.open(path)
    tab.to_roles()
    tab.to_risk()
    tab.press("Continue to hierarchies")
    tab.press("Continue to methods and k")
    return tab


def test_work_is_stopped_and_started_again(trying):
    trying.press("Stop")
    trying.wait("text=Stopped.")
    trying.page.reload()
    assert "Stopped." in trying.text()
    trying.press("Start again")
    trying.settle()
    assert trying.page.locator("svg.tradeoff a").count() == 12
    assert trying.page.inner_text("#status") == "Done."


def test_a_slow_click_is_not_lost_when_the_page_changes(trying):
    page = trying.page
    page.get_by_role("button", name="Stop", exact=True).hover()
    page.mouse.down()
    with page.expect_response("**/live"):  # the answer comes while the button is pressed
        pass
    page.wait_for_timeout(200)
    page.mouse.up()
    trying.wait("text=Stopped.")
