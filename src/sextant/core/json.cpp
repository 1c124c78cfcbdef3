// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/json.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant {

namespace {

using Value = nlohmann::json;

constexpr std::size_t most_depth = 100;

/// Returns a library error message for users, without the exception number and with long tokens
/// shortened.
std::string complaint(std::string_view what, const std::string& token) {
    // Removes the start of "[json.exception.parse_error.101] parse error at line 1, column 5: ...".
    if (const auto end = what.find("] "); what.starts_with("[json.") && end != what.npos)
        what.remove_prefix(end + 2);
    std::string text(what);
    if (const auto at = text.find(token); !token.empty() && at != text.npos)
        text.replace(at, token.size(), shortened(token));
    constexpr std::size_t most = 400;
    return printable(shortened(text, most));
}

/// Builds values while the text is parsed, within limits.
class Builder : public nlohmann::json_sax<Value> {
  public:
    Builder(const std::string& path, std::size_t length, const JsonLimits& limits,
            const JsonStream& stream)
        : path_(path), length_(length), limits_(limits), stream_(stream) {}

    Value root;

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; } // JSON has no binary values
    bool start_object(std::size_t) override { return open(Value::object()); }
    bool start_array(std::size_t) override { return open(Value::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        Value& object = *open_.back();
        if (object.contains(name))
            fail(fmt::format("has the key \"{}\" twice in one object", printable(shortened(name))));
        if (object.size() == limits_.keys)
            fail(fmt::format("has an object of more than {} keys", limits_.keys));
        member_ = &object[name];
        if (open_.size() == 1)
            streams_ = !stream_.list.empty() && name == stream_.list;
        return true;
    }

    bool parse_error(std::size_t byte, const std::string& token,
                     const nlohmann::detail::exception& error) override {
        if (byte > length_ && length_ > 0)
            fail("is not JSON: unexpected end of the text: the file is truncated");
        fail("is not JSON: " + complaint(error.what(), token));
    }

  private:
    [[noreturn]] void fail(const std::string& what) const { throw InvalidFile(path_, what); }

    bool in_stream() const { return streams_ && open_.size() == 2 && open_.back()->is_array(); }

    Value& place(Value&& value) {
        if (++values_ > limits_.values)
            fail(fmt::format("holds more than {} values", limits_.values));
        if (open_.empty())
            return root = std::move(value);
        if (open_.back()->is_array())
            return open_.back()->emplace_back(std::move(value));
        return *member_ = std::move(value);
    }

    bool add(Value&& value) {
        place(std::move(value));
        hand_over();
        return true;
    }

    bool open(Value&& empty) {
        if (open_.size() == most_depth)
            fail(fmt::format("is nested more than {} levels deep", most_depth));
        open_.push_back(&place(std::move(empty)));
        if (in_stream())
            values_before_ = values_;
        return true;
    }

    bool close() {
        open_.pop_back();
        hand_over();
        return true;
    }

    /// Passes the latest entry of the streamed list, if there is one, to `take`.
    void hand_over() {
        if (!in_stream() || open_.back()->empty())
            return;
        Value entry = std::move(open_.back()->back());
        open_.back()->clear();
        values_ = values_before_;
        stream_.take(std::move(entry));
    }

    const std::string& path_;
    const std::size_t length_;
    const JsonLimits& limits_;
    const JsonStream& stream_;
    std::vector<Value*> open_; ///< objects and arrays not yet closed
    Value* member_ = nullptr;  ///< receives the value of the last key
    bool streams_ = false;     ///< true if the last key of the outermost object names the list
    std::size_t values_ = 0, values_before_ = 0; ///< values held now, and before the streamed list
};

template <class AnyJson>
std::string dumped(const AnyJson& json, int indent) {
    return printable_lines(json.dump(indent, ' ', false, AnyJson::error_handler_t::replace));
}

} // namespace

Value parse_json(std::string_view text, const std::string& path, const JsonLimits& limits,
                 const JsonStream& stream) {
    Builder builder(path, text.size(), limits, stream);
    Value::sax_parse(text, &builder);
    return std::move(builder.root);
}

Value read_json(const std::string& path, const JsonLimits& limits, const JsonStream& stream) {
    return parse_json(read_text(path, limits.bytes), path, limits, stream);
}

std::string shown(const Value& value) {
    if (value.is_structured())
        return fmt::format("an {} of {}", value.type_name(), value.size());
    constexpr std::size_t most = 60;
    if (value.is_string())
        return shortened(Value(value.get_ref<const std::string&>().substr(0, most + 1))
                             .dump(-1, ' ', true, Value::error_handler_t::replace),
                         most);
    return value.dump();
}

std::string to_text(const Value& json, int indent) {
    return dumped(json, indent);
}

std::string to_text(const nlohmann::ordered_json& json, int indent) {
    return dumped(json, indent);
}

struct JsonField::File {
    std::string path;
    nlohmann::json content;
};

JsonField JsonField::whole(nlohmann::json content, const std::string& path) {
    const auto file = std::make_shared<File>(File{path, std::move(content)});
    return {file, file->content, ""};
}

JsonField JsonField::parse(std::string_view text, const std::string& path,
                           const JsonLimits& limits) {
    return whole(parse_json(text, path, limits), path);
}

JsonField JsonField::parse(std::string_view text, const std::string& path, const std::string& list,
                           const std::function<void(const JsonField& entry)>& take) {
    std::size_t count = 0;
    const auto take_entry = [&](nlohmann::json&& entry) {
        const auto file = std::make_shared<File>(File{path, std::move(entry)});
        take({file, file->content, fmt::format("{}[{}]", list, count++)});
    };
    return whole(parse_json(text, path, {}, {list, take_entry}), path);
}

JsonField JsonField::read(const std::string& path, const JsonLimits& limits) {
    return whole(read_json(path, limits), path);
}

void JsonField::fail(const std::string& what) const {
    throw InvalidFile(file_->path, name_.empty() ? what : name_ + " " + what);
}

void JsonField::refuse(const std::string& expected) const {
    fail(fmt::format("is {}, expected {}", shown(*value_), expected));
}

std::optional<JsonField> JsonField::find(const std::string& name) const {
    if (!value_->is_object())
        refuse("a JSON object");
    const auto found = value_->find(name);
    if (found == value_->end())
        return std::nullopt;
    return JsonField(file_, *found, name_.empty() ? name : name_ + "." + name);
}

JsonField JsonField::at(const std::string& name) const {
    if (const auto found = find(name))
        return *found;
    throw InvalidFile(file_->path, (name_.empty() ? name : name_ + "." + name) + " is missing");
}

std::vector<std::string> JsonField::names() const {
    if (!value_->is_object())
        refuse("a JSON object");
    std::vector<std::string> all;
    for (const auto& [name, value] : value_->items())
        all.push_back(name);
    return all;
}

void JsonField::require_known(const std::vector<std::string_view>& known) const {
    for (const std::string& name : names()) {
        if (std::ranges::find(known, name) == known.end())
            fail("has the " + unknown_name("field", printable(shortened(name)), known));
    }
}

std::size_t JsonField::size() const {
    if (!value_->is_array())
        refuse("an array");
    return value_->size();
}

JsonField JsonField::operator[](std::size_t i) const {
    return {file_, value_->at(i), fmt::format("{}[{}]", name_, i)};
}

std::vector<JsonField> JsonField::items() const {
    std::vector<JsonField> all;
    for (std::size_t i = 0; i < size(); ++i)
        all.push_back((*this)[i]);
    return all;
}

std::vector<JsonField> JsonField::items_or_none(const std::string& name) const {
    const auto found = find(name);
    return found ? found->items() : std::vector<JsonField>{};
}

void JsonField::require_size(std::size_t wanted, const std::string& expected) const {
    if (!value_->is_array() || value_->size() != wanted)
        refuse(expected);
}

void JsonField::require_version(int newest) const {
    const bool is_version = value_->is_number_unsigned() && value_->get<std::uint64_t>() > 0;
    if (!is_version || value_->get<std::uint64_t>() > static_cast<std::uint64_t>(newest)) {
        refuse(
            fmt::format("{}{}{}", newest > 1 ? "1 to " : "", newest,
                        is_version ? ": the file was written by a newer version of Sextant" : ""));
    }
}

bool JsonField::is_null() const {
    return value_->is_null();
}

bool JsonField::is_object() const {
    return value_->is_object();
}

bool JsonField::is_number() const {
    return value_->is_number();
}

double JsonField::number(double from, double to) const {
    // The negated comparison also rejects NaN, which compares false.
    if (!value_->is_number() || !(value_->get<double>() >= from && value_->get<double>() <= to)) {
        refuse(fmt::format("a number from {} to {}", from, to));
    }
    return value_->get<double>();
}

std::int64_t JsonField::integer(std::int64_t from, std::int64_t to, std::string_view what) const {
    const bool too_long = value_->is_number_unsigned() &&
                          value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    if (!value_->is_number_integer() || too_long || value_->get<std::int64_t>() < from ||
        value_->get<std::int64_t>() > to) {
        refuse(fmt::format("{} from {} to {}", what, from, to));
    }
    return value_->get<std::int64_t>();
}

bool JsonField::boolean() const {
    if (!value_->is_boolean())
        refuse("true or false");
    return value_->get<bool>();
}

std::string JsonField::text(const std::string& expected) const {
    std::string text = any_text(expected);
    if (text.empty())
        refuse(expected);
    return text;
}

std::string JsonField::any_text(const std::string& expected) const {
    if (!value_->is_string())
        refuse(expected);
    return value_->get<std::string>();
}

std::string JsonField::text_or(const std::string& name, const std::string& fallback) const {
    const auto found = find(name);
    return found ? found->text() : fallback;
}

std::string JsonField::text_or_empty(const std::string& name) const {
    const auto found = find(name);
    return found ? found->any_text() : "";
}

std::size_t JsonField::place_in(std::span<const std::string_view> names) const {
    const auto found = value_->is_string()
                           ? std::find(names.begin(), names.end(), value_->get<std::string>())
                           : names.end();
    if (found == names.end())
        refuse(fmt::format("one of \"{}\"", fmt::join(names, "\", \"")));
    return static_cast<std::size_t>(found - names.begin());
}

} // namespace sextant
