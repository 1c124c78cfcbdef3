// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/outlines_section.hpp"

#include "sextant/report/page.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <iterator>

#include <fmt/format.h>

namespace sextant::report {

namespace {

/// Returns the path through the pixel centres, by relative steps. A single point is a dot.
std::string path_of(const Outline& outline) {
    const Outline::Point& first = outline.points.front();
    std::string text = fmt::format("M{}.5 {}.5l", first.x, first.y);
    for (std::size_t k = 1; k < outline.points.size(); ++k)
        fmt::format_to(std::back_inserter(text), "{}{} {}", k == 1 ? "" : " ",
                       outline.points[k].x - outline.points[k - 1].x,
                       outline.points[k].y - outline.points[k - 1].y);
    if (outline.points.size() == 1)
        text += "0 0";
    return text + (outline.closed ? "z" : "");
}

std::string words_of(const Outline& outline) {
    return counted(outline.length, "point") + (outline.closed ? ", closed" : "");
}

/// Draws lines on the image in bright colours, because the image is the same in the dark scheme.
std::string drawn(const OutlinedPicture& picture) {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
        "aria-label=\"The image with its {2}\"><image width=\"{0}\" height=\"{1}\" "
        "preserveAspectRatio=\"none\" href=\"{3}\"/>\n",
        picture.width, picture.height,
        counted(static_cast<std::int64_t>(picture.outlines.size()), "longest contour"),
        png_uri(picture.png));
    const auto count = static_cast<int>(picture.outlines.size());
    const std::vector<Colour> colours = ordered_colours(count);
    for (int i = count - 1; i >= 0; --i) { // the longest on top
        const Outline& outline = picture.outlines[static_cast<std::size_t>(i)];
        svg += fmt::format("<path d=\"{}\" stroke=\"{}\"><title>{}: {}</title></path>\n",
                           path_of(outline),
                           colours[static_cast<std::size_t>(colour_index(i, count))].dark, i + 1,
                           words_of(outline));
    }
    return svg + "</svg>\n";
}

std::string table(const std::vector<Outline>& outlines) {
    const auto count = static_cast<int>(outlines.size());
    const std::vector<Colour> colours = ordered_colours(count);
    Table table{{{"", ""}, {"Contour", ""}, "From x", "y"}, {}, false};
    for (int i = 0; i < count; ++i) {
        const Outline& outline = outlines[static_cast<std::size_t>(i)];
        const Outline::Point& first = outline.points.front();
        table.rows.push_back(
            {fmt::format("<span class=\"key\" style=\"background:{}\"></span>{}",
                         colours[static_cast<std::size_t>(colour_index(i, count))].dark, i + 1),
             words_of(outline), std::to_string(first.x), std::to_string(first.y)});
    }
    return folded("Contours as a table", table);
}

} // namespace

Section outlines_section(const OutlinedPicture& picture) {
    if (picture.png.empty())
        return {};
    return {picture.title, figure_of(drawn(picture), picture.caption, "outlined") +
                               (picture.outlines.empty() ? "" : table(picture.outlines))};
}

} // namespace sextant::report
