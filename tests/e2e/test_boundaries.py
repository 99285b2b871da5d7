# SPDX-License-Identifier: Apache-2.0
"""
A target says which files its code comes from: no report has a line of a file that the target itself could not read.
What it could read is in the same report.
"""
import base64
import gzip
import json
import os
import tempfile

from boundaries import (FORMATS, GROUP, LINE, MANY, OTHER_GROUP, WITH_SOURCE, check_every_output, collected, files,
                        forms, output_options, pretender, profiled, python_for_everyone, run, started)
from harness import check, check_equal, status_of
from test_privileges import STRANGER, SYS_PTRACE
from test_privileges import run as run_limited
from test_refusals import program_for_everyone
from test_serve import Server

SETGID, SETUID = "cap_6", "cap_7"


def make_files(made):
    """What the target may read as anybody, as the owner, in a group, by a link; and the same that it may not."""
    user = made.user
    made.show("open.py")
    made.show("own.py", mode=0o600, user=user, group=user)
    made.show("shared.py", mode=0o640, group=GROUP)
    made.show("real.py", made.path("home", "good_link.py"), mode=0o600, user=user, group=user)
    made.hide("secret.py", mode=0o600)
    made.hide("others.py", mode=0o640, group=OTHER_GROUP)
    made.hide("closed/inside.py")
    made.hide("linked.py", made.path("home", "bad_link.py"), mode=0o600)
    made.hide("closed/linked.py", made.path("home", "folder_link", "linked.py"))
    os.chmod(made.path("closed"), 0o700)
    os.mkdir(made.path("home"))
    os.chown(made.path("home"), user, user)
    os.symlink(made.path("real.py"), made.path("home", "good_link.py"))
    os.symlink(made.path("linked.py"), made.path("home", "bad_link.py"))
    os.symlink("../closed", made.path("home", "folder_link"))
    made.check_truth(groups=[GROUP])


def check_no_entry(made, report):
    """Nor is a file that was not read among those whose size, time and checksum are told."""
    told = {source["file"] for source in report["sources"]}
    check(set(made.shown) <= told, "files told of: %s" % told)
    check(not set(made.hidden) & told, "files told of: %s" % told)


def test_every_output():
    """An unprivileged target: no output of any command has a line of what it may not read."""
    with files() as made:
        make_files(made)
        with pretender(made, groups=[GROUP]) as process:
            check_every_output(made, process.pid)


def test_every_format_is_among_every_output():
    said = run(["--pid", os.getpid(), "--format", "no_such"], code=2).stderr.decode()
    check_equal(sorted(said.strip().split("there are ")[1].split(", ")), sorted(FORMATS), "formats")


def test_privileges_dropped():
    """Begun by root, the target could read what it names then, and cannot when it is profiled."""
    with files() as made:
        made.show("open.py")
        made.show("own.py", mode=0o600, user=made.user, group=made.user)
        made.hide("secret.py", mode=0o600)
        made.hide("closed/inside.py")
        made.hide("roots.py", mode=0o640)
        os.chmod(made.path("closed"), 0o700)
        with pretender(made, "--drop", made.user, user=0) as process:
            outputs, report = profiled(process.pid)
            dump = run(["dump", "--pid", process.pid]).stdout
        made.check_all(outputs)
        made.check("dump", dump)
        check_no_entry(made, report)
        # The same of one that has not dropped them: all that keeps them from view is who the target is.
        made.shown.update(made.hidden)
        made.hidden = {}
        with pretender(made, user=0) as process:
            outputs, _ = profiled(process.pid)
        made.check_all(outputs)


def test_target_that_has_ended():
    """When the report is made nothing can be asked about the target any more."""
    for groups in ((GROUP,), ()):
        with files() as made:
            make_files(made)
            if not groups:
                made.hidden[made.path("shared.py")] = made.shown.pop(made.path("shared.py"))
                made.digests[made.path("shared.py")] = made.hidden[made.path("shared.py")]
            with pretender(made, "--seconds", 1.2, groups=groups) as process:
                outputs, report = profiled(process.pid, "-d", 60)
            check("meanwhile" in " ".join(outputs["summary.txt"].decode().split()), "the target has not ended")
            made.check_all(outputs)
            check(not set(made.hidden) & {source["file"] for source in report["sources"]}, "%s" % report["sources"])


def test_command_of_another_user():
    """Begun by the daemon as root, it becomes somebody else, and ends before the report."""
    with files() as made, tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        make_files(made)
        result = run([*MANY, *output_options(folder, "x", WITH_SOURCE), "--", "setpriv", "--reuid=%d" % made.user,
                      "--regid=%d" % made.user, "--groups=%d" % GROUP, python_for_everyone(), made.script,
                      "--seconds", 1.2, "--", *made.places()])
        check(b"ready\nok pretender\n" in result.stdout, "the command said %r" % result.stdout)
        outputs = collected(folder, "x")
        outputs["summary.txt"] = result.stdout + result.stderr
        made.check_all(outputs)
        check_no_entry(made, json.loads(outputs["x.json"]))


def text_of(result):
    return " ".join((result.stdout + result.stderr).split())


def check_refusal_is_told(said):
    lower = said.lower()
    check("source" in lower and ("not read" in lower or "be read" in lower or "unread" in lower),
          "nothing says that sources were not read: %s" % said)
    check("CAP_SETUID" in said or "CAP_SETGID" in said, "nothing says why, and what to do: %s" % said)


def limited_reports(made, program, capabilities, pid, user=None):
    """The summary, JSON and a dump of a daemon with these capabilities alone; the bytes of each, and the summary."""
    with tempfile.TemporaryDirectory(dir=made.folder) as folder:
        os.chmod(folder, 0o777)
        summary = run_limited(program, capabilities, "--pid", pid, "-d", 1, *MANY, "-o", os.path.join(folder, "x.json"),
                              user=user)
        outputs = collected(folder, "x")
    dump = run_limited(program, capabilities, "dump", "--pid", pid, user=user)
    outputs["summary.txt"] = (summary.stdout + summary.stderr).encode()
    # It has a line of every frame.
    made.check("dump with %s" % capabilities, dump.stdout.encode())
    return outputs, text_of(summary)


def test_daemon_that_cannot_be_the_target():
    """Without CAP_SETUID and CAP_SETGID no file of another user's target is read, and the report says why."""
    with files() as made, program_for_everyone() as program:
        make_files(made)
        with pretender(made, groups=[GROUP]) as process:
            outputs, said = limited_reports(made, program, [SYS_PTRACE, SETUID, SETGID], process.pid)
            made.check_all(outputs)
            check("CAP_SETUID" not in said, "a complaint for nothing: %s" % said)
            # Not those either that everybody may read: who the daemon is says nothing about the target.
            for path, word in made.shown.items():
                made.hidden[path] = word
                made.digests[path] = word
            made.shown = {}
            for capabilities, user in (([SYS_PTRACE], None), ([SYS_PTRACE, SETUID], None), ([SYS_PTRACE, SETGID], None),
                                       ([SYS_PTRACE], STRANGER)):
                outputs, said = limited_reports(made, program, capabilities, process.pid, user)
                check("pretended_0" in said, "it is not of this target: %s" % said)
                check_refusal_is_told(said)
                for what, data in outputs.items():
                    made.check("%s with %s" % (what, capabilities), data)
                check_equal(json.loads(outputs["x.json"])["sources"], [], "files read with %s" % capabilities)


def test_users_own_process():
    """An ordinary user needs nothing for a target of his: its files are those that he may read."""
    with files() as made, program_for_everyone() as program:
        make_files(made)
        # Neither the target nor the daemon is in the group.
        path = made.path("shared.py")
        made.hidden[path] = made.digests[path] = made.shown.pop(path)
        with pretender(made) as process:
            outputs, said = limited_reports(made, program, [], process.pid, user=made.user)
        made.check_all(outputs)
        check("CAP_SETUID" not in said, "a complaint for nothing: %s" % said)


def test_links_of_the_daemons_own():
    """/proc/self is the target in the target's mouth, not the daemon, who may have any file open."""
    with files() as made:
        made.show("open.py")
        # Every user may read it, if he gets there.
        made.hide("closed/input.py", "/proc/self/fd/0")
        os.chmod(made.path("closed"), 0o700)
        for name in ("/dev/fd/0", "/dev/stdin", "/proc/thread-self/fd/0", made.path("link.py")):
            made.hidden[name], made.digests[name] = made.hidden["/proc/self/fd/0"], made.digests["/proc/self/fd/0"]
        os.symlink("/proc/self/fd/0", made.path("link.py"))
        with pretender(made) as process, open(made.path("closed", "input.py"), "rb") as file:
            outputs, _ = profiled(process.pid, stdin=file)
            dump = run(["dump", "--pid", process.pid], stdin=file).stdout
        made.check_all(outputs)
        made.check("dump", dump)


def test_privileges_dropped_later():
    """A server drops its privileges once it listens: what it has when the report is made counts, or had last."""
    for options, arguments in (((), ()), (("--seconds", 1.6), ("-d", 60))):
        with files() as made:
            made.show("open.py")
            made.hide("secret.py", mode=0o600)
            with pretender(made, "--drop", made.user, "--drop-after", 0.6, *options, user=0) as process:
                outputs, report = profiled(process.pid, "-d", 1.6, *arguments)
            made.check_all(outputs)
            check_no_entry(made, report)


def test_user_for_files_alone():
    """A file server of root's, which reads as one of its users."""
    with files() as made:
        make_files(made)
        path = made.path("shared.py")
        made.hidden[path] = made.digests[path] = made.shown.pop(path)
        with pretender(made, "--fsuid", made.user, user=0) as process:
            status = status_of(process.pid)
            check_equal(status["Uid"].split()[1::2], ["0", str(made.user)], "ids of the target")
            outputs, report = profiled(process.pid)
        made.check_all(outputs)
        check_no_entry(made, report)


def test_root_of_a_namespace():
    """It has all capabilities in there, and none over files of users that are not in there."""
    with files() as made:
        make_files(made)
        command = ["unshare", "--user", "--map-root-user", python_for_everyone(), made.script, "--", *made.places()]
        with started(command, user=made.user, group=made.user, extra_groups=[GROUP]) as process:
            check(int(status_of(process.pid)["CapEff"], 16) & 1 << 1, "it has no CAP_DAC_OVERRIDE in there")
            check_every_output(made, process.pid)


def test_each_process_for_itself():
    """Two in one profile: what the one may read it does not read for the other."""
    with files() as made, tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        path, far = made.hide("both.py", mode=0o600), 20
        made.digests[path] = made.hidden[path]
        made.shown[path] = "shown0123456789"
        # The lines around the one's, which go with it, and far from them the other's.
        with open(path, "w") as file:
            file.write("%s\n" % made.shown[path] * far + "%s\n" % made.hidden[path] * far)
        python = python_for_everyone()
        with started([python, made.script, "%s:%d" % (path, LINE)]) as roots, \
                started([python, made.script, "%s:%d" % (path, LINE + far + 5)], user=made.user, group=made.user,
                        extra_groups=[]) as strangers:
            for first, second in ((roots, strangers), (strangers, roots)):
                outputs, report = profiled("%d,%d" % (first.pid, second.pid))
                check_equal({line["line"] for line in report["lines"] if line["file"] == path}, {LINE, LINE + far + 5},
                            "lines of the file")
                made.check_all(outputs)
            both = "%d,%d" % (roots.pid, strangers.pid)
            with Server(both, listen="unix:" + os.path.join(folder, "socket")) as server:
                server.get("/debug/pprof/profile?seconds=1")
                made.check("/", server.get("/"))
                made.check("snapshot", server.get("/control/snapshot?format=json", method="POST"))
                server.finish()


def test_what_is_searched_finds_what_is_packed():
    """The tests above look into what is packed; those that must not have a word would pass if that failed."""
    word = b"hidden0123456789"
    plain = bytes(range(256)) + word + bytes(range(256))
    for data in (plain, gzip.compress(plain), base64.b64encode(plain), b"<p>" + base64.b64encode(gzip.compress(plain)),
                 b"x\n".join((b"", base64.encodebytes(plain), b""))):
        check(any(word in form for form in forms(data)), "not found in %r" % data[:40])
    check(not any(word in form for form in forms(base64.b64encode(plain[:256]))), "found where it is not")
