"""The whole path from a raw file to a release, in a real browser."""

import shlex
import subprocess
import sys

import pytest

from mag.commands.cli import main
from tests.data.paths import DATA


def mag(words, folder):
    """Run a command line, as it was shown, in a folder."""
    assert words[0] == "mag"
    return subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True)


def check_exports(browser, out, tmp_path):
    """The command and the script that the page shows write the bytes that the page has written."""
    published = out.read_bytes()
    command = shlex.split(browser.page.inner_text("#command"))
    script = out.with_name(f"{out.stem}.mask.py")
    assert script.read_text() == browser.page.inner_text("#script")
    out.unlink()
    ran = mag([*command, "--overwrite"], tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert out.read_bytes() == published
    out.unlink()
    ran = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert out.read_bytes() == published


def shown(browser, words):
    """The words that any answer of the server has held."""
    assert len(browser.bodies) > 10
    everything = b"\n".join(body for _, body in browser.bodies)
    return {word for word in words if word.encode() in everything}


SECRETS = [f"Person {place}" for place in range(60)] + [
    f"{1000 + place * 37 % 900},{place % 10}5" for place in range(60)
]


def test_a_messy_file_from_open_to_publish(browser, messy, tmp_path):
    browser.enter()
    browser.page.fill("#path", str(messy))
    browser.page.click("text=How text files are read")
    browser.page.select_option("#decimal_comma", "yes")
    browser.page.fill("#null", "Ålter=NA")
    browser.page.fill("#date", "born=%d.%m.%Y")
    browser.press("Open")
    browser.wait("text=60 records")
    browser.to_roles()
    browser.set_roles(Näme="drop", weight="drop", born="mask", disease="sensitive")
    browser.to_risk()
    browser.to_choose()
    browser.settle()
    assert browser.page.locator("svg.tradeoff a").count() == 12
    browser.to_result()
    assert "Every record shares its values" in browser.text()
    out = tmp_path / "out of it.csv"
    browser.publish(out)
    assert main(["check", str(out), "--delimiter", ";", "--qi", "Ålter", "--qi", "born", "-k", "5"]) == 0
    check_exports(browser, out, tmp_path)
    assert not shown(browser, SECRETS)


@pytest.mark.skipif(not (DATA / "survey.csv").is_file(), reason="the public data are not here")
def test_the_survey_from_open_to_publish(browser, tmp_path):
    source = DATA / "survey.csv"
    header, *lines = source.read_text().splitlines()
    rows = [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]
    browser.open(source)
    browser.to_roles()
    browser.page.select_option("#bulk", "all columns")
    browser.page.select_option("#bulk-role", "drop")
    browser.press("Set")
    browser.set_roles(
        age="mask", expend="mask", income="mask", urbrur="by", hhcivil="sensitive", savings="keep", ori_hid="household"
    )
    browser.to_risk()
    assert "are unique on 4 quasi-identifiers" in browser.text()
    browser.to_choose()
    browser.settle()
    with browser.loading():
        browser.page.get_by_role("link", name="mdav, k = 10").click()
    assert browser.page.locator("a.chosen[aria-label^='mdav, k = 10:']").count() == 1
    assert (browser.page.input_value("#k"), browser.page.input_value("#method")) == ("10", "mdav")
    browser.page.click("text=Of single columns")
    browser.page.click("summary:has-text('hhcivil') >> nth=-1")
    browser.page.locator("input[id$='-diversity']").fill("2")
    browser.press("Continue to the result")
    browser.wait("text=household is not used with diversity")  # the library's sentence, with a way out
    with browser.loading():
        browser.page.click("main a:has-text('criteria and other options')")
    assert "household is not used" in browser.page.inner_text(".wrong:has(input[id$='-diversity'])")
    browser.press("Undo the options")
    browser.to_result()
    assert "at least 10 records of at least 10 households" in browser.text()
    out = tmp_path / "masked.csv"
    browser.publish(out)
    check_exports(browser, out, tmp_path)
    secrets = {row[name] for row in rows for name in ("expend", "savings") if len(row[name]) > 6}
    assert not shown(browser, secrets)
    again = mag(["mag", "rerun", f"{out}.manifest.json", str(source)], tmp_path)
    assert again.stdout.startswith("Equal: all 6 columns, and all bytes"), again.stderr + again.stdout


ADULT = DATA / "adult_arx"


@pytest.mark.skipif(not ADULT.is_dir(), reason="the public data are not here")
def test_adult_with_hierarchies_from_open_to_publish(browser, tmp_path):
    browser.enter()
    browser.page.fill("#path", str(ADULT / "adult.csv"))
    browser.page.click("text=How text files are read")
    browser.page.fill("#delimiter", ";")
    browser.press("Open")
    browser.to_roles()
    browser.set_roles(**{"salary-class": "sensitive", "occupation": "drop"})
    browser.to_risk()
    browser.press("Continue to hierarchies")
    for name in ("education", "marital-status", "native-country", "race", "sex", "workclass"):
        with browser.loading():
            browser.page.get_by_role("link", name=name, exact=True).click()
        browser.page.fill("#path", str(ADULT / f"adult_hierarchy_{name}.csv"))
        browser.press("Use this")
        assert browser.page.locator("text=Remove it").count() == 1
    browser.press("Continue to methods and k")  # and leave it before all methods are tried
    browser.page.select_option("#method", "mondrian")
    browser.page.fill("#k", "10")
    browser.to_result()
    out = tmp_path / "masked.csv"
    browser.publish(out)
    assert len(list(tmp_path.glob("masked.plan*.csv"))) == 6
    check_exports(browser, out, tmp_path)
