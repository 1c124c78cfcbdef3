// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/element.hpp"

#include <optional>

#include "volume.hpp"

namespace brain {

/// The viewing direction of a sample, and the direction towards the light; unit vectors.
struct View {
    Imath::V3d direction, light;
};

/// A translucent head and, if given, the brain in it. A brick can be rendered alone if the voxels
/// around it are available: one layer for gradients, and the blur radius for `crowd_`.
class Scene {
  public:
    /// `brain`: a volume of the same size that contains only the brain (else
    /// sextant::InvalidTask); without it, soft tissue is rendered as haze.
    explicit Scene(const Volume& head, const std::optional<Volume>& brain = {});

    const Volume& head() const { return head_; }
    /// The transfer function: the premultiplied light that a step of `length` along the ray adds.
    /// `position` is in voxels, `length` in units of the smallest voxel spacing.
    sextant::RgbaF32 emit(const Imath::V3d& position, const View& view, double length) const;

  private:
    Volume head_;
    std::optional<Volume> brain_;
    Volume crowd_; ///< density of brain nearby: larger in a furrow than on a ridge
};

} // namespace brain
