"""What each family makes of small examples: the whole set of replacements, as text."""

from __future__ import annotations

import textwrap

import pytest

from gym_codefix.grading.mutation import OPERATORS, apply_mutation, enumerate_mutations

# family, the body of a function, every body that the family makes of it
EXPRESSIONS: list[tuple[str, str, set[str]]] = [
    ("number", "return 5", {"return 6", "return 4", "return 0", "return 1", "return -5"}),
    ("number", "return 0", {"return 1", "return -1"}),
    ("number", "return x - 1", {"return x - 2", "return x - 0", "return x - (-1)"}),
    (
        "number",
        "return 2 ** x",
        {"return 3 ** x", "return 1 ** x", "return 0 ** x", "return (-2) ** x"},
    ),
    (
        "number",
        "return 0xFF",
        {"return 0x100", "return 0xfe", "return 0x0", "return 0x1"} | {"return -0xff"},
    ),
    ("number", "return 1.5", {f"return {n}" for n in ("2.5", "0.5", "0.0", "1.0", "-1.5")}),
    ("number", "return 2j", {f"return {n}" for n in ("3.0j", "1.0j", "0.0j", "-2.0j")}),
    ("number", "return 1e999", {"return 0.0", "return 1.0"}),
    ("string", 'return "ab"', {'return ""', 'return "ab_"', 'return "AB"'}),
    ("string", "return ''", {"return '_'"}),
    ("string", r'return r"\d"', {'return r""', r'return r"\d_"'}),
    ("string", "return '''a\nb'''", {"return ''''''", "return '''a\nb_'''", "return '''A\nB'''"}),
    ("string", "return b'1'", {"return b''", "return b'1_'"}),
    (
        "string",
        "return 'a' 'b'",
        {f"return {s}" for s in ("'' 'b'", "'a_' 'b'", "'A' 'b'")}
        | {f"return {s}" for s in ("'a' ''", "'a' 'b_'", "'a' 'B'")},
    ),
    (
        "string",
        "return f'é{x:>3}'",
        {"return f'{x:>3}'", "return f'é_{x:>3}'", "return f'É{x:>3}'"},
    ),
    ("constant", "return True", {"return False"}),
    ("constant", "return x is None", {"return x is False", "return x is True"}),
    ("constant", "raise x from None", set()),
    ("relational", "return x < y", {f"return x {o} y" for o in ("<=", ">", ">=")}),
    ("relational", "return x<y", {f"return x{o}y" for o in ("<=", ">", ">=")}),
    ("relational", "return x == y", {"return x != y"}),
    ("relational", "return x  not  in y", {"return x  in y"}),
    ("relational", "return(x)is(y)", {"return(x)is not(y)"}),
    (
        "relational",
        "return x<y is z",
        {f"return x{o}y is z" for o in ("<=", ">", ">=")} | {"return x<y is not z"},
    ),
    ("logical", "return x and y or z", {"return x or y or z", "return x and y and z"}),
    ("logical", "return (x)or(y)", {"return (x)and(y)"}),
    ("arithmetic", "return x + y", {"return x - y"}),
    ("arithmetic", "return x ** y @ z", {"return x * y @ z", "return x ** y * z"}),
    ("arithmetic", "return x % y", {"return x // y", "return x * y"}),
    ("arithmetic", "return 'a' + x", set()),
    ("bitwise", "return x & y", {"return x | y", "return x ^ y"}),
    ("bitwise", "return x << y", {"return x >> y"}),
    ("unary", "return not x", {"return x"}),
    ("unary", "return not(x)", {"return (x)"}),
    ("unary", "return-x", {"return x"}),
    ("unary", "return ~x", {"return x"}),
    ("unary", "return (not\n        x)", {"return (x)"}),
    ("augmented", "x += y", {"x -= y", "x = y"}),
    ("augmented", "x >>= y", {"x <<= y", "x = y"}),
    ("augmented", "x += 'a'", {"x = 'a'"}),
    ("negate-condition", "return y if x else z", {"return y if not x else z"}),
    ("negate-condition", "assert x + y, z", {"assert not (x + y), z"}),
    ("negate-condition", "while(x):\n    y()", {"while(not x):\n    y()"}),
    (
        "negate-condition",
        "return [x for x in y if x in z]",
        {"return [x for x in y if x not in z]"},
    ),
    ("negate-condition", "return x if x < y < z else y", {"return x if not (x < y < z) else y"}),
    ("negate-condition", "if x := y:\n    z()", {"if not (x := y):\n    z()"}),
    ("negate-condition", "if (x or\n    y): z()", {"if (not (x or\n    y)): z()"}),
    ("negate-condition", "if not x: y()", set()),
    ("negate-condition", "match x:\n    case 1 if y: z()", {"match x:\n    case 1 if not y: z()"}),
    (
        "comprehension-filter",
        "return [x for x in y if x if z]",
        {"return [x for x in y if z]", "return [x for x in y if x]"},
    ),
    ("comprehension-filter", "return {x for x in(y)if(x)}", {"return {x for x in(y)}"}),
    (
        "comprehension-filter",
        "return [x for x in y  # if any\n    if x\n]",
        {"return [x for x in y  # if any\n    \n]"},
    ),
    ("comprehension-filter", "return [x for x in y\n    if x]", {"return [x for x in y]"}),
    ("remove-branch", "if x: y()", {"pass"}),
    ("remove-branch", "z()\nif x:\n    y()  # why\n\n", {"z()\n\n"}),
    ("remove-branch", "if x:\n    y()\nelse:\n    z()", {"if x:\n    y()\n"}),
    (
        "remove-branch",
        "if x:\n    y()\nelif z:\n    x()\n# then\nelse:\n    z()",
        {
            "if z:\n    x()\n# then\nelse:\n    z()",
            "if x:\n    y()\n# then\nelse:\n    z()",
            "if x:\n    y()\nelif z:\n    x()\n# then\n",
        },
    ),
    ("delete-statement", "x()", {"pass"}),
    ("delete-statement", "x(); y()", {"pass; y()", "x(); pass"}),
    ("delete-statement", "x(\n    1,\n)  # why\nreturn y", {"return y"}),
    ("delete-statement", "if x: await_(y)", {"if x: pass"}),
    ("delete-statement", "x.a = x[y] = z; z = y", {"pass; z = y"}),
    ("delete-statement", "x.a: int = 1\ny: int = 2", {"y: int = 2"}),
    ("delete-statement", "x = y.a = z", set()),
    ("delete-statement", "y = x\ny += 1\n", {"y = x\n"}),
    ("delete-statement", "if x:\n    raise y", {"if x:\n    pass"}),
    ("return-value", "return x.y", {"return None"}),
    ("return-value", "return x, y", {"return None"}),
    ("return-value", "return None", set()),
    ("return-value", "return True", {"return None", "return False"}),
    ("return-value", "return 7", {"return None", "return 8"}),
    ("return-value", "return x and y", {"return None", "return not (x and y)"}),
    ("return-value", "return not (x)", {"return None", "return (x)"}),
    ("return-value", "return x in y", {"return None", "return x not in y"}),
    ("loop-control", "while x:\n    break", {"while x:\n    continue"}),
    (
        "loop-control",
        "for x in y:\n    if x: continue\n    z()",
        {"for x in y:\n    if x: break\n    z()"},
    ),
    ("exception-type", "raise ValueError(x)", {"raise TypeError(x)", "raise KeyError(x)"}),
    ("exception-type", "raise StopIteration", {"raise IndexError"}),
    ("exception-type", "raise x.Odd", set()),
    ("exception-type", "try: x()\nexcept KeyError: y()", {"try: x()\nexcept LookupError: y()"}),
    (
        "exception-type",
        "try: x()\nexcept x.Odd as e: y()",
        {"try: x()\nexcept Exception as e: y()"},
    ),
    (
        "exception-type",
        "try: x()\nexcept Exception: y()",
        {"try: x()\nexcept ValueError: y()", "try: x()\nexcept TypeError: y()"},
    ),
    (
        "exception-type",
        "try: x()\nexcept (A, B): y()",
        {"try: x()\nexcept B: y()", "try: x()\nexcept A: y()"},
    ),
    (
        "exception-type",
        "try: x()\nexcept* (A, B, C): y()",
        {f"try: x()\nexcept* ({pair}): y()" for pair in ("B, C", "A, C", "A, B")},
    ),
    ("slice", "return x[0]", {"return x[1]", "return x[-1]"}),
    ("slice", "return x[-1]", {"return x[0]", "return x[-2]"}),
    ("slice", "return x[i]", {"return x[i + 1]", "return x[i - 1]"}),
    ("slice", "return x[key], x['a' + y]", set()),
    (
        "slice",
        "return x[1:y or z]",
        {
            f"return x[{inside}]"
            for inside in (
                "2:y or z",
                "0:y or z",
                ":y or z",
                "1:(y or z) + 1",
                "1:(y or z) - 1",
                "1:",
            )
        },
    ),
    ("slice", "return x[::2]", {"return x[:]"}),
    ("slice", "return x[(y):]", {"return x[(y + 1):]", "return x[(y - 1):]", "return x[:]"}),
    ("call-argument", "x(y, z)", {"x(z, y)"}),
    ("call-argument", "x(y, *z, y)", set()),
    ("call-argument", "x(a=y, b=z)", {"x(b=z)", "x(a=y)"}),
    ("call-argument", "x(a=y,)", {"x()"}),
    ("call-argument", "x(y, a=z,)", {"x(y,)"}),
    ("call-argument", "x(y,  # one\n  a=z, **y)", {"x(y,  # one\n  **y)"}),
    ("call-argument", "x(y,  # one\n  z)", {"x(z,  # one\n  y)"}),
]


@pytest.mark.parametrize(("family", "body", "expected"), EXPRESSIONS)
def test_a_family_makes_exactly_these_of(family: str, body: str, expected: set[str]) -> None:
    source = in_function(body)
    mutants = [
        apply_mutation(source, each) for each in enumerate_mutations(source, families={family})
    ]
    assert sorted(map(squeeze, mutants)) == sorted(squeeze(in_function(each)) for each in expected)


def in_function(body: str) -> str:
    return "def f(x, y, z):\n" + textwrap.indent(body, "    ", lambda line: True)


def squeeze(text: str) -> str:
    """Blanks at the ends of lines come from the indentation of the example, not of the mutant."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()


def test_every_family_has_an_example() -> None:
    assert {family for family, _, _ in EXPRESSIONS} == set(OPERATORS)
    assert all(OPERATORS.values())
