# SPDX-License-Identifier: Apache-2.0
"""What the manual pages, --help and the completion say, read by machine."""
import os
import re
import subprocess

from harness import PIEPROFD, ROOT, check_equal, pieprofd

COMPLETION = os.path.join(ROOT, ".packaging", "completion", "pieprofd.bash")


def manual_page(name):
    with open(os.path.join(ROOT, "man", name), encoding="utf-8") as file:
        return file.read()


def manual_options(name):
    """Long options that a page names."""
    return set(re.findall(r"\bFl -([a-z][a-z-]+)", manual_page(name)))


def manual_members(name):
    """Names of variables by section: of `.Va python_ns , native_ns ;` both."""
    sections, title = {}, ""
    for line in manual_page(name).splitlines():
        heading = re.match(r"\.S[hs] (.*)", line)
        if heading:
            title = heading.group(1)
        if not line.startswith("."):
            continue
        variable = False
        for word in line[1:].split():
            if re.fullmatch(r"[A-Z][a-z]", word):
                variable = word == "Va"
            elif variable and re.fullmatch(r"\w+", word):
                sections.setdefault(title, set()).add(word)
    return sections


def help_commands():
    return re.findall(r"^(?:usage:|      ) pieprofd \[?([a-z]+)", pieprofd("--help").stdout, re.M)


def help_options(*command):
    return set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", pieprofd(*command, "--help").stdout))


def completed(*words):
    """What bash offers for the last of these words, PIEPROFD being before them."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pieprofd; printf "%s\\n" "${COMPREPLY[@]}"'
    run = subprocess.run(["bash", "-c", script, "bash", COMPLETION, PIEPROFD, *words], capture_output=True, text=True,
                         check=False)
    check_equal((run.returncode, run.stderr), (0, ""), "completion of %r" % (words,))
    return set(run.stdout.split("\n")) - {""}
