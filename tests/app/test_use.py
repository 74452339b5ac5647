"""By keyboard, on a phone, in several tabs; reloaded, stopped and taken back."""

import itertools
import re

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
    with tab.loading():
        page.keyboard.type(f"{people}\n")
    tab.wait("text=Continue to roles")
    check(page)
    with tab.loading():
        press(page, "Continue to roles")
    tab.wait("text=Continue to the risk")
    check(page)
    for name in ("Näme", "disease"):
        press(page, f"Role of {name}", "d")  # drop
    with tab.loading():
        press(page, "Continue to the risk")
    tab.settle()
    check(page)
    with tab.loading():
        press(page, "Continue to hierarchies")
    check(page)
    with tab.loading():
        press(page, "Continue to methods and k")
    tab.settle()
    check(page)
    with tab.loading():
        press(page, "mondrian, k = 3")
    assert page.locator("a.chosen[aria-label^='mondrian, k = 3:']").count() == 1
    check(page)
    with tab.loading():
        press(page, "Continue to the result")
    tab.wait("text=Continue to publish")
    check(page)
    with tab.loading():
        press(page, "Continue to publish")
    check(page)
    press(page, "out", "Control+a")
    with tab.loading():
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
    with first.loading():
        first.page.locator("details[open] button:has-text('Use this')").last.click()
    assert first.page.locator("text=Remove it").count() == 1
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
    assert first.page.get_by_role("button", name="Undo").count() == 0  # a press ends on the new page
    assert first.page.input_value("#path") == ""
    assert "other.csv" in second.page.inner_text("header")


def test_work_is_stopped_and_started_again(chromium, app, visit, people):
    tab = visit(app)
    tab.open(people)
    tab.to_roles()
    tab.to_risk()
    tab.to_choose()
    try_everything(tab)
    tab.press("Stop")
    assert "Stopped." in tab.text()
    tab.page.reload()
    assert "Stopped." in tab.text()
    tab.press("Start again")
    assert tab.page.get_by_role("progressbar", name="Trying methods").count() == 1
    twin = tab.page.context.new_page()  # a second tab with this address
    twin.goto(tab.page.url)
    twin.get_by_role("button", name="Stop", exact=True).click()
    tab.page.wait_for_selector("#status:has-text('Stopped.')", state="attached")  # announced where it was not asked for
    tab.press("Undo the options")  # the work before, which ends
    tab.settle()
    assert tab.page.locator("svg.tradeoff a").count() == 12


def test_a_page_that_fills_keeps_what_is_open_and_the_focus(chromium, app, visit, people):
    tab = visit(app)
    page = tab.page
    tab.open(people)
    tab.to_roles()
    tab.to_risk()
    tab.to_choose()
    try_everything(tab)
    page.click("summary:has-text('as a table')")
    page.focus("svg.tradeoff a")
    rows = page.locator("#live tbody tr").count()
    page.wait_for_selector(f"#live tbody tr:nth-child({rows + 2})")
    assert page.evaluate("() => document.activeElement.matches('svg.tradeoff a')")
    assert page.is_visible("#live table")


def test_the_end_of_work_is_announced(client, people):
    client.send("open", action="open", path=people)
    client.settle("open")
    assert re.search(
        r'id="status" role="status"[^>]* hx-swap-oob="true">Done\.<', client.ask(f"{client.place}/open/live")[1]
    )


def test_a_slow_click_is_not_lost_when_the_page_changes(chromium, app, visit, people):
    tab = visit(app)
    page = tab.page
    tab.open(people)
    tab.to_roles()
    tab.to_risk()
    tab.to_choose()
    try_everything(tab)
    page.get_by_role("button", name="Stop", exact=True).hover()
    with tab.loading():
        page.mouse.down()
        for _ in range(2):  # answers come while the button is pressed
            with page.expect_response("**/live"):
                pass
        page.mouse.up()
    assert "Stopped." in tab.text()


def try_everything(tab):
    """Start work that takes far longer than what a test does, on a machine of any speed."""
    tab.page.click("summary:has-text('Try other methods')")
    tab.page.fill("#sizes", ", ".join(map(str, range(2, 60))))
    for box in tab.page.get_by_role("checkbox").all():
        box.check()
    tab.press("Try")


def test_a_mistake_opens_its_form_and_enter_sends_the_form_that_is_typed_in(chromium, app, visit, people):
    tab = visit(app)
    tab.open(people)
    tab.to_roles()
    tab.to_risk()
    tab.press("Continue to hierarchies")
    with tab.loading():
        tab.page.get_by_role("link", name="Ålter", exact=True).click()
    tab.page.click("summary:has-text('Intervals')")
    tab.page.fill("#low", "many")
    tab.page.fill("#widths", "10")
    with tab.loading():
        tab.page.press("#widths", "Enter")
    assert "low must be numbers" in tab.page.inner_text("#about-low")
    assert tab.page.is_visible("#low")
    assert tab.page.input_value("#widths") == "10"
    tab.press("Continue to methods and k")
    tab.page.fill("#k", "4")
    with tab.loading():
        tab.page.press("#k", "Enter")
    tab.page.wait_for_url("**/result")


def test_a_release_is_shown_for_the_decisions_that_made_it(chromium, app, visit, people, tmp_path):
    tab = visit(app)
    tab.open(people)
    tab.to_roles()
    tab.to_risk()
    tab.to_choose()
    tab.to_result()
    tab.publish(tmp_path / "masked.csv")
    with tab.loading():
        tab.page.click("nav a:has-text('Choose')")
    tab.page.fill("#k", "3")
    tab.to_result()
    tab.press("Continue to publish")
    assert "Published" not in tab.text()
    assert tab.page.input_value("#out") == str(tmp_path / "masked.csv")
    tab.press("Publish")
    assert "exists" in tab.page.inner_text(".wrong .wrongly")
    tab.press("Undo the options")
    assert "Published" in tab.text()


def test_a_page_says_that_the_app_has_ended(chromium, start, visit, people):
    app = start(people)
    tab = visit(app)
    tab.enter()
    tab.wait("text=Continue to roles")
    tab.to_roles()
    tab.to_risk()
    tab.to_choose()
    try_everything(tab)
    app.process.kill()
    tab.wait(".work p:has-text('mag app does not answer')")
