// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/provenance.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/lab/tune_choice.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {

namespace {

/// Adds the latencies of some launches. A `name` that is not empty replaces the names of
/// algorithms.
void add_latencies(std::vector<Latency>& all, std::span<const TuneLaunch> launches,
                   const std::string& name) {
    if (launches.empty())
        return;
    for (const AlgorithmTimes& first : launches[0].times) {
        if (first.wall.empty())
            continue;
        Score rounds;
        for (const TuneLaunch& launch : launches) {
            for (const AlgorithmTimes& each : launch.times) {
                if (each.operation == first.operation && each.size == first.size &&
                    each.name() == first.name()) {
                    for (const auto part :
                         {&Score::least, &Score::average, &Score::wall, &Score::cpu})
                        (rounds.*part)
                            .insert((rounds.*part).end(), (each.*part).begin(), (each.*part).end());
                }
            }
        }
        all.push_back({first.operation, name.empty() ? first.name() : name, first.size,
                       median(rounds.least), median(rounds.average), median(rounds.wall),
                       median(rounds.cpu), first.ours});
    }
}

std::string micro(Seconds time) {
    return fmt::format("{:.2f}", 1e6 * time);
}

std::string sizes_text(const TuningRule& rule) {
    if (rule.to == TuningRule::no_limit)
        return rule.from == 0 ? "all" : fmt::format("{} or more", rule.from);
    return fmt::format("{} to {}", rule.from, rule.to - 1);
}

/// Returns the speedup with its interval: "1.42 [1.31, 1.50]".
std::string speedup(const RuleEvidence& evidence) {
    return fmt::format("{:.2f} [{:.2f}, {:.2f}]", 1 / evidence.median, 1 / evidence.high,
                       1 / evidence.low);
}

std::string worst_text(const RuleEvidence& evidence) {
    return fmt::format("{:.2f} at {}", 1 / evidence.worst, evidence.worst_size);
}

std::string conditions(const TuneLaunch& launch) {
    return fmt::format("{} ranks over {}{}", launch.ranks, launch.mpi,
                       launch.crowded ? ", which outnumber the cores: compared by CPU time" : "");
}

/// Returns the latencies by operation.
std::map<std::string_view, std::vector<Latency>> by_operation(const TuneResults& results) {
    std::map<std::string_view, std::vector<Latency>> all;
    for (Latency& each : latencies_of(results))
        all[each.operation].push_back(std::move(each));
    return all;
}

/// Returns the fastest latency at a size among those that satisfy the condition; null if there is
/// none.
const Latency* fastest(const std::vector<Latency>& all, Bytes size, bool by_cpu,
                       const std::function<bool(const Latency&)>& condition) {
    const Latency* best = nullptr;
    for (const Latency& each : all) {
        if (each.size != size || !condition(each))
            continue;
        if (!best || (by_cpu ? each.cpu < best->cpu : each.most < best->most))
            best = &each;
    }
    return best;
}

bool is_of_mpi(const Latency& each) {
    return !each.ours && each.algorithm != "with rules" && each.algorithm != "without rules";
}

} // namespace

std::vector<Latency> latencies_of(const TuneResults& results) {
    std::vector<Latency> all;
    add_latencies(all, results.measured, "");
    add_latencies(all, results.without, "without rules");
    add_latencies(all, results.with, "with rules");
    std::map<std::string_view, int> order;
    for (const TunedOperation& operation : tuned_operations())
        order.emplace(operation.name, static_cast<int>(order.size()));
    std::map<std::pair<int, std::string>, int> groups; // numbered in order of first appearance
    for (const Latency& each : all)
        groups.emplace(std::pair(order[each.operation], each.algorithm),
                       static_cast<int>(groups.size()));
    std::stable_sort(all.begin(), all.end(), [&](const Latency& a, const Latency& b) {
        const int x = order[a.operation], y = order[b.operation];
        return std::tuple(x, groups[{x, a.algorithm}], a.size) <
               std::tuple(y, groups[{y, b.algorithm}], b.size);
    });
    return all;
}

std::string latency_tables(const TuneResults& results) {
    std::string text;
    std::string last;
    for (const Latency& each : latencies_of(results)) {
        const std::string title =
            fmt::format("# {}, {}", tuned_operation(each.operation).call, each.algorithm);
        if (title != last) {
            text += fmt::format("{}\n# {:<10} {:>14} {:>14} {:>14}\n", title, "Size", "Avg Lat(us)",
                                "Min Lat(us)", "Max Lat(us)");
        }
        last = title;
        text += fmt::format("{:<12} {:>14} {:>14} {:>14}\n", each.size, micro(each.average),
                            micro(each.least), micro(each.most));
    }
    return text;
}

std::string fastest_tables(const TuneResults& results) {
    if (results.measured.empty())
        return "";
    const TuneLaunch& launch = results.measured.front();
    const std::string clock = launch.crowded ? "CPU(us)" : "Max Lat(us)";
    const auto text_of = [&](const Latency* each) {
        if (!each)
            return std::string("-");
        return fmt::format("{} {}", micro(launch.crowded ? each->cpu : each->most),
                           each->algorithm);
    };
    std::string text = fmt::format("# {}\n", conditions(launch));
    for (const auto& [operation, latencies] : by_operation(results)) {
        text += fmt::format("# {}\n# {:<8} {:>12} {:>12} {:>12} {:>12}  {:<40} {}\n",
                            tuned_operation(operation).call, "Size", "Avg Lat(us)", "Min Lat(us)",
                            "Max Lat(us)", "CPU(us)", clock + ", fastest of MPI",
                            clock + ", fastest of Sextant");
        for (const Latency& each : latencies) {
            if (each.algorithm != "default")
                continue;
            const Latency* const theirs = fastest(latencies, each.size, launch.crowded, is_of_mpi);
            const Latency* const ours =
                fastest(latencies, each.size, launch.crowded,
                        [](const Latency& latency) { return latency.ours; });
            text += fmt::format("{:<10} {:>12} {:>12} {:>12} {:>12}  {:<40} {}\n", each.size,
                                micro(each.average), micro(each.least), micro(each.most),
                                micro(each.cpu), text_of(theirs), text_of(ours));
        }
    }
    return text;
}

std::string rules_table(const TuneResults& results) {
    if (results.rules.empty())
        return "no rules: no other algorithm of MPI is faster beyond noise in any size class\n";
    std::string text =
        fmt::format("speedup over the default, median [95 %] of {} pairs of launches with and "
                    "without the rules; {}\n{:<10} {:<18} {:<36} {:<20} {:<16} {}\n",
                    results.with.size(),
                    results.any().crowded ? "CPU time of all ranks" : "time of the slowest rank",
                    "collective", "sizes", "algorithm", "speedup", "lowest speedup", "rule");
    for (const TunedRule& each : results.rules) {
        text +=
            fmt::format("{:<10} {:<18} {:<36} {:<20} {:<16} {}\n", each.rule.operation,
                        sizes_text(each.rule), each.rule.algorithm.text(), speedup(each.verified),
                        worst_text(each.verified), each.kept() ? "kept" : "not confirmed");
    }
    return text;
}

std::string csv_of(const TuneResults& results) {
    std::string text = "collective,algorithm,size,average_us,minimum_us,maximum_us,cpu_us\n";
    for (const Latency& each : latencies_of(results)) {
        // Names contain commas, but no quotes.
        text +=
            fmt::format("{},\"{}\",{},{},{},{},{}\n", each.operation, each.algorithm, each.size,
                        micro(each.average), micro(each.least), micro(each.most), micro(each.cpu));
    }
    return text;
}

namespace {

nlohmann::ordered_json json_of(const RuleEvidence& evidence) {
    return {{"median", evidence.median},
            {"low", evidence.low},
            {"high", evidence.high},
            {"worst", evidence.worst},
            {"worst_size", evidence.worst_size}};
}

nlohmann::ordered_json json_of(const TunedRule& each) {
    nlohmann::ordered_json to = nullptr;
    if (each.rule.to != TuningRule::no_limit)
        to = each.rule.to;
    return {{"collective", each.rule.operation},
            {"from", each.rule.from},
            {"to", to},
            {"algorithm", each.rule.algorithm.name},
            {"segment", each.rule.algorithm.segment},
            {"chosen", json_of(each.chosen)},
            {"verified", json_of(each.verified)},
            {"kept", each.kept()}};
}

} // namespace

std::string json_of(const TuneResults& results) {
    nlohmann::ordered_json rules = nlohmann::ordered_json::array(),
                           latencies = nlohmann::ordered_json::array(),
                           refused = nlohmann::ordered_json::array();
    for (const TunedRule& each : results.rules)
        rules.push_back(json_of(each));
    for (const Latency& each : latencies_of(results)) {
        latencies.push_back({{"collective", each.operation},
                             {"algorithm", each.algorithm},
                             {"size", each.size},
                             {"average", each.average},
                             {"minimum", each.least},
                             {"maximum", each.most},
                             {"cpu", each.cpu}});
    }
    for (const AlgorithmTimes& each : results.any().times) {
        if (!each.refused.empty() || !each.in_order)
            refused.push_back(
                {{"collective", each.operation},
                 {"algorithm", each.name()},
                 {"size", each.size},
                 {"reason", each.refused.empty() ? "wrong for operators that do not commute"
                                                 : each.refused}});
    }
    const TuneLaunch& launch = results.any();
    const nlohmann::ordered_json json{{"operation", "tune"},
                                      {"version", version()},
                                      {"host", launch.host},
                                      {"date", launch.date},
                                      {"mpi", launch.mpi},
                                      {"ranks", launch.ranks},
                                      {"crowded", launch.crowded},
                                      {"launches", results.measured.size()},
                                      {"pairs", results.with.size()},
                                      {"rules", rules},
                                      {"latencies", latencies},
                                      {"left_out", refused}};
    return sextant::to_text(json) + "\n";
}

namespace {

std::string rules_html(const TuneResults& results) {
    report::Table table{{{"Collective", ""},
                         {"Sizes in bytes", ""},
                         {"Algorithm", ""},
                         {"Rule", ""},
                         "Speedup",
                         "Lowest speedup"}};
    for (const TunedRule& each : results.rules)
        table.rows.push_back({std::string(tuned_operation(each.rule.operation).call),
                              sizes_text(each.rule), report::escape(each.rule.algorithm.text()),
                              each.kept() ? "kept" : "not confirmed", speedup(each.verified),
                              worst_text(each.verified)});
    return to_html(table);
}

/// Returns a chart of latency over size: the default, the fastest algorithms, and the launches that
/// verify the rules.
std::string chart_of(const TunedOperation& operation, const std::vector<Latency>& latencies,
                     bool crowded) {
    const auto time = [&](const Latency& each) { return crowded ? each.cpu : each.most; };
    report::LogChart chart{.title = std::string(operation.call),
                           .subtitle = crowded ? "CPU time of all ranks over message size"
                                               : "time of the slowest rank over message size",
                           .x_name = "bytes",
                           .y_name = "time",
                           .x_text = report::bytes_to_text,
                           .y_text = [](double seconds) { return report::to_text(seconds); }};
    const auto add = [&](const std::string& name, const auto& chosen) {
        report::LogChart::Kind kind{name, {}, true};
        for (const Latency& at : latencies) {
            const Latency* const each = chosen(at);
            if (each)
                kind.points.push_back({static_cast<double>(each->size), time(*each),
                                       fmt::format("{}, {} bytes: {}", each->algorithm, each->size,
                                                   report::to_text(time(*each)))});
        }
        if (!kind.points.empty())
            chart.kinds.push_back(std::move(kind));
    };
    const auto named = [](const std::string& name) {
        return [name](const Latency& at) { return at.algorithm == name ? &at : nullptr; };
    };
    const auto best = [&](const std::function<bool(const Latency&)>& condition) {
        return [&, condition](const Latency& at) -> const Latency* {
            return at.algorithm == "default" ? fastest(latencies, at.size, crowded, condition)
                                             : nullptr;
        };
    };
    add("default", named("default"));
    add("fastest of MPI", best(is_of_mpi));
    add("fastest of Sextant", best([](const Latency& each) { return each.ours; }));
    add("without rules", named("without rules"));
    add("with rules", named("with rules"));
    return report::log_chart(chart);
}

} // namespace

std::string page_of(const TuneResults& results) {
    const TuneLaunch& launch = results.any();
    report::Page page;
    page.title = "Sextant: tuned collectives";
    page.subtitle = conditions(launch);
    const auto kept = std::count_if(results.rules.begin(), results.rules.end(),
                                    [](const TunedRule& each) { return each.kept(); });
    page.facts = {
        {"Rules", results.rules.empty()
                      ? "none: no algorithm is faster beyond noise"
                      : fmt::format("{} of {} confirmed", kept,
                                    report::counted(std::ssize(results.rules), "chosen rule"))},
        {"Launches",
         fmt::format("{} that time all algorithms, {} with and without the rules",
                     results.measured.size(), report::counted(std::ssize(results.with), "pair"))},
        {"Machine", fmt::format("{}, {}", launch.host, report::counted(cores_of_host(), "core"))},
        {"Made", fmt::format("{}, {}", launch.date, version())}};
    if (!results.rules.empty())
        page.sections.push_back({"Rules", rules_html(results)});
    std::string charts;
    for (const auto& [name, latencies] : by_operation(results)) {
        charts +=
            to_html(report::Figure{chart_of(tuned_operation(name), latencies, launch.crowded), ""});
    }
    page.sections.push_back({"Latencies", charts});
    if (!results.output.empty()) {
        page.sections.push_back({"File", "<div class=\"scroll\"><pre>" +
                                             report::escape(to_text(results.written)) +
                                             "</pre></div>\n"});
        std::string line;
        for (const Variable& each : environment_of(results.written, results.output))
            line += fmt::format("export {}={}\n", each.name, each.value);
        page.next_steps = {{"Use the rules in programs that are started from this shell", line}};
    }
    return report::render(page);
}

} // namespace sextant::lab
