// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"
#include "sextant/reproduce/papers.hpp"
#include "sextant/reproduce/runs.hpp"
#include "sextant/reproduce/table.hpp"

#include <cstdlib>
#include <map>

#include <fmt/format.h>

namespace sextant::reproduce {

namespace {

/// A message of so many bytes to each of 16 x 16 processors. The paper's loops send one message
/// after another; here a window says so.
double one_to_all(std::string_view algorithm, Bytes bytes) {
    constexpr int side = 16;
    const collective::Algorithm& row = collective::find(algorithm);
    const Grid grid{side * bytes, side, side, side};
    const Schedule schedule = make_schedule(grid.ranks(), [&](int rank) {
        Program program = row.program(grid, rank);
        program.window = 1;
        return program;
    });
    return 1e3 * run(schedule, 1, {"delta-16x16"}).seconds;
}

/// Algorithms by the paper's names and ours.
struct Named {
    std::string_view paper, ours;
};

constexpr Named algorithms[] = {
    {"1-lev-dir", "flat-scatter"},          {"1-lev-br", "1-lev-br-broadcast"},
    {"2-lev-rec", "2-lev-rec-scatter"},     {"3-lev-sq", "3-lev-sq-scatter"},
    {"logp-lev-sq", "logp-lev-sq-scatter"}, {"logp-lev-rec(0.75)", "logp-lev-rec-scatter"}};

Result figure_8(Extent) {
    const Table table("c3_figure8_one_to_all_delta256_ms");
    Result result{"milliseconds, by bytes a message", {"simulated"}, {}, {}};
    int winners = 0;
    for (std::size_t c = 1; c < table.columns().size(); ++c) {
        const std::string& bytes = table.columns()[c];
        const Bytes size = std::strtoll(bytes.c_str(), nullptr, 10);
        std::map<std::string_view, double> ours, theirs;
        for (const Named& each : algorithms) {
            ours[each.paper] = one_to_all(each.ours, size);
            theirs[each.paper] = *table.number(table.row_of(std::string(each.paper)), bytes);
            result.rows.push_back(
                {fmt::format("{}, {}", each.paper, bytes), theirs[each.paper], {ours[each.paper]}});
        }
        winners += (ours["1-lev-dir"] < ours["logp-lev-sq"]) ==
                   (theirs["1-lev-dir"] < theirs["logp-lev-sq"]);
    }
    result.claims.push_back({"the faster of 1-lev-dir and logp-lev-sq at each size is the paper's",
                             winners == 11, fmt::format("at {} of 11 sizes", winners)});
    return result;
}

constexpr Experiment experiments[] = {
    {"c3", "Figure 8", "one-to-all on 256 processors of the Delta",
     "links 11.77 MB/s, injection 10.9 MB/s; 100 us to send and 150 us to receive, fitted to 16 "
     "bytes",
     "the fluid network knows no cost by byte at the processors, which a rank that halves and "
     "forwards pays on every byte it touches, and no change of protocol, which the paper's direct "
     "sends seem to meet from 256 bytes on",
     figure_8}};

} // namespace

std::span<const Experiment> c3_paper() {
    return experiments;
}

} // namespace sextant::reproduce
