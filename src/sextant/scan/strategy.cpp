// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/strategy.hpp"

#include "sextant/core/names.hpp"
#include "sextant/scan/reduce_then_scan.hpp"
#include "sextant/scan/scan_then_propagate.hpp"

namespace sextant::scan {

namespace {

constexpr Strategy rows[] = {
    {"scan-then-propagate", "local scans, each then put behind what lies before it",
     "Egecioglu, Koc and Laub 1989, doi:10.1016/0377-0427(89)90362-2", scan_then_propagate},
    {"reduce-then-scan", "local totals, then local scans from what lies before on",
     "Dotsenko et al. 2008, doi:10.1145/1375527.1375559", reduce_then_scan},
};

} // namespace

std::span<const Strategy> strategies() {
    return rows;
}

const Strategy& find_strategy(std::string_view name) {
    return find_by_name<Strategy>("strategy", name, rows);
}

Program program(const Strategy& strategy, const Series& series, const GlobalScan& global,
                int rank) {
    std::vector<int> ranks;
    std::vector<Elements> values;
    Worker worker;
    for (int other = 0; other < static_cast<int>(series.size()); ++other) {
        const Elements own = series[static_cast<std::size_t>(other)];
        if (own == 0)
            continue;
        if (other == rank)
            worker.number = static_cast<int>(ranks.size());
        ranks.push_back(other);
        values.push_back(own);
    }
    if (series[static_cast<std::size_t>(rank)] == 0)
        return {};
    worker.values = values;
    return with_peers(strategy.program(worker, global), ranks);
}

} // namespace sextant::scan
