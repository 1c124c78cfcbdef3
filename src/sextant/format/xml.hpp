// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

// A parser for the subset of XML that metadata in image files use.
namespace sextant::format {

/// A start tag, and the text that follows it.
struct XmlTag {
    std::string name;                              ///< without the prefix of its namespace
    std::map<std::string, std::string> attributes; ///< values by name; entities are decoded
    std::string text;                              ///< up to the next tag; entities are decoded

    /// The value of an attribute; "" if it is missing.
    std::string attribute(const std::string& key) const;
};

/// Visits the start tags in order until `visit` returns false. Comments, CDATA sections,
/// instructions and end tags are skipped. Parsing stops at the first incomplete tag, because the
/// text may be damaged.
void for_each_xml_tag(std::string_view text, const std::function<bool(const XmlTag&)>& visit);

/// Returns a Unicode character in UTF-8.
std::string utf8_of(std::uint32_t code);

} // namespace sextant::format
