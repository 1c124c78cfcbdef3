// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/held_out.hpp"

#include "sextant/calibrate/campaign.hpp"
#include "sextant/core/error.hpp"
#include "sextant/machine/interpolate.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

namespace sextant::calibrate {

namespace {

using machine::Layout;
using machine::Path;
using machine::Strategy;

/// By its logarithm, so that small ones are as likely as large.
std::int64_t draw(std::mt19937& random, double least, double most) {
    std::uniform_real_distribution<double> logarithm(std::log(least), std::log(most));
    return std::llround(std::exp(logarithm(random)));
}

Cell draw_tile(std::mt19937& random) {
    constexpr Bytes pixel = 16, most_bytes = Bytes{4} << 20;
    constexpr Bytes widths[] = {640, 800, 1024, 1600, 1920, 2048};
    constexpr Layout layouts[] = {Layout::cn, Layout::nc, Layout::nn};
    const Bytes width = widths[random() % std::size(widths)];
    const Bytes columns = draw(random, 1, static_cast<double>(width) / 2);
    const auto most_high = std::min<Bytes>(1024, most_bytes / (columns * pixel));
    const Bytes height = draw(random, 2, static_cast<double>(most_high));
    Cell cell = strided(Kind::round_trip, layouts[random() % std::size(layouts)],
                        Strategy::datatype, columns * height * pixel, columns * pixel);
    cell.row = width * pixel;
    return cell;
}

} // namespace

Seconds full_path(const Cell& cell, const machine::Profile& profile, machine::Link link) {
    const machine::LinkCosts* costs = profile.find(link);
    const machine::Curve* curve =
        costs ? machine::find(*costs, Path::full, cell.layout, cell.strategy) : nullptr;
    if (!curve) {
        throw InvalidTask(fmt::format("the profile of {} lacks the full path, layout {}, {}, to "
                                      "the {}",
                                      profile.name, name(cell.layout), name(cell.strategy),
                                      name(link)));
    }
    return cell.layout == Layout::cc
               ? machine::at_size(curve->points, cell.bytes).median
               : machine::at_size_and_block(curve->points, cell.bytes, cell.block).median;
}

double HeldOut::error() const {
    return std::abs(predicted - measured) / measured;
}

std::vector<Cell> draw_held_out(unsigned seed, int contiguous, int strided) {
    std::mt19937 random(seed);
    std::vector<Cell> cells;
    for (int i = 0; i < contiguous; ++i)
        cells.push_back(message(Kind::round_trip, draw(random, 1, Bytes{8} << 20)));
    for (int i = 0; i < strided; ++i)
        cells.push_back(draw_tile(random));
    return cells;
}

std::vector<HeldOut> hold_out(Stopwatch& stopwatch, const std::vector<Cell>& cells,
                              const machine::Profile& profile, machine::Link link, int rounds) {
    std::vector<HeldOut> held;
    for (const Cell& cell : cells)
        held.push_back({cell, full_path(cell, profile, link), 0});
    std::vector<Series> series(cells.size());
    Series empty;
    std::vector<std::size_t> order(cells.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::mt19937 random(1);
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) {
            for (const Sample& sample : stopwatch.burst(cells[i]))
                series[i].add(sample);
        }
        for (const Sample& sample : stopwatch.burst(empty_trip()))
            empty.add(sample);
    }
    const Seconds answer = empty.value(0).median / 2;
    for (std::size_t i = 0; i < held.size(); ++i)
        held[i].measured = std::max(1e-12, series[i].value(0).median - answer);
    return held;
}

} // namespace sextant::calibrate
