// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/family.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/strategy.hpp"

#include <fmt/format.h>

namespace sextant::operation {

namespace {

NamedSchedule scan_schedule(const scan::Algorithm& algorithm, const scan::Tuning& tuning,
                            scan::Form form, const ScheduleRequest& request) {
    const scan::Task task{request.ranks, request.elements, form};
    const std::string title =
        fmt::format("{}, {}", scan::to_text(algorithm, tuning), scan::name(form));
    return {std::string(algorithm.name),
            title,
            all_programs(request, title,
                         [&](int rank) { return scan::program(algorithm, task, tuning, rank); }),
            scan::claim(task),
            {}};
}

/// `request.elements` values in all, as evenly dealt as can be.
NamedSchedule series_schedule(const scan::Strategy& strategy, const scan::GlobalScan& global,
                              const ScheduleRequest& request) {
    const scan::Series series = scan::dealt(request.elements, request.ranks);
    const std::string title =
        fmt::format("{} over {}", strategy.name, scan::to_text(global.algorithm, global.tuning));
    return {std::string(strategy.name),
            title,
            all_programs(request, title,
                         [&](int rank) { return scan::program(strategy, series, global, rank); }),
            scan::claim(series),
            {}};
}

} // namespace

Family scan_family() {
    Family family{.name = "scan"};
    for (const scan::Algorithm& row : scan::catalogue()) {
        family.add(row.name, row.summary, row.source);
        for (const scan::Tuning& tuning : row.tunings()) {
            for (const scan::Form form : scan::forms_of(row)) {
                family.ways.push_back({row.name, [&row, tuning, form](const auto& request) {
                                           return scan_schedule(row, tuning, form, request);
                                       }});
            }
        }
    }
    return family;
}

Family series_family() {
    Family family{.name = "series"};
    for (const scan::Strategy& row : scan::strategies()) {
        family.add(row.name, row.summary, row.source);
        for (const scan::Algorithm& algorithm : scan::catalogue()) {
            for (const scan::Tuning& tuning : algorithm.tunings()) {
                family.ways.push_back(
                    {row.name, [&row, &algorithm, tuning](const auto& request) {
                         return series_schedule(row, {algorithm, tuning}, request);
                     }});
            }
        }
    }
    return family;
}

} // namespace sextant::operation
