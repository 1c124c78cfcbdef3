// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <array>
#include <vector>

#include "scene.hpp"

namespace brain {

/// A perspective view with the third axis of the volume upright. Positions are relative to the
/// first voxel, in units of the smallest voxel spacing.
struct Camera {
    Imath::V3d eye, focus;
    double view_angle = 18.0645; ///< degrees from the top to the bottom of the image
};

/// A camera that looks at the centre of the volume from far enough away to see all of it.
/// Azimuth and elevation of the viewer are in degrees. Azimuth 0 is towards the end of the second
/// axis, 90 towards the end of the first. Throws sextant::InvalidTask unless the elevation is
/// between -90 and 90.
Camera look_at(const Volume& volume, double azimuth, double elevation);

/// The points with first <= point < last on every axis.
struct Box {
    Imath::V3d first, last;
};

/// A volume cut by planes through voxel centres into parts[0] x parts[1] x parts[2] bricks,
/// numbered with the first axis fastest.
class Bricks {
  public:
    /// Throws sextant::InvalidTask unless every brick is at least one voxel long on each axis.
    Bricks(const Volume& volume, const Imath::V3i& parts);

    int count() const { return parts_.x * parts_.y * parts_.z; }
    Box brick(int number) const;
    Box whole() const;

    /// The numbers of the bricks, sorted so that on every ray from `eye` a brick comes before those
    /// behind it. `eye` may be inside or outside the volume.
    ///
    /// Along each axis, the distance of a brick is the number of slabs between it and the slab that
    /// contains the eye (or the outermost slab on the eye's side). A ray moves in one direction
    /// along each axis, so these distances never decrease along the ray, and one of them increases
    /// when the ray enters another brick. The sum of the three distances therefore increases
    /// strictly along every ray, and bricks are sorted by this sum.
    std::vector<int> front_to_back(const Imath::V3d& eye) const;

  private:
    Imath::V3i slabs_of(int number) const;

    Imath::V3i parts_;
    std::array<std::vector<double>, 3> planes_; ///< positions of the parts + 1 planes on each axis
};

/// Casts a ray through every pixel and blends, front to back, the light of the samples in the box.
///
/// The positions of samples along a ray do not depend on the box, and each sample belongs to
/// exactly one brick, so the images of all bricks, composited in order, equal the image of the
/// whole volume up to rounding.
sextant::Image render(const Scene& scene, const Camera& camera, sextant::ImageShape shape,
                      const Box& box);

} // namespace brain
