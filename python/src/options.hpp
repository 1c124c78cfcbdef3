// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/effects.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>

// Keyword arguments and results of Python functions are derived from the records of options and
// results (core/record.hpp). No keyword is named here.
namespace sextant::python {

/// Sets the fields of a record from keyword arguments. None keeps the default. Returns the names of
/// the fields that were set.
/// Throws    InvalidKeyword for a name that is not a field (the error contains the nearest name) or
///           a value of the wrong type; InvalidTask for an invalid value.
std::set<std::string, std::less<>> set_options(const Record& record,
                                               const pybind11::dict& keywords);

/// Converts an argument to a whole number in a range, both ends included.
/// Throws    WrongType for another type; InvalidTask for a number outside the range.
std::int64_t whole_number(const std::string& name, pybind11::handle value, std::int64_t least,
                          std::int64_t most);
/// Converts an argument that is True or False. Throws WrongType for another type.
bool truth(const std::string& name, pybind11::handle value);

/// Sets options from keyword arguments; `record` declares them. Also throws InvalidTask for a
/// keyword without effect.
template <class Options>
void set_options(const Options& options, const Record& record, const pybind11::dict& keywords) {
    set_options(record, keywords);
    if constexpr (requires { effects_of(options); })
        check_effects(options, record, true);
}

/// The options of a function, set from keyword arguments. Python caches recent ones, because most
/// calls repeat the keywords of an earlier call.
template <class Options>
struct Parsed {
    explicit Parsed(const pybind11::dict& keywords) {
        set_options(options, record_of(options), keywords);
    }
    Options options;
};

/// The fields of a record, as a list of dictionaries: name, meaning, kind, value_name, default,
/// choices, least, most.
pybind11::list described(const Record& record);

/// The record of a result. Its JSON is generated on demand.
class LazyRecord {
  public:
    explicit LazyRecord(std::function<std::string()> json) : json_(std::move(json)) {}
    std::string json() const { return json_(); }

  private:
    std::function<std::string()> json_;
};

template <class Result>
LazyRecord lazy_record(Result result) {
    return LazyRecord([result = std::move(result)] { return to_json(record_of(result)); });
}

} // namespace sextant::python
