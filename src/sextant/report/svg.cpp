// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/svg.hpp"

#include "sextant/report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr int most_colours = 24;
constexpr double distinct_hues[] = {255, 50, 160, 340, 100, 205};

/// Converts OKLCH lightness, chroma and hue to linear red, green and blue.
std::array<double, 3> linear_rgb(double lightness, double chroma, double hue) {
    const double a = chroma * std::cos(hue * std::numbers::pi / 180);
    const double b = chroma * std::sin(hue * std::numbers::pi / 180);
    const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool can_be_shown(const std::array<double, 3>& rgb) {
    return std::all_of(rgb.begin(), rgb.end(), [](double c) { return c >= -1e-3 && c <= 1.001; });
}

std::string hexadecimal(double lightness, double chroma, double hue) {
    std::array<double, 3> rgb = linear_rgb(lightness, chroma, hue);
    while (!can_be_shown(rgb) && chroma > 0)
        rgb = linear_rgb(lightness, chroma -= 0.005, hue);
    std::string text = "#";
    for (double c : rgb) {
        c = std::clamp(c, 0.0, 1.0);
        const double encoded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
        text += fmt::format("{:02x}", static_cast<int>(std::lround(255 * encoded)));
    }
    return text;
}

} // namespace

Colour colour_of_hue(double hue, double chroma) {
    return {hexadecimal(0.56, chroma, hue), hexadecimal(0.74, chroma * 0.85, hue)};
}

std::vector<Colour> ordered_colours(int count) {
    std::vector<Colour> colours;
    const int shown = std::min(count, most_colours);
    for (int i = 0; i < shown; ++i) {
        const bool distinct = shown <= static_cast<int>(std::size(distinct_hues));
        colours.push_back(
            colour_of_hue(distinct ? distinct_hues[i] : 265 - 285.0 * i / (shown - 1)));
    }
    return colours;
}

int colour_index(int i, int count) {
    if (count <= most_colours)
        return i;
    return static_cast<int>(static_cast<long long>(i) * most_colours / count);
}

namespace {

constexpr double margin = 24;
const Colour paper{"#ffffff", "#15181d"};

/// FNV-1a hash, which names an SVG's style after its content.
std::uint32_t hash(std::string_view text) {
    std::uint32_t sum = 2166136261U;
    for (char c : text)
        sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
    return sum;
}

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string fitted(std::string_view text, double width, double character) {
    return shortened(text, static_cast<std::size_t>(std::max(width / character, 8.0)));
}

} // namespace

double width_of_text(std::string_view text) {
    return 6.3 * static_cast<double>(characters(text));
}

KeyFigure key_figure(std::int64_t number, std::string_view thing) {
    const std::string text = counted(number, thing);
    const std::size_t space = text.find(' ');
    return {text.substr(0, space), text.substr(space + 1)};
}

Svg::Svg(std::string_view title, std::string_view subtitle, double width)
    : title_(title), width_(width) {
    style("text",
          "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',"
          "'DejaVu Sans',Arial,sans-serif;font-size:11px;font-variant-numeric:tabular-nums");
    colour(".paper", "fill", paper);
    colour("text", "fill", {"#1d232b", "#e3e7ec"});
    colour(".quiet", "fill", {"#66707c", "#98a2ae"});
    style(".title", "font-size:19px;font-weight:600");
    style(".subtitle", "font-size:13px");
    style(".figures", "font-size:13px");
    style(".value", "font-weight:600");
    style(".end", "text-anchor:end");
    style(".middle", "text-anchor:middle");
    bottom_ = margin;
    if (!title.empty()) {
        text(margin, bottom_ + 15, "title", fitted(title, width - 2 * margin, 10.5));
        bottom_ += 27;
    }
    if (!subtitle.empty()) {
        text(margin, bottom_ + 11, "subtitle quiet", fitted(subtitle, width - 2 * margin, 7.2));
        bottom_ += 21;
    }
}

void Svg::style(std::string_view selector, std::string_view declarations) {
    rules_.push_back({std::string(selector), std::string(declarations), ""});
}

void Svg::colour(std::string_view selector, std::string_view property, const Colour& colour) {
    rules_.push_back({std::string(selector), fmt::format("{}:{}", property, colour.light),
                      fmt::format("{}:{}", property, colour.dark)});
}

void Svg::figures(const std::vector<KeyFigure>& figures) {
    std::string spans;
    for (const KeyFigure& figure : figures) {
        spans += fmt::format("<tspan class=\"value\"{}>{}</tspan><tspan class=\"quiet\" dx=\"4\">{}"
                             "</tspan>",
                             spans.empty() ? "" : " dx=\"18\"", escape(figure.value),
                             escape(figure.label));
    }
    add(fmt::format("<text class=\"figures\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", margin,
                    bottom_ + 18, spans));
    bottom_ += 30;
}

void Svg::legend(const std::vector<LegendEntry>& entries) {
    double x = margin;
    for (const LegendEntry& entry : entries) {
        const double width = entry.width + 6 + width_of_text(entry.label) + 16;
        if (x > margin && x + width > width_ - margin)
            x = margin, bottom_ += 18;
        add(fmt::format(
            "<g transform=\"translate({:.1f} {:.1f})\">{}<text class=\"quiet\" x=\"{}\" "
            "y=\"10\">{}</text></g>\n",
            x, bottom_ + 4, entry.symbol, entry.width + 6, escape(entry.label)));
        x += width;
    }
    bottom_ += 24;
}

void Svg::note(std::string_view words) {
    text(margin, bottom_ + 14, "quiet", words);
    bottom_ += 17;
}

void Svg::text(double x, double y, std::string_view classes, std::string_view words) {
    fmt::format_to(std::back_inserter(body_),
                   "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", classes, x, y,
                   escape(words));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
    fmt::format_to(std::back_inserter(body_),
                   "<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", classes, x1, y1, x2,
                   y2);
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view classes) {
    fmt::format_to(std::back_inserter(body_),
                   "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                   "height=\"{:.1f}\"/>\n",
                   classes, x, y, width, height);
}

std::string Svg::style_sheet(std::string_view scope) const {
    std::string always = fmt::format(".{}{{background:{}}}\n", scope, paper.light);
    std::string dark = fmt::format(".{}{{background:{}}}\n", scope, paper.dark);
    for (const Rule& rule : rules_) {
        always += fmt::format(".{} {}{{{}}}\n", scope, rule.selector, rule.always);
        if (rule.dark.empty())
            continue;
        dark += fmt::format(".{} {}{{{}}}\n", scope, rule.selector, rule.dark);
    }
    return fmt::format("{}@media screen and (prefers-color-scheme:dark){{\n{}}}\n", always, dark);
}

std::string Svg::finish() const {
    const std::string scope = fmt::format("picture-{:08x}", hash(title_ + body_));
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{0}\" role=\"img\" "
        "viewBox=\"0 0 {1:.0f} {2:.0f}\">\n<title>{3}</title>\n<style>\n{4}</style>\n"
        "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{5}</svg>\n",
        scope, width_, bottom_ + margin * 0.7, escape(title_), style_sheet(scope), body_);
}

std::string swatch(std::string_view style_class) {
    return fmt::format("<rect class=\"{}\" x=\"0\" y=\"1\" width=\"18\" height=\"10\" rx=\"2\"/>",
                       style_class);
}

void add_kind_styles(Svg& svg, std::size_t kinds, const KindHues& hues) {
    for (std::size_t kind = 0; kind < kinds; ++kind)
        svg.colour(fmt::format(".kind-{}", kind), "fill", colour_of_hue(hues.at(kind)));
}

void add_kind_legend(Svg& svg, const std::vector<std::string>& names) {
    std::vector<LegendEntry> entries;
    for (std::size_t kind = 0; kind < names.size(); ++kind)
        entries.push_back({swatch(fmt::format("kind-{}", kind)), names[kind]});
    svg.legend(entries);
}

} // namespace sextant::report
