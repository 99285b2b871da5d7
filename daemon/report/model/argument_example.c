/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/argument_example.h"

#include "daemon/detect/argument_copy.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_meets.h"
#include "daemon/detect/argument_note.h"
#include "daemon/detect/slow_call.h"

#include <string.h>

static bool is_text(const struct argument_site *site)
{
	for (size_t i = 0; site->kind == OPERATION_BINARY && i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_STR ||
		    site->operands[i].kind == CONTENT_BYTES)
			return true;
	return false;
}

static const char *growing_example(const struct argument_site *site)
{
	if (2 * site->shifted > site->compared)
		return "sums = numpy.cumsum(a), before the loop; then sums[i] in place of "
		       "a[:i].sum()";
	if (slow_call_sorts(site->slow) && !strcmp(slow_call_get(site->slow)->function, "sort"))
		return "bisect.insort(items, item) in place of append() and sort()";
	if (slow_call_sorts(site->slow))
		return "bisect.insort(items, item) in place of sorted(items)";
	if (argument_joins_lists(site))
		return "all = list(itertools.chain.from_iterable(lists))";
	if (site->kind == OPERATION_EXTEND)
		return "items.append(item) in place of items = [*items, item]";
	if (is_text(site))
		return "parts.append(text) in the loop; behind it \"\".join(parts)";
	return "total += item, where item is added, in place of total = sum(items)";
}

static const char *searched_example(const struct argument_site *site)
{
	if (site->kind == OPERATION_COMPARE && argument_compares_array(site))
		return "parts = dict(tuple(table.groupby(\"key\"))), once; then parts[key]";
	if (site->kind == OPERATION_CONTAINS)
		return "known = set(items); then x in known, and known.add(x) for append()";
	return "by_key = {item.key: item for item in items}, once; then by_key[key]";
}

static const char *sorted_example(const struct argument_site *site)
{
	if (slow_call_sorts(site->slow))
		return "bisect.insort(items, item) in place of sorted(items)";
	if (site->slow && !strcmp(slow_call_get(site->slow)->function, "sum"))
		return "total += new - old, where an item changes";
	return "heapq.heappush(items, item); the least is items[0]";
}

const char *argument_example(struct arena *arena, const struct argument_site *site,
			     enum argument_verdict verdict, const char *expression)
{
	bool again = verdict == ARGUMENT_INVARIANT || verdict == ARGUMENT_REPEATED;
	const char *kept = expression && strlen(expression) <= ARGUMENT_EXAMPLE_EXPRESSION_MAX
				   ? expression
				   : "...";

	if ((again && slow_call_copies(site->slow)) || slow_call_speaks_for(site->slow, verdict))
		return slow_call_get(site->slow)->way->example;
	switch (verdict) {
	case ARGUMENT_INVARIANT:
		return arena_format(arena, "kept = %s, before the loop; in it kept", kept);
	case ARGUMENT_REPEATED:
		return arena_format(arena, "kept = %s, where what it is given changes; then kept",
				    kept);
	case ARGUMENT_FEW:
		if (argument_reads_attributes(site))
			return "kept[self.a, self.b] = result, by the attributes that it reads; "
			       "then kept[self.a, self.b]";
		return "@functools.cache above the def of the function that is called";
	case ARGUMENT_GROWING:
		return growing_example(site);
	case ARGUMENT_ELEMENTS:
		if (argument_copies(site))
			return "out += items[a:b]; or out[k:k + n] = items[a:b]";
		return "c = a * b in place of c[i] = a[i] * b[i] in a loop over i";
	case ARGUMENT_SCALARS:
		return "total = numpy.sqrt(a).sum() in place of total += numpy.sqrt(a[i])";
	case ARGUMENT_SEARCHED:
		return searched_example(site);
	case ARGUMENT_SCANNED:
		return "starts = sorted(item.start for item in items), once; then "
		       "bisect.bisect_left(starts, low)";
	case ARGUMENT_CUT:
		if (site->kind == OPERATION_DELETE_SUBSCRIPT)
			return "items = collections.deque(items); then items.popleft()";
		return "at += n in place of data = data[n:]; then data[at]";
	case ARGUMENT_SORTED:
		return sorted_example(site);
	case ARGUMENT_END:
		return "max(items) in place of sorted(items)[-1]";
	case ARGUMENT_IN_TURN:
		return arena_format(arena, "owner.kept = %s, where owner is made; then owner.kept",
				    kept);
	case ARGUMENT_FEW_HELD:
		return "owner.kept[a, b] = result, by what differs, where owner stays the same; "
		       "then "
		       "owner.kept[a, b]";
	case ARGUMENT_COMMON:
		return arena_format(arena, "kept = %s, where it is computed first; then kept",
				    kept);
	case ARGUMENT_SLOW:
	case ARGUMENT_UNKNOWN:
	case ARGUMENT_NEEDED:
	case ARGUMENT_VERDICT_COUNT:
		break;
	}
	return NULL;
}
