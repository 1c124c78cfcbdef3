// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/lines_npy.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/npy.hpp"

#include <array>

namespace sextant::format {

void write_npy(const std::string& path, const ContourLines& contours) {
    if (contours.pixels.empty())
        throw InvalidFile(path, "would hold no points, expected at least one contour");
    FrameHeader header;
    header.frames = 1;
    header.shape = {4, static_cast<std::int64_t>(contours.pixels.size())};
    header.sample = Sample::i64;
    const std::unique_ptr<FrameSink> sink = create_npy(path, header, {});
    const Elements width = contours.image.width;
    for (std::size_t i = 0; i < contours.lines.size(); ++i) {
        for (Elements rank = 0; rank < contours.lines[i].points; ++rank) {
            const Elements pixel =
                contours.pixels[static_cast<std::size_t>(contours.lines[i].first + rank)];
            const std::array<std::int64_t, 4> row = {static_cast<std::int64_t>(i), rank,
                                                     pixel % width, pixel / width};
            sink->write_samples(std::as_bytes(std::span(row)));
        }
    }
    sink->commit();
}

} // namespace sextant::format
