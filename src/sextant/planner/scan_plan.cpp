// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/scan_plan.hpp"

#include "sextant/core/error.hpp"
#include "sextant/planner/plan_file.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::planner {

namespace {

void check(const ScanQuestion& question) {
    scan::check(question.times);
    const auto require = [](bool fine, const std::string& what) {
        if (!fine)
            throw InvalidTask(what);
    };
    require(question.values >= 1, fmt::format("{} values: expected 1 or more", question.values));
    require(question.cores >= 1, fmt::format("{} cores: expected 1 or more", question.cores));
    require(question.draws >= 1, fmt::format("{} draws: expected 1 or more", question.draws));
    require(!question.speedup.empty() && question.speedup[0] == 1,
            fmt::format("speedups of the operator [{}]: expected 1 for one core, then the speedups "
                        "on more cores",
                        fmt::join(question.speedup, ", ")));
    for (const double speedup : question.speedup)
        require(std::isfinite(speedup) && speedup > 0,
                fmt::format("a speedup of {}: expected more than 0", speedup));
}

scan::Distribution faster(scan::Distribution times, double speedup) {
    times.mean /= speedup;
    for (Seconds& time : times.times)
        time /= speedup;
    return times;
}

/// All ways to divide the cores into workers, and the workers into ranks and threads.
class Candidates {
  public:
    explicit Candidates(const ScanQuestion& question) : question_(question) {
        const int most = std::min<int>(question.cores, static_cast<int>(question.speedup.size()));
        for (int each = 1; each <= most; ++each)
            add_splits(each);
    }

    std::vector<ScanConfiguration> take() { return std::move(all_); }

  private:
    void add_splits(int operator_cores) {
        const int workers = question_.cores / operator_cores;
        for (int threads = 1; threads <= std::min(workers, question_.most_threads); ++threads) {
            if (workers % threads == 0)
                add_configurations(workers / threads, threads, operator_cores);
        }
        if (workers > 1) // the serial scan leaves the other cores idle
            add(1, {scan::strategies()[0], {scan::find("serial"), {}}}, operator_cores);
    }

    void add_configurations(int ranks, int threads, int operator_cores) {
        for (const scan::Strategy& strategy : scan::strategies()) {
            for (const scan::Algorithm& algorithm : scan::catalogue()) {
                for (const scan::Tuning& tuning : algorithm.tunings()) {
                    const scan::Configuration configuration{strategy, {algorithm, tuning}, threads};
                    if (threads > 1 && strategy.name != "reduce-then-scan")
                        continue;
                    add(ranks, configuration, operator_cores);
                    if (ranks == 1)
                        return; // a single rank has no global scan
                }
            }
        }
    }

    void add(int ranks, const scan::Configuration& configuration, int operator_cores) {
        const auto speedup = question_.speedup[static_cast<std::size_t>(operator_cores) - 1];
        all_.push_back(
            {configuration, ranks, operator_cores,
             expected_makespan(scan::even_blocks(question_.values, ranks), configuration,
                               faster(question_.times, speedup), question_.draws, question_.seed)});
    }

    const ScanQuestion& question_;
    std::vector<ScanConfiguration> all_;
};

/// Returns all configurations, the one with the least expected makespan first.
std::vector<Alternative<ScanConfiguration>>
by_makespan(const std::vector<ScanConfiguration>& configurations) {
    std::vector<const ScanConfiguration*> ranked;
    for (const ScanConfiguration& configuration : configurations)
        ranked.push_back(&configuration);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const ScanConfiguration* a, const ScanConfiguration* b) {
                         return a->makespan.mean < b->makespan.mean;
                     });
    std::vector<Alternative<ScanConfiguration>> all;
    for (const ScanConfiguration* configuration : ranked) {
        const Seconds mean = configuration->makespan.mean, wide = 2 * configuration->makespan.error;
        all.push_back(
            {.configuration = *configuration, .expected = {{mean, mean - wide, mean + wide}}});
    }
    return all;
}

/// True if the means of two configurations differ significantly.
bool apart(const ExpectedMakespan& a, const ExpectedMakespan& b) {
    return std::abs(a.mean - b.mean) > 2 * std::hypot(a.error, b.error);
}

std::string reason_for(std::size_t configurations, std::size_t rivals,
                       const ScanQuestion& question) {
    std::string reason = fmt::format(
        "lowest expected makespan of {} candidates over {} samples of {} operator times",
        configurations, question.draws, scan::name(question.times.kind));
    if (rivals > 1)
        reason += fmt::format("; the next {} candidates are within the sampling error", rivals - 1);
    return reason;
}

void add_scan(Json& json, const ScanConfiguration& configuration) {
    json.set("name", configuration.text());
    json.set("strategy", configuration.strategy.name);
    json.set("algorithm", configuration.global.algorithm.name);
    json.set("k", configuration.global.tuning.k);
    json.set("ranks", configuration.ranks);
    json.set("threads", configuration.threads);
    json.set("boundaries", scan::name(configuration.boundaries));
    json.set("operator_cores", configuration.operator_cores);
    json.set("seconds", configuration.makespan.mean);
    json.set("error", configuration.makespan.error);
    json.set("balanced_seconds", configuration.makespan.balanced);
}

} // namespace

ExpectedMakespan expected_makespan(const scan::Series& series,
                                   const scan::Configuration& configuration,
                                   const scan::Distribution& times, int draws, std::uint64_t seed) {
    Elements values = 0;
    for (const Elements own : series)
        values += own;
    const scan::Rehearsal rehearsal(series, configuration);
    ExpectedMakespan expected;
    Seconds squares = 0;
    const bool varies = times.kind != scan::Distribution::Kind::constant;
    const int repeats = varies ? draws : 1;
    for (int draw = 0; draw < repeats; ++draw) {
        const scan::Draws drawn(times, values, seed + static_cast<std::uint64_t>(draw));
        const scan::Performance performance = rehearsal.run(std::cref(drawn));
        expected.mean += performance.makespan / repeats;
        squares += performance.makespan * performance.makespan / repeats;
        expected.balanced += rehearsal.balanced(std::cref(drawn)) / repeats;
        expected.stolen += static_cast<double>(performance.stolen) / repeats;
    }
    const double variance = std::max(0.0, squares - expected.mean * expected.mean);
    expected.error = std::sqrt(variance / std::max(1, repeats - 1));
    return expected;
}

std::string ScanConfiguration::text() const {
    std::string text =
        ranks == 1 && threads == 1
            ? "serial"
            : fmt::format("{} {}, {}", ranks, ranks == 1 ? "rank" : "ranks", scan::to_text(*this));
    if (operator_cores > 1)
        text += fmt::format(", {} cores per application", operator_cores);
    return text;
}

ScanPlan choose_scan(const ScanQuestion& question) {
    check(question);
    std::vector<Alternative<ScanConfiguration>> all = by_makespan(Candidates(question).take());
    const ScanConfiguration chosen = all.front().configuration;
    const auto even = std::find_if(all.begin(), all.end(), [&](const auto& other) {
        return apart(chosen.makespan, other.configuration.makespan);
    });
    const auto rivals = static_cast<std::size_t>(even - all.begin());
    return {{.configuration = chosen,
             .reason = reason_for(all.size(), rivals, question),
             .alternatives = std::move(all),
             .rivals = rivals},
            question};
}

void add_plan(Json& json, const ScanPlan& plan) {
    json.set("values", plan.question.values);
    json.set("cores", plan.question.cores);
    json.set("times", scan::name(plan.question.times.kind));
    json.set("mean_seconds", plan.question.times.mean);
    json.set("draws", plan.question.draws);
    json.set("choice", plan.text());
    add_plan(json, plan, add_scan, {.ranges = false});
}

} // namespace sextant::planner
