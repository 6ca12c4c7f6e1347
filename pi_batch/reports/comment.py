"""A Markdown report that fits into a comment of a pull request."""

from __future__ import annotations

from pi_batch.reports.logs import no_logs
from pi_batch.reports.markdown import Markdown
from pi_batch.reports.rows import ReadLog
from pi_batch.results import BatchResult

COMMENT_BYTES = 60_000
"""GitHub takes 65,536 characters and refuses a longer comment whole; a person may want to add a line."""


class Comment:
    """The report named `comment`; implements `protocols.Report`."""

    name = "comment"

    def __init__(self, read_log: ReadLog = no_logs) -> None:
        self._markdown = Markdown(read_log, max_bytes=COMMENT_BYTES)

    def render(self, batch: BatchResult) -> str:
        """The whole document, never more than `COMMENT_BYTES` in UTF-8."""
        return self._markdown.render(batch)
