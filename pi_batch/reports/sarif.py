"""Findings of reviews as SARIF 2.1.0, for code scanning.

One rule per task, one result per finding, and one per task that failed or could not be judged, so that an
empty document means that there was nothing to find. Source: OASIS SARIF 2.1.0; GitHub's "SARIF support for
code scanning" (what of it is shown, and how much).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from pi_batch import __version__
from pi_batch.encoders import plain_line
from pi_batch.findings import Finding, findings_of
from pi_batch.reports.rows import Row, rows
from pi_batch.results import BatchResult

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RESULTS_MAX = 5000
"""GitHub shows that many of one run."""


class Sarif:
    """The report that code scanning reads."""

    name = "sarif"

    def render(self, batch: BatchResult) -> str:
        """The whole document."""
        every = rows(batch)
        results = [result for row in every for result in _results(row)]
        run: dict[str, Any] = {
            "tool": {
                "driver": {
                    "name": "pi-batch",
                    "version": __version__,
                    "rules": [_rule(row) for row in every],
                }
            },
            "automationDetails": {"id": f"pi-batch/{plain_line(batch.run_id, 100)}"},
            "columnKind": "unicodeCodePoints",
            "results": results[:RESULTS_MAX],
        }
        if len(results) > RESULTS_MAX:
            left = f"{len(results) - RESULTS_MAX} more results were left out"
            run["invocations"] = [
                {"executionSuccessful": True, "toolExecutionNotifications": [{"message": {"text": left}}]}
            ]
        document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
        return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def _rule(row: Row) -> dict[str, Any]:
    title = row.result.title if row.result is not None else ""
    return {"id": plain_line(row.name, 200), "shortDescription": {"text": plain_line(title, 300) or row.name}}


def _results(row: Row) -> Iterator[dict[str, Any]]:
    """A task's findings; without any, why it did not pass."""
    found = findings_of(row.result.structured_output) if row.result is not None else ()
    for finding in found:
        yield _result(row, finding)
    if not found and row.outcome in {"failed", "error", "missing"}:
        yield _result(row, Finding(row.spec, 1, "error", row.reason))


def _result(row: Row, finding: Finding) -> dict[str, Any]:
    message = plain_line(finding.message, 2000) or "(no message)"
    mark = f"{row.name}\0{finding.file}\0{message}".encode("utf-8", "replace")
    return {
        "ruleId": plain_line(row.name, 200),
        "level": finding.severity,
        "message": {"text": message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(finding.file, errors="replace")},
                    "region": {"startLine": finding.line},
                }
            }
        ],
        # The same remark stays the same when lines move.
        "partialFingerprints": {"piBatch/v1": hashlib.sha256(mark).hexdigest()[:32]},
    }
