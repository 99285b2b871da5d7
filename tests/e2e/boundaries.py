# SPDX-License-Identifier: Apache-2.0
"""Files that a target may read and files that it may not, and whether a report has a word of them."""
import base64
import binascii
import contextlib
import ctypes
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

from harness import (PIEPROFD, TARGETS, Daemon, Failure, Skip, asan_options, check, check_equal, check_sampled,
                     find_interpreters, nobody, status_of, wait_attached, wait_until)
from test_serve import Server
from test_top import Terminal

# By number: no account is needed. The target is in the one group, nobody is in the other.
GROUP, OTHER_GROUP = 40001, 40002
LINE = 3

# The extension of what --format and serve call so.
FORMATS = {"text": "txt", "json": "json", "html": "html", "recording": "pieprof", "collapsed": "folded",
           "pprof": "pb.gz", "speedscope": "speedscope.json", "firefox": "firefox.json", "sarif": "sarif",
           "github": "github.txt", "markdown": "md", "jsonl": "jsonl"}

# Reports that have the text of source lines; the others have names alone.
WITH_SOURCE = ("txt", "json", "html", "pieprof")

# Every file is to be the innermost at some sample.
MANY = ("--mode", "time", "--engine", "ptrace", "--rate", 500, "--max-overhead", "20", "--lines", 60, "--details")

RECORDING = b"\x89PIEPRO\n"


def python_for_everyone():
    python = next((i.path for i in find_interpreters() if i.path.startswith("/usr/") and not i.in_root), None)
    if not python:
        raise Skip("needs an interpreter which every user may start")
    return python


def attempt(path):
    """The text of a file, "" where it cannot be had."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


class Files:
    """
    A folder that every user may enter, with files of random words: shown has the words that a report must have, hidden
    those that it must not have, by the name that the target gives for the file.
    """

    def __init__(self, folder):
        self.folder = folder
        self.user = nobody()
        self.shown = {}
        self.hidden = {}
        self.digests = {}
        self.quiet = []
        self.script = shutil.copy(os.path.join(TARGETS, "pretender.py"), folder)
        shutil.copy(os.path.join(TARGETS, "support.py"), folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def add(self, name, word, mode=0o644, user=0, group=0):
        """A file whose every line begins with the word: its path."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("".join("%s = %d\n" % (word, number) for number in range(1, 9)))
        os.chown(path, user, group)
        os.chmod(path, mode)
        return path

    def show(self, name, path=None, **keywords):
        """A file that the target may read; path: what the target calls it."""
        word = "shown" + secrets.token_hex(5)
        made = self.add(name, word, **keywords)
        self.shown[path or made] = word
        return made

    def hide(self, name, path=None, **keywords):
        """A file that the target may not read, or not by that name."""
        word = "hidden" + secrets.token_hex(5)
        made = self.add(name, word, **keywords)
        self.hidden[path or made] = word
        with open(made, "rb") as file:
            self.digests[path or made] = hashlib.sha256(file.read()).hexdigest()
        return made

    def places(self):
        paths = [path for pair in zip(self.shown, self.hidden) for path in pair]
        paths += [path for path in [*self.shown, *self.hidden, *self.quiet] if path not in paths]
        return ["%s:%d" % (path, LINE) for path in paths]

    def check_truth(self, root="/", groups=()):
        """That the target may read the one, and not the other, is so: a process like it tries."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.chroot(root)
                os.chdir("/")
                os.setgroups(groups)
                os.setresgid(self.user, self.user, self.user)
                os.setresuid(self.user, self.user, self.user)
                wrong = [path for path in self.shown if self.shown[path] not in attempt(path)]
                wrong += [path for path in self.hidden if self.hidden[path] in attempt(path)]
                os.write(writing, json.dumps(wrong).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with open(reading) as pipe:
            wrong = pipe.read()
        os.waitpid(child, 0)
        check_equal(wrong, "[]", "files that a process like the target may, or may not read")

    def check(self, what, data, with_source=True, named="pretended_"):
        """Of what somebody is given: it has all of the one (with_source: True, "some", False), nothing of the other."""
        texts = list(forms(data))
        for path, word in self.hidden.items():
            for secret in (word, self.digests[path]):
                check(not any(secret.encode() in text for text in texts), "%s has %s of %r" % (what, secret, path))
        missing = [path for path, word in self.shown.items() if not any(word.encode() in text for text in texts)]
        if with_source == "some" and self.shown:
            check_sampled(len(missing) < len(self.shown), "%s has no line of any of %r" % (what, missing))
        elif with_source:
            # A sample, or a dump, may meet the target just between two calls.
            check_sampled(not missing, "%s has no line of %r" % (what, missing))
        if not with_source and named:
            check(any(named.encode() in text for text in texts), "%s is not of this target" % what)

    def check_all(self, outputs):
        for what, data in outputs.items():
            extension = what.split(".", 1)[1]
            # The text has a table of those that were the innermost at a sample.
            self.check_format(what, data, extension)

    def check_format(self, what, data, extension):
        # The text has a table of those that were the innermost at a sample; so has Markdown, and both cut it.
        with_source = "some" if extension in ("txt", "md") else extension in WITH_SOURCE
        # Of findings alone, of which there may be none.
        self.check(what, data, with_source, "" if extension in ("sarif", "github.txt") else "pretended_")


@contextlib.contextmanager
def files():
    folder = tempfile.mkdtemp(prefix="pieprofd-boundaries-")
    os.chmod(folder, 0o755)
    try:
        yield Files(folder)
    finally:
        shutil.rmtree(folder)


def unpacked_recording(data):
    """The payload of a recording, as daemon/report/recording/recording.c writes it."""
    size, = struct.unpack_from("<Q", data, 24)
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    buffer = ctypes.create_string_buffer(size)
    check_equal(library.ZSTD_decompress(buffer, size, data[40:], len(data) - 40), size, "size of the recording")
    return buffer.raw


def forms(data, depth=3):
    """The bytes, and what is packed into them: gzip, a recording, base64, one in the other."""
    yield data
    if depth == 0:
        return
    if data.startswith(b"\x1f\x8b"):
        yield from forms(zlib.decompressobj(31).decompress(data), depth - 1)
    if data.startswith(RECORDING):
        yield from forms(unpacked_recording(data), depth - 1)
    for run in re.findall(rb"[A-Za-z0-9+/\n]{40,}={0,2}", data):
        run = run.replace(b"\n", b"").rstrip(b"=")
        # What stands before or behind it may be of the same characters.
        for start in range(4):
            part = run[start:]
            with contextlib.suppress(binascii.Error, zlib.error):
                part = part[:len(part) - (len(part) % 4 == 1)]
                yield from forms(base64.b64decode(part + b"=" * (-len(part) % 4)), depth - 1)


@contextlib.contextmanager
def started(command, **keywords):
    """A target by its command line: its process, once it is ready."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, cwd="/", env={"PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]},
                               **keywords)
    try:
        line = process.stdout.readline()
        if line.startswith(("unshare:", "mount:")):
            raise Skip("needs root or a kernel that lets users make namespaces: %s" % line.strip())
        check_equal(line, "ready\n", "the target's first line")
        yield process
        if process.poll() is None:
            check_equal(status_of(process.pid)["TracerPid"], "0", "tracer of the target")
        output, _ = process.communicate("", timeout=30)
        check_equal((process.returncode, output), (0, "ok pretender\n"), "how the target ended")
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def pretender(made, *arguments, user=None, groups=()):
    """tests/targets/pretender.py as a user, with all files of `made`."""
    user = made.user if user is None else user
    return started([python_for_everyone(), made.script, *map(str, arguments), "--", *made.places()], user=user,
                   group=user, extra_groups=list(groups))


def run(arguments, prepare=None, stdin=subprocess.DEVNULL, code=0, timeout=40, environment=None):
    """The daemon, once it has ended; at a lease it would hang for 45 s."""
    try:
        result = subprocess.run([PIEPROFD, *map(str, arguments)], capture_output=True, check=False, cwd="/",
                                stdin=stdin, preexec_fn=prepare, timeout=timeout, env=environment or asan_options())
    except subprocess.TimeoutExpired:
        raise Failure("pieprofd hangs")
    check_equal(result.returncode, code, "exit code, with %r" % result.stderr)
    return result


def collected(folder, name):
    """What there is of the reports NAME.*; those that are being written have other names."""
    found = {}
    for extension in FORMATS.values():
        with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, name + "." + extension), "rb") as file:
            found[name + "." + extension] = file.read()
    return found


def output_options(folder, name, extensions):
    return [word for extension in extensions for word in ("-o", os.path.join(folder, name + "." + extension))]


def profiled(pid, *arguments, extensions=WITH_SOURCE, **keywords):
    """A profile: its files, and what was said on stdout and stderr as NAME.txt; the report in JSON."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        result = run(["--pid", pid, "-d", 1, *MANY, *arguments,
                      *output_options(folder, "profile", extensions)], **keywords)
        outputs = collected(folder, "profile")
    outputs["summary.txt"] = result.stdout + result.stderr
    return outputs, json.loads(outputs["profile.json"])


def check_diff(made, folder, recording, prepare):
    """Of the recording and one of another program."""
    base = os.path.join(folder, "base.pieprof")
    run(["-q", *MANY, "-o", base, "--", python_for_everyone(), "-c", "for _ in range(9): sum(range(1000000))"])
    differ = ["report", recording, "--diff", base, "--lines", 60]
    made.check("report --diff", run([*differ, "--format", "json"], prepare).stdout, "some")
    # It has lines only where chance has them, and cuts them.
    text = run(differ, prepare).stdout
    check(b" hidden" not in text, "report --diff has a line that is none of the target's: %r" % text)


def check_record(made, pid, prepare=None):
    """
    What record writes at its end and at SIGUSR1, and what report makes of a recording, in files and on stdout. Returns
    the JSON report, and what was said.
    """
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        with Daemon("--pid", pid, "-d", 0, *MANY, *output_options(folder, "now", FORMATS.values()),
                    prepare=prepare) as daemon:
            wait_attached(pid)
            # A recording is there all the while.
            early = set(FORMATS.values()) - {"pieprof"}
            time.sleep(1)
            daemon.signal(signal.SIGUSR1)
            wait_until(lambda: {"now." + extension for extension in early} <= collected(folder, "now").keys(),
                       what="the snapshot")
            snapshot = collected(folder, "now")
            daemon.signal(signal.SIGINT)
            daemon.finish()
        last = collected(folder, "now")
        last["summary.txt"] = (daemon.stdout + daemon.stderr).encode()
        recording = os.path.join(folder, "now.pieprof")
        run(["report", recording, "--lines", 60, "--details", *output_options(folder, "later", FORMATS.values())], prepare)
        result = run(["report", recording, "--lines", 60, "--details"], prepare)
        later = collected(folder, "later")
        later["summary.txt"] = result.stdout + result.stderr
        printed = {"stdout." + FORMATS[name]: run(["report", recording, "--lines", 60, "--format", name], prepare).stdout
                   for name in FORMATS}
        check_diff(made, folder, recording, prepare)
    for outputs, expected in ((snapshot, early), (last, FORMATS), (later, FORMATS), (printed, FORMATS)):
        check(len(outputs) >= len(expected), "files: %s" % sorted(outputs))
        made.check_all(outputs)
    return json.loads(last["now.json"]), last["summary.txt"].decode()


def check_dump(made, pid, prepare=None):
    for options in ((), ("--json",), ("--no-native",), ("--no-native", "--json")):
        # One may meet the target just between two calls.
        results = [run(["dump", "--pid", pid, *options], prepare) for _ in range(2)]
        made.check("dump %s" % " ".join(options), b"".join(result.stdout + result.stderr for result in results))


def check_serve(made, pid, prepare=None):
    """Every endpoint that a client may have, before and after sampling was stopped."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder, \
            Server(pid, listen="unix:" + os.path.join(folder, "socket"), prepare=prepare) as server:
        made.check("profile", server.get("/debug/pprof/profile?seconds=1"), with_source=False)
        made.check("/", server.get("/"))
        made.check("fgprof", server.get("/debug/fgprof?seconds=0.5"), with_source=False)
        for path in ("/debug/pprof/redundancy?seconds=0.5", "/debug/pprof/heap", "/debug/pprof/", "/metrics", "/healthz",
                     "/control/status"):
            made.check(path, server.get(path), with_source=False, named="")
        for state in ("start", "stop"):
            server.get("/control/" + state, method="POST")
            for name, extension in FORMATS.items():
                snapshot = server.get("/control/snapshot?format=" + name, method="POST")
                if extension in ("txt", "md"):
                    # The first lines alone.
                    made.check("snapshot in %s" % name, snapshot, with_source=False)
                else:
                    made.check_format("snapshot in %s" % name, snapshot, extension)
        server.process.terminate()
        check_equal(server.process.wait(30), 0, "exit code of serve")
        made.check("what serve said", (server.said + server.process.stderr.read()).encode(), False, named="")


def check_top(made, pid, prepare=None):
    """Its four views, the details of each line, and the summary that it leaves."""
    with Terminal(250, 60, prepare) as terminal:
        terminal.type("%s top --pid %d --lines 60; echo left with $?" % (PIEPROFD, pid), "Enter")
        for word in made.shown.values():
            terminal.wait_for(word)
        screens = [terminal.screen()]
        for _ in made.places():
            terminal.type("Down")
            screens.append(terminal.screen())
        for key, tab in (("2", "Functions"), ("3", "Threads"), ("4", "Pairs")):
            terminal.type(key)
            screens.append(terminal.wait_for(r"\[%s %s\]" % (key, tab)))
        terminal.type("q")
        terminal.wait_for(r"left with 0")
        screens.append(terminal.screen("-S", "-"))
    for number, screen in enumerate(screens):
        # A terminal wraps.
        made.check("screen %d" % number, screen.replace("\n", "").encode(), with_source=False, named="")
    made.check("the summary", screens[-1].encode(), with_source=False)


def check_every_output(made, pid, prepare=None):
    """Whatever a user is given of the target: record, report, dump, serve and top."""
    report, said = check_record(made, pid, prepare)
    check_dump(made, pid, prepare)
    check_serve(made, pid, prepare)
    check_top(made, pid, prepare)
    # Nor is a file that was not read among those whose size, time and checksum are told.
    told = {source["file"] for source in report["sources"]}
    check(set(made.shown) <= told and not told & ({*made.hidden, *made.quiet} - {*made.shown}),
          "files told of: %s" % told)
    # What is on a terminal is what is meant to be there.
    check("\x1b" not in said and "new\nline" not in said, "a name acts on the terminal: %r" % said)


IN_OPEN = 0x20


class Watch:
    """
    Says which files of a folder were opened, by inotify(7); no file is opened for that. A file that was unlinked keeps
    the name that it had there.
    """

    def __init__(self, folder=None):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.folder = folder
        self.paths = {}
        self.descriptor = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        check(self.descriptor >= 0, "no inotify: errno %d" % ctypes.get_errno())
        if folder:
            self.add(folder)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.close(self.descriptor)

    def add(self, path):
        """A file, whatever it is called: opened() gives its path."""
        watch = self.libc.inotify_add_watch(self.descriptor, os.fsencode(path), IN_OPEN)
        check(watch >= 0, "%s cannot be watched: errno %d" % (path, ctypes.get_errno()))
        self.paths[watch] = path if path != self.folder else ""

    def opened(self):
        """Which were opened since the last call."""
        names = set()
        with contextlib.suppress(BlockingIOError):
            while True:
                events = os.read(self.descriptor, 65536)
                while events:
                    watch, mask, _, length = struct.unpack_from("=iIII", events)
                    check(not mask & 0x4000, "inotify's queue was too short")
                    # The folder's entries come with their names, the folder itself and other files without one.
                    names.add(os.fsdecode(events[16:16 + length].rstrip(b"\0")) or self.paths.get(watch, ""))
                    events = events[16 + length:]
        return names - {""}

    def check_sees(self, *names):
        """Of this kernel: it tells of every open of these files, but of none that only looks where they are."""
        self.opened()
        for name in names:
            path = os.path.join(self.folder or "", name)
            os.close(os.open(path, os.O_PATH))
            check_equal(self.opened(), set(), "opened, by O_PATH")
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
            check_equal(self.opened(), {name}, "opened, with O_RDWR")
