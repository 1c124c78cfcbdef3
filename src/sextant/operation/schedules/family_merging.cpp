// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/catalogue.hpp"
#include "sextant/operation/schedules/family.hpp"

#include <fmt/format.h>

namespace sextant::operation {

namespace {

/// An element is a list, of whatever length: how large the image is does not matter.
NamedSchedule merging_schedule(const contour::Pattern& pattern, const ScheduleRequest& request) {
    const Grid grid = near_square(request.ranks, request.elements, request.elements);
    const std::string title = fmt::format("{}, {}x{} tiles", pattern.name, grid.columns, grid.rows);
    return {std::string(pattern.name),
            title,
            all_programs(request, title,
                         [&](int rank) { return contour::program(pattern, grid, rank); }),
            contour::claim(pattern, grid),
            {}};
}

} // namespace

Family merging_family() {
    Family family{.name = "merging"};
    for (const contour::Pattern& row : contour::catalogue()) {
        family.add(row.name, row.summary, row.source);
        family.ways.push_back(
            {row.name, [&row](const auto& request) { return merging_schedule(row, request); }});
    }
    return family;
}

} // namespace sextant::operation
