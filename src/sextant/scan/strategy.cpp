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
    if (series[static_cast<std::size_t>(rank)] == 0)
        return {};
    const Workers workers = workers_of(series, rank);
    return with_peers(strategy.program({workers.values, workers.number}, global), workers.ranks);
}

} // namespace sextant::scan
