"""Headless Chromium over a pipe: pages opened, keys pressed, pictures taken. No network is used."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

ANSWER_S = 60.0
"""How long an answer may take on a machine that is busy."""
ARGUMENTS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--hide-scrollbars",
)
KEYS = {"Enter": 13, "Escape": 27, "Tab": 9, " ": 32, "ArrowDown": 40, "ArrowUp": 38}


class BrowserError(AssertionError):
    """Chromium said no, or nothing."""


class Browser:
    """One Chromium with one page, spoken to by the DevTools protocol; `close` ends it.

    Source: chromedevtools.github.io/devtools-protocol; over --remote-debugging-pipe a message ends in NUL.
    """

    def __init__(self, profile: Path) -> None:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            pytest.skip("chromium is not installed: apt-get install chromium")
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = 'exec "$@" 3<&%d 4>&%d' % (theirs_in, theirs_out)  # noqa: UP031 -- a shell's line
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                command,
                "browser",
                program,
                *ARGUMENTS,
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        os.set_blocking(self._in, False)
        self._number, self._rest = 0, b""
        self.said: list[dict[str, Any]] = []
        """Events so far: console messages, exceptions, requests."""
        page = next(one for one in self._call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        attached = self._call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command to the page."""
        return self._call(method, session=self._session, **parameters)

    def open(self, path: Path, *, width: int = 1200, is_dark: bool = False) -> None:
        """Open a file, and wait for it to be loaded."""
        self._size(width, 900)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.said.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(one["method"] == "Page.loadEventFired" for one in self.said):
            self._read()

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise BrowserError(str(done["exceptionDetails"]))
        return done["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other: a character, or a name out of KEYS."""
        for key in keys:
            text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
            code = KEYS.get(key, ord(key[0].upper()))
            more = {"text": text} if text else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **more)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def picture(self, path: Path) -> bytes:
        """A picture of the whole page, written to `path`."""
        for _ in range(2):  # what was out of sight gets its height only when it is in sight
            height = min(int(self.value("document.documentElement.scrollHeight")), 6000)
            self._size(self._width, height)
        done = self.call("Page.captureScreenshot")
        content = base64.b64decode(done["data"])
        path.write_bytes(content)
        return content

    @property
    def complaints(self) -> list[str]:
        """What the page has said that a clean page does not: errors, violations of its policy."""
        found = [
            one["params"]
            for one in self.said
            if one["method"] in ("Runtime.exceptionThrown", "Log.entryAdded")
        ]
        return [json.dumps(one) for one in found]

    @property
    def requests(self) -> list[str]:
        """Addresses that were asked for."""
        return [
            one["params"]["request"]["url"]
            for one in self.said
            if one["method"] == "Network.requestWillBeSent"
        ]

    def _size(self, width: int, height: int) -> None:
        self._width = width
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)

    def close(self) -> None:
        """End it."""
        try:
            self._call("Browser.close")
            self._process.wait(10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def _call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def _read(self) -> dict[str, Any]:
        """The next message; events are kept."""
        ends_s = time.monotonic() + ANSWER_S
        while b"\0" not in self._rest:
            try:
                read = os.read(self._in, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)
                if time.monotonic() > ends_s:
                    raise BrowserError("chromium says nothing") from None
                continue
            if not read:
                raise BrowserError("chromium has ended")
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self.said.append(message)
        return message
