# SPDX-License-Identifier: Apache-2.0
"""`top` in a real terminal, which tmux is: what is on its screen, and what is left behind."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile

from harness import PIEPROFD, Failure, Skip, Target, check, check_equal, default_interpreter, pieprofd, wait_until

HOT_LINE = "conv_backprop.py:33"


class Terminal:
    """A tmux server of its own with one window, in which a shell runs."""

    def __init__(self, columns=80, rows=24, prepare=None, **environment):
        if not shutil.which("tmux"):
            raise Skip("no tmux")
        self.folder = tempfile.mkdtemp(prefix="pieprofd-tmux-")
        self.socket = os.path.join(self.folder, "socket")
        variables = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm-256color", PS1="$ ", ENV="")
        variables.pop("NO_COLOR", None)
        variables.pop("TMUX", None)
        variables.update(environment)
        subprocess.run(["tmux", "-u", "-S", self.socket, "-f", "/dev/null", "new-session", "-d", "-x", str(columns),
                        "-y", str(rows), "/bin/sh"], env=variables, preexec_fn=prepare, check=True)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder)

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, *arguments], check=True, stdout=subprocess.PIPE,
                              text=True).stdout

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def wait_for(self, words, seconds=30):
        """The screen once it has them; a regular expression."""
        seen = []

        def has():
            seen.append(self.screen())
            return re.search(words, seen[-1])

        try:
            wait_until(has, seconds, words)
        except Failure:
            raise Failure("no %r on the screen:\n%s" % (words, seen[-1]))
        return seen[-1]

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))


@contextlib.contextmanager
def watched(columns=80, rows=24, options="", script="conv_backprop.py", **environment):
    """A target and a terminal with top on it, after its first picture with something in it."""
    with Target(default_interpreter(), script, "--seconds", 120) as target, \
            Terminal(columns, rows, **environment) as terminal:
        terminal.type("%s top --pid %d --details %s; echo left with $?" % (PIEPROFD, target.pid, options), "Enter")
        terminal.wait_for(r"%s" % re.escape(HOT_LINE))
        yield target, terminal


def check_left(terminal, target, code=0):
    """The shell is back on its own screen, with the summary; the target goes on."""
    screen = terminal.wait_for(r"left with \d+")
    check("left with %d\n" % code in screen, screen)
    everything = terminal.screen("-S", "-")
    check("VERDICT" in everything and "DATA QUALITY" in everything, "no summary in:\n%s" % everything)
    check("g[f] += d[i, j, f] * r" in everything, "the line is not in the summary")
    check_equal(terminal.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{insert_flag}").strip(),
                "0 1 0", "alternate screen, cursor, insert mode")
    # Echo and line editing are on again.
    terminal.type("echo a''b", "Enter")
    terminal.wait_for(r"echo a''b\n(.*\n)*ab\n")
    terminal.type("stty -a", "Enter")
    terminal.wait_for(r"\bicanon\b(.|\n)* echo\b")
    target.check_undisturbed()


def rows_of(screen):
    """The rows of the table."""
    lines = screen.splitlines()
    heading = next(number for number, line in enumerate(lines) if "SELF%" in line or "REDUND" in line)
    return lines[heading + 1:]


def test_views_keys_and_quit():
    with watched() as (target, terminal):
        screen = terminal.wait_for(r"\d\d+ samples")
        check(HOT_LINE in rows_of(screen)[0], "the hot line is not the first:\n%s" % screen)
        self_share = float(rows_of(screen)[0].split()[0])
        check(self_share > 60, "the hot line has %s%%:\n%s" % (self_share, screen))
        check("pid %d" % target.pid in screen.splitlines()[0], screen)
        check("Convolution.backprop" in screen, "no details of the first line:\n%s" % screen)
        for key, tab, words in (("2", "2 Functions", "Convolution.backprop"), ("3", "3 Threads", "MainThread"),
                                ("4", "4 Pairs", ""), ("Tab", "1 Lines", HOT_LINE)):
            terminal.type(key)
            terminal.wait_for(r"\[%s\][\s\S]*%s" % (tab, re.escape(words)))
        for order in ("total time", "redundant accesses", "saving", "self time"):
            terminal.type("s")
            terminal.wait_for("by %s" % order)
        terminal.type("/", *"BACK")
        screen = terminal.wait_for("/BACK_")
        check(HOT_LINE in rows_of(screen)[0] and "numeric.py" not in screen, "rows of a filter:\n%s" % screen)
        terminal.type("Enter")
        terminal.wait_for("Esc: all rows")
        terminal.type("Escape")
        terminal.wait_for("q quit")
        terminal.type("o")
        screen = terminal.wait_for("own code")
        check(HOT_LINE in screen and "numeric.py" not in screen, "the program's own lines:\n%s" % screen)
        terminal.type("o", "w")
        terminal.wait_for("since start")
        terminal.type("p")
        terminal.wait_for("PAUSED")
        terminal.type("p", "r")
        terminal.wait_for("since reset, [1-9]")
        terminal.type("?")
        terminal.wait_for("any key goes back")
        terminal.type("x", "Down")
        terminal.wait_for(r"\[1 Lines\]")
        terminal.type("q")
        check_left(terminal, target)


def test_command():
    """Started by top, which leaves it running."""
    interpreter = default_interpreter()
    with Terminal() as terminal:
        terminal.type("%s top --details -- %s; echo left with $?" % (
            PIEPROFD, " ".join(interpreter.command("conv_backprop.py", "--seconds", 60))), "Enter")
        terminal.wait_for(re.escape(HOT_LINE))
        terminal.type("q")
        terminal.wait_for("left with 0")
        everything = " ".join(terminal.screen("-S", "-").split())
        check("VERDICT" in everything and "DATA QUALITY" in everything, everything)
        said = re.search(r"process (\d+), started by top, runs on; kill (\d+) ends it", everything)
        check(said and said.group(1) == said.group(2), everything)
        os.kill(int(said.group(1)), signal.SIGKILL)
        terminal.type("%s top -- /no/such/program; echo failed with $?" % PIEPROFD, "Enter")
        terminal.wait_for("failed with [1-9]")


def test_resize():
    with watched() as (target, terminal):
        # What only a picture of that size has.
        for columns, rows, words in ((40, 16, r"\[1 Lines\] 2 3 4"), (200, 50, r"sampler (clock|kernel)"),
                                     (24, 6, r"q quit  \? help"), (10, 3, r"pid \d+"), (80, 24, r"Python 3\.\d")):
            terminal.resize(columns, rows)
            screen = terminal.wait_for("^(.*\n){0,%d}.*%s" % (rows - 1, words))
            for line in screen.splitlines():
                check(len(line) <= columns, "%d columns: %r" % (columns, line))
            if rows >= 16:
                check(HOT_LINE in rows_of(screen)[0], screen)
            check_equal("g[f] += d[i, j, f] * r" in screen, columns >= 80, "source at %d columns" % columns)
        terminal.type("q")
        check_left(terminal, target)


def test_signals_restore_the_terminal():
    for number in (signal.SIGINT, signal.SIGTERM):
        with watched() as (target, terminal):
            if number == signal.SIGINT:
                terminal.type("C-c")
            else:
                os.kill(tracer_of(target), number)
            check_left(terminal, target)


def tracer_of(target):
    """The daemon: the thread that traces is one of its."""
    tracer = int(target.status()["TracerPid"])
    check(tracer, "nobody traces the target")
    with open("/proc/%d/status" % tracer) as status:
        return int(re.search(r"^Tgid:\t(\d+)", status.read(), re.M).group(1))


def test_terminal_goes_away():
    with watched() as (target, terminal):
        terminal.tmux("kill-server")
        wait_until(lambda: target.status()["TracerPid"] == "0", 10, "the daemon to end")
        target.check_undisturbed()


def test_end_of_the_target():
    with watched() as (target, terminal):
        target.process.terminate()
        terminal.wait_for("left with 0")
        everything = terminal.screen("-S", "-")
        check("the target exited meanwhile" in " ".join(everything.split()), everything)
        check_equal(terminal.tmux("display-message", "-p", "#{alternate_on}").strip(), "0", "alternate screen")


def test_no_colour_and_ascii():
    with watched(NO_COLOR="1", LC_ALL="C") as (target, terminal):
        plain, styled = terminal.screen(), terminal.screen("-e")
        check(plain.isascii(), "not ASCII:\n%s" % plain)
        check(re.search(r"P Python .* n native .* s system", plain), plain)
        colours = re.findall(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7]|38|48)(?:;\d+)*m", styled)
        check_equal(colours, [], "colours")
        terminal.type("q")
        check_left(terminal, target)


def test_not_a_terminal():
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        run = pieprofd("top", "--pid", target.pid, code=2)
        check("terminal" in run.stderr and "pieprofd %d" % target.pid in run.stderr, run.stderr)
        check_equal(run.stdout, "", "stdout")
        with Terminal(TERM="xterm-256color") as terminal:
            terminal.type("TERM=nonsense %s top --pid %d; echo left with $?" % (PIEPROFD, target.pid), "Enter")
            screen = terminal.wait_for(r"left with \d")
            check("left with 2" in screen and "TERM" in screen, screen)
        target.check_undisturbed()


def test_memory():
    """The line that makes resident memory grow, by its own key."""
    with Target(default_interpreter(), "heap_growth.py", "keep", "--rate", 4000) as target, Terminal() as terminal:
        terminal.type("%s top --pid %d --memory; echo left with $?" % (PIEPROFD, target.pid), "Enter")
        terminal.wait_for(r"heap_growth.py:\d+")
        terminal.type("m")
        screen = terminal.wait_for(r"FRESH/s(?s:.*)heap_growth.py:\d+")
        check("by fresh memory" in screen and not re.search("SAVE%", screen), screen)
        terminal.wait_for(r"[1-9][\d.]* [KM]B .*heap_growth.py:\d+")
        terminal.type("q")
        # 6: where time is sampled by stops, it ran too little for one.
        terminal.wait_for(r"left with [06]\b")


def test_heap():
    with Target(default_interpreter(), "heap_growth.py", "keep", "--rate", 2000) as target, Terminal() as terminal:
        terminal.type("%s top --pid %d --heap; echo left with $?" % (PIEPROFD, target.pid), "Enter")
        screen = terminal.wait_for(r"GROWS; look \d+, \d+ s old, took .*\n +\+\d+ +\d+  __main__\.cache +\(dict\)")
        check("SELF%" in screen, screen)
        terminal.type("q")
        terminal.wait_for("left with 0")
        target.check_undisturbed()
