# SPDX-License-Identifier: Apache-2.0
"""Names and lines of native frames."""
import os
import subprocess

from harness import MANY_SAMPLES, Skip, Target, check_sampled, find_interpreters, profile


def has_dwarf(path):
    """Does the interpreter, or the library that holds it, have line numbers of its own?"""
    listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    libraries = [line.split("=>")[1].split()[0] for line in listed.splitlines() if "libpython" in line]
    sections = subprocess.run(["readelf", "-SW"] + (libraries or [path]), capture_output=True, text=True, check=False)
    return ".debug_line" in sections.stdout


def test_native_lines():
    interpreter = next((i for i in find_interpreters() if has_dwarf(i.path)), None)
    if not interpreter:
        raise Skip("no interpreter with DWARF")
    with Target(interpreter, "conv_backprop.py", "--seconds", 60) as target:
        report, text = profile(target.pid, "-d", 6, "--native-lines", *MANY_SAMPLES)
    frames = [frame for pair in report["pairs"] for frame in pair["first"] if frame["kind"] == "native"]
    known = [frame for frame in frames if "line" in frame]
    check_sampled(any(frame["file"].endswith("Objects/abstract.c") and frame["line"] > 0 for frame in known),
                  "no line of abstract.c among %d native frames" % len(frames))
    check_sampled(any(frame.get("inlined") for frame in known), "no inlined function")
    # The text folds the middle of long paths, so which of them it shows is open; pairs of few accesses it leaves out.
    shown = ["%s:%d" % (os.path.basename(frame["file"]), frame["line"]) for frame in known]
    check_sampled(any(place in text for place in shown) or all(pair["sampled"] < 5 for pair in report["pairs"]),
                  "the text has none of %d native lines" % len(shown))
