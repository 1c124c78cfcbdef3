// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

namespace sextant::registration {

/// Replaces each sample of the ranks' planes by fold(samples of all ranks, in rank order).
/// Collective.
template <class Fold>
void fold_planes(const Communicator& communicator, std::span<float> plane, const Fold& fold) {
    constexpr std::size_t most = 1 << 14;
    const auto ranks = static_cast<std::size_t>(communicator.size());
    if (ranks == 1)
        return;
    std::vector<float> all(ranks * std::min(most, plane.size())), of_ranks(ranks);
    for (std::size_t first = 0; first < plane.size(); first += most) {
        const std::span<float> own = plane.subspan(first, std::min(most, plane.size() - first));
        const std::span<float> parts(all.data(), ranks * own.size());
        communicator.all_gather(std::as_bytes(std::span<const float>(own)),
                                std::as_writable_bytes(parts));
        for (std::size_t i = 0; i < own.size(); ++i) {
            for (std::size_t rank = 0; rank < ranks; ++rank)
                of_ranks[rank] = parts[rank * own.size() + i];
            own[i] = fold(std::span<const float>(of_ranks));
        }
    }
}

/// Sums the planes of all ranks in rank order. Collective.
inline void add_planes(const Communicator& communicator, std::span<float> plane) {
    fold_planes(communicator, plane, [](std::span<const float> of_ranks) {
        double sum = 0;
        for (const float one : of_ranks)
            sum += static_cast<double>(one);
        return static_cast<float>(sum);
    });
}

/// Subtracts values that are given at the centres of square cells, interpolated between the
/// centres, from some rows of a frame.
///
/// Input     one value per cell; the number of cells along each axis; the side of a cell in pixels.
inline void subtract_between_cells(std::span<const float> values, ImageShape cells, Elements side,
                                   Rows rows, std::span<float> samples) {
    const auto between = [side](Elements pixel, Elements count) {
        const double place = (static_cast<double>(pixel) + .5) / static_cast<double>(side) - .5;
        const double inside = std::clamp(place, 0., static_cast<double>(count - 1));
        const auto first = static_cast<Elements>(inside);
        return std::tuple(first, std::min(first + 1, count - 1),
                          static_cast<float>(inside - static_cast<double>(first)));
    };
    const Elements width = std::ssize(samples) / rows.count();
    for (Elements y = rows.first; y < rows.last; ++y) {
        const auto [above, below, down] = between(y, cells.height);
        const float* const upper = values.data() + above * cells.width;
        const float* const lower = values.data() + below * cells.width;
        float* const row = samples.data() + (y - rows.first) * width;
        for (Elements x = 0; x < width; ++x) {
            const auto [left, right, along] = between(x, cells.width);
            const float top = upper[left] + along * (upper[right] - upper[left]);
            const float bottom = lower[left] + along * (lower[right] - lower[left]);
            row[x] -= top + down * (bottom - top);
        }
    }
}

} // namespace sextant::registration
