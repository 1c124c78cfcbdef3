// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/lines_geojson.hpp"

#include "sextant/format/atomic_file.hpp"

#include <iterator>

#include <fmt/format.h>

namespace sextant::format {

namespace {

std::string feature(const ContourLines& contours, std::size_t number) {
    const ContourLine& line = contours.lines[number];
    const Elements width = contours.image.width;
    const bool alone = line.points == 1;
    std::string text =
        fmt::format(R"({{"type":"Feature","properties":{{"contour":{},"points":{},)"
                    R"("closed":{}}},"geometry":{{"type":"{}","coordinates":)",
                    number, line.points, line.closed, alone ? "Point" : "LineString");
    text += alone ? "" : "[";
    for (Elements k = 0; k < line.points + (line.closed && !alone ? 1 : 0); ++k) {
        const Elements pixel =
            contours.pixels[static_cast<std::size_t>(line.first + k % line.points)];
        fmt::format_to(std::back_inserter(text), "{}[{},{}]", k == 0 ? "" : ",", pixel % width,
                       pixel / width);
    }
    return text + (alone ? "}}" : "]}}");
}

} // namespace

void write_geojson(const std::string& path, const ContourLines& contours) {
    AtomicFile file(path);
    file.write(R"({"type":"FeatureCollection","features":[)");
    for (std::size_t i = 0; i < contours.lines.size(); ++i) {
        file.write(i == 0 ? "\n" : ",\n");
        file.write(feature(contours, i));
    }
    file.write("\n]}\n");
    file.commit();
}

} // namespace sextant::format
