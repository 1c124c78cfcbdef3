// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace sextant::registration {

/// Seeded random numbers that are the same everywhere (the standard's distributions are not).
/// Sources of one seed and different streams have nothing to do with one another.
class NoiseSource {
  public:
    NoiseSource(std::uint64_t seed, std::uint64_t stream) {
        const auto low = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
        std::seed_seq mixed{low(seed), low(seed >> 32), low(stream), low(stream >> 32)};
        engine_.seed(mixed);
    }

    /// In [0, 1).
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

    /// Of mean 0 and deviation 1 (Box and Muller 1958).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    /// A count of events of which `mean` are expected, by inversion of its distribution; a large
    /// one is the sum of several small, a very large one is drawn from the normal distribution.
    double poisson(double mean) {
        constexpr double most = 64; // exp(−mean) must be far above the smallest double
        constexpr double most_summed = 1e4;
        if (mean > most_summed)
            return std::round(mean + std::sqrt(mean) * normal());
        double events = 0;
        for (; mean > most; mean -= most)
            events += small_poisson(most);
        return events + small_poisson(mean);
    }

  private:
    double small_poisson(double mean) {
        double share = std::exp(-mean), rest = uniform() - share, count = 0;
        while (rest >= 0 && share > 0) {
            ++count;
            share *= mean / count;
            rest -= share;
        }
        return count;
    }

    std::mt19937_64 engine_;
};

} // namespace sextant::registration
