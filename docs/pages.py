# SPDX-License-Identifier: BSD-3-Clause
"""The code blocks of the documentation: runs and checks them without building the site.

    pages.py --run [PAGE...]   runs the blocks {run}, {picture} and {file} of pages
    pages.py --links           checks that addresses and DOIs exist, of pages and of comments
    pages.py --commands        checks the kinds of all blocks, and that the command accepts the
                               command lines that are not run, in blocks and in sentences;
                               and that the lists of IceT's functions and of fuzzers are complete
SEXTANT_BUILD names the build tree (default: build/release).
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

import icet_functions

source = Path(__file__).resolve().parent
build = Path(os.environ.get("SEXTANT_BUILD", source.parent / "build" / "release")).resolve()

DIRECTIVES = {"toctree", "eval-rst", "commands", "icet"}  # blocks without code
# C++ is compiled by tests/pages; text and JSON without a {file} is output or input that is shown.
SHOWN = {"cpp", "text", "cmake"}


class Block(NamedTuple):
    page: Path
    line: int
    kind: str  # the name of a directive in {}, or a language
    argument: str
    text: str

    def __str__(self):
        return f"{self.page.name}:{self.line}"


def blocks_of(page):
    """The fenced blocks of a page."""
    found, lines = [], page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = re.fullmatch(r"```(\{?)([\w-]*)\}?(?: (.*))?", lines[number])
        number += 1
        if not fence:
            continue
        first = number
        while lines[number] != "```":
            number += 1
        kind = f"{{{fence[2]}}}" if fence[1] else fence[2]
        text = "\n".join(each for each in lines[first:number] if not each.startswith(":alt:"))
        found.append(Block(page, first, kind, fence[3] or "", text))
        number += 1
    return found


def folder_of(page):
    """The folder in which the blocks of a page run; each process makes its own."""
    folder = Path(tempfile.gettempdir()) / f"sextant-pages-{os.getpid()}" / page.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remove_folders():
    shutil.rmtree(Path(tempfile.gettempdir()) / f"sextant-pages-{os.getpid()}", ignore_errors=True)


def run(page, script, language="sh"):
    """Runs a script in the folder of a page. Returns what it prints; raises if it fails."""
    folder = folder_of(page)
    environment = {**os.environ, "PATH": f"{build}:{Path(sys.executable).parent}:{os.environ['PATH']}",
                   "SEXTANT_PROBE": "off", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "XDG_CONFIG_HOME": str(folder / ".config"), "EXAMPLES": str(source.parent / "examples"),
                   "PYTHONPATH": str(build / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = {"sh": ["bash", "-euo", "pipefail", "-c", script], "python": [sys.executable, "-c", script]}[language]
    found = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if found.returncode != 0:
        raise RuntimeError(f"{page}: {script!r} failed with {found.returncode}:\n{found.stdout}")
    return found.stdout.replace(str(folder) + "/", "").rstrip()


def write(page, name, text):
    """Writes a file that a page shows into the folder of the page."""
    (folder_of(page) / name).write_text(text + "\n", encoding="utf-8")


def command_lines(script):
    """The command lines of `sextant` in a script, each as a list of words."""
    lines = []
    for text in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        line = []
        for word in [*lexer, ";"]:
            if not set(word) <= set("();<>|&"):
                line.append(word)
                continue
            if "sextant" in line:
                lines.append(line[line.index("sextant") + 1:])
            line = []
    return lines


def spans_of(page):
    """The command lines of `sextant` in sentences: (line, text)."""
    text = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"),
                  flags=re.M | re.S)
    for span in re.finditer(r"(?<!`)`([^`]*)`", text):
        written = " ".join(span[1].split())
        if re.match(r"(?:mpirun (?:-\S+ )*(?:-n \S+ )?)?sextant [a-z]+ ", written):
            yield text.count("\n", 0, span.start()) + 1, written


def refused(words, in_sentence):
    """Why the command refuses a command line; empty if it accepts it. Sentences leave out arguments, and have
    names such as N instead of values."""
    if in_sentence:
        words = [word for word in words if word not in ("...", "…")]
    if not words or words[0].startswith("-") or words[0].isupper():  # sextant --help, sextant COMMAND
        return ""
    found = subprocess.run([str(build / "tests/pages/accepts"), *words], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    why = found.stdout.strip()  # also if an option was renamed
    if in_sentence and (re.search(r" is missing|needs a value", why) or re.search(r": '?[A-Z]'?[:;]|[a-z] [A-Z]+: ", why)):
        return ""
    return why


def faults_of(language, script):
    """What is wrong with the syntax of a script that is not run, or with its names of files of the project."""
    if language == "python":
        compile(script, "block", "exec")
        return []
    shell = subprocess.run(["bash", "-n", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    named = re.findall(r"(?:^|[ '])((?:bench|scripts|machines|platforms|python|tests)/[\w./-]+|\./run|\./test)(?![\w*])", script)
    programs = [f"bench/{name}.cpp" for name in re.findall(r"build/release/bench/bench_(\w+)", script)]
    return ([shell.stdout] if shell.stdout else []) + [
        f"{name} is not a file of the project" for name in named + programs if not (source.parent / name).exists()]


def check_fuzzers():
    """The fuzzers that SECURITY.md does not list, or that do not exist."""
    root = source.parent
    built = set(re.findall(r"^sextant_fuzzer\((\w+)", (root / "tests/fuzz/CMakeLists.txt").read_text(), re.M))
    rows = re.findall(r"^\|.*\| (`[^|]*) \|$", (root / "SECURITY.md").read_text(), re.M)
    listed = set(re.findall(r"`(\w+)`", " ".join(rows)))
    return [f"SECURITY.md: the fuzzer {name} is {'not listed' if name in built else 'not built'}" for name in sorted(built ^ listed)]


def check_commands():
    """Checks the kind of each block, and command lines that are not run."""
    wrong, lines = check_fuzzers(), 0
    root = source.parent
    for page in [*sorted(source.rglob("*.md")), *sorted(root.glob("*.md"))]:
        if page.name == "CHANGELOG.md":  # also has options of earlier versions
            continue
        on_site = source in page.parents
        scripts = [(line, written, True) for line, written in spans_of(page)]
        for block in blocks_of(page):
            language = block.argument.split(" ")[0]
            if block.kind == "{not-run}":
                if language not in ("sh", "python") or " " not in block.argument:
                    wrong.append(f"{block}: {{not-run}} needs a language (sh or python) and a reason")
                    continue
                wrong += [f"{block}: {fault}" for fault in faults_of(language, block.text)]
            elif on_site and block.kind.strip("{}") not in DIRECTIVES | SHOWN | {"run", "picture", "file"}:
                wrong.append(f"{block}: a block of kind '{block.kind}'; use {{run}}, or {{not-run}} with a reason")
            if block.kind == "sh" or (block.kind == "{not-run}" and language == "sh"):
                scripts.append((block.line, block.text, False))
        if on_site and re.search(r"(?:^|\n)\n    (?! )\S", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)):
            wrong.append(f"{page.name}: an indented block; use {{run}}, or {{not-run}} with a reason")
        for line, script, in_sentence in scripts:
            for words in command_lines(script):
                lines += 1
                if why := refused(words, in_sentence):
                    wrong.append(f"{page.name}:{line}: sextant {shlex.join(words)}\n    {why}")
    print(f"{lines} command lines")
    try:
        icet_functions.functions()
    except ValueError as error:
        wrong.append(f"reference/icet.md: {error}")
    return wrong


def run_pages(names):
    """Runs the blocks of pages."""
    wrong, count = [], 0
    for page in sorted(source.rglob("*.md")):
        name = str(page.relative_to(source).with_suffix(""))
        if names and name not in names:
            continue
        began = time.monotonic()
        for block in blocks_of(page):
            try:
                if block.kind == "{run}":
                    run(name, block.text, block.argument or "sh")
                elif block.kind == "{picture}":
                    run(name, block.text)
                    if not (folder_of(name) / block.argument).stat().st_size:
                        wrong.append(f"{block}: {block.argument} is empty")
                elif block.kind == "{file}":
                    write(name, block.argument, block.text)
                count += block.kind in ("{run}", "{picture}", "{file}")
            except (RuntimeError, OSError) as error:
                wrong.append(f"{block}: {error}")
        if (took := time.monotonic() - began) > .1:
            print(f"{name}: {took:.1f} s")
    print(f"{count} blocks")
    return wrong


def addresses():
    """The addresses in pages and comments, and where each is; a DOI is looked up at doi.org."""
    found = {}
    root = source.parent
    for path in [*source.rglob("*.md"), *root.glob("*.md"), *root.glob("src/**/*.[ch]pp"), root / "CITATION.cff"]:
        text = path.read_text(encoding="utf-8")
        urls = [url.rstrip(".,") for url in re.findall(r"https://[\w./~%#?=&+-]+", text)]
        dois = re.findall(r"doi: ?(10\.(?:[\w./:-]|\(\w+\))+)", text)
        for address in urls + [f"https://doi.org/api/handles/{doi.rstrip('.')}" for doi in dois]:
            found.setdefault(address, path.relative_to(root))
    return found


def check_links():
    wrong, found = [], addresses()
    for address, page in sorted(found.items()):
        request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0"})
        try:
            urllib.request.urlopen(request, timeout=20).close()
        except OSError as error:
            wrong.append(f"{page}: {address}: {error}")
    print(f"{len(found)} addresses")
    return wrong


def main(arguments):
    if arguments[:1] == ["--run"]:
        try:
            wrong = run_pages(arguments[1:])
        finally:
            remove_folders()
    elif arguments == ["--links"]:
        wrong = check_links()
    elif arguments == ["--commands"]:
        wrong = check_commands()
    else:
        print(__doc__)
        return 2
    for each in wrong:
        print(each)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
