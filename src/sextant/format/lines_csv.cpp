// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/lines_csv.hpp"

#include "sextant/format/atomic_file.hpp"

#include <fmt/format.h>

namespace sextant::format {

void write_csv(const std::string& path, const ContourLines& contours) {
    AtomicFile file(path);
    const Elements width = contours.image.width;
    file.write("contour,rank,x,y\n");
    for (std::size_t i = 0; i < contours.lines.size(); ++i) {
        for (Elements rank = 0; rank < contours.lines[i].points; ++rank) {
            const Elements pixel =
                contours.pixels[static_cast<std::size_t>(contours.lines[i].first + rank)];
            file.write(fmt::format("{},{},{},{}\n", i, rank, pixel % width, pixel / width));
        }
    }
    file.commit();
}

} // namespace sextant::format
