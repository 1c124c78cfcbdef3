// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/strategies.hpp"

#include "tests/support/schedules.hpp"
#include <fmt/ranges.h>

namespace sextant::test {

inline std::string describe(const scan::Algorithm& algorithm, const scan::Task& task,
                            const scan::Tuning& tuning) {
    return fmt::format("{} {}: {} ranks, {} values each", scan::name(task.form),
                       scan::to_text(algorithm, tuning), task.ranks, task.elements);
}

inline Case scan_case(const scan::Algorithm& algorithm, const scan::Task& task,
                      const scan::Tuning& tuning) {
    return {describe(algorithm, task, tuning),
            make_schedule(task.ranks,
                          [&](int rank) { return scan::program(algorithm, task, tuning, rank); }),
            scan::claim(task)};
}

/// Calls `visit(algorithm, tuning, form)` for every algorithm, tuning and form.
template <class Visit>
void for_each_scan(Visit visit) {
    for (const scan::Algorithm& algorithm : scan::catalogue()) {
        for (const scan::Tuning& tuning : algorithm.tunings()) {
            for (const scan::Form form : {scan::Form::inclusive, scan::Form::exclusive})
                visit(algorithm, tuning, form);
        }
    }
}

inline Case series_case(const scan::Strategy& strategy, const scan::GlobalScan& global,
                        const scan::Series& series) {
    return {fmt::format("{} over {}{}: {} values", strategy.name,
                        scan::to_text(global.algorithm, global.tuning),
                        global.gives_last ? ", which gives the last" : "",
                        fmt::join(series, " + ")),
            make_schedule(static_cast<int>(series.size()),
                          [&](int rank) { return scan::program(strategy, series, global, rank); }),
            scan::claim(series)};
}

/// Calls `visit(strategy, global)` for every strategy with every algorithm and tuning of the global
/// scan, with and without GlobalScan::gives_last.
template <class Visit>
void for_each_strategy(Visit visit) {
    for (const scan::Strategy& strategy : scan::strategies()) {
        for (const scan::Algorithm& algorithm : scan::catalogue()) {
            for (const scan::Tuning& tuning : algorithm.tunings()) {
                for (const bool gives_last : {true, false})
                    visit(strategy, scan::GlobalScan{algorithm, tuning, gives_last});
            }
        }
    }
}

} // namespace sextant::test
