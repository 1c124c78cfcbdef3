// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/bench_summary.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/operation/bench/estimate_text.hpp"
#include "sextant/report/columns.hpp"
#include "sextant/report/log_chart.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

constexpr std::size_t most_kinds = 24; // more than that have no colour of their own

/// In the order in which they first come.
template <class Name>
std::vector<std::string> names_of(const std::vector<TimedWay>& ways, Name&& name) {
    std::vector<std::string> names;
    for (const TimedWay& way : ways) {
        if (std::find(names.begin(), names.end(), name(way)) == names.end())
            names.push_back(name(way));
    }
    return names;
}

std::string text_of(double seconds) {
    return report::to_text(Seconds{seconds});
}

bool has_both(const TimedWay& way) {
    return way.predicted && way.measured && *way.predicted > 0 && way.measured->median > 0;
}

/// How many times one is the other, whichever is more: the median.
report::KeyFigure off_by(const std::vector<TimedWay>& ways) {
    std::vector<double> factors;
    for (const TimedWay& way : ways) {
        if (has_both(way))
            factors.push_back(std::exp(std::abs(std::log(way.measured->median / *way.predicted))));
    }
    return {fmt::format("{:.2f} times", median(factors)),
            fmt::format("off, in the median of {}", report::counted(std::ssize(factors), "way"))};
}

report::Section accuracy_section(const std::vector<TimedWay>& ways) {
    if (std::none_of(ways.begin(), ways.end(), has_both))
        return {};
    report::LogChart chart{.title = "Predicted against measured",
                           .subtitle = "above the line: slower than predicted",
                           .x_name = "predicted",
                           .y_name = "measured",
                           .x_text = text_of,
                           .y_text = text_of,
                           .compares = true,
                           .figures = {off_by(ways)}};
    const auto case_of = [](const TimedWay& way) { return way.case_name; };
    const std::vector<std::string> cases = names_of(ways, case_of);
    const bool one_kind = cases.size() > most_kinds;
    for (const std::string& name : cases) {
        if (chart.kinds.empty() || !one_kind)
            chart.kinds.push_back({one_kind ? "all cases" : name});
        for (const TimedWay& way : ways) {
            if (way.case_name == name && has_both(way))
                chart.kinds.back().points.push_back(
                    {*way.predicted, way.measured->median,
                     fmt::format("{}: {}\npredicted {}, measured {}", name, way.name,
                                 text_of(*way.predicted), text_of(way.measured->median))});
        }
    }
    return {"Predicted against measured", to_html(report::Figure{report::log_chart(chart), ""})};
}

std::string table_of(const std::vector<CaseRegret>& all) {
    std::string html = "<details><summary>These as a table</summary>\n<div class=\"scroll\"><table>"
                       "\n<thead><tr><th scope=\"col\">Case</th><th scope=\"col\">Predicted to be "
                       "fastest</th><th scope=\"col\">Was fastest</th><th scope=\"col\" "
                       "class=\"number\">Ratio</th></tr></thead>\n<tbody>\n";
    for (const CaseRegret& one : all) {
        html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>"
                            "<td class=\"number\">{}</td></tr>\n",
                            report::escape(one.case_name), report::escape(one.followed),
                            report::escape(one.best), to_text(one.ratio, 1, 3));
    }
    return html + "</tbody>\n</table></div></details>\n";
}

std::string percent(double ratio) {
    return fmt::format("{:.1f} %", 100 * (ratio - 1));
}

report::Section regret_section(const std::vector<TimedWay>& ways) {
    const std::vector<CaseRegret> all = regrets(ways);
    if (all.empty())
        return {};
    report::ColumnChart chart;
    chart.title = "Regret";
    chart.subtitle = "by how much what was predicted to be fastest took longer than what was";
    chart.kinds = {{"regret", {}}};
    chart.text = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
    const CaseRegret* longest = nullptr;
    for (const CaseRegret& one : all) {
        chart.places.push_back(one.case_name);
        chart.kinds[0].values.push_back(one.ratio.median - 1);
        if (!longest || one.ratio.median > longest->ratio.median)
            longest = &one;
    }
    const auto within = std::count_if(all.begin(), all.end(),
                                      [](const CaseRegret& one) { return one.within_noise(); });
    const Interval& interval = longest->ratio.interval;
    chart.figures = {
        {percent(longest->ratio.median),
         fmt::format("at most; within noise {} to {}", percent(interval.low),
                     percent(interval.high))},
        {fmt::format("{} of {}", within, all.size()), "cases with no regret beyond noise"}};
    return {"What following predictions costs",
            to_html(report::Figure{report::columns(chart), ""}) + table_of(all)};
}

report::Section scaling_section(const std::vector<TimedWay>& ways, const SizeOfCases& size) {
    std::set<double> sizes;
    for (const TimedWay& way : ways)
        sizes.insert(way.size);
    const auto name_of = [](const TimedWay& way) { return way.name; };
    std::vector<std::string> names = names_of(ways, name_of);
    if (sizes.size() < 2)
        return {};
    report::LogChart chart{.title = "Scaling",
                           .subtitle = fmt::format("time over {}", size.name),
                           .x_name = size.name,
                           .y_name = "time",
                           .x_text = size.text,
                           .y_text = text_of};
    const std::size_t left_out = names.size() - std::min(names.size(), most_kinds);
    names.resize(names.size() - left_out);
    for (const std::string& name : names) {
        report::LogChart::Kind& kind = chart.kinds.emplace_back();
        kind.name = name;
        kind.joined = true;
        for (const TimedWay& way : ways) {
            const std::optional<Seconds> took =
                way.measured ? std::optional(way.measured->median) : way.predicted;
            if (way.name == name && took)
                kind.points.push_back({way.size, *took,
                                       fmt::format("{}: {}, {} {}", way.name, text_of(*took),
                                                   size.text(way.size), size.name)});
        }
    }
    const std::string caption =
        left_out > 0 ? fmt::format("{} more ways are not drawn.", left_out) : "";
    return {"Scaling", to_html(report::Figure{report::log_chart(chart), caption})};
}

/// A way over itself is 1, whatever its noise.
Estimate ratio_of(const TimedWay& followed, const TimedWay& best) {
    if (&followed == &best)
        return {1, {1, 1}};
    const Estimate &above = *followed.measured, &below = *best.measured;
    return {above.median / below.median,
            {above.interval.low / below.interval.high, above.interval.high / below.interval.low}};
}

} // namespace

std::vector<CaseRegret> regrets(const std::vector<TimedWay>& ways) {
    std::vector<CaseRegret> all;
    for (const std::string& name :
         names_of(ways, [](const TimedWay& way) { return way.case_name; })) {
        const TimedWay *followed = nullptr, *best = nullptr;
        int both = 0;
        for (const TimedWay& way : ways) {
            if (way.case_name != name || !has_both(way))
                continue;
            ++both;
            if (!followed || *way.predicted < *followed->predicted)
                followed = &way;
            if (!best || way.measured->median < best->measured->median)
                best = &way;
        }
        if (both > 1)
            all.push_back({name, followed->name, best->name, ratio_of(*followed, *best)});
    }
    return all;
}

std::vector<report::Section> summary_sections(const std::vector<TimedWay>& ways,
                                              const SizeOfCases& size) {
    return {accuracy_section(ways), regret_section(ways), scaling_section(ways, size)};
}

std::optional<Seconds> predicted_seconds(const Candidate& candidate,
                                         const planner::Setting& setting) {
    try {
        const planner::Choice choice = planner::choose({&candidate, 1}, setting);
        const auto& predicted = choice.chosen().predicted;
        return predicted ? std::optional(predicted->seconds) : std::nullopt;
    } catch (const model::CannotExpress&) {
        return std::nullopt; // then nothing is predicted, and the page shows what was measured
    }
}

} // namespace sextant::operation
