// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/gaussian.hpp"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sextant::kernel {

/// Computes several Gaussian derivatives of a volume together, plane by plane, with the weights of
/// gaussian_weights.hpp. The planes around a plane are filtered once for each order along z; the
/// results are filtered along x and y as images (GaussianDerivatives). An image is a volume of one
/// plane.
///
/// A volume is filtered in blocks of columns and rows, whose planes fit in a cache; each block
/// traverses all planes. Values outside the volume are the same as if the volume were padded on all
/// sides.
///
/// Output    the derivatives, in the samples' unit per pixel to the power of the total order.
///           Overflow and NaN as for GaussianDerivatives.
/// Requires  sigma, orders and kernel as accepted by gaussian_weights(); at least one derivative,
///           none twice (InvalidTask).
/// Cost      per voxel: for each order along z, reach + 1 additions and multiply-adds; then as
///           GaussianDerivatives. An object holds `memory()` bytes; use one object per thread.
/// Deterministic  the same bits for any blocks, on every processor, regardless of the other
///                derivatives.
class VolumeDerivatives {
  public:
    /// `sigma`: of an image, z is negative. `pixel`: the size of a voxel in the length unit of the
    /// derivatives; 1: derivatives are per voxel.
    VolumeDerivatives(const Scales& sigma, std::span<const Derivative> derivatives,
                      BorderRule rule = {}, const GaussianKernel& kernel = {},
                      const Scales& pixel = 1);

    int reach_x() const { return reach_x_; }
    int reach_y() const { return reach_y_; }
    int reach_z() const { return reach_z_; }
    /// The number of multiply-adds per voxel for all derivatives together.
    int multiply_adds() const;
    /// The box of samples needed for the derivatives of a non-empty box.
    Tile reads(const Tile& box, ImageShape image, Elements depth) const;

    /// The largest width and height of the blocks of a box.
    ImageShape block_shape() const;
    /// The bytes that an object holds for a block of a volume.
    Bytes memory(ImageShape block, ImageShape image, Elements depth) const;

    /// Provides the samples of a rectangle of plane z as floats, row by row, rows `stride` apart.
    using Load = std::function<void(Elements z, const Tile& rectangle, float* to, Elements stride)>;
    /// Begins a block, whose planes plane() then filters.
    /// Input     `block`: columns and rows of the block; its planes are ignored.
    /// Requires  a border other than wrap, except for one plane (InvalidTask).
    void begin(const Tile& block, ImageShape image, Elements depth);
    /// Filters plane z of the block into one plane per derivative, in order. Each call must have a
    /// larger z than the one before, unless a block begins.
    void plane(Elements z, const Load& load, std::span<const Plane> outputs);

    // The steps of plane(), for callers that compute the samples of several volumes together.

    /// The rectangle of samples needed for the block.
    const Tile& region() const { return region_; }
    /// The planes [first, last) that filtering plane z needs and that no earlier call loaded.
    struct Planes {
        Elements first = 0, last = 0;
    };
    Planes missing(Elements z) const;
    /// Room for the region's samples of the next missing plane.
    using Room = Plane;
    Room room(Elements z);
    /// Filters plane z. Requires that missing(z) is empty.
    void filter(Elements z, std::span<const Plane> outputs);

  private:
    /// An order along z, and the derivatives that have it.
    struct AlongZ {
        int order = 0;
        ScaledHalf half;
        std::optional<GaussianDerivatives> in_plane;
        std::vector<std::size_t> derivatives; ///< indices, in the order of `in_plane`
        float* filtered = nullptr;            ///< the plane, filtered along z
    };

    AlongZ* with_order(int order);
    float* slot(Elements z) { return ring_ + z % slots_ * plane_size(); }
    Elements plane_size() const { return stride_ * region_.height; }
    void filter_along_z(Elements z);

    BorderRule rule_;
    int reach_x_ = 0, reach_y_ = 0, reach_z_ = 0;
    std::vector<AlongZ> orders_;
    std::vector<OrderPair> pairs_;
    std::vector<Derivative> derivatives_;

    Tile block_, region_; ///< the block, and the rectangle of samples needed for it
    ImageShape image_;
    Elements depth_ = 0;
    Elements stride_ = 0, slots_ = 0;
    Elements next_ = 0; ///< the first plane that was not loaded
    Memory memory_;
    float* ring_ = nullptr;           ///< planes of samples around the current one
    const float* constant_ = nullptr; ///< a line of values outside the volume
    std::vector<const float*> lines_;
    std::vector<Plane> outputs_;
};

/// Computes the eigenvalues of the structure tensor of a volume, plane by plane, or of an image:
/// the products of the components of the gradient are smoothed at an integration scale.
///
/// Output    the eigenvalues, in descending order, in the square of the samples' unit per pixel.
///           Products outside the volume follow the border rule; for Border::constant they are 0.
/// Requires, Cost and Deterministic as for VolumeDerivatives, which filters the volume once for the
/// gradient and each of the six (of an image, three) products once.
/// Source    Bigün and Granlund, ICCV 1987; as skimage.feature.structure_tensor_eigenvalues
class StructureTensor {
  public:
    /// `sigma`, `integration`: of an image, z is negative. `pixel`: the size of a voxel in the
    /// length unit of the gradient.
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
    void add_products(Elements z, const VolumeDerivatives::Load& load);

    VolumeDerivatives gradient_;
    std::vector<VolumeDerivatives> products_; ///< smoothed: xx, xy, xz, yy, yz, zz; or xx, xy, yy
    Tile block_;
    Memory memory_;
    std::vector<Plane> slopes_; ///< the gradient of a plane
    std::vector<Plane> tensor_; ///< the smoothed products of a plane
};

} // namespace sextant::kernel
