# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the command share. Each test case runs in a temporary folder of its own, without the profile of this
machine or its probe. JSON that a command prints or leaves must match a schema, except in files named wrong*.

Expected texts are literal, except that `...` matches anything within a line. Command lines are split as in a shell,
with the variables of the environment: SAMPLE (a manifest of images), MACHINES, SOURCE."""
import array
import ast
import atexit
import importlib.util
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SEXTANT, SOURCE, MPIRUN = os.environ["SEXTANT"], Path(os.environ["SOURCE"]), os.environ.get("MPIRUN", "").split()
PYTHON, HERE = "/usr/bin/python3", Path(__file__).resolve().parent
sys.path.insert(0, str(SOURCE / "scripts"))
import schemas

over_mpi = unittest.skipUnless(MPIRUN, "built without MPI")
types = {"|u1": "B", "|i1": "b", "<u2": "H", "<i2": "h", "<u4": "I", "<i4": "i", "<f4": "f", "<f8": "d", "<u8": "Q"}


def matches(text, printed):
    return re.search(re.escape(text).replace(r"\.\.\.", ".*"), printed) is not None


def words_of(line):
    return shlex.split(os.path.expandvars(line)) if isinstance(line, str) else list(map(str, line))


def start(line, processes=0, env=None, **options):
    """Starts `sextant LINE`, on processes of MPI if `processes` is given."""
    launcher = [*MPIRUN, "-n", str(processes)] if processes else []
    words = [word if word != ":" else [":", "-n", "1", SEXTANT] for word in words_of(line)]
    words = sum((word if isinstance(word, list) else [word] for word in words), [])
    return subprocess.Popen([*launcher, SEXTANT, *words], env={**os.environ, **(env or {})},
                            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})


def finish(process, *expected, code=0, limit=900):
    """Waits for a command, which must end with this code, and print these texts. Adds to the process: `out`, `err`, and
    `text`, which is both."""
    out, err = process.communicate(timeout=limit)
    process.out, process.err = ((text or b"").decode(errors="surrogateescape") for text in (out, err))
    process.text = process.out + process.err
    what = " ".join(map(str, process.args))[:300]
    if code is not None and process.returncode != code:
        raise AssertionError(f"{what}: exit code {process.returncode}, expected {code}\n{process.text[-3000:]}")
    for text in expected:
        if not matches(text, process.text):
            raise AssertionError(f"{what}: expected '{text}' in:\n{process.text[-3000:]}")
    return process


def sextant(line, *expected, code=0, processes=0, env=None, **options):
    done = finish(start(line, processes, env, **options), *expected, code=code)
    if done.out.startswith("{"):
        schemas.form_of(schemas.parse(done.out))
    return done


def facts(line, *expected, **options):
    """The JSON that a command prints with --json."""
    done = sextant([*words_of(line), "--json=-"], *expected, **options)
    schemas.form_of(schemas.parse(done.out))
    return json.loads(done.out)


def paths():
    return {os.path.join(folder, name) for folder, folders, files in os.walk(".") for name in folders + files}


def refuses(table, processes=0, lines=1, **options):
    """Each line is: the exit code, the text, <- and the command, which must print that many lines of errors, and leave
    nothing."""
    wrong = []
    for row in filter(None, map(str.strip, table.splitlines())):
        expected, line = f"{row} ".split(" <- ")
        code, text = expected.split(maxsplit=1)
        before = paths()
        try:
            done = sextant(line, text.strip(), code=int(code), processes=processes, **options)
            errors = [each for each in done.err.splitlines() if each.startswith("sextant: ")]
            assert not lines or len(errors) == lines, f"{line}: {len(errors)} lines, expected {lines}: {done.err}"
            assert not paths() - before, f"{line}: left {paths() - before}"
        except AssertionError as error:
            wrong.append(str(error))
    if wrong:
        raise AssertionError("\n".join(wrong))


def content(path):
    """The bytes of a file, or those of all files of a folder, by name."""
    path = Path(path)
    if not path.is_dir():
        return path.read_bytes()
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def same(first, *others, what=""):
    for other in others:
        one, two = content(first), content(other)
        if one != two:
            names = [name for name in {*one, *two} if one.get(name) != two.get(name)] if isinstance(one, dict) else ""
            raise AssertionError(f"{first} and {other} differ {names} {what}")


def npy(name, shape, data, kind="|u1"):
    """Writes bytes or numbers as a NumPy file."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    data = data if isinstance(data, bytes) else array.array(types[kind], data).tobytes()
    Path(name).write_bytes(b"\x93NUMPY\x01\x00v\x00" + f"{header:117}\n".encode() + data)


def letters(text, alphabet, length=None):
    """Bytes whose values are the positions of letters in the alphabet; repeated up to a length."""
    values = bytes(alphabet.index(letter) for letter in text if letter in alphabet)
    return values if length is None else (values * (length // len(values) + 1))[:length]


def values(name):
    """The samples of a NumPy file."""
    data = Path(name).read_bytes()
    size = int.from_bytes(data[8:10], "little")
    kind = ast.literal_eval(data[10:10 + size].decode())["descr"]
    return array.array(types[kind], data[10 + size:]).tolist()


def read(name):
    return Path(name).read_text(errors="surrogateescape")


def load(name):
    return json.loads(read(name))


def replaced(name, to, *changes, regex=False):
    """Writes a copy of a file with pairs of texts, or regular expressions, replaced; each must occur."""
    text = Path(name).read_text()
    for old, new in zip(changes[::2], changes[1::2]):
        changed = re.sub(old, new, text, flags=re.M) if regex else text.replace(old, new)
        assert changed != text, f"{name} has no {old}"
        text = changed
    Path(to).write_text(text)
    return to


def changed(name, to, at, data):
    """Writes a copy of a file in which bytes are replaced."""
    old = Path(name).read_bytes()
    Path(to).write_bytes(old[:at] + data + old[at + len(data):])


def cut(name, to, size):
    Path(to).write_bytes(Path(name).read_bytes()[:size])


def wait_for(condition, process=None, limit=100):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end or (process and process.poll() is not None and not condition()):
            raise AssertionError(f"{condition} did not come true")
        time.sleep(.02)


def file_limit(kibibytes):
    """A `preexec_fn` that limits the size of files, as a full disk does."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (kibibytes * 1024,) * 2)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return limit


class CommandTest(unittest.TestCase):
    checks_json = True

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        os.chdir(cls.folder)
        os.environ.update(SEXTANT_PROBE="off", XDG_CONFIG_HOME=cls.folder + "/.config",
                          XDG_CACHE_HOME=cls.folder + "/.cache")
        os.environ.pop("SEXTANT_MACHINE", None)
        cls.prepare()

    @classmethod
    def prepare(cls):
        """Makes the inputs of the tests."""

    @classmethod
    def tearDownClass(cls):
        for file in list(Path().rglob("wrong*")):
            file.unlink()
        shutil.rmtree(".cache/matplotlib", ignore_errors=True)  # written by modules that tests compare with
        wrong = cls.checks_json and schemas.check(["."])
        os.chdir("/")
        shutil.rmtree(cls.folder)
        assert not wrong, "JSON files match no schema"


def script(*modules):
    """For a test that is a script: enters a temporary folder, or skips the test, if it needs a module that is missing."""
    if absent := [name for name in modules if importlib.util.find_spec(name) is None]:
        print("skipped: without", *absent)
        sys.exit(77)

    def leave():
        try:
            CommandTest.tearDownClass()
        except AssertionError as error:
            print("FAILED:", error, flush=True)
            os._exit(1)
    CommandTest.setUpClass()
    atexit.register(leave)
    return Path(CommandTest.folder)
