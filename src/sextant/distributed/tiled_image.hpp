// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/element.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/row_source.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace sextant::distributed {

/// An image in tiles, one a rank: each holds its own, row by row. Operations take such images and
/// give such images, so that nothing is gathered in between. A small value: copies share the
/// pixels.
class Image {
  public:
    /// With pixels of 0.
    /// Requires  a grid of as many tiles as the communicator has ranks (InvalidTask).
    Image(Communicator communicator, const Grid& grid, ElementFormat element);
    /// With this rank's tile in memory that there is, from byte `offset` on.
    Image(Communicator communicator, const Grid& grid, ElementFormat element,
          std::shared_ptr<Memory> memory, Bytes offset);

    const Communicator& communicator() const { return communicator_; }
    const Grid& grid() const { return grid_; }
    ImageShape shape() const { return {grid_.width, grid_.height}; }
    const ElementFormat& element() const { return element_; }
    /// This rank's, within the image.
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

/// Each rank reads its own tile of the image, or of as many of its rows, from row `first` on, as
/// the grid has. Throws InvalidFile.
Image read_tiles(const Communicator& communicator, const Grid& grid, RowSource& source,
                 Elements first = 0);

/// From rank 0, where `whole` holds the image row by row; elsewhere it is not looked at.
/// Collective. Requires  a whole image at rank 0 (AgreedFailure everywhere).
Image scatter(const Communicator& communicator, const Grid& grid, ElementFormat element,
              std::span<const std::byte> whole);

/// The whole image at rank 0; elsewhere nothing. Collective.
sextant::Image gather(const Image& image);

/// Part of an image, as it is stored: row by row to `to`, which has that room.
/// Cost      whole rows are read, a few MiB at a time.
void read_part(RowSource& source, const Tile& part, std::span<std::byte> to);

/// Where samples in memory begin, as kernels see them. Throws InvalidTask for elements that are not
/// gray_f32, gray_u8 or gray_u16.
kernel::SampleView samples_of(const ElementFormat& element, const std::byte* first);

/// This rank's tile of an image.
kernel::SampleView sample_view(const Image& image);

/// The same of samples that are compared: of value_u32, value_u64 and value_f64 too.
kernel::ValueView values_of(const ElementFormat& element, const std::byte* first);
kernel::ValueView value_view(const Image& image);

} // namespace sextant::distributed
