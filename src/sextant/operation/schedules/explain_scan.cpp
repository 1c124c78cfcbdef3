// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/explain_scan.hpp"

#include "sextant/core/error.hpp"
#include "sextant/operation/bench/bench_scan_cases.hpp"
#include "sextant/planner/scan_choice.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using Kind = scan::Distribution::Kind;

/// The name of a distribution, or of a file of recorded times.
scan::Distribution times_from(const std::string& text) {
    for (const Kind kind : {Kind::constant, Kind::exponential, Kind::correlated}) {
        if (text == name(kind))
            return {.kind = kind};
    }
    if (!std::filesystem::exists(text)) {
        throw InvalidTask(fmt::format("--times {}: expected constant, exponential, correlated or a "
                                      "file of seconds",
                                      text));
    }
    return {.kind = Kind::recorded, .mean = 0, .times = read_times(text)};
}

/// "1,1.5,2": how much faster an application is on one core, on two, ...
std::vector<double> speedup_from(const std::string& text) {
    std::vector<double> speedup;
    for (const char* at = text.c_str(); *at != 0;) {
        char* end = nullptr;
        speedup.push_back(std::strtod(at, &end));
        if (end == at || !(speedup.back() > 0) || (*end != ',' && *end != 0)) {
            throw InvalidTask(
                fmt::format("--speedup {}: expected numbers above nothing, as 1,1.5,2", text));
        }
        at = *end == ',' ? end + 1 : end;
    }
    return speedup;
}

} // namespace

std::vector<Parameter> scan_parameters() {
    return {{.name = "values",
             .type = Type::integer,
             .value = "N",
             .fallback = "64",
             .help = "scan: of the series",
             .least = 1,
             .most = 1 << 20},
            {.name = "cores",
             .type = Type::integer,
             .value = "N",
             .fallback = "8",
             .help = "scan: to share among ranks, threads and the operator",
             .least = 1,
             .most = 4096},
            {.name = "times",
             .value = "HOW",
             .fallback = "exponential",
             .help = "scan: constant, correlated, ... or a file of seconds"},
            {.name = "speedup",
             .value = "X,X",
             .fallback = "1",
             .help = "scan: of one application on 1, 2, ... cores"}};
}

int explain_scan(const Values& values) {
    const planner::ScanChoice choice =
        planner::choose_scan({.values = values.integer("values"),
                              .cores = static_cast<int>(values.integer("cores")),
                              .times = times_from(values.text("times")),
                              .speedup = speedup_from(values.text("speedup"))});
    const std::size_t rows = values.flag("all") ? std::numeric_limits<std::size_t>::max() : 12;
    const std::string text =
        values.flag("json") ? planner::to_json(choice) + "\n" : planner::to_text(choice, rows);
    std::fputs(text.c_str(), stdout);
    return 0;
}

} // namespace sextant::operation
