// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/gaussian.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::kernel {

/// An image that is made of Gaussian derivatives, pixel by pixel.
struct Feature {
    std::string name;
    std::vector<Derivative> needs; ///< in the order in which `make` takes them
    /// Null: it is the one derivative that it needs.
    void (*make)(std::span<const float* const> derivatives, float* to, Elements count) = nullptr;
};

/// A named one, for lists.
struct NamedFeature {
    std::string_view name, summary;
};
std::span<const NamedFeature> named_features();

/// By name: "x", "yy", "xxy" are derivatives, once along the axis for each letter, in any order;
/// "smooth" is the image itself, and the others are those of `named_features`. Throws InvalidTask
/// with near names.
Feature find_feature(std::string_view name);

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
