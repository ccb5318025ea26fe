"""Headless Chromium for the tests: DevTools over a pipe, so that keys are real key events and print is print."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

import optional_tools

KEYS = {"Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "Home": 36, "Enter": 13}
FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
FLAGS += "--disable-sync --no-first-run"


def browser() -> str:
    """The browser's path; tests marked browser run only where there is one."""
    found = optional_tools.browser()
    assert found
    return found


class Tab:
    """One page in one browser of its own. Use as a context: the browser ends with it."""

    def __init__(self, url: str, profile: Path) -> None:
        # The browser reads commands from descriptor 3 and answers on 4, each ended by a zero byte.
        pipe = ["sh", "-c", 'exec "$0" "$@" 3<&0 4>&1 1>&2']
        command = [*pipe, browser(), *FLAGS.split(), "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.number, self.session, self.events = 0, "", list[Any]()
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Page.enable")
        self.open(url)

    def __enter__(self) -> Tab:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def _read(self) -> Any:
        assert self.process.stdout is not None
        answer = bytearray()
        while (byte := self.process.stdout.read(1)) != b"\0":
            assert byte, "the browser has ended"
            answer += byte
        return json.loads(answer)

    def send(self, method: str, **parameters: Any) -> Any:
        """One command and its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        while (answer := self._read()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, url: str) -> None:
        """Go to an address and wait until it is loaded."""
        before = len(self.events)
        self.send("Page.navigate", url=url)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events[before:]):
            self.events.append(self._read())

    def press(self, key: str) -> None:
        """Press and release a key."""
        code = KEYS.get(key, ord(key.upper()[0]))
        common = {"key": key, "code": key if key in KEYS else f"Key{key.upper()}", "windowsVirtualKeyCode": code}
        text = {"text": "\r"} if key == "Enter" else {} if key in KEYS else {"text": key}
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def value(self, script: str) -> Any:
        """The value of an expression in the page."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def pdf(self) -> bytes:
        """The page, printed."""
        return base64.b64decode(self.send("Page.printToPDF")["data"])
