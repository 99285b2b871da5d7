# SPDX-License-Identifier: Apache-2.0
"""The field's own readers accept what we write, and find the same figures in every format."""
import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import textwrap

from harness import (ROOT, Skip, Target, check, check_equal, check_sampled, default_interpreter, go_pprof, line_text,
                     pieprofd)

FORMATS = os.path.join(ROOT, "tests", "formats")
EXTENSIONS = {
    "json": ".json",
    "collapsed": ".folded",
    "pprof": ".pb.gz",
    "speedscope": ".speedscope.json",
    "firefox": ".firefox.json",
    "sarif": ".sarif",
    "github": ".github.txt",
    "markdown": ".md",
    "jsonl": ".jsonl",
}
CLASSES = ("python", "native", "system")
HOT_LINE = "g[f] += d[i, j, f] * r"

# What a name may contain that has a meaning in some format, or on a terminal.
HOSTILE = "evil;dir/\x1b[2J\n\"</script>\\ \u202e\u00e9 12 3.py"


class Profile:
    """One profile in all formats, in files of a folder of its own."""

    def __init__(self, pid, *arguments):
        self.folder = tempfile.mkdtemp(prefix="pieprofd-test-")
        self.paths = {name: os.path.join(self.folder, "p" + extension) for name, extension in EXTENSIONS.items()}
        outputs = [argument for path in self.paths.values() for argument in ("-o", path)]
        pieprofd("--pid", pid, "-q", *outputs, *arguments)
        with open(self.paths["json"]) as file:
            self.json = json.load(file)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.folder)

    def load(self, name):
        with open(self.paths[name], encoding="utf-8") as file:
            return json.load(file)


def need(program, package):
    if not shutil.which(program):
        raise Skip("no %s: install %s" % (program, package))


def read(*command, stdin=None):
    run = subprocess.run(command, stdin=stdin, capture_output=True, timeout=300, check=False,
                         env=dict(os.environ, PPROF_TMPDIR=tempfile.gettempdir()))
    check_equal(run.returncode, 0, "exit code of %s, which said %r" % (" ".join(command), run.stderr[-400:]))
    return run.stdout.decode("utf-8")


def unescaped(name):
    """Names without the library that a nameless function is called by."""
    return re.sub(r"^.*\+(0x[0-9a-f]+)$", r"\1", name)


# ---- every reader's figures: {class: ns}, {(file, line): ns} of Python lines, {function: ns}


class Figures:
    def __init__(self):
        self.classes = collections.Counter()
        self.lines = collections.Counter()
        self.functions = collections.Counter()
        self.samples = 0
        self.stacks = []

    def add(self, stack, times):
        """stack: (function, file, line or None for native), outermost first; times: {class: ns}."""
        total = sum(times.values())
        self.classes.update(times)
        self.functions[unescaped(stack[-1][0])] += total
        python = [frame for frame in stack if frame[2] is not None]
        if python:
            self.lines[python[-1][1:]] += total
        self.stacks.append(([frame[:3] for frame in stack], total))


def json_figures(profile):
    figures = Figures()
    figures.classes.update({name: profile.json["time_ns"][name] for name in CLASSES})
    for line in profile.json["lines"]:
        figures.lines[line["file"], line["line"]] += sum(line[name + "_ns"] for name in CLASSES)
    return figures


def protobuf_text(text):
    """What protoc --decode prints: {field: [number, string or message]}."""
    root = collections.defaultdict(list)
    open_messages = [root]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            message = collections.defaultdict(list)
            open_messages[-1][line[:-1].strip()].append(message)
            open_messages.append(message)
        elif line == "}":
            open_messages.pop()
        elif line:
            key, value = line.split(": ", 1)
            if value.startswith('"'):
                # C's escapes, of single bytes.
                value = value[1:-1].encode("ascii").decode("unicode_escape").encode("latin-1").decode("utf-8")
            elif value in ("true", "false"):
                value = value == "true"
            else:
                value = int(value)
            open_messages[-1][key].append(value)
    return root


def decode_pprof(path):
    need("protoc", "protobuf-compiler")
    unpacked = subprocess.run(["gzip", "-dc", path], capture_output=True, check=True).stdout
    with tempfile.TemporaryFile() as file:
        file.write(unpacked)
        file.seek(0)
        return protobuf_text(read("protoc", "--decode=perftools.profiles.Profile", "--proto_path=" + FORMATS,
                                  os.path.join(FORMATS, "profile.proto"), stdin=file))


def one(message, field):
    return message[field][0] if message[field] else 0


def pprof_figures(profile):
    figures = Figures()
    root = decode_pprof(profile.paths["pprof"])
    strings = root["string_table"]
    names = [strings[one(value_type, "type")] for value_type in root["sample_type"]]
    functions = {one(function, "id"): function for function in root["function"]}
    locations = {one(location, "id"): location for location in root["location"]}
    figures.values = collections.Counter()
    for sample in root["sample"]:
        values = dict(zip(names, sample["value"]))
        check_equal(len(sample["value"]), len(names), "values of a sample")
        figures.values.update(values)
        if not values["cpu"]:
            continue  # a pair
        figures.samples += values["samples"]
        stack = []
        for location in reversed(sample["location_id"]):
            line = locations[location]["line"][0]
            function = functions[one(line, "function_id")]
            native = one(locations[location], "mapping_id") or not one(line, "line")
            stack.append((strings[one(function, "name")], strings[one(function, "filename")],
                          None if native else one(line, "line")))
        figures.add(stack, {name: values[name] for name in CLASSES})
        check_equal(values["cpu"], sum(values[name] for name in CLASSES), "cpu of a sample")
    return figures


def speedscope_figures(profile, view):
    figures = Figures()
    root = profile.load("speedscope")
    frames = [(frame["name"], frame.get("file"), frame.get("line")) for frame in root["shared"]["frames"]]
    for one_profile in root["profiles"]:
        if one_profile["name"] == view:
            for stack, weight in zip(one_profile["samples"], one_profile["weights"]):
                figures.add([frames[frame] for frame in stack], {view: weight})
    return figures


def firefox_figures(profile):
    figures = Figures()
    root = profile.load("firefox")
    shared = root["shared"]
    stacks, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    categories = [category["name"].lower() for category in root["meta"]["categories"]]
    for stack, weight in [row for thread in root["threads"]
                          for row in zip(thread["samples"]["stack"], thread["samples"]["weight"])]:
        if stack is None:
            continue
        leaf = frames["category"][stacks["frame"][stack]]
        path = []
        while True:
            frame = stacks["frame"][stack]
            function = frames["func"][frame]
            source = functions["source"][function]
            path.append((shared["stringArray"][functions["name"][function]],
                         None if source is None else shared["stringArray"][shared["sources"]["filename"][source]],
                         frames["line"][frame]))
            if not stacks["prefixOffset"][stack]:
                break
            stack -= stacks["prefixOffset"][stack]
        figures.add(path[::-1], {categories[leaf]: round(weight * 1e6)})
    return figures


def collapsed_figures(profile):
    figures = Figures()
    with open(profile.paths["collapsed"], encoding="utf-8", newline="\n") as file:
        for line in file:
            match = re.fullmatch(r"(.+) ([0-9]+)\n", line)
            check(match, "not a collapsed stack: %r" % line)
            labels = match[1].split(";")
            if labels[0].startswith("[container "):
                del labels[0]  # these tests run in one
            if re.match(r"\[(thread .*|unknown thread)\]$", labels[0]):
                del labels[0]
            system = labels[-1] == "[system]" or labels[-1].endswith("_[k]")
            stack = []
            for label in labels[:-1] if labels[-1] == "[system]" else labels:
                if label.endswith("_[k]"):
                    stack.append((label.removesuffix("_[k]"), "[kernel]", None))
                    continue
                frame = re.fullmatch(r"(.*) \((.*?)(?::([0-9]+))?\)", label)
                check(frame, "not a frame: %r" % label)
                stack.append((frame[1], frame[2], int(frame[3]) if frame[3] else None))
            figures.add(stack, {"system" if system else "user": int(match[2]) * 1000})
    return figures


def check_close(actual, expected, tolerance, what):
    for key in set(actual) | set(expected):
        difference = abs(actual[key] - expected[key])
        check(difference <= tolerance, "%s of %r: %s, expected %s" % (what, key, actual[key], expected[key]))


def without_zeros(counter):
    return {key: value for key, value in counter.items() if value}


def check_same_figures(profile):
    reference = json_figures(profile)
    pprof = pprof_figures(profile)
    check_equal(without_zeros(pprof.classes), without_zeros(reference.classes), "pprof's time by class")
    check_equal(without_zeros(pprof.lines), without_zeros(reference.lines), "pprof's time by line")
    views = {name: speedscope_figures(profile, view)
             for name, view in zip(("cpu",) + CLASSES, ("CPU time", "Python", "native", "system"))}
    for name in CLASSES:
        check_equal(sum(views[name].classes.values()), reference.classes[name], "speedscope's %s time" % name)
    check_equal(without_zeros(views["cpu"].lines), without_zeros(reference.lines), "speedscope's time by line")
    check_equal(views["cpu"].functions, pprof.functions, "speedscope's time by function")
    firefox = firefox_figures(profile)
    check_equal(without_zeros(firefox.classes), without_zeros(reference.classes), "Firefox's time by class")
    check_equal(without_zeros(firefox.lines), without_zeros(reference.lines), "Firefox's time by line")
    check_equal(firefox.functions, pprof.functions, "Firefox's time by function")
    collapsed = collapsed_figures(profile)
    # Each line is rounded to a microsecond, and takes part of what was lost before.
    tolerance = 1000 * len(collapsed.stacks)
    check_close(collapsed.functions, pprof.functions, tolerance, "collapsed time")
    check(abs(collapsed.classes["system"] - reference.classes["system"]) <= tolerance, "collapsed system time")
    total = sum(reference.classes.values())
    check(total - 1000 < sum(collapsed.classes.values()) <= total, "collapsed total %s of %d" % (
        collapsed.classes, total))
    return pprof


def check_firefox_table(root, name, table, columns):
    """columns: {name: (limit, may be none)}."""
    for key, column in table.items():
        if isinstance(column, list):
            check_equal(len(column), table["length"], "rows of %s.%s" % (name, key))
    for key, (limit, optional) in columns.items():
        for value in table[key]:
            none = value is None or value == -1
            check(optional if none else 0 <= value < limit, "%s.%s has %r of %d" % (name, key, value, limit))


def check_firefox(root):
    """What the profiler's front end takes for granted (src/types/profile.ts)."""
    shared, strings = root["shared"], len(root["shared"]["stringArray"])
    check_equal(root["meta"]["preprocessedProfileVersion"], 66, "version")
    check_equal(len(set(shared["stringArray"])), strings, "different strings")
    categories = root["meta"]["categories"]
    check("grey" in [category["color"] for category in categories], "no default category")
    check(all(category["subcategories"] for category in categories), "a category without subcategories")
    rows = {name: table["length"] for name, table in shared.items() if isinstance(table, dict)}
    tables = {
        "stackTable": {"frame": (rows["frameTable"], False)},
        "frameTable": {"func": (rows["funcTable"], False), "category": (len(categories), False),
                       "subcategory": (1, False), "nativeSymbol": (0, True), "originalLocation": (0, True)},
        "funcTable": {"name": (strings, False), "source": (rows["sources"], True),
                      "resource": (rows["resourceTable"], True), "originalLocation": (0, True)},
        "resourceTable": {"name": (strings, False), "lib": (len(root["libs"]), True)},
        "sources": {"filename": (strings, False)},
        "nativeSymbols": {},
        "sourceLocationTable": {},
    }
    check_equal(set(tables), set(rows), "tables")
    for name, columns in tables.items():
        check_firefox_table(root, name, shared[name], columns)
    for row, offset in enumerate(shared["stackTable"]["prefixOffset"]):
        check(0 <= offset <= row, "the parent of stack %d is %d before it" % (row, offset))
    for thread in root["threads"]:
        check_firefox_table(root, "samples", thread["samples"], {"stack": (rows["stackTable"], True)})
        check_firefox_table(root, "markers", thread["markers"], {})
        check_equal(thread["samples"]["time"], sorted(thread["samples"]["time"]), "order of time")
    for key in ("interval", "startTime", "processType", "product", "stackwalk", "version", "markerSchema"):
        check(key in root["meta"], "meta has no %s" % key)


def schema_problem(schema, path):
    """What ajv says against a file by the format's own schema; None is nothing."""
    need("node", "nodejs")
    run = subprocess.run([os.path.join(ROOT, "tests", "tools", "ajv"), os.path.join(FORMATS, schema), path],
                         capture_output=True, text=True, timeout=300, check=False)
    if run.stderr.startswith("no ajv"):
        raise Skip(run.stderr.splitlines()[0])
    check(run.returncode in (0, 1), "ajv: %s" % run.stderr)
    return run.stderr.strip() if run.returncode else None


def speedscope_problem(path):
    return schema_problem("speedscope.schema.json", path)


def check_findings(profile):
    """SARIF, annotations and Markdown have the findings of JSON, and no name breaks out of them."""
    findings = profile.json["findings"]
    check_equal(schema_problem("sarif.schema.json", profile.paths["sarif"]), None, "what is wrong with SARIF")
    run, = profile.load("sarif")["runs"]
    rules = [finding["pattern"] if finding["pattern"] and not finding["saving_ns"] else finding["category"]
             for finding in findings]
    check_equal([result["ruleId"] for result in run["results"]], rules, "rules")
    for result, finding in zip(run["results"], findings):
        check_equal(result["properties"]["saving"], finding["saving"], "the saving")
        check_equal(run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], result["ruleId"], "index of the rule")
        where = result["locations"][0]["physicalLocation"]
        own = finding["own_line"] or finding
        check_equal(where.get("region", {}).get("startLine", 0), own["line"], "line")
    with open(profile.paths["github"], encoding="utf-8", newline="\n") as file:
        lines = file.read().splitlines()
    # Of few samples that is said first.
    few = bool(re.match(r"::notice title=pieprofd::\d+ samples? \(", lines[0]))
    check_equal(len(lines), max(1, len(findings)) + few, "annotations")
    check(all(re.match(r"::(warning|notice) (file|title)=[^\n]*?::.", line) for line in lines), lines)
    with open(profile.paths["markdown"], encoding="utf-8", newline="\n") as file:
        markdown = file.read()
    check(markdown.startswith("## pieprofd: " + profile.json["verdict"]["headline"]), markdown[:200])
    check(len(markdown) < 65536 and "killed" not in markdown, "Markdown is short, and has no pairs")


def check_speedscope(profile):
    check_equal(speedscope_problem(profile.paths["speedscope"]), None, "what is wrong for speedscope")


def check_pprof(profile):
    """Google's reader: its own checks, its raw view, its totals. Its text."""
    path = profile.paths["pprof"]
    raw = read(go_pprof(), "-raw", path)
    head, samples = raw.split("\nSamples:\n", 1)
    samples, _ = samples.split("\nLocations\n", 1)
    names = [name.split("/")[0] for name in samples.splitlines()[0].split()]
    totals = collections.Counter()
    for line in samples.splitlines()[1:]:
        match = re.match(r"\s*([0-9][0-9 ]*): [0-9 ]+$", line)
        if match:
            totals.update(dict(zip(names, map(int, match[1].split()))))
    for name in CLASSES:
        check_equal(totals[name], profile.json["time_ns"][name], "pprof -raw's %s time" % name)
    check("cpu/nanoseconds[dflt]" in samples.splitlines()[0], "the values that pprof shows")
    check("PeriodType: cpu nanoseconds" in head, head)
    top = read(go_pprof(), "-top", "-nodecount=100000", "-nodefraction=0", "-unit=ns", path)
    shown = {}
    for line in top.split("cum%\n", 1)[1].splitlines():
        flat, _, _, _, _, name = line.split(None, 5)
        shown[name] = shown.get(name, 0) + int(float(flat.rstrip("ns")))
    return top, shown, totals


def test_convolution():
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        with Profile(target.pid, "-d", 6) as profile:
            check_speedscope(profile)
            check_firefox(profile.load("firefox"))
            check_findings(profile)
            figures = check_same_figures(profile)
            top, shown, totals = check_pprof(profile)
            check("File: python" in top, "the main binary in %r" % top[:200])
            check(" <module>\n" in top, "names in angle brackets are cut in %r" % top[-400:])
            # pprof prints nine significant digits and no more.
            for name, time_ns in figures.functions.items():
                names = [other for other in shown if unescaped(other) == name]
                check(abs(sum(shown[other] for other in names) - time_ns) <= 1000 * len(names),
                      "pprof -top has %d ns for %s, expected %d" % (sum(shown[o] for o in names), name, time_ns))
            check_sampled(profile.json["pairs"], "no pairs")
            for value, member in (("redundant", "redundant"), ("avoidable", "avoidable_ns")):
                expected = sum(pair[member] for pair in profile.json["pairs"])
                check_equal(totals[value], expected, "pprof's %s" % value)
                check_equal(figures.values[value], expected, "%s by protoc" % value)
            # The heaviest Python line is the one that the program is written for, on its way from <module>.
            (path, number), _ = figures.lines.most_common(1)[0]
            check_sampled(HOT_LINE in line_text({"file": path, "line": number}), "the heaviest line is %d" % number)
            for one_format in (figures, speedscope_figures(profile, "CPU time"), firefox_figures(profile),
                               collapsed_figures(profile)):
                stack = max((stack for stack, _ in one_format.stacks if any(frame[2] == number for frame in stack)),
                            key=len)
                names = [name.split(".")[-1] for name, _, _ in stack]
                order = [names.index(name) for name in ("<module>", "main", "train", "backprop")]
                check_equal(order, sorted(order), "the order of %r" % names)
                check_sampled(order[-1] < len(names) - 1, "no native frame inside of backprop in %r" % names)


def test_system_time():
    with Target(default_interpreter(), "system_calls.py", "--seconds", 60) as target:
        with Profile(target.pid, "-d", 3, "--mode", "time") as profile:
            if profile.json["kernel_time_refused"]:
                raise Skip("needs root, or perf_event_paranoid 1, to sample the kernel")
            check_sampled(profile.json["time_ns"]["system"], "no time in the kernel")
            check_speedscope(profile)
            check_firefox(profile.load("firefox"))
            figures = check_same_figures(profile)
            check("redundant" not in figures.values, "pairs in time mode")


def test_hostile_names():
    """Every reader takes the file, and no line of its output is the target's."""
    program = textwrap.dedent("""
        import sys
        code = "def f(n):\\n    return sum(i * i for i in range(n))\\nwhile True: f(10000)"
        print("ready", flush=True)
        exec(compile(code, %r, "exec"))
    """) % HOSTILE
    interpreter = default_interpreter()
    target = subprocess.Popen([interpreter.path, "-X", "utf8", "-c", program], stdout=subprocess.PIPE)
    try:
        check_equal(target.stdout.readline(), b"ready\n", "the target's first line")
        with Profile(target.pid, "-d", 2) as profile:
            check(HOSTILE in {line["file"] for line in profile.json["lines"]}, "the file is not in the report")
            check_speedscope(profile)
            check_firefox(profile.load("firefox"))
            check_findings(profile)
            for name in ("github", "markdown"):
                with open(profile.paths[name], "rb") as file:
                    check(b"\x1b" not in file.read(), "an escape sequence in %s" % name)
            check(HOSTILE in {frame.get("file") for frame in profile.load("speedscope")["shared"]["frames"]},
                  "speedscope's file names")
            collapsed_figures(profile)
            with open(profile.paths["collapsed"], "rb") as file:
                collapsed = file.read()
            check(b"evil\\x3bdir/\\u001b[2J\\n\"</script>\\ \\u202e\xc3\xa9 12 3.py:2" in collapsed, "collapsed names")
            check(b"\x1b" not in collapsed, "an escape sequence in collapsed stacks")
            figures = pprof_figures(profile)
            check_equal(sum(figures.classes.values()), sum(profile.json["time_ns"].values()), "pprof's time")
            lines = read(go_pprof(), "-top", "-lines", profile.paths["pprof"])
            check("\x1b" not in lines and "evil;dir/\\u001b[2J\\n" in lines, "pprof shows %r" % lines[-500:])
    finally:
        target.kill()
        target.wait()
        target.stdout.close()


def test_speedscope_broken():
    """The schema refuses what is not quite our file, and says where."""
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        with Profile(target.pid, "-d", 1, "--mode", "time") as profile:
            check_speedscope(profile)
            path = os.path.join(profile.folder, "broken.json")
            for place, value in ((("profiles", 0, "unit"), "jiffies"), (("profiles", 0, "weights", 0), "1"),
                                 (("profiles", 0, "samples", 0), 7), (("shared", "frames", 0, "name"), None),
                                 (("$schema",), "https://example.org/other.json"), (("profiles",), {})):
                root = profile.load("speedscope")
                inner = root
                for key in place[:-1]:
                    inner = inner[key]
                inner[place[-1]] = value
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(root, file)
                problem = speedscope_problem(path)
                check(problem and place[0] in problem, "with %r as %s: %s" % (value, place, problem))
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps(root)[:-1])
            check("JSON" in (speedscope_problem(path) or ""), "a file cut short is taken")


def test_format_by_name():
    """--format without a file writes to standard output, and -o - does."""
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        run = pieprofd("--pid", target.pid, "-d", 0.5, "--mode", "time", "--format", "speedscope")
        check_equal(json.loads(run.stdout)["activeProfileIndex"], 0, "speedscope on stdout")
        run = pieprofd("--pid", target.pid, "-d", 0.5, "--mode", "time", "-o", "-", "--format", "collapsed")
        check(re.search(r"backprop \(.*conv_backprop\.py:[0-9]+\)", run.stdout), run.stdout[:300])
        run = pieprofd("--pid", target.pid, "-o", "x.unknown", code=2)
        check("--format" in run.stderr, run.stderr)
        run = pieprofd("--pid", target.pid, "--format", "x", code=2)
        check("firefox" in run.stderr, run.stderr)
