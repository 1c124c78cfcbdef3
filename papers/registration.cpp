// SPDX-License-Identifier: BSD-3-Clause
#include "papers/registration.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/rehearsal.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "papers/experiments.hpp"
#include <fmt/format.h>

namespace sextant::papers {

using scan::Distribution;

SeriesTimes constant_times() {
    return {{.kind = Distribution::Kind::constant}};
}

SeriesTimes exponential_times() {
    return {{.kind = Distribution::Kind::exponential}};
}

SeriesTimes fitted_times() {
    return {{.kind = Distribution::Kind::correlated, .spread = .5, .correlation = .9}, 2};
}

scan::OperatorTime time_of_last_frame(const scan::Draws& draws) {
    return [&draws](const scan::Application& what) {
        return draws({what.first, what.last - 1, what.last});
    };
}

SimulatedSeries simulated_series(const SeriesRun& run, const SeriesTimes& times) {
    const scan::Algorithm& circuit = scan::find(run.circuit);
    const scan::Configuration configuration{scan::find_strategy(run.strategy),
                                            {circuit, circuit.tunings().front(), run.gives_last}};
    const scan::Series series = scan::even_blocks(run.frames, run.ranks);
    const scan::Rehearsal rehearsal(series, configuration);
    SimulatedSeries simulated;
    std::vector<double> speedups;
    const int draws = times.applications.kind == Distribution::Kind::constant ? 1 : 9;
    for (int seed = 1; seed <= draws; ++seed) {
        const scan::Draws draw(times.applications, run.frames, static_cast<std::uint64_t>(seed));
        const auto starts = scan::neighbours_done(series, 1, times.neighbours, std::cref(draw));
        simulated.makespans.push_back(rehearsal.run(time_of_last_frame(draw), starts).makespan);
        speedups.push_back((1 + times.neighbours) * draw.serial() / simulated.makespans.back());
    }
    simulated.makespan = median(simulated.makespans);
    simulated.speedup = median(speedups);
    return simulated;
}

namespace {

constexpr const char* circuits[] = {"kogge-stone", "sklansky", "blelloch", "serial"};

// Times that Copik's thesis states: "almost thirteen hours to less than seven minutes on 512
// cores", and a run time that "increases from 196 to 2041 seconds" with Open MPI's scan, a chain.
constexpr Seconds serial_time = 13 * 3600, best_time = 7 * 60, chain_16 = 196, chain_512 = 2041;

constexpr SeriesRun run_best{}, run_chain_512{.circuit = "serial"},
    run_chain_16{.frames = 128, .ranks = 16, .circuit = "serial"};

Result stated_times(Extent) {
    SeriesTimes equal = exponential_times(), twice = constant_times();
    equal.neighbours = 1;
    twice.neighbours = 2;
    const SeriesTimes models[] = {constant_times(), exponential_times(), equal, twice,
                                  fitted_times()};
    Result result{"seconds, if one core takes 13 hours",
                  {"scan alone, constant times", "scan alone, exponential",
                   "with neighbours, exponential", "with neighbours, twice as long, constant",
                   "the same, correlated"}};
    const auto add = [&](const char* label, Seconds theirs, const SeriesRun& run) {
        Row row{label, theirs, {}};
        for (const SeriesTimes& model : models) {
            const double whole = simulated_series(run_best, model).speedup *
                                 simulated_series(run_best, model).makespan;
            row.ours.push_back(simulated_series(run, model).makespan * serial_time / whole);
        }
        result.rows.push_back(row);
    };
    add("4096 frames, 512 cores, kogge-stone", best_time, run_best);
    add("4096 frames, 512 cores, chain (Open MPI)", chain_512, run_chain_512);
    add("128 frames, 16 cores, chain (Open MPI)", chain_16, run_chain_16);
    const double chain = std::min(result.rows[1].ours[0], result.rows[1].ours[1]);
    result.claims.push_back(
        {"these are not times of the scan alone, whatever the distribution",
         chain > 1.25 * chain_512,
         fmt::format("a chain over 512 cores would be at most {:.1f} times as fast as one core; "
                     "stated are {:.1f} times",
                     serial_time / chain, serial_time / chain_512)});
    return result;
}

// Figures 5.1 and 5.2.

Result strong_scaling(Extent) {
    Result result{"times faster than one core",
                  {"constant times", "scan alone, exponential", "with neighbours"}};
    double chain_best = 0, chain_last = 0;
    for (const Elements frames : {4096, 512}) {
        for (const int ranks : {8, 32, 64, 128, 256, 512}) {
            for (const char* circuit : circuits) {
                const SeriesRun run{.frames = frames, .ranks = ranks, .circuit = circuit};
                Row row{fmt::format("{} frames, {} cores, {}", frames, ranks, circuit)};
                for (const SeriesTimes& times :
                     {constant_times(), exponential_times(), fitted_times()})
                    row.ours.push_back(simulated_series(run, times).speedup);
                const bool largest = frames == 4096 && ranks == 512;
                if (largest && row.label.ends_with("kogge-stone"))
                    row.theirs = serial_time / best_time;
                if (largest && row.label.ends_with("serial"))
                    row.theirs = serial_time / chain_512;
                if (frames == 4096 && row.label.ends_with("serial")) {
                    chain_best = std::max(chain_best, row.ours.back());
                    chain_last = row.ours.back();
                }
                result.rows.push_back(row);
            }
        }
    }
    const auto efficient = [&](std::size_t from_end) {
        return result.rows[result.rows.size() - from_end].ours.back();
    };
    const auto of_largest = [&](std::size_t circuit) {
        return result.rows[result.rows.size() / 2 - 4 + circuit].ours.back();
    };
    const auto kogge_stone = simulated_series({}, fitted_times()).makespans,
               sklansky = simulated_series({.circuit = "sklansky"}, fitted_times()).makespans;
    int slower = 0;
    for (std::size_t i = 0; i < sklansky.size(); ++i)
        slower += sklansky[i] > kogge_stone[i] ? 1 : 0;
    result.claims = {
        {"a serial global scan is unable to scale beyond a limit", chain_last < .8 * chain_best,
         fmt::format("speedup {:.0f} at best, {:.1f} on 512 cores", chain_best, chain_last)},
        {"the best performance is attained by Kogge-Stone, Blelloch's circuit is slightly slower",
         of_largest(0) >= of_largest(2),
         fmt::format("{:.0f} and {:.0f} times", of_largest(0), of_largest(2))},
        {"Sklansky's circuit performs worse than Kogge-Stone's", slower > 4,
         fmt::format("in {} of 9 series; in the median, {:.0f} and {:.0f} times", slower,
                     of_largest(1), of_largest(0))},
        {"the efficiency of all circuits drops quickly with the number of cores",
         efficient(4) / 512 < .5 * efficient(24) / 8,
         fmt::format("of Kogge-Stone's with 512 frames, {:.2f} on 8 cores, {:.2f} on 512",
                     efficient(24) / 8, efficient(4) / 512)}};
    return result;
}

// Equation 4.18.

/// The span of a series scan with Blelloch's circuit according to the thesis, in operator
/// applications: those of a core before the global scan, 2 log2(cores) in the global scan, and
/// those of a core after the global scan.
double published_span(Elements frames, int ranks) {
    return 2. * static_cast<double>(frames / ranks) - 1 + 2 * std::log2(ranks);
}

Result blelloch_bound(Extent) {
    Result result{"times faster than one core", {"constant times"}};
    for (const Elements frames : {4096, 512}) {
        for (const int ranks : {8, 32, 64, 128, 256, 512}) {
            const SeriesRun run{.frames = frames, .ranks = ranks, .circuit = "blelloch"};
            result.rows.push_back({fmt::format("{} frames, {} cores", frames, ranks),
                                   static_cast<double>(frames - 1) / published_span(frames, ranks),
                                   {simulated_series(run, constant_times()).speedup}});
        }
    }
    return result;
}

// Figures 5.3 and 5.4.

Result weak_scaling(Extent) {
    Result result{"percent more time than on 16 cores",
                  {"constant times", "scan alone, exponential", "with neighbours"}};
    struct Growth {
        Elements frames_per_core;
        int ranks;
    };
    bool beyond_limit = true;
    double blelloch = 0, blelloch_limit = 0;
    for (const Growth growth : {Growth{8, 64}, {8, 256}, {8, 512}, {16, 64}, {16, 256}}) {
        for (const char* circuit : circuits) {
            Row row{fmt::format("{} frames per core, {} cores, {}", growth.frames_per_core,
                                growth.ranks, circuit)};
            for (const SeriesTimes& times :
                 {constant_times(), exponential_times(), fitted_times()}) {
                const auto makespan = [&](int ranks) {
                    return simulated_series({.frames = growth.frames_per_core * ranks,
                                             .ranks = ranks,
                                             .circuit = circuit},
                                            times)
                        .makespan;
                };
                row.ours.push_back(100 * (makespan(growth.ranks) / makespan(16) - 1));
            }
            const std::string_view name = circuit;
            if (growth.ranks == 512 && name == "serial")
                row.theirs = 100 * (chain_512 / chain_16 - 1);
            if (growth.frames_per_core == 16 && growth.ranks == 256) {
                if (name == "kogge-stone" || name == "sklansky")
                    beyond_limit = beyond_limit && row.ours[2] > row.ours[0];
                if (name == "blelloch") {
                    blelloch = row.ours[2];
                    blelloch_limit =
                        100 * (published_span(4096, 256) / published_span(256, 16) - 1);
                }
            }
            result.rows.push_back(row);
        }
    }
    SeriesTimes steady = constant_times();
    steady.neighbours = 2;
    const auto steady_span = [&](int ranks) {
        return simulated_series(
                   {.frames = Elements{16} * ranks, .ranks = ranks, .circuit = "blelloch"}, steady)
            .makespan;
    };
    result.claims = {
        {"for Kogge-Stone and Sklansky, the increase is much higher than the theoretical limit",
         beyond_limit, "16 frames per core, on 256 cores"},
        {"Blelloch's circuit increases by less than its theoretical limit",
         blelloch < blelloch_limit,
         fmt::format("by {:.0f} %, the limit is {:.0f} %; with constant times and neighbours, it "
                     "increases by {:.0f} %",
                     blelloch, blelloch_limit, 100 * (steady_span(256) / steady_span(16) - 1))}};
    return result;
}

// Figures 5.7 and 5.8.

Result strategies(Extent) {
    constexpr const char* propagate = "scan-then-propagate";
    constexpr const char* reduce = "reduce-then-scan";
    Result result{"time in units of one application, 4,096 frames, Kogge-Stone",
                  {propagate, reduce}};
    double last = 0;
    for (const int ranks : {16, 32, 64, 128, 256, 512}) {
        const auto makespan = [&](const char* strategy) {
            return simulated_series({.ranks = ranks, .strategy = strategy}, fitted_times())
                .makespan;
        };
        const Row row{fmt::format("{} cores", ranks), {}, {makespan(propagate), makespan(reduce)}};
        last = row.ours[1] / row.ours[0];
        result.rows.push_back(row);
    }
    result.claims.push_back(
        {"no indication that the alternative, reduce-then-scan, is faster", last > .9,
         fmt::format("reduce-then-scan takes {:.2f} times as long on 512 cores", last)});
    return result;
}

// Figure 5.9.

Result threads_in_the_operator(Extent) {
    // Only two thirds of the operator's run time scale with the number of threads.
    const auto faster = [](int threads) { return 1 / (1. / 3 + 2. / 3 / threads); };
    Result result{"time in units of one application on one core",
                  {"1 core per application", "2 cores", "4 cores"}};
    for (const Elements frames : {4096, 512}) {
        for (const int cores : {32, 128, 512}) {
            Row row{fmt::format("{} frames, {} cores", frames, cores)};
            for (const int threads : {1, 2, 4}) {
                const SeriesRun run{.frames = frames, .ranks = cores / threads};
                row.ours.push_back(simulated_series(run, fitted_times()).makespan /
                                   faster(threads));
            }
            result.rows.push_back(row);
        }
    }
    const auto gain = [&](std::size_t row) {
        return result.rows[row].ours[0] / result.rows[row].ours[1];
    };
    result.claims = {
        {"two thirds of the operator allow a speedup of 1.5 on two threads and 2 on four",
         std::abs(faster(2) - 1.5) < 1e-12 && std::abs(faster(4) - 2) < 1e-12, "Amdahl's law"},
        {"threads within the operator pay off on many cores with few frames per core, not on few "
         "cores with many frames",
         gain(5) > 1 && gain(0) < 1,
         fmt::format("{:.2f} times with 1 frame per core, {:.2f} with 128", gain(5), gain(0))}};
    return result;
}

constexpr std::string_view setting =
    "simulated on a clock that counts only the operator; medians of nine draws. \"With "
    "neighbours\": "
    "the fitted times of the table \"stated times\". Values without a number in the first column "
    "cannot be known: the thesis plots them, or the text that was available has lost the numbers";

constexpr Experiment experiments[] = {
    {"registration", "stated times", "three times that the thesis states",
     "simulated on a clock that counts only the operator; medians of nine draws; a core registers "
     "its frames with their neighbours before the scan, or has done so before the clock starts. "
     "Last column: times are lognormal (0.5) and correlated between neighbours (0.9); these "
     "numbers and the factor of two are fitted to this table, and used for Figures 5.1 to 5.9; the "
     "other columns show the effect of each assumption. Why neighbours took twice as long cannot "
     "be known: the steps counted in Figures 4.3 and 4.4 are about as many as for an application",
     "", stated_times, Basis::fitted},
    {"registration", "Figures 5.1, 5.2", "speedup of a series' registration, strong scaling",
     setting,
     "the thesis assumes that Sklansky's circuit is slow because many cores wait for the same one. "
     "The simulation has this dependence, and yet it is the faster one. Messages take no time "
     "here: 256 of them, each of a few microseconds, are nothing next to applications of seconds. "
     "What delayed it in the thesis cannot be known",
     strong_scaling, Basis::fitted},
    {"registration", "equation 4.18", "the bound on the speedup of Blelloch's circuit",
     "with constant times; this circuit has neither the identity nor the total, which the equation "
     "counts, and is therefore up to two applications shorter",
     "", blelloch_bound, Basis::printed, Match::at_most},
    {"registration", "Figures 5.3, 5.4", "weak scaling", setting,
     "whether Blelloch's circuit stays below its limit depends on the times: it does if they are "
     "constant and neighbours are included, but not if they vary as fitted",
     weak_scaling, Basis::fitted},
    {"registration", "Figures 5.7, 5.8", "scan-then-propagate and reduce-then-scan", setting, "",
     strategies},
    {"registration", "Figure 5.9", "threads within the operator",
     "as for Figures 5.7 and 5.8; two thirds of the operator run in parallel, as in the thesis", "",
     threads_in_the_operator}};

} // namespace

constinit const std::span<const Experiment> registration_papers = experiments;

} // namespace sextant::papers
