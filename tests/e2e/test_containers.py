# SPDX-License-Identifier: Apache-2.0
"""Targets in namespaces of their own, with another system's files, seen from outside."""
import contextlib
import json
import os
import shutil
import subprocess
import tempfile

from harness import (TARGETS, TARGETS_IN_ROOT, Skip, check, check_equal, check_sampled, matrix, nobody)
from test_follow import children
from test_refusals import program_for_everyone

# As root: a root tree, its /tmp, and our program in it. Then as an ordinary user: namespaces, in which it is root.
MAKE = """
place=$1 root=$2 script=$3 user=$4
shift 4
mount --bind "$root" "$place" && mount -t tmpfs -o mode=1777 tmpfs "$place/tmp" &&
mkdir -p "$place%(targets)s" && mount -t tmpfs -o mode=755 tmpfs "$place%(targets)s" &&
install -m 644 "$script" "$place%(targets)s/" || exit 125
exec setpriv --reuid "$user" --regid "$user" --clear-groups \\
    unshare --user --map-root-user --mount --pid --fork --kill-child sh -c '
mount -t proc proc "$0/proc" || exit 125
exec chroot "$0" "$@"' "$place" "$@"
""" % {"targets": TARGETS_IN_ROOT}


def suites():
    """The newest interpreter of each later Debian suite: its root tree, and where it is in there."""
    newest = {}
    for interpreter in matrix()[0]:
        if interpreter.in_root:
            newest[interpreter.name.split()[-1]] = interpreter
    if not newest:
        raise Skip("needs root and a later Debian (PIEPROFD_TEST_NEWER=1 makes it)")
    for suite, interpreter in sorted(newest.items()):
        folder, program = os.path.split(interpreter.path)
        yield suite, os.path.join(os.path.dirname(folder), "root"), "/usr/bin/" + program


@contextlib.contextmanager
def container(root, python, script, user):
    """A program in it, by its pid out here, and what it said of itself."""
    place = tempfile.mkdtemp(prefix="pieprofd-container-")
    os.chmod(place, 0o755)
    process = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", MAKE, "sh", place, root, os.path.join(TARGETS, script), str(user), python,
         os.path.join(TARGETS_IN_ROOT, script)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
        env={"PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]})
    try:
        line = process.stdout.readline()
        if line.startswith(("unshare:", "mount:", "setpriv:")):
            raise Skip("needs root that may make user namespaces: %s" % line.strip())
        check_equal(line, "ready\n", "the target's first line")
        said = json.loads(process.stdout.readline())
        check_equal(os.listdir(place), [], "files seen from here")
        yield children(process.pid)[0], said
        output, _ = process.communicate(timeout=60)
        check_equal(process.returncode, 0, "the target's exit code")
        check(output.startswith("ok "), "the target said %r" % output)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
        os.rmdir(place)


def outside(pid, inner_tid):
    """The thread id out here of the one with this id in there."""
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/status" % (pid, tid)) as status:
            for line in status:
                if line.startswith("NSpid:") and int(line.split()[-1]) == inner_tid:
                    return int(tid)
    raise AssertionError("no thread %d" % inner_tid)


def run(program, *arguments, user=None):
    result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, cwd="/",
                            user=user, group=user, extra_groups=[] if user is not None else None)
    check_equal(result.returncode, 0, "exit code, with %r" % result.stderr)
    return result.stdout


def source_text(comment):
    with open(os.path.join(TARGETS, "contained.py")) as file:
        return next(line.strip() for line in file if line.rstrip().endswith("# " + comment))


def cpu_time(line):
    return line["python_ns"] + line["native_ns"] + line["system_ns"]


def check_profile(program, pid, tids, user):
    with tempfile.TemporaryDirectory(prefix="pieprofd-container-") as folder:
        if user is not None:
            os.chown(folder, user, user)
        path, stacks = os.path.join(folder, "x.json"), os.path.join(folder, "x.folded")
        run(program, "--pid", pid, "-q", "-d", 3, "-o", path, "-o", stacks, user=user)
        with open(path) as file:
            report = json.load(file)
        with open(stacks) as file:
            stacks = file.read()
    check_equal(report["target"]["pid"], pid, "process")
    # A function's hottest line: a sample may also meet the head of its loop.
    found = {line["function"]: line for line in sorted(report["lines"], key=cpu_time)}
    for function, comment in (("compressing", "in the library"), ("generating", "in generated code")):
        check_sampled(function in found, "functions %s" % sorted(found))
        check_equal(found[function]["source"], source_text(comment), "source")
    # From the tree's own library, whose version is another one here.
    check_sampled(any("compressing" in line and "deflate" in line for line in stacks.splitlines()), stacks)
    check_sampled(any("generating" in line and "contained_generated_loop" in line for line in stacks.splitlines()),
                  stacks)
    check("pieprofd-container-" not in stacks, "paths are those of the root tree: %s" % stacks)
    names = {thread["tid"]: thread["name"] for thread in report["threads"]}
    for name, tid in tids.items():
        check_equal(names.get(tid), name, "name of thread %d in the report" % tid)


def check_dump(program, pid, tids, user):
    dump = json.loads(run(program, "dump", "--pid", pid, "--json", user=user))
    threads = {thread["tid"]: thread for thread in dump["threads"]}
    for (name, tid), function in zip(sorted(tids.items()), ("generating", "compressing")):
        check(tid in threads, "threads %s of %s" % (sorted(threads), tids))
        check_equal(threads[tid]["name"], name, "name of thread %d in the dump" % tid)
        check_sampled(function in [frame["function"] for frame in threads[tid]["frames"]],
                      "frames of %s: %s" % (name, threads[tid]["frames"]))


def test_another_system_in_namespaces_of_an_ordinary_user():
    """
    Root of a user namespace, number 1 of a pid namespace, with a later libc and
    Python; profiled by root, and by the user who made the namespaces.
    """
    user = nobody()
    for (suite, root, python), who in zip(suites(), (None, user)):
        with container(root, python, "contained.py", user) as (pid, said), program_for_everyone() as program:
            check_equal((said["pid"], said["uid"]), (1, 0), "%s: ids in there" % suite)
            check_equal(os.stat("/proc/%d" % pid).st_uid, user, "user out here")
            tids = {name: outside(pid, tid) for name, tid in said["threads"].items()}
            check(not set(tids.values()) & set(said["threads"].values()), "ids are the same in there: %s" % tids)
            check_profile(program, pid, tids, who)
            check_dump(program, pid, tids, who)
            process = next(process for process in json.loads(run(program, "list", "--json", user=who))["processes"]
                           if process["pid"] == pid)
            check_equal(process["inner_pid"], 1, "its number in there")
