// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/slices_section.hpp"

#include "sextant/report/charts.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr double drawn_width = 480, drawn_height = 640, gap = 6; // in units of the drawing

/// A slice in a drawing.
struct Panel {
    std::string_view name;
    std::span<const std::byte> png;
    double x = 0, y = 0, width = 0, height = 0;
    double across = 0, down = 0; ///< where the other slices cross, in the drawing
    std::string_view position;   ///< of the slice
};

std::string drawn(const Panel& panel) {
    std::string svg = fmt::format(
        "<image class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "preserveAspectRatio=\"none\" href=\"{}\"/>\n",
        panel.name, panel.x, panel.y, panel.width, panel.height, png_uri(panel.png));
    svg += fmt::format("<path d=\"M{:.2f} {:.2f}h{:.2f}M{:.2f} {:.2f}v{:.2f}\"/>\n", panel.x,
                       panel.down, panel.width, panel.across, panel.y, panel.height);
    const std::string text = fmt::format("{}, {}", panel.name, panel.position);
    constexpr double margin = 5, line = 18, letters = 13. / 11;
    const double length = width_of_text(text) * letters + 2 * margin;
    if (length < panel.width && panel.height > 2 * line)
        svg += fmt::format("<rect class=\"plate\" x=\"{0:.2f}\" y=\"{1:.2f}\" width=\"{2:.2f}\" "
                           "height=\"{3:.0f}\"/>\n<text x=\"{4:.2f}\" y=\"{5:.2f}\">{6}</text>\n",
                           panel.x, panel.y, length, line, panel.x + margin, panel.y + 13,
                           escape(text));
    return svg;
}

/// A bar whose length is about a fifth of the drawing.
std::string scale_mark(const SlicedVolume& sliced, double zoom, double width, double height) {
    const ScaleBar bar = scale_bar(width / zoom, 1, sliced.unit);
    const double length = bar.fraction * width, x = width - length - 2;
    return fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"4\"/>\n<text "
                       "class=\"end\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n",
                       x, height + 8, length, x - 8, height + 14, escape(bar.text));
}

std::string drawing(const SlicedVolume& sliced, const SlicePictures& volume) {
    const auto [depth, height, width] = sliced.lengths;
    const double zoom =
        std::min((drawn_width - gap) / (width + depth), (drawn_height - gap) / (height + depth));
    const double x = width * zoom, y = height * zoom, z = depth * zoom;
    const double at_x = sliced.through[2] * x, at_y = sliced.through[1] * y,
                 at_z = sliced.through[0] * z;
    const Panel panels[] = {
        {"xy", volume.xy, 0, 0, x, y, at_x, at_y, sliced.positions[0]},
        {"zy", volume.zy, x + gap, 0, z, y, x + gap + at_z, at_y, sliced.positions[2]},
        {"xz", volume.xz, 0, y + gap, x, z, at_x, y + gap + at_z, sliced.positions[1]}};
    const double below = y + gap + z;
    std::string svg =
        fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.2f} "
                    "{:.2f}\" role=\"img\" aria-label=\"{}: slices xy, zy and xz\">\n",
                    x + gap + z, below + 20, escape(volume.name));
    for (const Panel& panel : panels)
        svg += drawn(panel);
    return svg + scale_mark(sliced, zoom, x + gap + z, below) + "</svg>\n";
}

} // namespace

Section slices_section(const SlicedVolume& sliced) {
    if (!std::ranges::all_of(sliced.lengths, [](double length) { return length > 0; }))
        throw std::logic_error("slices of a volume without a size");
    std::string html = "<div class=\"slices\">\n";
    for (const SlicePictures& volume : sliced.volumes)
        html += fmt::format("<div><h3>{}</h3>\n{}</div>\n", escape(volume.name),
                            drawing(sliced, volume));
    return {sliced.title, figure_of(html + "</div>\n", sliced.caption)};
}

} // namespace sextant::report
