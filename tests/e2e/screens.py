# SPDX-License-Identifier: Apache-2.0
"""What the first screen says of programs that are slow for one reason (tests/targets/screens/)."""
import collections
import contextlib
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios

from harness import PIEPROFD, TARGETS, Target, check_equal, pieprofd

FOLDER = os.path.join(TARGETS, "screens")
ROWS, COLUMNS = 24, 80
LINES_MAX = 20
# A line's number, its text and what is said of it stand in so many of the first lines, blank ones not counted.
TOP_LINES = 5

# planted: how the slow line begins, or the lines, where each of several is right. advice: what must be said in some form.
Program = collections.namedtuple("Program", "script reason planted advice options needs")


def program(script, reason, planted, advice, options=(), needs="numpy"):
    return Program(script, reason, planted if isinstance(planted, tuple) else (planted,), advice, options, needs)


PROGRAMS = [
    program("shop_revenue.py", "iterrows()", "for _, order in orders.iterrows()", "column|whole|itertuples",
            needs="pandas"),
    program("parcel_prices.py", "apply(axis=1)", 'day["price"] = day.apply(', "column|whole", needs="pandas"),
    program("log_levels.py", "re.compile() of one pattern", "pattern = re.compile(", "once|before|out of|keep|cache"),
    program("currency_desk.py", "json.loads() of one text", "rates = json.loads(", "once|before|out of|keep|cache"),
    program("bike_track.py", "np.append() in a loop", "heights = np.append(", "list|once|preallocat|in the end"),
    program("news_ticker.py", "insert(0)", "shown.insert(0", "deque|append"),
    program("guest_list.py", "in of a list", "if guest not in seen", r"\b(set|dict)"),
    program("auction_board.py", "sorted() in a loop", "board = sorted(", "heap|nlargest|bisect|insort|keep|once"),
    program("weather_feed.py", "time.sleep() in a coroutine", "time.sleep(", "await|asyncio|thread|event loop", ("--idle",)),
    program("ticket_office.py", "a lock that all wait for", "with printer", r"\block\b", ("--idle",)),
    program("price_sheet.py", "+= of a long text", "self.text += \"<tr>", r"\bjoin|StringIO|list"),
    program("courier_zones.py", "a call with the same arguments", ("total += 4 + 0.3 * distance(", "latitude, longitude = middle("),
            "same argument|cache|keep|once"),
    program("photo_brightness.py", "an array by element", "result[y, x] = ", "slice|whole array|vector"),
    program("chess_tree.py", "deepcopy()", "trial = copy.deepcopy(", "only what|undo|shallow"),
]


def on_terminal(*arguments):
    """What pieprofd writes to a terminal of 80 columns and 24 rows that is its standard output."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen([PIEPROFD, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=slave,
                          stderr=subprocess.PIPE) as process:
        os.close(slave)
        written = b""
        with contextlib.suppress(OSError):
            while True:
                written += os.read(master, 4096)
        os.close(master)
        said = process.stderr.read().decode()
    check_equal(process.returncode, 0, "exit code, with %r" % said)
    return written.decode().replace("\r\n", "\n")


class Screen:
    """The screen of a program: on a terminal, where the verdict is last, and in a pipe, where it is first."""

    def __init__(self, interpreter, wanted, seconds, *options):
        folder = tempfile.mkdtemp(prefix="pieprofd-screen-")
        recording = os.path.join(folder, "x.pieprof")
        try:
            with Target(interpreter, os.path.join("screens", wanted.script), "--seconds", seconds + 60) as target:
                self.terminal = on_terminal(target.pid, "-d", seconds, "--color", "never", "-o", recording,
                                            *wanted.options, *options)
                target.check_undisturbed()
                target.process.kill()
            self.piped = pieprofd("report", recording).stdout
        finally:
            shutil.rmtree(folder)
        self.wanted = wanted

    def planted(self):
        """Numbers and texts of the lines that are slow."""
        with open(os.path.join(FOLDER, self.wanted.script), encoding="utf-8") as file:
            lines = [(number, line.strip()) for number, line in enumerate(file, 1)]
        found = [line for line in lines if line[1].startswith(self.wanted.planted)]
        check_equal(len(found), len(self.wanted.planted), "planted lines of %s" % self.wanted.script)
        return found

    def verdict(self):
        """Its words, without line breaks."""
        return " ".join(self.piped[self.piped.index("VERDICT  "):self.piped.index("\nTIME  ")].split())

    def headline(self):
        return self.piped[self.piped.index("VERDICT  "):].splitlines()[0].split(None, 1)[1]

    def missing(self):
        """What it does not say, in words; nothing, when nothing is missing."""
        top = " ".join(" ".join([line for line in self.piped.splitlines() if line.strip()][:TOP_LINES]).split())
        # A long line is cut.
        if not any("%s:%d" % (self.wanted.script, number) in top and " ".join(text.split())[:24] in top
                   for number, text in self.planted()):
            return ["another line is named"]
        return [] if re.search(self.wanted.advice, self.verdict(), re.I) else ["what to do is not said"]

    def too_large(self):
        """In what it is more than one screen, in words; nothing, when it fits."""
        faults = ["%d lines" % len(text.splitlines()) for text in (self.terminal, self.piped)
                  if len(text.splitlines()) > LINES_MAX]
        wide = max(map(len, self.terminal.splitlines()))
        if wide > COLUMNS:
            faults.append("%d columns" % wide)
        if self.terminal.index("TIME  ") > self.terminal.index("VERDICT  "):
            faults.append("the verdict is not the last")
        return faults
