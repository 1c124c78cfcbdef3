// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/feature.hpp"
#include "sextant/kernel/filter/gaussian.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sextant::kernel {

/// Several features of one image in one go: the derivatives that any of them needs, once each.
///
/// Input, Output, Requires, Cost and what is Deterministic: as GaussianDerivatives, with a plane
/// for each feature. Derivatives that are no feature themselves lie in memory of its own, some
/// hundred rows at a time.
class FilterBank {
  public:
    /// Names as find_feature takes them; none twice (InvalidTask).
    FilterBank(double sigma, const std::vector<std::string>& features, BorderRule rule = {},
               const GaussianKernel& kernel = {});

    int reach_x() const { return derivatives_.reach_x(); }
    int reach_y() const { return derivatives_.reach_y(); }
    /// For one pixel of one feature, on average and rounded up: what a run takes goes with it.
    int multiply_adds() const;

    void apply(const SampleView& input, const Tile& tile, std::span<const Plane> outputs,
               const std::function<void()>& progress = {});

  private:
    std::vector<Plane> planes_of(const Tile& part, Elements y, std::span<const Plane> outputs);
    void make_row(std::size_t feature, std::span<const Plane> planes, Elements row,
                  const Plane& output, Elements width) const;

    std::vector<Feature> features_;
    std::vector<Derivative> needed_;
    std::vector<int> feature_of_;                 // by derivative: the feature that it is, or −1
    std::vector<std::vector<std::size_t>> takes_; // by feature: derivatives, where it is made
    GaussianDerivatives derivatives_;
    Memory scratch_;
};

} // namespace sextant::kernel
