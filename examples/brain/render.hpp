// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <array>
#include <vector>

#include "scene.hpp"

namespace brain {

/// A perspective view with the third axis of the volume upright. Lengths are in units of the
/// spacing, from the first voxel.
struct Camera {
    Imath::V3d eye, focus;
    double view_angle = 18.0645; ///< degrees from the top to the bottom of the image
};

/// Looks at the centre of the volume from far enough to see all of it. `turn`: degrees around the
/// upright axis (0 faces the end of the second axis, 90 that of the first). `raise`: degrees above
/// it, less than 90 up or down (else sextant::InvalidTask).
Camera look_at(const Volume& volume, double turn, double raise);

/// The points with first <= point < last on every axis.
struct Box {
    Imath::V3d first, last;
};

/// A volume cut by planes through voxels into parts[0] x parts[1] x parts[2] bricks, numbered with
/// the first axis running fastest.
class Bricks {
  public:
    /// Throws sextant::InvalidTask unless every brick is at least one voxel long on each axis.
    Bricks(const Volume& volume, const Imath::V3i& parts);

    int count() const { return parts_.x * parts_.y * parts_.z; }
    Box brick(int number) const;
    Box whole() const;

    /// The bricks sorted so that on every ray from `eye`, inside or outside the volume, a brick
    /// comes before those behind it.
    ///
    /// Along each axis, count the slabs between a brick and the slab that the eye is in (or the
    /// outermost slab on its side). A ray moves in one direction along each axis, so these counts
    /// never fall along it, and moving to another brick raises a count. So their sum over the axes
    /// rises strictly along every ray, and bricks are sorted by it.
    std::vector<int> front_to_back(const Imath::V3d& eye) const;

  private:
    Imath::V3i slabs_of(int number) const;

    Imath::V3i parts_;
    std::array<std::vector<double>, 3> planes_; ///< parts + 1 on each axis
};

/// Casts a ray through every pixel and sums, front to back, the light of the samples in the box.
///
/// Samples lie on one lattice along each ray, whatever the box, and each belongs to exactly one
/// brick: the bricks, composited in order, give the image of the whole up to rounding.
sextant::Image render(const Scene& scene, const Camera& camera, sextant::ImageShape shape,
                      const Box& box);

} // namespace brain
