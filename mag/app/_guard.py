"""Access to the server: one browser, by a token; no other site, no other name of this machine.

The printed address has the token.  It opens a tab, whose address holds a secret, and sets a cookie for that address
alone: pages of other ports of this machine, to which browsers send cookies too, never get it.
"""

import hmac
import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "mag"
HTTP_METHODS = ("GET", "HEAD", "POST")
MAX_FORM_BYTES = 8 * 2**20  # of a form without a file, which is kept in memory
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # "no-referrer" would also blank the Origin of our own forms, which is checked
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """Checks every request before the pages see it, and puts the security headers on every response.

    The address with the token needs no cookie; the pages set it there, with `scope["secret"]`.
    """

    def __init__(self, pages: ASGIApp, port: int, token: str) -> None:
        self._pages, self._token = pages, token
        self._host, self._secret = f"127.0.0.1:{port}", secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no web sockets
            raise RuntimeError("only http is served.")
        headers = Headers(scope=scope)
        enters = self._enters(scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        status, refusal = 403, self._refuse(scope["method"], headers, enters)
        if not refusal and scope["method"] == "POST":
            status, refusal = 413, refuse_body(headers)
        if refusal:
            await PlainTextResponse(f"{refusal}\n", status)(scope, receive, send_guarded)
        else:
            await self._pages({**scope, "secret": self._secret if enters else ""}, receive, send_guarded)

    def _enters(self, scope: Scope) -> bool:
        """Whether this is the address that the command printed."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        right = hmac.compare_digest(given[0].encode(), self._token.encode())
        return bool(scope["path"] == "/" and scope["method"] == "GET" and len(given) == 1 and right)

    def _refuse(self, method: str, headers: Headers, enters: bool) -> str:
        """Why a request is refused; empty if it is not."""
        origins, site = headers.getlist("origin"), headers.get("sec-fetch-site", "same-origin")
        if headers.getlist("host") != [self._host]:
            return f"This server answers to http://{self._host} only."
        if method not in HTTP_METHODS:
            return "This server takes GET and POST only."
        if any(origin != f"http://{self._host}" for origin in origins) or (method == "POST" and len(origins) != 1):
            return "Requests of other sites are refused."
        if enters:  # the address with the token may be opened from anywhere, such as a terminal or a file
            return ""
        if site not in (("same-origin", "none") if method != "POST" else ("same-origin",)):
            return "Requests of other sites are refused."
        own = f"{COOKIE}={self._secret}".encode()  # pages of other ports may set cookies of the same name
        if not any(hmac.compare_digest(word.strip().encode(), own) for word in headers.get("cookie", "").split(";")):
            return "Open the address that mag app printed: it has the token."
        return ""


def refuse_body(headers: Headers) -> str:
    """Why the body of a request is not read; empty if it is.  Files go to the disk, and have a limit of their own."""
    sizes = headers.getlist("content-length")
    if "transfer-encoding" in headers or len(sizes) != 1 or not sizes[0].isdecimal():
        return "A form must tell its size."
    has_file = headers.get("content-type", "").startswith("multipart/")
    return "" if has_file or int(sizes[0]) <= MAX_FORM_BYTES else f"A form must have at most {MAX_FORM_BYTES} bytes."
