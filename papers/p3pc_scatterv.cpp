// SPDX-License-Identifier: BSD-3-Clause
// Figure 4 of the P-3PC paper on this machine: the flat scatter compared with MPI_Scatterv in one
// launch of `sextant bench collective`.
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>

#include "papers/experiments.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

constexpr int scattering_ranks = 2;

/// Blocks that are rows of an image, and blocks that are tiles.
constexpr const char* scatter_cases = R"({"cases": [
    {"name": "contiguous", "collective": "scatter", "algorithms": ["flat-scatter"],
     "sizes": [4096, 65536, 1048576]},
    {"name": "tiles", "collective": "scatter", "algorithms": ["flat-scatter"], "tiles": true,
     "sizes": [4096, 65536, 1048576]}]})";

double microseconds(const JsonField& result) {
    return 1e6 * result.at("seconds").at("median").number(0, JsonField::most);
}

void add_rows(Result& result, const JsonField& whole) {
    for (const JsonField& one : whole.at("cases").items()) {
        for (const JsonField& size : one.at("sizes").items()) {
            Row row{fmt::format("{}, {} bytes per rank", one.at("name").text(),
                                size.at("size").integer(0, INT64_MAX)),
                    {},
                    std::vector<double>(3)};
            for (const JsonField& each : size.at("results").items())
                row.ours[each.at("baseline").boolean() ? 0 : 1] = microseconds(each);
            row.ours[2] = row.ours[1] / row.ours[0];
            result.rows.push_back(row);
        }
    }
}

constexpr const char* statement = "our implementations can often compete with available MPI "
                                  "implementations";

Result figure_4_here(Extent extent) {
    Result result{fmt::format("microseconds of a scatter to {} processes", scattering_ranks),
                  {"MPI_Scatterv", "flat scatter", "ratio"},
                  {},
                  {}};
    try {
        add_rows(result, timed_by_lab({.kind = "collective",
                                       .cases = scatter_cases,
                                       .processes = scattering_ranks,
                                       .rounds = extent == Extent::quick ? 11 : 101}));
    } catch (const Error& error) {
        result.claims = {unknown(statement, error.what())};
        return result;
    }
    const auto as_fast = std::count_if(result.rows.begin(), result.rows.end(),
                                       [](const Row& row) { return row.ours[2] <= 1.25; });
    result.claims = {{statement, 2 * as_fast > static_cast<std::ptrdiff_t>(result.rows.size()),
                      fmt::format("in {} of {} cases, the flat scatter takes at most 1.25 times as "
                                  "long as that of {}",
                                  as_fast, result.rows.size(), mpi_of_build())}};
    return result;
}

constexpr Experiment scatterv_experiments[] = {
    {"p3pc", "Figure 4 on this machine", "the flat scatter compared with MPI_Scatterv",
     "the paper draws the times on DAS without numbers; here, processes of one launch are timed, "
     "so every run differs",
     "the MPI library scatters small blocks differently, or other programs ran", figure_4_here}};

} // namespace

std::span<const Experiment> p3pc_scatterv() {
    return scatterv_experiments;
}

} // namespace sextant::papers
