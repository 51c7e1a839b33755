from __future__ import annotations

from textwrap import indent

import pytest

from gym_codefix.catalog.edit_scope import classify_edit

_HEADER = "import os\nimport sys\nimport re\nimport shutil\nfrom .util import helper\nCACHE = {}\n"


def _effects(body: str, before: str = "pass", signature: str = "self, x, y=None") -> bool:
    def module(text: str) -> str:
        return f"{_HEADER}def f({signature}):\n" + indent(text, "    ") + "\n"

    scope = classify_edit(module(before), module(body))
    assert scope.body_only, scope.reason
    return scope.global_effects


@pytest.mark.parametrize(
    "body",
    [
        "global CACHE\nCACHE = 1",
        "def g():\n    global CACHE\n    CACHE = 1\ng()",
        "CACHE[x] = 1",
        "CACHE[x] += 1",
        "CACHE.size = 1",
        "del CACHE[x]",
        "del CACHE.size",
        "for CACHE[0] in x: pass",
        "with x as CACHE[0]: pass",
        "CACHE[0]: int = 1",
        "(CACHE.a, y) = x",
        "CACHE.update(x)",
        "CACHE.inner[0].append(x)",
        "CACHE.get(x).append(1)",
        "CACHE.setdefault(x, []).append(1)",
        "cache = CACHE\ncache[x] = 1",
        "a = CACHE\nb = a.b\nb.append(1)",
        "b = None\nwhile x:\n    b.append(1)\n    b = a\n    a = CACHE",
        "for item in CACHE.values():\n    item.clear()",
        "[item.clear() for item in CACHE]",
        "item = y or CACHE\nitem.append(1)",
        "if (c := CACHE[x]): c.append(1)",
        "c = CACHE\nc += x",
        "c = getattr(CACHE, 'x')\nc.append(1)",
        "def g():\n    CACHE.append(1)\nreturn g",
        "def g():\n    CACHE = []\nCACHE.append(1)",
        "return lambda: CACHE.append(1)",
        "[CACHE for CACHE in x]\nCACHE.append(1)",
        "os.environ['A'] = '1'",
        "os.environ.update(x)",
        "os.environ.setdefault('A', '1')",
        "sys.path.insert(0, x)",
        "sys.stdout = x",
        "setattr(x, 'y', 1)",
        "delattr(x, 'y')",
        "write = setattr\nwrite(x, 'y', 1)",
        "CACHE.__ior__({'a': 1})",
        "put = CACHE.update\nput(x)",
        "[*map(CACHE.append, x)]",
        "import operator\noperator.setitem(CACHE, x, 1)",
        "exec(x)",
        "eval(x)",
        "globals()['x'] = 1",
        "__import__('x')",
        "object.__setattr__(x, 'y', 1)",
        "import json",
        "from json import loads as f2",
        "import json as os\nos.environ = 1",
        "type(self).count = 1",
        "self.__class__.count += 1",
        "get_registry().append(x)",
        "get_registry().entries[x] = 1",
        "next(CACHE)",
        "shutil.move(x, y)",
        "helper(x)",
        "helper.inner(x)",
    ],
)
def test_effects(body: str) -> None:
    assert _effects(body)


@pytest.mark.parametrize(
    "body",
    [
        "return x + 1",
        "x.append(1)",
        "self.items.append(x)",
        "self.count += 1",
        "self.table[x] = y",
        "out = []\nout.append(x)\nout[0] = 1\nout += [2]\nreturn out",
        "out = dict(CACHE)\nout.update(x)",
        "out = build(x)\nout.append(1)",
        "for row in x:\n    row.clear()",
        "with open(x) as stream:\n    stream.mode = 1",
        "try: pass\nexcept ValueError as error:\n    error.notes = [1]",
        "def g():\n    nonlocal x\n    x = 2\n    x.append(1)\ng()",
        "class C:\n    def m(self): self.a = 1\nC.b = 1",
        "return [a.pop() for a in x]",
        "super().update(x)",
        "return CACHE[x]",
        "return CACHE.get(x)",
        "return set(x) | {1}",
        "return next(iter(x))",
        "match x:\n    case [a, *rest]:\n        rest.append(a)",
        "return re.sub('a', 'b', x)",
        "raise util.SomeError(x)",
    ],
)
def test_no_effects(body: str) -> None:
    assert not _effects(body)


@pytest.mark.parametrize("signature", ["self, x, y={}", "cls, x", "self, x, *, y=CACHE"])
def test_parameters_that_are_shared(signature: str) -> None:
    name = "cls" if "cls" in signature else "y"
    assert _effects(f"{name}.entry = 1", signature=signature)


def test_a_changed_or_removed_write_counts() -> None:
    assert _effects("CACHE[x] = 2", before="CACHE[x] = 1")
    assert _effects("value = 2\nCACHE[x] = value", before="value = 1\nCACHE[x] = value")
    assert _effects("pass", before="CACHE.clear()")


def test_old_imports_and_calls_do_not_count() -> None:
    assert not _effects("import json\nreturn 2", before="import json\nreturn 1")
    assert not _effects("return helper(x) + 1", before="return helper(x)")
    assert _effects("return helper(x) + shutil.which(x)", before="return helper(x)")
    assert _effects("import json\njson.x.load(x)\nimport glob", before="import json")


@pytest.mark.parametrize(
    "call", ["put(x)", "through(x)", "[*map(put, x)]", "later = put\nlater(x)"]
)
def test_a_new_call_of_a_function_that_writes_counts(call: str) -> None:
    module = (
        "CACHE = {}\ndef put(k):\n    CACHE[k] = 1\ndef through(k):\n    return put(k)\n"
        "def pure(k):\n    return k\ndef f(x):\n    return pure(x)\n"
    )
    body = indent(call, "    ").removeprefix("    ")
    after = module.replace("return pure(x)", f"{body}\n    return pure(x)")
    assert classify_edit(module, after).global_effects
    harmless = module.replace("return pure(x)", "return pure(pure(x))")
    assert not classify_edit(module, harmless).global_effects
    assert not classify_edit(after, after.replace("return pure(x)", "return x")).global_effects


def test_a_star_import_may_bring_any_name() -> None:
    before = "from .util import *\ndef f(x):\n    return 1\n"
    assert classify_edit(before, before.replace("1", "work(x)")).global_effects
    assert not classify_edit(before, before.replace("1", "len(x)")).global_effects


def test_one_function_with_effects_is_enough() -> None:
    before = "CACHE = []\ndef f(): return 1\ndef g(): return 1\n"
    after = "CACHE = []\ndef f(): return 2\ndef g(): return CACHE.pop()\n"
    assert classify_edit(before, after).global_effects
