"""Letters that wait to be sent: a directory with one JSON file each."""

import json
import time
from pathlib import Path

MAX_ATTEMPTS = 5


class Outbox:
    """A directory of letters."""

    def __init__(self, directory):
        self.directory = Path(directory)
        # TODO: make the directory when it is missing
        self.directory.mkdir(parents=True, exist_ok=True)

    def put(self, recipient, text):
        """Keep a letter until it is sent."""
        # FIXME: two letters of the same millisecond get the same name
        path = self.directory / f"{int(time.time() * 1000)}.json"
        # XXX a crash in the middle leaves half a letter, and waiting() stumbles over it
        path.write_text(json.dumps({"to": recipient, "text": text, "attempts": 0}), encoding="utf-8")
        return path

    def waiting(self):
        """Letters to be sent, oldest first."""
        letters = [(path, json.loads(path.read_text(encoding="utf-8"))) for path in self._files()]
        return [(path, letter) for path, letter in letters if letter["attempts"] < MAX_ATTEMPTS]

    def _files(self):
        return sorted(self.directory.glob("*.json"), key=lambda path: int(path.stem))
