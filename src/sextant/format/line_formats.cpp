// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/line_formats.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::format {

void write_csv(const std::string& path, LineReader& contours) {
    AtomicFile file(path);
    const Elements width = contours.image().width;
    file.write("contour,rank,x,y\n");
    ContourLine line;
    for (Elements number = 0; contours.next(line); ++number) {
        for (Elements rank = 0; rank < line.points; ++rank) {
            const Elements pixel = contours.next_pixel();
            file.write(fmt::format("{},{},{},{}\n", number, rank, pixel % width, pixel / width));
        }
    }
    file.commit();
}

namespace {

/// Writes a feature point by point, because the text of a long contour may not fit in memory.
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

void write_npy(const std::string& path, LineReader& contours) {
    if (contours.points() == 0)
        throw InvalidFile(path, "would hold no points, expected at least one contour");
    FrameHeader header;
    header.frames = 1;
    header.shape = {4, contours.points()};
    header.sample = Sample::i64;
    const std::unique_ptr<FrameSink> sink = create_frames(path, header);
    const Elements width = contours.image().width;
    ContourLine line;
    for (Elements number = 0; contours.next(line); ++number) {
        for (Elements rank = 0; rank < line.points; ++rank) {
            const Elements pixel = contours.next_pixel();
            const std::array<std::int64_t, 4> row = {number, rank, pixel % width, pixel / width};
            sink->write_samples(std::as_bytes(std::span(row)));
        }
    }
    sink->commit();
}

namespace {

/// Writes a contour as relative steps, because they are short. A contour of one point becomes a
/// dot.
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

namespace {

constexpr LineFormat line_formats[] = {
    {"GeoJSON", ".geojson", "one LineString per contour, in pixels, y downward", write_geojson},
    {"SVG", ".svg", "one path per contour, in pixels of the image", write_svg},
    {"CSV", ".csv", "one row per point: contour, rank, x, y", write_csv},
    {"NPY", ".npy", "the CSV columns as an array of 64-bit integers", write_npy},
};

} // namespace

std::span<const LineFormat> line_catalogue() {
    return line_formats;
}

const LineFormat& line_format_of(const std::string& path) {
    std::vector<std::string_view> known;
    for (const LineFormat& row : line_formats) {
        if (has_extension(path, row.extension))
            return row;
        known.push_back(row.extension);
    }
    throw InvalidTask(fmt::format("{}: contours are written as {}", path, fmt::join(known, ", ")));
}

} // namespace sextant::format
