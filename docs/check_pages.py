# SPDX-License-Identifier: BSD-3-Clause
"""Checks what the pages state but do not run.

    check_pages.py           checks the kinds of all blocks; that the command accepts the command
                             lines that are not run, in blocks and in sentences; that links between
                             files lead somewhere; and that the lists of IceT's functions and of
                             fuzzers are complete
    check_pages.py --links   checks that the addresses and DOIs in pages and comments exist
"""
import re
import shlex
import subprocess
import sys
import urllib.request

import icet_functions
from pages import blocks_of, build, source

root = source.parent
DIRECTIVES = {"toctree", "eval-rst", "commands", "icet", "include"}  # blocks without code
SHOWN = {"cpp", "text", "cmake"}  # tests/pages compiles C++


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
        f"{name} is not a file of the project" for name in named + programs if not (root / name).exists()]


def check_fuzzers():
    """The fuzzers that SECURITY.md does not list, or that do not exist."""
    built = set(re.findall(r"^sextant_fuzzer\((\w+)", (root / "tests/fuzz/CMakeLists.txt").read_text(), re.M))
    rows = re.findall(r"^\|.*\| (`[^|]*) \|$", (root / "SECURITY.md").read_text(), re.M)
    listed = set(re.findall(r"`(\w+)`", " ".join(rows)))
    return [f"SECURITY.md: the fuzzer {name} is {'not listed' if name in built else 'not built'}" for name in sorted(built ^ listed)]


def anchors_of(page):
    """The anchors of the headings of a page, as GitHub names them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.*)$", text, re.M)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def check_files():
    """Links to files and headings of the project that do not exist."""
    wrong = []
    for page in [*source.rglob("*.md"), *root.glob("*.md"), *root.glob("papers/*.md"), root / "src/sextant/README.md"]:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            name, _, anchor = link.partition("#")
            if name.startswith(("https:", "http:")):
                continue
            to = (page.parent / name).resolve() if name else page
            if not to.exists() or anchor and anchor not in anchors_of(to):
                wrong.append(f"{page.relative_to(root)}: the link to {link} leads nowhere")
    return wrong


def check_commands():
    """Checks the kind of each block, and command lines that are not run."""
    wrong, lines = [], 0
    for page in [*sorted(source.rglob("*.md")), *sorted(root.glob("*.md")), *sorted(root.glob("papers/*.md"))]:
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
    return wrong


def check_icet():
    try:
        icet_functions.functions()
    except ValueError as error:
        return [f"reference/icet.md: {error}"]
    return []


def addresses():
    """The addresses in pages and comments, and where each is; a DOI is looked up at doi.org."""
    found = {}
    for path in [*source.rglob("*.md"), *root.glob("*.md"), *root.glob("papers/*.*"), *root.glob("src/**/*.[ch]pp"),
                 root / "CITATION.cff"]:
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
    if arguments not in ([], ["--links"]):
        print(__doc__)
        return 2
    wrong = check_links() if arguments else check_fuzzers() + check_files() + check_commands() + check_icet()
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
