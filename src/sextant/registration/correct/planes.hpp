// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
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

} // namespace sextant::registration
