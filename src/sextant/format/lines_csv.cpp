// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/lines_csv.hpp"

#include "sextant/core/atomic_file.hpp"

#include <fmt/format.h>

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

} // namespace sextant::format
