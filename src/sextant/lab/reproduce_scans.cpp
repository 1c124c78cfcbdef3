// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/statistics.hpp"
#include "sextant/lab/reproduce_experiments.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/rehearsal.hpp"
#include "sextant/schedule/circuit.hpp"

#include <functional>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

Circuit circuit_of(const std::string& name, int ranks) {
    const scan::Algorithm& row = scan::find(name);
    const scan::Task task{ranks, 1, scan::forms_of(row).front()};
    return circuit(make_schedule(
        ranks, [&](int rank) { return scan::program(row, task, row.tunings().front(), rank); }));
}

/// Published span and work for n inputs, n = 2^log.
struct Published {
    const char* name;
    double (*span)(double n, double log);
    double (*work)(double n, double log);
};

constexpr Published circuits[] = {
    {"serial", [](double n, double) { return n - 1; }, [](double n, double) { return n - 1; }},
    {"kogge-stone", [](double, double log) { return log; },
     [](double n, double log) { return n * log - n + 1; }},
    {"sklansky", [](double, double log) { return log; },
     [](double n, double log) { return n / 2 * log; }},
    {"brent-kung", [](double, double log) { return 2 * log - 2; },
     [](double n, double log) { return 2 * n - 2 - log; }},
    {"han-carlson", [](double, double log) { return log + 1; },
     [](double n, double log) { return n / 2 * log; }}};

Result spans_and_work(Extent) {
    Result result{"applications of the operator: longest dependent chain (span) and total (work)",
                  {"counted"},
                  {},
                  {}};
    bool equal = true;
    for (const int log : {4, 6, 8}) {
        const int ranks = 1 << log;
        for (const Published& published : circuits) {
            const Circuit found = circuit_of(published.name, ranks);
            const double span = published.span(ranks, log), work = published.work(ranks, log);
            result.rows.push_back({fmt::format("{}, {} ranks, span", published.name, ranks),
                                   span,
                                   {double(found.span)}});
            result.rows.push_back({fmt::format("{}, {} ranks, work", published.name, ranks),
                                   work,
                                   {static_cast<double>(found.work)}});
            equal = equal && span == found.span && work == static_cast<double>(found.work);
        }
    }
    result.claims.push_back({"every circuit has its published span and work", equal, "counted"});
    return result;
}

constexpr Experiment experiments[] = {
    {"scan", "circuits", "span and work of prefix circuits",
     "counted on the schedules; formulas of Kogge and Stone 1973, Sklansky 1960, Brent and Kung "
     "1982, Han and Carlson 1987",
     "", spans_and_work}};

} // namespace

std::span<const Experiment> scan_papers() {
    return experiments;
}

namespace {

constexpr Elements frames = 4096;
constexpr int ranks = 64, threads = 16;
constexpr Seconds published_serial = 37568;

/// Makespans of the registration of a whole series (neighbouring frames, then the scan): as
/// simulated, and if the threads of each rank were perfectly balanced.
struct Registered {
    Seconds balanced = 0, rehearsed = 0;
};

Registered registered(std::string_view circuit, scan::Boundaries boundaries) {
    const scan::Algorithm& algorithm = scan::find(circuit);
    const scan::Series series = scan::even_blocks(frames, ranks);
    const scan::Configuration configuration{scan::find_strategy("reduce-then-scan"),
                                            {algorithm, algorithm.tunings().front()},
                                            threads,
                                            boundaries};
    const scan::Rehearsal rehearsal(series, configuration);
    std::vector<double> makespans, balanced;
    for (std::uint64_t seed = 1; seed <= 9; ++seed) {
        scan::Distribution times;
        times.kind = scan::Distribution::Kind::correlated;
        const scan::Draws draws(times, frames, seed);
        const auto starts = scan::neighbours_done(series, threads, 1, std::cref(draws));
        const double scale = published_serial / (2 * draws.serial());
        makespans.push_back(scale * rehearsal.run(std::cref(draws), starts).makespan);
        balanced.push_back(scale * rehearsal.balanced(std::cref(draws), starts));
    }
    return {median(balanced), median(makespans)};
}

struct PublishedStealing {
    std::string_view name, circuit;
    Seconds fixed, stealing;
};

constexpr PublishedStealing table[] = {{"dissemination", "kogge-stone", 350, 126},
                                       {"Ladner-Fischer", "ladner-fischer", 211, 134},
                                       {"MPI_Scan", "serial", 272, 160}};

Result cores_1024(Extent) {
    Result result{"seconds, 4,096 frames on 1,024 cores",
                  {"perfect balance within ranks", "rehearsed"},
                  {},
                  {}};
    double least_gain = 1e9, most_gain = 0, best = 1e9;
    for (const PublishedStealing& row : table) {
        const Registered fixed = registered(row.circuit, scan::Boundaries::fixed);
        const Registered stealing = registered(row.circuit, scan::Boundaries::towards_slower);
        result.rows.push_back(
            {std::string(row.name), row.fixed, {fixed.balanced, fixed.rehearsed}});
        result.rows.push_back({fmt::format("{}, stealing", row.name),
                               row.stealing,
                               {stealing.balanced, stealing.rehearsed}});
        const double gain = fixed.rehearsed / stealing.rehearsed;
        least_gain = std::min(least_gain, gain);
        most_gain = std::max(most_gain, gain);
        best = std::min(best, stealing.rehearsed);
    }
    result.claims = {
        {"stealing makes registration 1.5 to 2.8 times faster", least_gain > 1.4 && most_gain < 3,
         fmt::format("{:.2f} to {:.2f} times", least_gain, most_gain)},
        {"299 times faster than one core, an efficiency of .29", published_serial / best > .8 * 299,
         fmt::format("{:.0f} times, {:.2f}", published_serial / best,
                     published_serial / best / (ranks * threads))}};
    return result;
}

constexpr Experiment stealing_experiments[] = {
    {"work-stealing", "table for 1,024 cores", "registration of a series, neighbours and scan",
     "assumed: 64 ranks of 16 threads, and registrations of neighbours that take as long as an "
     "application; "
     "times are lognormal (.6), correlated between neighbours (.9), drawn nine times and scaled to "
     "the 37,568 s that one core takes; MPI_Scan is assumed to be a chain over the ranks",
     "the paper's times were not published. Random times leave little to steal: a thread has 4 "
     "values, and even perfect balance within the ranks would gain no more than the first column, "
     "far from 2.8 times; the published gain must come from stretches of slow values, which these "
     "draws lack. And a chain of 1,024 ranks would take more than an hour, so the MPI_Scan used "
     "there was not a chain",
     cores_1024}};

} // namespace

std::span<const Experiment> work_stealing_paper() {
    return stealing_experiments;
}

} // namespace sextant::lab
