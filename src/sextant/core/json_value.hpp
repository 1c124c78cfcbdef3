// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// A JSON value for output. Members keep their order. Numbers that are not finite are written as
/// null. An object is written in C++ as a list of its members: {{"width", 3}, {"height", 2}}.
class Json {
  public:
    struct Member;

    Json() noexcept; ///< creates a JSON null
    Json(bool value);
    Json(int value);
    Json(std::int64_t value);
    Json(std::uint64_t value);
    Json(double value);
    Json(std::string_view text);
    Json(const std::string& text) : Json(std::string_view(text)) {}
    Json(const char* text) : Json(std::string_view(text)) {}
    Json(std::initializer_list<Member> object);
    template <class Type>
    Json(const std::optional<Type>& value) : Json(value ? Json(*value) : Json()) {}
    template <class Type>
    Json(const std::vector<Type>& values) : Json(array()) {
        for (const Type& each : values)
            add(each);
    }
    Json(const Json& other);
    Json(Json&& other) noexcept;
    Json& operator=(Json other) noexcept;
    ~Json();

    static Json object(); ///< an empty object
    static Json array(std::initializer_list<Json> items = {});

    /// Adds a member to an object, or replaces it. A null value first becomes an empty object.
    void set(std::string_view name, Json value);
    /// Appends to an array. A null value first becomes an empty array.
    void add(Json value);

    /// The value as text that is safe to show on a terminal, indented by `indent` spaces per level.
    /// Bytes that are not UTF-8, as in file names, become U+FFFD.
    std::string text(int indent = 2) const;

  private:
    struct Value;
    explicit Json(Value value);
    Value& value(); ///< allocates the value if it is null

    std::unique_ptr<Value> value_; // null pointer: JSON null
};

struct Json::Member {
    std::string_view name;
    Json value;
};

} // namespace sextant
