# SPDX-License-Identifier: Apache-2.0
"""What tests/unit/daemon_fingerprint.c reads: objects that are alike, and others that are not.

    ALIKE kind shape whole opaque id id...     one number
    OTHER id id...                             a number each
"""
import os
import sys

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
alike("callable", "function", lambda: number)
alike("callable", "type", lambda: Thing)
alike("callable", "module", lambda: sys)
alike("method", "builtin_function_or_method", lambda: [number("1000")].append)
alike("method", "method", lambda: one.method, opaque=1)
alike("other", "Thing", lambda: one, opaque=1)
alike("list", "list(1)", lambda: [one], opaque=1)
deep = [1]
for i in range(8):
    deep = [deep]
alike("list", "list(1)", lambda: deep, opaque=1)
loop = []
loop.append(loop)
alike("list", "list(1)", lambda: loop, opaque=1)

say("OTHER", None, True, False, 0, 1, 1.0, 1 + 0j, "1", b"1", bytearray(b"1"), (1,), [1], {1: 1}, "", (), [], {}, -1)
say("OTHER", number("1000"), number("-1000"), number("1000") ** 9, number("1001") ** 9, 1000.0, "1000", "1001")
say("OTHER", *["x" * n for n in range(5)])
say("OTHER", "abc", "ab\u20ac", "ab\U0001f40d", "ab\xe9")
say("OTHER", [1, 2], [2, 1], [1, 2, 3], (1, 2), [(1, 2)], [[1, 2]], [1, [2]], [1, 2.0])
say("OTHER", {"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 2}, {"a": {"b": 1}}, {"a": {"b": 2}})
say("OTHER", slice(1), slice(2), slice(1, 2), slice(1, 2, 3), range(1), range(2), range(1, 2))
say("OTHER", long_bytes(), long_bytes(0), long_bytes(99999), bytearray(b"abcd" * 25001))
say("OTHER", len, sys, number, Thing, one, Thing(1), one.method, Thing(1).method, [1].append, [2].append, cell(7))
say("OTHER", [one], [Thing(1)], list(range(1000)), list(range(1, 1001)))

try:
    import site

    site.main()  # it was started without
    import numpy
except Exception:
    numpy = None
if numpy:
    os.write(1, ("NUMPY %s\n" % numpy.__version__).encode())
    alike("array", "float64[10]", lambda: numpy.arange(10.0))
    alike("array", "float64[100,100]", lambda: numpy.ones((100, 100)), whole=0)
    alike("array", "int32[3,4]", lambda: numpy.arange(12, dtype="int32").reshape(3, 4))
    alike("array", "float64[4,3]", lambda: numpy.arange(12.0).reshape(3, 4).T)
    alike("array", "float64[100]", lambda: numpy.arange(10000.0).reshape(100, 100)[:, 3], whole=0)
    alike("array", "bool[]", lambda: numpy.array(True))
    alike("array", "complex128[0]", lambda: numpy.zeros(0, complex))
    alike("array", "uint8[1,2,3,4,...]", lambda: numpy.ones((1, 2, 3, 4, 2), "u1"))
    alike("array", "object[1]", lambda: numpy.array([one], dtype=object), opaque=1)
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
os.write(1, b"READY\n")
sys.stdin.read()
