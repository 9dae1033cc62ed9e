"""The page of the server: a form that sends a text and a type to `/v1/extract`, and shows the answer with its evidence.

It is one file of HTML that holds nothing of the server's, so that it needs no key. Its policy allows its own script and
style alone, and requests to its own server. It shares style and script with the review page.
"""

from functools import cache
from pathlib import Path
from string import Template

from fastapi.responses import HTMLResponse

from structured.jobs.review_page import digest_of_source, page_part, to_inert_json
from structured.results.evidence import BANDS, MATCH_WORDS

SHARED_SCRIPTS, SCRIPTS = ("elements", "evidence"), ("answer", "calls", "asking")
"""The parts of the page's script, in order: those of the review page, and its own."""


@cache
def extraction_page() -> HTMLResponse:
    """Return the page, which is the same for every server, with its content security policy."""
    style = page_part("base.css") + _source("extraction.css")
    shared, own = (page_part(f"{name}.js") for name in SHARED_SCRIPTS), (_source(f"{name}.js") for name in SCRIPTS)
    script = "\n".join((*shared, *own))
    data = to_inert_json({"words": MATCH_WORDS, "bands": BANDS})
    html = Template(_source("extraction.html")).substitute(style=style, script=script, data=data)
    allowed = {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest_of_source(script)}'",
        "style-src": f"'sha256-{digest_of_source(style)}'",
        "connect-src": "'self'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    headers = {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in allowed.items()),
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return HTMLResponse(html, headers=headers)


def _source(name: str) -> str:
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")
