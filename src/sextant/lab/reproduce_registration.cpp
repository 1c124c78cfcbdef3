// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/statistics.hpp"
#include "sextant/lab/reproduce_experiments.hpp"
#include "sextant/lab/thesis_registration.hpp"
#include "sextant/registration/synthetic.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/rehearsal.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

using scan::Distribution;

constexpr const char* propagate = "scan-then-propagate";
constexpr const char* reduce = "reduce-then-scan";

/// The registration of a series by ranks with one core each.
struct Run {
    Elements frames = 4096;
    int ranks = 512;
    const char* circuit = "kogge-stone";
    const char* strategy = propagate;
    Distribution::Kind times = Distribution::Kind::exponential;
};

struct Registered {
    Seconds makespan = 0; ///< in units of the mean time of a registration
    double speedup = 0;
};

/// The medians over simulations with random operator times.
Registered registered(const Run& run) {
    const scan::Algorithm& circuit = scan::find(run.circuit);
    const scan::Configuration configuration{scan::find_strategy(run.strategy),
                                            {circuit, circuit.tunings().front()}};
    const scan::Rehearsal rehearsal(scan::even_blocks(run.frames, run.ranks), configuration);
    std::vector<double> makespans, speedups;
    const int draws = run.times == Distribution::Kind::constant ? 1 : 9;
    for (int seed = 1; seed <= draws; ++seed) {
        Distribution distribution;
        distribution.kind = run.times;
        const scan::Draws draw(distribution, run.frames, static_cast<std::uint64_t>(seed));
        makespans.push_back(rehearsal.run(draw).makespan);
        speedups.push_back(draw.serial() / makespans.back());
    }
    return {median(makespans), median(speedups)};
}

constexpr const char* circuits[] = {"kogge-stone", "sklansky", "blelloch", "serial"};

// Figures 5.1 and 5.2 of Copik's thesis.

Result strong_scaling(Extent) {
    Result result{"times faster than one core", {"constant times", "random times"}, {}, {}};
    double serial_best = 0, serial_last = 0;
    for (const Elements frames : {4096, 512}) {
        for (const int ranks : {8, 32, 64, 128, 256, 512}) {
            for (const char* circuit : circuits) {
                Run run{.frames = frames, .ranks = ranks, .circuit = circuit};
                const double random = registered(run).speedup;
                run.times = Distribution::Kind::constant;
                Row row{fmt::format("{} frames, {} cores, {}", frames, ranks, circuit), {}, {}};
                row.ours = {registered(run).speedup, random};
                // The thesis: "almost thirteen hours to less than seven minutes".
                if (frames == 4096 && ranks == 512 && row.label.ends_with("kogge-stone"))
                    row.theirs = 13 * 60 / 7.;
                if (frames == 4096 && row.label.ends_with("serial")) {
                    serial_best = std::max(serial_best, random);
                    serial_last = random;
                }
                result.rows.push_back(row);
            }
        }
    }
    result.claims.push_back(
        {"a serial global scan is unable to scale beyond a limit", serial_last < .7 * serial_best,
         fmt::format("speedup {:.0f} at best, {:.1f} on 512 cores", serial_best, serial_last)});
    return result;
}

// Equation 4.18 of Copik's thesis.

/// The span of a series scan with Blelloch's circuit according to the thesis, in operator
/// applications: those of a core before the global scan, 2 log2(cores) in the global scan, and
/// those of a core after it.
double published_span(Elements frames, int ranks) {
    return 2. * static_cast<double>(frames / ranks) - 1 + 2 * std::log2(ranks);
}

Result blelloch_bound(Extent) {
    Result result{"times faster than one core", {"constant times"}, {}, {}};
    for (const Elements frames : {4096, 512}) {
        for (const int ranks : {8, 32, 64, 128, 256, 512}) {
            const Run run{.frames = frames,
                          .ranks = ranks,
                          .circuit = "blelloch",
                          .times = Distribution::Kind::constant};
            result.rows.push_back({fmt::format("{} frames, {} cores", frames, ranks),
                                   static_cast<double>(frames - 1) / published_span(frames, ranks),
                                   {registered(run).speedup}});
        }
    }
    return result;
}

// Figures 5.3 and 5.4 of Copik's thesis.

Result weak_scaling(Extent) {
    Result result{"time relative to 16 cores, 8 frames per core", {"random times"}, {}, {}};
    for (const char* circuit : circuits) {
        const auto makespan = [&](int ranks) {
            return registered({.frames = Elements{8} * ranks, .ranks = ranks, .circuit = circuit})
                .makespan;
        };
        const Seconds first = makespan(16);
        for (const int ranks : {64, 256, 512}) {
            Row row{fmt::format("{}, {} cores", circuit, ranks), {}, {makespan(ranks) / first}};
            if (ranks == 512 && row.label.starts_with("serial"))
                row.theirs = 2041. / 196; // measured with Open MPI's scan, which is serial
            result.rows.push_back(row);
        }
    }
    return result;
}

// Figures 5.7 and 5.8 of Copik's thesis.

Result strategies(Extent) {
    Result result{"time in units of one registration, 4,096 frames, Kogge-Stone",
                  {propagate, reduce},
                  {},
                  {}};
    double last = 0;
    for (const int ranks : {16, 32, 64, 128, 256, 512}) {
        const auto makespan = [&](const char* strategy) {
            return registered({.ranks = ranks, .strategy = strategy}).makespan;
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

// Figure 5.9 of Copik's thesis.

Result threads_in_the_operator(Extent) {
    // Two thirds of the operator's run time scale with the number of threads.
    const auto faster = [](int threads) { return 1 / (1. / 3 + 2. / 3 / threads); };
    Result result{"time in units of one registration on one core",
                  {"1 core per application", "2 cores", "4 cores"},
                  {},
                  {}};
    for (const Elements frames : {4096, 512}) {
        for (const int cores : {32, 128, 512}) {
            Row row{fmt::format("{} frames, {} cores", frames, cores), {}, {}};
            for (const int threads : {1, 2, 4}) {
                const Run run{.frames = frames, .ranks = cores / threads};
                row.ours.push_back(registered(run).makespan / faster(threads));
            }
            result.rows.push_back(row);
        }
    }
    const auto gain = [&](std::size_t row) {
        return result.rows[row].ours[0] / result.rows[row].ours[1];
    };
    result.claims.push_back(
        {"threads within the operator pay off on many cores with few frames per core, not on few "
         "cores with many frames",
         gain(5) > 1 && gain(0) < 1,
         fmt::format("{:.2f} times with 1 frame per core, {:.2f} with 128", gain(5), gain(0))});
    return result;
}

// Figure 4.4 of Copik's thesis: the time of the operator.

/// The work of the published operator for each pair of neighbouring frames: the number of descent
/// steps, each weighted by the number of pixels of its level relative to a frame.
std::vector<double> work_by_pair(int pairs) {
    registration::SeriesPlan plan;
    plan.shape = {64, 64};
    plan.frames = pairs + 1;
    plan.wander = 1;
    plan.turn_wander = .005;
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    const registration::SyntheticSeries series(
        plan, registration::find_specimen("lattice").make(specimen));
    const GradientFlowRegistration registration({.sigma = 2, .coarsest = 1});
    std::vector<double> all;
    for (int i = 0; i < pairs; ++i) {
        const auto reference = series.counted(i), moved = series.counted(i + 1);
        const auto found = registration.rigid(reference.samples(), moved.samples());
        double work = 0, pixels = 1;
        for (auto level = found.energies.rbegin(); level != found.energies.rend(); ++level) {
            work += pixels * static_cast<double>(level->size());
            pixels /= 4;
        }
        all.push_back(work);
    }
    return all;
}

Result operator_work(Extent extent) {
    constexpr int a_worker = 8;
    const std::vector<double> work = work_by_pair(a_worker * (extent == Extent::whole ? 16 : 3));
    Result result{"of the mean", {"counted"}, {}, {}};
    double sum = 0;
    for (const double each : work)
        sum += each;
    const double mean = sum / static_cast<double>(work.size());
    for (const double share : {.05, .25, .5, .75, .95, 1.})
        result.rows.push_back({fmt::format("{:.0f} % of applications take at most", 100 * share),
                               {},
                               {quantile(work, share) / mean}});
    double busiest = 0;
    for (std::size_t first = 0; first < work.size(); first += a_worker) {
        double own = 0;
        for (std::size_t i = first; i < first + a_worker; ++i)
            own += work[i];
        busiest = std::max(busiest, own / (a_worker * mean));
    }
    result.rows.push_back(
        {"work of the busiest worker, with 8 applications per worker", {}, {busiest}});
    const double apart = quantile(work, 1) / quantile(work, 0);
    result.claims.push_back(
        {"of iterative nature with huge variances in convergence time", apart > 3,
         fmt::format("the longest takes {:.1f} times as long as the shortest", apart)});
    return result;
}

constexpr std::string_view setting =
    "simulated on a clock that counts only the operator, whose times are independent and "
    "exponential: the thesis reports huge variances, but not their distribution; medians of nine "
    "draws";

constexpr Experiment experiments[] = {
    {"registration", "Figure 4.4", "distribution of the work of the operator",
     "the published rigid registration of neighbours in a synthetic series of 64x64 pixels, 10 "
     "electrons per pixel; steps are counted, so the result is the same on every machine",
     "the frames of a synthetic series are alike in dose, detail and motion; the thesis does not "
     "say what made some of its pairs slow",
     operator_work},
    {"registration", "Figures 5.1, 5.2", "speedup of a series' registration, strong scaling",
     setting,
     "each rank applies the operator as early as it can; with random operator times, a rank may be "
     "busy with its own last phase while other ranks wait for a value that it has yet to compute; "
     "Figures 5.7 and 5.8 show the effect",
     strong_scaling},
    {"registration", "equation 4.18", "the bound on the speedup of Blelloch's circuit",
     "as for Figures 5.1 and 5.2, but with constant times; this circuit has neither the identity "
     "nor the total, which "
     "the equation counts, and is therefore up to two applications shorter",
     "", blelloch_bound},
    {"registration", "Figures 5.3, 5.4", "weak scaling", setting,
     "divided by the applications on their longest paths, 29 and 525, the thesis' 196 and 2,041 "
     "seconds are 6.8 and 3.9 seconds per application: its short series cost more per frame, which "
     "random times do not explain",
     weak_scaling},
    {"registration", "Figures 5.7, 5.8", "scan-then-propagate and reduce-then-scan", setting, "",
     strategies},
    {"registration", "Figure 5.9", "threads within the operator",
     "as for Figures 5.1 and 5.2; two thirds of the operator run in parallel, as in the thesis", "",
     threads_in_the_operator}};

} // namespace

std::span<const Experiment> registration_papers() {
    return experiments;
}

} // namespace sextant::lab
