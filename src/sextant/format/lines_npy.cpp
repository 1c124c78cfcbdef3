// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/lines_npy.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/npy.hpp"

#include <array>

namespace sextant::format {

void write_npy(const std::string& path, LineReader& contours) {
    if (contours.points() == 0)
        throw InvalidFile(path, "would hold no points, expected at least one contour");
    FrameHeader header;
    header.frames = 1;
    header.shape = {4, contours.points()};
    header.sample = Sample::i64;
    const std::unique_ptr<FrameSink> sink = create_npy(path, header, {});
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

} // namespace sextant::format
