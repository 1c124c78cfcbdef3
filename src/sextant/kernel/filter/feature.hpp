// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/gaussian.hpp"

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

} // namespace sextant::kernel
