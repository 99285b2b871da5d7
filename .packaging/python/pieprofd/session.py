# SPDX-License-Identifier: Apache-2.0
"""One run of the program on this process.

    start()   program | --pid us --duration 0 -o temporary.pieprof --> READY=1
    stop()    SIGINT  | recording, text, exit code

The program is a child of ours that reads us from outside. It writes to files, never to pipes: it may hold up the very
thread that would read them. Reports in any format are made of the recording afterwards.
"""
from __future__ import annotations

import html
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import warnings
from types import TracebackType
from typing import Any, List, Optional, Sequence, Tuple, Type, Union

from . import program

Path = Union[str, "os.PathLike[str]"]

# Between two looks whether the program has ended without being ready.
POLL_S = 0.05

FRAME = """<pre>%s</pre>
<iframe srcdoc="%s" sandbox="allow-scripts" style="width: 100%%; height: 45em; border: 1px solid #8888"></iframe>"""


class ProfileError(RuntimeError):
    """Why there is no profile, in the program's words: cause and cure. code: its exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code

    def _render_traceback_(self) -> List[str]:
        """IPython: the words alone."""
        return [str(self)]


def make_report(recordings: Sequence[Path], *options: str) -> Tuple[int, bytes, str]:
    """`pieprofd report`: its exit code, standard output and standard error."""
    run = subprocess.run([program.find(), "report", *(os.fspath(path) for path in recordings), *options],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return run.returncode, run.stdout, run.stderr.decode(errors="replace").strip()


class Profile:
    """
    What the program found out between start() and stop(), or in a `with` block.
    text: the first screen. notes: what the program said beside it. recording: the content of a .pieprof file.
    """

    def __init__(self, *options: str, output: Union[Path, Sequence[Path]] = ()) -> None:
        if "--format" in options or any(option.startswith("--format=") for option in options):
            raise ProfileError("--format would be the recording's, too: -o x.json says the format by its name", 2)
        outputs = [output] if isinstance(output, (str, os.PathLike)) else output
        self.options = list(options) + [word for path in outputs for word in ("--output", os.fspath(path))]
        self.text = self.notes = ""
        self.recording = b""
        self._folder = ""
        self._process: Optional[subprocess.Popen[bytes]] = None

    def __enter__(self) -> Profile:
        self.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        try:
            self.stop()
        except ProfileError as problem:
            if kind is None:
                raise
            warnings.warn(str(problem), RuntimeWarning, stacklevel=2)  # the block's own exception goes on

    def start(self) -> None:
        """Returns when sampling has begun. ProfileError: it cannot."""
        if self._process:
            raise ProfileError("this profile is being taken", 2)
        try:
            path = program.find()
        except FileNotFoundError as error:
            raise ProfileError(str(error)) from None
        self._folder = tempfile.mkdtemp(prefix="pieprofd-")
        try:
            # Its number is not known before it runs, and it may attach at once.
            program.permit_tracer(os.getpid())
            self._run([path, "record", "--pid", str(os.getpid()), "--duration", "0", *self.options,
                       "--output", self._path("profile.pieprof")])
        except BaseException:
            self._clean_up()
            raise

    def _run(self, command: List[str]) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready, \
                open(self._path("stdout"), "wb") as stdout, open(self._path("stderr"), "wb") as stderr:
            ready.bind("")  # an abstract name that the kernel chooses: \0 and five digits
            ready.settimeout(POLL_S)
            # In a session of its own: ^C and a notebook's interrupt are meant for us.
            self._process = process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True,
                env=dict(os.environ, NOTIFY_SOCKET="@" + ready.getsockname()[1:].decode()))
            program.permit_tracer(process.pid)
            while process.poll() is None:
                try:
                    if ready.recv(4096) == b"READY=1":
                        return
                except socket.timeout:
                    pass
            # It may have ended by itself after all, such as with --duration 0.01.
            if process.returncode:
                raise ProfileError(self._read("stderr") or "no profile", process.returncode)

    def stop(self) -> None:
        """Ends sampling; text, notes, recording and the files asked for are there. ProfileError: no profile."""
        process = self._process
        if not process:
            raise ProfileError("this profile was not begun", 2)
        try:
            process.send_signal(signal.SIGINT)
            code = process.wait()
            self.notes = self._read("stderr")
            # Its last words are the names of files, our temporary one among them.
            self.text = self._read("stdout").rpartition("\nWrote ")[0]
            if not code:
                with open(self._path("profile.pieprof"), "rb") as file:
                    self.recording = file.read()
            else:
                raise ProfileError(self.notes or "no profile", code)
        finally:
            self._clean_up()

    def report(self, form: str, *options: str) -> bytes:
        """The same profile in another format: text, html, json, markdown, ...; options are `pieprofd report`'s."""
        if not self.recording:
            raise ProfileError("there is no profile yet", 2)
        with tempfile.TemporaryDirectory(prefix="pieprofd-") as folder:
            path = os.path.join(folder, "profile.pieprof")
            with open(path, "wb") as file:
                file.write(self.recording)
            code, output, problem = make_report([path], "--format", form, "--output", "-", *options)
        if code:
            raise ProfileError(problem, code)
        return output

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _read(self, name: str) -> str:
        with open(self._path(name), encoding="utf-8", errors="replace") as file:
            return file.read().strip()

    def _clean_up(self) -> None:
        process, self._process = self._process, None
        if process and process.poll() is None:
            process.kill()  # which leaves us as we are
            process.wait()
        program.permit_tracer(0)
        shutil.rmtree(self._folder, ignore_errors=True)

    # What IPython asks: a terminal for the text alone, a notebook for all of them.

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.text or repr(self))

    def _repr_markdown_(self) -> Optional[str]:
        return self.report("markdown").decode() if self.recording else None

    def _repr_html_(self) -> Optional[str]:
        """The page in a frame that has no part in the notebook, below the first screen."""
        if not self.recording:
            return None
        return FRAME % (html.escape(self.text), html.escape(self.report("html").decode()))


def profile(*options: str, output: Union[Path, Sequence[Path]] = ()) -> Profile:
    """
    Profiles this process while a `with` block runs.

    options: those of `pieprofd record`, such as "--idle"; output: files to write, whose names say the format, such as
    "report.html". ProfileError, at the block's beginning or end: there is no profile, and why.
    """
    return Profile(*options, output=output)
