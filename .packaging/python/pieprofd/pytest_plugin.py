# SPDX-License-Identifier: Apache-2.0
"""pytest --pieprofd: profiles the tests from outside while they run. Does nothing when it is not asked for.

    each run, or each chosen test --> a recording --> one report of all of them at the end

With pytest-xdist each worker takes recordings of itself, and the process that started them makes the report.
"""
from __future__ import annotations

import fnmatch
import os
import shlex
import shutil
import tempfile
from typing import Any, Generator, List, Optional

import pytest

from .session import Profile, ProfileError, make_report

DEFAULT_OUTPUT = "pieprofd.html"
TESTS_FAILED = 1


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("pieprofd", "profiling with pieprofd")
    group.addoption("--pieprofd", nargs="?", const="", metavar="PATTERN",
                    help="profile the tests marked pieprofd, or all of the run where none is; =PATTERN: the tests whose "
                    "name has it, with * and ?")
    group.addoption("--pieprofd-output", action="append", metavar="FILE",
                    help="write a report, in the format that the name says (%s); .pieprof: a recording, for a later "
                    "--pieprofd-base" % DEFAULT_OUTPUT)
    group.addoption("--pieprofd-base", metavar="RECORDING", help="show what changed since then")
    group.addoption("--pieprofd-fail-if", action="append", default=[], metavar="CHANGE",
                    help="fail when a line changed so since then, by more than chance: own+10%%, total+5%%, could-save+20%%")
    group.addoption("--pieprofd-options", default="", metavar="OPTIONS",
                    help="of `pieprofd record`: --pieprofd-options='--mode time'")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "pieprofd: with --pieprofd, profile this test, and no test without this mark")
    if config.getoption("pieprofd") is None:
        return
    if config.getoption("pieprofd_fail_if") and not config.getoption("pieprofd_base"):
        raise pytest.UsageError("--pieprofd-fail-if needs --pieprofd-base, a recording to compare with")
    config.pluginmanager.register(Profiler(config), "pieprofd_profiler")


class Profiler:
    """problems: what could not be profiled, and why. chosen: names of tests; None: the run as a whole."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.problems: List[str] = []
        self.chosen: Optional[List[str]] = None
        self.text = self.failure = ""
        worker = getattr(config, "workerinput", None)
        self.worker = worker["workerid"] if worker else ""
        self.folder = worker["pieprofd_folder"] if worker else tempfile.mkdtemp(prefix="pieprofd-")

    def _choose(self, items: List[Any]) -> None:
        pattern = self.config.getoption("pieprofd")
        if pattern:
            self.chosen = [item.nodeid for item in items if fnmatch.fnmatch(item.nodeid, "*" + pattern + "*")]
            if not self.chosen:
                self.problems.append("no test's name has %s" % pattern)
        else:
            self.chosen = [item.nodeid for item in items if item.get_closest_marker("pieprofd")] or None

    def _profiled(self, what: str) -> Generator[None, Any, None]:
        profile = Profile()
        try:
            profile = Profile(*shlex.split(self.config.getoption("pieprofd_options")))
            profile.start()
            begun = True
        except ProfileError as error:
            self.problems.append("%s: %s" % (what, error))
            begun = False
        yield
        if not begun:
            return
        try:
            profile.stop()
        except ProfileError as error:
            self.problems.append("%s: %s" % (what, error))
        else:
            number = len(os.listdir(self.folder))
            with open(os.path.join(self.folder, "%s-%06d.pieprof" % (self.worker, number)), "wb") as file:
                file.write(profile.recording)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self, session: Any) -> Generator[None, Any, None]:
        # The process that started xdist's workers runs no test.
        distributes = self.config.pluginmanager.hasplugin("dsession")
        if not distributes:
            self._choose(session.items)
        if distributes or self.chosen is not None or self.config.option.collectonly:
            yield
        else:
            yield from self._profiled("the run")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, None]:
        if self.chosen is not None and item.nodeid in self.chosen:
            yield from self._profiled(item.nodeid)
        else:
            yield

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["pieprofd_folder"] = self.folder

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.problems += getattr(node, "workeroutput", {}).get("pieprofd_problems", [])

    def pytest_sessionfinish(self, session: Any) -> None:
        if self.worker:
            self.config.workeroutput["pieprofd_problems"] = self.problems
            return
        recordings = [os.path.join(self.folder, name) for name in sorted(os.listdir(self.folder))]
        if recordings:
            self._report(recordings)
        elif self.config.getoption("pieprofd_fail_if"):
            self.failure = "nothing was profiled, so that nothing could be compared"
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.failure and not session.exitstatus:
            session.exitstatus = TESTS_FAILED

    def _report(self, recordings: List[str]) -> None:
        outputs = self.config.getoption("pieprofd_output") or [DEFAULT_OUTPUT]
        code, _, problem = make_report(recordings, *[word for path in outputs for word in ("--output", path)])
        if code:
            self.failure = problem
            return
        base = self.config.getoption("pieprofd_base")
        changes = [word for change in self.config.getoption("pieprofd_fail_if") for word in ("--fail-if", change)]
        code, text, problem = make_report(recordings, *(["--diff", base] if base else []), *changes)
        self.text = text.decode(errors="replace") + "Wrote " + ", ".join(outputs)
        if code:
            self.failure = problem
        elif problem:
            self.problems.append(problem)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("pieprofd")
        for problem in dict.fromkeys(self.problems):
            terminalreporter.write_line(problem, yellow=True)
        if self.text:
            terminalreporter.write_line(self.text)
        if self.failure:
            terminalreporter.write_line(self.failure, red=True)
