// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "sextant/core/text.hpp"

#include <string_view>
#include <vector>

#include "errors.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

using Kind = Field::Kind;

[[noreturn]] void refuse_type(const Field& field, py::handle value, std::string_view expected) {
    throw InvalidKeyword(fmt::format("{} is {}, expected {}", field.name,
                                     py::repr(value).cast<std::string>(), expected));
}

bool is_number(py::handle value) {
    return !py::isinstance<py::bool_>(value) && !py::isinstance<py::str>(value) &&
           (PyIndex_Check(value.ptr()) || PyFloat_Check(value.ptr()) ||
            py::hasattr(value, "__float__"));
}

/// The shortest decimal text of a number that reads back as the same number.
std::string text_of_number(py::handle value) {
    if (PyIndex_Check(value.ptr()))
        return py::str(py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr())));
    const double number = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred())
        throw py::error_already_set();
    return fmt::format("{}", number);
}

/// A part of a value that is written as a text.
std::string text_of_part(const Field& field, py::handle value) {
    if (py::isinstance<py::str>(value))
        return value.cast<std::string>();
    if (py::hasattr(value, "__fspath__"))
        return py::str(py::module_::import("os").attr("fspath")(value));
    if (is_number(value))
        return text_of_number(value);
    if (py::isinstance<py::tuple>(value) && py::len(value) == 2) { // ("smooth", 2.5): "smooth@2.5"
        const py::tuple pair = py::reinterpret_borrow<py::tuple>(value);
        return text_of_part(field, pair[0]) + "@" + text_of_part(field, pair[1]);
    }
    refuse_type(field, value, "a text or a number");
}

bool is_list(py::handle value) {
    return py::isinstance<py::sequence>(value) && !py::isinstance<py::str>(value) &&
           !py::isinstance<py::bytes>(value);
}

std::vector<std::string> parts_of(const Field& field, py::handle value) {
    std::vector<std::string> parts;
    for (const py::handle part : py::reinterpret_borrow<py::sequence>(value))
        parts.push_back(text_of_part(field, part));
    return parts;
}

std::string text_of(const Field& field, py::handle value) {
    switch (field.kind) {
    case Kind::flag:
        if (!py::isinstance<py::bool_>(value) &&
            std::string_view(Py_TYPE(value.ptr())->tp_name) != "numpy.bool_")
            refuse_type(field, value, "True or False");
        return PyObject_IsTrue(value.ptr()) ? "true" : "false";
    case Kind::integer:
        if (py::isinstance<py::bool_>(value) || !PyIndex_Check(value.ptr()))
            refuse_type(field, value, "a whole number");
        return text_of_number(value);
    case Kind::number:
        if (!is_number(value))
            refuse_type(field, value, "a number");
        return text_of_number(value);
    case Kind::integers:
        if (py::isinstance<py::str>(value))
            return value.cast<std::string>();
        if (is_list(value))
            return fmt::format("{}", fmt::join(parts_of(field, value), ","));
        return text_of_number(value);
    default:
        break;
    }
    if (py::isinstance<py::bool_>(value)) { // a choice such as "on" or "off"
        refuse_type(field, value, "a text");
    }
    if (is_list(value)) {
        const bool is_size = field.value_name == "XxY" || field.value_name == "WxH";
        if (is_size && py::len(value) != 2)
            refuse_type(field, value, "two whole numbers");
        return fmt::format("{}", fmt::join(parts_of(field, value), is_size ? "x" : ","));
    }
    return text_of_part(field, value);
}

std::string_view name_of(Kind kind) {
    constexpr std::string_view names[] = {"flag",     "integer", "number", "text",
                                          "integers", "texts",   "record", "result"};
    return names[static_cast<int>(kind)];
}

} // namespace

std::set<std::string, std::less<>> set_options(const Record& record, const py::dict& keywords) {
    std::set<std::string, std::less<>> given;
    for (const auto& [key, value] : keywords) {
        const auto name = key.cast<std::string>();
        const Field* field = record.find(name);
        if (!field) {
            std::vector<std::string_view> names;
            for (const Field& each : record.fields)
                names.push_back(each.name);
            throw InvalidKeyword(unknown_name("keyword", name, names));
        }
        if (value.is_none())
            continue;
        if (field->kind == Kind::texts)
            field->set_all(is_list(value) ? parts_of(*field, value)
                                          : std::vector{text_of(*field, value)});
        else
            field->set(text_of(*field, value));
        given.insert(name);
    }
    return given;
}

py::list described(const Record& record) {
    py::list all;
    for (const Field& field : record.fields) {
        py::dict entry;
        entry["name"] = field.name;
        entry["meaning"] = field.meaning;
        entry["kind"] = name_of(field.kind);
        entry["value_name"] = field.value_name;
        entry["default"] = field.kind == Kind::texts ? std::string() : field.text();
        entry["choices"] =
            py::cast(std::vector<std::string>(field.choices.begin(), field.choices.end()));
        entry["least"] = field.least;
        entry["most"] = field.most;
        entry["required"] = field.is_required;
        all.append(entry);
    }
    return all;
}

} // namespace sextant::python
