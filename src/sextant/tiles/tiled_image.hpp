// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/element.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace sextant::distributed {

/// An image divided into tiles, one per rank; each rank holds its tile, row by row. Operations take
/// and return such images, so that no gather is needed in between. Cheap to copy: copies share the
/// pixels.
class Image {
  public:
    /// Creates an image whose pixels are 0. Throws InvalidTask unless the grid has as many tiles as
    /// the communicator has ranks.
    Image(Communicator communicator, const Grid& grid, ElementFormat element);
    /// Creates an image with this rank's tile in existing memory, from byte `offset` on.
    Image(Communicator communicator, const Grid& grid, ElementFormat element,
          std::shared_ptr<Memory> memory, Bytes offset);

    const Communicator& communicator() const { return communicator_; }
    const Grid& grid() const { return grid_; }
    ImageShape shape() const { return {grid_.width, grid_.height}; }
    const ElementFormat& element() const { return element_; }
    /// This rank's tile, in coordinates of the image.
    Tile tile() const { return sextant::tile(grid_, communicator_.rank()); }

    std::span<std::byte> bytes();
    std::span<const std::byte> bytes() const;

  private:
    Communicator communicator_;
    Grid grid_;
    ElementFormat element_;
    std::shared_ptr<Memory> memory_;
    Bytes offset_ = 0;
};

/// Reads this rank's tile. If the image has more rows than the grid, the grid describes the strip
/// of the image that begins at row `first`. Throws InvalidFile.
Image read_tiles(const Communicator& communicator, const Grid& grid, RowSource& source,
                 Elements first = 0);

/// Scatters an image from rank 0. `whole`: the image on rank 0, row by row; ignored elsewhere.
/// Requires  a complete image on rank 0; otherwise every rank throws AgreedFailure.
/// Collective.
Image scatter(const Communicator& communicator, const Grid& grid, ElementFormat element,
              std::span<const std::byte> whole);

/// Returns the whole image on rank 0 and an empty one elsewhere. Collective.
sextant::Image gather(const Image& image);

/// Copies a part of an image or a volume between buffers that hold the rectangles or boxes
/// `from_held` and `to_held`, row by row.
/// Requires  the part inside both rectangles or boxes.
void copy_part(const Tile& part, const Tile& from_held, const std::byte* from, const Tile& to_held,
               std::byte* to, Bytes element);

/// Reads part of an image or a volume, in its stored format, row by row into `to`.
/// Cost      whole rows are read, a few MiB at a time.
void read_part(RowSource& source, const Tile& part, std::span<std::byte> to);

/// Returns a view of samples in memory, for kernels. Throws InvalidTask unless they are gray_f32,
/// gray_u8 or gray_u16.
kernel::SampleView samples_of(const ElementFormat& element, const std::byte* first);

/// Returns a view of this rank's tile.
kernel::SampleView sample_view(const Image& image);

/// Returns a view of samples for comparison only; besides the formats of samples_of, value_u32,
/// value_u64 and value_f64 are allowed.
kernel::ValueView values_of(const ElementFormat& element, const std::byte* first);
kernel::ValueView value_view(const Image& image);

} // namespace sextant::distributed
