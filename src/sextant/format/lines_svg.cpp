// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/lines_svg.hpp"

#include "sextant/format/atomic_file.hpp"

#include <iterator>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// From its head on by steps: short, since they are -1, 0 or 1. A contour of one point is a dot.
std::string path_of(const ContourLines& contours, const ContourLine& line) {
    const Elements width = contours.image.width;
    const auto pixel = [&](Elements k) {
        return contours.pixels[static_cast<std::size_t>(line.first + k)];
    };
    std::string text = fmt::format("M{}.5 {}.5l", pixel(0) % width, pixel(0) / width);
    for (Elements k = 1; k < line.points; ++k)
        fmt::format_to(std::back_inserter(text), "{}{} {}", k == 1 ? "" : " ",
                       pixel(k) % width - pixel(k - 1) % width,
                       pixel(k) / width - pixel(k - 1) / width);
    if (line.points == 1)
        text += "0 0";
    return text + (line.closed ? "z" : "");
}

} // namespace

void write_svg(const std::string& path, const ContourLines& contours) {
    AtomicFile file(path);
    const auto [width, height] = contours.image;
    file.write(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                           "viewBox=\"0 0 {0} {1}\">\n"
                           "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                           "<g fill=\"none\" stroke=\"black\" stroke-width=\".6\" "
                           "stroke-linecap=\"round\" stroke-linejoin=\"round\">\n",
                           width, height));
    for (const ContourLine& line : contours.lines)
        file.write(fmt::format("<path d=\"{}\"/>\n", path_of(contours, line)));
    file.write("</g>\n</svg>\n");
    file.commit();
}

} // namespace sextant::format
