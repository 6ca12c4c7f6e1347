"""Slugs of titles."""

import re
import unicodedata

MAX_CHARS = 40


def slug(title):
    text = unicodedata.normalize("NFKD", title.replace("ẞ", "ss").lower().replace("ß", "ss"))
    text = "".join(char for char in text if not unicodedata.combining(char))
    text = re.sub(r"[^a-z0-9]+", "-", text).strip("-")
    if len(text) > MAX_CHARS:
        head = text[: MAX_CHARS + 1]
        text = head[: head.rfind("-")] if "-" in head else text[:MAX_CHARS]
    return text.strip("-") or "untitled"
