// SPDX-License-Identifier: BSD-3-Clause
// The P-3PC paper's measurements, repeated on this machine. Figure 2: times of the messages of a
// flat scatter and similar operations in the memory layouts that the model distinguishes, compared
// with the predictions of models calibrated with other messages. With two ranks, a flat tree is one
// message.
#include "sextant/calibrate/campaign.hpp"
#include "sextant/calibrate/estimate.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "papers/experiments.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

using calibrate::Cell;
using calibrate::HeldOut;
using calibrate::Kind;
using machine::Layout;
using machine::Strategy;

/// An operation that moves half of an image.
struct Dealing {
    std::string_view text;
    Layout layout;
};

constexpr Dealing dealings[] = {{"scattered to 1x2", Layout::cc},
                                {"scattered to 2x1", Layout::nc},
                                {"gathered from 2x1", Layout::cn},
                                {"column to column", Layout::nn}};
/// Widths of square images of floats. Powers of two are avoided, because their rows would map to
/// few cache sets.
constexpr Bytes widths[] = {150, 300, 600, 1200};

Cell half_of(Bytes width, Layout layout) {
    constexpr Bytes value = 4;
    const Bytes bytes = width * width / 2 * value;
    if (layout == Layout::cc)
        return calibrate::message(Kind::round_trip, bytes);
    Cell cell =
        calibrate::strided(Kind::round_trip, layout, Strategy::datatype, bytes, width / 2 * value);
    cell.row = width * value;
    return cell;
}

std::vector<Cell> halves() {
    std::vector<Cell> cells;
    for (const Bytes width : widths) {
        for (const Dealing& interlacing : dealings)
            cells.push_back(half_of(width, interlacing.layout));
    }
    return cells;
}

/// Adds the messages that the calibration of a profile needs.
std::vector<Cell> messages_and(std::vector<Cell> cells) {
    constexpr Bytes kibi = 1024;
    cells.push_back(calibrate::empty_trip());
    // From 512 KiB on, messages do not fit in the cache (calibrate/rig.cpp).
    for (const Bytes bytes :
         {16 * kibi, 64 * kibi, 256 * kibi, 512 * kibi, 1024 * kibi, 4096 * kibi}) {
        cells.push_back(calibrate::message(Kind::round_trip, bytes));
        for (const Bytes block : {kibi / 4, kibi, 4 * kibi}) {
            for (const Layout layout : {Layout::cn, Layout::nc, Layout::nn}) {
                if (2 * block <= bytes && bytes <= calibrate::most_rows * block)
                    cells.push_back(calibrate::strided(Kind::round_trip, layout, Strategy::datatype,
                                                       bytes, block));
            }
        }
    }
    return cells;
}

/// The messages that the paper times by default: four sizes, with 100 blocks if noncontiguous.
std::vector<Cell> default_messages() {
    constexpr Bytes thousand = 1024 * 4, blocks = 100;
    std::vector<Cell> cells;
    for (const Bytes bytes : {thousand, 50 * thousand, 100 * thousand, 500 * thousand}) {
        cells.push_back(calibrate::message(Kind::round_trip, bytes));
        const Bytes block = bytes / blocks / 4 * 4;
        for (const Layout layout : {Layout::cn, Layout::nc, Layout::nn})
            cells.push_back(calibrate::strided(Kind::round_trip, layout, Strategy::datatype,
                                               block * blocks, block));
    }
    return cells;
}

/// The measurements of the given cells only.
calibrate::Measurements only(const calibrate::Measurements& all, std::vector<Cell> cells) {
    calibrate::Measurements some = all;
    cells.push_back(calibrate::empty_trip());
    std::erase_if(some.cells, [&](const auto& measured) {
        return std::find(cells.begin(), cells.end(), measured.first) == cells.end();
    });
    return some;
}

/// Removes the measurement of a held-out cell from those used for calibration. The cell was
/// measured together with them, in the same machine state.
HeldOut held_out(calibrate::Measurements& all, const Cell& cell) {
    const Seconds answer = all.cells.at(calibrate::empty_trip()).value(0).median / 2;
    const auto series = all.cells.extract(cell);
    return {cell, 0, std::max(0.0, series.mapped().value(0).median - answer)};
}

/// A message of half an image, predicted from all calibrated sizes and from the paper's four.
struct Half {
    HeldOut message;
    Seconds by_four_sizes = 0;
};

std::vector<Half> measured_halves(Seconds budget) {
    std::vector<Half> held;
    run_threads(2, [&](const Communicator& communicator) {
        const Bytes memory = calibrate::CellOptions{}.memory;
        const auto measure = [&](calibrate::Stopwatch& stopwatch, machine::Link link) {
            std::vector<Cell> cells = messages_and(halves());
            for (const Cell& cell : default_messages())
                cells.push_back(cell);
            auto all = calibrate::measure(stopwatch, {cells}, {.budget = budget});
            if (communicator.rank() != 0)
                return;
            for (const Cell& cell : halves())
                held.push_back({held_out(all, cell)});
            const machine::Profile profile = costs_of(only(all, messages_and({})), link);
            const machine::Profile four_sizes = costs_of(only(all, default_messages()), link);
            for (Half& one : held) {
                one.message.predicted = full_path(one.message.cell, profile, link);
                one.by_four_sizes = full_path(one.message.cell, four_sizes, link);
            }
        };
        calibrate::with_rigs(communicator, memory, measure);
    });
    return held;
}

constexpr std::size_t star_here = 0, four_sizes_here = 1, by_sizes_here = 2, measured = 3;

/// The median relative error of a model for strided messages.
double error(const std::vector<Row>& strided, std::size_t model) {
    std::vector<double> errors;
    for (const Row& row : strided)
        errors.push_back(std::abs(row.ours[model] / row.ours[measured] - 1));
    return median(errors);
}

Result figures_here(Extent extent) {
    const std::vector<Half> halves = measured_halves(extent == Extent::quick ? 2 : 20);
    Result result{"microseconds of the full path",
                  {"LogGP*", "P-3PC, four sizes", "P-3PC", "measured"}};
    std::vector<Row> strided;
    double most = 0;
    for (std::size_t w = 0, i = 0; w < std::size(widths); ++w) {
        const HeldOut& contiguous = halves[i].message;
        for (const Dealing& interlacing : dealings) {
            const auto& [one, by_four_sizes] = halves[i++];
            result.rows.push_back({fmt::format("{0}x{0}, {1}", widths[w], interlacing.text),
                                   std::nullopt,
                                   {1e6 * contiguous.predicted, 1e6 * by_four_sizes,
                                    1e6 * one.predicted, 1e6 * one.measured}});
            most = std::max(most, one.measured / contiguous.measured);
            if (interlacing.layout != Layout::cc)
                strided.push_back(result.rows.back());
        }
    }
    const double of_star = error(strided, star_here), of_p3pc = error(strided, by_sizes_here);
    const double of_four_sizes = error(strided, four_sizes_here);
    result.claims = {
        {"the latency for communicating either contiguous or noncontiguous data may be "
         "significantly different",
         most > 1.5, fmt::format("up to {:.2f} times", most)},
        {"P-3PC is capable of providing more accurate estimations in many essential situations",
         of_p3pc < of_star,
         fmt::format("median error of P-3PC {:.0f} %, of LogGP* {:.0f} %", 100 * of_p3pc,
                     100 * of_star)},
        {"the predefined set of only four message sizes is generally sufficient to obtain highly "
         "accurate performance estimations",
         of_four_sizes < .2,
         fmt::format("median error {:.0f} % with the paper's four sizes of 100 blocks, {:.0f} % "
                     "with six sizes and three block lengths",
                     100 * of_four_sizes, 100 * of_p3pc)}};
    return result;
}

// Figure 4: the flat scatter compared with MPI_Scatterv in one launch of `sextant bench
// collective`.

constexpr int scattering_ranks = 2;

/// Scatters of image rows, and of tiles.
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
                  {"MPI_Scatterv", "flat scatter", "ratio"}};
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

constexpr Experiment experiments[] = {
    {"p3pc", "Figure 2 on this machine", "messages of half an image",
     "measured, so every run differs: two threads of this process on separate cores, square "
     "images of floats on columns x rows of ranks, medians. The models are calibrated in the same "
     "run with other messages: LogGP* with contiguous ones, P-3PC with each layout by size and "
     "block length, or with the four sizes of the paper",
     "four sizes straddle those at which a message leaves the cache; other programs ran, or the "
     "state of the machine changed: in some runs even contiguous "
     "messages take twice as long",
     figures_here},
    {"p3pc", "Figure 4 on this machine", "the flat scatter compared with MPI_Scatterv",
     "the paper plots the times on DAS without numbers; here, processes of one launch are timed, "
     "so every run differs",
     "the MPI library scatters small blocks differently, or other programs ran", figure_4_here}};

} // namespace

constinit const std::span<const Experiment> p3pc_here = experiments;

} // namespace sextant::papers
