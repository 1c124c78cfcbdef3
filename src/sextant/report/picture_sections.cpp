// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/picture_sections.hpp"

#include "sextant/report/assets.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace sextant::report {

ScaleBar scale_bar(double pixels, double pixel_size, const std::string& unit) {
    const double size = pixel_size > 0 ? pixel_size : 1;
    const double length = tick_of(pixels * size * .8); // a tenth to a quarter of the range
    return {fmt::format("{:.6g} {}", length, pixel_size > 0 ? unit : "px"),
            length / (pixels * size)};
}

namespace {

std::string scale(const ScaleBar& bar) {
    if (bar.text.empty())
        return "";
    return fmt::format("<div class=\"scale\" style=\"width:{:.3f}%\"><i></i>{}</div>\n",
                       100 * bar.fraction, escape(bar.text));
}

std::string picture(std::string_view name, const std::vector<std::byte>& png) {
    return fmt::format("<div class=\"{0}\">{1}<span>{0}</span></div>\n", name, image_of(png, name));
}

} // namespace

Section before_after_section(const BeforeAfter& pictures) {
    return {
        pictures.title,
        figure_of("<div class=\"both\">\n" + picture("after", pictures.after) +
                      picture("before", pictures.before) + scale(pictures.scale) +
                      "</div>\n<div class=\"controls\"><label class=\"wide\">before<input "
                      "type=\"range\" min=\"0\" max=\"100\" value=\"50\" aria-label=\"Visible "
                      "part of the image before registration, in percent\"/>after</label></div>\n",
                  pictures.caption, "compare"),
        assets::slider_js};
}

Section side_by_side_section(const BeforeAfter& pictures) {
    return {pictures.title,
            figure_of("<div class=\"beside\">\n" + picture("before", pictures.before) +
                          picture("after", pictures.after) + "</div>\n",
                      pictures.caption)};
}

Section picture_section(const NamedPicture& shown) {
    return {shown.title,
            figure_of("<div class=\"beside\">\n" + picture(shown.name, shown.png) + "</div>\n",
                      shown.caption)};
}

namespace {

/// Returns an SVG path through the pixel centres, with relative coordinates. A single point is
/// drawn as a dot.
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

/// Draws lines on the image. The lines are bright in both schemes, because the image is the same in
/// the dark scheme.
std::string outlined(const OutlinedPicture& picture) {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
        "aria-label=\"The image with its {2}\"><image width=\"{0}\" height=\"{1}\" "
        "preserveAspectRatio=\"none\" href=\"{3}\"/>\n",
        picture.width, picture.height,
        counted(static_cast<std::int64_t>(picture.outlines.size()), "longest contour"),
        png_uri(picture.png));
    const auto count = static_cast<int>(picture.outlines.size());
    const std::vector<Colour> colours = ordered_colours(count);
    for (int i = count - 1; i >= 0; --i) { // draws the longest line last, on top
        const Outline& outline = picture.outlines[static_cast<std::size_t>(i)];
        svg += fmt::format("<path d=\"{}\" stroke=\"{}\"><title>{}: {}</title></path>\n",
                           path_of(outline),
                           colours[static_cast<std::size_t>(colour_index(i, count))].dark, i + 1,
                           words_of(outline));
    }
    return svg + "</svg>\n";
}

std::string table_of(const std::vector<Outline>& outlines) {
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
    return {picture.title, figure_of(outlined(picture), picture.caption, "outlined") +
                               (picture.outlines.empty() ? "" : table_of(picture.outlines))};
}

namespace {

constexpr double drawn_width = 480, drawn_height = 640, gap = 6; // units of the drawing

/// A slice in a drawing.
struct Panel {
    std::string_view name;
    std::span<const std::byte> png;
    double x = 0, y = 0, width = 0, height = 0;
    double across = 0, down = 0; ///< intersections with the other slices, in units of the drawing
    std::string_view position;   ///< position of the slice
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

/// Draws a scale bar whose length is about a fifth of the drawing.
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
