/* SPDX-License-Identifier: Apache-2.0 */
/* What the other way saves: docs/MEASURED.md, "Library functions with a faster counterpart". */
#include "daemon/detect/slow_call_table.h"

#define EXACT(...) WAY("works in exact fractions", __VA_ARGS__)

const struct slow_way slow_way_deep_copy = {
	"copies item by item, in Python",
	"build the new object from its parts, or copy only what is changed",
	"new = [row[:] for row in rows]; or dataclasses.replace(old, count=1)",
};
static const struct slow_way by_element = {
	"makes a Python object of each element",
	"use the array's own method, or its library's function",
	"a.sum(), a.max() and so on, in place of sum(a), max(a)",
};
static const struct slow_way from_beginning = {
	"goes through the list from its beginning each time",
	"keep what is looked for in a set or dict",
	"place = {item: i for i, item in enumerate(items)}, once; then place[x]",
};
static const struct slow_way copies_fields = {
	"copies what each field holds, in Python",
	"vars() gives the fields as they are, and a method of the class's own can copy what needs "
	"it",
	"vars(order) in place of dataclasses.asdict(order)",
};
static const struct slow_way moves_all = {
	"moves all that is behind it each time",
	"use collections.deque",
	"items = collections.deque(items); then items.popleft(), items.appendleft(x)",
};
static const struct slow_way strptime = {
	"interprets its format anew for each text",
	"datetime.fromisoformat() reads ISO 8601 many times faster",
	"datetime.fromisoformat(text)",
};
static const struct slow_way of_dom = {
	"makes objects in Python of all that it reads",
	"xml.etree.ElementTree does so in C",
	"root = xml.etree.ElementTree.fromstring(text)",
};
static const struct slow_way in_pieces = {
	"reads one record a call",
	"struct.iter_unpack() goes over all of them, numpy.frombuffer() and array.frombytes() take "
	"them at once",
	"for x, y in struct.iter_unpack(\"<ff\", data):",
};
static const struct slow_way yaml_in_python = {
	"reads or writes YAML in Python",
	"CSafeLoader and CSafeDumper, where libyaml is there, do so in C",
	"yaml.load(text, Loader=yaml.CSafeLoader)",
};
static const struct slow_way compiles = {
	"compiles a pattern, which takes far longer than to search with it",
	"keep compiled patterns in a dict; for plain words a set will do, and all words of a text "
	"are found by one pattern",
	"patterns = {word: re.compile(rf\"\\b{word}\\b\") for word in words}, once",
};
static const struct slow_way fills_in = {
	"fills in by a regular expression, in Python",
	"f-strings and format_map() do so in C",
	"\"{name} owes {sum}\".format_map(row)",
};
static const struct slow_way copies_by_text = {
	"copies by writing all of it and reading it back",
	"build the new object from its parts, or copy only what is changed",
	"new = {**old, \"count\": 1}; or [dict(row) for row in rows]",
};
static const struct slow_way by_path = {
	"goes through the elements from the first on for each path",
	"go through them once, and keep them in a dict",
	"places = {e.get(\"id\"): e for e in root.iter(\"place\")}, once; then places[key]",
};
static const struct slow_way of_addresses = {
	"makes an object of each address",
	"num_addresses tells how many there are, network[i] gives one",
	"count = network.num_addresses - 2 in place of len(list(network.hosts()))",
};

const struct slow_call slow_calls_of_python[] = {
	{ "deepcopy", "/copy.py", &slow_way_deep_copy, SLOW_COPY, 1 },
	{ "mean", "/statistics.py",
	  WAY("adds up exact fractions", "statistics.fmean() does it in floating point",
	      "statistics.fmean(values)"),
	  SLOW_ALWAYS, 1 },
	{ "stdev", "/statistics.py",
	  EXACT("math.sqrt() of a sum of squares, or NumPy's std()",
		SQUARES("math.sqrt(", "(len(x) - 1))")),
	  SLOW_ALWAYS, 0.8 },
	{ "pstdev", "/statistics.py",
	  EXACT("math.sqrt() of a sum of squares, or NumPy's std()",
		SQUARES("math.sqrt(", "len(x))")),
	  SLOW_ALWAYS, 0.8 },
	{ "variance", "/statistics.py",
	  EXACT("a sum of squares, or NumPy's var()", SQUARES("(", "(len(x) - 1))")), SLOW_ALWAYS,
	  0.8 },
	{ "pvariance", "/statistics.py",
	  EXACT("a sum of squares, or NumPy's var()", SQUARES("(", "len(x))")), SLOW_ALWAYS, 0.8 },
	{ "asdict", "/dataclasses.py", &copies_fields, SLOW_COPY, 0.9 },
	{ "astuple", "/dataclasses.py", &copies_fields, SLOW_COPY, 0.9 },
	{ "_strptime_datetime", "/_strptime.py", &strptime, SLOW_ALWAYS, 1 },
	{ "_strptime_datetime_datetime", "/_strptime.py", &strptime, SLOW_ALWAYS, 1 },
	{ "sum", NULL, &by_element, SLOW_ON_ARRAY, 1 },
	{ "max", NULL, &by_element, SLOW_ON_ARRAY, 1 },
	{ "min", NULL, &by_element, SLOW_ON_ARRAY, 1 },
	{ "any", NULL, &by_element, SLOW_ON_ARRAY, 1 },
	{ "all", NULL, &by_element, SLOW_ON_ARRAY, 1 },
	{ "sorted", NULL, &by_element, SLOW_ON_ARRAY, 1 },
	{ "pop", NULL, &moves_all, SLOW_AT_FRONT, 1 },
	{ "insert", NULL, &moves_all, SLOW_AT_FRONT, 1 },
	{ "index", NULL, &from_beginning, SLOW_SEARCH, 1 },
	{ "count", NULL, &from_beginning, SLOW_SEARCH, 1 },
	{ "remove", NULL, &from_beginning, SLOW_SEARCH, 1 },
	{ "choices", "/random.py",
	  WAY("adds up all weights for one draw",
	      "draw all at once (k=), or give cum_weights, added up once by itertools.accumulate()",
	      "drawn = random.choices(items, weights, k=1000)"),
	  SLOW_WEIGHED, 0.85 },
	{ "stack", "/inspect.py",
	  WAY("reads the source of each frame", "sys._getframe() gives the frames alone",
	      "sys._getframe(1).f_code.co_name"),
	  SLOW_OF_STATE, 0.97 },
	{ "parse", "/dateutil/parser/_parser.py",
	  WAY("guesses the format anew for each text",
	      "datetime.fromisoformat() and strptime() are told it",
	      "datetime.fromisoformat(text)"),
	  SLOW_ALWAYS, 0.85 },
	{ "reader", NULL,
	  WAY("is made anew for one line", "give it the whole file, or all lines",
	      "for row in csv.reader(file):"),
	  SLOW_ON_ONE, 0.8 },
	{ "unpack_from", NULL, &in_pieces, SLOW_IN_PIECES, 0.75 },
	{ "unpack", NULL, &in_pieces, SLOW_IN_PIECES, 0.6 },
	{ "from_bytes", NULL,
	  WAY("reads one number a call",
	      "array.array() and numpy.frombuffer() read all of them at once",
	      "values = array.array(\"h\", data)"),
	  SLOW_IN_PIECES, 0.9 },
	{ "dump", "/json/__init__.py",
	  WAY("writes piece by piece, which json does in Python",
	      "write the text of json.dumps(), which is made in C",
	      "file.write(json.dumps(order))"),
	  SLOW_ALWAYS, 0.8 },
	{ "literal_eval", "/ast.py",
	  WAY("compiles the text as Python",
	      "json.loads() reads numbers, texts, lists and dicts many times faster, where it can "
	      "be JSON",
	      "json.loads(text)"),
	  SLOW_ALWAYS, 0.9 },
	{ "parseString", "/xml/dom/minidom.py", &of_dom, SLOW_ALWAYS, 0.85 },
	{ "parse", "/xml/dom/minidom.py", &of_dom, SLOW_ALWAYS, 0.85 },
	{ "safe_load", "/yaml/__init__.py", &yaml_in_python, SLOW_ALWAYS, 0.85 },
	{ "safe_dump", "/yaml/__init__.py", &yaml_in_python, SLOW_ALWAYS, 0.7 },
	{ "check_schema", "/jsonschema/validators.py",
	  WAY("checks the schema itself each time", "keep a validator of it",
	      "valid = jsonschema.Draft202012Validator(schema), once; then valid.validate(x)"),
	  SLOW_INSIDE, 0.95 },
	{ "request", "/requests/api.py",
	  WAY("opens a connection for each request", "keep a requests.Session()",
	      "session = requests.Session(), once; then session.get(url)"),
	  SLOW_INSIDE, 0.5 },
	{ "_strptime_time", "/_strptime.py", &strptime, SLOW_ALWAYS, 0.9 },
	{ "_iterencode", "/json/encoder.py",
	  WAY("writes piece by piece, in Python", "without indent= json.dumps() does so in C",
	      "text = json.dumps(order)"),
	  SLOW_INSIDE, 0.8 },
	{ "compile", "/re/_compiler.py", &compiles, SLOW_INSIDE, 0.9 },
	{ "compile", "/sre_compile.py", &compiles, SLOW_INSIDE, 0.9 },
	{ "substitute", "/string.py", &fills_in, SLOW_ALWAYS, 0.85 },
	{ "substitute", "/string/__init__.py", &fills_in, SLOW_ALWAYS, 0.85 },
	{ "safe_substitute", "/string.py", &fills_in, SLOW_ALWAYS, 0.85 },
	{ "safe_substitute", "/string/__init__.py", &fills_in, SLOW_ALWAYS, 0.85 },
	{ "loads", "/json/__init__.py", &copies_by_text, SLOW_COPY_BACK, 0.7 },
	{ "dumps", "/json/__init__.py", &copies_by_text, SLOW_COPY_BACK, 0.7 },
	{ "loads", NULL, &copies_by_text, SLOW_COPY_BACK, 0.7 },
	{ "dumps", NULL, &copies_by_text, SLOW_COPY_BACK, 0.7 },
	{ "split", "/shlex.py",
	  WAY("takes text apart character by character, in Python",
	      "str.split() will do where nothing is quoted, or a regular expression",
	      "words = line.split()"),
	  SLOW_ALWAYS, 0.95 },
	{ "sniff", "/csv.py",
	  WAY("goes through all of the text", "a few lines from its beginning are enough",
	      "dialect = csv.Sniffer().sniff(text[:2000])"),
	  SLOW_ON_LONG_TEXT, 0.9 },
	{ "signature", "/inspect.py",
	  WAY("works out the parameters of a function anew",
	      "keep its signature where the function is made known",
	      "parameters = {f: inspect.signature(f) for f in handlers}, once"),
	  SLOW_ALWAYS, 0.95 },
	{ "hosts", "/ipaddress.py", &of_addresses, SLOW_ALWAYS, 0.95 },
	{ "find", "/xml/etree/ElementPath.py", &by_path, SLOW_LOOKS, 0.9 },
	{ "findall", "/xml/etree/ElementPath.py", &by_path, SLOW_LOOKS, 0.9 },
	{ "findtext", "/xml/etree/ElementPath.py", &by_path, SLOW_LOOKS, 0.9 },
	{ "iterfind", "/xml/etree/ElementPath.py", &by_path, SLOW_LOOKS, 0.9 },
	{ "update", NULL,
	  WAY("hashes a few bytes a call", "give it all of them, or larger pieces",
	      "digest = hashlib.sha256(data)"),
	  SLOW_ON_PIECES, 0.9 },
	{ "pack", NULL,
	  WAY("writes one number a call", "one format, or an array.array(), takes all of them",
	      "data = array.array(\"d\", values).tobytes()"),
	  SLOW_ON_VALUE, 0.75 },
	{ "start", "/threading.py",
	  WAY("starts threads for each call", "a pool that is kept has its threads already",
	      "pool = ThreadPoolExecutor(8), once; then pool.map(work, items)"),
	  SLOW_INSIDE, 0.9 },
	{ "_repopulate_pool_static", "/multiprocessing/pool.py",
	  WAY("starts processes for each call", "a pool that is kept has them already",
	      "pool = multiprocessing.Pool(8), once; then pool.map(work, items)"),
	  SLOW_INSIDE, 0.9 },
	{ "sort", NULL,
	  WAY("sorts a list that grows from call to call",
	      "sort it once, or use bisect.insort() or heapq",
	      "bisect.insort(items, item) in place of append() and sort()"),
	  SLOW_SORT, 1 },
	{ "heapify", NULL,
	  WAY("puts all of a list in order that grows from call to call", "use heapq.heappush()",
	      "heapq.heappush(items, item) in place of append() and heapify()"),
	  SLOW_SORT, 0.9 },
};

const size_t slow_calls_of_python_count =
	sizeof(slow_calls_of_python) / sizeof(slow_calls_of_python[0]);

_Static_assert(sizeof(slow_calls_of_python) / sizeof(slow_calls_of_python[0]) <
		       SLOW_CALLS_OF_PYTHON_MAX,
	       "numbers fit");
