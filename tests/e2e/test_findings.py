# SPDX-License-Identifier: Apache-2.0
"""Is the guilty line found, through the right calls, and gone once it is mended?"""
from harness import MANY_SAMPLES, Target, check, check_equal, check_sampled, line_text, profile, sanitized

HOT_LINE = "g[f] += d[i, j, f] * r"

# The Python part of every path to it, outermost first.
HOT_PATH = [
    ("<module>", "main()"),
    ("main", "gradient = train(layer, d, arguments.fixed)"),
    ("train", "return layer.backprop(d)"),
    ("backprop", HOT_LINE),
]


def redundant_loads(report):
    """Lines by redundant loads, most first."""
    lines = [line for line in report["lines"] if line["loads"]["redundant"]]
    return sorted(lines, key=lambda line: -line["loads"]["redundant"])


def test_convolution(some_interpreter):
    with Target(some_interpreter, "conv_backprop.py", "--seconds", 6) as target:
        report, text = profile(target.pid, "-d", 5, *MANY_SAMPLES)
        target.check_undisturbed()
        target.finish()
    ranked = redundant_loads(report)
    top = [line_text(line) for line in ranked[:2]]
    check_sampled(HOT_LINE in top, "the first two lines by redundant loads are %r" % top)
    check_sampled(HOT_LINE in text, "the text report does not show the line")
    check_sampled("again by" in text, "the text report shows no pair")
    pairs = [
        pair
        for pair in report["pairs"]
        if pair["kind"] == "load" and any(HOT_LINE in (frame.get("source") or "") for frame in pair["first"])
    ]
    check_sampled(pairs, "no redundant pair at the line")
    opcodes = {frame["opcode"] for pair in pairs for frame in pair["first"][-12:] if frame["kind"] == "python"}
    subscripts = {"BINARY_SUBSCR", "STORE_SUBSCR"}
    if some_interpreter.version >= (3, 14):
        subscripts.add("BINARY_OP")  # d[i, j, f] is one there
    check_sampled(opcodes & subscripts, "no subscript among %s" % opcodes)
    for pair in pairs:
        check_hot_path(pair["first"])
    check_sampled(
        any("multiarray" in frame.get("library", "") for pair in pairs for frame in pair["first"]),
        "numpy is in no pair's path",
    )
    check_report_is_sound(report)


def check_hot_path(path):
    """Python frames exactly those that lead to the line, between native ones."""
    kinds = [frame["kind"] for frame in path]
    check_equal(kinds[0], "native", "the outermost frame's kind")
    check_equal(kinds[-1], "native", "the innermost frame's kind")
    frames = [
        (frame["function"].split(".")[-1], frame.get("source"))
        for frame in path
        if frame["kind"] == "python"
    ]
    check_equal(frames, HOT_PATH, "the Python frames of a path")


def test_convolution_mended(one_interpreter):
    with Target(one_interpreter, "conv_backprop.py", "--fixed", "--seconds", 9) as target:
        report, text = profile(target.pid, "-d", 8)
        target.finish()
    check(HOT_LINE not in text, "the mended program still shows the line")
    check(not [line for line in report["lines"] if HOT_LINE in line_text(line)], "the line is reported")
    check_report_is_sound(report)
    if report["sampler"] == "kernel":
        sampled_ns = report["samples"] * report["period_ns"]
        check_sampled(0.8 < sampled_ns / report["cpu_ns"] < 1.25, "%d samples of %d ns for %d ns of CPU time" % (
            report["samples"], report["period_ns"], report["cpu_ns"]))


def test_vectorised_is_clean(one_interpreter):
    with Target(one_interpreter, "vectorised.py", "--seconds", 9) as target:
        report, _ = profile(target.pid, "-d", 8)
        target.finish()
    total = sum(line["python_ns"] + line["native_ns"] + line["system_ns"] for line in report["lines"])
    avoidable = sum(line["avoidable_ns"] for line in report["lines"])
    check(total > 0, "no time was seen")
    check_sampled(avoidable < 0.05 * total, "%.1f%% of a clean program is called avoidable" % (100 * avoidable / total))
    check_report_is_sound(report)


def check_report_is_sound(report):
    """What must hold for every report."""
    # A stop of a sanitized daemon costs several times as much, as on a busy machine, and the overhead limit holds.
    check_sampled(report["samples"] > (30 if sanitized() else 60), "only %d samples" % report["samples"])
    check(report["stop_ns"]["p50"] <= report["stop_ns"]["p99"] <= report["stop_ns"]["max"], "stop times")
    totals = [line["total_ns"] for line in report["lines"]]
    check_equal(totals, sorted(totals, reverse=True), "order of the lines")
    for line in report["lines"]:
        own = line["python_ns"] + line["native_ns"] + line["system_ns"]
        check(own <= line["total_ns"], "%s: self time above total" % line)
        check(line["charged_ns"] <= line["total_ns"], "%s: charged with more than its total" % line)
        # A call that is made again takes what it calls with it, and a loop over elements all of its lines.
        most = line["charged_ns"] if line["finding"] is None else sum(report["time_ns"].values())
        check(line["avoidable_ns"] <= most, "%s: more avoidable than there is" % line)
        low, high = line["avoidable_low_ns"], line["avoidable_high_ns"]
        check(low <= line["avoidable_ns"] <= high, "%s: outside of its interval" % line)
        for kind in ("loads", "stores"):
            counts = line[kind]
            check(counts["redundant"] <= counts["reaccessed"] <= counts["sampled"], "%s: %s" % (line, counts))
    for pair in report["pairs"]:
        check(0 < pair["redundant"] + pair["approximate"] <= pair["sampled"], "pair counts %s" % pair)
        for path in ("first", "second"):
            check(any(frame["kind"] == "python" for frame in pair[path]), "a path without Python frames")
    # Half of the samples' stacks must be whole, or nothing else here means much.
    for reason in ("merge_failed", "native_truncated", "python_invalid", "python_unreadable"):
        check_sampled(
            report["losses"].get(reason, 0) <= 0.05 * report["samples"] + 5,
            "%d of %d samples lost: %s" % (report["losses"].get(reason, 0), report["samples"], reason),
        )
