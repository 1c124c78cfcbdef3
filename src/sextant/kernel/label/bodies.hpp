// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/labels.hpp"
#include "sextant/kernel/label/plane_seam.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace sextant::kernel {

__extension__ typedef __int128 WideInteger;

/// Measures of a component of a volume, in voxels. All sums of coordinates are exact, so parts may
/// be added in any order.
struct Body : RegionSize {
    /// value_code() of the voxels, if they are connected by value.
    std::uint64_t value = 0;
    std::array<Elements, 6> products{}; ///< sums of zz, yy, xx, zy, zx, yx
    Elements contacts = 0;              ///< pairs of voxels with a common face
    bool at_border = false;             ///< touches the border of the volume
    bool scaled = false;                ///< the sum of intensities is divided by 2⁶⁴
    /// For integers: the remainders minimum − `least` and maximum − `largest`, because `least` and
    /// `largest` are rounded.
    std::int16_t least_rest = 0, largest_rest = 0;
    double intensity = 0, intensity_error = 0; ///< sum of intensities, and its rounding error
    double least = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();

    /// Faces between a voxel of the component and one outside it, or the border of the volume.
    Elements faces() const { return 6 * voxels - 2 * contacts; }
    /// In an image: sides between a pixel of the component and one outside it, or the border.
    Elements perimeter() const { return 4 * voxels - 2 * contacts; }
    /// The second central moments divided by the number of voxels: zz, yy, xx, zy, zx, yx.
    std::array<double, 6> covariance() const;
    double intensity_sum() const { return unscaled(scaled_sum()); }
    double intensity_mean() const { return unscaled(scaled_sum() / static_cast<double>(voxels)); }
    /// True if all intensities are finite, but their sum is not.
    bool sum_is_beyond() const { return std::isfinite(intensity) && std::isinf(intensity_sum()); }
    /// The extremes of intensities; NaN if all of them are NaN.
    double minimum() const { return extreme(least); }
    double maximum() const { return extreme(largest); }
    /// The same for integer intensities of up to 64 bits. These results are exact.
    WideInteger integer_sum() const { return integer(intensity) + integer(intensity_error); }
    WideInteger integer_minimum() const { return integer(least) + least_rest; }
    WideInteger integer_maximum() const { return integer(largest) + largest_rest; }

    /// Adds another part of the same component.
    void add(const Body& other);
    /// Converts a component of an image whose rows were treated as planes: rows become coordinate
    /// y.
    Body of_image() const;
    /// Adds intensities.
    void add_intensity(double more);
    /// Adds integers of up to 64 bits: their sum and extremes.
    void add_integers(WideInteger sum, WideInteger lowest, WideInteger highest);
    /// Adds a number to each intensity. Requires integer intensities.
    void shift_integers(WideInteger number);

  private:
    void add_sum(double more, double error, bool is_scaled);
    void settle_sum();
    void add_extremes(double lowest, std::int16_t lowest_rest, double highest,
                      std::int16_t highest_rest);
    double scaled_sum() const {
        return std::isfinite(intensity) ? intensity + intensity_error : intensity;
    }
    double unscaled(double sum) const { return scaled ? sum * 0x1p64 : sum; }
    double extreme(double number) const {
        return least <= largest ? number : std::numeric_limits<double>::quiet_NaN();
    }
    static WideInteger integer(double number) { return static_cast<WideInteger>(number); }
};

/// The axes of the ellipsoid with a component's second moments: standard deviations along its axes,
/// longest first, and the direction (z, y, x) of each, whose largest coordinate is positive.
struct BodyAxes {
    std::array<double, 3> deviations{};
    std::array<std::array<double, 3>, 3> directions{};
};
BodyAxes axes_of(const Body& body);

/// Throws InvalidTask if sums for a volume of this shape could exceed 64 bits.
void check_measurable(const VolumeShape& shape);

/// The size of a component, and whether it touches the border of the volume.
struct Extent {
    std::uint64_t voxels : 63 = 0, at_border : 1 = 0;

    void add(const Extent& other) {
        voxels += other.voxels;
        at_border |= other.at_border;
    }
};

/// Adds the runs of a row of a volume to the extents of their components: [label − 1].
/// Cost      O(voxels / 64 + runs).
void add_extents(const LabelledRuns& row, Elements z, Elements y, const VolumeShape& volume,
                 std::span<Extent> extents);

/// Called for each measured component. Components are passed in several sequences, each in
/// ascending order of labels. The sequence depends on the number of planes that a component spans,
/// so that short components can be passed as soon as they end.
using TakeBody = std::function<void(Label, const Body&, int sequence)>;
inline constexpr int body_sequences = 4;

/// Measures the components of the planes that a labeller labelled last.
///
/// Input     the labelled planes; the position of the first plane in the volume; intensities of the
///           same planes, or null; wanted[label − 1]: 0 to skip a component.
/// Output    take(label, body, sequence) for each wanted component.
/// Requires  whole planes; intensities as floats or unsigned integers. A NaN makes the sum NaN, and
///           is ignored by the extremes.
/// Cost      O(voxels / 64 + runs), and O(voxels of components) for intensities. Memory for four
///           bytes per component, and for the bodies of components that have begun but not ended.
/// Deterministic  sums of integers are exact; other sums are computed in twice the precision of
///           double, so that the order of parts does not change the result, except for rounding
///           ties.
void measure(const Labeller& labeller, Connection connection, const ValueView& input,
             Elements first_plane, const VolumeShape& volume, const ValueView* intensity,
             std::span<const std::uint8_t> wanted, const TakeBody& take);

} // namespace sextant::kernel
