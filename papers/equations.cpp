// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/rehearsal.hpp"
#include "sextant/scan/strategies.hpp"
#include "sextant/schedule/circuit.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include "papers/experiments.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

constexpr const char* scan_first = "scan-then-propagate";
constexpr const char* reduce_first = "reduce-then-scan";

scan::Configuration configured(const char* strategy, const char* circuit) {
    const scan::Algorithm& row = scan::find(circuit);
    return {scan::find_strategy(strategy), {row, row.tunings().front()}};
}

/// The longest path of a series scan, in applications, if each rank applies the operator once at a
/// time.
double counted_span(Elements values, int ranks, const char* strategy, const char* circuit) {
    const scan::Rehearsal rehearsal(scan::even_blocks(values, ranks),
                                    configured(strategy, circuit));
    return rehearsal.run([](const scan::Application&) { return 1.; }).makespan;
}

double counted_work(Elements values, int ranks, const char* strategy, const char* circuit) {
    const scan::Series series = scan::even_blocks(values, ranks);
    const scan::Configuration configuration = configured(strategy, circuit);
    const Schedule schedule = make_schedule(ranks, [&](int rank) {
        return scan::program(configuration.strategy, series, configuration.global, rank);
    });
    return static_cast<double>(sextant::circuit(schedule).work);
}

/// The span and work of a global scan according to the thesis, for P = 2^log ranks.
struct GlobalStage {
    const char* circuit;
    bool inclusive; ///< provides each rank's last result, which saves an application per rank
    double (*span)(double ranks, double log);
    double (*work)(double ranks, double log);
};

constexpr GlobalStage stages[] = {
    {"serial", false, [](double ranks, double) { return ranks - 1; },
     [](double ranks, double) { return ranks - 1; }},
    {"blelloch", false, [](double, double log) { return 2 * log; },
     [](double ranks, double) { return 2 * (ranks - 1); }},
    {"kogge-stone", true, [](double, double log) { return log; },
     [](double ranks, double log) { return ranks * log - ranks + 1; }},
    {"sklansky", true, [](double, double log) { return log; },
     [](double ranks, double log) { return ranks / 2 * log; }}};

double published_span(double own, double ranks, const GlobalStage& stage) {
    return 2 * own - (stage.inclusive ? 2 : 1) + stage.span(ranks, std::log2(ranks));
}

double published_work(const std::string& strategy, double values, double ranks,
                      const GlobalStage& stage) {
    const bool propagates = strategy == scan_first;
    const double local = propagates ? 2 * values - ranks - values / ranks : 2 * values - ranks - 1;
    const double saved = stage.inclusive ? ranks - (propagates ? 1 : 0) : 0;
    return local - saved + stage.work(ranks, std::log2(ranks));
}

Result spans_of_series(Extent) {
    constexpr Elements values = 4096;
    Result result{"applications, 4,096 frames", {"counted"}};
    for (const int ranks : {8, 64, 512}) {
        for (const char* strategy : {scan_first, reduce_first}) {
            for (const GlobalStage& stage : stages) {
                const std::string label =
                    fmt::format("{}, {}, {} cores", strategy, stage.circuit, ranks);
                result.rows.push_back({label + ", span",
                                       published_span(double(values) / ranks, ranks, stage),
                                       {counted_span(values, ranks, strategy, stage.circuit)}});
                result.rows.push_back({label + ", work",
                                       published_work(strategy, double(values), ranks, stage),
                                       {counted_work(values, ranks, strategy, stage.circuit)}});
            }
        }
    }
    return result;
}

/// The number of ranks from 1 to `most` with the lowest `cost`.
int best_ranks(int most, const std::function<double(int)>& cost) {
    int best = 1;
    double least = cost(1);
    for (int ranks = 2; ranks <= most; ++ranks) {
        if (const double here = cost(ranks); here < least) {
            least = here;
            best = ranks;
        }
    }
    return best;
}

Result best_numbers(Extent extent) {
    Result result{"a serial global scan", {"counted"}};
    for (const int values : {512, 4096}) {
        if (values == 4096 && extent == Extent::quick)
            continue;
        const auto span = [&](int ranks) {
            return counted_span(values, ranks, scan_first, "serial");
        };
        const int best = best_ranks(4 * int(std::sqrt(2. * values)), span);
        const double root = std::sqrt(2. * values);
        result.rows.push_back({.label = fmt::format("{} frames, best number of cores", values),
                               .theirs = root,
                               .ours = {double(best)},
                               .match = Match::count});
        result.rows.push_back({fmt::format("{} frames, greatest speedup", values),
                               (values - 1) / (2 * root - 2),
                               {(values - 1) / span(best)}});
    }
    constexpr int values = 4096;
    const auto critical = [&](double factor) {
        return best_ranks(
            4 * values, [&](int ranks) { return 2. * values / ranks + factor * std::log2(ranks); });
    };
    const int blelloch = critical(2), kogge_stone = critical(1);
    result.claims = {
        {"with Kogge-Stone's circuit, the best number of cores is an impractical value, greater "
         "than the number of frames",
         kogge_stone > values,
         fmt::format("equation 4.25 is least at {} cores for {} frames, 2 N ln 2 = {:.0f}",
                     kogge_stone, values, 2 * values * std::numbers::ln2)},
        {"with Blelloch's circuit, the best number of cores is always greater than the number of "
         "frames",
         blelloch > values,
         fmt::format("equation 4.20 is least at {} cores for {} frames, N ln 2 = {:.0f}", blelloch,
                     values, values * std::numbers::ln2)}};
    return result;
}

constexpr Experiment experiments[] = {
    {"registration", "equations 4.5-4.28", "span and work of scans of series",
     "counted in the schedules. The speedup in Figures 4.6 and 4.7 is 4,095 divided by the span. "
     "Each core applies the operator once at a time. An inclusive global scan gives each core its "
     "last result, which saves one application per core",
     "", spans_of_series, Basis::printed, Match::count},
    {"registration", "equations 4.16, 4.17, 4.21, 4.26", "the best number of cores",
     "counted for every number of cores up to four times the published one; the thesis' formulas "
     "assume that cores divide frames",
     "the derivative of equation 4.20, -2 N / P^2 + 2 / (P ln 2), is zero at P = N ln 2, which is "
     "less than N: the thesis' conclusion is a slip, without effect on its experiments, which use "
     "far fewer cores",
     best_numbers}};

} // namespace

constinit const std::span<const Experiment> equation_papers = experiments;

} // namespace sextant::papers
