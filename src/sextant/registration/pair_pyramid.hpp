// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/informative_tiles.hpp"
#include "sextant/registration/pyramid.hpp"

#include <vector>

namespace sextant::registration {

/// The two frames of a pair on one level of their pyramids, and the reference's slopes.
struct PairLevel {
    kernel::FloatImage reference, templ, slope_x, slope_y;
    double unit = 1; ///< how many pixels of the frames one of this level is wide
};

/// Two frames made ready for registration by residuals. It is made once and filled for one pair
/// after another; filling allocates nothing.
class PairPyramid {
  public:
    /// As many levels as asked for, or fewer, so that the last is at least 16 pixels wide and high.
    /// Requires  as Pyramid.
    /// A team stays.
    PairPyramid(ImageShape shape, double prefilter, int levels, Team* team = nullptr);

    /// Requires  as Pyramid::fill; what it throws says which frame it is about.
    void fill(const kernel::SampleView& reference, const kernel::SampleView& templ);

    int levels() const { return reference_.levels(); }
    PairLevel level(int number) const;                                   ///< 0 is the finest
    const InformativeTiles& informative() const { return informative_; } ///< of the reference

  private:
    struct Slopes {
        kernel::FloatPlane x, y;
    };

    Team* team_;
    Pyramid reference_, templ_;
    std::vector<Slopes> slopes_;
    InformativeTiles informative_;
};

} // namespace sextant::registration
