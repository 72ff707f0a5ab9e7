"""A child that does what the story's name says: the tests' stand-in for one that was taken over.

It speaks the channel by hand, so that it can also speak it wrongly.
"""

import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

Message = dict[str, Any]


class FakeChild:
    def __init__(self, end: socket.socket) -> None:
        self.end = end

    def say(self, message: Message, body: bytes | None = None) -> None:
        lengths = [] if body is None else [len(body)]
        header = json.dumps({"message": message, "attachments": lengths}).encode()
        self.raw(struct.pack(">II", len(header), len(body or b"")) + header + (body or b""))

    def raw(self, frame: bytes) -> None:
        self.end.sendall(frame)

    def hear(self) -> tuple[Message, bytes]:
        header, body = struct.unpack(">II", self._exactly(8))
        message: Message = json.loads(self._exactly(header))["message"]
        return message, self._exactly(body)

    def _exactly(self, size: int) -> bytes:
        parts = []
        while size:
            part = self.end.recv(min(size, 1 << 20))
            if not part:
                raise SystemExit(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def captured(self, asked: Message, png: bytes, **changes: object) -> None:
        answer = {
            "kind": "captured",
            "id": asked["id"],
            "story_id": asked["story_id"],
            "ending": "ok",
            "error": None,
            "warnings": [],
            "width_px": 8,
            "height_px": 8,
            "timings_ms": {},
        }
        self.say(answer | changes, png)

    def stage(self, asked: Message) -> None:
        self.say(
            {
                "kind": "stage",
                "id": asked["id"],
                "story_id": asked["story_id"],
                "stage": "rendering",
            }
        )


def wait_for_ever() -> NoReturn:
    while True:
        signal.pause()


def is_well(child: FakeChild, asked: Message) -> None:
    child.stage(asked)
    child.captured(asked, b"picture of " + asked["story_id"].encode())


def is_killed(child: FakeChild, asked: Message) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crashes(child: FakeChild, asked: Message) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def exits(child: FakeChild, asked: Message) -> None:
    sys.stderr.write("the driver is gone\x1b[31m\n")
    raise SystemExit(3)


def hangs(child: FakeChild, asked: Message) -> None:
    wait_for_ever()


def stalls(child: FakeChild, asked: Message) -> None:
    child.stage(asked)
    wait_for_ever()


def answers_when_told(child: FakeChild, asked: Message) -> None:
    child.stage(asked)
    told = Path(os.environ["HOME"], "told")
    while not told.exists():
        os.sched_yield()
    child.captured(asked, b"picture of " + asked["story_id"].encode())


def sends_a_path(child: FakeChild, asked: Message) -> None:
    child.captured(asked, b"", path="/etc/passwd")


def sends_a_pickle(child: FakeChild, asked: Message) -> None:
    header = pickle.dumps({"message": asked})
    child.raw(struct.pack(">II", len(header), 0) + header)


def sends_an_oversized_frame(child: FakeChild, asked: Message) -> None:
    child.raw(struct.pack(">II", 2**32 - 1, 2**32 - 1))
    wait_for_ever()


def sends_an_oversized_picture(child: FakeChild, asked: Message) -> None:
    child.raw(struct.pack(">II", 64, 2**31))
    wait_for_ever()


def answers_for_another_story(child: FakeChild, asked: Message) -> None:
    child.captured(asked, b"", story_id="innocent--story")


def answers_what_nobody_asked(child: FakeChild, asked: Message) -> None:
    child.captured(asked, b"", id=asked["id"] + 1)


def answers_with_something_else(child: FakeChild, asked: Message) -> None:
    child.say({"kind": "opened", "id": asked["id"], "port": 80})


def reports_progress_for_ever(child: FakeChild, asked: Message) -> None:
    while True:
        child.stage(asked)


def says_that_it_lives_for_ever(child: FakeChild, asked: Message) -> None:
    while True:
        child.say({"kind": "alive"})


def is_stopped(child: FakeChild, asked: Message) -> None:
    child.stage(asked)
    os.kill(os.getpid(), signal.SIGSTOP)


def leaves_the_channel(child: FakeChild, asked: Message) -> None:
    child.end.close()
    wait_for_ever()


def reads_the_parents_environment(child: FakeChild, asked: Message) -> None:
    try:
        found = Path(f"/proc/{os.getppid()}/environ").read_bytes()
    except OSError as error:
        found = type(error).__name__.encode()
    child.captured(asked, found)


def prints_its_environment(child: FakeChild, asked: Message) -> None:
    child.captured(asked, json.dumps(dict(os.environ)).encode())


def lists_its_descriptors(child: FakeChild, asked: Message) -> None:
    numbers = (0, 1, 2, child.end.fileno())
    links = [str(Path(f"/proc/self/fd/{number}").readlink()) for number in numbers]
    child.captured(asked, json.dumps(links).encode())


def reads_its_stdin(child: FakeChild, asked: Message) -> None:
    child.captured(asked, b"read: " + os.read(0, 100))


def writes_for_ever_to_stderr(child: FakeChild, asked: Message) -> None:
    for _ in range(2_000):
        os.write(2, b"x" * 600 + b"\n")
    is_well(child, asked)


def starts_a_browser(child: FakeChild, asked: Message) -> None:
    """In a session of its own, as Playwright does it, and reparented to init."""
    script = ["sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"]
    home = os.environ["HOME"].removesuffix("child") + "home"
    started = subprocess.run(
        script, env={"HOME": home, "PATH": os.environ["PATH"]}, stdout=-1, stderr=-3,
        start_new_session=True, check=True,
    )  # fmt: skip
    child.captured(asked, started.stdout.strip())


def starts_a_browser_and_is_killed(child: FakeChild, asked: Message) -> None:
    starts_a_browser(child, asked)
    is_killed(child, asked)


def starts_helpers_and_hangs(child: FakeChild, asked: Message) -> None:
    """With no environment to be known by: an orphan in its group, and a child in another."""
    orphan = subprocess.run(
        ["/bin/sh", "-c", "/bin/sleep 1000 >/dev/null 2>&1 & echo $!"],
        env={},
        stdout=-1,
        check=True,
    )
    helper = subprocess.Popen(["/bin/sleep", "1000"], env={}, start_new_session=True)
    pids = f"{orphan.stdout.decode().strip()} {helper.pid}"
    Path(os.environ["HOME"], "helpers").write_text(pids)
    child.stage(asked)
    wait_for_ever()


def grows(child: FakeChild, asked: Message) -> None:
    memory = bytearray(b"x") * (200 << 20)
    child.stage(asked)
    signal.pause()
    memory.clear()


def grows_out_of_sight(child: FakeChild, asked: Message) -> None:
    """In a process that is below nobody of ours any more."""
    hoards = (
        "import os, signal; m = bytearray(b'x') * (200 << 20); os.write(1, b'!');signal.pause()"
    )
    script = ["/bin/sh", "-c", '"$0" -c "$1" &', sys.executable, hoards]
    started = subprocess.Popen(script, stdout=subprocess.PIPE, start_new_session=True)
    started.wait()
    assert started.stdout is not None
    started.stdout.read(1)
    child.stage(asked)
    wait_for_ever()


def loses_its_browser(child: FakeChild, asked: Message) -> None:
    child.say({"kind": "failed", "id": asked["id"], "code": "browser", "message": "Target closed"})


def refuses(child: FakeChild, asked: Message) -> None:
    child.say({"kind": "failed", "id": asked["id"], "code": "not_open", "message": "no bundle"})


BEHAVIOURS: dict[str, Callable[[FakeChild, Message], None]] = {
    name.replace("_", "-"): behaviour
    for name, behaviour in list(globals().items())
    if getattr(behaviour, "__annotations__", {}).get("asked") is Message
}


def compared(asked: Message) -> Message:
    return {
        "kind": "compared",
        "id": asked["id"],
        "outcome": "identical",
        "reason": "",
        "base_size": {"width": 8, "height": 8},
        "head_size": {"width": 8, "height": 8},
        "raw_px": 0,
        "changed_px": 0,
        "faint_px": 0,
        "antialiased_px": 0,
        "regions": [],
        "engine": "fake",
        "engine_version": "1",
        "metric": "none",
        "mask_x": 0,
        "mask_y": 0,
    }


def serve(child: FakeChild) -> None:
    while True:
        asked, _ = child.hear()
        match asked["kind"]:
            case "open":
                child.say({"kind": "opened", "id": asked["id"], "port": 4321})
            case "read_stories":
                child.say({"kind": "stories_read", "id": asked["id"], "stories": [], "failed": []})
            case "capture":
                BEHAVIOURS[asked["story_id"]](child, asked)
            case "compare":
                child.say(compared(asked), b"")
            case _:
                return


def main() -> None:
    start, switches = sys.argv[1], dict(each.split("=", 1) for each in sys.argv[2:])
    if start == "will-not-start":
        raise SystemExit("no such browser")
    child = FakeChild(socket.socket(fileno=int(switches["--fd"])))
    if start == "has-no-browser":
        child.say({"kind": "failed", "id": 0, "code": "browser", "message": "no browser here"})
        wait_for_ever()
    if start == "never-ready":
        wait_for_ever()
    child.say({"kind": "ready", "facts": {"browser_kind": switches["--browser-kind"]}})
    serve(child)


if __name__ == "__main__":
    main()
