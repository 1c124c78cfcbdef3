// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "sextant/core/text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "errors.hpp"
#include "text.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

using Kind = Field::Kind;

[[noreturn]] void refuse_type(const Field& field, py::handle value, std::string_view expected) {
    throw InvalidKeyword(fmt::format("{} is {}, expected {}", field.name, shown(value), expected));
}

bool is_truth(py::handle value) {
    return py::isinstance<py::bool_>(value) ||
           std::string_view(Py_TYPE(value.ptr())->tp_name).starts_with("numpy.bool");
}

/// True for sequences other than strings. A NumPy array without axes has no length.
bool is_list(py::handle value) {
    if (!py::isinstance<py::sequence>(value) || py::isinstance<py::str>(value) ||
        py::isinstance<py::bytes>(value))
        return false;
    const bool has_length = PyObject_Size(value.ptr()) >= 0;
    PyErr_Clear();
    return has_length;
}

/// Rejects the value after an exception about its type or size; rethrows other exceptions.
[[noreturn]] void refuse_after_exception(const Field& field, py::handle value,
                                         std::string_view expected) {
    py::error_already_set error;
    for (PyObject* const type : {PyExc_TypeError, PyExc_ValueError, PyExc_OverflowError}) {
        if (error.matches(type))
            refuse_type(field, value, expected);
    }
    throw error;
}

std::string text_of_integer(const Field& field, py::handle value) {
    constexpr std::string_view expected = "a whole number";
    if (is_truth(value) || is_list(value) || !PyIndex_Check(value.ptr()))
        refuse_type(field, value, expected);
    const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    PyObject* const text = whole ? PyObject_Str(whole.ptr()) : nullptr;
    if (!text) // not an integer, or an integer with too many digits
        refuse_after_exception(field, value, expected);
    return utf8_of(py::reinterpret_steal<py::object>(text));
}

bool is_number(py::handle value) {
    return !is_truth(value) && !py::isinstance<py::str>(value) && !is_list(value) &&
           (PyIndex_Check(value.ptr()) || PyFloat_Check(value.ptr()) ||
            py::hasattr(value, "__float__"));
}

/// The shortest decimal text of a number that reads back as the same number.
std::string text_of_number(const Field& field, py::handle value) {
    constexpr std::string_view expected = "a number";
    if (!is_number(value))
        refuse_type(field, value, expected);
    if (PyIndex_Check(value.ptr())) {
        const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
        if (whole)
            return text_of_integer(field, whole);
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            refuse_after_exception(field, value, expected);
        PyErr_Clear(); // a NumPy array with one non-integer number
    }
    const double number = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred())
        refuse_after_exception(field, value, expected);
    return fmt::format("{}", number);
}

bool is_path(const Field& field) {
    return field.is_file || field.value_name == "FOLDER";
}

/// A string, path or number as text.
std::string text_of_one(const Field& field, py::handle value) {
    if (py::hasattr(value, "__fspath__") || (py::isinstance<py::bytes>(value) && is_path(field)))
        return path_of(field.name, value);
    if (py::isinstance<py::str>(value))
        return is_path(field) ? path_of(field.name, value) : utf8_of(value);
    if (is_number(value))
        return text_of_number(field, value);
    refuse_type(field, value, "a string or a number");
}

/// A part of a list as text: ("smooth", 2.5) becomes "smooth@2.5".
std::string text_of_part(const Field& field, py::handle value) {
    if (!py::isinstance<py::tuple>(value) || py::len(value) != 2)
        return text_of_one(field, value);
    const auto pair = py::reinterpret_borrow<py::tuple>(value);
    return text_of_one(field, pair[0]) + "@" + text_of_one(field, pair[1]);
}

std::vector<std::string> parts_of(const Field& field, py::handle value) {
    std::vector<std::string> parts;
    for (const py::handle part : value)
        parts.push_back(text_of_part(field, part));
    return parts;
}

/// Returns "on" or "off" for True or False, for an option with these values.
std::string text_of_truth(const Field& field, py::handle value) {
    const std::string_view text = PyObject_IsTrue(value.ptr()) == 1 ? "on" : "off";
    const auto is = [](std::string_view word) {
        return [word](std::string_view each) { return each == word; };
    };
    const std::string other = field.text();
    const bool takes = field.choices.empty() ? other == "auto" || other == "on" || other == "off"
                                             : std::ranges::any_of(field.choices, is(text));
    if (!takes)
        refuse_type(field, value, "a string");
    return std::string(text);
}

std::string text_of(const Field& field, py::handle value) {
    switch (field.kind) {
    case Kind::flag:
        if (!is_truth(value))
            refuse_type(field, value, "True or False");
        return PyObject_IsTrue(value.ptr()) == 1 ? "true" : "false";
    case Kind::integer:
        return text_of_integer(field, value);
    case Kind::number:
        return text_of_number(field, value);
    case Kind::integers:
        if (py::isinstance<py::str>(value))
            return utf8_of(value);
        if (is_list(value))
            return fmt::format("{}", fmt::join(parts_of(field, value), ","));
        return text_of_number(field, value);
    default:
        break;
    }
    if (is_truth(value))
        return text_of_truth(field, value);
    if (is_list(value)) {
        const bool is_tiles = field.value_name == "XxY"; // tiles may also have layers
        const bool is_size = is_tiles || field.value_name == "WxH";
        if (is_size && py::len(value) != 2 && !(is_tiles && py::len(value) == 3))
            refuse_type(field, value, "two whole numbers");
        return fmt::format("{}", fmt::join(parts_of(field, value), is_size ? "x" : ","));
    }
    return text_of_one(field, value);
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
        const std::string name = utf8_of(key);
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

std::int64_t whole_number(const std::string& name, py::handle value, std::int64_t least,
                          std::int64_t most) {
    const std::string expected = fmt::format("a whole number from {} to {}", least, most);
    const bool is_whole = !is_truth(value) && PyIndex_Check(value.ptr());
    const auto whole =
        py::reinterpret_steal<py::object>(is_whole ? PyNumber_Index(value.ptr()) : nullptr);
    PyErr_Clear(); // a NumPy array with several numbers
    if (!whole)
        throw WrongType(fmt::format("{} is {}, expected {}", name, shown(value), expected));
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    if (overflow != 0 || number < least || number > most)
        throw InvalidTask(fmt::format("{} {}: expected {}", name, shown(whole), expected));
    return number;
}

bool truth(const std::string& name, py::handle value) {
    if (!is_truth(value))
        throw WrongType(fmt::format("{} is {}, expected True or False", name, shown(value)));
    return PyObject_IsTrue(value.ptr()) == 1;
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
