// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/temporary_files.hpp"

#include <algorithm>
#include <cmath>

#include "papers/experiments.hpp"
#include "papers/registration.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

// Figures 5.5 and 5.6 of Copik's thesis: the scans of MPI libraries.

/// A global scan by an MPI library. An inclusive scan gives each core its last result; an exclusive
/// one does not.
struct LibraryScan {
    const char* circuit;
    bool inclusive;
};

Result libraries(Extent) {
    Result result{"time in units of one registration, 4,096 frames",
                  {"chain, inclusive", "chain, exclusive", "tree, exclusive",
                   "recursive doubling, inclusive"}};
    double most_apart = 0, chain = 0, best = 0;
    for (const int ranks : {16, 32, 64, 128, 256, 512}) {
        Row row{fmt::format("{} cores", ranks)};
        for (const LibraryScan& library : {LibraryScan{"serial", true},
                                           {"serial", false},
                                           {"blelloch", false},
                                           {"kogge-stone", true}})
            row.ours.push_back(
                simulated_series(
                    {.ranks = ranks, .circuit = library.circuit, .gives_last = library.inclusive},
                    fitted_times())
                    .makespan);
        most_apart = std::max(most_apart, std::abs(row.ours[1] / row.ours[0] - 1));
        chain = row.ours[0];
        best = std::min(row.ours[2], row.ours[3]);
        result.rows.push_back(row);
    }
    result.claims = {
        {"inclusive and exclusive scans by a chain differ too little to tell them apart",
         most_apart < .1, fmt::format("by at most {:.1f} %", 100 * most_apart)},
        {"on many cores, the other library is clearly superior to the chain", best < .5 * chain,
         fmt::format("{:.1f} times as fast on 512 cores", chain / best)}};
    return result;
}

// The same calls with the MPI library of this build.

constexpr int processes = 8;
constexpr Seconds application = .02;

/// Times scans of one value per process, and adds a row for each. `selected`: true if Open MPI's
/// blocking scans use recursive doubling.
void time_scans(Result& result, bool selected) {
    LabRun run{.kind = "scan", .processes = processes};
    run.cases = fmt::format(R"({{"cases": [{{"values": {}, "strategies": ["scan-then-propagate"],)"
                            R"( "algorithms": ["serial", "kogge-stone"],)"
                            R"( "times": {{"kind": "constant", "mean": {}}}}}]}})",
                            processes, application);
    if (selected)
        run.variables = "OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
                        "OMPI_MCA_coll_tuned_scan_algorithm=2 "
                        "OMPI_MCA_coll_tuned_exscan_algorithm=2";
    const JsonField file = timed_by_lab(run);
    for (const JsonField& row : file.at("cases")[0].at("results").items()) {
        const std::string name = row.at("name").text();
        const double seconds = row.at("seconds").at("median").number(0, JsonField::most);
        const bool blocking = name == "mpi-scan" || name == "mpi-exscan";
        if (selected && !blocking)
            continue;
        Row& added = result.rows.emplace_back();
        added.label = name + (selected ? ", recursive doubling selected" : "");
        added.ours = {seconds / application};
        if (!selected && name.starts_with("mpi-"))
            added.theirs = processes - 1; // serial, as the thesis found in Open MPI's source
    }
}

Result scans_here(Extent) {
    Result result{
        fmt::format("time of a scan of one value on each of {} processes, in applications",
                    processes),
        {"measured"}};
    try {
        time_scans(result, false);
        if (!mpi_of_build().starts_with("MPICH"))
            time_scans(result, true);
    } catch (const Error& error) {
        result.claims.push_back({"MPI's scans cannot be measured here", true, error.what()});
    }
    return result;
}

constexpr Experiment experiments[] = {
    {"registration", "Figures 5.5, 5.6", "scans of MPI libraries",
     "simulated as for Figures 5.1 and 5.2: a chain, which is what the thesis found in Open MPI's "
     "source; and the circuits that Intel MPI may use. Differences between Intel MPI's algorithms "
     "(Figure 5.5) cannot be known: their documentation gives only names, and the library is not "
     "available. The published times are plotted without numbers",
     "", libraries},
    {"registration", "Figures 5.5, 5.6 here", "the scans of this build's MPI library",
     "measured, so every run differs: an operator that sleeps for 20 ms, medians of 5 rounds. The "
     "paper's column is the chain that the thesis found in Open MPI 1.10, 7 applications; without "
     "a chain, 3 are possible. Recursive doubling as Open MPI 4 offers it applies the operator "
     "twice in each of its 3 rounds",
     "this MPI library uses another algorithm for the call than Open MPI 1.10, or other programs "
     "ran",
     scans_here}};

} // namespace

constinit const std::span<const Experiment> mpi_scan_papers = experiments;

} // namespace sextant::papers
