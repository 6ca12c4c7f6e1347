"""junit.xml for readers that judge it by Jenkins' schema: the same without the files of the cases."""

from __future__ import annotations

from pathlib import PurePath

from pi_batch.reports.junit import JUnit
from pi_batch.reports.logs import no_logs
from pi_batch.reports.rows import ReadLog
from pi_batch.results import BatchResult


class XUnit:
    """The report named `xunit`; implements `protocols.Report`.

    Source: junit-10.xsd of Jenkins' xUnit plugin, which refuses a whole file for one attribute more.
    """

    name = "xunit"

    def __init__(self, read_log: ReadLog = no_logs, root: PurePath | None = None) -> None:
        self._junit = JUnit(read_log, root, has_files=False)

    def render(self, batch: BatchResult) -> str:
        """The whole document."""
        return self._junit.render(batch)
