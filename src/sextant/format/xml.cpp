// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/xml.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace sextant::format {

namespace {

constexpr std::string_view space = " \t\r\n";

/// Returns the character of an entity such as "amp" or "#181"; "" if the entity is unknown.
std::string character_of(std::string_view entity) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> names{
        {{"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"apos", "'"}}};
    for (const auto& [name, character] : names) {
        if (entity == name)
            return std::string(character);
    }
    if (!entity.starts_with('#'))
        return "";
    const bool hexadecimal = entity.starts_with("#x");
    entity.remove_prefix(hexadecimal ? 2 : 1);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(entity.data(), entity.data() + entity.size(), code, hexadecimal ? 16 : 10);
    constexpr std::uint32_t last = 0x10FFFF;
    const bool whole = error == std::errc() && end == entity.data() + entity.size();
    return whole && code > 0 && code <= last ? utf8_of(code) : "";
}

std::string decoded(std::string_view text) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t end = text[i] == '&' ? text.substr(i, 16).find(';') : text.npos;
        const std::string character =
            end == text.npos ? "" : character_of(text.substr(i + 1, end - 1));
        all += character.empty() ? std::string(1, text[i]) : character;
        i += character.empty() ? 0 : end;
    }
    return all;
}

/// Removes the characters before the first one in `ends` from a text, and returns them.
std::string_view take_until(std::string_view& text, std::string_view ends) {
    const std::string_view taken = text.substr(0, text.find_first_of(ends));
    text.remove_prefix(taken.size());
    return taken;
}

void skip_space(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
}

/// Parses an attribute such as `SizeC="2"` and removes it from the text. Returns false if there is
/// none.
bool take_attribute(std::string_view& text, XmlTag& tag) {
    constexpr std::string_view ends = " \t\r\n=/>";
    skip_space(text);
    const std::string name(take_until(text, ends));
    skip_space(text);
    if (name.empty() || !text.starts_with('='))
        return false;
    text.remove_prefix(1);
    skip_space(text);
    if (!text.starts_with('"') && !text.starts_with('\''))
        return false;
    const std::size_t end = text.find(text.front(), 1);
    if (end == text.npos)
        return false;
    tag.attributes.emplace(name, decoded(text.substr(1, end - 1)));
    text.remove_prefix(end + 1);
    return true;
}

/// Skips markup that is not a start tag. Returns false at a start tag.
bool skip_others(std::string_view& text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> others{
        {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"}, {"</", ">"}}};
    for (const auto& [start, end] : others) {
        if (!text.starts_with(start))
            continue;
        const std::size_t at = text.find(end, start.size());
        text.remove_prefix(at == text.npos ? text.size() : at + end.size());
        return true;
    }
    return false;
}

} // namespace

std::string utf8_of(std::uint32_t code) {
    const auto last = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80)
        return {static_cast<char>(code)};
    if (code < 0x800)
        return {static_cast<char>(0xC0 | code >> 6), last(0)};
    if (code < 0x10000)
        return {static_cast<char>(0xE0 | code >> 12), last(6), last(0)};
    return {static_cast<char>(0xF0 | code >> 18), last(12), last(6), last(0)};
}

std::string XmlTag::attribute(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
}

void for_each_xml_tag(std::string_view text, const std::function<bool(const XmlTag&)>& visit) {
    while (true) {
        take_until(text, "<");
        if (text.empty())
            return;
        if (skip_others(text))
            continue;
        text.remove_prefix(1);
        XmlTag tag;
        const std::string_view name = take_until(text, " \t\r\n/><=");
        tag.name = name.substr(name.find(':') + 1); // npos + 1 is 0
        while (take_attribute(text, tag)) {
        }
        take_until(text, "<>");
        if (!text.starts_with('>'))
            continue; // not a tag, or incomplete
        text.remove_prefix(1);
        tag.text = decoded(text.substr(0, text.find('<')));
        if (!tag.name.empty() && !visit(tag))
            return;
    }
}

} // namespace sextant::format
