# SPDX-License-Identifier: BSD-3-Clause
"""The documentation as a site: scripts/site. Commands in the pages run while it is built.

SEXTANT_BUILD names the build tree whose command, laboratory and Python module are documented.
"""
import os
import re
import shutil
import sys
from functools import cache
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.directives.code import container_wrapper
from sphinx.util.docutils import SphinxDirective

source = Path(__file__).resolve().parent
sys.path.insert(0, str(source))
import icet_functions  # noqa: E402
import pages  # noqa: E402

sys.path.insert(0, str(pages.build / "python"))

project = "Sextant"
author = "the Sextant authors"
copyright = "2026, the Sextant authors"
release = re.search(r"VERSION (\S+)", (source.parent / "CMakeLists.txt").read_text().split("project(")[1])[1]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "breathe"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
exclude_patterns = []
html_theme = "furo"
html_title = f"Sextant {release}"
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
nitpicky = False
suppress_warnings = ["myst.header"]  # pages on GitHub begin with one heading, too
breathe_projects = {"sextant": os.environ.get("SEXTANT_DOXYGEN", str(pages.build / "doxygen" / "xml"))}
breathe_default_project = "sextant"
napoleon_use_ivar = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"


def block(text, language):
    shown = nodes.literal_block(text, text)
    shown["language"] = language
    return shown


class Run(SphinxDirective):
    """Shows commands or a program in Python, runs it, and shows what it prints."""
    has_content = True
    optional_arguments = 1

    def run(self):
        script, language = "\n".join(self.content), (self.arguments or ["sh"])[0]
        text = pages.run(self.env.docname, script, language)
        output = block(text, "text")
        output["classes"] = ["output"]
        return [block(script, language)] + ([output] if text else [])


class NotRun(SphinxDirective):
    """Shows commands that cannot run here, and the reason: {not-run} LANGUAGE REASON."""
    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        language, reason = self.arguments[0].split(" ", 1)
        why = nodes.paragraph("", f"Not run here: {reason}.", classes=["not-run"])
        return [block("\n".join(self.content), language), why]


class File(SphinxDirective):
    """Shows a file, which later blocks of the page use."""
    has_content = True
    required_arguments = 1

    def run(self):
        text, name = "\n".join(self.content), self.arguments[0]
        pages.write(self.env.docname, name, text)
        language = {".json": "json", ".py": "python"}.get(Path(name).suffix, "text")
        return [container_wrapper(self, block(text, language), name)]


class Picture(SphinxDirective):
    """Shows commands, runs them, and shows the picture that they write."""
    has_content = True
    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}

    def run(self):
        script, page = "\n".join(self.content), self.env.docname
        pages.run(page, script)
        to = Path(self.env.app.outdir) / "pictures" / page.replace("/", "-")
        to.mkdir(parents=True, exist_ok=True)
        shutil.copy(pages.folder_of(page) / self.arguments[0], to)
        path = f"{'../' * page.count('/')}pictures/{to.name}/{self.arguments[0]}"
        picture = nodes.raw("", f'<p><img src="{path}" alt="{self.options["alt"]}" style="max-width:100%; '
                                'background:white"></p>', format="html")
        return [block(script, "sh"), picture]


class Commands(SphinxDirective):
    """A section for each command: its help."""

    def run(self):
        text = pages.run(self.env.docname, "sextant --help")
        sections = []
        for name in re.findall(r"^  ([a-z]+)  ", text, re.MULTILINE):
            section = nodes.section(ids=[f"sextant-{name}"])
            section += nodes.title(text=f"sextant {name}")
            section += block(pages.run(self.env.docname, f"sextant {name} --help"), "text")
            sections.append(section)
        return sections


class Icet(SphinxDirective):
    """The functions of IceT, what Sextant does in each, and the features that can be enabled."""

    def run(self):
        sections = icet_functions.functions()
        kinds = [each.kind for section in sections.values() for each in section]
        result = [nodes.paragraph("", f"Of {len(kinds)} functions, {kinds.count('')} do what they do in IceT, "
                                      f"{kinds.count('differs')} differ as stated below, and {kinds.count('hint')} are hints.")]
        for title, functions in sections.items():
            section = nodes.section(ids=[nodes.make_id(title)])
            section += nodes.title(text=title)
            for _, alike in groupby(functions, lambda each: (each.kind, each.difference, each.errors)):
                section += self.alike(list(alike))
            result.append(section)
        section = nodes.section(ids=["features"])
        section += nodes.title(text="Features of icetEnable")
        section += nodes.bullet_list("", *[nodes.list_item("", nodes.paragraph(
            "", "", nodes.literal(text=name), nodes.Text(": as in IceT" if used else ": has no effect, but is stored and returned")))
            for name, used in icet_functions.features().items()])
        return [*result, section]

    @staticmethod
    def alike(functions):
        """Functions that have the same description."""
        first = functions[0]
        said = nodes.paragraph("", first.difference or "As in IceT.")
        if first.kind:
            said.insert(0, nodes.strong(text=f"{first.kind.capitalize()}: "))
        prototypes = block("\n".join(each.prototype + ";" for each in functions), "c")
        prototypes["ids"] = [each.name.lower() for each in functions]
        errors = [nodes.list_item("", nodes.paragraph("", "", nodes.literal(text=code), nodes.Text(f": {text}")))
                  for code, text in first.errors]
        return [prototypes, said] + ([nodes.bullet_list("", *errors)] if errors else [])


@cache
def parsed(name):
    """A file that Doxygen has written."""
    return ElementTree.parse(Path(breathe_projects["sextant"]) / f"{name}.xml").getroot()


class Header(SphinxDirective):
    """The declarations of the headers that a public header includes; those listed before are not repeated."""
    required_arguments = 1
    listed = []

    def run(self):
        text = (source.parent / "src" / self.arguments[0]).read_text()
        files = [each for each in re.findall(r'#include "(sextant/[^"]+/[^"]+)"', text) if each not in self.listed]
        self.listed.extend(files)
        found = []
        index = parsed("index")
        classes = {each.findtext("name") for each in index.findall("compound") if each.get("kind") in ("class", "struct")}
        for compound in index.findall("compound"):
            kind, name = compound.get("kind"), compound.findtext("name")
            if kind not in ("class", "struct", "namespace") or "<" in name or "anonymous" in name:
                continue
            definition = parsed(compound.get("refid")).find("compounddef")
            if kind != "namespace":
                at = definition.find("location")
                is_inner = "::" in name and name.rsplit("::", 1)[0] in classes
                if at.get("file") in files and not is_inner:
                    found.append((files.index(at.get("file")), int(at.get("line")),
                                  f".. doxygen{kind}:: {name}\n   :members:\n"))
                continue
            for member in definition.iter("memberdef"):
                at = member.find("location")
                if at.get("file") not in files or member.get("kind") not in ("function", "enum"):
                    continue
                full = f"{name}::{member.findtext('name')}"
                if member.get("kind") == "function":
                    full += member.findtext("argsstring").replace(" = {}", "")
                    full = re.sub(r" ?= ?[^,)]+", "", full)
                found.append((files.index(at.get("file")), int(at.get("line")),
                              f".. doxygen{member.get('kind')}:: {full}\n"))
        lines = "\n".join(each for _, _, each in sorted(found)).splitlines()
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, self.arguments[0]), 0, holder)
        return holder.children


def links_to_the_source(app, docname, content):
    """Links from pages to files of the project outside docs become plain names, except to the papers' page."""
    if "/" not in docname:
        content[0] = content[0].replace("](../papers/reproduction.md)", "](reproduction.md)")
        content[0] = re.sub(r"\[([^\]]+)\]\(\.\./(?!docs)[^)]*\)", r"`\1`", content[0])


def setup(app):
    app.add_directive("run", Run)
    app.add_directive("not-run", NotRun)
    app.add_directive("file", File)
    app.add_directive("picture", Picture)
    app.add_directive("commands", Commands)
    app.add_directive("header", Header)
    app.add_directive("icet", Icet)
    app.connect("source-read", links_to_the_source)
    app.connect("build-finished", lambda *_: pages.remove_folders())
    return {"parallel_read_safe": False}
