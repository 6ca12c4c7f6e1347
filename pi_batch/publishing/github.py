"""Pull requests on GitHub: one per branch, opened as a draft and kept up to date.

Source: GitHub REST API, "Pulls" (2022-11-28). Works with GitHub Enterprise by its own API address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pi_batch.encoders import plain_line
from pi_batch.errors import PiBatchError

if TYPE_CHECKING:  # 60 ms of CPU; only needed where a request is made
    import httpx

API = "https://api.github.com"
TIMEOUT_S = 30.0


class ForgeError(PiBatchError):
    """The service where the repository lives refused, or was not reached."""

    kind = "network"


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on GitHub, and the right to write to it."""

    name: str
    """owner/name."""
    token: str = field(repr=False)
    api: str = API


async def publish(
    repository: Repository,
    *,
    branch: str,
    base: str,
    title: str,
    body: str,
    is_draft: bool = True,
    is_new: bool = True,
) -> str:
    """Open a pull request for a branch, or update the one that is open; its address.

    One that a person closed without merging it stays closed while the branch has nothing new.

    Raises: ForgeError.
    """
    import httpx

    headers = {
        "Authorization": f"Bearer {repository.token}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    owner = repository.name.split("/")[0]
    path = f"{repository.api.rstrip('/')}/repos/{repository.name}/pulls"
    async with httpx.AsyncClient(headers=headers, timeout=TIMEOUT_S) as client:
        asked = {"head": f"{owner}:{branch}", "state": "all", "sort": "created", "direction": "desc"}
        found = await _call(client, "GET", path, params=asked)
        known = [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
        words = {"title": title, "body": body}
        is_open = [one for one in known if one.get("state", "open") == "open"]
        if is_open:
            answer = await _call(client, "PATCH", f"{path}/{int(is_open[0]['number'])}", json=words)
        elif known and not is_new and not known[0].get("merged_at"):
            answer = known[0]
        else:
            new = {**words, "head": branch, "base": base, "draft": is_draft}
            answer = await _call(client, "POST", path, json=new)
    return str(answer.get("html_url", "")) if isinstance(answer, Mapping) else ""


async def _call(client: httpx.AsyncClient, method: str, url: str, **options: Any) -> Any:
    """One request's JSON. Raises: ForgeError with the service's own word."""
    import httpx

    what = f"{method} {httpx.URL(url).path}"
    try:
        answer = await client.request(method, url, **options)
    except httpx.HTTPError as error:
        raise ForgeError(f"{what}: {type(error).__name__}: {error}") from error
    try:
        content = answer.json()
    except ValueError:
        content = None
    if answer.is_success and content is not None:
        return content
    raise ForgeError(f"{what}: HTTP {answer.status_code}: {_said(content, answer.text)}")


def _said(content: object, text: str) -> str:
    """The service's reason, with the details that it lists."""
    if not isinstance(content, Mapping):
        return plain_line(text, 200) or "no reason given"
    errors = content.get("errors")
    details = [
        str(error.get("message") or error.get("code")) if isinstance(error, Mapping) else str(error)
        for error in (errors if isinstance(errors, list) else [])
    ]
    return plain_line("; ".join([str(content.get("message", "no reason given")), *details]), 300)
