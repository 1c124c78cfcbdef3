// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <optional>

#include "volume.hpp"

namespace brain {

/// Along what a sample is seen, and from where it is lit; unit vectors, `light` towards the lamp.
struct View {
    Imath::V3d direction, light;
};

/// What is drawn: a head of glass and, where it is known, the brain in it. Every brick of it needs
/// one layer of voxels more than its own on each side, and `crowd` as many as it was blurred over.
class Scene {
  public:
    /// `brain` is the head without all that is not brain, on the same lattice
    /// (sextant::InvalidTask); without it, soft tissue is a haze.
    explicit Scene(const Volume& head, const std::optional<Volume>& brain = {});

    const Volume& head() const { return head_; }
    /// The transfer function: the premultiplied light that one step of `length` along the ray adds.
    /// `position` is in voxels, `length` in units of the spacing.
    sextant::RgbaF32 emit(const Imath::V3d& position, const View& view, double length) const;

  private:
    Volume head_;
    std::optional<Volume> brain_;
    Volume crowd_; ///< how much brain is near: more in a furrow than on a ridge
};

} // namespace brain
