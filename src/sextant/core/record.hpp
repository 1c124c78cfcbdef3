// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/json_value.hpp"
#include "sextant/core/units.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Structs of options and results whose fields are declared once: name, meaning, range or choices. A
// struct is declared by a function `Record record_of(Options&)` or `record_of(const Result&)`.
// Command-line parsing, help, validation, JSON and the check that all ranks have the same options
// are all derived from the Record.
namespace sextant {

class Field;
class JsonField;
class Record;
struct Tiles;

/// The largest count of pixels, values or frames in an option.
inline constexpr double most_count = std::int64_t{1} << 40;

/// The name of an enumerator in options and JSON.
template <class Enum>
struct Named {
    std::string_view name;
    Enum value;
};

/// Converts a field's value to and from text.
struct Codec {
    /// Returns the value as text, which is empty if the field has no value.
    std::function<std::string()> text;
    /// Sets the value from text. If the text is not valid, returns a description of valid texts,
    /// else "".
    std::function<std::string(const Field& field, std::string_view text)> set;
};

/// A field of a struct: its declaration, and access to its value in one object.
class Field {
  public:
    /// The representation of the value in JSON and on a command line.
    enum class Kind {
        flag,     ///< true or false; an option without a value
        integer,  ///< a whole number
        number,   ///< a number
        text,     ///< a string
        integers, ///< whole numbers; separated by commas on a command line
        texts,    ///< strings; several arguments on a command line
        record,   ///< a struct
        result,   ///< any value of a result; written, but never read
    };

    std::string name;       ///< name in C++ and JSON, such as "fold_threads"
    std::string meaning;    ///< description in one line
    std::string value_name; ///< placeholder of the value in help: "N", "FILE"; or its unit
    Kind kind = Kind::text;
    double least = 0, most = 0; ///< range of a number, or of each number in a list; both inclusive
    std::vector<std::string_view> choices; ///< the names of an enumeration's values
    char option_letter = 0;                ///< short option, or 0
    bool is_positional = false, is_required = false, is_file = false;
    std::string without_value;  ///< value of an option given without one; "" if it requires one
    std::optional<double> none; ///< the number that means "no value"
    bool differs = false;       ///< the value may differ between ranks

    /// Sets the range, both ends included. Numbers without a range are only written, never read.
    Field& between(double least, double most);
    /// Declares a number that means "no value". It may be outside the range.
    Field& none_is(double value);
    /// Restricts a text to these choices, which must be string literals.
    Field& one_of(std::vector<std::string_view> texts);
    Field& letter(char letter);
    Field& positional();
    Field& required();
    /// Declares a file name, which must not be empty. Declare by_rank() too if each node may have
    /// its own file, such as a machine profile.
    Field& file();
    /// Allows the value to differ between ranks.
    Field& by_rank();
    /// Makes the option's value optional: an option given without a value gets this one.
    Field& or_without(std::string value);

    /// The name in messages: "--fold-threads" or "IN..." on a command line, else "fold_threads".
    std::string called() const;
    /// The value as text; empty if the field has no value.
    std::string text() const;
    /// Sets the value from text. Throws InvalidTask, naming the field, the value and what was
    /// expected.
    void set(std::string_view text) const;
    /// Sets the value of a field of Kind::texts.
    void set_all(const std::vector<std::string>& texts) const;
    /// Throws InvalidTask if the value is outside the range.
    void check() const;

    Codec codec;
    std::vector<std::string>* texts = nullptr; ///< the value of Kind::texts
    std::vector<Record> records;               ///< the value of Kind::record: one entry
    Json result;                               ///< the value of Kind::result
    bool on_command_line = false;
};

/// The types that the value of a field may have: numbers, strings, and lists of these.
template <class Value>
concept FieldValue = std::same_as<Value, int> || std::same_as<Value, std::int64_t> ||
    std::same_as<Value, double> || std::same_as<Value, std::optional<std::int64_t>> ||
    std::same_as<Value, std::optional<double>> || std::same_as<Value, std::string> ||
    std::same_as<Value, std::vector<int>> || std::same_as<Value, std::vector<std::int64_t>> ||
    std::same_as<Value, std::vector<std::string>>;

/// A field of a result: its value and a one-line description.
struct ResultField {
    std::string_view name;
    Json value;
    std::string_view meaning = "";
};

/// The declared fields of one object. The record refers to the object, which must outlive it;
/// values of results are copied.
class Record {
  public:
    std::vector<Field> fields;

    Record() = default;
    /// Declares the fields of a result: {{"components", result.components, "number of components"},
    /// ...}
    Record(std::initializer_list<ResultField> results);
    operator Json() const; ///< omits options that have no value

    /// Declares a field. `value_name` is as in Field.
    Field& add(std::string_view name, bool& value, std::string_view meaning);
    template <FieldValue Value>
    Field& add(std::string_view name, Value& value, std::string_view value_name,
               std::string_view meaning);
    /// Declares an enumeration. The names must be string literals.
    template <class Enum>
    Field& add(std::string_view name, Enum& value, std::vector<Named<Enum>> all,
               std::string_view value_name, std::string_view meaning) {
        std::vector<std::string_view> choices;
        for (const Named<Enum>& each : all)
            choices.push_back(each.name);
        return add_choice(
            name, std::move(choices), value_name, meaning,
            [all, &value] {
                std::size_t i = 0;
                while (i + 1 < all.size() && all[i].value != value)
                    ++i;
                return i;
            },
            [all, &value](std::size_t i) { value = all[i].value; });
    }
    /// Declares a list of whole numbers, sorted and without duplicates, as ranges: "1..8,13".
    Field& add_ranges(std::string_view name, std::vector<int>& value, std::string_view meaning);
    /// Declares an amount of memory in bytes: "512M", "2G"; a number without a unit is in
    /// mebibytes.
    Field& add_memory(std::string_view name, Bytes& value, std::string_view meaning);
    /// Declares columns and rows, or width and height: "3x2", or "4" for "4x4". Tiles may have
    /// layers: "3x2x5". A width of 0 means "no value".
    Field& add(std::string_view name, std::optional<Tiles>& tiles, std::string_view meaning);
    Field& add_size(std::string_view name, std::int64_t& width, std::int64_t& height,
                    std::string_view meaning);
    /// Declares a field of any other type.
    Field& add(std::string_view name, Codec codec, std::string_view value_name,
               std::string_view meaning);
    /// Declares a nested struct.
    Field& add(std::string_view name, Record record);
    /// Declares a value of a result, which may be null.
    Record& add_result(std::string_view name, Json value, std::string_view meaning = "");
    /// Adds all fields of another record, at the end or after the field `after`.
    Record& include(Record record, std::string_view after = "");
    /// Removes a field, for callers that do not offer it.
    Record& without(std::string_view name);

    /// The field with this name. Throws std::logic_error if there is no such field.
    Field& operator[](std::string_view name);
    const Field* find(std::string_view name) const;

    /// Throws InvalidTask, naming the first field whose value is outside its range.
    void check() const;
    /// One line per field that must have the same value on all ranks: "window 3".
    std::string settings() const;

  private:
    Field& add(std::string_view name, Field::Kind kind, Codec codec, std::string_view value_name,
               std::string_view meaning);
    Field& add_choice(std::string_view name, std::vector<std::string_view> choices,
                      std::string_view value_name, std::string_view meaning,
                      std::function<std::size_t()> get, std::function<void(std::size_t)> set);
};

/// An amount of memory in the syntax of options, such as "512M"; rounded up to a multiple of 1 KiB.
std::string text_of_memory(Bytes bytes);

/// The record as JSON text.
std::string to_json(const Record& record);
/// Sets the fields that are present in a JSON object; the others keep their values. Throws
/// InvalidFile if a value is invalid, a member is not a field, or a required field is missing; the
/// message names the file, the field's path in it, the value and what was expected.
void read(const Record& record, const JsonField& json);

} // namespace sextant
