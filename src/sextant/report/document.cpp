// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/document.hpp"

#include "sextant/core/error.hpp"
#include "sextant/report/assets.hpp"

#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr std::string_view made_by = "<meta name=\"generator\" content=\"Sextant\"/>\n";
constexpr std::string_view script_begin = "<script>//<![CDATA[\n", script_end = "//]]></script>\n";

std::string head(const Document& document) {
    return fmt::format(R"(<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8"/>
{}<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'{}"/>
<title>{}</title>
<style>{}</style>
</head>
)",
                       made_by, document.scripts.empty() ? "" : "; script-src 'unsafe-inline'",
                       document.title, assets::page_css);
}

/// Each script once, as text that is well-formed in HTML and XML.
std::string scripts(const std::vector<std::string>& scripts) {
    std::set<std::string_view> said;
    std::string html;
    for (const std::string& script : scripts) {
        if (said.insert(script).second)
            html += fmt::format("{}{}{}", script_begin, script, script_end);
    }
    return html;
}

/// What stands between two texts from a position on, which moves behind them.
std::optional<std::string> between(const std::string& html, std::size_t& at, std::string_view begin,
                                   std::string_view end) {
    const std::size_t from = html.find(begin, at);
    if (from == std::string::npos)
        return std::nullopt;
    const std::size_t to = html.find(end, from + begin.size());
    if (to == std::string::npos)
        return std::nullopt;
    at = to + end.size();
    return html.substr(from + begin.size(), to - from - begin.size());
}

} // namespace

std::string to_html(const Document& document) {
    return head(document) + "<body>\n<header>\n" + document.header + "</header>\n<main>\n" +
           document.main + "</main>\n" + scripts(document.scripts) + "</body>\n</html>\n";
}

Document read_document(const std::string& path, const std::string& html) {
    std::size_t at = 0;
    const bool ours = html.find(made_by) < html.find("<title>");
    const auto title = between(html, at, "<title>", "</title>");
    const auto header = between(html, at, "<header>\n", "</header>\n");
    const std::size_t end = html.rfind("</main>\n");
    if (!ours || !title || !header || end == std::string::npos || !html.ends_with("</html>\n"))
        throw InvalidFile(path, "is no whole page that --report wrote");
    const std::size_t begin = html.find("<main>\n", at) + std::string_view("<main>\n").size();
    Document document{*title, *header, html.substr(begin, end - begin), {}};
    at = end;
    while (const auto script = between(html, at, script_begin, script_end))
        document.scripts.push_back(*script);
    return document;
}

} // namespace sextant::report
