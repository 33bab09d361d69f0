"""The engine: a `teml` process that runs statements of scripts and holds their values."""

import atexit
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings


class Error(Exception):
    """What teml says when it cannot do something. `text` is all of it, `message` its first line."""

    def __init__(self, text, message=None):
        super().__init__(text)
        self.text, self.message = text, message or text


class Refusal(Error):
    """A step cannot be applied to this nest or expression."""


class Mistake(Error):
    """A call that no nest makes right."""


class Limitation(Error):
    """teml does not support this yet."""


class Warning(UserWarning):
    """What teml warns about."""


_CLASSES = {"refusal": Refusal, "mistake": Mistake, "limitation": Limitation}


def program():
    """The path of the `teml` program: TEML_PROGRAM, the one in this package, or one on PATH."""
    beside = pathlib.Path(__file__).with_name("teml")
    given = os.environ.get("TEML_PROGRAM")
    found = given or (str(beside) if beside.is_file() else shutil.which("teml"))
    if not found:
        raise Error(
            "there is no program `teml`: `pip install` builds it, and TEML_PROGRAM names another"
        )
    return found


class Engine:
    """A process, started for the first request. A forked child starts one of its own."""

    def __init__(self):
        self._process, self._owner, self._started, self._catalog = None, None, 0, None
        self._dropped, self._directory = [], None
        self._lock = threading.RLock()

    def _start(self):
        # The pipes of a parent are the parent's, and so is its lock.
        self._lock = threading.RLock()
        self._dropped, self._directory = [], None
        try:
            self._process = subprocess.Popen(
                [program(), "serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                # Ctrl-C reaches the process once, from here.
                start_new_session=True,
            )
        except OSError as error:
            raise Error(f"cannot start `{program()}`: {error}") from error
        self._started += 1
        self._owner = (os.getpid(), self._started)

    def _is_running(self):
        return self._owner is not None and self._owner[0] == os.getpid()

    def ask(self, **what):
        """The answer to a request."""
        if not self._is_running():
            self._start()
        with self._lock:
            dropped, self._dropped = self._dropped, []
            try:
                self._process.stdin.write(json.dumps({"drop": dropped, **what}) + "\n")
                self._process.stdin.flush()
            except (BrokenPipeError, ValueError):
                self._lost()
            answer = self._answer()
        for text in answer.get("warnings", ()):
            warnings.warn(text, Warning, stacklevel=_depth())
        error = answer.get("error")
        if error is None:
            return answer["value"]
        if error["interrupted"]:
            raise KeyboardInterrupt
        text = error["text"]
        raise _CLASSES.get(error["class"], Error)(text, error["message"])

    def _answer(self):
        """The next answer; texts that scripts print come before it."""
        interrupted = False
        while True:
            try:
                line = self._process.stdout.readline()
            except KeyboardInterrupt:
                if interrupted:
                    self.close()
                    raise
                interrupted = True
                self._process.send_signal(signal.SIGINT)
                continue
            if not line:
                self._lost()
            answer = json.loads(line)
            if "print" in answer:
                self._print(answer["print"])
            elif interrupted:
                raise KeyboardInterrupt
            else:
                return answer

    def _print(self, text):
        sys.stdout.write(text)

    @contextlib.contextmanager
    def collected(self):
        """The texts that scripts print meanwhile, in a list."""
        with self._lock:
            texts, self._print = [], lambda text: texts.append(text)
            try:
                yield texts
            finally:
                del self._print

    def _lost(self):
        code = self._process.wait()
        self._owner = None
        raise Error(f"the program `teml` has ended, with code {code}; its values are lost")

    @property
    def catalog(self):
        """Every function that scripts can call, by name."""
        if self._catalog is None:
            entries = self.ask(catalog={})
            self._catalog = {}
            for entry in entries:
                self._catalog.setdefault(entry["name"], entry)
        return self._catalog

    def drop(self, owner, number):
        """A value is no longer needed."""
        if owner == self._owner:
            self._dropped.append(number)

    @property
    def owner(self):
        """Which process holds values now; None if there is none."""
        return self._owner if self._is_running() else None

    @property
    def directory(self):
        """A directory for files between this process and the other one."""
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="teml-")
        return pathlib.Path(self._directory.name)

    def close(self):
        """Ends the process; the next request starts another one."""
        if self._is_running():
            self._process.stdin.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
            self._owner = None


def caller():
    """The first frame outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    return frame


def _depth():
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        depth, frame = depth + 1, frame.f_back
    return depth


ENGINE = Engine()
atexit.register(ENGINE.close)
