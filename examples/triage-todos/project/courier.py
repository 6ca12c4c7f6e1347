"""Sends what waits in an outbox."""

import json


def send_all(outbox, send):
    """Send every letter that waits; one that cannot be sent waits for the next time."""
    for path, letter in outbox.waiting():
        try:
            send(letter["to"], letter["text"])
        except OSError:
            # TODO: wait longer after each attempt
            letter["attempts"] += 1
            path.write_text(json.dumps(letter), encoding="utf-8")
        else:
            path.unlink()


# HACK: the old name, for the scripts of last year
flush = send_all
