// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/gaussian.hpp"
#include "sextant/kernel/filter/volume_derivatives.hpp"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::kernel {

/// An image or volume computed from Gaussian derivatives, pixel by pixel.
struct Feature {
    std::string name;
    std::vector<Derivative> needs; ///< in the order of the arguments of `make`
    /// Computes up to three related features; this feature is to[part]. Features with a null
    /// pointer are not stored. `make` is null if the feature is itself a derivative.
    void (*make)(std::span<const float* const> derivatives, float* const* to,
                 Elements count) = nullptr;
    std::size_t part = 0;
    /// For an eigenvalue of the structure tensor (number `part`), the integration scale along x;
    /// such a feature has no `needs`. 0 for other features.
    double integration = 0;
};

enum class Dimensions { two = 2, three = 3 };

/// Finds a feature by name. Names such as "x", "yy" and "xxy", of a volume also "z" and "yz", are
/// derivatives: each letter differentiates once along that axis, in any order. The other names are
/// "smooth", "gradient-magnitude", "laplacian", and the eigenvalues of the Hessian and of the
/// structure tensor in descending order: "hessian-1", "structure-1@3" with the integration scale.
/// Throws InvalidTask with similar names.
Feature find_feature(std::string_view name, Dimensions dimensions = Dimensions::two);

/// Returns scales with `scale` along x and the same ratios between axes as `sigma`.
Scales in_proportion(const Scales& sigma, double scale);
/// Returns a text that names the first axis whose scale is outside the range from `least` to 1000
/// pixels; empty if there is none.
std::string wrong_scale(const Scales& scales, Dimensions dimensions, double least = 0);

/// Computes several features of an image or a volume together. A derivative that several features
/// need is computed only once.
///
/// Input, Output, Requires, Cost and Deterministic as for GaussianDerivatives or VolumeDerivatives,
/// with one plane per feature, or for a volume one per feature and plane of the box: all planes of
/// the first feature, then all planes of the second. Derivatives that are not features themselves
/// are kept in internal memory, a few hundred rows at a time.
class FilterBank {
  public:
    /// Input     `pixel`: the size of a pixel in the length unit of the derivatives; 1: derivatives
    ///           are per pixel.
    /// Requires  distinct names that find_feature() accepts; integration scales that are 0.5 to
    ///           1000 pixels along each axis; derivatives whose unit differs from that per pixel by
    ///           a factor of at most 10³⁰ (InvalidTask).
    FilterBank(const Scales& sigma, const std::vector<std::string>& features, BorderRule rule = {},
               const GaussianKernel& kernel = {}, Dimensions dimensions = Dimensions::two,
               const Scales& pixel = 1);

    int reach_x() const { return reach_[0]; }
    int reach_y() const { return reach_[1]; }
    int reach_z() const { return reach_[2]; }
    /// The number of multiply-adds per pixel and feature, on average, rounded up. The run time is
    /// proportional to it.
    int multiply_adds() const;
    /// The bytes of internal memory for a box of a volume, or for structure tensors of an image; 0
    /// for other features of an image, which need less.
    Bytes memory(const Tile& box, ImageShape image, Elements depth) const;

    void apply(const SampleView& input, const Tile& tile, std::span<const Plane> outputs,
               const std::function<void()>& progress = {});

  private:
    /// The output of each feature for a part of a tile.
    using Outputs = std::vector<Plane>;

    void apply_image(const SampleView& input, const Tile& tile, std::span<const Plane> outputs,
                     const std::function<void()>& progress);
    void apply_blocks(const SampleView& input, const Tile& box, std::span<const Plane> outputs,
                      const std::function<void()>& progress);
    void add_structure(const Scales& sigma, BorderRule rule, const GaussianKernel& kernel,
                       Dimensions dimensions, const Scales& pixel);
    void set_reach();
    Tile reads(const Tile& box, const SampleView& input) const;
    ImageShape block_of(const Tile& box) const;
    Elements kept() const;
    void grow_scratch(Elements elements);
    std::vector<Plane> planes_of(const Tile& part, const Outputs& outputs);
    void make_rows(std::span<const Plane> planes, const Outputs& outputs, const Tile& part) const;
    void make_row(std::size_t feature, std::span<const Plane> planes, Elements row,
                  const Outputs& outputs, Elements width) const;

    std::vector<Feature> features_;
    std::vector<Derivative> needed_;
    std::vector<int> feature_of_; // [derivative]: the feature that equals it, or −1
    std::vector<std::vector<std::size_t>>
        takes_;               // [feature]: the derivatives that it is computed from
    std::vector<bool> leads_; // [feature]: computes itself and the later features of its `make`
    std::array<int, 3> reach_{};
    // Of images or of volumes, if a feature needs a derivative.
    std::optional<GaussianDerivatives> image_;
    std::optional<VolumeDerivatives> volume_;
    struct Structure {
        double integration = 0;
        StructureTensor tensor;
    };
    std::vector<Structure> structures_; // one per integration scale
    Memory scratch_;
};

} // namespace sextant::kernel
