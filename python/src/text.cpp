// SPDX-License-Identifier: BSD-3-Clause
#include "text.hpp"

#include "sextant/core/text.hpp"

#include <algorithm>

#include "errors.hpp"
#include <fmt/format.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

py::str decoded(std::string_view bytes, const char* errors) {
    PyObject* const text =
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), errors);
    if (!text)
        throw py::error_already_set();
    return py::reinterpret_steal<py::str>(text);
}

std::string bytes_in(const py::object& bytes) {
    return {PyBytes_AS_STRING(bytes.ptr()),
            static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

} // namespace

std::string utf8_of(py::handle string) {
    for (const char* errors : {"surrogateescape", "replace"}) {
        if (PyObject* const bytes = PyUnicode_AsEncodedString(string.ptr(), "utf-8", errors))
            return bytes_in(py::reinterpret_steal<py::object>(bytes));
        PyErr_Clear();
    }
    throw WrongType("a string cannot be encoded in UTF-8");
}

py::str shown_text(std::string_view bytes) {
    return decoded(bytes, "backslashreplace");
}

py::list shown_texts(const std::vector<std::string>& all) {
    py::list texts;
    for (const std::string& each : all)
        texts.append(shown_text(each));
    return texts;
}

py::str name_text(std::string_view bytes) {
    return decoded(bytes, "surrogateescape");
}

std::string path_of(std::string_view name, py::handle path) {
    PyObject* bytes = nullptr;
    if (!PyUnicode_FSConverter(path.ptr(), &bytes)) {
        const py::error_already_set error;
        if (error.matches(PyExc_TypeError))
            throw WrongType(
                fmt::format("{} is {}, expected a path: a string, bytes or a pathlib object", name,
                            shown(path)));
        if (error.matches(PyExc_ValueError)) // including UnicodeEncodeError
            throw InvalidTask(
                fmt::format("{} is {}, expected a path without null characters or surrogates", name,
                            shown(path)));
        throw error;
    }
    return bytes_in(py::reinterpret_steal<py::object>(bytes));
}

std::string text_with_keywords(std::string_view text,
                               const std::function<bool(const std::string&)>& is_keyword) {
    const auto is_of_name = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    std::string named;
    while (!text.empty()) {
        const auto end = std::find_if_not(text.begin(), text.end(), is_of_name);
        std::string word(text.begin(), end == text.begin() ? end + 1 : end);
        text.remove_prefix(word.size());
        if (word.starts_with("--")) {
            std::string keyword = word.substr(2);
            std::ranges::replace(keyword, '-', '_');
            if (is_keyword(keyword))
                word = keyword;
        }
        named += word;
    }
    return named;
}

std::string shown(py::handle value) {
    constexpr std::size_t most = 100;
    if (PyObject* const repr = PyObject_Repr(value.ptr()))
        return shortened(utf8_of(py::reinterpret_steal<py::object>(repr)), most);
    PyErr_Clear();
    return fmt::format("a value of type {}", Py_TYPE(value.ptr())->tp_name);
}

} // namespace sextant::python
