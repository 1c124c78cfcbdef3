// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/lines_geojson.hpp"

#include "sextant/core/atomic_file.hpp"

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// A feature without the comma behind the one before: contours may be too long for a text.
void write_feature(AtomicFile& file, Elements number, const ContourLine& line,
                   LineReader& contours) {
    const Elements width = contours.image().width;
    const bool alone = line.points == 1;
    file.write(fmt::format(R"({{"type":"Feature","properties":{{"contour":{},"points":{},)"
                           R"("closed":{}}},"geometry":{{"type":"{}","coordinates":{})",
                           number, line.points, line.closed, alone ? "Point" : "LineString",
                           alone ? "" : "["));
    std::string head;
    for (Elements k = 0; k < line.points; ++k) {
        const Elements pixel = contours.next_pixel();
        const std::string point = fmt::format("[{},{}]", pixel % width, pixel / width);
        file.write(k == 0 ? "" : ",");
        file.write(point);
        if (k == 0)
            head = point;
    }
    if (line.closed && !alone)
        file.write("," + head);
    file.write(alone ? "}}" : "]}}");
}

} // namespace

void write_geojson(const std::string& path, LineReader& contours) {
    AtomicFile file(path);
    file.write(R"({"type":"FeatureCollection","features":[)");
    ContourLine line;
    for (Elements number = 0; contours.next(line); ++number) {
        file.write(number == 0 ? "\n" : ",\n");
        write_feature(file, number, line, contours);
    }
    file.write("\n]}\n");
    file.commit();
}

} // namespace sextant::format
