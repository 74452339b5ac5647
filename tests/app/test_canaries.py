"""No answer of the server shows a value that nobody asked to see, nor do its lines in the terminal."""

import random
import signal

import pytest

from tests.report.browser import PATIENCE_SECONDS

N = 90
INCOMES = random.Random(7).sample(range(1_000_003, 9_999_999, 2), N)
CANARIES = (
    [f"Zebedee{place}" for place in range(N)]  # not published
    + [f"remark{place}xyz" for place in range(N)]  # published unchanged
    + [f"unit{place}q" for place in range(N // 2)]
    + [str(income) for income in INCOMES]
    + ["Nusquamia", "rarissima"]  # a single cell of a masked column, and of a sensitive one
)


@pytest.fixture
def secrets(tmp_path):
    lines = ["name,remark,person,town,income,disease,born"]
    for place in range(N):
        town = "Nusquamia" if place == 40 else ("Köln", "Bonn", "Ulm")[place % 3]
        disease = "rarissima" if place == 50 else ("flu", "gout", "none", "cold")[place % 4]
        born = f"{1950 + place % 40}-0{1 + place % 9}-1{place % 10}"
        lines.append(f"Zebedee{place},remark{place}xyz,unit{place // 2}q,{town},{INCOMES[place]},{disease},{born}")
    path = tmp_path / "secrets.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


MISTAKES = [
    ("open", {"action": "read", "delimiter": "e"}),
    ("open", {"action": "read", "date": "born=%d.%m.%Y"}),
    ("open", {"action": "read", "date": "town=%Y"}),
    ("open", {"action": "read", "encoding": "utf-16"}),
    ("open", {"action": "read", "thousands": "0", "decimal_comma": "yes"}),
    ("open", {"action": "read", "null": "income=Zz"}),
    ("hierarchies", {"column": "3", "how": "intervals", "low": "0", "high": "1", "widths": "1"}),
    ("hierarchies", {"column": "4", "how": "intervals", "low": "0", "high": "10", "widths": "5"}),
    ("hierarchies", {"column": "4", "how": "dates", "levels": "year"}),
    ("hierarchies", {"column": "3", "how": "rows", "rows": "Ulm;*"}),
    ("hierarchies", {"column": "3", "how": "prefixes", "keep": "0"}),
    ("choose", {"k": "91"}),
    ("choose", {"k": "3", "5-diversity": "60"}),
    ("choose", {"k": "3", "4-aggregate": "mode", "3-aggregate": "mean"}),
    ("choose", {"k": "3", "4-special": "1"}),
    ("choose", {"k": "3", "3-order": "Ulm, Bonn"}),
    ("choose", {"k": "3", "scope": "per-column", "cost": "nothing"}),
]


def test_no_answer_shows_a_value_that_nobody_asked_to_see(start, visitor, secrets, tmp_path):
    app = start()
    client = visitor(app).enter()
    assert client.send("open", action="open", path=secrets)[0].status == 303
    assert "90 records" in client.settle("open")
    assert "shapes" in client.settle("open?preview=1")
    client.send("open", action="continue")
    client.settle("roles")
    roles = ["drop", "keep", "unit", "mask", "mask", "sensitive", "mask"]
    assert (
        client.send("roles", action="continue", **{f"role-{at}": role for at, role in enumerate(roles)})[0].status
        == 303
    )
    assert "unique" in client.settle("risk")
    client.send("risk", action="continue")
    for column in (3, 4, 6):
        client.settle(f"hierarchies?column={column}")
    assert client.send("hierarchies", column="3", how="flat")[0].status == 303
    client.settle("hierarchies?column=3")
    client.send("hierarchies", action="continue")
    trial = {"k": "3", "sizes": "3, 5", "records": "80", "try-mondrian": "1"}
    assert client.send("choose", action="try", **trial)[0].status == 303
    assert "tradeoff" in client.settle("choose")
    assert client.send("choose", k="3")[0].status == 303
    assert "Continue to publish" in client.settle("result")
    out = tmp_path / "masked.csv"
    assert client.send("publish", out=out)[0].status == 303
    assert 'id="command"' in client.settle("publish")
    refused = 0
    for step, form in MISTAKES:
        response, _ = client.send(step, **form)
        page = client.settle("result" if step == "choose" else step) if response.status == 303 else ""
        refused += (
            response.status == 422 or "There is a problem" in page or 'class="problem"' in page or "wrongly" in page
        )
        if step == "open" and response.status == 303:
            client.send("undo?step=open")
    app.process.send_signal(signal.SIGTERM)
    said = "".join(app.process.communicate(timeout=PATIENCE_SECONDS))
    assert len(client.heard) > 40
    assert refused > 10
    for place, text in [*client.heard, ("the terminal", said)]:
        assert [canary for canary in CANARIES if canary in text] == [], place
    assert any(f"remark{place}xyz" in out.read_text() for place in range(N))  # canaries can be found
