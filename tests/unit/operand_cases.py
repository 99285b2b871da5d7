# SPDX-License-Identifier: Apache-2.0
"""What tests/unit/pyintrospect_operand_reader.c reads: threads that block in expressions of many shapes.

Each prints what it works on before it blocks in read(2): the function that the instruction is in, what
kind of operation it is, whether a Python function has taken the operands, the operands' ids, the
iterators of the loops around, innermost first (id, position, remaining), and the ids of the function's
arguments. An id of 0: whatever it is.
"""
import sys, os, io, threading, ctypes
V = sys.version_info[:2]
gate, keep = os.pipe()
read = os.read
raw = io.FileIO(gate, closefd=False)
tid = getattr(threading, 'get_native_id', lambda: ctypes.CDLL(None).syscall(186))
case = threading.local()
cases = []
def add(f):
    cases.append(f)
    return f
def say(depth, kind, operands, loops=(), taken=0):
    frame = sys._getframe(depth)
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bin(code.co_flags & 12).count('1')
    words = ['CASE', case.name, tid(), getattr(code, 'co_qualname', code.co_name), kind, taken, len(operands)]
    words += [0 if o is None else id(o) for o in operands] + [len(loops)]
    for iterator, position, remaining in loops:
        words += [0 if iterator is None else id(iterator), position, remaining]
    names = code.co_varnames[:count]
    words += [len(names)] + [0 if n in code.co_cellvars else id(frame.f_locals[n]) for n in names]
    os.write(1, (' '.join(map(str, words)) + '\n').encode())
def names_of(frame):
    return [c for c in frame.f_code.co_consts if c == ('k',)] if V not in ((3, 11), (3, 12)) else []
def block(kind, *operands):
    say(3, kind, operands)
    read(gate, 1)
    return 1
def function_of(owner, name):
    return [owner.__dict__[name]] if V > (3, 6) else [None]
class Spy(object):
    def __add__(self, o): return block('binary', self, o)
    def __iadd__(self, o): return block('binary', self, o)
    def __lt__(self, o): return block('compare', self, o)
    def __neg__(self): return block('unary', self)
    def __contains__(self, o): return block('contains', o, self)
    def __getitem__(self, i):
        if isinstance(i, slice) and V > (3, 11): return block('slice', self, i.start, i.stop)
        return block('subscript', self, i)
    def __setitem__(self, i, v):
        if isinstance(i, slice) and V > (3, 11): return block('store_slice', v, self, i.start, i.stop)
        return block('store_subscript', v, self, i)
    def __delitem__(self, i): return block('delete_subscript', self, i)
    def __call__(self, *a, **k):
        say(2, 'call', [self] + list(a) + list(k.values()) + (names_of(sys._getframe(1)) if k else []))
        read(gate, 1)
    def __iter__(self):
        block(case.kind, self)
        return iter((1, 2))
    def __next__(self): return block('next', self)
    def __format__(self, spec): return str(block('format', self))
    def __bool__(self): return bool(block('truth', self))
    def __enter__(self):
        if V < (3, 14): block('enter')
        else:
            say(2, 'call', [Spy.__dict__['__enter__'], self], taken=1)
            read(gate, 1)
    def __exit__(self, *a): pass
    def method(self, o):
        say(2, 'call', function_of(Spy, 'method') + ([self] if V > (3, 6) else []) + [o], taken=int(V > (3, 10)))
        read(gate, 1)
    @property
    def field(self): return block('attribute', self)
    @field.setter
    def field(self, v): block('store_attribute', v, self)
class Unpacked(Spy):
    def __call__(self, *a, **k):
        say(2, 'call_unpacked', [self, case.tuple] + ([case.dict if V < (3, 9) else None] if k else []))
        read(gate, 1)
class Own(object):
    def __getitem__(self, i):
        if i > 20: raise IndexError
        return i
A, B, C, D = Spy(), Spy(), Spy(), Spy()
def python_function(x, y=0):
    say(2, 'call', [python_function, x], taken=int(V > (3, 10)))
    read(gate, 1)
@add
def plain():
    g, n = gate, 1
    say(1, 'call', [read, g, n]); read(g, n)
@add
def builtin_method():
    n = 1
    say(1, 'call', function_of(io.FileIO, 'read') + ([raw] if V > (3, 6) else []) + [n]); raw.read(n)
@add
def in_arguments():
    g, n = gate, 1
    say(1, 'call', [read, g, n]); print(A, B, [C, (D, read(g, n))])
@add
def binary(): A + B
@add
def binary_in_place():
    a = A
    a += B
@add
def compare(): A < B
@add
def unary(): -A
@add
def contains(): B in A
@add
def subscript(): A[B]
@add
def subscript_tuple(): A[B, 1]
@add
def subscript_slice():
    i, j = B, C
    A[i:j]
@add
def store_subscript(): A[B] = C
@add
def store_slice():
    i, j = B, C
    A[i:j] = D
@add
def delete_subscript():
    del A[B]
@add
def augmented_subscript(): A[B] += C
@add
def call_object(): A(B, C)
@add
def call_keywords(): A(B, k=C)
@add
def call_many(): A(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, B)
@add
def call_star():
    case.tuple = t = (B, C)
    Unpacked()(*t)
@add
def call_stars():
    case.tuple, case.dict = t, d = (B, C), {'k': D}
    Unpacked()(*t, **d)
@add
def call_function(): python_function(B)
@add
def call_method(): A.method(B)
@add
def attribute(): A.field
@add
def store_attribute(): A.field = B
@add
def iterate():
    case.kind = 'iterate'
    for x in A: pass
@add
def following():
    class Iterable(object):
        def __iter__(self): return B
    for x in Iterable(): pass
@add
def unpack():
    case.kind = 'unpack'
    p, q = A
@add
def formatted(): f'{A}'
@add
def truth():
    if A: return 1
@add
def entered():
    with A: pass
@add
def within():
    g, n = gate, 1
    with D.__class__.__new__(Quiet):
        say(1, 'call', [read, g, n]); read(g, n)
class Quiet(Spy):
    def __enter__(self): pass
@add
def tried():
    g, n = gate, 1
    for i in range(3):
        try:
            say(1, 'call', [read, g, n], [(None, 1, 2)]); read(g, n)
        finally:
            n = 2
@add
def excepted():
    g, n = gate, 1
    for i in iter([1, 2, 3]):
        try: raise ValueError
        except ValueError as e:
            say(1, 'call', [read, g, n], [(None, 1, 2)]); read(g, n)
@add
def in_finally():
    g, n = gate, 1
    try: g = gate
    finally:
        if V > (3, 8): say(1, 'call', [read, g, n])
        else: say(1, 'unknown', [])
        read(g, n)
@add
def loops():
    g, n = gate, 1
    rows, row, numbers = [1, 2, 3], ('a', 'b', 'c', 'd'), range(10)
    over = iter(rows)
    for x in over:
        if x != 2: continue
        counted = enumerate(row)
        for i, y in counted:
            if i != 2: continue
            counting = iter(numbers)
            for z in counting:
                if z == 6:
                    say(1, 'call', [read, g, n], [(counting, 7, 3), (counted, 3, 1), (over, 2, 1)])
                    read(g, n)
@add
def loop_list():
    g, n = gate, 1
    over = [1, 2, 3, 4]
    for x in over:
        if x == 3:
            say(1, 'call', [read, g, n], [(over if V > (3, 14) else None, 3, 1)]); read(g, n)
@add
def loop_tuple():
    g, n = gate, 1
    for x in (1, 2, 3, 4):
        if x == 3:
            say(1, 'call', [read, g, n], [(None, 3, 1)]); read(g, n)
@add
def loop_zip():
    g, n = gate, 1
    over = zip([1, 2, 3, 4], 'abcd')
    for x, y in over:
        if x == 3:
            say(1, 'call', [read, g, n], [(over, 3, 1)]); read(g, n)
@add
def loop_map():
    g, n = gate, 1
    over = map(str, enumerate('abcd'))
    for x in over:
        if 'c' in x:
            say(1, 'call', [read, g, n], [(over, 3, 1)]); read(g, n)
@add
def loop_dict():
    g, n = gate, 1
    over = iter({'a': 1, 'b': 2, 'c': 3}.items())
    for x, y in over:
        if x == 'b':
            say(1, 'call', [read, g, n], [(over, 2, 1)]); read(g, n)
@add
def loop_set():
    g, n = gate, 1
    over = iter({1})
    for x in over:
        say(1, 'call', [read, g, n], [(over, 2, 0)]); read(g, n)
@add
def loop_reversed():
    g, n = gate, 1
    over = reversed([1, 2, 3, 4])
    for x in over:
        if x == 2:
            say(1, 'call', [read, g, n], [(over, 0, 1)]); read(g, n)
@add
def loop_own():
    g, n = gate, 1
    over = iter(Own())
    for x in over:
        if x == 2:
            say(1, 'call', [read, g, n], [(over, 3, -1)]); read(g, n)
@add
def loop_generator():
    g, n = gate, 1
    over = (x for x in (1, 2))
    for x in over:
        say(1, 'call', [read, g, n], [(over, -1, -1)]); read(g, n)
@add
def comprehension():
    over = iter([1, 2, 3])
    [(say(1, 'call', [read, gate, 1], [(over, 2, 1)]), read(gate, 1)) for x in over if x == 2]
@add
def generator():
    def values(g, n):
        for x in (1, 2, 3):
            yield x
            say(1, 'call', [read, g, n], [(None, 1, 2)]); yield read(g, n)
    for v in values(gate, 1): pass
@add
def delegated():
    def values(g, n):
        yield x
        say(1, 'call', [read, g, n]); yield read(g, n)
    def outer(): yield from values(gate, 1)
    x = 1
    for v in outer(): pass
@add
def coroutine():
    async def leaf(g, n):
        say(1, 'call', [read, g, n]); read(g, n)
    async def root(): await leaf(gate, 1)
    root().send(None)
@add
def hot():
    g, n = gate, 1
    quiet = lambda a, b: None
    calls = [len] * 99 + [read]
    values = [([],)] * 99 + [(g, n)]
    for i in range(100):
        f, a = calls[i], values[i]
        if f is read: say(1, 'call_unpacked', [f, a], [(None, 100, 0)])
        f(*a)
@add
def hot_call():
    def inner(f, a, b): return f(a, b)
    for i in range(100): inner(divmod, 7, i + 1)
    say(1, 'call', [inner, read, gate, 1], taken=int(V > (3, 10)))
    inner(read, gate, 1)
@add
def arguments():
    def inner(p, q, *r, k=1, **z):
        say(1, 'call', [read, p, q]); read(p, q)
    inner(gate, 1, A, B, k=C, z=D)
@add
def cells():
    def inner(p, q):
        f = lambda: q
        say(1, 'call', [read, p, 1]); read(p, 1)
        return f
    inner(gate, 1)
@add
def wide():
    space = dict(globals())
    exec('def wide_inner(g, n):\n' + ''.join('  v%d = n\n' % i for i in range(400)) +
         '  for x in range(3):\n    if x == 1:\n      say(1, "call", [read, g, n], [(None, 2, 1)])\n'
         '      v399 = [g, n, read(g, n)]\nwide_inner(gate, 1)', space)
def run(f):
    case.name = f.__name__
    f()
for f in cases:
    t = threading.Thread(target=run, args=(f,)); t.daemon = True; t.start()
case.name = 'main'
os.write(1, b'READY %d\n' % (len(cases) + 1))
say(1, 'call', [read, gate, keep]); read(gate, keep)
