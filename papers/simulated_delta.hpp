// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/simulate/platform.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant::papers {

/// The Intel Delta as a platform, and assumptions about the programs of the C³ paper.
struct Delta {
    simulate::Platform platform;
    /// Time to copy a block of a message that combines several, in addition to the time per byte.
    Seconds per_block = 0;
    /// Number of rounds that a processor may have in progress; a round is one message.
    int window = 1;
    /// If true, each superstep of a butterfly all-to-all copies all data once more, to combine the
    /// received messages with those that remained.
    bool recombines = false;
};

/// The Delta with wormhole routing: the platform delta-16x16-wormholes, and values fitted to
/// Figures 8 and 11.
Delta fitted_delta();
/// The Delta with shared links: the platform delta-16x16, and programs without copies.
Delta sharing_delta();

/// The order in which a processor sends the messages of a one-level all-to-all.
enum class SendOrder : std::uint8_t {
    of_algorithm,
    by_number,    ///< to processor 0 first, then to 1, 2, ...
    columns_first ///< exclusive-or permutations: within the column, then for each other column
};

/// Changes to an algorithm of the catalogue.
struct Variation {
    std::optional<double> parameter = {}; ///< value of the algorithm's parameter, gamma or alpha
    SendOrder order = SendOrder::of_algorithm;
};

/// The simulated time in milliseconds of a collective of the catalogue on 16 x 16 processors. Every
/// processor, or rank 0, sends a block of `bytes` to every other.
double milliseconds(const Delta& delta, std::string_view algorithm, Bytes bytes,
                    const Variation& variation = {});

/// The time on the fitted Delta. Each time is simulated once and cached.
double fitted_milliseconds(std::string_view algorithm, Bytes bytes);

} // namespace sextant::papers
