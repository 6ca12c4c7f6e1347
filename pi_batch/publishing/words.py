"""The words of a commit or a pull request: what was done, by what, and how it was judged."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from pi_batch.encoders import keep_head, markdown_code, markdown_fence, plain_line, utf8_bytes
from pi_batch.errors import UsageError
from pi_batch.publishing.commit import TASK_TRAILER
from pi_batch.result_words import dollars, spent
from pi_batch.results import RunResult, VerificationResult

TITLE_MAX_CHARS = 72
BODY_MAX_BYTES = 60_000
"""GitHub takes 65,536 characters."""
ANSWER_MAX_BYTES = 20_000
FILES_MAX = 100


class Texts(Struct, frozen=True):
    """Title and body as jinja2 templates; None: the usual words.

    Names: title, body (the usual words), task_id, key, model, outcome, cost, run_id, summary, files (a list),
    answer (a Markdown block that nothing in it can close).
    """

    title_template: str | None = None
    body_template: str | None = None

    def title(self, result: RunResult, run_id: str) -> str:
        """One line. Raises: UsageError for a template that cannot be rendered."""
        if self.title_template is None:
            return title(result)
        return plain_line(_rendered(self.title_template, result, run_id, "--title"), 200) or title(result)

    def body(self, result: RunResult, run_id: str) -> str:
        """The text of a pull request. Raises: UsageError for a template that cannot be rendered."""
        if self.body_template is None:
            return pull_request_body(result, run_id)
        return keep_head(_rendered(self.body_template, result, run_id, "--body-file"), BODY_MAX_BYTES)


def _rendered(template: str, result: RunResult, run_id: str, flag: str) -> str:
    from jinja2 import StrictUndefined, TemplateError  # 40 ms of CPU
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    values: dict[str, Any] = {
        "title": title(result),
        "body": pull_request_body(result, run_id),
        "task_id": plain_line(result.task_id, 200),
        "key": plain_line(result.key, 200),
        "model": plain_line(", ".join(result.models_used) or result.model, 200),
        "outcome": result.outcome,
        "cost": dollars(result.total_cost_usd),
        "run_id": plain_line(run_id, 100),
        "summary": spent(result),
        "files": [plain_line(file.path, 300) for file in result.changed_files],
        "answer": markdown_fence(keep_head((result.answer or "").strip(), ANSWER_MAX_BYTES)),
    }
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    try:
        return environment.from_string(template).render(values)
    except (TemplateError, TypeError, ArithmeticError, MemoryError) as error:
        raise UsageError(f"{flag}: {error} (there are: {', '.join(values)})") from error


def title(result: RunResult) -> str:
    """One line: the spec's title, or the task's id."""
    return plain_line(result.title.strip() or result.task_id, TITLE_MAX_CHARS) or "task"


def commit_message(subject: str, result: RunResult, run_id: str) -> str:
    """Subject, what judged it, and trailers that say where it comes from; ends in one line feed."""
    trailers = {
        TASK_TRAILER: result.key,
        "Pi-Batch-Run": run_id,
        "Pi-Batch-Model": ", ".join(result.models_used) or result.model,
        "Pi-Batch-Cost": dollars(result.total_cost_usd),
    }
    lines = [f"{name}: {plain_line(value, 200)}" for name, value in trailers.items()]
    return f"{plain_line(subject, 200)}\n\n{_judged(result)}\n\n{chr(10).join(lines)}\n"


def pull_request_body(result: RunResult, run_id: str) -> str:
    """The text of a pull request in Markdown; foreign text stands in code only, so that none of it acts."""
    checks = [
        f"- {'passed' if check.passed else 'FAILED'}: {_check(check.name, check.command)}"
        for check in _last(result)
    ]
    files = [f"- {file.status} {markdown_code(file.path, in_table=False)}" for file in result.changed_files]
    more = [f"- and {len(files) - FILES_MAX} more"] if len(files) > FILES_MAX else []
    answer = (result.answer or "").strip()
    models = markdown_code(", ".join(result.models_used) or result.model, in_table=False)
    parts = [
        f"Made by pi-batch with {models}: {spent(result)}.",
        _section("How it was judged", checks or ["- by nothing: the task has no check"]),
        _section("What changed", [*files[:FILES_MAX], *more]),
        *(
            [f"## What the model said\n\n{markdown_fence(keep_head(answer, ANSWER_MAX_BYTES))}"]
            if answer
            else []
        ),
        f"Run {markdown_code(run_id, in_table=False)}, task {markdown_code(result.key, in_table=False)}.",
    ]
    text = "\n\n".join(part.strip() for part in parts) + "\n"
    return text if utf8_bytes(text) <= BODY_MAX_BYTES else "\n\n".join(parts[:1] + parts[-1:]) + "\n"


def _judged(result: RunResult) -> str:
    checks = ", ".join(plain_line(check.name, 60) for check in _last(result) if check.passed)
    return f"Checks that passed: {checks}." if checks else "Not verified: the task has no check."


def _last(result: RunResult) -> list[VerificationResult]:
    """The checks of the last attempt: those that decided."""
    last = max((check.attempt for check in result.verification), default=0)
    return [check for check in result.verification if check.attempt == last]


def _check(name: str, command: str) -> str:
    code = f" {markdown_code(command, in_table=False)}" if command else ""
    return f"{markdown_code(name, in_table=False)}{code}"


def _section(heading: str, lines: list[str]) -> str:
    return f"## {heading}\n\n" + "\n".join(lines)
