// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/statistics.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/rehearsal.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "papers/experiments.hpp"
#include "papers/registration.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

constexpr Elements frames = 4096;
constexpr int ranks = 64, threads = 16;
constexpr Seconds published_serial = 37568;

/// A configuration of the follow-up paper to Copik's thesis.
struct HierarchicalRun {
    std::string_view circuit;
    bool steals = false;
};

/// The assumptions of a simulation.
struct StealingModel {
    SeriesTimes times;
    /// If true, without stealing each thread registers the neighbours of its own values; otherwise
    /// the first idle thread takes the next pair of its rank.
    bool fixed_neighbours = false;
    bool balanced = false; ///< the work is divided evenly among the threads of a rank
};

/// The time at which each rank has registered its neighbours if its threads have fixed blocks.
std::vector<Seconds> neighbours_in_blocks(double factor, const scan::Draws& draws) {
    std::vector<Seconds> done;
    const scan::Series values = scan::even_blocks(frames, ranks * threads);
    Elements value = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        Seconds slowest = 0;
        for (int thread = 0; thread < threads; ++thread) {
            Seconds sum = 0;
            const Elements end = value + values[static_cast<std::size_t>(rank * threads + thread)];
            for (; value < end; ++value)
                sum += value == 0 ? 0 : factor * draws({value - 1, value, value + 1});
            slowest = std::max(slowest, sum);
        }
        done.push_back(slowest);
    }
    return done;
}

/// The median time of nine series, scaled so that one core takes the published time.
Seconds simulated(const HierarchicalRun& run, const StealingModel& model) {
    const scan::Algorithm& algorithm = scan::find(run.circuit);
    const scan::Series series = scan::even_blocks(frames, ranks);
    const scan::Configuration configuration{scan::find_strategy("reduce-then-scan"),
                                            {algorithm, algorithm.tunings().front()},
                                            threads,
                                            run.steals ? scan::Boundaries::towards_slower
                                                       : scan::Boundaries::fixed};
    const scan::Rehearsal rehearsal(series, configuration);
    const double neighbours = model.times.neighbours;
    std::vector<double> makespans;
    for (std::uint64_t seed = 1; seed <= 9; ++seed) {
        const scan::Draws draws(model.times.applications, frames, seed);
        const auto starts =
            model.fixed_neighbours && !run.steals
                ? neighbours_in_blocks(neighbours, draws)
                : scan::neighbours_done(series, threads, neighbours, std::cref(draws));
        const double scale = published_serial / ((1 + neighbours) * draws.serial());
        makespans.push_back(scale * (model.balanced
                                         ? rehearsal.balanced(std::cref(draws), starts)
                                         : rehearsal.run(std::cref(draws), starts).makespan));
    }
    return median(makespans);
}

struct PublishedStealing {
    std::string_view name, circuit;
    Seconds fixed, stealing;
};

constexpr PublishedStealing table[] = {{"dissemination", "kogge-stone", 350, 126},
                                       {"Ladner-Fischer", "ladner-fischer", 211, 134},
                                       {"MPI_Scan", "kogge-stone", 272, 160}};

Result cores_1024(Extent) {
    SeriesTimes equal = fitted_times();
    equal.neighbours = 1;
    const StealingModel models[] = {{fitted_times(), true, true},
                                    {equal, false, false},
                                    {fitted_times(), false, false},
                                    {fitted_times(), true, false}};
    Result result{"seconds, 4,096 frames on 1,024 cores",
                  {"perfect balance within ranks", "neighbours take as long as applications",
                   "twice as long", "and in fixed blocks without stealing"}};
    double least_gain = 1e9, most_gain = 0, best = 1e9;
    for (const PublishedStealing& published : table) {
        std::array<double, 2> times{};
        for (const bool steals : {false, true}) {
            Row row{fmt::format("{}{}", published.name, steals ? ", stealing" : ""),
                    steals ? published.stealing : published.fixed,
                    {}};
            for (const StealingModel& model : models)
                row.ours.push_back(simulated({published.circuit, steals}, model));
            times[steals ? 1 : 0] = row.ours.back();
            result.rows.push_back(row);
        }
        least_gain = std::min(least_gain, times[0] / times[1]);
        most_gain = std::max(most_gain, times[0] / times[1]);
        best = std::min(best, times[1]);
    }
    Row& chain = result.rows.emplace_back();
    chain.label = "MPI_Scan, if it were a chain over the ranks";
    chain.theirs = 272;
    for (const StealingModel& model : models)
        chain.ours.push_back(simulated({"serial", false}, model));
    result.claims = {{"stealing makes registration 1.5 to 2.8 times faster",
                      least_gain > 1.4 && most_gain < 3,
                      fmt::format("{:.2f} to {:.2f} times", least_gain, most_gain)},
                     {"299 times faster than one core, an efficiency of 0.29",
                      published_serial / best > .8 * 299,
                      fmt::format("{:.0f} times, {:.2f}", published_serial / best,
                                  published_serial / best / (ranks * threads))}};
    return result;
}

constexpr Experiment stealing_experiments[] = {
    {"work-stealing", "table for 1,024 cores", "registration of a series, neighbours and scan",
     "assumed: 64 ranks of 16 threads; the times fitted to Copik's thesis (registration, stated "
     "times), not to this table; MPI_Scan by recursive doubling, as Kogge-Stone",
     "the columns show the effect of assumptions: how long neighbours take, and who registers "
     "them. With stealing, the times fitted to the thesis come close. Without, the paper's times "
     "cannot be explained: its dissemination takes 1.7 times as long as Ladner-Fischer, although "
     "both have the same number of dependent applications, and no distribution separates them "
     "(tried: deviations from 0.3 to 1, correlations from 0.9 to 0.997, a barrier before the "
     "scan). If some cores were slow, stealing would gain more; which runs met slow cores cannot "
     "be known. A chain explains MPI_Scan without stealing, but not with it: 64 ranks alone would "
     "take longer than the 160 s",
     cores_1024}};

} // namespace

constinit const std::span<const Experiment> work_stealing_paper = stealing_experiments;

} // namespace sextant::papers
