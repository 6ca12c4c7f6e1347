"""Scripts as models write them; what they print is what CPython prints, but where tools have a part."""

from __future__ import annotations

from typing import Final

SCRIPTS: Final[dict[str, str]] = {
    "strmeth": """\
print("a,b".split(","), " x ".strip().upper().center(7,"*"), "abc"[::-1], "x".join(map(str,range(3))))
""",
    "sort": """\
d={"a":3,"b":1}
print(sorted(d.items(), key=lambda kv:(-kv[1],kv[0])))
for i,(k,v) in enumerate(sorted(d.items()),1):
    print(f"{i:>2}. {k:<5}|{v:^5}|{v/3:.2%} {v!r:>4}")
""",
    "dc": """\
from dataclasses import dataclass, field, asdict
@dataclass(order=True)
class P:
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list, compare=False)
    def __post_init__(self):
        self.s = self.x+self.y
p=P(1); p.tags.append("a"); print(p, asdict(p), P(1)<P(2), p.s, p==P(1,2))
""",
    "dcfrozen": """\
from dataclasses import dataclass, replace, FrozenInstanceError
@dataclass(frozen=True)
class P:
    x: "int"
p=P(1)
try:
    p.x=3
except FrozenInstanceError as e:
    print("frozen", e)
print(replace(p,x=5), hash(p)==hash(P(1)))
""",
    "enum": """\
from enum import Enum, auto, IntEnum, Flag
class C(Enum):
    RED = auto()
    BLUE = "b"
    @property
    def nice(self): return self.name.title()
print(C.RED, C("b"), [c.name for c in C], C["RED"].value, C.BLUE.nice, C.RED is C.RED, len(C), repr(C.RED))
class L(IntEnum):
    LOW=1
    HIGH=2
print(L.HIGH>L.LOW, int(L.LOW), L(2).name, C.__members__)
class F(Flag):
    A=1
    B=2
print(F.A|F.B)
""",
    "nt": """\
from typing import NamedTuple
from collections import namedtuple
class Q(NamedTuple):
    a: int
    b: str = "z"
q=Q(1)
print(q, q.a, q._asdict(), q._replace(a=2))
R=namedtuple("R","x y")
r=R(1,2)
x,y=r
print(r,r.x,x,y,R._fields)
""",
    "dd": """\
from collections import defaultdict, Counter, deque, OrderedDict
d=defaultdict(list)
for w in "a b a".split(): d[w].append(1)
d2=defaultdict(lambda: defaultdict(int))
d2["x"]["y"]+=1
c=Counter("hello")
c["z"]+=2
c.update(a=1)
print(dict(d), c.most_common(1), d2["x"]["y"], sum(c.values()))
q=deque([1,2],maxlen=2); q.append(3); print(q, list(q))
""",
    "re": """\
import re
m=re.search(r"(?P<k>\\w+)=(\\d+)","ab=12")
print(m.group("k"), m[2], m.groups(), m.groupdict(), m.start(), re.sub(r"\\d", lambda m: str(int(m.group())+1), "a1b2"))
P=re.compile(r"x", re.I|re.M)
print(P.findall("xX"), P.pattern, [m.span() for m in P.finditer("axX")])
""",
    "json": """\
import json
s=json.dumps({"b":[1,2.5,None,True],"a":"é"}, indent=2, sort_keys=True, ensure_ascii=False)
print(s)
print(json.loads(s)["b"][1])
try:
    json.loads("{x")
except json.JSONDecodeError as e:
    print("bad", e.msg, e.pos)
class E(json.JSONEncoder):
    def default(self,o):
        if isinstance(o,set): return sorted(o)
        return super().default(o)
print(json.dumps({"s":{3,1}}, cls=E))
""",
    "csv": """\
import csv, io
f=io.StringIO("a,b\\n1,2\\n3,4\\n")
rows=list(csv.DictReader(f))
print(rows, rows[0]["a"])
o=io.StringIO()
w=csv.writer(o); w.writerow([1,"x,y"]); w.writerows([[2,3]])
print(repr(o.getvalue()))
print("hi", file=o); print(o.getvalue().count("hi"))
""",
    "dt": """\
from datetime import datetime, timedelta, date, timezone
d=datetime.strptime("2024-02-29 10:00","%Y-%m-%d %H:%M")
print(d+timedelta(days=1), d.isoformat(), d.strftime("%A %d %B"), (date(2024,3,1)-d.date()).days, d.replace(tzinfo=timezone.utc).timestamp())
import datetime as dt
print(dt.datetime(2020,1,1) < dt.datetime.now(), dt.datetime.fromisoformat("2020-01-01").year)
""",
    "gen": """\
def g(n):
    a,b=0,1
    while n>0:
        yield a
        a,b=b,a+b
        n-=1
print(list(g(7)), sum(x for x in g(5)), next(g(1)))
def h():
    r = yield from g(3)
    return 5
print(list(h()))
gg=g(3)
for x in gg:
    print(x, end=" ")
print()
""",
    "closure": """\
def counter():
    n=0
    def inc(by=1):
        nonlocal n
        n+=by
        return n
    return inc
c=counter(); c(); print(c(3))
total=0
def add(x):
    global total
    total+=x
add(2); add(3); print(total)
def add2(x):
    nonlocal_ = 1
    return nonlocal_+x
print(add2(1))
""",
    "cls": """\
class A:
    count = 0
    _reg = {}
    def __init__(self, x):
        self._x = x
        self.__y = 2
        A.count += 1
        type(self).count += 1
        self._reg[x]=self
    @property
    def x(self): return self._x
    @x.setter
    def x(self, v):
        if v<0: raise ValueError("neg")
        self._x=v
    @classmethod
    def make(cls, x): return cls(x)
    @staticmethod
    def hello(): return "hi"
    def __repr__(self): return f"{self.__class__.__name__}({self._x!r}, {self.__y})"
    def __eq__(self,o): return isinstance(o,A) and self._x==o._x
    def __hash__(self): return hash(self._x)
    def __lt__(self,o): return self._x<o._x
class B(A):
    def __init__(self,x,z):
        super().__init__(x)
        self.z=z
    def __len__(self): return 3
a=A.make(1); b=B(2,3)
a.x=5
print(a,b,A.count,a==A(5),sorted([b,a,A(3)]),len(b),A.hello(),b.z,type(b).__name__, {a:1}[A(5)], isinstance(b,A), hasattr(b,"z"), getattr(b,"q",None))
try:
    a.x=-1
except ValueError as e:
    print("err",e)
""",
    "cm": """\
from contextlib import contextmanager, suppress
@contextmanager
def tag(n):
    print("<"+n+">")
    try:
        yield n.upper()
    finally:
        print("</"+n+">")
with tag("a") as t, suppress(KeyError):
    print(t)
    {}["x"]
class R:
    def __enter__(self): print("in"); return self
    def __exit__(self, *e): print("out", e[0].__name__ if e[0] else None); return True
with R():
    raise ValueError("x")
""",
    "async": """\
import asyncio
async def one(i):
    await asyncio.sleep(0.01*(3-i))
    return i*i
async def main():
    rs = await asyncio.gather(*[one(i) for i in range(3)])
    print(rs)
    done=[]
    for f in asyncio.as_completed([one(i) for i in range(3)]):
        done.append(await f)
    print(done)
    async with asyncio.TaskGroup() as tg:
        ts=[tg.create_task(one(i)) for i in range(2)]
    print([t.result() for t in ts])
    sem=asyncio.Semaphore(2)
    async def lim(i):
        async with sem:
            return await one(i)
    print(await asyncio.gather(*(lim(i) for i in range(3))))
    try:
        await asyncio.wait_for(asyncio.sleep(5), timeout=0.01)
    except asyncio.TimeoutError:
        print("timeout")
    t=asyncio.create_task(one(1))
    print(await t)
    r = await asyncio.gather(one(1), bad(), return_exceptions=True)
    print([x if isinstance(x,int) else type(x).__name__ for x in r])
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(3)
    except TimeoutError:
        print("timeout2")
    await asyncio.sleep(0)
    print("end")
async def bad():
    raise ValueError("boo")
if __name__ == "__main__":
    asyncio.run(main())
""",
    "match": """\
def f(x):
    match x:
        case 0: return "zero"
        case [a,b,*rest]: return f"list {a} {b} {rest}"
        case {"type":"a", **kw}: return f"map {kw}"
        case str() as s if len(s)>2: return f"str {s}"
        case P(x=0,y=yy): return f"P {yy}"
        case None|False: return "none"
        case _: return "other"
class P:
    def __init__(s,x,y): s.x=x; s.y=y
print([f(v) for v in (0,[1,2,3],{"type":"a","z":1},"abc",P(0,4),None,5.5)])
""",
    "exc": """\
class MyErr(Exception):
    def __init__(self,code,msg="m"):
        super().__init__(msg)
        self.code=code
try:
    try:
        raise MyErr(3)
    except MyErr as e:
        raise RuntimeError("outer") from e
except RuntimeError as e:
    print(e, e.__cause__.code, type(e.__cause__).__name__, e.args)
finally:
    print("fin")
try:
    int("x")
except (ValueError, TypeError) as e:
    print(f"{type(e).__name__}: {e}")
else:
    print("no")
import traceback
try:
    1/0
except Exception:
    print(traceback.format_exc().strip().split("\\n")[-1])
""",
    "walrus": """\
data=[1,2,3,4]
if (n:=len(data))>3: print(n)
print([y for x in data if (y:=x*2)>4], y)
while (x:=data.pop())>2: print(x)
""",
    "star": """\
a,*b,c=range(5); print(a,b,c)
def f(*args, k=1, **kw): return args,k,kw
print(f(1,*[2,3],k=4,**{"z":5}))
print([*b,*"xy"],{**{"a":1},"b":2})
(p,q),r=(1,2),3
print(p,q,r)
m=[[0]*3 for _ in range(2)]
m[1][2]+=5
print(m)
""",
    "typing": """\
from typing import List, Dict, Optional, Any, Callable, TypedDict, Union
Row = Dict[str, Any]
def f(x: Optional[int]=None, *, cb: Callable[[int],int]|None=None) -> List[Row]:
    y: int = 3
    return [{"x":x,"y":y}]
class TD(TypedDict, total=False):
    a: int
t: TD = {"a":1}
print(f(2), t)
""",
    "fmt": """\
print("{:>5}|{:<4}|{:^6}".format(1,2,3), "{a} {b[0]} {c.real}".format(a=1,b=[9],c=3), "%s %05.2f %-4d|" % ("x",3.14159,7), format(1234567.891,",.1f"), f"{1e6:,.0f} {0.5:%} {255:#x} {'a':>3} {3:03d} {[1,2]!r:>10}", "{0}{1}{0}".format("a","b"), "{:{w}}|".format("x",w=4))
print(f"{1+1=}")
""",
    "builtins": """\
print(abs(-1), all([1,0]), any([0,1]), bin(5), divmod(7,2), max([3,1],key=lambda v:-v), min(2,1), round(2.567,1), sum([1,2],10), list(zip("ab",[1,2])), list(reversed([1,2])), sorted("bca",reverse=True), pow(2,10,7), hex(255), oct(8), chr(65), ord("a"), isinstance(1,(int,str)), callable(len), list(filter(None,[0,1,2])), list(map(lambda a,b:a+b,[1],[2])), hash("a")==hash("a"), set([1,1]), frozenset({1}), bytes([65]).decode(), "é".encode(), int("ff",16), float("1e3"), complex(1,2), slice(1,2), repr("x"), ascii("é"), type(1).__name__, type([])==list, next(iter([1])), str(b"a","ascii"), bytearray(b"ab")[0], len(range(0,10,3)), list(enumerate("ab",1)), tuple([1]), dict(a=1,**{"b":2}), bool([]), id(1)==id(1))
""",
    "str": """\
s="Hello World"
print(s.lower().count("o"), s.replace("o","0"), s.find("W"), s.partition(" "), s.startswith(("He","x")), s.isalpha(), s.title(), s.zfill(15), s.encode().hex(), "a\\tb".expandtabs(4), "x=1;y=2".split(";"), s.splitlines(), "".join(reversed(s)), s.translate(str.maketrans("lo","01")), s.casefold(), s.rsplit("o",1), s.removeprefix("He"))
""",
    "abc": """\
from abc import ABC, abstractmethod
class S(ABC):
    @abstractmethod
    def area(self): ...
    @property
    @abstractmethod
    def n(self): ...
class C(S):
    n = 3
    def area(self): return 5
print(C().area())
try:
    S()
except TypeError as e:
    print("abstract" in str(e))
""",
    "iter": """\
class R:
    def __init__(self,n): self.n=n
    def __iter__(self):
        i=0
        while i<self.n:
            yield i; i+=1
    def __getitem__(self,i): return i*10
    def __setitem__(self,i,v): print("set",i,v)
    def __contains__(self,x): return x==5
    def __call__(self,*a): return a
    def __add__(self,o): return R(self.n+o.n)
    __radd__ = __add__
    def __bool__(self): return self.n>0
    def __str__(self): return f"R{self.n}"
r=R(3)
r[2]=5
print(list(r), r[4], 5 in r, r(1,2), str(r+R(1)), bool(R(0)), [*r], f"{r}")
""",
    "setmut": """\
s={1,2}; s.add(3); s|={4}; s-={1}
d={}; d.setdefault("a",[]).append(1); d["b"]=d.get("b",0)+1; del d["b"]; d.update({"c":3}); d|={"e":1}
l=[3,1,2]; l.sort(); l[0:1]=[9,8]; l.extend([5]); del l[-1]; l.insert(0,7); l[1],l[2]=l[2],l[1]
print(s,d,l, d.pop("c"), list(d.items()), {k:v for k,v in d.items()}, {x%3 for x in range(9)}, l.index(2))
""",
    "print": """\
print("a","b",sep="-",end="!\\n")
print()
print([1,"x"],{"k":None},(1,),1.0,True,flush=True)
print(*[1,2],sep="\\n")
""",
    "doc": """\
\"\"\"module doc\"\"\"
from __future__ import annotations
import json
VERSION = "1"
def main() -> None:
    \"\"\"doc\"\"\"
    print(json.dumps({"v": VERSION}))

if __name__ == "__main__":
    main()
""",
    "lambda": """\
fs=[lambda x,i=i: x+i for i in range(3)]
print([f(1) for f in fs], (lambda *a,**k:(a,k))(1,b=2))
ops={"+":lambda a,b:a+b}
print(ops["+"](1,2), sorted(["bb","a"],key=len))
""",
    "super2": """\
class A:
    def __init__(self): self.l=[]
    def add(self,x): self.l.append(x); return self
    def __str__(self): return "A"+str(self.l)
class B(A):
    def __str__(self): return "B:"+super().__str__()
    def add(self,x): return super().add(x*2)
print(B().add(1).add(2))
class D(dict):
    def __missing__(self,k): return k*2
    def __setitem__(self,k,v): super().__setitem__(k,v+1)
d=D(); d["a"]=1; print(d["a"], d["z"], d.a if hasattr(d,"a") else "no")
class E(Exception): pass
try: raise E("x",1)
except E as e: print(e.args, str(e))
""",
    "while": """\
n=0
while True:
    n+=1
    if n%2: continue
    if n>5: break
else:
    print("never")
for i in range(2):
    pass
else:
    print("done",n,i)
assert n==6, "bad"
try:
    assert False, "msg"
except AssertionError as e: print(e)
""",
    "global_in_if": """\
x = 1
if True:
    x = 2
    def show():
        return x
print(show())
with_ = 3
def outer():
    y = 1
    def inner():
        nonlocal y
        y += 1
        global x
        x = 10
    inner()
    return y
print(outer(), x)
""",
    "cprop": """\
from functools import cached_property, total_ordering
@total_ordering
class V:
    def __init__(self,n): self.n=n
    def __eq__(self,o): return self.n==o.n
    def __lt__(self,o): return self.n<o.n
    @cached_property
    def sq(self): print("once"); return self.n**2
v=V(3); print(v.sq, v.sq, v>=V(2), v!=V(3))
""",
    "slots": """\
class P:
    __slots__ = ("a","b")
    def __init__(self): self.a=1; self.b=2
p=P(); print(p.a+p.b)
""",
    "annot": """\
class C:
    x: int
    y: str = "a"
print(C.y, C.__annotations__)
""",
    "bytes": """\
b="héllo".encode("utf-8"); print(b, b[1], b[:2], list(b)[:2], b.decode(), int.from_bytes(b"\\x01\\x02","big"), (258).to_bytes(2,"big"))
""",
    "chained": """\
print(1<2<3, not True, 1 if [] else 2, None is None, 5//2, -7%3, 2**-1, 1_000, 0b11, 1e-3, "a" "b", r"\\n", b"x", ..., 3 in [1,2], "a"*3, [1]*2+[3], 7&3|8^1, ~5, 1<<3)
""",
}
