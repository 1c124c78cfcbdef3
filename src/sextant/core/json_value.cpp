// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/json_value.hpp"

#include "sextant/core/json.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace sextant {

struct Json::Value {
    nlohmann::ordered_json json;
};

Json::Json(Value value) : value_(std::make_unique<Value>(std::move(value))) {}

Json::Json() noexcept = default;
Json::Json(bool value) : Json(Value{value}) {}
Json::Json(int value) : Json(Value{value}) {}
Json::Json(std::int64_t value) : Json(Value{value}) {}
Json::Json(std::uint64_t value) : Json(Value{value}) {}
Json::Json(double value) : Json(Value{value}) {}
Json::Json(std::string_view text) : Json(Value{text}) {}
Json::Json(std::initializer_list<Member> object) {
    for (const Member& member : object)
        set(member.name, member.value);
}
Json::Json(const Json& other)
    : value_(other.value_ ? std::make_unique<Value>(*other.value_) : nullptr) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json other) noexcept {
    value_ = std::move(other.value_);
    return *this;
}
Json::~Json() = default;

Json Json::object() {
    return Json(Value{nlohmann::ordered_json::object()});
}

Json Json::array(std::initializer_list<Json> items) {
    Json json(Value{nlohmann::ordered_json::array()});
    for (const Json& item : items)
        json.add(item);
    return json;
}

Json::Value& Json::value() {
    if (!value_)
        value_ = std::make_unique<Value>();
    return *value_;
}

void Json::set(std::string_view name, Json value) {
    this->value().json[std::string(name)] = std::move(value.value().json);
}

void Json::add(Json value) {
    this->value().json.push_back(std::move(value.value().json));
}

std::string Json::text(int indent) const {
    return value_ ? to_text(value_->json, indent) : "null";
}

} // namespace sextant
