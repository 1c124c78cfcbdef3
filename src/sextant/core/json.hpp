// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant {

/// Limits on a JSON file, which bound the memory and time needed to parse it. In addition, values
/// are nested at most 100 levels deep, and the keys of an object are distinct.
struct JsonLimits {
    Bytes bytes = Bytes{1} << 26;
    std::size_t values = std::size_t{1} << 20; ///< values in memory at a time
    std::size_t keys = 1000;                   ///< keys per object
};

/// A list in the outermost object whose entries are passed to `take` one by one and not kept, so
/// that only one is in memory at a time.
struct JsonStream {
    std::string_view list;
    std::function<void(nlohmann::json&& entry)> take;
};

/// Parses JSON. Throws InvalidFile if the text is not JSON or exceeds the limits; quotations in the
/// message are shortened. Exceptions thrown by `take` propagate.
nlohmann::json parse_json(std::string_view text, const std::string& path,
                          const JsonLimits& limits = {}, const JsonStream& stream = {});

/// Reads and parses a regular file.
nlohmann::json read_json(const std::string& path, const JsonLimits& limits = {},
                         const JsonStream& stream = {});

/// A value in the form that error messages show: "an array of 3", or the beginning of its text.
std::string shown(const nlohmann::json& value);

/// The value as text, with the same escapes as Json::text().
std::string to_text(const nlohmann::json& json, int indent = 2);
std::string to_text(const nlohmann::ordered_json& json, int indent = 2);

/// A value of a JSON file together with its path in the file. Accessors throw InvalidFile if the
/// value is not as requested: "das.json: links[0].curves[3].path is 7, expected ...". Fields of one
/// file share its content.
class JsonField {
  public:
    /// Parses the text of a whole file.
    static JsonField parse(std::string_view text, const std::string& path,
                           const JsonLimits& limits = {});
    /// Passes the entries of a list in the outermost object to `take` one by one and keeps none, so
    /// that only one is in memory at a time. Returns the rest of the file.
    static JsonField parse(std::string_view text, const std::string& path, const std::string& list,
                           const std::function<void(const JsonField& entry)>& take);
    /// Reads and parses a regular file.
    static JsonField read(const std::string& path, const JsonLimits& limits = {});

    /// The largest number allowed in any field.
    static constexpr double most = 1e18;

    JsonField at(const std::string& name) const; ///< required member of an object
    std::optional<JsonField> find(const std::string& name) const;
    std::vector<std::string> names() const; ///< member names of an object
    /// Requires an object without other members than these; a message suggests similar names.
    void require_known(const std::vector<std::string_view>& names) const;
    JsonField operator[](std::size_t i) const; ///< element of an array; the index must exist
    std::vector<JsonField> items() const;      ///< elements of an array
    std::vector<JsonField> items_or_none(const std::string& name) const;
    std::size_t size() const; ///< number of elements of an array
    void require_size(std::size_t size, const std::string& expected) const;

    const std::string& name() const { return name_; } ///< path of the value in the file
    bool is_null() const;
    bool is_object() const;
    bool is_number() const;
    double number(double from, double to) const;
    /// `what` begins the description of the expected value in messages.
    std::int64_t integer(std::int64_t from, std::int64_t to,
                         std::string_view what = "a whole number") const;
    /// Requires a version of the file from 1 to `newest`.
    void require_version(int newest) const;
    bool boolean() const;
    std::string text(const std::string& expected = "a string") const; ///< must not be empty
    std::string any_text(const std::string& expected = "a string") const;
    std::string text_or(const std::string& name, const std::string& fallback) const;
    std::string text_or_empty(const std::string& name) const; ///< the text may be empty
    /// The enumerator whose name is the field's text. `names` lists the names in the order of
    /// values.
    template <class Enum>
    Enum one_of(std::span<const std::string_view> names) const {
        return static_cast<Enum>(place_in(names));
    }

    /// refuse() and fail() throw InvalidFile with the messages "FILE: FIELD is VALUE, expected
    /// EXPECTED" and "FILE: FIELD WHAT".
    [[noreturn]] void refuse(const std::string& expected) const;
    [[noreturn]] void fail(const std::string& what) const;

  private:
    struct File;
    static JsonField whole(nlohmann::json content, const std::string& path);
    JsonField(std::shared_ptr<const File> file, const nlohmann::json& value, std::string name)
        : file_(std::move(file)), value_(&value), name_(std::move(name)) {}
    std::size_t place_in(std::span<const std::string_view> names) const;

    std::shared_ptr<const File> file_;
    const nlohmann::json* value_;
    std::string name_; ///< empty for the whole file
};

} // namespace sextant
