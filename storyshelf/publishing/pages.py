"""The one page of our own on a content host: why there is nothing to see, and where to go."""

from base64 import b64encode
from hashlib import sha256
from html import escape
from string import Template

from starlette.responses import HTMLResponse

from storyshelf.web.problems import Problem

STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}"
    "code{overflow-wrap:anywhere}"
)
PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$what</title>
<style>$style</style>
</head>
<body>
<main>
<p>$status</p>
<h1>$what</h1>
<p><code>$where</code></p>
<p>$next_step</p>
<p><a href="$link">Go to storyshelf</a></p>
</main>
</body>
</html>
""")
STYLE_HASH = b64encode(sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
    "Cache-Control": "no-store",
}


def problem_page(problem: Problem, link: str) -> HTMLResponse:
    """Return the problem as a page that leads on to `link`."""
    texts = {
        "what": problem.what,
        "where": problem.where,
        "next_step": problem.next_step,
        "status": str(problem.status),
        "link": link,
    }
    html = PAGE.substitute({name: escape(text) for name, text in texts.items()}, style=STYLE)
    return HTMLResponse(html, problem.status, HEADERS)
