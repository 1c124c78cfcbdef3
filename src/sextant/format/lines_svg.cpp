// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/lines_svg.hpp"

#include "sextant/core/atomic_file.hpp"

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// From its head on by steps: short, since they are -1, 0 or 1. A contour of one point is a dot.
void write_path(AtomicFile& file, const ContourLine& line, LineReader& contours) {
    const Elements width = contours.image().width;
    Elements before = contours.next_pixel();
    file.write(fmt::format("<path d=\"M{}.5 {}.5l", before % width, before / width));
    for (Elements k = 1; k < line.points; ++k) {
        const Elements pixel = contours.next_pixel();
        file.write(fmt::format("{}{} {}", k == 1 ? "" : " ", pixel % width - before % width,
                               pixel / width - before / width));
        before = pixel;
    }
    file.write(line.points == 1 ? "0 0" : "");
    file.write(line.closed ? "z\"/>\n" : "\"/>\n");
}

} // namespace

void write_svg(const std::string& path, LineReader& contours) {
    AtomicFile file(path);
    const auto [width, height] = contours.image();
    file.write(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                           "viewBox=\"0 0 {0} {1}\">\n"
                           "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                           "<g fill=\"none\" stroke=\"black\" stroke-width=\".6\" "
                           "stroke-linecap=\"round\" stroke-linejoin=\"round\">\n",
                           width, height));
    ContourLine line;
    while (contours.next(line))
        write_path(file, line, contours);
    file.write("</g>\n</svg>\n");
    file.commit();
}

} // namespace sextant::format
