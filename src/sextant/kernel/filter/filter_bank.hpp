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

/// An image computed from Gaussian derivatives, pixel by pixel.
struct Feature {
    std::string name;
    std::vector<Derivative> needs; ///< in the order in which `make` takes them
    /// Null if the feature is the single derivative it needs.
    void (*make)(std::span<const float* const> derivatives, float* to, Elements count) = nullptr;
};

/// The name and description of a feature, for lists.
struct NamedFeature {
    std::string_view name, summary;
};
std::span<const NamedFeature> named_features();

/// Finds a feature by name. "x", "yy", "xxy" are derivatives, once along an axis for each letter,
/// in any order; "smooth" is the smoothed image; the others are those of `named_features`. Throws
/// InvalidTask with similar names.
Feature find_feature(std::string_view name);

/// Computes several features of an image together, and each derivative they need only once.
///
/// Input, Output, Requires, Cost and Deterministic as GaussianDerivatives, with one plane per
/// feature. Derivatives that are not features themselves are kept in internal memory, some hundred
/// rows at a time.
class FilterBank {
  public:
    /// Names as for find_feature, each once (InvalidTask).
    FilterBank(double sigma, const std::vector<std::string>& features, BorderRule rule = {},
               const GaussianKernel& kernel = {});

    int reach_x() const { return derivatives_.reach_x(); }
    int reach_y() const { return derivatives_.reach_y(); }
    /// For one pixel of one feature, on average, rounded up; proportional to the run time.
    int multiply_adds() const;

    void apply(const SampleView& input, const Tile& tile, std::span<const Plane> outputs,
               const std::function<void()>& progress = {});

  private:
    std::vector<Plane> planes_of(const Tile& part, Elements y, std::span<const Plane> outputs);
    void make_row(std::size_t feature, std::span<const Plane> planes, Elements row,
                  const Plane& output, Elements width) const;

    std::vector<Feature> features_;
    std::vector<Derivative> needed_;
    std::vector<int> feature_of_; // by derivative: the feature that it is, or −1
    std::vector<std::vector<std::size_t>>
        takes_; // by feature: the derivatives it is made from, if any
    GaussianDerivatives derivatives_;
    Memory scratch_;
};

} // namespace sextant::kernel
