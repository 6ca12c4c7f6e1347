"""Renderings of a `BatchResult`: name -> where its class is. A new report is one file and one line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

TABLE = {
    "comment": "pi_batch.reports.comment:Comment",
    "digest": "pi_batch.reports.digest:DigestMarkdown",
    "digest-json": "pi_batch.reports.digest:DigestJson",
    "html": "pi_batch.reports.html.run_page:Html",
    "json": "pi_batch.reports.json:Json",
    "junit": "pi_batch.reports.junit:JUnit",
    "markdown": "pi_batch.reports.markdown:Markdown",
    "sarif": "pi_batch.reports.sarif:Sarif",
    "table": "pi_batch.reports.table:Table",
    "xunit": "pi_batch.reports.xunit:XUnit",
}
"""Each class can be made without arguments and satisfies `protocols.Report`."""


def load(name: str) -> Any:
    """A report's class. Raises: KeyError for a name that is not in the table."""
    module, _, attribute = TABLE[name].partition(":")
    return getattr(import_module(module), attribute)
