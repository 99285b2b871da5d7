# SPDX-License-Identifier: Apache-2.0
"""Files that a target may read and files that it may not, and whether a report has a word of them."""
import base64
import binascii
import contextlib
import ctypes
import glob
import hashlib
import json
import os
import re
import secrets
import shutil
import struct
import subprocess
import tempfile
import zlib

from harness import (PIEPROFD, TARGETS, Failure, Skip, asan_options, check, check_equal, check_sampled,
                     find_interpreters, nobody, status_of)

# By number: no account is needed. The target is in the one group, nobody is in the other.
GROUP, OTHER_GROUP = 40001, 40002
LINE = 3

# Reports that have the text of source lines, and those that have names alone.
WITH_SOURCE = ("txt", "json", "html", "pieprof")
WITHOUT_SOURCE = ("folded", "pb.gz", "speedscope.json", "firefox.json")

# Every file is to be the innermost at some sample.
MANY = ("--mode", "time", "--rate", 500, "--max-overhead", "20", "--lines", 60)

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
            self.check(what, data, "some" if extension == "txt" else extension in WITH_SOURCE)


@contextlib.contextmanager
def files():
    folder = tempfile.mkdtemp(prefix="pieprofd-boundaries-")
    os.chmod(folder, 0o755)
    try:
        yield Files(folder)
    finally:
        shutil.rmtree(folder)


def unpacked_recording(data):
    """The payload of a recording, as daemon/report/recording.c writes it."""
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
    """What there is of the files NAME.*."""
    found = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), name + ".*"))):
        with open(path, "rb") as file:
            found[os.path.basename(path)] = file.read()
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
