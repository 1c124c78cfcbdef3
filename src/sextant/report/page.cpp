// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/page.hpp"

#include "sextant/core/error.hpp"
#include "sextant/report/assets.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace sextant::report {

PngSize png_size(std::span<const std::byte> png) {
    constexpr std::uint8_t signature[] = {0x89, 'P', 'N', 'G', 0x0D, 0x0A, 0x1A, 0x0A};
    const auto same = [](std::byte a, std::uint8_t b) { return std::to_integer<int>(a) == b; };
    if (png.size() < 24 || !std::equal(std::begin(signature), std::end(signature), png.begin(),
                                       [&](std::uint8_t a, std::byte b) { return same(b, a); })) {
        throw std::logic_error("the image of a page is not PNG");
    }
    const auto number = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (std::byte b : png.subspan(at, 4))
            value = value << 8 | std::to_integer<std::uint32_t>(b);
        return value;
    };
    return {number(16), number(20)};
}

std::string png_uri(std::span<const std::byte> png) {
    png_size(png);
    return "data:image/png;base64," + base64(png);
}

std::string image_of(std::span<const std::byte> png, std::string_view alternative) {
    constexpr std::uint32_t small = 160;
    const PngSize size = png_size(png);
    return fmt::format("<img{} width=\"{}\" height=\"{}\" alt=\"{}\" src=\"{}\"/>",
                       std::max(size.width, size.height) <= small ? " class=\"small\"" : "",
                       size.width, size.height, escape(alternative), png_uri(png));
}

std::string figure_of(std::string_view html, std::string_view caption, std::string_view style) {
    return fmt::format(
        "<figure{}>\n{}{}</figure>\n", style.empty() ? "" : fmt::format(" class=\"{}\"", style),
        html, caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", escape(caption)));
}

namespace {

void check(const Page& page) {
    for (const Phase& phase : page.phases) {
        if (std::isfinite(phase.seconds) && phase.seconds >= 0)
            continue;
        throw std::logic_error(
            fmt::format("phase '{}' has the invalid duration {} s", phase.name, phase.seconds));
    }
    for (const Figure& figure : page.figures) {
        if (figure.svg.starts_with("<svg") && figure.svg.find("</svg>") != std::string::npos)
            continue;
        throw std::logic_error(fmt::format("the figure '{}' is not SVG", figure.caption));
    }
}

std::string heading(const Page& page) {
    std::string html = fmt::format("<h1>{}</h1>\n", escape(page.title));
    if (!page.subtitle.empty())
        html += fmt::format("<p>{}</p>\n", escape(page.subtitle));
    return html;
}

std::string picture(const Picture& picture) {
    if (picture.png.empty())
        return "";
    const std::string_view alternative =
        picture.alternative.empty() ? picture.caption : picture.alternative;
    const std::string image =
        image_of(picture.png, alternative.empty() ? "The image produced by this run" : alternative);
    return figure_of(fmt::format("<div class=\"picture\">{}</div>\n", image), picture.caption);
}

/// Returns a section with a heading; "" if the section has no content.
std::string section(std::string_view title, const std::string& content) {
    if (content.empty())
        return "";
    return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", title, content);
}

std::string facts(const std::vector<Fact>& facts) {
    if (facts.empty())
        return "";
    std::string html = "<dl>\n";
    for (const Fact& fact : facts) {
        html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(fact.label), escape(fact.value));
    }
    return html + "</dl>\n";
}

std::string phases(const std::vector<Phase>& phases) {
    if (phases.empty())
        return "";
    Seconds sum = 0, longest = 0;
    for (const Phase& phase : phases) {
        sum += phase.seconds;
        longest = std::max(longest, phase.seconds);
    }
    std::string html = "<table>\n<thead><tr><th scope=\"col\">Phase</th><th scope=\"col\" "
                       "class=\"number\">Time</th><th scope=\"col\" class=\"number\">Share</th>"
                       "<td></td></tr></thead>\n<tbody>\n";
    for (const Phase& phase : phases) {
        const double share = sum > 0 ? 100 * phase.seconds / sum : 0;
        const double length = longest > 0 ? 100 * phase.seconds / longest : 0;
        html += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td>"
                            "<td class=\"number\">{:.1f} %</td><td class=\"share\" "
                            "aria-hidden=\"true\"><span class=\"bar\" style=\"width:{:.2f}%\">"
                            "</span></td></tr>\n",
                            escape(phase.name), to_text(phase.seconds), share, length);
    }
    return html +
           fmt::format("</tbody>\n<tfoot><tr><th scope=\"row\">Sum</th><td class=\"number\">{}"
                       "</td><td></td><td></td></tr></tfoot>\n</table>\n",
                       to_text(sum));
}

std::string sections(const std::vector<Section>& sections) {
    std::string html;
    for (const Section& each : sections)
        html += section(escape(each.title), each.html);
    return html;
}

void add_scripts(const std::vector<Section>& sections, std::vector<std::string>& scripts) {
    for (const Section& each : sections) {
        if (!each.script.empty())
            scripts.emplace_back(each.script);
    }
}

std::string figures(const std::vector<Figure>& figures) {
    std::string html;
    for (const Figure& figure : figures)
        html += to_html(figure);
    return html;
}

std::string next_steps(const std::vector<NextStep>& steps) {
    if (steps.empty())
        return "";
    std::string html = "<ol>\n";
    for (const NextStep& step : steps) {
        html += fmt::format("<li><p>{}</p><pre><code>{}</code></pre></li>\n", escape(step.sentence),
                            escape(step.line));
    }
    return html + "</ol>\n";
}

} // namespace

std::string to_html(const Figure& figure) {
    return figure_of(fmt::format("<div class=\"drawing\" tabindex=\"0\">\n{}</div>\n", figure.svg),
                     figure.caption);
}

std::string to_html(const Table& table) {
    const auto cell = [&](std::string_view element, std::size_t column, std::string_view content) {
        const std::string_view style = table.columns[column].style;
        return fmt::format("<{}{}>{}</{}>", element,
                           style.empty() ? "" : fmt::format(" class=\"{}\"", style), content,
                           element.substr(0, 2));
    };
    std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        html += cell("th scope=\"col\"", i, table.columns[i].title);
    html += "</tr></thead>\n<tbody>\n";
    for (const std::vector<std::string>& row : table.rows) {
        html += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i)
            html += cell(i == 0 && table.names_rows ? "th scope=\"row\"" : "td", i, row[i]);
        html += "</tr>\n";
    }
    return html + "</tbody>\n</table></div>\n";
}

std::string folded(std::string_view summary, const Table& table) {
    return fmt::format("<details><summary>{}</summary>\n{}</details>\n", summary, to_html(table));
}

std::string render(const Page& page) {
    check(page);
    Document document{escape(page.title), heading(page), "", {}};
    document.main = picture(page.picture) + sections(page.shown) +
                    section("What ran, and why", facts(page.facts)) +
                    section("Where the time went", phases(page.phases)) + sections(page.sections) +
                    section("How it ran", figures(page.figures)) +
                    section("What to try next", next_steps(page.next_steps));
    add_scripts(page.shown, document.scripts);
    add_scripts(page.sections, document.scripts);
    return to_html(document);
}

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
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'{}{}"/>
<title>{}</title>
<style>{}</style>
</head>
)",
                       made_by, document.scripts.empty() ? "" : "; script-src 'unsafe-inline'",
                       document.receives_events ? "; connect-src 'self'" : "", document.title,
                       assets::page_css);
}

/// Returns each distinct script once, as text that is well-formed in HTML and XML.
std::string scripts(const std::vector<std::string>& scripts) {
    std::set<std::string_view> said;
    std::string html;
    for (const std::string& script : scripts) {
        if (said.insert(script).second)
            html += fmt::format("{}{}{}", script_begin, script, script_end);
    }
    return html;
}

/// Returns the first text between `begin` and `end` after position `at`, and moves `at` past `end`.
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
        throw InvalidFile(path, "is not a complete page written by --report");
    const std::size_t begin = html.find("<main>\n", at) + std::string_view("<main>\n").size();
    Document document{*title, *header, html.substr(begin, end - begin), {}};
    at = end;
    while (const auto script = between(html, at, script_begin, script_end))
        document.scripts.push_back(*script);
    return document;
}

Document joined(std::string_view title, std::span<const Document> pages) {
    Document all{escape(title), fmt::format("<h1>{}</h1>\n<nav>", escape(title)), "", {}};
    int number = 0;
    for (const Document& page : pages) {
        ++number;
        all.header += fmt::format("<a href=\"#run-{}\">{}</a>", number, page.title);
        all.main += fmt::format("<article id=\"run-{}\">\n<header>\n{}</header>\n{}</article>\n",
                                number, page.header, page.main);
        all.scripts.insert(all.scripts.end(), page.scripts.begin(), page.scripts.end());
    }
    all.header += "</nav>\n";
    return all;
}

std::string live_page(std::string_view series) {
    Document page;
    page.title = escape(series);
    page.receives_events = true;
    page.header = fmt::format("<h1>{}</h1>\n<p id=\"status\" role=\"status\">connecting …</p>\n",
                              escape(series));
    page.main = R"(<section><h2>Provisional average</h2>
<figure><div class="picture"><canvas id="average" role="img" aria-label="provisional average"></canvas></div>
<figcaption id="caption"></figcaption></figure></section>
<section><h2>Drift</h2>
<figure><canvas id="drift" class="chart" role="img" aria-label="drift of each frame"></canvas>
<figcaption>to the right (blue) and downward (orange), in pixels, relative to the first usable frame</figcaption></figure>
<figure><canvas id="rotation" class="chart" role="img" aria-label="rotation of each frame"></canvas>
<figcaption>clockwise, in degrees</figcaption></figure></section>
<section><h2>Frames with flags</h2><table><thead><tr><th>frame</th><th>flag</th></tr></thead>
<tbody id="flags"></tbody></table></section>
)";
    page.scripts.emplace_back(assets::live_js);
    return to_html(page);
}

} // namespace sextant::report
