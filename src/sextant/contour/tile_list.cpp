// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/tile_list.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace sextant::contour {

Run joined_runs(std::span<const Run> runs) {
    Run joined = runs.front();
    for (const Run& run : runs.subspan(1)) {
        if (run.first != joined.last)
            throw std::logic_error(fmt::format("tiles [{}, {}) merged behind [{}, {})", run.first,
                                               run.last, joined.first, joined.last));
        joined.last = run.last;
    }
    return joined;
}

void require_room(Elements entries, Elements most, Run run) {
    if (entries > most)
        throw std::logic_error(fmt::format("{} entries of tiles [{}, {}), room for {}", entries,
                                           run.first, run.last, most));
}

} // namespace sextant::contour
