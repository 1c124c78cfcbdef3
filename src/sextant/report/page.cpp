// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/page.hpp"

#include "sextant/report/document.hpp"
#include "sextant/report/png_size.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace sextant::report {

namespace {

void check(const Page& page) {
    for (const Phase& phase : page.phases) {
        if (std::isfinite(phase.seconds) && phase.seconds >= 0)
            continue;
        throw std::logic_error(fmt::format("phase '{}' lasts {} s", phase.name, phase.seconds));
    }
    for (const Figure& figure : page.figures) {
        if (figure.svg.starts_with("<svg") && figure.svg.find("</svg>") != std::string::npos)
            continue;
        throw std::logic_error(fmt::format("the figure '{}' is not SVG", figure.caption));
    }
}

std::string caption(std::string_view text) {
    return text.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", escape(text));
}

std::string heading(const Page& page) {
    std::string html = fmt::format("<h1>{}</h1>\n", escape(page.title));
    if (!page.subtitle.empty())
        html += fmt::format("<p>{}</p>\n", escape(page.subtitle));
    return html;
}

std::string picture(const Picture& picture) {
    constexpr std::uint32_t small = 160;
    if (picture.png.empty())
        return "";
    const PngSize size = png_size(picture.png);
    const std::string_view alternative =
        picture.alternative.empty() ? picture.caption : picture.alternative;
    return fmt::format(
        "<figure>\n<div class=\"picture\"><img{} width=\"{}\" height=\"{}\" alt=\"{}\" "
        "src=\"data:image/png;base64,{}\"/></div>\n{}</figure>\n",
        std::max(size.width, size.height) <= small ? " class=\"small\"" : "", size.width,
        size.height, escape(alternative.empty() ? "The image that this run made" : alternative),
        base64(picture.png), caption(picture.caption));
}

/// A section under a heading; nothing where there is no content.
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
    return fmt::format("<figure>\n<div class=\"drawing\" tabindex=\"0\">\n{}</div>\n{}</figure>\n",
                       figure.svg, caption(figure.caption));
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

} // namespace sextant::report
