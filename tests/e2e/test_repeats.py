# SPDX-License-Identifier: Apache-2.0
"""Are calls found that get arguments again, in programs whose data is never the same for long?"""
import re

from harness import MANY_SAMPLES, Target, check, check_equal, check_sampled, line_text, profile

AGAIN = "return sorted(self.sales)[1000]"
BEST = "best.append(max(seen))"
PROFILE = "steps.append(divmod(b * b - a * a, 7)[1] + divmod(a * a + b * b, 11)[0])"
MADE = "paid = postage()[zone, weight]"
TARIFF = "tariff = self.known_tariff() if fixed else self.tariff()"
MIDDLE = "middle = sorted(VALUES)[1000]"
DERIVED = 'return hashlib.pbkdf2_hmac("sha256", secret, b"pages", rounds)'
CALLED = "key = keys.get(secret) or derived(secret, 250)"
WORDS = "return [int(word) ** 2 % 997 for word in self.text.split()]"
WEIGHT = "total += weigh(word, base)"
ASKED = 'cursor.execute("SELECT rate FROM rates WHERE land = ? AND rate >= (SELECT min(rate) FROM rates)", (land,))'
BOOKED = 'self.db.execute("INSERT INTO sales VALUES (?, ?)", (land, net))'


def found(interpreter, *options, program="kept_results.py", text=AGAIN):
    """(the line's entry or None, the whole CPU time, the text report)."""
    wanted = text
    with Target(interpreter, program, "--seconds", 10, *options) as target:
        report, text = profile(target.pid, "-d", 8, *MANY_SAMPLES)
        target.check_undisturbed()
        target.finish()
    lines = [line for line in report["lines"] if line_text(line) == wanted]
    return (lines[0] if lines else None), sum(report["time_ns"].values()), text


def test_kept_results(one_interpreter):
    line, total, text = found(one_interpreter)
    check_sampled(line, "the line is not in the report")
    arguments = line["evidence"]["arguments"]
    check_sampled(arguments["repeated"] >= 5, "arguments %s" % arguments)
    check_equal(line["category"], "repeated-call", "category")
    # What the line does, or the function, which three places call.
    check_sampled(re.search("as (in )?the call before", line["finding"]), "finding %r" % line["finding"])
    check_sampled(line["finding"].split(":")[0] in " ".join(text.split()), "the text report lacks %r" % line["finding"])
    # Two of three calls.
    check_sampled(0.4 < line["avoidable_ns"] / line["total_ns"] < 0.9, "%d of %d ns could be saved" % (
        line["avoidable_ns"], line["total_ns"]))
    check(line["avoidable_ns"] <= total, "more than all")


def test_kept_results_mended(one_interpreter):
    line, total, _ = found(one_interpreter, "--fixed")
    check_sampled(not line or line["avoidable_ns"] < 0.05 * total, "%s of %d ns" % (line, total))


def test_cache_of_results(some_interpreter):
    """From 3.13 on one instruction loads both arguments."""
    line, _, text = found(some_interpreter, program="shared_terms.py", text=WEIGHT)
    check_sampled(line, "the line is not in the report")
    arguments = line["evidence"]["arguments"]
    check_sampled(arguments["few"] >= 5, "arguments %s" % arguments)
    check_equal(line["category"], "memoizable", "category")
    check_sampled("again after other calls" in line["finding"], "finding %r" % line["finding"])
    check_sampled(line["finding"].split(":")[0] in " ".join(text.split()), "the text report lacks %r" % line["finding"])
    check_sampled(line["avoidable_ns"] > 0.6 * line["total_ns"], "%d of %d ns could be saved" % (
        line["avoidable_ns"], line["total_ns"]))


def test_cache_of_results_mended(one_interpreter):
    line, total, _ = found(one_interpreter, "--fixed", program="shared_terms.py", text=WEIGHT)
    check_sampled(not line or line["avoidable_ns"] < 0.05 * total, "%s of %d ns" % (line, total))


def test_keys_in_c_and_property(one_interpreter):
    """A function in C gets one of few keys; a property of one object is asked for from three places."""
    with Target(one_interpreter, "signed_pages.py", "--seconds", 10) as target:
        report, _ = profile(target.pid, "-d", 8, *MANY_SAMPLES)
        target.check_undisturbed()
        target.finish()
    lines = {line_text(line): line for line in report["lines"]}
    check_sampled(DERIVED in lines and CALLED in lines and WORDS in lines, "lines missing of %s" % list(lines)[:8])
    # The call in C, or the function around it, which gets the same.
    derived = max((lines[DERIVED], lines[CALLED]), key=lambda line: line["evidence"]["arguments"]["few"])
    words = lines[WORDS]
    check_sampled(derived["evidence"]["arguments"]["few"] >= 5, "arguments of the keys %s" % derived["evidence"]["arguments"])
    check_equal(derived["category"], "memoizable", "category of the keys")
    # Nine of ten are kept.
    check_sampled(derived["avoidable_ns"] > 0.6 * derived["total_ns"], "%d of %d ns of the keys" % (
        derived["avoidable_ns"], derived["total_ns"]))
    check_sampled(words["evidence"]["arguments"]["repeated"] >= 5, "arguments of the words %s" % words["evidence"]["arguments"])
    # Two of three.
    check_sampled(0.4 < words["avoidable_ns"] / words["total_ns"] < 0.97, "%d of %d ns of the words" % (
        words["avoidable_ns"], words["total_ns"]))


def test_rows_asked_for_again(one_interpreter):
    """A query gets one of twenty keys, and its cursor is made anew; what is written is another row each time."""
    with Target(one_interpreter, "till_rates.py", "--seconds", 8) as target:
        report, _ = profile(target.pid, "-d", 6, *MANY_SAMPLES)
        target.check_undisturbed()
        target.finish()
    lines = {line_text(line): line for line in report["lines"]}
    check_sampled(ASKED in lines and BOOKED in lines, "lines missing of %s" % list(lines)[:8])
    asked, booked = lines[ASKED], lines[BOOKED]
    check_sampled(asked["evidence"]["arguments"]["few"] >= 5, "arguments of the query %s" % asked["evidence"]["arguments"])
    check_equal(asked["category"], "memoizable", "category of the query")
    check_sampled(asked["avoidable_ns"] > 0.6 * asked["total_ns"], "%d of %d ns" % (asked["avoidable_ns"], asked["total_ns"]))
    # The same rows, for as long as nobody writes them.
    check("keep the rows" in asked["finding"], "finding %r" % asked["finding"])
    check_sampled(booked["avoidable_ns"] < 0.2 * booked["total_ns"], "%d of %d ns of what is written" % (
        booked["avoidable_ns"], booked["total_ns"]))


def test_method_of_changing_object(one_interpreter):
    """Its object changes from call to call, but for what the method reads of it."""
    # To 3.10 a function's arguments are still on the stack of its caller, and are compared whole.
    if one_interpreter.version[:2] < (3, 11):
        return
    line, _, _ = found(one_interpreter, program="metered.py", text=TARIFF)
    check_sampled(line, "the line is not in the report")
    check_sampled(line["evidence"]["arguments"]["few"] >= 5, "arguments %s" % line["evidence"]["arguments"])
    check_equal(line["category"], "memoizable", "category")
    check_sampled("attributes of its object" in line["finding"], "finding %r" % line["finding"])
    check("functools.cache" not in line["finding"], "a cache by objects does not see that they change: %r" % line["finding"])
    check_sampled(line["avoidable_ns"] > 0.6 * line["total_ns"], "%d of %d ns could be saved" % (
        line["avoidable_ns"], line["total_ns"]))


def test_method_of_changing_object_mended(one_interpreter):
    line, total, _ = found(one_interpreter, "--fixed", program="metered.py", text=TARIFF)
    check_sampled(not line or line["avoidable_ns"] < 0.05 * total, "%s of %d ns" % (line, total))


def test_running_result(one_interpreter):
    line, total, _ = found(one_interpreter, program="running_best.py", text=BEST)
    check_sampled(line, "the line is not in the report")
    check_equal(line["category"], "inefficient-algorithm", "category")
    check_sampled("grows from call to call" in line["finding"], "finding %r" % line["finding"])
    check_sampled(line["avoidable_ns"] > 0.6 * line["total_ns"], "%d of %d ns could be saved" % (
        line["avoidable_ns"], line["total_ns"]))
    line, total, _ = found(one_interpreter, "--fixed", program="running_best.py", text=BEST)
    check_sampled(not line or line["avoidable_ns"] < 0.05 * total, "%s of %d ns" % (line, total))


def test_called_from_several_places(one_interpreter):
    line, total, text = found(one_interpreter, program="asked_again.py", text=PROFILE)
    check_sampled(line, "the line is not in the report")
    check_equal(line["category"], "repeated-call", "category")
    check_sampled("called from several places" in (line["finding"] or ""), "finding %r" % line["finding"])
    check_sampled(line["finding"].split(":")[0] in " ".join(text.split()), "the text report lacks %r" % line["finding"])
    # Two of three calls, from whichever line, which are nearly all that there is.
    check_sampled(0.4 < line["avoidable_ns"] / total < 0.8, "%d of %d ns could be saved" % (line["avoidable_ns"], total))
    line, total, _ = found(one_interpreter, "--fixed", program="asked_again.py", text=PROFILE)
    check_sampled(not line or line["avoidable_ns"] < 0.05 * total, "%s of %d ns" % (line, total))


def test_made_anew(one_interpreter):
    """No argument says that it is the same: what the function works on does."""
    line, _, text = found(one_interpreter, program="made_anew.py", text=MADE)
    check_sampled(line, "the line is not in the report")
    check_sampled(line["category"] == "repeated-call", "category %s" % line["category"])
    check_sampled("does the same work again" in (line["finding"] or ""), "finding %r" % line["finding"])
    check_sampled("postage() does the same" in " ".join(text.split()), "the text report lacks %r" % line["finding"])
    check_sampled(line["avoidable_ns"] > 0.6 * line["total_ns"], "%d of %d ns could be saved" % (
        line["avoidable_ns"], line["total_ns"]))


def test_made_anew_mended(one_interpreter):
    with Target(one_interpreter, "made_anew.py", "--seconds", 10, "--fixed") as target:
        report, _ = profile(target.pid, "-d", 8, *MANY_SAMPLES)
        target.finish()
    total = sum(report["time_ns"].values())
    # What sums up a label's letters is there in both.
    for line in report["lines"]:
        if "postage" in line_text(line):
            check_sampled(line["avoidable_ns"] < 0.05 * total, "%s of %d ns" % (line, total))


LOOKED_FOR = {
    "own = [entry for entry in entries if entry[0] == name]": ("inefficient-algorithm", "keep the items in a dict"),
    "total += line.popleft()[1] if fixed else line.pop(0)[1]": ("inefficient-algorithm", "use collections.deque"),
    "return [entry for entry in entries[:60] if entry[1] * len(entries) > sum(entry[1] for entry in entries)]":
        ("loop-invariant", "as the call before"),
    "found.append(numbers.index(entry[1]))": ("inefficient-algorithm", "from its beginning each time"),
}


def test_looked_for(one_interpreter):
    with Target(one_interpreter, "looked_for.py", "--seconds", 10) as target:
        report, _ = profile(target.pid, "-d", 8, *MANY_SAMPLES)
        target.check_undisturbed()
        target.finish()
    lines = {line_text(line): line for line in report["lines"]}
    for text, (category, words) in LOOKED_FOR.items():
        # A method of 3.6 does not say which one it is.
        if one_interpreter.version[:2] == (3, 6) and ("pop" in text or "index" in text):
            continue
        line = lines.get(text)
        check_sampled(line, "%s: the line is not in the report" % text)
        check_sampled(line["category"] == category, "%s: %s" % (text, line["category"]))
        check_sampled(words in (line["finding"] or ""), "%s: finding %r" % (text, line["finding"]))
        check_sampled(line["avoidable_ns"] > 0.6 * line["total_ns"], "%s: %d of %d ns could be saved" % (
            text, line["avoidable_ns"], line["total_ns"]))


def test_looked_for_mended(one_interpreter):
    with Target(one_interpreter, "looked_for.py", "--seconds", 10, "--fixed") as target:
        report, _ = profile(target.pid, "-d", 8, *MANY_SAMPLES)
        target.finish()
    total = sum(report["time_ns"].values())
    for line in report["lines"]:
        if line["file"].endswith("looked_for.py"):
            check_sampled(line["avoidable_ns"] < 0.05 * total, "%s of %d ns" % (line, total))


def test_forked_in_loop(one_interpreter):
    """The loop of the fork is on the stack of each worker, and never turns there."""
    with Target(one_interpreter, "forked_in_loop.py", "--seconds", 10) as target:
        report, _ = profile(target.pid, "--follow", "-d", 8, *MANY_SAMPLES)
        target.check_undisturbed()
        target.finish()
    line = next((line for line in report["lines"] if line_text(line) == MIDDLE), None)
    check_sampled(line, "the line is not in the report")
    check_sampled(line["category"] == "repeated-call", "category %s" % line["category"])
    check_sampled("as the call before" in (line["finding"] or ""), "finding %r" % line["finding"])
    check_sampled(line["avoidable_ns"] > 0.6 * line["total_ns"], "%d of %d ns could be saved" % (
        line["avoidable_ns"], line["total_ns"]))


GONE_OVER = {
    "job = min(todo)": ("inefficient-algorithm", "keep it in a heap"),
    "found.append(kept[len(kept) // 2] if fixed else sorted(last)[len(last) // 2])": (
        "inefficient-algorithm", "keep it sorted as it changes"),
    "count += price in desks.values()": ("inefficient-algorithm", "in a set or dict"),
}
# Where samples meet it while it grows, that is what is told.
NEAREST_PLACE = {"at = min(waiting, key=away.get)": ("inefficient-algorithm", "goes over")}


COMPUTED_TWICE = {
    'found.append(sum((record if fixed else json.loads(text))["counts"]))': ("repeated-call", "computed on line"),
    "self.data = self.data[4:]": ("inefficient-algorithm", "keep the position"),
}


SLOW_LIBRARY = {
    "drawn.append(rng.choices(range(len(weights)), weights)[0])": ("api-misuse", "adds up all weights"),
    "return text + (sys._getframe(1).f_code.co_name if fixed else inspect.stack()[1].function)": (
        "api-misuse", "reads the source of each frame"),
    "area += numpy.abs(numpy.cross(edges[i], edges[i + 1])).sum()": ("api-misuse", "give all pairs to one call"),
    "found.append(int(numpy.searchsorted(limits, price)))": ("api-misuse", "looks up one number a call"),
    "return [float(offer.min() if fixed else numpy.sort(offer)[0]) for offer in offers]": (
        "api-misuse", "to take the first or the last item"),
    "return len(sum(lists, []))": ("inefficient-algorithm", "copies all that was joined before"),
    "last = {**last, number: price}": ("inefficient-algorithm", "add to it in place"),
}


def check_wastes(interpreter, script, wastes, least):
    """Each of these lines ({text: (category, words of its finding)}) could save so much of its time."""
    with Target(interpreter, script, "--seconds", 9) as target:
        report, _ = profile(target.pid, "-d", 7, *MANY_SAMPLES)
        target.check_undisturbed()
        target.finish()
    lines = {line_text(line): line for line in report["lines"]}
    for text, (category, words) in wastes.items():
        line = lines.get(text)
        check_sampled(line, "%s: the line is not in the report" % text)
        check_sampled(line["category"] == category, "%s: %s" % (text, line["category"]))
        check_sampled(words in (line["finding"] or ""), "%s: finding %r" % (text, line["finding"]))
        check_sampled(line["avoidable_ns"] > least * line["total_ns"], "%s: %d of %d ns could be saved" % (
            text, line["avoidable_ns"], line["total_ns"]))


def check_mended(interpreter, script):
    with Target(interpreter, script, "--seconds", 7, "--fixed") as target:
        report, _ = profile(target.pid, "-d", 5, *MANY_SAMPLES)
        target.finish()
    total = sum(report["time_ns"].values())
    for line in report["lines"]:
        if line["file"].endswith(script):
            check_sampled(line["avoidable_ns"] < 0.05 * total, "%s of %d ns" % (line, total))


def test_gone_over(one_interpreter):
    check_wastes(one_interpreter, "gone_over.py", GONE_OVER, 0.6)
    check_mended(one_interpreter, "gone_over.py")


def test_nearest_place(one_interpreter):
    """Of a set, by a table that changes a little, too."""
    check_wastes(one_interpreter, "nearest_place.py", NEAREST_PLACE, 0.6)
    check_mended(one_interpreter, "nearest_place.py")


def test_computed_twice(one_interpreter):
    check_wastes(one_interpreter, "computed_twice.py", COMPUTED_TWICE, 0.5)
    check_mended(one_interpreter, "computed_twice.py")


def test_slow_library(one_interpreter):
    check_wastes(one_interpreter, "slow_library.py", SLOW_LIBRARY, 0.4)
    check_mended(one_interpreter, "slow_library.py")
