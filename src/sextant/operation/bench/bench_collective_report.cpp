// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/bench_collective_report.hpp"

#include "sextant/operation/bench/estimate_text.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

/// Of a contestant, since not all take all sizes.
const CollectiveResult* find(const ResultsOfSize& of_size, const std::string& name) {
    const auto found =
        std::find_if(of_size.results.begin(), of_size.results.end(),
                     [&](const CollectiveResult& result) { return result.name == name; });
    return found == of_size.results.end() ? nullptr : &*found;
}

std::vector<std::string> contestants(const CollectiveResults& results) {
    std::vector<std::string> names;
    for (const ResultsOfSize& of_size : results.sizes) {
        for (const CollectiveResult& result : of_size.results) {
            if (std::find(names.begin(), names.end(), result.name) == names.end())
                names.push_back(result.name);
        }
    }
    return names;
}

std::string table_of(const CollectiveResults& results, const std::string& name,
                     const std::string& reference) {
    std::string text = fmt::format("# {}\n# {:<10} {:>12} {:>24}{}\n", name, "Size", "Median(us)",
                                   "95 %", name == reference ? "" : "   of " + reference);
    for (const ResultsOfSize& of_size : results.sizes) {
        const CollectiveResult* result = find(of_size, name);
        if (!result)
            continue;
        text += fmt::format("{:<12} {:>12.2f} {:>24}", of_size.size, result->wall.median * 1e6,
                            interval_text(result->wall, 1e6, 2));
        if (name != reference)
            text += "   " + to_text(result->ratio, 1, 3);
        text += "\n";
    }
    return text;
}

} // namespace

std::string to_text(const CollectiveResults& results, const std::string& transport, int rounds) {
    std::string text =
        fmt::format("# {}, {} ranks over {}; bytes {}; medians of {} rounds\n", results.what.name,
                    results.ranks, transport,
                    results.what.what == Collective::broadcast    ? "in all"
                    : results.what.what == Collective::all_to_all ? "for each pair of ranks"
                                                                  : "of each rank",
                    rounds);
    const std::vector<std::string> names = contestants(results);
    for (const std::string& name : names)
        text += table_of(results, name, names.front());
    return text;
}

nlohmann::ordered_json to_json(const CollectiveResults& results) {
    nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
    for (const ResultsOfSize& of_size : results.sizes) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const CollectiveResult& result : of_size.results) {
            list.push_back({{"name", result.name},
                            {"baseline", result.baseline},
                            {"seconds", to_json(result.wall)},
                            {"cpu_seconds", to_json(result.cpu)},
                            {"ratio", to_json(result.ratio)}});
            if (result.predicted)
                list.back()["predicted"] = *result.predicted;
        }
        sizes.push_back({{"size", of_size.size}, {"results", list}});
    }
    return {{"name", results.what.name},
            {"collective", name(results.what.what)},
            {"tiles", results.what.tiles},
            {"sizes", sizes}};
}

std::vector<TimedWay> ways_of(const CollectiveResults& results) {
    std::vector<TimedWay> ways;
    for (const ResultsOfSize& of_size : results.sizes) {
        for (const CollectiveResult& result : of_size.results)
            ways.push_back({fmt::format("{}, {}", results.what.name,
                                        report::bytes_to_text(static_cast<double>(of_size.size))),
                            fmt::format("{}: {}", results.what.name, result.name), result.predicted,
                            result.wall, static_cast<double>(of_size.size)});
    }
    return ways;
}

report::Section section_of(const CollectiveResults& results) {
    report::Section section{results.what.name, ""};
    for (const ResultsOfSize& of_size : results.sizes) {
        report::Alternatives ways{"",
                                  fmt::format("{} on {} ranks; the slowest rank's time",
                                              report::counted(of_size.size, "byte"), results.ranks),
                                  {}};
        for (const CollectiveResult& result : of_size.results) {
            report::Alternative& way = ways.all.emplace_back();
            way.name = result.name;
            way.measured = to_range(result.wall);
            if (result.predicted)
                way.predicted = {*result.predicted, *result.predicted, *result.predicted};
        }
        sort_by_time(ways);
        section.html += alternatives_section(ways).html;
    }
    return section;
}

} // namespace sextant::operation
