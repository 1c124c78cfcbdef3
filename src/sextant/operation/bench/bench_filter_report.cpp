// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/bench_filter_report.hpp"

#include "sextant/operation/bench/estimate_text.hpp"
#include "sextant/operation/filter/filter_parameters.hpp"
#include "sextant/report/alternatives_section.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

std::string gain_text(const char* name, const FilterGain& gain) {
    return fmt::format("{} {}, by CPU time {}", name, to_text(gain.wall, 1, 2),
                       to_text(gain.cpu, 1, 2));
}

std::string regret_text(const char* name, const FilterResults::Regret& regret,
                        const Estimate& noise) {
    return fmt::format("  {} {} of {} ({})\n", name, to_text(regret.ratio, 1, 3), regret.best,
                       to_text(noise, 1, 3));
}

nlohmann::ordered_json to_json(const FilterResults::Regret& regret, const Estimate& noise) {
    return {{"best", regret.best}, {"ratio", to_json(regret.ratio)}, {"noise", to_json(noise)}};
}

nlohmann::ordered_json to_json(const FilterGain& gain) {
    return {{"wall", to_json(gain.wall)}, {"cpu", to_json(gain.cpu)}};
}

} // namespace

std::string to_text(const FilterResults& results, const std::string& transport, int rounds) {
    std::string text = fmt::format("{}: {} ranks over {}; medians of {} rounds, [95 %]\n",
                                   results.what.name, results.ranks, transport, rounds);
    text += fmt::format("{}: {}\n", results.results.front().name, results.reason);
    text += fmt::format("  {:<44} {:>9} {:>24} {:>22} {:>9}\n", "", "predicted", "ms",
                        "of the chosen", "CPU ms");
    for (const FilterResult& result : results.results) {
        text += fmt::format("  {:<44} {:>9} {:>24} {:>22} {:>9.2f}\n", result.name,
                            result.predicted ? fmt::format("{:.2f}", *result.predicted * 1e3) : "",
                            to_text(result.wall, 1e3, 2), to_text(result.ratio, 1, 3),
                            result.cpu.median * 1e3);
    }
    if (results.left_out > 0)
        text += fmt::format("  {} ways that were predicted to be slower were not timed\n",
                            results.left_out);
    text += "the chosen over the best (over itself in other turns):\n";
    text += regret_text("by time             ", results.by_wall, results.wall_noise);
    text += regret_text("by CPU time a rank  ", results.by_cpu, results.cpu_noise);
    text += fmt::format("gain over one rank:\n  {}\n  {}\n  {}\n",
                        gain_text("filter                 ", results.filter),
                        gain_text("planes staying in tiles", results.stay),
                        gain_text("arithmetic alone       ", results.control));
    return text;
}

nlohmann::ordered_json to_json(const FilterResults& results) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const FilterResult& result : results.results) {
        nlohmann::ordered_json one{{"name", result.name},
                                   {"ranks", result.ranks},
                                   {"seconds", to_json(result.wall)},
                                   {"cpu_seconds", to_json(result.cpu)},
                                   {"ratio", to_json(result.ratio)}};
        if (result.predicted)
            one["predicted"] = *result.predicted;
        list.push_back(one);
    }
    return {{"name", results.what.name},
            {"width", results.what.shape.width},
            {"height", results.what.shape.height},
            {"element", results.what.element.name},
            {"kernel", text_of(results.what.filter.kernel)},
            {"sigma", results.what.filter.sigma},
            {"derivatives", results.what.filter.features},
            {"reason", results.reason},
            {"left_out", results.left_out},
            {"regret", to_json(results.by_wall, results.wall_noise)},
            {"cpu_regret", to_json(results.by_cpu, results.cpu_noise)},
            {"gain", to_json(results.filter)},
            {"stay_gain", to_json(results.stay)},
            {"control_gain", to_json(results.control)},
            {"results", list}};
}

std::vector<TimedWay> ways_of(const FilterResults& results) {
    std::vector<TimedWay> ways;
    for (const FilterResult& result : results.results)
        ways.push_back({results.what.name, result.name, result.predicted, result.wall,
                        static_cast<double>(results.what.shape.elements())});
    return ways;
}

report::Section section_of(const FilterResults& results) {
    report::Alternatives ways{
        results.what.name, fmt::format("{} ranks; {}", results.ranks, results.reason), {}};
    for (const FilterResult& result : results.results) {
        report::Alternative& way = ways.all.emplace_back();
        way.name = result.name;
        way.measured = to_range(result.wall);
        if (result.predicted)
            way.predicted = {*result.predicted, *result.predicted, *result.predicted};
        way.remark = fmt::format("{} of the chosen", to_text(result.ratio, 1, 3));
    }
    return alternatives_section(ways);
}

} // namespace sextant::operation
