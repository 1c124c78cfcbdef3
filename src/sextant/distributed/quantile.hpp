// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

/// Quantiles of the values of all ranks, which need not be kept: of each share the value at
/// ⌊share · (n − 1)⌋ of the n values in order, exact. What is not a number is left out; 0 where
/// nothing is left.
///
/// Input     values, 0 or more, in any pieces, the same again in every pass; `end_pass()` after
///           each of `passes`.
/// Requires  shares from 0 to 1.
/// Cost      a count a value and pass; 64 Ki counts, and as many for each share. Messages of 256
///           counts, four for each share.
/// Deterministic  the same however the values are dealt.
class Quantiles {
  public:
    static constexpr int passes = 2;

    explicit Quantiles(std::vector<double> shares);

    void add(std::span<const float> values);
    /// Collective.
    void end_pass(const Communicator& communicator);
    /// After the last pass, that of a share.
    float value(std::size_t share) const;

  private:
    using Counts = std::vector<Elements>;
    struct Sought {
        double share;
        std::uint32_t found = 0; // the leading bits
        Elements place = 0;      // among the values that begin with them
        bool nothing = false;
        Counts counts; // of the trailing bits, of values that begin so
    };

    std::vector<Sought> sought_;
    Counts leading_;
    int pass_ = 0;
};

/// The same of values that are at hand. Collective.
std::vector<float> quantiles(const Communicator& communicator, std::span<const float> values,
                             std::vector<double> shares);

} // namespace sextant
