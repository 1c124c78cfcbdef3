#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The JSON schemas of the files that Sextant reads and writes. The tables of fields in docs define them.

schemas.py check PATH...  checks that each JSON file at these paths matches a schema
schemas.py write FOLDER   writes the schemas to a folder

A table defines the form NAME if a paragraph that begins with `NAME.json` or the comment <!-- fields: NAME --> is
before it; the title of the form is the heading above. Its rows are

    | field | type | meaning |

where `a.b[].c?` is the field c, which may be missing, of each object in the list b of the object a. With brackets, the
type is that of an entry. Types are text, integer, number, boolean, object, null, `"a"`, `"b"` (one of these), list of
4 numbers, as `field`, as this file, and [NAME](json.md#...); "or" joins types. "integer ≥ 1" has a minimum, ", 2 items"
is the length of a list, and "open object" may have other fields. A meaning may end with the default: [`0`].
"""
import collections
import copy
import functools
import json
import re
import sys
from pathlib import Path

source = Path(__file__).resolve().parent.parent
address = "https://sextant.invalid/schemas/"


def anchor(title):
    """The anchor that GitHub and the site give to a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def cells(line):
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def names_in(text):
    return re.findall(r"`(.*?)`", text)


def lengths(text):
    """The schema of the lengths "2", "2 to 3" or "3 or 6" of a list."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    if " or " in text:
        return {"anyOf": [{"minItems": number, "maxItems": number} for number in numbers]}
    return {"minItems": numbers[0], "maxItems": numbers[-1]} if numbers else {}


class Form:
    """The schema of one table. `anchors`: the names of forms, by the anchors of their headings."""

    def __init__(self, name, title, about, rows, is_open, anchors):
        self.name, self.anchors = name, anchors
        self.root = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{address}{name}.json",
                     "title": title.replace("`", "")}
        if about:
            self.root["description"] = about
        self.fields = {"": self.root | self.object(is_open)}
        for fields, kind, meaning in rows:
            for field in names_in(fields):
                self.add(field, kind, meaning)
        self.root = self.fields[""]
        if name == "common":
            self.root["$defs"] = self.root.pop("properties")
            for key in ("type", "required", "additionalProperties"):
                del self.root[key]

    @staticmethod
    def object(is_open):
        members = {"type": "object", "required": [], "properties": {}}
        return members if is_open else members | {"additionalProperties": False}

    def add(self, field, kind, meaning):
        prefix, _, last = field.removesuffix("?").rpartition(".")
        name, brackets = last.replace("[]", ""), last.count("[]")
        if kind == "[shared fields](json.md#shared-fields)":
            kind = f"[{name}](json.md#shared-fields)"
        kind, _, length = kind.removesuffix(" items").rpartition(", ") if kind.endswith(" items") else (kind, "", "")
        default = re.search(r" \[`([^`]*)`\]$", meaning)
        try:
            default = {"default": json.loads(default[1])} if default else {}
        except ValueError:  # in words
            default = {}
        meaning = meaning[:meaning.rfind(" [`")] if default else meaning
        inner = value = self.type(kind)
        for depth in range(brackets):
            value = {"type": "array", "items": value} | (lengths(length) if depth == 0 else {})
        if meaning:
            value = {"description": meaning} | value
            inner = value if not brackets else inner
        parent = self.fields[re.sub(r"\?", "", prefix)]
        parent["properties"][name] = value | default
        self.fields[f"{prefix}.{last}".removeprefix(".")] = parent["properties"][name] if not brackets else inner
        if not field.endswith("?"):
            parent["required"].append(name)

    def type(self, text):
        if text.startswith(("object with", "open object")):
            choices = [{"required": names_in(fields)} for fields in text.split("with ")[1:]]
            return self.object(text.startswith("open")) | ({"anyOf": choices} if choices else {})
        types = [self.one_type(part) for part in text.split(" or ")]
        if len(types) == 1:
            return types[0]
        if any("type" not in each for each in types):
            return {"anyOf": types}
        return functools.reduce(lambda all, each: all | each, types) | {"type": [each["type"] for each in types]}

    def one_type(self, text):
        if text.startswith("`"):
            values = [json.loads(value) for value in names_in(text)]
            return {"enum": values} if len(values) > 1 else {"const": values[0]}
        if link := re.fullmatch(r"\[(.+)\]\(json\.md#(.+)\)", text):
            return {"$ref": f"common.json#/$defs/{link[1]}" if link[2] == "shared-fields" else
                    f"{self.anchors[link[2]]}.json"}
        if text == "as this file":
            return {"$ref": "#"}
        if text.startswith("as `"):
            return {key: value for key, value in copy.deepcopy(self.fields[names_in(text)[0]]).items()
                    if key != "description"}
        if text == "list":
            return {"type": "array"}
        if listed := re.fullmatch(r"list of ([\d to]* )?([a-z]+?)s?( .*)?", text):
            return {"type": "array", "items": self.one_type(listed[2] + (listed[3] or ""))} | lengths(listed[1] or "")
        if matching := re.fullmatch("text matching `(.*)`", text):
            return {"type": "string", "pattern": matching[1]}
        name, _, least = text.partition(" ≥ ")
        if name == "object":
            return self.object(False)
        if name not in ("text", "integer", "number", "boolean", "null"):
            raise ValueError(f"docs: form {self.name}: the type '{text}' is unknown")
        return {"type": "string" if name == "text" else name} | ({"minimum": int(least)} if least else {})


def tables_in(page):
    """The tables that define forms: name, title, description, rows, and whether other fields are permitted."""
    title, name, about, rows, is_open = "", "", "", [], False
    for line in [*page.read_text().splitlines(), ""]:
        if line.startswith("#"):
            title, name = line.lstrip("# "), ""
        elif begin := re.match(r"<!-- fields: ([\w-]+)(, open)? -->", line):
            name, about, is_open = begin[1], "", bool(begin[2])
        elif begin := re.match(r"`([\w-]+)\.json`(?:\. (.*))?$", line):
            name, about, is_open = begin[1], begin[2] or "", False
        elif name and line.startswith("| `"):
            rows.append(cells(line))
        elif rows:
            yield name, title, about, rows, is_open
            name, rows = "", []
        elif name and line and not line.startswith("|"):
            about += " " + line


def read_schemas():
    tables = [table for page in sorted((source / "docs").glob("*.md")) for table in tables_in(page)]
    anchors = {anchor(title): name for name, title, *_ in tables}
    return {table[0]: Form(*table, anchors).root for table in sorted(tables, key=lambda table: table[0])}


schemas = read_schemas()
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
        raise WrongJson("matches none of the forms in docs")
    document = shortened(document)
    errors = {name: list(validator(name).iter_errors(document)) for name in names}
    name = min(names, key=lambda each: len(errors[each]))
    if not errors[name]:
        return name
    from jsonschema.exceptions import best_match
    error = best_match(errors[name])
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    raise WrongJson(f"does not match the form {name} in docs: {field.lstrip('.') or 'it'}: {error.message[:300]}")


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


def write(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, schema in schemas.items():
        Path(folder, f"{name}.json").write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
    return 0


def main(words):
    if words[:1] == ["check"]:
        return check(words[1:])
    if words[:1] == ["write"] and len(words) == 2:
        return write(words[1])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
