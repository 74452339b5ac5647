"""Parts of a report for other pages."""

import numpy as np
import pytest

import mag
from mag.report import inner_html, split_section


@pytest.fixture
def inside(tmp_path):
    table = {"age": np.repeat([31, 44, 52], 4), "income": np.arange(12.0)}
    page = mag.microaggregate(table, 3, ["age", "income"]).report(tmp_path / "report.html")
    return inner_html(page.read_text(encoding="utf-8"))


def test_a_section_is_shown_first_and_once(inside):
    section, others = split_section(inside, "Groups")
    assert section.startswith("<section><h2")
    assert "3 groups of 4 records" in section
    assert len(section) + len(others) == len(inside)
    assert ">Groups</h" not in others


def test_a_section_that_is_not_there_changes_nothing(inside):
    assert split_section(inside, "Gr.ups") == ("", inside)


def test_tables_scroll_by_keyboard(inside):
    assert inside.count("<table") == inside.count('<div class="scroll" tabindex="0" role="region" aria-label="') > 1
    assert "<h1" not in inside
