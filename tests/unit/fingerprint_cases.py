# SPDX-License-Identifier: Apache-2.0
"""What tests/unit/daemon_fingerprint.c reads: objects that are alike, and others that are not.

    ALIKE kind shape whole opaque id id...     one number
    OTHER id id...                             a number each
    BEGIN-ALIKE ..., BEGIN-OTHER ...           the same where a call begins
    ONLY same keyed id id name name...         two of them by these attributes alone
"""
import array
import collections
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import itertools
import operator
import os
import pathlib
import random
import re
import socket
import struct
import sys
import threading
import types
import uuid
import weakref

EITHER = "*"  # any shape
keep = []


def say(word, *objects):
    keep.append(objects)
    os.write(1, (" ".join([word] + [str(id(o)) for o in objects]) + "\n").encode())


def alike(kind, shape, make, whole=1, opaque=0):
    """Two of them, at two places."""
    say("ALIKE %s %s %d %d" % (kind, shape, whole, opaque), make(), make())


def number(text):
    return int(text)


def long_bytes(change=None):
    data = bytearray(b"abcd" * 25000)
    if change is not None:
        data[change] = 0
    return data


a_property = property(long_bytes)


class Thing(object):
    def __init__(self, value):
        self.value = value

    def method(self):
        pass


def cell(value):
    return (lambda: value).__closure__[0]


one = Thing(1)
alike("none", "None", lambda: None)
alike("bool", "bool", lambda: True)
alike("int", "int", lambda: number("123456789"))
alike("int", "int", lambda: -number("123456789") ** 9)
alike("float", "float", lambda: float("1.5"))
alike("complex", "complex", lambda: complex("1+2j"))
alike("str", "str(14)", lambda: "".join(["some ", "and more "]))
alike("str", "str(3)", lambda: "".join(["\u20ac", "\u20ac", "a"]))
alike("str", "str(2)", lambda: "".join(["\U0001f40d", "a"]))
alike("str", "str(20000)", lambda: "ab" * number("10000"), whole=0)
alike("bytes", "bytes(6)", lambda: b"".join([b"abc", b"def"]))
alike("bytearray", "bytearray(3)", lambda: bytearray(b"abc"))
alike("bytearray", "bytearray(100000)", long_bytes, whole=0)
alike("tuple", "tuple(2)", lambda: (number("1000"), "".join(["a", "b"])))
alike("slice", "tuple(2)", lambda: (slice(None), number("1000")))
alike("tuple", "tuple(0)", lambda: ())
alike("list", "list(0)", list)
alike("list", "list(3)", lambda: [float("1.5"), [number("7777")], None])
alike("list", "list(16)", lambda: [number("5") * 1000 + i for i in range(16)])
alike("list", "list(1000)", lambda: [number("5") * 1000 + i for i in range(1000)], whole=0)
alike("dict", "dict(2)", lambda: {"a": number("1000"), "b": [float("2.5")]})
alike("dict", "dict(0)", dict)
alike("dict", "dict(2)", lambda: {number("1000"): 1, "b": 2})
alike("dict", "dict(1)", lambda: Thing(number("1000")).__dict__)
alike("dict", "dict(20)", lambda: {"k%d" % i: i for i in range(20)}, whole=0)
alike("slice", "slice", lambda: slice(number("1000"), None, 2))
alike("range", "range", lambda: range(number("1000"), 2000))
alike("int", "int", lambda: cell(number("1000")))
alike("callable", "builtin_function_or_method", lambda: len)
alike("function", "function", lambda: number)


def keyed(x, y=None):
    """A function made anew each time: what it has of x and y tells it apart."""
    return (lambda z, w=y: (x, z, w))


alike("function", "function", lambda: keyed([1, 2]))
alike("function", "function", lambda: keyed("a", 3))
alike("callable", "type", lambda: Thing)
alike("callable", "module", lambda: sys)
alike("method", "builtin_function_or_method", lambda: [number("1000")].append)
alike("method", "method", lambda: Thing(number("1000")).method)
alike("object", "Thing", lambda: Thing(number("1000")))
alike("list", "list(1)", lambda: [Thing(number("1000"))])
deep = [1]
for i in range(8):
    deep = [deep]
alike("list", "list(1)", lambda: deep, whole=0)
loop = []
loop.append(loop)
alike("list", "list(1)", lambda: loop)

say("OTHER", None, True, False, 0, 1, 1.0, 1 + 0j, "1", b"1", bytearray(b"1"), (1,), [1], {1: 1}, "", (), [], {}, -1)
say("OTHER", number("1000"), number("-1000"), number("1000") ** 9, number("1001") ** 9, 1000.0, "1000", "1001")
say("OTHER", *["x" * n for n in range(5)])
say("OTHER", "abc", "ab\u20ac", "ab\U0001f40d", "ab\xe9")
say("OTHER", [1, 2], [2, 1], [1, 2, 3], (1, 2), [(1, 2)], [[1, 2]], [1, [2]], [1, 2.0])
say("OTHER", {"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 2}, {"a": {"b": 1}}, {"a": {"b": 2}})
say("OTHER", slice(1), slice(2), slice(1, 2), slice(1, 2, 3), range(1), range(2), range(1, 2))
say("OTHER", long_bytes(), long_bytes(0), long_bytes(99999), bytearray(b"abcd" * 25001))
say("OTHER", len, sys, number, Thing, one, Thing(2), one.method, Thing(2).method, [1].append, [2].append, cell(7))
# Few objects, each many times.
alike("list", "list(4000)", lambda: list("a" * 1300 + "b" * 2700), whole=0)
say("OTHER", *(list("a" * many + "b" * (4000 - many)) for many in (1300, 1600, 2600)))
# Of which the parts that are looked at are all the same: what is between them is not known.
say("OTHER", [False] * 4000, [False] * 4000, [False] * 1500 + [True] + [False] * 2499, bytearray(100000), bytearray(100000))
say("OTHER", [one], [Thing(2)], list(range(1000)), list(range(1, 1001)))

# ---- the standard library's, and the program's own classes


class Slots(object):
    __slots__ = ("b", "a", "c")

    def __init__(self, a, b):
        self.a = a
        self.b = b


class MoreSlots(Slots):
    __slots__ = ["d%d" % i for i in range(12)]


class Many(object):
    pass


class SlotsAndDict(Slots):
    pass


class Numbers(list):
    pass


class Named(str):
    pass


class Whole(int):
    pass


class Blob(bytes):
    pass


class Table(dict):
    __slots__ = ()


class Pair(tuple):
    pass


class Meta(type):
    pass


class Made(Meta("Base", (object,), {})):
    pass


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Node(object):
    def __init__(self, depth, value):
        self.value = value
        self.children = [Node(depth - 1, value)] if depth else []
        for child in self.children:
            child.parent = self


Point = collections.namedtuple("Point", "x y")


def attributes(thing, count):
    for i in range(count):
        setattr(thing, "attribute%d" % i, number("1000") + i)
    return thing


def with_values(thing, **values):
    thing.__dict__.update(values)
    return thing


def slots(thing, *values):
    for i, value in enumerate(values):
        setattr(thing, "d%d" % i, value)
    return thing


def filled(count):
    queue = collections.deque()
    for i in range(count):
        queue.append(number("1000") + i)
    return queue


def without_dict(thing):
    vars(thing)  # 3.11+: makes one
    return thing


base = datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
alike("object", "Slots", lambda: Slots(number("1000"), [number("7777")]))
alike("object", "MoreSlots", lambda: slots(MoreSlots(number("1000"), 2), *[number("2000") + i for i in range(12)]))
alike("object", "SlotsAndDict", lambda: with_values(SlotsAndDict(number("1000"), 2), z=number("3000")))
alike("object", "Thing", lambda: attributes(Thing(1), 10))
alike("object", "Thing", lambda: attributes(Thing(1), 60), whole=0)
# Of a class that was not met before, all at once, and each with other attributes.
alike("list", "list(6)", lambda: [attributes(Many(), 3 * i) for i in (4, 1, 2, 0, 3, 1)])
alike("object", "Thing", lambda: Thing(Thing(Thing(number("1000")))))
alike("object", "Thing", lambda: Thing(sys.stdin), opaque=1)
alike("object", "Made", lambda: with_values(Made(), a=number("1000")))
alike("object", "Node", lambda: Node(1, number("1000")))
say("ALIKE object Thing 1 0", Thing(number("1000")), without_dict(Thing(number("1000"))))
alike("list", "Numbers(2)", lambda: Numbers([number("1000"), 2]))
alike("list", "Numbers(1)", lambda: with_values(Numbers([number("1000")]), a=number("2000")))
alike("str", "Named(6)", lambda: Named("abc" + "def"))
alike("str", "Named(2)", lambda: with_values(Named("\u20acb"), a=number("2000")))
alike("int", "Whole", lambda: Whole(number("1000")))
alike("int", "Whole", lambda: with_values(Whole(number("1000") ** 9), a=number("2000")))
alike("bytes", "Blob(3)", lambda: Blob(b"abc"))
alike("dict", "Table(2)", lambda: Table(a=number("1000"), b=2))
alike("tuple", "Pair(2)", lambda: Pair((number("1000"), 2)))
alike("tuple", "Pair(2)", lambda: with_values(Pair((number("1000"), 2)), a=number("2000")))
alike("tuple", "Point(2)", lambda: Point(number("1000"), [2.5]))
alike("dict", "OrderedDict(1)", lambda: collections.OrderedDict(a=number("1000")), whole=0)
alike("dict", "defaultdict(1)", lambda: collections.defaultdict(list, a=number("1000")))
alike("dict", "Counter(3)", lambda: collections.Counter(["a", "b", "c" + str(number("1"))]))
alike("constant", "Color", lambda: Color.RED)
alike("constant", "Number", lambda: Number.ONE)
alike("value", "Decimal", lambda: decimal.Decimal("1234567.890123456789012345678901234567890"))
alike("value", "Decimal", lambda: decimal.Decimal("-1.5"))
alike("value", "Decimal", lambda: decimal.Decimal("NaN"))
alike("value", "date", lambda: datetime.date(2020, 1, number("2")))
alike("value", "time", lambda: datetime.time(1, 2, number("3")))
alike("value", "datetime", lambda: base + datetime.timedelta(number("3")))
alike("value", "datetime", lambda: base.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=number("2")), "x" + "y")))
alike("value", "timedelta", lambda: datetime.timedelta(number("3"), 5, 7))
alike("object", "Fraction", lambda: fractions.Fraction(number("1000"), 7))
alike("object", "UUID", lambda: uuid.UUID(int=number("1000")))
alike("object", EITHER, lambda: pathlib.Path("some/path" + str(number("1"))))
alike("set", "set(0)", set)
alike("set", "set(3)", lambda: {number("1000"), "a" + str(number("1")), (1, number("1000"))})
alike("set", "set(12)", lambda: set(number("1000") + i for i in range(12)))
say("ALIKE set set(12) 1 0", set(range(1000, 1012)), set(range(1011, 999, -1)))
alike("set", "set(1000)", lambda: set(number("1000") + i for i in range(1000)), whole=0)
alike("frozenset", "frozenset(2)", lambda: frozenset([number("1000"), 2.5]))
alike("set", "set(1)", lambda: {sys.stdin}, opaque=1)
alike("deque", "deque(0)", collections.deque)
alike("deque", "deque(5)", lambda: filled(5))
alike("deque", "deque(100)", lambda: filled(100), whole=0)
alike("buffer", "array(8)", lambda: array.array("i", [number("1000"), 2]))
alike("buffer", "array(80000)", lambda: array.array("d", range(10000)), whole=0)
alike("buffer", "memoryview(6)", lambda: memoryview(b"".join([b"abc", b"def"])))
alike("object", "mappingproxy", lambda: types.MappingProxyType({"a": number("1000")}))
alike("object", "partial", lambda: functools.partial(number, number("1000"), a=number("2000")))
alike("object", "dict_keys", lambda: {"a": number("1000")}.keys())
alike("object", "dict_values", lambda: {"a": number("1000")}.values())
alike("object", "dict_items", lambda: {"a": number("1000")}.items())
alike("value", EITHER, lambda: re.compile("a+b" + str(number("1"))))
alike("value", "Struct", lambda: struct.Struct("<i" + "h" * number("2")))
alike("value", "itemgetter", lambda: operator.itemgetter(number("1000")))
alike("value", "attrgetter", lambda: operator.attrgetter("a" + str(number("1"))))
alike("value", "methodcaller", lambda: operator.methodcaller("a", number("1000")))
alike("value", "timezone", lambda: datetime.timezone(datetime.timedelta(hours=number("2"))))
alike("constant", "code", lambda: number.__code__)
alike("callable", "property", lambda: a_property)
for opaque in (sys.stdin, threading.Lock(), iter([1]), random.Random(1), (x for x in "a"), socket.socket(), hashlib.sha256(), itertools.count(), weakref.ref(one), ValueError("a")):
    name = type(opaque).__name__
    say("ALIKE %s %s 1 1" % ("other", EITHER), opaque, opaque)

say("OTHER", *[Slots(a, b) for a in (1, 2, None) for b in (1, 2, None)])
say("OTHER", Slots(1, 2), SlotsAndDict(1, 2), with_values(SlotsAndDict(1, 2), b=3), with_values(SlotsAndDict(1, 2), c=3), MoreSlots(1, 2))
say("OTHER", *[slots(MoreSlots(1, 2), *([None] * i)) for i in range(13)])
say("OTHER", Thing(1), Thing(2), Thing([1]), Thing([2]), Thing(Thing(1)), Thing(Thing(2)), Made(), with_values(Made(), value=1))
say("OTHER", attributes(Thing(1), 10), attributes(Thing(2), 10), attributes(Thing(1), 11), attributes(Thing(1), 40))
say("OTHER", with_values(Made(), a=1, b=2), with_values(Made(), a=2, b=1), with_values(Made(), a=1), with_values(Made(), b=1))
say("OTHER", Node(1, 1), Node(2, 1), Node(3, 1), Node(1, 2), Node(2, 2))
say("OTHER", Numbers([1]), Numbers([2]), [1], [2], with_values(Numbers([1]), a=1), with_values(Numbers([1]), a=2))
say("OTHER", Named("a"), Named("b"), Named("ab"), Named("\u20ac"), "a", "b", with_values(Named("a"), a=1))
say("OTHER", Whole(1), Whole(2), Whole(-1), 1, 2, with_values(Whole(1), a=1), with_values(Whole(1), a=2), Number.ONE, Number.TWO, Color.RED, Color.BLUE)
say("OTHER", Blob(b"a"), Blob(b"b"), b"a", b"b")
say("OTHER", Table(a=1), Table(a=2), {"a": 1}, collections.OrderedDict(a=1), collections.defaultdict(list, a=1), collections.defaultdict(dict, a=1), collections.Counter(a=1), collections.Counter(a=2))
say("OTHER", Pair((1, 2)), Pair((2, 1)), (1, 2), Point(1, 2), Point(2, 2), with_values(Pair((1, 2)), a=1), with_values(Pair((1, 2)), a=2))
say("OTHER", *[decimal.Decimal(x) for x in ("1", "2", "-1", "1.0", "10", "0", "NaN", "Infinity", "-Infinity", "1e99", "12345678901234567890", "12345678901234567891", "1" * 50, "1" * 49 + "2")])
say("OTHER", datetime.date(2020, 1, 2), datetime.date(2020, 1, 3), datetime.time(1, 2, 3), datetime.time(1, 2, 4), datetime.time(1, 2, 3, tzinfo=datetime.timezone.utc), base, base.replace(microsecond=7), base.replace(fold=1), base.replace(tzinfo=datetime.timezone.utc), base.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=1))), datetime.timedelta(1), datetime.timedelta(2), datetime.timedelta(1, 1), datetime.timedelta(1, 0, 1))
say("OTHER", *[fractions.Fraction(a, b) for a in (1, 3) for b in (5, 7)])
say("OTHER", uuid.UUID(int=1), uuid.UUID(int=2), pathlib.Path("a"), pathlib.Path("b"), pathlib.Path("a/b"), pathlib.PurePosixPath("a"))
say("OTHER", set(), {1}, {2}, {1, 2}, {"a"}, {(1,)}, frozenset([1]), frozenset([2]), set(range(1000)), set(range(1, 1001)), set(range(999)))
say("OTHER", *[filled(n) for n in (0, 1, 2, 8, 9, 16, 17, 64, 65, 100, 200)])
say("OTHER", collections.deque([1, 2]), collections.deque([2, 1]), collections.deque(range(100)), collections.deque(range(1, 101)))
say("OTHER", array.array("i", [1]), array.array("i", [2]), array.array("d", [1]), array.array("I", [1]), array.array("i", [1, 2]), memoryview(b"a"), memoryview(b"b"), memoryview(b"ab"))
say("OTHER", types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 2}), {"a": 1}.keys(), {"a": 1}.values(), {"a": 1}.items(), {"a": 2}.items(), {"b": 1}.keys())
say("OTHER", functools.partial(number), functools.partial(number, 1), functools.partial(number, 2), functools.partial(len, 1), functools.partial(number, a=1), functools.partial(number, a=2))
say("OTHER", re.compile("a"), re.compile("b"), re.compile("a", re.I), re.compile(b"a"), struct.Struct("i"), struct.Struct("h"), operator.itemgetter(1), operator.itemgetter(2), operator.itemgetter(1, 2), operator.attrgetter("a"), operator.attrgetter("b"), operator.methodcaller("a"), operator.methodcaller("a", 1), operator.methodcaller("b"))

# ---- of packages
for folder in os.environ.get("PIEPROFD_TEST_PACKAGES", "").split(os.pathsep):
    if folder:
        sys.path.insert(0, folder)


def package(name):
    try:
        found = __import__(name)
    except Exception:
        return None
    os.write(1, ("WITH %s %s\n" % (name, found.__version__)).encode())
    return found


try:
    import site

    site.main()  # it was started without
except Exception:
    pass
cache = os.environ.get("PIEPROFD_TEST_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pieprofd")
sys.path.append(os.path.join(cache, "packages", "%d.%d" % sys.version_info[:2]))
numbers = random.Random(3)
items = [numbers.random() for _ in range(200)]
say("SKETCH 6 8", items, list(items))
say("SKETCH 5 8", items, items[1:] + [0.5])
say("SKETCH 5 8", items, items[:40] + items[41:])
say("SKETCH 0 4", items, [numbers.random() for _ in range(200)])
say("SKETCH 9 16", collections.deque(items), collections.deque(items[1:] + [0.5]))
say("SKETCH 0 0", tuple(items), tuple(items))
waiting = set(range(1000, 1100))
say("SKETCH 6 8", waiting, set(waiting))
say("SKETCH 5 8", waiting, (waiting - {1003}) | {2000})
say("SKETCH 0 4", waiting, set(range(7000, 7100)))
prices = dict(enumerate(items))
say("SKETCH 6 8", prices, dict(prices))
say("SKETCH 5 8", prices.values(), dict(prices, **{"other": 1}).values())
say("SKETCH 5 8", prices.items(), dict(list(prices.items())[1:]).items())
say("SKETCH 0 4", prices, dict.fromkeys(prices, 0.5))


class Account(object):
    kind = "giro"

    def __init__(self, owner, rate, log):
        self.owner, self.rate, self.log, self.count = owner, rate, log, len(log)

    @property
    def total(self):
        return self.count


def only(same, keyed, left, right, *names):
    say("ONLY %d %d" % (same, keyed), left, right, *[sys.intern(name) for name in names])


# What was not chosen may differ; what was may not; what is not in the dict is no choice.
only(1, 1, Account("Ann", 2.5, [1]), Account("Ann", 2.5, [1, 2]), "owner", "rate")
only(0, 1, Account("Ann", 2.5, [1]), Account("Ann", 3.5, [1]), "owner", "rate")
only(1, 0, Account("Ann", 2.5, [1]), Account("Bob", 2.5, [1]), "log")
only(0, 0, Account("Ann", 2.5, [1]), Account("Ann", 2.5, [1, 2]), "owner", "total")
only(0, 0, Account("Ann", 2.5, [1]), Account("Ann", 2.5, [1, 2]), "owner", "kind")


class Slotted(object):
    __slots__ = ("a", "b", "c")

    def __init__(self, *values):
        self.a, self.b, self.c = values


def only_slots(same, keyed, left, right, *slots):
    keep.append((left, right))
    os.write(1, ("ONLY %d %d %d %d %s\n" % (same, keyed, id(left), id(right), " ".join(map(str, slots)))).encode())


# By the number of the word behind the head.
only_slots(1, 1, Slotted("Ann", 2.5, [1]), Slotted("Ann", 2.5, [1, 2]), 0, 1)
only_slots(0, 1, Slotted("Ann", 2.5, [1]), Slotted("Ann", 3.5, [1]), 0, 1)
only_slots(1, 0, Slotted("Ann", 2.5, [1]), Slotted("Bob", 2.5, [1]), 2)
only_slots(0, 0, Slotted("Ann", 2.5, [1]), Slotted("Bob", 2.5, [1]), 2, 40)
say("SIZE 300", dict.fromkeys(range(300)).values())


class Roads(object):
    def __init__(self, count):
        self.ends = {str(i): {str(i * k): k / 7 for k in range(9)} for i in range(count)}


def deep(levels):
    return [deep(levels - 1) for _ in range(3)] if levels else number("1")


many_lists = [[[float(k + i)] for k in range(9)] for i in range(900)]
for spread, large in (
        (1, Roads(400).ends), (1, Roads(400)), (1, [[str(k) for k in range(9)] for _ in range(999)]),
        (1, tuple(range(999))), (1, set(range(999))), (1, collections.deque(range(999))), (1, long_bytes()),
        (1, Roads(3)), (0, deep(2)), (0, deep(7)), (0, [deep(7) for _ in range(99)]), (0, [threading.Lock()] * 99), (0, {1: deep(7)})):
    say("SPREAD %d" % spread, large, many_lists)
numpy = package("numpy")
if numpy:
    whole_array = numpy.arange(100.0)
    say("PART 80", whole_array[10:50], whole_array)
    say("LARGEST 800", [whole_array[:3], whole_array])
    say("LARGEST 0", [1, 2])
    alike("array", "float64[10]", lambda: numpy.arange(10.0))
    alike("array", "float64[100,100]", lambda: numpy.ones((100, 100)), whole=0)
    alike("array", "int32[3,4]", lambda: numpy.arange(12, dtype="int32").reshape(3, 4))
    alike("array", "float64[4,3]", lambda: numpy.arange(12.0).reshape(3, 4).T)
    alike("array", "float64[100]", lambda: numpy.arange(10000.0).reshape(100, 100)[:, 3], whole=0)
    alike("array", "bool[]", lambda: numpy.array(True))
    alike("array", "complex128[0]", lambda: numpy.zeros(0, complex))
    alike("array", "uint8[1,2,3,4,...]", lambda: numpy.ones((1, 2, 3, 4, 2), "u1"))
    alike("array", "object[1]", lambda: numpy.array([Thing(number("1000"))], dtype=object))
    alike("array", "object[2]", lambda: numpy.array([sys.stdin, 1], dtype=object), opaque=1)
    alike("value", EITHER, lambda: numpy.dtype("float64"))
    alike("value", EITHER, lambda: numpy.dtype("M8[s]"))
    alike("array", "datetime[2]", lambda: numpy.array([1, 2], "M8[s]"))
    say("OTHER", *[numpy.dtype(t) for t in ("f8", ">f8", "f4", "i8", "u8", "M8[s]", "M8[ns]", "m8[s]", "S8", "S9", "U8", "O", [("a", "f8")], [("b", "f8")])])
    say("OTHER", *[numpy.array([1, 2], t) for t in ("M8[s]", "M8[ns]", "m8[s]", "i8")])
    alike("array", "matrix~float64[1,2]", lambda: numpy.matrix([1.0, 2.0]))
    alike("array", "MaskedArray~float64[2]", lambda: numpy.ma.masked_array([1.0, 2.0], [True, False]))
    alike("str", "numpy.str_(4)", lambda: numpy.str_("ab" + str(number("12"))))
    alike("scalar", "numpy.datetime64", lambda: numpy.datetime64("2020-01-01"))
    alike("object", "Thing", lambda: Thing([numpy.arange(1000.0), numpy.ones(5)]), whole=0)
    say("OTHER", Thing(numpy.arange(10.0)), Thing(numpy.arange(11.0)), Thing(numpy.arange(10)), Thing(1))
    say("OTHER", numpy.array(["a"], object), numpy.array(["b"], object), numpy.array(["a"]), numpy.array(["a", "b"], object))
    say("OTHER", numpy.ma.masked_array([1.0, 2.0], [True, False]), numpy.ma.masked_array([1.0, 2.0], [False, False]), numpy.array([1.0, 2.0]), numpy.matrix([1.0, 2.0]))
    say("OTHER", numpy.datetime64("2020-01-01"), numpy.datetime64("2020-01-02"), numpy.datetime64(18262, "s"))
    alike("scalar", "numpy.float64", lambda: numpy.float64("1.5"))
    alike("scalar", "numpy.int32", lambda: numpy.int32(number("1000")))
    alike("callable", "numpy.ufunc", lambda: numpy.add)
    alike("tuple", "tuple(2)", lambda: (numpy.arange(3.0), numpy.float64("2.5")))
    a = numpy.zeros(100000)
    b = a.copy()
    b[0] = 1
    c = a.copy()
    c[-1] = 1
    say("OTHER", a, b, c, a[:99999], a.reshape(100, 1000), a.astype("float32"), a.astype("int64"))
    say("OTHER", numpy.arange(4.0), numpy.arange(4.0)[::-1], numpy.arange(4), numpy.arange(8.0)[::2], [0.0, 1.0, 2.0, 3.0])
    say("OTHER", numpy.float64(1), numpy.float32(1), numpy.float64(2), numpy.int64(1), 1.0)
pandas = package("pandas") if numpy else None


def frame(change=None, name="a", index=None, rows=1000, **columns):
    values = numpy.arange(float(rows))
    if change is not None:
        values[change] = -1
    return pandas.DataFrame(dict({name: values, "n": numpy.arange(rows), "k": numpy.arange(rows) % 7}, **columns), index=index)


def used(thing):
    """With its caches filled."""
    repr(thing)
    thing.index.is_unique, thing.index.get_loc(thing.index[0]), thing.columns.get_loc("n")
    thing["n"], thing.iloc[0], thing.dtypes
    return thing


if pandas:
    alike("object", "DataFrame[1000,3]", frame, whole=0)
    alike("object", "DataFrame[20,3]", lambda: frame(rows=20))
    alike("object", "DataFrame[20,3]", lambda: used(frame(rows=20)))
    alike("object", "DataFrame[20,3]", lambda: frame(rows=20, index=pandas.date_range("2020", periods=20)))
    alike("object", "DataFrame[20,4]", lambda: frame(rows=20, t=pandas.date_range("2020", periods=20)))
    alike("object", EITHER, lambda: frame(rows=20, c=pandas.Categorical(["x", "y"] * 10)))
    alike("object", "Series[10]", lambda: pandas.Series(numpy.arange(10.0), name="n"))
    alike("object", EITHER, lambda: pandas.Index([number("1000"), 2, 3]))
    alike("object", EITHER, lambda: pandas.Index(numpy.array(["a", "b" + str(number("1"))], object)))
    alike("object", "RangeIndex", lambda: pandas.RangeIndex(number("1000")))
    alike("object", EITHER, lambda: pandas.date_range("2020", periods=20))
    alike("value", "Timestamp", lambda: pandas.Timestamp("2020-01-02 03:04:05"))
    alike("value", "Timedelta", lambda: pandas.Timedelta(number("1000")))
    alike("constant", "NaTType", lambda: pandas.NaT)
    say("OTHER", frame(), frame(0), frame(999), frame(name="b"), frame(rows=999), frame(index=numpy.arange(1, 1001)), frame(k=1), frame(index=pandas.RangeIndex(1, 1001)))
    say("OTHER", *[frame(i, rows=20) for i in range(20)])
    say("OTHER", *[pandas.Series(numpy.arange(n)) for n in range(1, 9)])
    say("OTHER", pandas.Series([1]), pandas.Series([1.0]), pandas.Series([2]), pandas.Series([1], name="a"), pandas.Series([1], name="b"), pandas.Series([1], index=[5]), pandas.DataFrame({"a": [1]}), pandas.DataFrame({"a": [2]}))
    say("OTHER", pandas.Timestamp("2020-01-02"), pandas.Timestamp("2020-01-03"), pandas.Timestamp("2020-01-02", tz="UTC"), pandas.Timedelta(1000), pandas.Timedelta(2000))
    say("OTHER", pandas.Index([1, 2]), pandas.Index([1, 3]), pandas.Index([1.0, 2.0]), pandas.RangeIndex(2), pandas.RangeIndex(3), pandas.Index(["a", "b"]), pandas.Index(["a", "c"]))
    say("OTHER", *[frame(rows=20, c=pandas.Categorical(list(c) * 5)) for c in ("xyxy", "xyyx", "xzxz", "zzzx")])

scipy = package("scipy") if numpy else None
if scipy:
    import scipy.sparse

    def sparse(value=1.0, column=3):
        return scipy.sparse.csr_matrix(([value, 2.0], ([0, 1], [column, 4])), shape=(5, 6))

    alike("object", "csr_matrix", sparse)
    say("OTHER", sparse(), sparse(3.0), sparse(column=2), sparse().tocsc(), sparse().tocoo())

pyarrow = package("pyarrow") if numpy else None
if pyarrow:
    alike("value", "StringArray", lambda: pyarrow.array(["ab", None, "c" + str(number("1"))]))
    alike("value", "Int64Array", lambda: pyarrow.array([number("1000"), 2]))
    alike("value", "Int64Array", lambda: pyarrow.array(range(number("1000"))), whole=0)
    alike("value", "ChunkedArray", lambda: pyarrow.chunked_array([["ab", "c" + str(number("1"))]]))
    two = pyarrow.chunked_array([["ab"], ["c"]])
    alike("value", "ChunkedArray", lambda: two, whole=0)
    say("OTHER", *[pyarrow.array(v) for v in ([1, 2], [1, 3], [1.0, 2.0], ["a", "b"], ["a", "c"], [None, "a"], ["a", None], [b"a", b"b"], [True, False], [[1], [2]], [[1], [3]])])
    table = pyarrow.table({"a": [1, 2]})
    alike("constant", "Table", lambda: table)
    say("OTHER", table, pyarrow.table({"a": [1, 3]}), table["a"], table.schema, pyarrow.int32())

torch = package("torch") if numpy else None
if torch:
    def tensor(change=None, dtype=torch.float32):
        made = torch.arange(640, dtype=dtype).reshape(64, 10)
        if change is not None:
            made[change] = -1
        return made

    alike("tensor", "Tensor~float32[64,10]", tensor)
    alike("tensor", "Tensor~int64[2]", lambda: torch.tensor([1, 2]))
    alike("tensor", "Tensor~bfloat16[2]", lambda: torch.tensor([1.0, 2.0], dtype=torch.bfloat16))
    alike("tensor", "Tensor~float32[10,64]", lambda: tensor().T, whole=0)
    alike("tensor", "Tensor~float32[3,10]", lambda: tensor()[5:8])
    alike("tensor", "Tensor~float32[]", lambda: torch.tensor(1.5))
    alike("tensor", "Parameter~float32[64,10]", lambda: torch.nn.Parameter(tensor()))
    alike("tuple", "Size(2)", lambda: tensor().shape)
    alike("constant", "dtype", lambda: torch.float32)
    alike("value", "device", lambda: torch.device("cpu"))
    say("OTHER", tensor(), tensor((0, 0)), tensor((63, 9)), tensor(dtype=torch.float64), tensor().reshape(10, 64), tensor().T, tensor()[1:], tensor()[:-1])
# Before it has begun, an iterator is told by what it goes over.


def far_list(change=None):
    items = [number("5") * 1000 + i for i in range(16)]
    if change is not None:
        items[change] = 0
    return items


def advanced(iterator):
    next(iterator)
    return iterator


def squares(items, add=0):
    return (item * item + add for item in items)


def begins(kind, shape, make, whole=1, opaque=0):
    say("BEGIN-ALIKE %s %s %d %d" % (kind, shape, whole, opaque), make(), make())


begins("iterator", EITHER, lambda: iter(far_list()))
begins("iterator", EITHER, lambda: iter(tuple(far_list())))
begins("iterator", EITHER, lambda: iter(range(number("1000"))))
begins("iterator", EITHER, lambda: iter({"a": number("1000")}.items()))
begins("iterator", EITHER, lambda: enumerate(far_list()))
begins("iterator", EITHER, lambda: zip(far_list(), far_list(3)))
begins("iterator", EITHER, lambda: map(str, far_list()))
begins("generator", EITHER, lambda: squares(far_list()))
begins("generator", EITHER, lambda: squares(tuple(far_list()), number("1000")))
say("BEGIN-OTHER", iter(far_list()), iter(far_list(3)), advanced(iter(far_list())), iter(tuple(far_list())))
say("BEGIN-OTHER", zip(far_list()), zip(far_list(), far_list()), zip(far_list(), far_list(3)))
say("BEGIN-OTHER", map(str, far_list()), map(repr, far_list()), map(str, far_list(3)))
say(
    "BEGIN-OTHER",
    squares(far_list()),
    squares(far_list(3)),
    squares(far_list(), 1),
    advanced(squares(far_list())),
    (item + item for item in far_list()),
)

os.write(1, b"READY\n")
sys.stdin.read()
