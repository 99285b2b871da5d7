# SPDX-License-Identifier: Apache-2.0
"""Checks expected.json against the programs and measures again what each fix saves.

    python3 measure.py --check                    places and equal results, no times
    python3 measure.py [--write] [NAME ...]       all of it, for all or some programs
    python3 measure.py --folder ../practice       those of another folder

Slow and fixed runs alternate, in turned order, so that a drift of the machine
cancels, and CPU seconds are counted (--wall: the clock's), so that what else
runs on the machine weighs less; the saving of a pair is 100 * (1 - fixed / slow), and the median, the
least and the greatest of the pairs are kept. Programs whose packages the
interpreter lacks are left out, and said.
"""

import argparse
import ast
import json
import os
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def functions(tree, prefix=""):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from functions(node, name + ".")
            else:
                yield name, node
                yield from functions(node, name + ".<locals>.")


def places(source, function, text):
    """Every node of the function whose source is exactly the text."""
    found = set()
    for name, node in functions(ast.parse(source)):
        if name != function:
            continue
        for inner in ast.walk(node):
            if hasattr(inner, "lineno") and ast.get_source_segment(source, inner) == text:
                found.add((inner.lineno, inner.col_offset, inner.end_lineno, inner.end_col_offset))
    return sorted(found)


def locate(folder, entry):
    with open(os.path.join(folder, entry["file"]), encoding="utf-8") as file:
        source = file.read()
    for kind in ("guilty", "also"):
        located = []
        seen = set()
        for expression in entry[kind]:
            key = expression["function"], expression["text"]
            if key in seen:
                continue
            seen.add(key)
            spots = places(source, *key)
            if not spots:
                raise SystemExit("%s: no %r in %s" % (entry["file"], key[1], key[0]))
            for line, column, end_line, end_column in spots:
                located.append(
                    {
                        "function": key[0],
                        "text": key[1],
                        "line": line,
                        "column": column,
                        "end_line": end_line,
                        "end_column": end_column,
                    }
                )
        yield kind, located
        if kind == "guilty":
            yield "lines", sorted({spot["line"] for spot in located})


def lacks(python, needs):
    for need in needs:
        if need == "cc":
            if shutil.which("cc") is None:
                return need
        elif subprocess.run([python, "-c", "import " + need], stderr=subprocess.DEVNULL).returncode:
            return need
    return None


def versions(python, needs):
    names = [need for need in needs if need != "cc"]
    code = "import importlib.metadata as m, platform, sys\n"
    code += "print(platform.python_version(), *[m.version(name) for name in sys.argv[1:]])"
    done = subprocess.run([python, "-c", code, *names], check=True, capture_output=True, text=True)
    return dict(zip(["python", *names], done.stdout.split()))


def call(python, folder, entry, *arguments):
    command = [python, os.path.join(folder, entry["file"]), *arguments]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=alone)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def saving(python, folder, entry, pairs, seconds, wall):
    savings, slows, fixeds = [], [], []
    for pair in range(pairs):
        pace = {}
        for which in ("slow", "fixed") if pair % 2 == 0 else ("fixed", "slow"):
            extra = (["--fixed"] if which == "fixed" else []) + ([] if wall else ["--cpu"])
            pace[which] = float(call(python, folder, entry, "--seconds", str(seconds), *extra)["seconds_per_pass"])
        slows.append(pace["slow"])
        fixeds.append(pace["fixed"])
        savings.append(100 * (1 - pace["fixed"] / pace["slow"]))
    return {
        "median": round(statistics.median(savings), 1),
        "min": round(min(savings), 1),
        "max": round(max(savings), 1),
        "pairs": pairs,
        "seconds": seconds,
        "clock": "wall" if wall else "cpu",
        "seconds_per_pass": round(statistics.median(slows), 4),
        "fixed_seconds_per_pass": round(statistics.median(fixeds), 4),
    }


def save(path, table):
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(table, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("names", nargs="*", help="programs, with or without .py; all without")
    args.add_argument("--folder", default=HERE, help="programs and their expected.json (default: %(default)s)")
    args.add_argument("--python", default=sys.executable, help="interpreter that runs the programs")
    args.add_argument("--pairs", type=int, default=5)
    args.add_argument("--seconds", type=float, default=3.0)
    args.add_argument("--wall", action="store_true", help="time by the clock instead of CPU seconds")
    args.add_argument("--write", action="store_true", help="put places and savings into expected.json")
    args.add_argument("--check", action="store_true", help="places and --check runs only")
    args = args.parse_args()

    path = os.path.join(args.folder, "expected.json")
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    wanted = {name.removesuffix(".py") + ".py" for name in args.names}
    wrong = 0
    for entry in table["programs"]:
        if wanted and entry["file"] not in wanted:
            continue
        for key, value in locate(args.folder, entry):
            if entry.get(key) != value and not args.write:
                print("%s: %s is stale, run with --write" % (entry["file"], key))
                wrong += 1
            entry[key] = value
        missing = lacks(args.python, entry["needs"])
        if missing:
            print("%-22s left out: no %s" % (entry["file"], missing))
            continue
        call(args.python, args.folder, entry, "--check")
        if args.check:
            print("%-22s results agree" % entry["file"])
            if args.write:
                save(path, table)
            continue
        found = saving(args.python, args.folder, entry, args.pairs, args.seconds, args.wall)
        print(
            "%-22s %-22s" % (entry["file"], entry["category"]),
            "%5.1f %% (%.1f to %.1f)," % (found["median"], found["min"], found["max"]),
            "%.3f s a pass" % found["seconds_per_pass"],
            flush=True,
        )
        if args.write:
            entry["saving_percent"] = found
            entry["measured_with"] = versions(args.python, entry["needs"])
            save(path, table)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
