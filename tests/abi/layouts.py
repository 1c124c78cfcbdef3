# SPDX-License-Identifier: BSD-3-Clause
"""Compares the layouts of all structs and classes in two dumps of abidw: layouts.py OLD NEW SUPPRESSIONS

A struct may get new fields in its reserved space (core/reserved.hpp) or padding, and an enumeration new values; abidiff
has no rule for this. For these, suppressions for abidiff, which compares everything else, are written to a file. Fails if any other layout has changed.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree


class Dump:
    """The classes of a dump: their sizes and, by name, the offset and type of each field. Values of enumerations."""

    def __init__(self, path):
        self.elements, self.scopes, self.classes, self.enums = {}, {}, {}, {}
        self.collect(ElementTree.parse(path).getroot(), "")

    def collect(self, element, scope):
        if "id" in element.attrib:
            self.elements[element.get("id")] = element
            self.scopes[element.get("id")] = scope
        if element.tag in ("namespace-decl", "class-decl", "union-decl"):
            scope = f"{scope}{element.get('name')}::"
        if element.tag == "enum-decl" and element.get("name"):
            self.enums[scope + element.get("name")] = {(value.get("name"), value.get("value"))
                                                       for value in element.findall("enumerator")}
        if element.tag == "class-decl" and element.get("size-in-bits") and "__anonymous" not in scope:
            fields = {}
            for base in element.findall("base-class"):
                fields[f"base {base.get('type-id')}"] = (base.get("layout-offset-in-bits"), base.get("type-id"))
            for member in element.findall("data-member"):
                field = member.find("var-decl")
                if not member.get("static"):
                    fields[field.get("name")] = (member.get("layout-offset-in-bits"), field.get("type-id"))
            self.classes[scope[:-2]] = int(element.get("size-in-bits")), fields
        for child in element:
            self.collect(child, scope)

    def public(self, name):
        """Whether all of Sextant's types in the name of a class are in the dump, which has only types of installed
        headers: std::optional<T> is there whether T is or not.
        """
        known = {scope + (self.elements[identifier].get("name") or "") for identifier, scope in self.scopes.items()}
        return set(re.findall(r"sextant::[\w:]+", name)) <= known

    def type_name(self, identifier):
        element = self.elements.get(identifier)
        if element is None:
            return "a type that is not public"
        inner = element.get("type-id")
        if element.tag == "qualified-type-def":
            return f"const {self.type_name(inner)}"
        if element.tag == "pointer-type-def":
            return f"{self.type_name(inner)}*"
        if element.tag == "reference-type-def":
            return f"{self.type_name(inner)}&"
        if element.tag == "array-type-def":
            return f"{self.type_name(inner)}[{element.get('size-in-bits')} bits]"
        return self.scopes[identifier] + (element.get("name") or element.tag)

    def fields(self, name):
        """The fields of a class: (offset in bits, type) by name."""
        return {field.split()[0] + self.type_name(type_id) if field.startswith("base ") else field:
                (int(offset or 0), self.type_name(type_id))
                for field, (offset, type_id) in self.classes[name][1].items()}


def reserved_words(fields):
    words = re.search(r"Reserved<(\d+)>", fields.get("reserved", (0, ""))[1])
    return int(words.group(1)) if words else 0


def change(name, old, new):
    """Describes an incompatible change; returns "" if there is none, and None if the reserved space or padding is used."""
    before, after = old.fields(name), new.fields(name)
    if old.classes[name][0] != new.classes[name][0]:
        return f"size changed from {old.classes[name][0] // 8} to {new.classes[name][0] // 8} bytes"
    for field, (offset, kind) in before.items():
        if field == "reserved":
            continue
        if field not in after:
            return f"field {field} was removed"
        if after[field] != (offset, kind):
            return f"field {field} was {kind} at bit {offset}, and is {after[field][1]} at bit {after[field][0]}"
    added = [field for field in after if field not in before]
    if not added and before == after:
        return ""
    begin, end = before.get("reserved", (0, ""))[0], after.get("reserved", (0, ""))[0]
    words = reserved_words(before) - reserved_words(after)
    if added and words == 0:  # where the others are and the size is as before: in the padding
        return None
    if words <= 0 or end - begin != 64 * words:
        return f"field {', '.join(added) or 'reserved'} takes no words of the reserved space at bit {begin}"
    for field in added:
        if not begin <= after[field][0] < end:
            return f"field {field} is at bit {after[field][0]}, expected {begin} or more, in the reserved space"
    return None


def main():
    old, new = Dump(sys.argv[1]), Dump(sys.argv[2])
    failed = False
    with open(sys.argv[3], "w") as suppressions:
        for name in sorted(old.classes.keys() & new.classes.keys()):
            found = change(name, old, new)
            if found is None:
                print(f"{name}: new fields in its reserved space or padding")
                suppressions.write(f"[suppress_type]\n  name = {name}\n")
            elif found and new.public(name):
                print(f"{name}: {found}")
                failed = True
        for name in old.enums.keys() & new.enums.keys():
            if old.enums[name] < new.enums[name]:  # abidiff reports it where a type that changed has it
                print(f"{name}: new values")
                suppressions.write(f"[suppress_type]\n  type_kind = enum\n  name = {name}\n")
    return failed


sys.exit(main())
