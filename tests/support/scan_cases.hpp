// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/catalogue.hpp"

#include "tests/support/schedules.hpp"

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

/// Calls `visit(algorithm, tuning, form)` for every row, tuning and form.
template <class Visit>
void for_each_scan(Visit visit) {
    for (const scan::Algorithm& algorithm : scan::catalogue()) {
        for (const scan::Tuning& tuning : algorithm.tunings()) {
            for (const scan::Form form : {scan::Form::inclusive, scan::Form::exclusive})
                visit(algorithm, tuning, form);
        }
    }
}

} // namespace sextant::test
