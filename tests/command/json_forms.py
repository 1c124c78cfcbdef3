# SPDX-License-Identifier: BSD-3-Clause
"""The schemas describe every field, and refuse a file in which one field is missing, unknown, of another type, less
than its minimum, or a date without a time zone.

json_forms.py SOURCE FOLDER... -- [FORM...]: the folders contain a file of each form, except of the given ones.
"""
import copy
import sys
from pathlib import Path

import jsonschema

source, *folders = map(Path, sys.argv[1:sys.argv.index("--")])
absent = sys.argv[sys.argv.index("--") + 1:]
sys.path.insert(0, str(source / "scripts"))
import schemas

# A renderer may add fields to its manifest, and the Trace Event Format has more fields than Sextant writes.
open_forms = {"manifest", "trace"}
missing = object()


def gaps(name, schema, path=""):
    """What a schema leaves open: unknown fields of an object, and fields without a description."""
    if isinstance(schema, list):
        for entry in schema:
            yield from gaps(name, entry, path)
    if not isinstance(schema, dict):
        return
    if "properties" in schema:
        if schema.get("additionalProperties") is not False and name not in open_forms:
            yield f"{name}: {path} permits unknown fields"
        for field, value in schema["properties"].items():
            if not (value.get("description") or "$ref" in value or isinstance(value.get("const"), str)):
                yield f"{name}: {path}.{field} has no description"
            yield from gaps(name, value, f"{path}.{field}")
        for field in schema.get("required", []):
            if field not in schema["properties"]:
                yield f"{name}: {path} requires {field}, which it does not describe"
    for key in schema.keys() - {"properties"}:
        yield from gaps(name, schema[key], path)


def faults(value, schema, base, path=()):
    """Pairs of the path of a field and a value that the schema `schema` in the form `base` must refuse there;
    `missing` means no value. Lists are represented by their first entry."""
    schema = next((part for part in schema.get("anyOf", []) if "$ref" in part), schema)
    while "$ref" in schema:
        schema, file, _ = schemas.target(base, schema["$ref"])
        base = schemas.schemas[file] if file else base
    if path and schema.keys() & {"type", "const", "enum", "anyOf"}:
        yield path, [] if isinstance(value, dict) else {}
    if "pattern" in schema:
        yield path, "2026-01-31 12:00:00"
    if "minimum" in schema and value is not None:
        yield path, schema["minimum"] - 1
    if isinstance(value, dict) and "properties" in schema:
        if schema.get("additionalProperties") is False:
            yield path + ("unknown",), 1
        for field, member in value.items():
            if field in schema.get("required", []):
                yield path + (field,), missing
            yield from faults(member, schema["properties"].get(field, {}), base, path + (field,))
    elif isinstance(value, list) and value and "items" in schema:
        yield from faults(value[0], schema["items"], base, path + (0,))


def with_fault(document, path, value):
    document = copy.deepcopy(document)
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    if value is missing:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return document


wrong, seen, tried = [], set(), 0
for name, schema in schemas.schemas.items():
    if schema.get("$id") != f"https://sextant.invalid/schemas/{name}.json" or not schema.get("title"):
        wrong.append(f"{name}: $id or title is missing or wrong")
    wrong += gaps(name, schema)
    jsonschema.Draft202012Validator.check_schema(schema)

for file, text in schemas.contents(folders):
    document = schemas.shortened(schemas.parse(text), 8)
    name = schemas.form_of(document)
    if name in seen:
        continue
    seen.add(name)
    for path, value in faults(document, schemas.schemas[name], schemas.schemas[name]):
        tried += 1
        try:
            if schemas.form_of(with_fault(document, path, value)) == name:
                wrong.append(f"{name}: accepted with {'.'.join(map(str, path))} {value}")
        except schemas.WrongJson:
            pass

for text in ('{"operation": "info", "frames": NaN}', '{"operation": "info", "operation": "info"}',
             '{"operation": "info"', '{"operation": "unknown", "version": "1.0.0"}', "[]", "3", "{}"):
    tried += 1
    try:
        wrong.append(f"{text} was accepted as {schemas.form_of(schemas.parse(text))}")
    except schemas.WrongJson:
        pass

for name in sorted(schemas.forms.keys() - seen - set(absent)):
    wrong.append(f"no file has the form {name}")
for line in wrong:
    print("FAILED:", line)
print(f"{tried} faults in {len(seen)} forms")
sys.exit(1 if wrong else 0)
