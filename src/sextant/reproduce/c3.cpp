// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/catalogue.hpp"
#include "sextant/reproduce/papers.hpp"
#include "sextant/reproduce/runs.hpp"
#include "sextant/reproduce/table.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace sextant::reproduce {

namespace {

/// A message of so many bytes to each of 256 processors. The paper's loops send one message after
/// another; here a window says so.
double scatter(const std::string& algorithm, Bytes bytes) {
    constexpr int processors = 256;
    const collective::Algorithm& row = collective::find(algorithm);
    const Grid grid = strips(processors, processors * bytes);
    const Schedule schedule = make_schedule(processors, [&](int rank) {
        Program program = row.program(grid, rank);
        program.window = 1;
        return program;
    });
    return 1e3 * run(schedule, 1, {"delta-16x16"}).seconds;
}

Result figure_8(Extent) {
    const Table table("c3_figure8_one_to_all_delta256_ms");
    Result result{"milliseconds, by bytes a message", {"simulated"}, {}, {}};
    const std::size_t direct = table.row_of("1-lev-dir"), halving = table.row_of("logp-lev-sq");
    int winners = 0;
    for (std::size_t c = 1; c < table.columns().size(); ++c) {
        const std::string& bytes = table.columns()[c];
        const Bytes size = std::strtoll(bytes.c_str(), nullptr, 10);
        const double flat = scatter("flat-scatter", size), tree = scatter("binomial-scatter", size);
        result.rows.push_back({fmt::format("1-lev-dir (flat-scatter), {}", bytes),
                               table.number(direct, bytes),
                               {flat}});
        result.rows.push_back({fmt::format("logp-lev-sq (binomial-scatter), {}", bytes),
                               table.number(halving, bytes),
                               {tree}});
        winners += (flat < tree) == (*table.number(direct, bytes) < *table.number(halving, bytes));
    }
    result.claims.push_back({"the faster of the two at each size is the paper's", winners == 11,
                             fmt::format("at {} of 11 sizes", winners)});
    return result;
}

constexpr Experiment experiments[] = {
    {"c3", "Figure 8", "one-to-all on 256 processors of the Delta: the two algorithms there are",
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
