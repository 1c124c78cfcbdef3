# SPDX-License-Identifier: BSD-3-Clause
"""The output of every command with --json, and every JSON file that a command reads or writes, matches a
table of fields in docs. The schemas of the tables describe every field, and refuse a file in which one field is missing,
unknown, of another type, less than its minimum, or a date without a time zone."""
import copy

import jsonschema

from command_test import *

# A renderer may add fields to its manifest, and the Trace Event Format has more fields than Sextant writes.
open_forms = {"manifest", "trace"}
missing = object()


def gaps(name, schema, path=""):
    """What a schema leaves open: unknown fields of an object, and fields without a description."""
    for entry in schema if isinstance(schema, list) else []:
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
        for field in set(schema.get("required", [])) - schema["properties"].keys():
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


class Schemas(CommandTest):
    ran = set()

    def json(self, line, code=0):
        done = sextant(f"{line} --json", code=code)
        Path(f"printed{len(paths())}.json").write_text(done.out)
        self.ran.add(line.split()[0])

    def run_every_command(self):
        sextant("synthesize -o movie.npy --frames 5 --width 64 --height 64 --warp 1")
        sextant("synthesize -o image.npy --frames 1 --width 64 --height 64 --specimen carbon")
        Path("blocks.csv").write_text("file,z,y,x\nlabels.npy,0,0,0\nlabels.npy,0,0,64\n")
        self.json("calibrate --launches 1 --budget 2s -o here.json")
        Path("check.json").write_text(sextant("calibrate --check here.json --json").out)
        for line in ("composite $SAMPLE -o brain.png --ranks 2 --plan plan.json --trace trace.json",
                     "filter image.npy -o planes.npy --ranks 2 --plan filter.json --derivatives x",
                     "filter movie.npy -o volume.npy --sigma 1 --derivatives x", "label image.npy -o labels.npy",
                     "label movie.npy -o labels3.npy", "measure labels3.npy -o regions.csv", "stitch blocks.csv -o joined.npy",
                     "contours image.npy -o lines.geojson --ranks 2", "register movie.npy -o aligned --aligned --model nonrigid",
                     "register movie.npy -o by_rows --scan-rows --ranks 2", "register movie.npy volume.npy -o several", "info movie.npy", "machine show here.json",
                     "machine show das", "machine diff here.json here.json", "list", "explain composite --ranks 6",
                     "explain filter --size 100x80 --ranks 4", "explain scan", "explain label --size 100x80 --cores 2",
                     "predict compositing --algorithm direct-send --ranks 5 --machine ddr-infiniband",
                     "simulate compositing --algorithm radix-k --ranks 4 --platform crossbar-12 --clock",
                     "prove compositing --ranks 1..4", "prove scan --ranks 1..4"):
            self.json(line)
        self.json("machine check here.json", code=None)
        self.json("doctor", code=None)
        sextant("evaluate --platform crossbar-12 --ranks 4 -o evaluation.json")
        for kind, case in (("composite", {"width": 64, "height": 64, "algorithms": ["radix-k"]}),
                           ("filter", {"width": 40, "height": 30, "derivatives": ["x"], "most": 2}),
                           ("collective", {"collective": "gather", "tiles": True, "sizes": [64]}),
                           ("scan", {"values": 9, "times": {"mean": .0001}, "algorithms": ["sklansky"]})):
            Path(f"{kind}_cases.json").write_text(json.dumps({"cases": [case]}))
            self.json(f"bench {kind} --cases {kind}_cases.json --ranks 2 --rounds 5")
        absent = {"tune", "tune-once"}
        if MPIRUN:
            absent = set()
            done = sextant("tune --once --collectives bcast --sizes 64 --rounds 3 --algorithms default --json", processes=2)
            Path("tune-once.json").write_text(done.out)
            sextant(f"tune --launcher '{' '.join(MPIRUN)} -n 2' -o rules --collectives bcast --sizes 64,4096 --launches 2 "
                    "--pairs 2 --rounds 3 --json=tuned.json")
            self.ran.add("tune")
        if sextant("reproduce --help", code=None).returncode == 0:
            self.json("reproduce work-stealing")
        else:  # sanitizers run without the papers
            absent.add("reproduce")
        sextant("draw collective --algorithm ring-all-reduce --ranks 4 -o schedule.json")
        shutil.copy(os.environ["SAMPLE"], "manifest.json")
        for file in (*(SOURCE / "platforms").glob("*.json"), *(SOURCE / "machines").glob("*.json")):
            shutil.copy(file, ".")
        for command in re.findall("^  ([a-z]*) ", sextant("--help").out, re.M):
            if command not in self.ran | absent:
                self.assertNotIn("\n  --json", sextant(f"{command} --help", code=None).text, f"{command} --json was not tried")
        return absent

    def test_every_form_is_exact(self):
        absent, seen, wrong = self.run_every_command(), set(), []
        for name, schema in schemas.schemas.items():
            self.assertTrue(schema.get("$id") == f"https://sextant.invalid/schemas/{name}.json" and schema.get("title"), name)
            wrong += gaps(name, schema)
            jsonschema.Draft202012Validator.check_schema(schema)
        for file, text in schemas.contents(["."]):
            document = schemas.shortened(schemas.parse(text), 8)
            name = schemas.form_of(document)
            if name in seen:
                continue
            seen.add(name)
            for path, value in faults(document, schemas.schemas[name], schemas.schemas[name]):
                try:
                    if schemas.form_of(with_fault(document, path, value)) == name:
                        wrong.append(f"{name}: accepted with {'.'.join(map(str, path))} {value}")
                except schemas.WrongJson:
                    pass
        wrong += [f"no file has the form {name}" for name in sorted(schemas.forms.keys() - seen - absent)]
        self.assertFalse(wrong, "\n".join(wrong))

    def test_what_is_not_json_is_refused(self):
        for text in ('{"operation": "info", "frames": NaN}', '{"operation": "info", "operation": "info"}',
                     '{"operation": "info"', '{"operation": "unknown", "version": "1.0.0"}', "[]", "3", "{}"):
            with self.assertRaises(schemas.WrongJson, msg=text):
                schemas.form_of(schemas.parse(text))


if __name__ == "__main__":
    unittest.main()
