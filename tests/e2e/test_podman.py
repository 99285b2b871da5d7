# SPDX-License-Identifier: Apache-2.0
"""
Containers of a real podman: their names, and what its seccomp profile refuses.

Without an image: the container's root has the system's own /usr. runc, since Debian 12's crun
takes no machine that has controllers of both versions of cgroups.
"""
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import uuid

from harness import (PIEPROFD, ROOT, Skip, alone, check, check_equal, check_sampled, find_interpreters, pieprofd)
from test_serve import Server, metrics_of

PROFILE = os.path.join(ROOT, ".packaging", "container", "seccomp.json")
BUSY = "while True: sum(range(1000))"
USER = 1000


def system_python():
    python = next((i.path for i in find_interpreters() if i.path.startswith("/usr/bin/")), None)
    if not python:
        raise Skip("needs root and an interpreter in /usr/bin")
    return python


class Podman:
    """With storage of its own, below a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.names = []
        self.root = os.path.join(folder, "root")
        for name in ("usr", "etc", "proc", "sys", "dev", "tmp", "run", "var", "bench"):
            os.makedirs(os.path.join(self.root, name))
        for name in ("bin", "sbin", "lib", "lib64"):
            os.symlink("usr/" + name, os.path.join(self.root, name))
        shutil.copy("/etc/ld.so.cache", os.path.join(self.root, "etc"))
        shutil.copy(PIEPROFD, os.path.join(self.root, "bench", "pieprofd"))
        for path, _, _ in os.walk(self.root):
            os.chmod(path, 0o755)

    def call(self, *words, check=True):
        run = subprocess.run(["podman", "--root", self.folder + "/storage", "--runroot", self.folder + "/run",
                              "--tmpdir", self.folder + "/tmp", "--storage-driver", "vfs", "--events-backend", "none",
                              "--cgroup-manager", "cgroupfs", "--runtime", "runc", *map(str, words)],
                             capture_output=True, text=True, check=False, timeout=120, cwd="/")
        if check and run.returncode:
            raise Skip("needs root and a podman that can run here: %s" % run.stderr.strip().splitlines()[-1])
        return run

    def run(self, *command, options=(), check=True):
        # Limits no higher than ours: not everybody may raise them.
        return self.call("run", "--network=none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "-v",
                         "/usr:/usr:ro", *options, "--rootfs", self.root, *command, check=check)

    def start(self, *options):
        """A container that runs Python: its name, its id, and the number of its first process out here."""
        name = "pieprofd-test-" + uuid.uuid4().hex[:12]
        self.names.append(name)
        number = self.run(system_python(), "-S", "-c", BUSY, options=("-d", "--name", name, *options)).stdout.strip()
        return name, number, int(self.call("inspect", "-f", "{{.State.Pid}}", name).stdout)


@contextlib.contextmanager
def podman():
    if os.geteuid() != 0 or not shutil.which("podman") or not shutil.which("runc"):
        raise Skip("needs root, podman and runc")
    folder = tempfile.mkdtemp(prefix="pieprofd-podman-")
    os.chmod(folder, 0o755)
    runner = Podman(folder)
    try:
        yield runner
    finally:
        if runner.names:
            runner.call("rm", "-f", "-t", "0", *runner.names, check=False)
        subprocess.run(["umount", "-q", folder + "/storage/vfs"], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_reports(folder, name, number):
    """Of one process, by its container's name: who it is stands in every report."""
    outputs = {kind: os.path.join(folder, "x." + kind)
               for kind in ("json", "html", "speedscope.json", "firefox.json", "folded", "pieprof")}
    text = pieprofd("--cgroup", name, "-d", 1, "--mode", "time", "--details",
                    *(word for path in outputs.values() for word in ("-o", path))).stdout
    check("  in container %s (podman %s)\n" % (name, number[:12]) in text, text)
    report = json.loads(read(outputs["json"]))
    check_equal(report["target"]["container"], {"runtime": "podman", "id": number, "name": name}, "container")
    check("In container %s (podman %s)" % (name, number[:12]) in read(outputs["html"]), "the page")
    label = "%s (%s)" % (name, number[:12])
    check(" in " + label in json.loads(read(outputs["speedscope.json"]))["name"], "speedscope's name")
    check_equal(json.loads(read(outputs["firefox.json"]))["meta"]["product"].split(" in ")[1], label, "product")
    stacks = read(outputs["folded"]).splitlines()
    check_sampled(stacks, "no stacks")
    for line in stacks:
        check(line.startswith("[container %s (podman %s)];" % (name, number[:12])), line)
    check("in container " + name in pieprofd("report", outputs["pieprof"]).stdout, "the recording")


def check_metrics(containers):
    """In /metrics, of one process and of several."""
    for some in (containers[:1], containers):
        with Server(",".join(str(pid) for _, _, pid in some)) as server:
            found = {labels: value for (name, labels), value in metrics_of(server.get("/metrics").decode())[0].items()
                     if name == "pieprofd_container_processes"}
            check_equal(found, {'runtime="podman",id="%s",name="%s"' % (number, name): 1 for name, number, _ in some},
                        "containers in /metrics")
            server.finish()


@alone
def test_names():
    with podman() as runner:
        one, two = runner.start(), runner.start()
        listed = {process["pid"]: process["container"]
                  for process in json.loads(pieprofd("list", "--json").stdout)["processes"]}
        for name, number, pid in (one, two):
            check_equal(listed.get(pid), {"runtime": "podman", "id": number, "name": name}, "container in list")
        check_reports(runner.folder, one[0], one[1])
        dump = pieprofd("dump", "--pid", two[2]).stdout
        check("in container %s (podman" % two[0] in dump, dump)
        # Labels of stacks, and the table of processes.
        stacks = os.path.join(runner.folder, "x.folded")
        text = pieprofd("--pid", "%d,%d" % (one[2], two[2]), "-d", 1.5, "--mode", "time", "--details", "-o",
                        stacks).stdout
        for name, number, pid in (one, two):
            check_sampled("in %s: python" % name in text, text)
            check_sampled("\n  in container %s (podman %s)\n" % (name, number[:12]) in text.split("PROCESSES")[-1], text)
            name = "%s (%s)" % (name, number[:12])
            label = "process %d (" % pid
            check_sampled(any(line.startswith(label) and ") in %s;" % name in line
                              for line in read(stacks).splitlines()), read(stacks)[:2000])
        check_metrics((one, two))
        said = pieprofd("--cgroup", one[0] + "x", "-d", 1, code=3).stderr
        check("no process in a cgroup" in said, said)


def doctor(runner, *options):
    run = runner.run("/bench/pieprofd", "doctor", "--json", options=("--rm", *options), check=False)
    check(run.stdout.startswith("{"), run.stderr)
    return {line["id"]: line for line in json.loads(run.stdout)["lines"]}


@alone
def test_seccomp_profile():
    """Debian's podman asks for SYS_ADMIN; the profile that comes with pieprofd is content with PERFMON."""
    capabilities = ("--cap-add", "SYS_PTRACE", "--cap-add", "PERFMON", "--cap-add", "SYS_NICE")
    with podman() as runner:
        runner.start()  # whether it can run here
        refused = doctor(runner, *capabilities)
        ours = "seccomp=" + PROFILE
        allowed = doctor(runner, *capabilities, "--security-opt", ours)
        without = doctor(runner, "--cap-add", "SYS_PTRACE", "--security-opt", ours)
    if refused["clock"]["state"] != "OK":
        check("seccomp filter" in refused["clock"]["found"] and "/usr/share/pieprofd/seccomp.json" in
              refused["clock"]["cure"] and "The capability is there" in refused["clock"]["cure"], refused["clock"])
    check_equal((allowed["clock"]["state"], allowed["breakpoints"]["state"]), ("OK", "OK"), "with our profile")
    check_equal(without["clock"]["state"], "missing", "our profile without the capability")
    check("--cap-add PERFMON" in without["clock"]["cure"], without["clock"])
    if allowed["priority"]["state"] != "OK":
        check("control group" in allowed["priority"]["found"], allowed["priority"])


@alone
def test_sidecar_of_an_ordinary_user():
    """In the process ids of another container, as the user that both have, with PERFMON and our profile."""
    with podman() as runner:
        name, _, _ = runner.start("--user", USER)
        run = runner.run("/bench/pieprofd", "--pid", 1, "-d", 1, "-o", "-", "--format", "json", options=(
            "--rm", "--user", USER, "--pid=container:" + name, "--cap-add", "PERFMON", "--security-opt",
            "seccomp=" + PROFILE), check=False)
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    report = json.loads(run.stdout)
    check_equal((report["target"]["pid"], report["sampler"]), (1, "clock"), "the target and its sampler")
    check_sampled(report["samples"] > 10, "%d samples" % report["samples"])
