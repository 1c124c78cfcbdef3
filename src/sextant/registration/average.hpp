// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/float_plane.hpp"
#include "sextant/registration/motion.hpp"

#include <cstdint>
#include <vector>

namespace sextant::registration {

/// The mean of registered frames, pixel by pixel over those that cover it.
class Average {
  public:
    explicit Average(ImageShape shape);

    /// Adds a frame T by what registers it to the reference: T∘φ, sampled bilinearly.
    /// Requires  a frame of the average's shape (std::logic_error).
    void add(const kernel::FloatImage& frame, const RigidMotion& motion);
    /// Adds what another one has: of frames on another thread or rank.
    void add(const Average& other);

    ImageShape shape() const { return warped_.shape(); }
    /// How many frames cover a pixel.
    std::int64_t count(Elements x, Elements y) const { return counts_[place(x, y)]; }
    /// The mean; 0 where none covers.
    kernel::FloatPlane mean() const;

  private:
    std::size_t place(Elements x, Elements y) const {
        return static_cast<std::size_t>(y * shape().width + x);
    }

    kernel::FloatPlane warped_;
    std::vector<double> sums_;
    std::vector<std::int32_t> counts_;
};

} // namespace sextant::registration
