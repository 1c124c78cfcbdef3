// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <Imath/ImathVec.h>

namespace brain {

/// A density on a lattice of voxels, interpolated between them. Positions are in voxels: the centre
/// of voxel (i, j, k) has these coordinates.
struct Volume {
    Imath::V3i size;
    Imath::V3d spacing{1, 1, 1}; ///< distance of neighbouring voxels, relative to the smallest
    std::vector<float> values;   ///< scaled to 0 (minimum) ... 1 (maximum); first axis fastest

    /// Trilinear interpolation; a position outside is replaced by the nearest one inside.
    float at(const Imath::V3d& position) const;
    /// Central differences over two voxels (one-sided at the border), per unit of `spacing`.
    Imath::V3d gradient(const Imath::V3d& position) const;
};

/// Reads a volume in a format that Sextant reads, such as NIfTI (.nii, .nii.gz).
///
/// Output    the volume, along the axes of the file: its orientation is ignored. Voxels that are
/// not
///           finite are 0.
/// Throws    sextant::InvalidFile if the file is missing, damaged or truncated, does not have three
///           dimensions of at least two voxels, or has the same value in all voxels.
Volume read_volume(const std::string& path);

/// The mean over the box of (2 radius + 1)^3 voxels around each voxel.
Volume blurred(Volume volume, int radius);

} // namespace brain
