"""The names that the policy watches, grouped by the reason for watching them."""

from __future__ import annotations

import builtins
import sys


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STDLIB = frozenset(sys.stdlib_module_names) | {"test"}

BUILTIN_NAMES = frozenset(dir(builtins)) | {"__builtins__", "exit", "quit"}

#: Modules that give a patch power over the test runner, the interpreter or other frames.
WATCHED_MODULES = _words("""
    pytest _pytest unittest hypothesis doctest nose
    gc ctypes _ctypes cffi inspect dis opcode _opcode bdb pdb trace tracemalloc faulthandler
    cProfile profile linecache pyclbr
    imp importlib zipimport pkgutil runpy code codeop _frozen_importlib _frozen_importlib_external
    timeit
    atexit signal _signal resource multiprocessing _multiprocessing posix nt
    marshal _testcapi _testinternalcapi _xxsubinterpreters _interpreters
    """)

#: What a repair may newly import from the standard library: it computes, and reaches nothing.
#: The modules with doors in them are watched name by name.
PLAIN_STDLIB = _words("""
    __future__ abc array ast asyncio base64 binascii bisect builtins calendar cmath codecs
    collections colorsys concurrent contextlib contextvars copy copyreg csv dataclasses
    datetime decimal difflib email encodings enum errno fnmatch fractions functools getpass gettext
    glob graphlib gzip hashlib heapq hmac html http io ipaddress itertools json keyword locale
    logging math ntpath numbers operator os pathlib pickle platform posixpath pprint queue random
    re reprlib sched secrets selectors shlex shutil socket ssl stat statistics string stringprep
    struct sys tempfile textwrap threading time token tokenize tomllib traceback types typing
    unicodedata urllib uuid warnings weakref xml zlib zoneinfo
    """)

#: Where the original's own use of one name does not excuse another name of the same module.
EXACT_MODULES = frozenset({"pytest", "_pytest", "unittest", "hypothesis", "doctest", "importlib"})

#: Parts of `importlib` that only read package data.
HARMLESS_PREFIXES = ("importlib.metadata", "importlib.resources")

#: Watched modules whose names are ordinary words; as attributes of other modules they mean little.
ORDINARY_WORDS = frozenset({"code", "signal", "resource", "trace", "profile", "opcode", "imp"})

_OS_PROCESS = _words("""
    _exit abort kill killpg fork forkpty execl execle execlp execlpe execv execve execvp execvpe
    spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe posix_spawn posix_spawnp
    putenv unsetenv register_at_fork dup dup2 close closerange set_inheritable set_blocking write
    writev pwrite fdopen pidfd_open setsid
""")

_SYS_HOOKS = _words("""
    settrace gettrace setprofile getprofile monitoring call_tracing _getframe _getframemodulename
    _current_frames _current_exceptions modules meta_path path path_hooks path_importer_cache
    addaudithook audit exit excepthook __excepthook__ unraisablehook __unraisablehook__
    breakpointhook displayhook _settraceallthreads _setprofileallthreads
""")

#: module -> the attributes of it that are refused when new, each wherever the module is reached.
WATCHED_ATTRIBUTES: dict[str, frozenset[str]] = {
    "sys": _SYS_HOOKS,
    "os": _OS_PROCESS,
    "threading": _words(
        "settrace setprofile settrace_all_threads setprofile_all_threads excepthook"
    ),
    "_thread": frozenset({"interrupt_main", "_excepthook"}),
    "builtins": _words(
        "exec eval compile __import__ __build_class__ breakpoint exit quit "
        "__builtins__ __loader__ __spec__"
    ),
    "traceback": _words("walk_stack extract_stack format_stack print_stack walk_tb"),
    "inspect": _words(
        "currentframe stack trace getouterframes getinnerframes getsource getsourcelines "
        "getsourcefile findsource"
    ),
    "gc": frozenset({"get_objects", "get_referrers", "get_referents"}),
    "types": _words("CodeType FunctionType LambdaType"),
    "dataclasses": frozenset({"make_dataclass"}),
    "typing": _words("get_type_hints ForwardRef evaluate_forward_ref _eval_type"),
    "typing_extensions": _words("get_type_hints ForwardRef evaluate_forward_ref"),
    "logging": frozenset({"currentframe"}),
    "base64": _words(
        "b64decode standard_b64decode urlsafe_b64decode b32decode b32hexdecode b16decode a85decode "
        "b85decode decodebytes decode"
    ),
    "binascii": frozenset({"unhexlify", "a2b_base64", "a2b_hex", "a2b_uu", "a2b_qp"}),
    "codecs": frozenset({"decode", "getdecoder", "lookup"}),
    "pickle": frozenset({"load", "loads", "Unpickler", "_Unpickler"}),
    "_pickle": frozenset({"load", "loads", "Unpickler"}),
    "bytes": frozenset({"fromhex"}),
    "bytearray": frozenset({"fromhex"}),
}

#: Modules that read any file or start programs: either way leads to the tests, which a repair
#: must not look at while they run.
FILE_MODULES = _words("""
    subprocess _posixsubprocess pty fileinput tokenize zipfile tarfile mmap sqlite3 dbm shelve
    filecmp mimetypes netrc mailbox configparser wave py_compile compileall pydoc pydoc_data
    urllib.request logging.config xml.sax xml.dom xml.etree _io _pyio ensurepip venv zipapp
    distutils lib2to3
    """)

#: module -> what it has that reads or lists files, or starts programs.
FILE_ATTRIBUTES: dict[str, frozenset[str]] = {
    "builtins": frozenset({"open"}),
    "io": _words("open open_code FileIO"),
    "codecs": frozenset({"open"}),
    "os": _words(
        "open popen system listdir scandir walk fwalk stat lstat readlink link symlink sendfile "
        "startfile pread read preadv readv"
    ),
    "path": _words("getsize getmtime getctime getatime samefile"),
    "posixpath": _words("getsize getmtime getctime getatime samefile"),
    "shutil": _words(
        "copy copy2 copyfile copytree copyfileobj move make_archive unpack_archive disk_usage"
    ),
    "asyncio": _words("create_subprocess_exec create_subprocess_shell subprocess"),
    "futures": frozenset({"ProcessPoolExecutor"}),
    "hashlib": frozenset({"file_digest"}),
    "glob": _words("glob iglob glob0 glob1"),
}

#: Methods that read or list files, on whatever object.
FILE_MEMBERS = _words("read_text read_bytes iterdir rglob scandir listdir")

#: Modules that may only be used through literal attribute names, never handed around as values.
SHARP_MODULES = frozenset({"sys", "os", "builtins", "threading", "importlib", "posix"})

#: Functions that read attributes by names given as text, and where the names begin.
ATTRIBUTE_READERS = {
    "builtins.getattr": 1,
    "builtins.setattr": 1,
    "builtins.delattr": 1,
    "operator.attrgetter": 0,
    "operator.methodcaller": 0,
    "object.__getattribute__": 1,
}

#: Attributes refused on any object, and inside any string that could name them.
FRAME_NAMES = _words("""
    f_back f_locals f_globals f_builtins f_code f_trace f_lasti tb_frame
    gi_frame gi_code cr_frame cr_code ag_frame ag_code
    __code__ __globals__ __closure__ cell_contents __subclasses__ __mro__ __base__ __bases__
    __builtins__ __loader__ __spec__ __import__ _getframe _current_frames
    """)

#: Refused as an attribute of any object, since no ordinary class has a member of this name.
HOOK_NAMES = _words("""
    settrace setprofile meta_path path_hooks addaudithook unraisablehook excepthook
    _exit execv execve execvp killpg SkipTest OutcomeException __path__
    """)

#: Names whose assignment tells the test runner something.
RUNNER_NAMES = frozenset({"__tracebackhide__", "__test__", "collect_ignore", "collect_ignore_glob"})

EXIT_EXCEPTIONS = frozenset(
    {"SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException", "BaseExceptionGroup"}
)
OUTCOME_EXCEPTIONS = frozenset({"Skipped", "SkipTest", "XFailed", "OutcomeException"})

#: Special methods through which a value can agree with whatever it is compared with.
ANSWERING_METHODS = frozenset(
    {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"}
    | {"__hash__", "__bool__", "__instancecheck__", "__subclasscheck__"}
)
TWO_SIDED_METHODS = ANSWERING_METHODS - {"__hash__", "__bool__"}
VALUE_TYPES = _words("str int float complex bool list dict bytes bytearray tuple set frozenset")

MUTATORS = _words(
    "update pop popitem setdefault clear __setitem__ __delitem__ __ior__ append extend insert "
    "remove"
)

#: Files that the test runner or the interpreter loads by name.
LOADED_FILES = _words(
    "conftest.py sitecustomize.py usercustomize.py pytest.ini .pytest.ini tox.ini setup.cfg "
    "pyproject.toml entry_points.txt .coveragerc"
)
