"""Requests from elsewhere are refused, and nothing remains when the server has ended."""

import contextlib
import hashlib
import os
import pathlib
import re
import signal
import stat
import sys
import time
from importlib.resources import files

import pytest

from tests.report.browser import PATIENCE_SECONDS

STEPS = ("open", "roles", "risk", "hierarchies", "choose", "result", "publish")


def test_the_address_has_a_token_and_sets_a_strict_cookie_for_a_secret_path(app, visitor):
    token = app.address.partition("token=")[2]
    assert len(token) >= 40
    response, text = visitor(app).ask(f"/?token={token}")
    path = re.search(r"url=(/s/[\w-]{40,}/)open", text)[1]
    words = response.headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=strict", f"Path={path}"} < {*words}
    assert not any(word.startswith(("Domain", "Expires", "Max-Age")) for word in words)


def test_the_cookie_opens_no_new_tab(client):
    """Nor does it get to other ports of this machine, which browsers send the cookies of all ports to."""
    assert client.ask("/")[0].status == 404


def test_a_cookie_that_another_port_has_set_changes_nothing(client):
    for cookie in (f"mag=guess; {client.cookie}", f"{client.cookie}; mag=guess"):
        assert client.ask(f"{client.place}/open", Cookie=cookie)[0].status == 200


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/s/x/static/app.css", "/s/x/open", "/nothing"])
def test_without_the_token_every_address_is_refused(app, path, visitor):
    response, text = visitor(app).ask(path)
    assert response.status == 403
    assert "Set-Cookie" not in response.headers
    assert "token" in text


def test_a_token_counts_on_the_first_page_only(client):
    token = client.app.address.partition("token=")[2]
    client.cookie = ""
    assert client.ask(f"{client.place}/open?token={token}")[0].status == 403
    assert client.ask(f"/?token={token}&token={token}")[0].status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost"},
        {"Host": "evil.example"},
        {"Host": None},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Cookie": None},
        {"Cookie": "mag=guess"},
        {"Cookie": "mag"},
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_sites_names_and_browsers_are_refused(client, method, headers):
    own = {"Origin": client.app.origin} if method == "POST" else {}
    body = {"action": "continue"} if method == "POST" else None
    before, _ = client.ask(f"{client.place}/open", method, body, **own)
    assert before.status in (200, 303)
    response, text = client.ask(f"{client.place}/open", method, body, **(own | headers))
    assert response.status in (400, 403)
    assert "Roles" not in text


def test_a_form_needs_an_origin(client):
    assert client.ask(f"{client.place}/open", "POST", {"action": "continue"})[0].status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(client, method):
    assert client.ask("/", method, Origin=client.app.origin)[0].status in (403, 405)


@pytest.mark.parametrize(
    "path",
    [
        "{place}/static/../app.css",
        "{place}/static/..%2f..%2f__init__.py",
        "{place}/static/%2e%2e/%2e%2e/__init__.py",
        "{place}/static/%2e%2e%2f%2e%2e%2f__init__.py",
        "{place}/static/..%5c..%5c__init__.py",
        "{place}/static//etc/passwd",
        "{place}/static/app.css%00.js",
        "{place}/files/passwd",
        "{place}/files/..%2f..%2f..%2fetc%2fpasswd",
        "{place}/files//etc/passwd",
        "{place}/../../etc/passwd",
        "{place}/etc",
        "/s/other/open",
    ],
)
def test_no_address_leads_to_a_file_that_was_not_published(client, path):
    response, text = client.ask(path.format(place=client.place))
    assert response.status == 404
    assert "root:" not in text
    assert "import" not in text


def test_every_answer_has_the_headers_of_a_page_that_trusts_nobody(client, visitor):
    paths = [f"{client.place}/{name}" for name in ("static/app.css", "static/htmx.min.js", "nothing", "open")]
    answers = [client.ask(path)[0] for path in paths] + [visitor(client.app).ask("/")[0]]
    for response in answers:
        policy = response.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "*" not in policy
        assert "frame-ancestors 'none'" in policy
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in response.headers


def test_pages_have_no_code_and_no_style_of_their_own(client):
    _, text = client.ask(f"{client.place}/open")
    assert not re.findall(r"<style|<script(?! src=\"/s/[\w-]+/static/)| style=| on\w+=|javascript:", text)
    assert '"allowEval": false' in text


def test_htmx_is_as_it_was_published_with_its_license():
    folder = files("mag.app") / "static"
    content = folder.joinpath("htmx.min.js").read_bytes()
    assert b'version:"2.0.11"' in content
    assert hashlib.sha256(content).hexdigest() == "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
    assert "Zero-Clause BSD" in folder.joinpath("htmx.LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize("step", STEPS[1:])
def test_steps_are_reached_in_order(client, step):
    response, _ = client.ask(f"{client.place}/{step}")
    assert (response.status, response.headers["Location"]) == (303, f"{client.place}/open")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"path": ""}, "path must name a file"),
        ({"path": "/no/such/file.csv"}, "there is no such file"),
        ({"path": "/etc/passwd"}, "files can be read from"),
        ({"path": "x.csv", "delimiter": "ab"}, "delimiter must be one character"),
        ({"path": "x.csv", "encoding": "klingon"}, "encoding must be a text encoding"),
        ({"path": "x.csv", "null": "a="}, "--null must be CODES"),
    ],
)
def test_a_mistake_is_one_sentence_beside_its_field(client, form, words):
    response, text = client.send("open", action="open", **form)
    assert response.status == 422
    field = [*form][-1]
    own = re.search(rf'id="about-{field}">(.*?)</p>', text, re.S)[1]
    assert words in (own if words.startswith((field, "--")) else text)
    assert re.search(rf'id="{field}"[^>]*aria-invalid="true"', text) or not words.startswith((field, "--"))


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_kept_is_private_and_gone_at_the_end(start, tmp_path, number, visitor):
    source = tmp_path / "people.csv"
    source.write_text("age\n31\n31\n52\n52\n")
    app = start(source)
    client = visitor(app).enter()
    client.ask(f"{client.place}/open")
    kept = app.kept()
    assert kept
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in kept if path.is_dir())
    workers = app.workers()
    assert workers
    app.end(number)
    assert list(app.folder.iterdir()) == []
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and signals of POSIX")
def test_nothing_remains_of_a_server_that_is_killed(start, visitor):
    app = start()
    visitor(app).enter()
    app.end(signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while list(app.folder.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_server_survives_the_end_of_its_workers(start, tmp_path, visitor):
    source = tmp_path / "people.csv"
    source.write_text("age\n31\n31\n52\n52\n")
    app = start(source)
    client = visitor(app).enter()
    for _ in range(2):
        for worker in app.workers():
            with contextlib.suppress(ProcessLookupError):  # it was followed by another one
                os.kill(worker, signal.SIGKILL)
        assert client.ask(f"{client.place}/open")[0].status == 200
    app.end()
    assert list(app.folder.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_port_is_of_this_machine_alone(app):
    port = f"{int(app.origin.rpartition(':')[2]):04X}"
    tables = [pathlib.Path("/proc/net", name).read_text() for name in ("tcp", "tcp6")]
    lines = [line.split()[1:4] for table in tables for line in table.splitlines()]
    assert [local for local, _, state in lines if local.endswith(f":{port}") and state == "0A"] == [f"0100007F:{port}"]


@pytest.mark.parametrize(
    "headers",
    [
        ["Transfer-Encoding: chunked"],
        ["Content-Length: 4", "Transfer-Encoding: chunked"],
        ["Content-Length: 4", "Content-Length: 5"],
        ["Content-Length: -1"],
        ["Content-Length: +4"],
        ["Content-Length : 4"],
        ["Transfer-Encoding: identity"],
        ["Content-Length: 4", "Host: evil.example"],
        ["Content-Length: 4", " Folded: line"],
        ["X: " + "x" * 100_000],
        [],
    ],
    ids=lambda headers: " ".join(headers)[:40],
)
def test_a_body_of_unclear_size_is_refused_and_hides_no_second_request(client, headers):
    own = [f"Host: {client.host}", f"Origin: {client.app.origin}", f"Cookie: {client.cookie}", *headers]
    hidden = f"0\r\n\r\nGET {client.place}/open HTTP/1.1\r\nHost: {client.host}\r\nCookie: {client.cookie}\r\n\r\n"
    answer = client.exchange(f"POST {client.place}/open HTTP/1.1", *own, body=hidden.encode())
    assert re.match(r"HTTP/1.1 (400|403|413|431) ", answer)
    assert "<html" not in answer


@pytest.mark.parametrize(
    "first", ["GET http://evil.example/ HTTP/1.1", "CONNECT evil.example:80 HTTP/1.1", "GET \xff HTTP/1.1"]
)
def test_the_server_is_no_proxy(client, first):
    answer = client.exchange(first, f"Host: {client.host}", f"Cookie: {client.cookie}")
    assert re.match(r"HTTP/1.1 (400|403|404) ", answer)


def test_a_web_socket_is_refused(client):
    upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA=="]
    own = [f"Host: {client.host}", f"Origin: {client.app.origin}", f"Cookie: {client.cookie}"]
    assert "101 Switching" not in client.exchange(f"GET {client.place}/open HTTP/1.1", *own, *upgrade)


def test_a_form_that_is_too_large_is_refused_before_it_is_read(client):
    own = [f"Host: {client.host}", f"Origin: {client.app.origin}", f"Cookie: {client.cookie}"]
    answer = client.exchange(
        f"POST {client.place}/roles HTTP/1.1",
        *own,
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {2**40}",
    )
    assert answer.startswith("HTTP/1.1 413 ")


def test_a_dropped_file_has_a_private_name_and_no_path(client, tmp_path):
    boundary, absolute = "x" * 20, tmp_path / "evil.csv"
    for name in ("../../../evil.csv", "..\\..\\evil.csv", str(absolute), "..", "."):
        part = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\nage\n31\n31\r\n'
        body = f"{part}--{boundary}--\r\n".encode()
        own = [f"Host: {client.host}", f"Origin: {client.app.origin}", f"Cookie: {client.cookie}"]
        own += [f"Content-Type: multipart/form-data; boundary={boundary}", f"Content-Length: {len(body)}"]
        answer = client.exchange(f"POST {client.place}/open HTTP/1.1", *own, body=body)
        assert re.match(r"HTTP/1.1 (303|422) ", answer), answer
    outside = [path for path in client.app.folder.parent.rglob("*evil*") if "mag-app-" not in str(path)]
    assert outside == []
    assert not absolute.exists()


def test_a_table_of_many_columns_has_a_form_that_is_read(client, tmp_path):
    source = tmp_path / "wide.csv"
    source.write_text("\n".join([",".join(f"c{place}" for place in range(1500))] + [",".join("1" * 1500)] * 6) + "\n")
    assert client.send("open", action="open", path=source)[0].status == 303
    assert client.send("open", action="continue")[0].status == 303
    assert "Role of c1499" in client.settle("roles")
    roles = {f"role-{place}": "drop" for place in range(1500)} | {"role-3": "mask"}
    response, _ = client.send("roles", action="continue", **roles)
    assert (response.status, response.headers["Location"]) == (303, f"{client.place}/risk")


def test_the_server_says_nothing_about_requests(start, visitor):
    app = start()
    client = visitor(app).enter()
    client.ask(f"{client.place}/open")
    client.ask("/?token=wrong")
    client.exchange("nonsense")
    own = [f"Host: {client.host}", f"Origin: {app.origin}", f"Cookie: {client.cookie}"]
    for size in (1000, 2**40):  # a tab that is closed while it sends a file
        parts = ["Content-Type: multipart/form-data; boundary=xyz", f"Content-Length: {size}"]
        client.leave(f"POST {client.place}/open HTTP/1.1", *own, *parts, body=b"--xyz\r\n")
    assert client.ask(f"{client.place}/open")[0].status == 200
    app.process.send_signal(signal.SIGTERM)
    out, complaint = app.process.communicate(timeout=PATIENCE_SECONDS)
    assert app.address.partition("token=")[2] not in out + complaint
    assert complaint == "mag: terminated; nothing was written.\n"


def test_a_step_that_another_tab_has_closed_leads_to_one_that_is_open(client, people):
    client.send("open", action="open", path=people)
    client.send("open", action="continue")
    client.settle("roles")
    client.send("roles", action="continue", **{"role-0": "mask"})
    client.settle("risk")
    client.send("risk", action="continue")
    for _ in range(2):
        client.send("undo")
    for step in ("roles", "risk", "hierarchies"):
        assert client.ask(f"{client.place}/{step}/live")[0].headers["HX-Refresh"] == "true"
        for place in (step, f"{step}/stop", f"{step}/again"):
            response, _ = client.send(place, action="continue")
            assert (response.status, response.headers["Location"].rpartition("/")[2]) in ((303, "open"), (303, step))
        assert client.ask(f"{client.place}/{step}")[0].headers["Location"] == f"{client.place}/open"


def test_stop_keeps_what_the_address_asked_for(client, people):
    client.send("open", action="open", path=people)
    for action in ("stop", "again"):
        response, _ = client.send(f"open/{action}?preview=1")
        assert response.headers["Location"] == f"{client.place}/open?preview=1"
    assert "Shapes of cells" in client.settle("open?preview=1")


MISTAKES = [
    ("open", {"action": "read", "path": "x"}),
    ("open", {"path": "~nobody-of-this-name/x.csv"}),
    ("open", {"path": "a\0b.csv"}),
    ("hierarchies", {"how": "prefixes", "keep": "nan"}),
    ("hierarchies", {"how": "prefixes", "keep": "1e400"}),
    ("hierarchies", {"how": "rows", "rows": "x" * 200_000}),
    ("hierarchies", {"how": "file", "path": "~nobody-of-this-name"}),
    ("hierarchies", {"how": "flat", "column": "9" * 5000}),
    ("choose", {"k": "3", "of-method": "k=1"}),
    ("choose", {"k": "9" * 5000}),
    ("choose", {"k": "3", "household_columns": "x" * 200_000}),
    ("publish", {"out": "a\0.csv"}),
    ("publish", {"out": "{source}", "overwrite": "yes"}),
    ("publish", {"out": "{link}", "overwrite": "yes"}),
]


@pytest.mark.parametrize(("step", "form"), MISTAKES, ids=str)
def test_a_hostile_form_ends_in_a_sentence(client, people, step, form):
    before = people.read_bytes()
    link = people.with_name("link.csv")
    link.symlink_to(people)
    if form.get("action") != "read":
        walk(client, people, step)
    form = {name: word.format(source=people, link=link) for name, word in form.items()}
    response, text = client.send(step, **({"column": "2"} | form if step == "hierarchies" else form))
    assert response.status == 422
    assert "defect" not in text
    assert people.read_bytes() == before


def walk(client, people, step):
    """Until a step can be taken."""
    if step != "open":
        client.send("open", action="open", path=people)
        client.send("open", action="continue")
        client.settle("roles")
        roles = ["drop", "mask", "mask", "mask", "drop"]
        client.send("roles", action="continue", **{f"role-{at}": role for at, role in enumerate(roles)})
        client.send("hierarchies", action="continue")
    if step == "publish":
        client.settle("result")


def test_a_dropped_file_may_have_any_name(client):
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a\0b.csv"\r\n\r\nage\n31\n31\r\n--x--\r\n'
    own = [f"Host: {client.host}", f"Origin: {client.app.origin}", f"Cookie: {client.cookie}"]
    own += ["Content-Type: multipart/form-data; boundary=x", f"Content-Length: {len(part)}"]
    assert client.exchange(f"POST {client.place}/open HTTP/1.1", *own, body=part).startswith("HTTP/1.1 303 ")
