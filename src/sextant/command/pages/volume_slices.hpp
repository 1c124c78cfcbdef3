// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"
#include "sextant/kernel/label/bodies.hpp"
#include "sextant/report/picture_sections.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::command {

/// The positions of the pixels of three slices through a voxel. Slices contain every step-th voxel
/// along each axis, starting with voxel 0. Axes are (z, y, x).
struct SliceGrid {
    /// `most`: the maximum number of pixels per side.
    SliceGrid(const kernel::VolumeShape& shape, const std::array<Elements, 3>& through,
              Elements most = 700);

    std::array<Elements, 3> sides, through, step, count; ///< `count`: pixels along each axis

    /// Returns true if the slices have pixels in this plane.
    bool wants(Elements z) const { return z == through[0] || z % step[0] == 0; }
};

/// The samples of three slices of a volume, collected while its planes are processed in any order.
template <class Sample>
class VolumeSlices {
  public:
    explicit VolumeSlices(const SliceGrid& grid);

    const SliceGrid& grid() const { return grid_; }
    /// Adds whole rows of a plane, starting with row `first`.
    void add(Elements z, Elements first, std::span<const Sample> rows);
    /// Gathers the samples of all ranks on rank 0. A row must be added by only one rank.
    /// Collective.
    void gather(const Communicator& communicator);

    std::span<const Sample> all() const { return samples_; }
    /// Returns the slice with rows y and columns x.
    std::span<const Sample> xy() const { return all().first(size(1, 2)); }
    /// Returns the slice with rows z and columns x.
    std::span<const Sample> xz() const { return all().subspan(size(1, 2), size(0, 2)); }
    /// Returns the slice with rows y and columns z.
    std::span<const Sample> zy() const { return all().last(size(1, 0)); }

  private:
    std::size_t size(std::size_t rows, std::size_t columns) const {
        return static_cast<std::size_t>(grid_.count[rows] * grid_.count[columns]);
    }

    SliceGrid grid_;
    std::vector<Sample> samples_; // xy, xz, zy
};

/// Reads slices of a series of planes. Every rank reads some of the planes; rank 0 returns all of
/// them. Throws AgreedFailure. Collective.
VolumeSlices<float> slices_of(const Communicator& communicator, FrameSource& volume,
                              const SliceGrid& grid);

/// Three slices as PNG files.
struct SlicePngs {
    std::vector<std::byte> xy, xz, zy;
};
/// Returns grey images, with the few darkest and brightest pixels clipped; NaN is black.
SlicePngs grey_pngs(const VolumeSlices<float>& slices);
/// Returns images of labels in their colours, on black.
SlicePngs label_pngs(const VolumeSlices<std::uint64_t>& slices);

/// Returns the sizes and positions of slices of a volume, for a page, without title, volumes and
/// caption.
report::SlicedVolume sliced_volume(const SliceGrid& grid, const FrameHeader& header);
/// Returns a sentence, preceded by a space, that states which voxels are shown; "" if all voxels
/// are shown.
std::string steps_shown(const SliceGrid& grid);

/// The size of a voxel in a drawing, along z, y and x, and its unit.
struct VoxelSize {
    std::array<double, 3> sides{1, 1, 1};
    std::string unit = "voxels";
    std::string words = "unknown: drawn as cubes";
};

/// Returns the voxel size that a file states. If the distance between planes is unknown, planes are
/// drawn as thick as a voxel is wide.
VoxelSize voxel_of(const FrameHeader& header);

/// Returns the size of a pixel, or of a voxel of a volume, in the unit of the option sigma.
/// Requires  a unit of length, and a file that states the size (InvalidTask, naming the option and
///           the file).
kernel::Scales pixel_size_in(const std::string& unit, const FrameHeader& header,
                             kernel::Dimensions dimensions, const std::string& file);

} // namespace sextant::command
