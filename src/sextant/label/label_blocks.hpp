// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/label/blocks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

/// A labelled volume (or an image: one plane), at its position in the stitched volume.
struct LabelBlock {
    std::string name;                   ///< for messages, such as the name of its file
    std::array<Elements, 3> position{}; ///< of its first voxel: z, y, x
    std::function<std::unique_ptr<FrameSource>()> open;
};

namespace label {

/// The blocks of a stitched volume, which may overlap. A given volume may be cut into several
/// blocks, whose labels are then unrelated to each other. Blocks are numbered in the order of their
/// positions (z, y, x).
class LabelBlocks {
  public:
    /// Opens every volume once.
    ///
    /// Input     `cut`: depth, height and width of the blocks into which each volume is cut; 0: no
    ///           cuts along this axis. `size`: depth, height and width of the stitched volume, or
    ///           empty: as far as the blocks extend. `allow_gaps`: some voxels may be in no block.
    /// Throws    InvalidFile or InvalidTask, naming the block, if volumes are not grey integers,
    ///           extend beyond the stitched volume, leave gaps in it, or have the same position.
    LabelBlocks(std::vector<LabelBlock> volumes, std::span<const Elements> cut,
                std::span<const Elements> size, bool allow_gaps);

    const kernel::VolumeShape& shape() const { return shape_; }
    const kernel::BlockCover& cover() const { return cover_; }
    /// The position and name of a block, for messages.
    std::string name(int block) const;
    /// The header of the volume that contains the first block.
    const FrameHeader& header() const { return volumes_[volume_of_.front()].header; }
    /// The remarks on all volumes, each once.
    std::vector<std::string> remarks() const;

    /// Reads the parts of all blocks within `rows`, which are whole rows of the volume, and calls
    /// take(block, z, y, labels) for each row of each block. One volume is open at a time.
    ///
    /// Throws    InvalidFile, naming the block, if a label is negative, or if a volume cannot be
    ///           read or has changed.
    /// Cost      memory for the decoder of a volume, and for a row or 1 MiB of samples.
    void read(const kernel::VolumeBox& rows,
              const std::function<void(int block, Elements z, Elements y,
                                       std::span<const std::uint64_t> labels)>& take);

    /// The blocks that have voxels within a box.
    std::vector<int> blocks_in(const kernel::VolumeBox& box) const;

  private:
    struct Volume {
        LabelBlock given;
        FrameHeader header;
        kernel::VolumeBox box;
        std::array<Elements, 3> cut{}, cuts{}; // sides of a block, and numbers of blocks
        std::vector<int> blocks;               // [(z · cuts + y) · cuts + x]
    };

    void open_all(std::vector<LabelBlock> given, std::span<const Elements> cut);
    void number_blocks();
    void measure(std::span<const Elements> size, bool allow_gaps);
    FrameSource& opened(std::size_t volume);
    void read_frame(
        const Volume& volume, FrameSource& source, Elements z, Rows rows,
        const std::function<void(int, Elements, Elements, std::span<const std::uint64_t>)>& take);
    void convert(const Volume& volume, Elements z, Elements y, std::span<const std::byte> samples);

    kernel::VolumeShape shape_;
    std::vector<Volume> volumes_;
    std::vector<std::size_t> volume_of_; // [block]
    kernel::BlockCover cover_;
    std::unique_ptr<FrameSource> source_; // reads volumes_[open_]
    std::size_t open_ = 0;
    std::vector<std::byte> samples_;
    std::vector<std::uint64_t> row_;
};

/// Cuts a part of a volume into successive slabs of planes that fit in memory, or into strips of
/// rows if a plane does not fit.
class SlabCutter {
  public:
    /// `bytes_of`: returns the memory for a slab, which grows with the slab; `memory`: the limit.
    SlabCutter(const kernel::VolumeBox& part,
               std::function<Bytes(const kernel::VolumeBox& slab)> bytes_of, Bytes memory);

    /// The next slab in voxel order, as large as fits in memory; empty after the last.
    /// Throws InvalidTask, naming the memory, if a row does not fit.
    std::optional<kernel::VolumeBox> next();

  private:
    Elements most_that_fit(kernel::VolumeBox box, std::size_t axis) const;

    kernel::VolumeBox part_;
    std::function<Bytes(const kernel::VolumeBox&)> bytes_of_;
    Bytes memory_;
    Elements z_, y_; // the first row that is not in a slab yet
};

} // namespace label
} // namespace sextant
