# SPDX-License-Identifier: Apache-2.0
"""
What a target's names lead to: nothing outside of its root, nothing that acts when it is opened. Every user may read
the files outside here, so that only the way there is put to the test.
"""
import contextlib
import json
import os
import stat
import subprocess
import tempfile

from boundaries import (MANY, WITH_SOURCE, Watch, check_dump, check_every_output, check_record, files, output_options,
                        pretender, profiled, python_for_everyone, run, started)
from harness import check, check_equal, check_sampled
from test_refusals import ENOSYS, EPERM, refuse_call

OPENAT2 = 437  # asm/unistd_64.h

# As an ordinary user: namespaces in which it is root, and a root tree that is nowhere else.
IN_NAMESPACES = """
place=$1 tree=$2 python=$3 script=$4
shift 4
mount -t tmpfs -o mode=755 tmpfs "$place" && cp -rP "$tree/." "$place/" || exit 125
exec "$python" "$script" --chroot "$place" -- "$@"
"""

# The same, but for the root: a folder has other files than outside.
MOUNTED_OVER = """
place=$1 tree=$2
shift 2
mount -t tmpfs -o mode=755 tmpfs "$place" && cp -rP "$tree/." "$place/" || exit 125
exec "$@"
"""


class Tree:
    """
    A root tree whose paths have twins outside with other words: those of the tree are shown, those outside are not.
    """

    def __init__(self, made):
        self.made = made
        self.place = made.path("tree")
        os.mkdir(self.place)

    def link(self, name, goal):
        os.symlink(goal, os.path.join(self.place, name))

    def twins(self, name, path):
        """A file here and one there, which the target calls `path`."""
        self.made.hide(name, path)
        self.made.show(os.path.join("tree", self.made.folder.lstrip("/"), name), path)

    def fill(self):
        made, folder = self.made, self.made.folder
        made.show("tree/plain.py", "/plain.py")
        made.show("tree/new\nline\x1b[31m\\x.py", "/new\nline\x1b[31m\\x.py")
        self.twins("direct.py", folder + "/direct.py")
        self.twins("dots.py", "/" + "../" * 30 + folder[1:] + "/dots.py")
        self.twins("relative.py", "../.." + folder + "/relative.py")
        self.twins("linked.py", "/linked.py")
        self.link("linked.py", folder + "/linked.py")
        self.twins("up.py", "/up.py")
        self.link("up.py", "../" * 40 + folder[1:] + "/up.py")
        self.twins("by_folder/x.py", "/folder/x.py")
        self.link("folder", folder + "/by_folder")
        self.twins("by_root.py", "/root/root/../root" + folder + "/by_root.py")
        self.link("root", "/")
        # Nothing of these is in the tree.
        made.hide("only.py", "/only.py")
        self.link("only.py", folder + "/only.py")
        made.hide("direct_only.py")
        made.hide("dots_only.py", "/" + "../" * 30 + folder[1:] + "/dots_only.py")
        self.link("loop.py", "loop_too.py")
        self.link("loop_too.py", "/loop.py")
        made.quiet += ["/loop.py", "/loop.py/x.py", "/" + "./" * 2048 + "plain.py", "/" + "long" * 2000 + ".py",
                       "/no/such.py", "/", "/" + "root/" * 60 + "plain.py"]


@contextlib.contextmanager
def chrooted(made):
    """In the namespaces of everybody, a root of its own; begun by root, who becomes an ordinary user."""
    tree = Tree(made)
    tree.fill()
    made.check_truth(tree.place)
    with pretender(made, "--chroot", tree.place, "--drop", made.user, user=0) as process:
        yield process


@contextlib.contextmanager
def in_namespaces(made):
    """In a user and a mount namespace that an ordinary user made, a root that only these have."""
    tree = Tree(made)
    tree.fill()
    os.mkdir(made.path("place"))
    # What the target is started from is outside its root.
    with started(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", IN_NAMESPACES, "sh",
                  made.path("place"), tree.place, python_for_everyone(), made.script, *made.places()],
                 user=made.user, group=made.user, extra_groups=[]) as process:
        check_equal(os.listdir(made.path("place")), [], "files seen from here")
        yield process


def without_openat2(error):
    return lambda: refuse_call(OPENAT2, error)


def test_chroot():
    with files() as made, chrooted(made) as process:
        check_every_output(made, process.pid)


def test_chroot_without_openat2():
    """Kernels before 5.6 do not have it, and filters that do not know it refuse it."""
    with files() as made, chrooted(made) as process:
        check_every_output(made, process.pid, without_openat2(ENOSYS))
        check_record(made, process.pid, without_openat2(EPERM))
        check_dump(made, process.pid, without_openat2(EPERM))


def test_user_namespace():
    with files() as made, in_namespaces(made) as process:
        check_every_output(made, process.pid)


def test_user_namespace_without_openat2():
    with files() as made, in_namespaces(made) as process:
        check_every_output(made, process.pid, without_openat2(ENOSYS))


def test_chroot_that_has_ended():
    """Whose names the report then reads: the tree's, or none, but not those of the daemon's root."""
    with files() as made:
        tree = Tree(made)
        tree.fill()
        with pretender(made, "--chroot", tree.place, "--drop", made.user, "--seconds", 1.2, user=0) as process:
            made.shown = {}
            outputs, report = profiled(process.pid, "-d", 60)
        made.check_all(outputs)
        found = {line["file"] for line in report["lines"]}
        check("/plain.py" in found and "/linked.py" in found, "lines of %s" % found)


def test_mounts_of_its_own():
    """In a mount namespace a path is another file than outside, also when the namespace is gone with its process."""
    for options, arguments in (((), ()), (("--seconds", "1.2"), ("-d", 60))):
        with files() as made:
            path = made.hide("over/x.py")
            made.show("tree/x.py", path)
            command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNTED_OVER, "sh",
                       made.path("over"), made.path("tree"), python_for_everyone(), made.script, *options, "--",
                       *made.places()]
            with started(command, user=made.user, group=made.user, extra_groups=[]) as process:
                if options:
                    made.shown = {}
                outputs, report = profiled(process.pid, *arguments)
            made.check_all(outputs)
            check(path in {line["file"] for line in report["lines"]}, "no time at %s" % path)


def special_files(folder, user):
    """A regular file to compare with, and what must not be opened; names of the latter that can be."""
    os.mkdir(folder, 0o755)
    os.chown(folder, user, user)
    names = ["fifo.py"]
    os.mkfifo(os.path.join(folder, "fifo.py"), 0o666)
    try:
        os.mknod(os.path.join(folder, "device.py"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.close(os.open(os.path.join(folder, "device.py"), os.O_RDONLY))
        names.append("device.py")
    except PermissionError as error:
        print("no device is made or opened here: %s" % error)
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o666)
        os.symlink(name, os.path.join(folder, "link_" + name))
    return names


def special_places(made, folder, names):
    made.show("special/regular.py")
    made.quiet += [os.path.join(folder, prefix + name) for name in names for prefix in ("", "link_")]
    made.quiet += [folder, "/proc/self/mem", "/dev/watchdog", "/dev/tty"]


def check_only_regular(opened, names, what, check_any=check):
    check_any("regular.py" in opened, "%s opened %s: not what it should" % (what, opened))
    check(not opened & set(names), "%s opened %s" % (what, opened & set(names)))


def test_special_files_are_not_opened():
    """Opening a FIFO may block, and wakes who waits for it; opening a device may act: a watchdog reboots."""
    for prepare in (None, without_openat2(ENOSYS)):
        with files() as made:
            folder = made.path("special")
            names = special_files(folder, made.user)
            special_places(made, folder, names)
            with Watch(folder) as watch, pretender(made) as process:
                watch.check_sees(*names)
                outputs, _ = profiled(process.pid, prepare=prepare)
                check_only_regular(watch.opened(), names, "a profile")
                made.check_all(outputs)
                run(["dump", "--pid", process.pid], prepare=prepare)
                # One look, which may fall between two calls.
                check_only_regular(watch.opened(), names, "a dump", check_sampled)


def test_report_opens_no_special_file():
    """What a recording calls a source file is another file when its report is made."""
    with files() as made, tempfile.TemporaryDirectory(prefix="pieprofd-test-") as outputs:
        folder, recording = made.path("special"), os.path.join(outputs, "x.pieprof")
        names = special_files(folder, made.user)
        made.show("special/regular.py")
        made.show("special/edited.py")
        goals = [*names, "/proc/self/mem", folder, "loop.py"]
        for number in range(len(goals) + 1):
            made.show("special/was_%d.py" % number)
        with pretender(made) as process:
            run(["--pid", process.pid, "-d", 1, "-q", *MANY, "-o", recording])
        for number, goal in enumerate(goals):
            path = os.path.join(folder, "was_%d.py" % number)
            os.unlink(path)
            os.symlink(goal, path)
        os.symlink("loop.py", os.path.join(folder, "loop.py"))
        # Also by its own name.
        last = os.path.join(folder, "was_%d.py" % len(goals))
        os.unlink(last)
        os.mkfifo(last, 0o666)
        names.append(os.path.basename(last))
        with open(os.path.join(folder, "edited.py"), "a") as file:
            file.write("edited = True\n")
        with Watch(folder) as watch:
            watch.check_sees(*names)
            report = json.loads(run(["report", recording, "--format", "json"], timeout=20).stdout)
            check_only_regular(watch.opened(), names, "a report")
            run(["report", recording, "-q", *output_options(outputs, "y", WITH_SOURCE)], timeout=20)
            check_only_regular(watch.opened(), names, "a report in files")
        sources = {os.path.basename(source["file"]): source for source in report["sources"]}
        check(sources["edited.py"]["differs_now"], "the file that was edited: %s" % sources["edited.py"])
        check(not sources["regular.py"]["differs_now"], "the file that was not: %s" % sources["regular.py"])
        check_equal(len([name for name in sources if name.startswith("was_")]), len(goals) + 1, "sources told of")


SPIN = """
static __attribute__((noinline)) unsigned only_debug_has_it(unsigned n)
{
	unsigned s = n;

	while (n--)
		__asm__ volatile("" : "+r"(s));
	return s;
}

int pretender_spin(unsigned n)
{
	return (int)(only_debug_has_it(n) & 1) + (int)(only_debug_has_it(n) & 2);
}
"""


@contextlib.contextmanager
def library(made):
    """A library with a debug file, both the target's own: the folder."""
    folder = made.path("library")
    os.mkdir(folder)
    text = os.path.join(folder, "spin.c")
    with open(text, "w") as file:
        file.write(SPIN)
    path, debug = os.path.join(folder, "spin.so"), os.path.join(folder, "spin.debug")
    for command in (["cc", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id=none", "-o", path, text],
                    ["objcopy", "--only-keep-debug", path, debug],
                    ["strip", "--strip-unneeded", path], ["objcopy", "--add-gnu-debuglink=" + debug, path]):
        subprocess.run(command, check=True, capture_output=True)
    os.chmod(path, 0o755)
    for name in ("", "spin.debug"):
        os.chown(os.path.join(folder, name), made.user, made.user)
    yield folder, path, debug


def test_debug_file_that_is_none():
    """The name in .gnu_debuglink is the target's: a debug file that it may read is read, a FIFO is not opened."""
    with files() as made, library(made) as (folder, path, debug):
        made.show("open.py")
        for prepare in (None, without_openat2(ENOSYS)):
            with Watch(folder) as watch, pretender(made, "--library", path) as process:

                def names():
                    outputs, _ = profiled(process.pid, "--native-lines", prepare=prepare,
                                          extensions=[*WITH_SOURCE, "folded"])
                    made.check_all(outputs)
                    check(b"pretender_" in outputs["profile.folded"], "it is not of this target")
                    return outputs["profile.folded"]

                check_sampled(b"only_debug_has_it" in names(), "the debug file was not read")
                check("spin.debug" in watch.opened(), "the debug file was not opened")
                os.chown(debug, 0, 0)
                os.chmod(debug, 0o600)
                check(b"only_debug_has_it" not in names(), "a debug file that the target may not read was read")
                os.chmod(debug, 0o644)
                os.rename(debug, debug + ".kept")
                os.mkfifo(debug, 0o666)
                watch.check_sees("spin.debug")
                names()
                check("spin.debug" not in watch.opened(), "a FIFO in place of the debug file was opened")
            os.rename(debug + ".kept", debug)


def test_library_replaced_by_a_fifo():
    """A mapped file has another name in /proc/PID/maps once it is unlinked, and somebody else may have that name."""
    with files() as made, library(made) as (folder, path, _):
        made.show("open.py")
        with Watch() as watch, pretender(made, "--library", path, "--unlink") as process:
            for name in ("spin.so", "spin.so (deleted)"):
                os.mkfifo(os.path.join(folder, name), 0o666)
                watch.add(os.path.join(folder, name))
                watch.check_sees(os.path.join(folder, name))
            outputs, _ = profiled(process.pid, "--native-lines", extensions=[*WITH_SOURCE, "folded"])
            run(["dump", "--pid", process.pid])
            check_equal(watch.opened(), set(), "what was opened")
            made.check_all(outputs)
            check(b"pretender_spin" in outputs["profile.folded"], "the mapped file itself was not read")


def test_perf_map_that_is_none():
    """/tmp/perf-PID.map, in which the target names generated code, may be anything, and anybody's."""
    with files() as made:
        made.show("open.py")
        secret = made.add("secret.map", "", mode=0o600)
        with open(secret, "w") as file:
            file.write("0 7fffffffffff hidden_name\n")
        for kind in ("regular", "fifo", "device", "link"):
            with pretender(made, "--generated") as process, contextlib.ExitStack() as stack:
                path = "/tmp/perf-%d.map" % process.pid
                stack.callback(os.unlink, path)
                if kind == "regular":
                    with open(path, "w") as file:
                        file.write("0 7fffffffffff generated_code\n")
                elif kind == "fifo":
                    os.mkfifo(path, 0o666)
                elif kind == "device":
                    try:
                        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
                    except PermissionError as error:
                        stack.pop_all()
                        print("no device is made here: %s" % error)
                        continue
                else:
                    os.symlink(secret, path)
                os.chown(path, made.user, made.user, follow_symlinks=False)
                with Watch() as watch:
                    watch.add(path)
                    if kind != "link":
                        watch.check_sees(path)
                    outputs, _ = profiled(process.pid, extensions=[*WITH_SOURCE, "folded"])
                    check_equal(path in watch.opened(), kind == "regular", "whether a %s as perf map was opened" % kind)
                made.check_all(outputs)
                check(b"hidden_name" not in outputs["profile.folded"], "a perf map that is root's was read")
                if kind == "regular":
                    check_sampled(b"generated_code" in outputs["profile.folded"], "the perf map was not read")


def test_lease():
    """Whoever opens a file with a lease waits for up to 45 s, if he lets himself be kept waiting."""
    with files() as made, library(made) as (folder, path, debug):
        made.show("open.py")
        leased = made.add("leased.py", "leased", user=made.user, group=made.user)
        made.quiet.append(leased)
        for options, name, more in (((), leased, ()), (("--library", path), debug, ("--native-lines",))):
            with pretender(made, "--lease", name, *options) as process:
                outputs, _ = profiled(process.pid, *more, timeout=30)
                if name == leased:
                    run(["dump", "--pid", process.pid], timeout=30)
                made.check_all(outputs)
                try:
                    os.close(os.open(name, os.O_RDONLY | os.O_NONBLOCK))
                    check(False, "the target holds no lease on %s" % name)
                except BlockingIOError:
                    pass
