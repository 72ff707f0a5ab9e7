"""The same bundle built twice by the whole product: first without baselines, then against them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.capture_books import Book
from bench.machine import cores
from bench.main_flow import a_database, settings
from bench.readings import build_run
from bench.split import UnreadableRunError
from tests.flow.product import Product

VERDICTS = """
SELECT s.verdict, count(*) AS stories FROM snapshots s JOIN builds b ON b.id = s.build_id
JOIN projects p ON p.id = b.project_id WHERE p.slug = $1 AND b.number = $2 GROUP BY s.verdict
"""
FIRST, UNCHANGED = "added", "unchanged"  # the verdict that every story of the build has to have


@dataclass(frozen=True, slots=True)
class Twice:
    """Stories a second from seal to verdict, of the first build and of the one like it."""

    first_per_s: float
    unchanged_per_s: float


@contextmanager
def a_product() -> Iterator[Product]:
    """Start a server and a consumer with a slot a core."""
    with a_database() as (folder, url):
        product = Product(folder, url, settings())
        try:
            product.serve()
            product.consume(STORYSHELF_LOG_FORMAT="json")
            yield product
        finally:
            product.end()


def built_twice(product: Product, book: Book, slug: str) -> Twice:
    """Publish the bundle under two commits of a new project; raises UnreadableRunError."""
    product.make_project(slug)
    return Twice(*(_built(product, book, slug, verdict) for verdict in (FIRST, UNCHANGED)))


def _built(product: Product, book: Book, slug: str, verdict: str) -> float:
    told = product.publish(book.folder, f"{slug}-{verdict}").document
    if "build" not in told:
        raise UnreadableRunError(f"The bundle was not published: {told.get('error')}.")
    number = told["build"]["number"]
    found = {row["verdict"]: row["stories"] for row in product.rows(VERDICTS, slug, number)}
    if set(found) != {verdict}:
        raise UnreadableRunError(f"The stories of a build are {found}, not all {verdict}.")
    return build_run(product, slug, number, cores()).stories_per_s
