// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/interlacing.hpp"

#include <algorithm>
#include <numeric>

namespace sextant::planner {

namespace {

/// A difference that predictions of traffic cannot be trusted for (docs/measurements.md).
constexpr double most_worth_interlacing = .9;

/// Shorter pieces would be many calls of little each.
constexpr Elements least_block = 256;

/// The part of the picture that lies in part i of p and was drawn in.
double drawn_in(const DrawnBands& bands, int i, int p) {
    const double from = static_cast<double>(i) * drawn_bands / p,
                 to = static_cast<double>(i + 1) * drawn_bands / p;
    double sum = 0;
    for (int band = static_cast<int>(from); band < drawn_bands && band < to; ++band) {
        const double within = std::min<double>(to, band + 1) - std::max<double>(from, band);
        sum += bands[static_cast<std::size_t>(band)] * std::max(0.0, within);
    }
    return sum / drawn_bands;
}

double mean(const DrawnBands& bands) {
    return std::accumulate(bands.begin(), bands.end(), 0.0) / drawn_bands;
}

/// What was drawn in a part, or where all parts hold as much.
double share(const DrawnBands& bands, int i, int p, bool interlaced) {
    return interlaced ? mean(bands) / p : drawn_in(bands, i, p);
}

} // namespace

double busiest_traffic(const compositing::Task& task, std::span<const DrawnBands> drawn,
                       bool interlaced) {
    DrawnBands all{}, nowhere{}; // of all layers; what none of them covers
    nowhere.fill(1);
    const int p = task.positions();
    for (int i = 0; i < p; ++i) {
        for (std::size_t b = 0; b < all.size(); ++b) {
            const double here = drawn[static_cast<std::size_t>(i)][b];
            for (int layer = 0; layer < task.layers_at(i); ++layer) {
                all[b] += here;
                nowhere[b] *= 1 - here;
            }
        }
    }
    DrawnBands picture{};
    std::transform(nowhere.begin(), nowhere.end(), picture.begin(),
                   [](double none) { return 1 - none; });
    double busiest = 0, collected = 0, root = 0;
    for (int i = 0; i < p; ++i) {
        const DrawnBands& own = drawn[static_cast<std::size_t>(i)];
        const double layers = task.layers_at(i), kept = layers * share(own, i, p, interlaced);
        const double exchanged = layers * mean(own) - kept + share(all, i, p, interlaced) - kept;
        const double piece = share(picture, i, p, interlaced);
        if (task.order[static_cast<std::size_t>(i)] == task.root) {
            root = exchanged;
            continue;
        }
        const double given = task.root == compositing::Task::distributed ? 0 : piece;
        collected += given;
        busiest = std::max(busiest, exchanged + given);
    }
    return std::max(busiest, root + collected);
}

bool interlacing_pays(const compositing::Task& task, std::span<const DrawnBands> drawn) {
    if (task.positions() < 2 || task.root == compositing::Task::distributed)
        return false;
    return busiest_traffic(task, drawn, true) <
           most_worth_interlacing * busiest_traffic(task, drawn, false);
}

Elements interlaced_block(Elements row) {
    return row > 0 ? (least_block + row - 1) / row * row : least_block;
}

} // namespace sextant::planner
