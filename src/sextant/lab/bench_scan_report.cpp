// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/bench_scan.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {

namespace {

using Json = nlohmann::ordered_json;

std::string milliseconds(const std::optional<Estimate>& estimate) {
    return estimate ? fmt::format("{:.2f}", estimate->median * 1e3) : "";
}

Json to_json(const std::optional<Estimate>& estimate) {
    return estimate ? to_json(*estimate) : Json();
}

Json to_json(const std::vector<scan::Bar>& bars) {
    Json list = Json::array();
    for (const scan::Bar& bar : bars) {
        list.push_back({{"rank", bar.rank},
                        {"thread", bar.thread},
                        {"first", bar.what.first},
                        {"middle", bar.what.middle},
                        {"last", bar.what.last},
                        {"begin", bar.begin},
                        {"end", bar.end}});
    }
    return list;
}

Json to_json(const ScanResult& result) {
    return {{"name", result.name},
            {"threads", result.threads},
            {"baseline", result.baseline},
            {"seconds", to_json(result.measured)},
            {"rehearsed_seconds", to_json(result.rehearsed)},
            {"ratio", to_json(result.ratio)},
            {"balanced_seconds", result.balanced},
            {"applications", result.usage.applications},
            {"busy_core_seconds", result.usage.busy},
            {"idle_core_seconds", result.usage.idle},
            {"imbalance", result.usage.imbalance},
            {"efficiency", result.usage.efficiency},
            {"stolen", result.stolen}};
}

/// Returns the measured makespan if available, else the simulated one.
Seconds makespan(const ScanResult& result) {
    return (result.measured ? result.measured : result.rehearsed)->median;
}

const ScanResult* fastest(const ScanResults& results) {
    const ScanResult* best = nullptr;
    for (const ScanResult& result : results.results) {
        if (!result.baseline && (!best || makespan(result) < makespan(*best)))
            best = &result;
    }
    return best;
}

std::string title_of(const report::GanttBar& bar, const scan::Application& what,
                     const std::string& worker) {
    return fmt::format("{}: combines elements {} to {} with {} to {}\n{} from {} to {}", worker,
                       what.first, what.middle - 1, what.middle, what.last - 1,
                       report::to_text(bar.end - bar.begin), report::to_text(bar.begin),
                       report::to_text(bar.end));
}

/// Returns the kind of an operator application: 0 within a segment, 1 between totals of segments, 2
/// if the result is a final prefix, that is, begins at the first value.
int kind_of(const scan::Application& what) {
    if (what.first == 0)
        return 2;
    return what.middle - what.first == 1 || what.last - what.middle == 1 ? 0 : 1;
}

double idle_share(const scan::Usage& usage) {
    const Seconds whole = usage.busy + usage.idle;
    return whole > 0 ? std::max(0.0, usage.idle / whole) : 0;
}

/// Returns a chart of the fraction of time in which cores are idle in the last round.
std::string idle_shares(const ScanResults& results) {
    report::ColumnChart chart;
    chart.title = "Idle fraction of the cores";
    chart.kinds = {{"idle", {}}};
    chart.text = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
    for (const ScanResult& result : results.results) {
        if (result.baseline)
            continue;
        chart.places.push_back(result.name);
        chart.kinds[0].values.push_back(idle_share(result.usage));
    }
    return report::columns(chart);
}

} // namespace

std::string to_text(const ScanResults& results, const std::string& transport, int rounds) {
    std::size_t width = 0;
    for (const ScanResult& result : results.results)
        width = std::max(width, result.name.size());
    std::string text =
        fmt::format("{}: {} values, {} ranks over {}, {} {}\n"
                    "  {:<{}} {:>10} {:>10} {:>7} {:>10} {:>6} {:>6} {:>6}\n",
                    results.what.name, results.what.values, results.ranks, transport, rounds,
                    transport == "a simulated clock" ? "draws" : "rounds", "", width, "ms",
                    "rehearsed", "ratio", "balanced", "effic.", "imbal.", "stolen");
    for (const ScanResult& result : results.results) {
        text += fmt::format("  {:<{}} {:>10} {:>10} {:>7} ", result.name, width,
                            milliseconds(result.measured), milliseconds(result.rehearsed),
                            result.ratio ? fmt::format("{:.3f}", result.ratio->median) : "");
        text += result.baseline
                    ? "\n"
                    : fmt::format("{:>10.2f} {:>6.3f} {:>6.2f} {:>6}\n", result.balanced * 1e3,
                                  result.usage.efficiency, result.usage.imbalance, result.stolen);
    }
    if (results.sleep_error > 0)
        text += fmt::format(
            "  sleeps were {:.1f} us too long; the following sleeps were shortened to compensate\n",
            results.sleep_error * 1e6);
    return text;
}

nlohmann::ordered_json to_json(const ScanResults& results) {
    Json list = Json::array();
    for (const ScanResult& result : results.results)
        list.push_back(to_json(result));
    const ScanResult* best = fastest(results);
    return {{"name", results.what.name},
            {"values", results.what.values},
            {"times", scan::name(results.what.times.kind)},
            {"mean_seconds", results.what.times.mean},
            {"busy", results.what.busy},
            {"neighbours", results.what.neighbours},
            {"ranks", results.ranks},
            {"serial_seconds", results.serial},
            {"sleep_error_seconds", results.sleep_error},
            {"results", list},
            {"fastest", best ? Json(best->name) : Json()},
            {"trace_of_fastest", best ? to_json(best->bars) : Json::array()}};
}

std::string picture_of(const ScanResults& results) {
    report::GanttChart chart{results.what.name, "", {}, {}, {}, {}};
    chart.kinds = {"within a segment", "of totals", "of a result"};
    const ScanResult* best = fastest(results);
    if (!best)
        return report::gantt(chart);
    chart.subtitle = best->name;
    for (int rank = 0; rank < results.ranks; ++rank) {
        for (int thread = 0; thread < best->threads; ++thread) {
            chart.workers.push_back(best->threads == 1   ? fmt::format("rank {}", rank)
                                    : results.ranks == 1 ? fmt::format("thread {}", thread)
                                                         : fmt::format("{}.{}", rank, thread));
        }
    }
    if (results.ranks > 1 && best->threads > 1)
        chart.subtitle += "; lanes are named rank.thread"; // longer names would be truncated
    for (const scan::Bar& bar : best->bars) {
        const int worker = bar.rank * best->threads + bar.thread;
        report::GanttBar& drawn = chart.bars.emplace_back(
            report::GanttBar{worker, kind_of(bar.what), bar.begin, bar.end, ""});
        drawn.title = title_of(drawn, bar.what, chart.workers[static_cast<std::size_t>(worker)]);
    }
    const scan::Usage& usage = best->usage;
    chart.figures = {{report::to_text(usage.makespan), "in total"},
                     report::key_figure(usage.applications, "application"),
                     report::key_figure(best->stolen, "value"),
                     {fmt::format("{:.2f}", usage.efficiency), "efficiency"},
                     {fmt::format("{:.2f}", usage.imbalance), "imbalance"}};
    chart.figures[2].label += " stolen";
    return report::gantt(chart);
}

std::vector<TimedConfiguration> configurations_of(const ScanResults& results) {
    const auto median = [](const std::optional<Estimate>& estimate) {
        return estimate ? std::optional<Seconds>(estimate->median) : std::nullopt;
    };
    std::vector<TimedConfiguration> configurations;
    for (const ScanResult& result : results.results)
        configurations.push_back({results.what.name, result.name, median(result.rehearsed),
                                  result.measured, static_cast<double>(results.ranks)});
    return configurations;
}

report::Section section_of(const ScanResults& results) {
    report::Alternatives configurations{
        results.what.name,
        fmt::format("{} values on {} ranks; predicted on a simulated clock", results.what.values,
                    results.ranks),
        {}};
    for (const ScanResult& result : results.results) {
        report::Alternative& configuration = configurations.all.emplace_back();
        configuration.name = result.name;
        if (result.rehearsed)
            configuration.predicted = to_range(*result.rehearsed);
        if (result.measured)
            configuration.measured = to_range(*result.measured);
        if (!result.baseline)
            configuration.remark =
                fmt::format("{:.0f} % idle, imbalance {:.2f}", 100 * idle_share(result.usage),
                            result.usage.imbalance);
    }
    sort_by_time(configurations);
    report::Section section = alternatives_section(configurations);
    section.html += report::to_html(report::Figure{idle_shares(results), ""});
    section.html += report::to_html(report::Figure{
        picture_of(results), "The last round of the fastest of Sextant's configurations."});
    return section;
}

} // namespace sextant::lab
