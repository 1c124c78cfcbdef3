// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"
#include "sextant/collective/linear_gather.hpp"
#include "sextant/operation/schedules/family.hpp"

#include <fmt/format.h>

namespace sextant::operation {

namespace {

/// What is wrong with symbols that should be elements `first`, `first` + 1, ... of operands [from,
/// to).
std::string judge(const std::vector<Symbol>& result, Elements first, Elements count, int from,
                  int to) {
    if (static_cast<Elements>(result.size()) != count) {
        return fmt::format("{} elements, expected {}", result.size(), count);
    }
    for (std::size_t e = 0; e < result.size(); ++e) {
        const Symbol& s = result[e];
        if (s.element != first + static_cast<Elements>(e) || s.first != from || s.last != to) {
            return fmt::format("element {} is [{}, {}) of {}", e, s.first, s.last, s.element);
        }
    }
    return "";
}

NamedSchedule collective_schedule(const collective::Algorithm& algorithm,
                                  const ScheduleRequest& request) {
    const Grid grid = algorithm.grid(request.ranks, request.elements);
    const std::string name(algorithm.name);
    const std::string title =
        grid.columns == 1 ? name
                          : fmt::format("{}, {}x{} processors", name, grid.columns, grid.rows);
    return {name, title,
            all_programs(request, title, [&](int rank) { return algorithm.program(grid, rank); }),
            algorithm.claim(grid), grid};
}

NamedSchedule linear_gather(const ScheduleRequest& request) {
    NamedSchedule made{"linear-gather", "linear-gather", {}, {}, {}};
    const Elements n = request.elements;
    const int p = request.ranks;
    std::vector<Elements> counts;
    for (int rank = 0; rank < p; ++rank)
        counts.push_back(n * (rank + 1) / p - n * rank / p);
    made.schedule = all_programs(request, made.title,
                                 [&](int rank) { return collective::linear_gather(counts, rank); });
    made.claim.given = [=](int rank, int, Elements e) { return Symbol{n * rank / p + e, 0, 1, 0}; };
    made.claim.wanted = [=](int rank, const std::vector<Symbol>& result) {
        return judge(result, 0, rank == 0 ? n : 0, 0, 1);
    };
    return made;
}

} // namespace

Family collective_family() {
    Family family{.name = "collective"};
    for (const collective::Algorithm& row : collective::catalogue()) {
        family.add(row.name, row.summary, row.source);
        family.ways.push_back(
            {row.name, [&row](const auto& request) { return collective_schedule(row, request); }});
    }
    family.add("linear-gather", "rank 0 receives from each other rank",
               "Chan et al. 2007, doi:10.1002/cpe.1206", linear_gather);
    return family;
}

} // namespace sextant::operation
