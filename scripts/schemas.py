#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks JSON files against the schemas (data/schemas), and makes the tables of fields in docs.

schemas.py check PATH...     checks that each JSON file at these paths matches a schema
schemas.py tables [--write]  checks that the tables in docs/*.md are those of the schemas; --write
                             replaces the tables
"""
import collections
import functools
import json
import re
import sys
import textwrap
from pathlib import Path

source = Path(__file__).resolve().parent.parent
folder = source / "data" / "schemas"
schemas = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
forms = {name: schema for name, schema in schemas.items() if name != "common"}


class WrongJson(Exception):
    pass


def parse(text):
    """Parses strict JSON: NaN, Infinity and repeated keys in an object are errors."""
    def refuse(constant):
        raise WrongJson(f"{constant} is not JSON")

    def members(pairs):
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise WrongJson(f"an object has a repeated key: {', '.join(names)}")
        return dict(pairs)

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=members)
    except ValueError as wrong:
        raise WrongJson(f"is not JSON: {wrong}") from None


def shortened(value, most=100):
    """The value, with only the first and the last entries of long lists, whose entries are alike."""
    if isinstance(value, dict):
        return {name: shortened(member, most) for name, member in value.items()}
    if isinstance(value, list):
        kept = value if len(value) <= most else value[:most // 2] + value[-most // 2:]
        return [shortened(entry, most) for entry in kept]
    return value


def candidates(document):
    """The names of the schemas that may describe the document: those with its `operation`, `kind` or `type`; of
    these, the ones that share most fields with it."""
    likeness = {}
    named = {field for field in ("operation", "kind", "type") if field in document}
    for name, schema in forms.items():
        fields = schema["properties"]
        marks = {field: value["const"] for field, value in fields.items() if isinstance(value.get("const"), str)}
        known = len(fields.keys() & document.keys())
        if known and named == marks.keys() and all(document[field] == mark for field, mark in marks.items()):
            likeness[name] = known - len(document.keys() - fields.keys())
    return [name for name in likeness if likeness[name] == max(likeness.values())]


@functools.cache
def validator(name):
    import jsonschema
    schema, known = forms[name], {schema["$id"]: schema for schema in schemas.values()}
    return jsonschema.Draft202012Validator(
        schema, resolver=jsonschema.RefResolver(schema["$id"], schema, store=known))


def form_of(document):
    """The name of the schema that the document matches. Raises WrongJson, which names the field and the fault."""
    names = candidates(document) if isinstance(document, dict) else []
    if not names:
        raise WrongJson("matches no schema in data/schemas")
    document = shortened(document)
    errors = {name: list(validator(name).iter_errors(document)) for name in names}
    name = min(names, key=lambda each: len(errors[each]))
    if not errors[name]:
        return name
    from jsonschema.exceptions import best_match
    error = best_match(errors[name])
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    raise WrongJson(f"does not match data/schemas/{name}.json: {field.lstrip('.') or 'it'}: {error.message[:300]}")


def contents(paths):
    """The files at these paths, and their bytes: in folders, files .json and .geojson, and files without an
    extension that begin like JSON. The metadata of Zarr is skipped, because Zarr defines its format."""
    for path in map(Path, paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if path.is_dir() and (not file.is_file() or file.name == "zarr.json" or file.name.startswith(".")):
                continue
            if path.is_dir() and not file.suffix:
                with file.open("rb") as start:
                    if start.read(1) not in (b"{", b"["):
                        continue
            elif path.is_dir() and file.suffix not in (".json", ".geojson"):
                continue
            yield file, file.read_bytes()


def check(paths):
    found, wrong = collections.Counter(), 0
    for file, text in contents(paths):
        try:
            found[form_of(parse(text))] += 1
        except WrongJson as error:
            wrong += 1
            print(f"FAILED: {file} {error}")
    print(f"{sum(found.values())} JSON files: " + ", ".join(f"{n} {name}" for name, n in sorted(found.items())))
    return 1 if wrong else 0


def target(schema, reference):
    """The schema to which a $ref refers, the file that contains it ("" for the same file), and its name."""
    file, _, pointer = reference.partition("#")
    found = schemas[file.removesuffix(".json")] if file else schema
    for step in filter(None, pointer.split("/")):
        found = found[step]
    return found, file.removesuffix(".json"), pointer.rpartition("/")[2]


def choices(schema, text):
    """The permitted values, unless the text mentions all of them."""
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    missing = [value for value in values if json.dumps(value) not in text and value != ""]
    return ", ".join(f"`{json.dumps(value)}`" for value in values) if missing else ""


def inside_lists(schema):
    """The schema of the entries of (nested) lists, with a pair of brackets for each level."""
    brackets = ""
    while isinstance(schema.get("items"), dict):
        brackets, schema = brackets + "[]", schema["items"]
    return brackets, schema


def in_one_line(schema):
    """The members of an object in one line; empty if they are many, or if one has members of its own."""
    members = []
    for field, value in schema["properties"].items():
        brackets, inner = inside_lists(value)
        if not {"$ref", "anyOf", "default", "properties"}.isdisjoint(inner.keys() | value.keys()):
            return ""
        meaning = value.get("description", "")
        meaning = ": ".join(filter(None, [meaning, choices(inner, meaning)]))
        if not meaning or ";" in meaning:
            return ""
        optional = "" if field in schema.get("required", []) else "?"
        members.append(f"`{field}{brackets}{optional}`: {meaning}")
    line = "; ".join(members)
    return line if len(members) <= 8 and len(line.split()) <= 40 else ""


class Table:
    """The table of a schema's fields: a field that may be missing has `?` after its name. Small objects have one row.
    What all reports have in common is left out."""

    def __init__(self, name):
        self.schema, self.rows, self.shared, self.shown = schemas[name], [], [], {}
        if name == "common":
            for field, value in self.schema["$defs"].items():
                self.add(field, value, "")
        else:
            self.add_members(self.schema, "")

    def add_members(self, schema, prefix):
        for field, value in schema["properties"].items():
            if prefix or "operation" not in schema["properties"] or field not in ("operation", "version"):
                self.add(prefix + field, value, "" if field in schema.get("required", []) else "?")

    def row(self, field, meaning):
        if self.rows and meaning == self.rows[-1][1]:
            self.rows[-1][0].append(field)
        else:
            self.rows.append(([field], meaning))

    def add(self, field, value, optional):
        meaning = value.get("description", "")
        value = next((part for part in value.get("anyOf", []) if "$ref" in part), value)
        brackets, inner = inside_lists(value)
        reference = inner.get("$ref", "#")
        if reference != "#":
            definition, file, name = target(self.schema, reference)
            inner_brackets, inner = inside_lists(definition)
            brackets += inner_brackets
            if "/properties/" in reference:
                meaning, inner = "as above", {}
            elif file == "common" and not meaning:
                return self.shared.append(field + optional)
            elif file:
                title = "shared fields" if file == "common" else schemas[file]["title"]
                label = f"`{name}`" if file == "common" else title
                meaning += f" ([{label}](json.md#{anchor(title)}))" if "properties" in inner else ""
                inner = {}
            elif name in self.shown and "properties" in inner:
                meaning, inner = f"{meaning}; as `{self.shown[name]}`", {}
            elif name not in self.shown:
                self.shown[name] = field + brackets
                if "properties" not in inner:
                    meaning = ": ".join(filter(None, [meaning, definition.get("description")]))
        meaning = ": ".join(filter(None, [meaning, choices(inner, meaning)]))
        if "default" in value:
            meaning += f" [`{json.dumps(value['default'])}`]"
        members = in_one_line(inner) if "properties" in inner else ""
        self.row(field + brackets + optional, ". ".join(filter(None, [meaning, members])))
        if "properties" in inner and not members:
            self.add_members(inner, field + brackets + ".")

    def text(self):
        rows = [(", ".join(f"`{field}`" for field in fields), meaning) for fields, meaning in self.rows]
        if self.shared:
            rows.append((", ".join(f"`{field}`" for field in self.shared), "[shared fields](json.md#shared-fields)"))
        heading = "field (`?`: may be missing)" if any("?`" in field for field, _ in rows) else "field"
        lines = [f"| {heading} | meaning |", "|---|---|"]
        lines += ["| {} | {} |".format(field, meaning.replace("|", r"\|")) for field, meaning in rows]
        return "\n".join(lines) + "\n"


def anchor(title):
    """The anchor that GitHub and the site give to a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def section(name):
    schema = schemas[name]
    about = schema.get("description", "")
    title = re.sub("^sextant [^,]*", lambda command: f"`{command[0]}`", schema["title"])
    about = textwrap.fill(f"`{name}.json`{'. ' + about if about else ''}", 120)
    return f"### {title}\n\n{about}\n\n{Table(name).text()}"


def with_tables(text):
    """The page, with new tables between <!-- fields: NAME --> or <!-- forms: NAME ... --> and <!-- end -->."""
    def replaced(match):
        names = match[2].split()
        parts = [Table(names[0]).text()] if match[1] == "fields" else [section(name) for name in names]
        return f"<!-- {match[1]}: {match[2]} -->\n\n" + "\n".join(parts) + "\n<!-- end -->"
    return re.sub(r"<!-- (fields|forms): (.*?) -->\n.*?<!-- end -->", replaced, text, flags=re.S)


def tables(writes):
    wrong, shown = 0, []
    for page in sorted((source / "docs").glob("*.md")):
        text = page.read_text()
        for names in re.findall(r"<!-- (?:fields|forms): (.*?) -->", text):
            shown += names.split()
        wanted = with_tables(text)
        if wanted != text and writes:
            page.write_text(wanted)
        elif wanted != text:
            wrong = 1
            print(f"FAILED: {page.relative_to(source)} differs from data/schemas: scripts/schemas.py tables --write")
    for name in sorted(set(schemas) ^ set(shown)):
        wrong = 1
        print(f"FAILED: no page in docs has a table of the fields of {name}")
    return wrong


def main(words):
    if words[:1] == ["check"]:
        return check(words[1:])
    if words in (["tables"], ["tables", "--write"]):
        return tables("--write" in words)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
