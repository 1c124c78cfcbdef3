// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/bench_composite_report.hpp"

#include "sextant/operation/bench/estimate_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

std::string name_of(const CompositeResult& result) {
    std::string name = result.name;
    for (const std::string& more : {result.tuning, result.transport}) {
        if (!more.empty())
            name += ", " + more;
    }
    return name + (result.sparse ? ", sparse" : "");
}

} // namespace

std::string to_text(const CompositeResults& results, const std::string& transport, int rounds) {
    std::string text = fmt::format("{}: {} ranks over {}, {}; medians of {} rounds, [95 %]\n",
                                   results.what.name, results.ranks, transport,
                                   results.what.collect ? "collected" : "distributed", rounds);
    text += fmt::format("  {:<40} {:>24} {:>24} {:>9} {:>24} {:>9} {:>6}\n", "", "ms",
                        "of " + results.reference, "CPU ms", "of its CPU", "messages", "sent");
    for (const CompositeResult& result : results.results) {
        text += fmt::format("  {:<40} {:>24} {:>24} {:>9.2f} {:>24} {:>9} {:>6}\n", name_of(result),
                            to_text(result.wall, 1e3, 2), to_text(result.ratio, 1, 3),
                            result.cpu.median * 1e3, to_text(result.cpu_ratio, 1, 3),
                            result.baseline ? "" : std::to_string(result.messages),
                            result.baseline ? "" : fmt::format("{:.0f} %", result.sent * 100));
    }
    return text;
}

std::vector<TimedWay> ways_of(const CompositeResults& results) {
    std::vector<TimedWay> ways;
    for (const CompositeResult& result : results.results)
        ways.push_back({results.what.name, name_of(result), result.predicted, result.wall,
                        static_cast<double>(results.what.shape.elements())});
    return ways;
}

nlohmann::ordered_json to_json(const CompositeResults& results) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const CompositeResult& result : results.results) {
        list.push_back({{"name", result.name},
                        {"tuning", result.tuning},
                        {"transport", result.transport},
                        {"baseline", result.baseline},
                        {"sparse", result.sparse},
                        {"sent", result.sent},
                        {"seconds", to_json(result.wall)},
                        {"cpu_seconds", to_json(result.cpu)},
                        {"ratio", to_json(result.ratio)},
                        {"cpu_ratio", to_json(result.cpu_ratio)},
                        {"messages", result.messages},
                        {"pixels", result.pixels}});
        if (result.predicted)
            list.back()["predicted"] = *result.predicted;
    }
    return {{"name", results.what.name},
            {"width", results.what.shape.width},
            {"height", results.what.shape.height},
            {"operator", results.what.blend},
            {"element", results.what.element},
            {"image", results.what.image},
            {"collect", results.what.collect},
            {"reference", results.reference},
            {"results", list}};
}

report::Section section_of(const CompositeResults& results) {
    report::Alternatives ways{results.what.name,
                              fmt::format("{} ranks, {}; the slowest rank's time", results.ranks,
                                          results.what.collect ? "collected" : "distributed"),
                              {}};
    for (const CompositeResult& result : results.results) {
        report::Alternative& way = ways.all.emplace_back();
        way.name = name_of(result);
        way.measured = to_range(result.wall);
        if (result.predicted)
            way.predicted = {*result.predicted, *result.predicted, *result.predicted};
        way.remark = fmt::format("{} of {}", to_text(result.ratio, 1, 3), results.reference);
    }
    sort_by_time(ways);
    return alternatives_section(ways);
}

} // namespace sextant::operation
