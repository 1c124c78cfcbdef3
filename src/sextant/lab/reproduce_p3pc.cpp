// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/reproduce_p3pc.hpp"

#include "sextant/collective/catalogue.hpp"
#include "sextant/halo/exchange.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/lab/reproduce_experiments.hpp"
#include "sextant/machine/interpolate.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace sextant::lab {

using machine::Layout;
using machine::Path;

DasCosts::DasCosts(bool loggp_star) : das_(machine_of_paper("das")), loggp_star_(loggp_star) {}

double DasCosts::operator()(Path path, Layout layout, Elements n) const {
    if (!loggp_star_)
        return measured(path, layout, n);
    const double full = measured(Path::full, Layout::cc, n);
    if (path == Path::full)
        return full;
    return measured(Path::send, Layout::cc, 0) + full - measured(Path::full, Layout::cc, 0);
}

double DasCosts::measured(Path path, Layout layout, Elements n) const {
    const auto strategy =
        layout == Layout::cc ? machine::Strategy::contiguous : machine::Strategy::datatype;
    const auto* curve = machine::find(das_.links.at(0), path, layout, strategy);
    return machine::at_size(curve->points, 4 * n).median * 1e3;
}

double flat_tree(const DasCosts& T, const Grid& grid, Path side, Layout strided) {
    const auto M = grid.columns == 1 ? Layout::cc : strided;
    const Elements m = grid.width * grid.height / grid.ranks();
    const int P = grid.ranks();
    return std::max((P - 1) * T(side, M, m), (P - 2) * T(side, M, m) + T(Path::full, M, m));
}

double binomial_tree(const DasCosts& T, const Grid& grid, Path side, Layout strided) {
    const int logP = std::countr_zero(static_cast<unsigned>(grid.ranks()));
    const int logX = std::countr_zero(static_cast<unsigned>(grid.columns));
    double one_side = 0, full = 0;
    for (int i = 1; i <= logP; ++i) {
        const auto M = i <= logP - logX ? Layout::cc : strided;
        const Elements n = (grid.width * grid.height) >> i;
        one_side += T(side, M, n);
        full += T(Path::full, M, n);
    }
    return std::max(one_side, full);
}

double border_published(const DasCosts& T, const Grid& grid, Elements bw) {
    const Elements w = grid.width / grid.columns, h = grid.height / grid.rows;
    return 2 * T(Path::full, Layout::nn, bw * h) + 2 * T(Path::full, Layout::cc, (w + 2 * bw) * bw);
}

double border_mended(const DasCosts& T, const Grid& grid, Elements bw) {
    const Elements w = grid.width / grid.columns, h = grid.height / grid.rows;
    double sum = 0;
    if (grid.columns > 1)
        sum += 2 * T(Path::full, Layout::nn, bw * h);
    if (grid.rows > 1)
        sum += 2 * T(Path::full, Layout::cc, (w + (grid.columns > 1 ? 2 * bw : 0)) * bw);
    return sum;
}

namespace {

using machine::Layout;
using machine::Path;

/// A timed operation of the paper: a scatter or gather along a tree, or an exchange of borders
/// `margin` pixels wide.
struct Communication {
    std::string_view name;
    std::string_view collective; ///< empty: the border exchange
    Path side = Path::full;
    Elements margin = 0;

    bool is(std::string_view part) const { return name.find(part) != name.npos; }
};

/// The reach in pixels of the widest kernel, that of second derivatives.
Elements margin_at(double sigma) {
    return kernel::gaussian_reach(sigma, 2, kernel::p3pc_kernel);
}

const Communication all_communications[] = {{"flat scatter", "flat-scatter", Path::send},
                                            {"binomial scatter", "binomial-scatter", Path::send},
                                            {"flat gather", "flat-gather", Path::receive},
                                            {"binomial gather", "binomial-gather", Path::receive},
                                            {"exchange, sigma 1", "", Path::full, margin_at(1)},
                                            {"exchange, sigma 3", "", Path::full, margin_at(3)},
                                            {"exchange, sigma 5", "", Path::full, margin_at(5)}};

std::string text(const Grid& grid) {
    return fmt::format("{}x{}", grid.columns, grid.rows);
}

/// The time in milliseconds by the formulas of Figure 6, as printed in the P-3PC paper.
double by_formula(const Communication& what, const Grid& grid) {
    static const DasCosts T;
    if (what.collective.empty())
        return border_published(T, grid, what.margin);
    const Layout strided = what.side == Path::send ? Layout::nc : Layout::cn;
    return (what.is("flat") ? flat_tree : binomial_tree)(T, grid, what.side, strided);
}

/// The time that a model predicts for a schedule, in milliseconds.
double replayed(const char* model, const Schedule& schedule) {
    static const machine::Profile das = machine_of_paper("das");
    return 1e3 * model::find(model)
                     .predict({.schedule = schedule, .machine = das, .element_size = 4})
                     .seconds;
}

double replayed(const char* model, const Communication& what, const Grid& grid) {
    return replayed(model, make_schedule(grid.ranks(), [&](int rank) {
                        if (what.collective.empty())
                            return halo::axis_exchange({{grid}, what.margin}, rank);
                        return collective::find(what.collective).program(grid, rank);
                    }));
}

constexpr std::size_t loggp_star = 0, p3pc = 1;

Row row_of(const Communication& what, const Grid& grid) {
    return {fmt::format("{}x{} on {}, {}", grid.width, grid.height, text(grid), what.name),
            by_formula(what, grid),
            {replayed("loggp-star", what, grid), replayed("p3pc", what, grid)}};
}

Result empty_result() {
    return {"milliseconds, image on columns x rows of ranks", {"LogGP*", "P-3PC"}, {}, {}};
}

/// The ratio of the largest to the smallest value of a column.
double spread(const std::vector<Row>& rows, std::size_t column) {
    const auto [least, most] =
        std::minmax_element(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
            return a.ours[column] < b.ours[column];
        });
    return most->ours[column] / least->ours[column];
}

/// A claim that the ratio of P-3PC to LogGP* is within [at_least, at_most] in every row.
Claim compared(std::string text, const std::vector<Row>& rows, double at_least, double at_most) {
    const auto by_ratio = [](const Row& a, const Row& b) {
        return a.ours[p3pc] / a.ours[loggp_star] < b.ours[p3pc] / b.ours[loggp_star];
    };
    const auto [least, most] = std::minmax_element(rows.begin(), rows.end(), by_ratio);
    const double low = least->ours[p3pc] / least->ours[loggp_star];
    const double high = most->ours[p3pc] / most->ours[loggp_star];
    return {std::move(text), low >= at_least && high <= at_most,
            fmt::format("P-3PC predicts {:.2f} to {:.2f} times LogGP*", low, high)};
}

// Figure 2 of the P-3PC paper.

struct NamedLayout {
    std::string_view name;
    Layout layout;
    bool sender_strided, receiver_strided;
};

constexpr NamedLayout layouts[] = {{"cc", Layout::cc, false, false},
                                   {"cn", Layout::cn, false, true},
                                   {"nc", Layout::nc, true, false},
                                   {"nn", Layout::nn, true, true}};

/// A schedule of one message; strided data has 100 blocks, as in the paper's measurements.
Schedule one_message(const NamedLayout& layout, Elements elements) {
    return make_schedule(2, [&](int rank) {
        constexpr Elements blocks = 100;
        const bool strided = rank == 0 ? layout.sender_strided : layout.receiver_strided;
        const Elements length = elements / blocks;
        ProgramBuilder builder;
        const Region whole = rank == 0 ? builder.input(2 * elements) : builder.output(2 * elements);
        const Region region = strided ? Region{whole.buffer, 0, length, 2 * length, blocks}
                                      : block(whole.buffer, 0, length * blocks);
        if (rank == 0)
            builder.send(1, region);
        else
            builder.receive(0, region);
        return builder.finish(region);
    });
}

/// The paper's statements about Figure 2, checked with the values of its Table 1.
std::vector<Claim> claims_of_figure_2() {
    const DasCosts T;
    constexpr Elements K = 1024;
    const double paths = T(Path::full, Layout::cc, K) / T(Path::send, Layout::cc, K);
    const double strided = T(Path::full, Layout::nn, 500 * K) / T(Path::full, Layout::cc, 500 * K);
    const auto slope = [&](Elements from, Elements to) {
        return (T(Path::full, Layout::cc, to) - T(Path::full, Layout::cc, from)) /
               static_cast<double>(to - from);
    };
    const double bends = slope(100 * K, 500 * K) / slope(K, 50 * K);
    return {{"latency differences between sending and the full path can be significant",
             paths > 1.5, fmt::format("{:.2f} times at 1K values", paths)},
            {"contiguous and noncontiguous data differ significantly", strided > 1.5,
             fmt::format("{:.2f} times at 500K values", strided)},
            {"costs are not linear in size", bends > 1.2,
             fmt::format("an additional value costs {:.2f} times as much beyond 100K as below 50K",
                         bends)}};
}

Result figure_2(Extent) {
    Result result{"microseconds of the full path", {"LogGP*", "P-3PC"}, {}, {}};
    const DasCosts T;
    for (const NamedLayout& layout : layouts) {
        for (const Elements thousands : {1, 50, 100, 500}) {
            const Elements elements = 1024 * thousands;
            const Schedule schedule = one_message(layout, elements);
            result.rows.push_back(
                {fmt::format("{}, {}K values", layout.name, thousands),
                 1e3 * T(Path::full, layout.layout, elements),
                 {1e3 * replayed("loggp-star", schedule), 1e3 * replayed("p3pc", schedule)}});
        }
    }
    result.claims = claims_of_figure_2();
    return result;
}

// Figure 9 of the P-3PC paper.

Result figure_9(Extent) {
    Result result = empty_result();
    std::vector<Row> strips, columns, scattered;
    for (const Grid& grid :
         {Grid{512, 512, 1, 16}, Grid{512, 512, 16, 1}, Grid{512, 512, 8, 1}, Grid{512, 512, 32, 1},
          Grid{1024, 1024, 16, 1}, Grid{2048, 2048, 16, 1}}) {
        for (const Communication& what : all_communications) {
            result.rows.push_back(row_of(what, grid));
            (grid.columns == 1 ? strips : columns).push_back(result.rows.back());
        }
    }
    for (Grid grid : das_grids) {
        grid.width = grid.height = 256;
        for (const Communication& what : all_communications) {
            if (what.collective.empty())
                continue;
            result.rows.push_back(row_of(what, grid));
            if (what.is("scatter"))
                scattered.push_back(result.rows.back());
        }
    }
    result.claims = {
        compared("for contiguous data, the two models are comparable", strips, 1 / 1.3, 1.3),
        compared("if columns are divided, P-3PC sees differences that LogGP* does not", columns,
                 1.2, 1e9),
        {"for LogGP*, all trees and decompositions of 256x256 cost about the same",
         spread(scattered, loggp_star) < 1.25 && spread(scattered, p3pc) > 1.5,
         fmt::format("scatter times differ by a factor of {:.2f} for LogGP*, {:.2f} for P-3PC",
                     spread(scattered, loggp_star), spread(scattered, p3pc))}};
    return result;
}

// Figure 10 of the P-3PC paper.

/// The grid with the least time in a column.
std::string best_grid(const std::vector<Row>& rows, std::size_t column) {
    const auto best = std::min_element(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
        return a.ours[column] < b.ours[column];
    });
    return text(das_grids[best - rows.begin()]);
}

Result figure_10(Extent) {
    Result result = empty_result();
    for (const Communication& what : all_communications) {
        if (what.is("sigma 3"))
            continue;
        std::vector<Row> rows;
        for (const Grid& grid : das_grids)
            rows.push_back(row_of(what, grid));
        result.rows.insert(result.rows.end(), rows.begin(), rows.end());
        if (!what.collective.empty())
            continue;
        const std::string by_star = best_grid(rows, loggp_star), by_p3pc = best_grid(rows, p3pc);
        result.claims.push_back({fmt::format("{}: best on 4x4 according to LogGP*", what.name),
                                 by_star == "4x4", by_star});
        result.claims.push_back({fmt::format("{}: best on 2x8 according to P-3PC", what.name),
                                 by_p3pc == "2x8", by_p3pc});
    }
    return result;
}

constexpr std::string_view paper = "p3pc";
constexpr std::string_view setting =
    "DAS as in Table 1. The paper plots its estimates without numbers: the column \"paper\" "
    "evaluates its Figure 6 as printed, except for 2 i, which must be 2^i; ours are simulated "
    "schedules";
constexpr std::string_view reasons =
    "Figure 6 charges an exchange for neighbours that tiles at the border do not have, and uses "
    "full paths only: in the simulation, a receive that takes longer than its full path delays the "
    "next";
constexpr Experiment experiments[] = {
    {paper, "Figure 2", "one message by path, layout and size",
     "the paper only plots these times: the column \"paper\" is computed from the values of Table "
     "1, "
     "with 100 blocks per noncontiguous message; \"ours\" is the simulated time of one message",
     "if one side is busy for longer than the full path, as in six cells of Table 1, the message "
     "arrives only then; and 1K values cannot be divided into 100 equal blocks",
     figure_2},
    {paper, "Figure 9", "scatter, gather and border exchange, two models", setting, reasons,
     figure_9},
    {paper, "Figure 10", "all decompositions on 16 nodes", setting, reasons, figure_10}};

} // namespace

std::span<const Experiment> p3pc_paper() {
    return experiments;
}

} // namespace sextant::lab
