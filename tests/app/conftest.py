"""A running app, and a browser: Debian's Chromium, driven by playwright; the tests skip where one is missing."""

import contextlib
import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

import pytest

from tests.report.browser import CHROMIUM, FLAGS, PATIENCE_SECONDS


class Running:
    """The process of `mag app`, the address that it printed, and where it keeps its files."""

    def __init__(self, process, address, folder):
        self.process, self.address, self.folder = process, address, folder
        self.origin = address.partition("/?")[0]

    def kept(self):
        """Everything in its private folder."""
        return sorted(path for place in self.folder.glob("mag-app-*") for path in [place, *place.rglob("*")])

    def workers(self):
        """The numbers of the processes that compute."""
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [int(word) for word in listed.stdout.split()]

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(PATIENCE_SECONDS)


@contextlib.contextmanager
def started(folder, *arguments):
    """`mag app`, whose temporary files are in a folder of the test."""
    own = folder / "temporary"
    own.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "mag", "app", "--no-browser", *map(str, arguments)],
        env=os.environ | {"TMPDIR": str(own), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield Running(process, re.search(r"http://\S+", line)[0], own)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def app(tmp_path_factory):
    """One app without a file, for all tests that open their own."""
    pytest.importorskip("starlette")
    with started(tmp_path_factory.mktemp("app")) as running:
        yield running


@pytest.fixture
def start(tmp_path):
    """Start an app of this test's own."""
    pytest.importorskip("starlette")
    with contextlib.ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(started(tmp_path, *arguments))


class Client:
    """A client that keeps the cookie, and sends what a test asks for."""

    def __init__(self, app):
        self.app = app
        self.host = app.origin.removeprefix("http://")
        self.cookie = ""
        self.heard = []

    def ask(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE_SECONDS)
        own = {"Host": self.host} | ({"Cookie": self.cookie} if self.cookie else {})
        own |= {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
        own |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        content = None if body is None else urllib.parse.urlencode(body).encode()
        if content is not None:
            own["Content-Length"] = str(len(content))
        for name, value in own.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(content)
        response = connection.getresponse()
        text = response.read().decode()
        self.heard.append((path, f"{response.headers}{text}"))
        connection.close()
        return response, text

    def leave(self, *lines, body=b""):
        """Send bytes as they are, and close the connection."""
        with socket.create_connection(("127.0.0.1", int(self.host.partition(":")[2]))) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def exchange(self, *lines, body=b""):
        """Send bytes as they are; all that is answered until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", int(self.host.partition(":")[2]))) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body)
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode("latin-1")

    def enter(self):
        response, text = self.ask(self.app.address.removeprefix(self.app.origin))
        self.cookie = response.headers["Set-Cookie"].partition(";")[0]
        self.place = re.search(r"/s/[\w-]+", text)[0]
        return self

    def settle(self, step):
        """Ask again until no work goes on."""
        asked = (self.ask(f"{self.place}/{step}")[1] for _ in range(PATIENCE_SECONDS * 5) if not time.sleep(0.2))
        return next(text for text in asked if 'hx-trigger="load' not in text)

    def send(self, step, **form):
        return self.ask(f"{self.place}/{step}", "POST", form, Origin=self.app.origin)


@pytest.fixture
def visitor():
    """A client of an app, which has not entered."""
    return Client


@pytest.fixture
def client(app):
    return Client(app).enter()


@pytest.fixture(scope="session")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
    if CHROMIUM is None:
        pytest.skip("Chromium is missing")
    with playwright.sync_playwright() as driver:
        limit = PATIENCE_SECONDS * 1000
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split(), timeout=limit)
        yield browser
        browser.close()


class Browser:
    """A page, everything that the server has sent to it, and what a user does on it.

    What leads to another page ends when that page is there: nothing may be read from the page before.
    """

    def __init__(self, context, app):
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.page, self.app = context.new_page(), app
        self.bodies, self.complaints, self.elsewhere = [], [], []
        self.page.on("response", self._hear)
        self.page.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))
        self.page.on("request", self._see)

    def _see(self, request):
        if not request.url.startswith((self.app.origin, "data:", "about:")):
            self.elsewhere.append(request.url)

    def _hear(self, response):
        with contextlib.suppress(Exception):  # redirects have no body
            self.bodies.append((response.url, response.body()))

    def enter(self):
        """A new tab."""
        self.page.goto(self.app.address)
        self.page.wait_for_url("**/open")

    def open(self, path):
        """Open a file by its path."""
        self.enter()
        self.page.fill("#path", str(path))
        self.press("Open")
        self.wait("text=Continue to roles")

    def wait(self, what):
        self.page.wait_for_selector(what)

    def press(self, label):
        """Press a button, which loads a page."""
        with self.loading():
            self.page.get_by_role("button", name=label, exact=True).first.click()

    @contextlib.contextmanager
    def loading(self):
        """A block that loads a page, which may have the same address."""
        self.page.evaluate("document.documentElement.id = 'before'")
        yield
        self.page.wait_for_selector("html:not(#before) footer", state="attached")
        self.page.wait_for_load_state()

    def settle(self):
        """Until no work goes on."""
        self.wait("#live:not([hx-get])")

    def text(self):
        return self.page.inner_text("main")

    def to_roles(self):
        self.press("Continue to roles")
        self.wait("text=Continue to the risk")

    def to_risk(self):
        self.press("Continue to the risk")
        self.wait(".report")

    def to_choose(self):
        self.press("Continue to hierarchies")
        self.press("Continue to methods and k")

    def to_result(self):
        self.press("Continue to the result")
        self.wait("text=Continue to publish")

    def publish(self, out):
        """Publish, and wait for the command."""
        self.press("Continue to publish")
        self.page.fill("#out", str(out))
        self.press("Publish")
        self.wait("#command")

    def set_roles(self, **roles):
        for name, role in roles.items():
            self.page.get_by_label(f"Role of {name}", exact=True).select_option(role)


@pytest.fixture
def browser(chromium, app):
    """A page of the shared app; nothing may be asked of another machine, and no script or style be refused."""
    context = chromium.new_context()
    tab = Browser(context, app)
    yield tab
    context.close()
    assert tab.elsewhere == []
    assert [one for one in tab.complaints if "422" not in one] == []  # the console notes answers with a problem


@pytest.fixture
def visit(chromium):
    """A page of any app, of any size."""
    contexts = []

    def visit(app, **options):
        contexts.append(chromium.new_context(**options))
        return Browser(contexts[-1], app)

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture
def people(tmp_path):
    lines = ["Näme,<b>Stadt</b>,Ålter,income €,disease"]
    for place in range(60):
        town, disease = ("Köln", "Bonn", "Ulm")[place % 3], ("flu", "gout", "none")[place % 3]
        lines.append(f"Person {place},{town},{20 + place * 7 % 50},{1000 + place * 37 % 900},{disease}")
    path = tmp_path / "some people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def messy(tmp_path):
    """A file as people have them: semicolons, decimal commas, codes, missing cells, dates, accents, markup in names."""
    lines = ["Näme;<b>Stadt</b>;Ålter;income, €;born;disease;weight"]
    for place in range(60):
        cells = [
            f"Person {place}",
            ("Köln", "Bonn", "Ulm", "")[place % 4],
            "NA" if place % 13 == 5 else str(20 + place * 7 % 50),
            f"{1000 + place * 37 % 900},{place % 10}5",
            f"{1 + place % 28:02d}.0{1 + place % 9}.19{50 + place % 40}",
            ("flu", "gout", "none")[place % 3],
            str(10 + place % 3),
        ]
        lines.append(";".join(cells))
    path = pathlib.Path(tmp_path, "messy file.csv")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
