// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/contest.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>
#include <random>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {

namespace {

/// Wall-clock and CPU time of a rank or of all ranks.
struct Turn {
    Seconds wall = 0, cpu = 0;
    Seconds least = 0, average = 0; ///< minimum and mean over ranks; see Score
};

Seconds cpu_of_this_thread() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<Seconds>(now.tv_sec) + 1e-9 * static_cast<Seconds>(now.tv_nsec);
}

/// The number of repetitions per turn. If `apart`, each repetition is timed separately, after one
/// that is not timed.
struct Length {
    int repeats = 1;
    bool apart = false;
};

/// Much longer than the time between the first and the last rank leaving a barrier.
constexpr Seconds long_enough_to_time = 5e-6;

Length length_of(Seconds repetition, const ContestOptions& options) {
    constexpr double least_apart = 3; // of which the median is not that of an interruption
    const bool apart = options.barriers || (options.before && repetition > long_enough_to_time);
    const double needed = std::max(std::ceil(options.least_turn / std::max(repetition, 1e-9)),
                                   apart ? least_apart : 1);
    return {static_cast<int>(std::clamp(needed, 1.0, 1.0 * options.most_repeats)), apart};
}

/// Returns this rank's times for `repeats` repetitions, which start after a barrier.
Turn time(const Communicator& communicator, const std::function<void()>& work,
          const ContestOptions& options, int repeats) {
    if (options.before)
        options.before();
    communicator.barrier();
    const Seconds cpu = cpu_of_this_thread();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i)
        work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {.wall = took.count(), .cpu = cpu_of_this_thread() - cpu};
}

/// Returns the times per repetition: of wall times, the slowest, fastest and mean rank, each the
/// median of the repetitions that are timed separately; and the CPU time of all ranks. Collective.
Turn take_turn(const Communicator& communicator, const std::function<void()>& work,
               const ContestOptions& options, const Length& length) {
    const int together = length.apart ? 1 : length.repeats;
    const auto times = static_cast<std::size_t>(length.repeats / together);
    const auto ranks = static_cast<std::size_t>(communicator.size());
    std::vector<Seconds> own;
    Turn all;
    Seconds cpu = 0;
    if (length.apart) // the caches contain the buffers of other contestants
        time(communicator, work, options, 1);
    for (std::size_t i = 0; i < times; ++i) {
        const Turn some = time(communicator, work, options, together);
        own.push_back(some.wall / together);
        cpu += some.cpu / length.repeats;
    }
    for (const Seconds each : communicator.all_gather(cpu))
        all.cpu += each;
    std::vector<Seconds> every(times * ranks); // those of one rank after those of another
    communicator.all_gather(std::as_bytes(std::span(own)),
                            std::as_writable_bytes(std::span(every)));
    std::vector<Seconds> most(times), least(times), average(times);
    for (std::size_t i = 0; i < times; ++i) {
        most[i] = least[i] = own[i];
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const Seconds wall = every[rank * times + i];
            most[i] = std::max(most[i], wall);
            least[i] = std::min(least[i], wall);
            average[i] += wall / static_cast<double>(ranks);
        }
    }
    all.wall = median(most), all.least = median(least), all.average = median(average);
    return all;
}

} // namespace

std::vector<Score> contest(const Communicator& communicator,
                           std::span<const std::function<void()>> contestants,
                           const ContestOptions& options) {
    constexpr int warm_up = 2;
    std::vector<Score> scores(contestants.size());
    std::vector<Length> lengths(contestants.size());
    std::vector<std::size_t> order(contestants.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(1); // same seed on all ranks
    for (int round = -warm_up; round < options.rounds; ++round) {
        if (options.progress)
            options.progress(round);
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t c : order) {
            const Turn turn = take_turn(communicator, contestants[c], options, lengths[c]);
            if (round < 0) {
                lengths[c] = length_of(turn.wall, options);
                continue;
            }
            scores[c].wall.push_back(turn.wall);
            scores[c].cpu.push_back(turn.cpu);
            scores[c].least.push_back(turn.least);
            scores[c].average.push_back(turn.average);
        }
    }
    return scores;
}

Estimate estimate(std::span<const double> values) {
    return {median(values), interval_of_median(values)};
}

Estimate estimate_ratio(std::span<const Seconds> ours, std::span<const Seconds> reference) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < ours.size(); ++i)
        ratios.push_back(ours[i] / reference[i]);
    return estimate(ratios);
}

std::string interval_text(const Estimate& estimate, double units, int digits) {
    return fmt::format("[{:.{}f}, {:.{}f}]", estimate.interval.low * units, digits,
                       estimate.interval.high * units, digits);
}

std::string to_text(const Estimate& estimate, double units, int digits) {
    return fmt::format("{:.{}f} {}", estimate.median * units, digits,
                       interval_text(estimate, units, digits));
}

report::TimeRange to_range(const Estimate& estimate) {
    return {estimate.median, estimate.interval.low, estimate.interval.high};
}

void TimedResult::set(const Score& score, const Score& reference) {
    wall = estimate(score.wall);
    cpu = estimate(score.cpu);
    ratio = estimate_ratio(score.wall, reference.wall);
}

nlohmann::ordered_json to_json(const TimedResult& result) {
    nlohmann::ordered_json json{{"name", result.name},
                                {"seconds", to_json(result.wall)},
                                {"cpu_seconds", to_json(result.cpu)},
                                {"ratio", to_json(result.ratio)}};
    if (result.predicted)
        json["predicted"] = *result.predicted;
    return json;
}

report::Alternative alternative_of(const TimedResult& result) {
    report::Alternative alternative;
    alternative.name = result.name;
    alternative.measured = to_range(result.wall);
    if (result.predicted)
        alternative.predicted = {*result.predicted, *result.predicted, *result.predicted};
    return alternative;
}

nlohmann::ordered_json to_json(const Estimate& estimate) {
    return {{"median", estimate.median},
            {"low", estimate.interval.low},
            {"high", estimate.interval.high}};
}

namespace {

constexpr std::size_t most_kinds = 24; // the number of different colours

/// Returns the distinct names in order of first appearance.
template <class Name>
std::vector<std::string> names_of(const std::vector<TimedConfiguration>& configurations,
                                  Name&& name) {
    std::vector<std::string> names;
    for (const TimedConfiguration& configuration : configurations) {
        if (std::find(names.begin(), names.end(), name(configuration)) == names.end())
            names.push_back(name(configuration));
    }
    return names;
}

std::string text_of(double seconds) {
    return report::to_text(Seconds{seconds});
}

bool has_both(const TimedConfiguration& configuration) {
    return configuration.predicted && configuration.measured && *configuration.predicted > 0 &&
           configuration.measured->median > 0;
}

/// Returns the median factor by which predictions are too high or too low, and how many are within
/// the lines of the chart.
std::vector<report::KeyFigure> off_by(const std::vector<TimedConfiguration>& configurations) {
    std::vector<double> factors;
    for (const TimedConfiguration& configuration : configurations) {
        if (has_both(configuration))
            factors.push_back(std::exp(
                std::abs(std::log(configuration.measured->median / *configuration.predicted))));
    }
    const auto near = std::ranges::count_if(factors, [](double factor) { return factor <= 1.5; });
    return {{fmt::format("{:.2f} times", median(factors)), "median error"},
            {fmt::format("{} of {}", near, factors.size()),
             "configurations predicted within a factor of 1.5"}};
}

report::Section accuracy_section(const std::vector<TimedConfiguration>& configurations) {
    if (std::none_of(configurations.begin(), configurations.end(), has_both))
        return {};
    report::LogChart chart{.title = "Predicted and measured times",
                           .subtitle = "above the line: slower than predicted",
                           .x_name = "predicted time",
                           .y_name = "measured time",
                           .x_text = text_of,
                           .y_text = text_of,
                           .compares = true,
                           .figures = off_by(configurations)};
    const auto case_of = [](const TimedConfiguration& configuration) {
        return configuration.case_name;
    };
    const std::vector<std::string> cases = names_of(configurations, case_of);
    const bool one_kind = cases.size() > most_kinds;
    for (const std::string& name : cases) {
        if (chart.kinds.empty() || !one_kind)
            chart.kinds.push_back({one_kind ? "all cases" : name});
        for (const TimedConfiguration& configuration : configurations) {
            if (configuration.case_name == name && has_both(configuration))
                chart.kinds.back().points.push_back(
                    {*configuration.predicted, configuration.measured->median,
                     fmt::format("{}: {}\npredicted {}, measured {}", name, configuration.name,
                                 text_of(*configuration.predicted),
                                 text_of(configuration.measured->median))});
        }
    }
    return {"Predicted and measured times", to_html(report::Figure{report::log_chart(chart), ""})};
}

std::string table_of(const std::vector<CaseRegret>& all) {
    report::Table table{
        {{"Case", ""}, {"Predicted to be fastest", ""}, {"Measured to be fastest", ""}, "Ratio"}};
    for (const CaseRegret& one : all)
        table.rows.push_back({report::escape(one.case_name), report::escape(one.followed),
                              report::escape(one.best), to_text(one.ratio, 1, 3)});
    return folded("Cases as a table", table);
}

std::string percent(double ratio) {
    return fmt::format("{:.1f} %", 100 * (ratio - 1));
}

report::Section regret_section(const std::vector<TimedConfiguration>& configurations) {
    const std::vector<CaseRegret> all = regrets(configurations);
    if (all.empty())
        return {};
    report::ColumnChart chart;
    chart.title = "Regret";
    chart.subtitle =
        "slowdown of the configuration predicted to be fastest, relative to the fastest";
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
         fmt::format("highest regret; 95 % interval {} to {}", percent(interval.low),
                     percent(interval.high))},
        {fmt::format("{} of {}", within, all.size()), "cases with no regret beyond noise"}};
    return {"Regret: cost of following the predictions",
            to_html(report::Figure{report::columns(chart), ""}) + table_of(all)};
}

report::Section scaling_section(const std::vector<TimedConfiguration>& configurations,
                                const SizeOfCases& size) {
    std::set<double> sizes;
    for (const TimedConfiguration& configuration : configurations)
        sizes.insert(configuration.size);
    const auto name_of = [](const TimedConfiguration& configuration) { return configuration.name; };
    std::vector<std::string> names = names_of(configurations, name_of);
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
        for (const TimedConfiguration& configuration : configurations) {
            const std::optional<Seconds> took = configuration.measured
                                                    ? std::optional(configuration.measured->median)
                                                    : configuration.predicted;
            if (configuration.name == name && took)
                kind.points.push_back(
                    {configuration.size, *took,
                     fmt::format("{}: {}, {} {}", configuration.name, text_of(*took),
                                 size.text(configuration.size), size.name)});
        }
    }
    const std::string caption =
        left_out > 0 ? fmt::format("{} more configurations are not shown.", left_out) : "";
    return {"Scaling", to_html(report::Figure{report::log_chart(chart), caption})};
}

/// Returns the ratio of measured times with an interval; exactly 1 if both are the same
/// configuration.
Estimate ratio_of(const TimedConfiguration& followed, const TimedConfiguration& best) {
    if (&followed == &best)
        return {1, {1, 1}};
    const Estimate &above = *followed.measured, &below = *best.measured;
    return {above.median / below.median,
            {above.interval.low / below.interval.high, above.interval.high / below.interval.low}};
}

} // namespace

std::vector<CaseRegret> regrets(const std::vector<TimedConfiguration>& configurations) {
    std::vector<CaseRegret> all;
    for (const std::string& name :
         names_of(configurations, [](const TimedConfiguration& configuration) {
             return configuration.case_name;
         })) {
        const TimedConfiguration *followed = nullptr, *best = nullptr;
        int both = 0;
        for (const TimedConfiguration& configuration : configurations) {
            if (configuration.case_name != name || !has_both(configuration))
                continue;
            ++both;
            if (!followed || *configuration.predicted < *followed->predicted)
                followed = &configuration;
            if (!best || configuration.measured->median < best->measured->median)
                best = &configuration;
        }
        if (both > 1)
            all.push_back({name, followed->name, best->name, ratio_of(*followed, *best)});
    }
    return all;
}

std::vector<report::Section> summary_sections(const std::vector<TimedConfiguration>& configurations,
                                              const SizeOfCases& size) {
    return {accuracy_section(configurations), regret_section(configurations),
            scaling_section(configurations, size)};
}

std::optional<Seconds> predicted_seconds(const Candidate& candidate,
                                         const planner::Setting& setting) {
    try {
        const planner::Choice choice = planner::choose({&candidate, 1}, setting);
        const auto& predicted = choice.chosen().predicted;
        return predicted ? std::optional(predicted->seconds) : std::nullopt;
    } catch (const model::CannotExpress&) {
        return std::nullopt; // no prediction; the page shows the measurement
    }
}

} // namespace sextant::lab
