// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

// Python and C++ strings. C++ strings are UTF-8, or file names with any bytes.
namespace sextant::python {

/// The bytes of a str. Surrogates of os.fsdecode() become the bytes that they represent; other
/// surrogates become "?".
std::string utf8_of(pybind11::handle string);

/// A str for display, with an escape such as "\xe9" for each byte that is not UTF-8.
pybind11::str shown_text(std::string_view bytes);

/// A list of such strings.
pybind11::list shown_texts(const std::vector<std::string>& all);

/// A str that may name files, decoded like os.fsdecode().
pybind11::str name_text(std::string_view bytes);

/// The bytes of a path: str, bytes or os.PathLike. `name` is the name of the argument.
/// Throws    WrongType for other types; InvalidTask for a path that contains a null character.
std::string path_of(std::string_view name, pybind11::handle path);

/// Replaces option names in a text with keywords: "--fold-threads" becomes "fold_threads" if this
/// keyword exists.
std::string text_with_keywords(
    std::string_view text, const std::function<bool(const std::string&)>& is_keyword =
                               [](const std::string&) { return true; });

/// The repr() of a value for an error, shortened.
std::string shown(pybind11::handle value);

} // namespace sextant::python
