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
    std::vector<Derivative> needs; ///< in the order of the arguments of `make`
    /// Computes the feature. Null if the feature is itself a derivative.
    void (*make)(std::span<const float* const> derivatives, float* to, Elements count) = nullptr;
};

/// The name and description of a feature, for printing.
struct NamedFeature {
    std::string_view name, summary;
};
std::span<const NamedFeature> named_features();

/// Finds a feature by name. Names such as "x", "yy" and "xxy" are derivatives: each letter
/// differentiates once along that axis, in any order. The other names are those of
/// named_features(); "smooth" is the smoothed image. Throws InvalidTask with similar names.
Feature find_feature(std::string_view name);

/// Computes several features of an image together. A derivative that several features need is
/// computed only once.
///
/// Input, Output, Requires, Cost and Deterministic as for GaussianDerivatives, with one plane per
/// feature. Derivatives that are not features themselves are kept in internal memory, a few hundred
/// rows at a time.
class FilterBank {
  public:
    /// Requires  distinct names that find_feature() accepts (InvalidTask).
    FilterBank(double sigma, const std::vector<std::string>& features, BorderRule rule = {},
               const GaussianKernel& kernel = {});

    int reach_x() const { return derivatives_.reach_x(); }
    int reach_y() const { return derivatives_.reach_y(); }
    /// The number of multiply-adds per pixel and feature, on average, rounded up. The run time is
    /// proportional to it.
    int multiply_adds() const;

    void apply(const SampleView& input, const Tile& tile, std::span<const Plane> outputs,
               const std::function<void()>& progress = {});

  private:
    std::vector<Plane> planes_of(const Tile& part, Elements y, std::span<const Plane> outputs);
    void make_row(std::size_t feature, std::span<const Plane> planes, Elements row,
                  const Plane& output, Elements width) const;

    std::vector<Feature> features_;
    std::vector<Derivative> needed_;
    std::vector<int> feature_of_; // [derivative]: the feature that equals it, or −1
    std::vector<std::vector<std::size_t>>
        takes_; // [feature]: the derivatives that it is computed from
    GaussianDerivatives derivatives_;
    Memory scratch_;
};

} // namespace sextant::kernel
