// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/volume_derivatives.hpp"

#include <array>
#include <span>
#include <vector>

namespace sextant::kernel {

/// Computes the eigenvalues of the structure tensor of a volume, plane by plane: the products of
/// the components of the gradient are smoothed at an integration scale.
///
/// Output    the eigenvalues, in descending order, in the square of the samples' unit per pixel.
///           Products outside the volume follow the border rule; for Border::constant they are 0.
/// Requires, Cost and Deterministic as for VolumeDerivatives, which filters the volume once for the
/// gradient and each of the six products once.
/// Source    Bigün and Granlund, ICCV 1987; as skimage.feature.structure_tensor_eigenvalues
class StructureTensor {
  public:
    /// `pixel`: the size of a voxel in the unit of the gradient.
    StructureTensor(const Scales& sigma, const Scales& integration, BorderRule rule = {},
                    const GaussianKernel& kernel = {}, const Scales& pixel = 1);

    int reach_x() const { return gradient_.reach_x() + products_[0].reach_x(); }
    int reach_y() const { return gradient_.reach_y() + products_[0].reach_y(); }
    int reach_z() const { return gradient_.reach_z() + products_[0].reach_z(); }
    int multiply_adds() const;
    Tile reads(const Tile& box, ImageShape image, Elements depth) const;
    ImageShape block_shape() const { return products_[0].block_shape(); }
    Bytes memory(ImageShape block, ImageShape image, Elements depth) const;

    /// Begins a block, whose planes plane() then computes, as in VolumeDerivatives.
    void begin(const Tile& block, ImageShape image, Elements depth);
    /// Computes plane z of the block. Outputs without memory (null) are not stored.
    void plane(Elements z, const VolumeDerivatives::Load& load,
               const std::array<Plane, 3>& outputs);

  private:
    static constexpr std::size_t components = 3, products = 6;

    void add_products(Elements z, const VolumeDerivatives::Load& load);

    VolumeDerivatives gradient_;
    std::vector<VolumeDerivatives> products_; ///< smoothed: xx, xy, xz, yy, yz, zz
    Tile block_;
    Memory memory_;
    std::array<Plane, components> slopes_{}; ///< the gradient of a plane
    std::array<Plane, products> tensor_{};   ///< the smoothed products of a plane
};

} // namespace sextant::kernel
