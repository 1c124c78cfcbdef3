// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/record.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

namespace {

[[noreturn]] void refuse(const Field& field, std::string_view text, const std::string& expected) {
    constexpr std::size_t most_shown = 100;
    throw InvalidTask(fmt::format("{} {}: expected {}", field.called(),
                                  text.empty() ? "''" : shortened(text, most_shown), expected));
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t start = 0;;) {
        const std::size_t end = text.find(',', start);
        parts.push_back(text.substr(start, end - start));
        if (end == std::string_view::npos)
            return parts;
        start = end + 1;
    }
}

std::string range_of(const Field& field) {
    const bool whole = field.kind == Field::Kind::integer || field.kind == Field::Kind::integers;
    constexpr double most = std::numeric_limits<double>::max();
    if (field.least == -most && field.most == most)
        return "a finite number";
    return fmt::format("a {}number from {} to {}", whole ? "whole " : "", field.least, field.most);
}

bool within(const Field& field, double value) {
    return value >= field.least && value <= field.most;
}

bool is_choice(const Field& field, std::string_view text) {
    const auto& all = field.choices;
    return all.empty() || std::find(all.begin(), all.end(), text) != all.end();
}

/// Parses a number within the field's range; otherwise returns nothing.
template <class Number>
std::optional<Number> number_within(const Field& field, std::string_view text) {
    std::optional<Number> number = parsed_number<Number>(text);
    if (number && !within(field, static_cast<double>(*number)))
        number.reset();
    return number;
}

} // namespace

Field& Field::between(double from, double to) {
    least = from;
    most = to;
    return *this;
}

Field& Field::one_of(std::vector<std::string_view> values) {
    choices = std::move(values);
    return *this;
}

Field& Field::letter(char given) {
    option_letter = given;
    return *this;
}

Field& Field::positional() {
    is_positional = true;
    return *this;
}

Field& Field::required() {
    is_required = true;
    return *this;
}

Field& Field::file() {
    is_file = true;
    return *this;
}

Field& Field::by_rank() {
    differs = true;
    return *this;
}

Field& Field::or_without(std::string value) {
    without_value = std::move(value);
    return *this;
}

std::string Field::called() const {
    if (!on_command_line)
        return name;
    if (is_positional)
        return value_name;
    std::string option = "--" + name;
    std::replace(option.begin(), option.end(), '_', '-');
    return option;
}

Field& Field::none_is(double value) {
    none = value;
    return *this;
}

std::string Field::text() const {
    std::string text = codec.text ? codec.text() : "";
    return none && parsed_number<double>(text) == none ? "" : text;
}

void Field::set(std::string_view text) const {
    if (is_file && text.empty())
        throw InvalidTask(fmt::format("{} is empty: expected a name", called()));
    if (!is_choice(*this, text))
        throw InvalidTask(unknown_name(fmt::format("value for {}:", called()), text, choices));
    if (kind == Kind::flag && text != "true" && text != "false")
        refuse(*this, text, "true or false");
    if (kind == Kind::integers && text.empty())
        refuse(*this, text, range_of(*this));
    if (const std::string expected = codec.set(*this, text); !expected.empty())
        refuse(*this, text, expected);
}

void Field::set_all(const std::vector<std::string>& given) const {
    for (const std::string& text : given) {
        if (text.empty())
            throw InvalidTask(fmt::format("{} is empty: expected a name", called()));
    }
    *texts = given;
}

void Field::check() const {
    const bool numeric = kind == Kind::integer || kind == Kind::number || kind == Kind::integers;
    const std::string all = text();
    if (!numeric || all.empty() || least == most)
        return;
    for (const std::string_view each : split(all)) {
        const std::optional<double> number = parsed_number<double>(each);
        if (!number || !within(*this, *number))
            refuse(*this, all, range_of(*this));
    }
}

namespace {

template <class Number>
Codec codec_of(Number& value) {
    return {[&value] { return fmt::format("{}", value); },
            [&value](const Field& field, std::string_view text) {
                const auto number = number_within<Number>(field, text);
                value = number.value_or(value);
                return number ? "" : range_of(field);
            }};
}

template <class Number>
Codec codec_of(std::optional<Number>& value) {
    return {[&value] { return value ? fmt::format("{}", *value) : ""; },
            [&value](const Field& field, std::string_view text) {
                const auto number = number_within<Number>(field, text);
                if (number)
                    value = number;
                return number ? "" : range_of(field);
            }};
}

template <class Number>
Codec codec_of(std::vector<Number>& value) {
    return {[&value] { return fmt::format("{}", fmt::join(value, ",")); },
            [&value](const Field& field, std::string_view text) {
                std::vector<Number> numbers;
                for (const std::string_view part :
                     text.empty() ? std::vector<std::string_view>() : split(text)) {
                    const auto number = number_within<Number>(field, part);
                    if (!number)
                        return range_of(field);
                    numbers.push_back(*number);
                }
                value = std::move(numbers);
                return std::string();
            }};
}

Codec codec_of(std::string& value) {
    return {[&value] { return value; },
            [&value](const Field&, std::string_view text) {
                value = text;
                return "";
            }};
}

Codec codec_of(std::vector<std::string>& value) {
    return {[&value] { return fmt::format("{}", fmt::join(value, " ")); },
            [&value](const Field&, std::string_view text) {
                value = {std::string(text)};
                return "";
            }};
}

template <class Value, class... Types>
constexpr bool is_one_of = (std::is_same_v<Value, Types> || ...);

template <class Value>
constexpr Field::Kind kind_of() {
    if (is_one_of<Value, std::string>)
        return Field::Kind::text;
    if (is_one_of<Value, std::vector<std::string>>)
        return Field::Kind::texts;
    if (is_one_of<Value, std::vector<int>, std::vector<std::int64_t>>)
        return Field::Kind::integers;
    return is_one_of<Value, double, std::optional<double>> ? Field::Kind::number
                                                           : Field::Kind::integer;
}

constexpr int bits_of_a_mebibyte = 20;

/// Converts "512M", "2G", "1T" or "512" (mebibytes) to bytes.
std::optional<Bytes> parsed_memory(std::string_view text) {
    int bits = bits_of_a_mebibyte;
    constexpr std::string_view units = "KMGT";
    if (const auto unit = text.empty() ? units.npos : units.find(text.back()); unit != units.npos) {
        bits = 10 * (static_cast<int>(unit) + 1);
        text.remove_suffix(1);
    }
    const auto number = parsed_number<std::int64_t>(text);
    if (!number || *number < 1 || *number > (std::int64_t{1} << (50 - bits)))
        return std::nullopt;
    return *number << bits;
}

struct Size {
    std::int64_t width, height;
};

constexpr std::int64_t most_side = 1 << 20;

/// Parses "3x2", or "4" for 4x4.
std::optional<Size> parsed_size(std::string_view text) {
    const auto cut = text.find('x');
    const auto width = parsed_number<std::int64_t>(text.substr(0, cut));
    const auto height =
        cut == text.npos ? width : parsed_number<std::int64_t>(text.substr(cut + 1));
    const auto fits = [](const auto& side) { return side && *side >= 1 && *side <= most_side; };
    return fits(width) && fits(height) ? std::optional(Size{*width, *height}) : std::nullopt;
}

constexpr const char* sizes_expected = "WIDTHxHEIGHT, each from 1 to 1048576";

} // namespace

Field& Record::add(std::string_view name, std::optional<Tiles>& tiles, std::string_view meaning) {
    Codec codec = {
        [&tiles] { return tiles ? tiles->text() : ""; },
        [&tiles](const Field&, std::string_view text) {
            const std::size_t first = text.find('x');
            const std::size_t cut = first == text.npos ? first : text.find('x', first + 1);
            const std::optional<Size> size = parsed_size(text.substr(0, cut));
            const auto layers = cut == text.npos
                                    ? std::optional<std::int64_t>(1)
                                    : parsed_number<std::int64_t>(text.substr(cut + 1));
            if (!size || !layers || *layers < 1 || *layers > most_side)
                return fmt::format("WIDTHxHEIGHT or, for a volume, WIDTHxHEIGHTxDEPTH, each from 1 "
                                   "to {}",
                                   most_side);
            tiles = Tiles{static_cast<int>(size->width), static_cast<int>(size->height),
                          static_cast<int>(*layers)};
            return std::string();
        }};
    return add(name, Field::Kind::text, std::move(codec), "XxY", meaning);
}

Field& Record::add_size(std::string_view name, std::int64_t& width, std::int64_t& height,
                        std::string_view meaning) {
    Codec codec = {[&] { return width == 0 ? "" : fmt::format("{}x{}", width, height); },
                   [&](const Field&, std::string_view text) {
                       const std::optional<Size> size = parsed_size(text);
                       if (!size)
                           return sizes_expected;
                       width = size->width;
                       height = size->height;
                       return "";
                   }};
    return add(name, Field::Kind::text, std::move(codec), "WxH", meaning);
}

Field& Record::add(std::string_view name, Field::Kind kind, Codec codec,
                   std::string_view value_name, std::string_view meaning) {
    Field& field = fields.emplace_back();
    field.name = name;
    field.kind = kind;
    field.value_name = value_name;
    field.meaning = meaning;
    field.codec = std::move(codec);
    return field;
}

Field& Record::add(std::string_view name, bool& value, std::string_view meaning) {
    Codec codec = {[&value] { return value ? "true" : "false"; },
                   [&value](const Field&, std::string_view text) {
                       value = text == "true";
                       return "";
                   }};
    return add(name, Field::Kind::flag, std::move(codec), "", meaning);
}

template <FieldValue Value>
Field& Record::add(std::string_view name, Value& value, std::string_view value_name,
                   std::string_view meaning) {
    Field& field = add(name, kind_of<Value>(), codec_of(value), value_name, meaning);
    if constexpr (std::is_same_v<Value, std::vector<std::string>>)
        field.texts = &value;
    return field;
}

template Field& Record::add(std::string_view, int&, std::string_view, std::string_view);
template Field& Record::add(std::string_view, std::int64_t&, std::string_view, std::string_view);
template Field& Record::add(std::string_view, double&, std::string_view, std::string_view);
template Field& Record::add(std::string_view, std::optional<std::int64_t>&, std::string_view,
                            std::string_view);
template Field& Record::add(std::string_view, std::optional<double>&, std::string_view,
                            std::string_view);
template Field& Record::add(std::string_view, std::string&, std::string_view, std::string_view);
template Field& Record::add(std::string_view, std::vector<int>&, std::string_view,
                            std::string_view);
template Field& Record::add(std::string_view, std::vector<std::int64_t>&, std::string_view,
                            std::string_view);
template Field& Record::add(std::string_view, std::vector<std::string>&, std::string_view,
                            std::string_view);

namespace {

/// Parses "4" or "1..8"; returns nothing if the text is neither.
std::optional<std::pair<int, int>> parsed_range(const Field& field, std::string_view text) {
    const auto dots = text.find("..");
    const auto first = number_within<int>(field, text.substr(0, dots));
    const auto last = dots == text.npos ? first : number_within<int>(field, text.substr(dots + 2));
    return first && last && *first <= *last ? std::optional(std::pair(*first, *last))
                                            : std::nullopt;
}

std::string text_of_ranges(const std::vector<int>& numbers) {
    std::string text;
    for (std::size_t first = 0; first < numbers.size();) {
        std::size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
            ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
        if (last > first)
            text += fmt::format("..{}", numbers[last]);
        first = last + 1;
    }
    return text;
}

} // namespace

Field& Record::add_ranges(std::string_view name, std::vector<int>& value,
                          std::string_view meaning) {
    Codec codec = {
        [&value] { return text_of_ranges(value); },
        [&value](const Field& field, std::string_view text) {
            std::vector<std::pair<int, int>> ranges;
            for (const std::string_view part : split(text)) {
                const auto range = parsed_range(field, part);
                if (!range)
                    return fmt::format(
                        "N or FIRST..LAST, or several separated by commas, each from {} to {}",
                        field.least, field.most);
                ranges.push_back(*range);
            }
            std::sort(ranges.begin(), ranges.end());
            value.clear();
            for (const auto& [first, last] : ranges) {
                const int from = value.empty() ? first : std::max(first, value.back() + 1);
                for (int each = from; each <= last; ++each)
                    value.push_back(each);
            }
            return std::string();
        }};
    return add(name, Field::Kind::text, std::move(codec), "A..B,C", meaning);
}

Field& Record::add_memory(std::string_view name, Bytes& value, std::string_view meaning) {
    Codec codec = {[&value] { return text_of_memory(value); },
                   [&value](const Field&, std::string_view text) {
                       const std::optional<Bytes> bytes = parsed_memory(text);
                       value = bytes.value_or(value);
                       return bytes ? "" : "a size such as 512M or 2G, up to 1024T";
                   }};
    return add(name, Field::Kind::text, std::move(codec), "SIZE", meaning);
}

Field& Record::add(std::string_view name, Codec codec, std::string_view value_name,
                   std::string_view meaning) {
    return add(name, Field::Kind::text, std::move(codec), value_name, meaning);
}

Field& Record::add_choice(std::string_view name, std::vector<std::string_view> choices,
                          std::string_view value_name, std::string_view meaning,
                          std::function<std::size_t()> get, std::function<void(std::size_t)> set) {
    Codec codec = {[choices, get = std::move(get)] { return std::string(choices[get()]); },
                   [choices, set = std::move(set)](const Field&, std::string_view text) {
                       const auto found = std::find(choices.begin(), choices.end(), text);
                       set(static_cast<std::size_t>(found - choices.begin()));
                       return "";
                   }};
    Field& field = add(name, Field::Kind::text, std::move(codec), value_name, meaning);
    field.choices = std::move(choices);
    return field;
}

Field& Record::add(std::string_view name, Record record) {
    Field& field = add(name, Field::Kind::record, {}, "", "");
    field.records.push_back(std::move(record));
    return field;
}

Record::Record(std::initializer_list<ResultField> results) {
    for (const ResultField& result : results)
        add_result(result.name, result.value, result.meaning);
}

Record& Record::add_result(std::string_view name, Json value, std::string_view meaning) {
    add(name, Field::Kind::result, {}, "", meaning).result = std::move(value);
    return *this;
}

Record& Record::include(Record record, std::string_view after) {
    const auto place =
        after.empty() ? fields.end() : fields.begin() + (&(*this)[after] - fields.data()) + 1;
    fields.insert(place, std::move_iterator(record.fields.begin()),
                  std::move_iterator(record.fields.end()));
    return *this;
}

Record& Record::without(std::string_view name) {
    std::erase_if(fields, [name](const Field& field) { return field.name == name; });
    return *this;
}

const Field* Record::find(std::string_view name) const {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [name](const Field& field) { return field.name == name; });
    return found == fields.end() ? nullptr : &*found;
}

Field& Record::operator[](std::string_view name) {
    for (Field& field : fields) {
        if (field.name == name)
            return field;
    }
    throw std::logic_error(fmt::format("no field {}", name));
}

void Record::check() const {
    for (const Field& field : fields)
        field.check();
}

std::string Record::settings() const {
    std::string all;
    for (const Field& field : fields) {
        if (!field.differs && field.codec.text)
            all += fmt::format("{} {}\n", field.name, field.text());
    }
    return all;
}

namespace {

Json number_of(const Field& field, std::string_view text) {
    if (field.kind == Field::Kind::number)
        return parsed_number<double>(text).value_or(std::nan(""));
    return parsed_number<std::int64_t>(text).value();
}

/// Returns the value of a field as JSON; nothing if an option has no value.
std::optional<Json> json_of(const Field& field) {
    const std::string text = field.text();
    switch (field.kind) {
    case Field::Kind::flag:
        return text == "true";
    case Field::Kind::integer:
    case Field::Kind::number:
        return text.empty() ? std::nullopt : std::optional(number_of(field, text));
    case Field::Kind::text:
        return text.empty() ? std::nullopt : std::optional(Json(text));
    case Field::Kind::texts:
        return *field.texts;
    case Field::Kind::record:
        return field.records.front();
    case Field::Kind::result:
        return field.result;
    case Field::Kind::integers:
        break;
    }
    Json list = Json::array();
    for (const std::string_view part : text.empty() ? std::vector<std::string_view>() : split(text))
        list.add(number_of(field, part));
    return list;
}

} // namespace

Record::operator Json() const {
    Json json = Json::object();
    for (const Field& field : fields) {
        if (std::optional<Json> value = json_of(field))
            json.set(field.name, *std::move(value));
    }
    return json;
}

std::string text_of_memory(Bytes bytes) {
    constexpr std::pair<int, char> units[] = {{30, 'G'}, {20, 'M'}, {10, 'K'}};
    for (const auto& [bits, unit] : units) {
        if (bytes >= Bytes{1} << bits && bytes % (Bytes{1} << bits) == 0)
            return fmt::format("{}{}", bytes >> bits, unit);
    }
    return fmt::format("{}K", (bytes + 1023) >> 10);
}

std::string to_json(const Record& record) {
    return Json(record).text();
}

namespace {

/// Sets a field from the text of a JSON value.
void set_text(const Field& field, const JsonField& json, std::string_view text) {
    if (!is_choice(field, text))
        json.fail("has the " + unknown_name("value", text, field.choices));
    if (const std::string expected = field.codec.set(field, text); !expected.empty())
        json.refuse(expected);
}

std::string text_of_integer(const Field& field, const JsonField& json) {
    return fmt::to_string(json.integer(static_cast<std::int64_t>(field.least),
                                       static_cast<std::int64_t>(field.most)));
}

void read(const Field& field, const JsonField& json) {
    std::vector<std::string> texts;
    switch (field.kind) {
    case Field::Kind::flag:
        return set_text(field, json, json.boolean() ? "true" : "false");
    case Field::Kind::integer:
        return set_text(field, json, text_of_integer(field, json));
    case Field::Kind::number:
        return set_text(field, json, fmt::to_string(json.number(field.least, field.most)));
    case Field::Kind::text:
        return set_text(field, json, field.is_file ? json.text() : json.any_text());
    case Field::Kind::integers:
        for (const JsonField& item : json.items())
            texts.push_back(text_of_integer(field, item));
        return set_text(field, json, fmt::format("{}", fmt::join(texts, ",")));
    case Field::Kind::texts:
        for (const JsonField& item : json.items())
            texts.push_back(item.text());
        *field.texts = std::move(texts);
        return;
    case Field::Kind::record:
        return read(field.records.front(), json);
    case Field::Kind::result:
        throw std::logic_error(fmt::format("{} is write-only", field.name));
    }
}

} // namespace

void read(const Record& record, const JsonField& json) {
    std::vector<std::string_view> names;
    for (const Field& field : record.fields)
        names.push_back(field.name);
    json.require_known(names);
    for (const Field& field : record.fields) {
        if (const auto given = json.find(field.name))
            read(field, *given);
        else if (field.is_required)
            json.at(field.name); // throws
    }
}

} // namespace sextant
