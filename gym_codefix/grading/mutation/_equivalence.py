"""Which mutants compile, and to code that is new.

A function is compiled without the rest of its file. A mutation inside it changes the module's
bytecode exactly where it changes the function's, so nothing is lost but time.
"""

from __future__ import annotations
import __future__

from types import CodeType

from gym_codefix.catalog.syntax import quiet_compiler

from ._text import Edit, SourceText, splice
from ._tree import Scope

_FUTURE_FLAGS = [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]


def compile_text(text: str, flags: int) -> CodeType | None:
    """The code of a file, None when it does not compile. Call it under `quiet_compiler`."""
    try:
        return _compile(text, flags)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return None


def future_flags(text: str) -> int:
    """The compiler flags of the future imports of a file.

    Raises:
        ValueError: this Python does not compile the file; the message names the line.
    """
    try:
        with quiet_compiler():
            code = _compile(text, 0)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno or 1}: {error.msg}") from error
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"line 1: {error}") from error
    return sum(flag for flag in set(_FUTURE_FLAGS) if code.co_flags & flag)


def _compile(text: str, flags: int) -> CodeType:
    code: CodeType = compile(text, "<mutant>", "exec", flags=flags, dont_inherit=True, optimize=0)
    return code


def without_lines(code: CodeType) -> CodeType:
    """The same code, nested code included, with no trace of where its source stands."""
    constants = tuple(
        without_lines(each) if isinstance(each, CodeType) else each for each in code.co_consts
    )
    return code.replace(co_consts=constants, co_linetable=b"", co_firstlineno=1)


class Novelty:
    """Tells, for the mutants of one outermost function, which are worth having."""

    def __init__(self, source: SourceText, scope: Scope, flags: int) -> None:
        self._flags = flags
        self._prefix = _headers(source, scope)
        self._start = source.line_start(scope.span[0])
        self._text = source.text[self._start : source.next_line(scope.span[1])]
        original = compile_text(self._prefix + self._text, flags)
        if original is None:
            # Its surroundings matter in a way that the headers do not show: compile all of it.
            self._prefix, self._start, self._text = "", 0, source.text
            original = compile_text(self._text, flags)
        self._seen = {without_lines(original)} if original is not None else set()

    def admits(self, edit: Edit) -> bool:
        """Whether an edit leaves code that compiles and was not seen before, which it now is."""
        moved = Edit(edit.start - self._start, edit.end - self._start, edit.text)
        code = compile_text(self._prefix + splice(self._text, [moved]), self._flags)
        if code is None:
            return False
        key = without_lines(code)
        # Code objects compare by their instructions, names and typed constants.
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


def _headers(source: SourceText, scope: Scope) -> str:
    """The lines that a function needs before it, its classes.

    The class names mangle private names and give `super()` its cell.
    """
    blocks = [(_indent(source, offset), f"class {name}:") for offset, name in scope.classes]
    blocks.append((_indent(source, scope.span[0]), ""))
    lines = ["if 1:"] if blocks[0][0] else []
    lines.extend(indent + header for indent, header in blocks[:-1])
    return "".join(line + "\n" for line in lines)


def _indent(source: SourceText, offset: int) -> str:
    return source.text[source.line_start(offset) : offset]
