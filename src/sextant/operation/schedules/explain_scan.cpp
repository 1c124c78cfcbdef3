// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/explain_scan.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/number_text.hpp"
#include "sextant/core/printable.hpp"
#include "sextant/operation/bench/bench_scan_cases.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/planner/scan_choice.hpp"

#include <cstdio>
#include <filesystem>
#include <limits>
#include <sstream>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using Kind = scan::Distribution::Kind;

constexpr int most_cores = 4096;

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
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        constexpr double least = 1e-3, most = 1e6;
        const double factor = parsed_number<double>(part).value_or(0);
        if (factor < least || factor > most || std::ssize(speedup) == most_cores)
            throw InvalidTask(fmt::format("--speedup {}: expected up to {} numbers from {} to {}, "
                                          "as 1,1.5,2",
                                          shortened(text), most_cores, least, most));
        speedup.push_back(factor);
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
             .most = most_cores},
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
    print_text(text);
    return 0;
}

} // namespace sextant::operation
