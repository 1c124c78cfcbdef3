// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/tiles/tile_borders.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/halo/exchange.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <optional>
#include <utility>

namespace sextant::distributed {

PaddedTile::PaddedTile(const Communicator& communicator, const Grid& grid,
                       const ElementFormat& element, Elements margin)
    : communicator_(communicator),
      own_(tile(grid, communicator.rank())),
      element_size_(element.size) {
    halo::Grid padded;
    static_cast<sextant::Grid&>(padded) = grid;
    padded.margin = margin;
    padded_.held = halo::clipped_tile(padded, communicator.rank());
    padded_.pixels = Memory(padded_.held.elements() * element.size);
    if (communicator.size() == 1)
        return; // no exchange is needed
    Operator moved;
    moved.element = element;
    execution_.emplace(communicator, halo::axis_exchange(padded, communicator.rank()), moved);
    execution_->bind(0, padded_.pixels.bytes());
}

std::byte* PaddedTile::own() {
    const Elements at = (own_.y - held().y) * held().width + own_.x - held().x;
    return padded_.pixels.data() + at * element_size_;
}

void PaddedTile::exchange() {
    if (execution_)
        agree(communicator_, [&] { execution_->run(); });
}

Padded PaddedTile::release() {
    execution_.reset();
    return std::move(padded_);
}

Padded with_margin(const Image& image, Elements margin) {
    const Communicator& communicator = image.communicator();
    const Tile own = image.tile();
    std::optional<PaddedTile> padded;
    agree(communicator, [&] {
        padded.emplace(communicator, image.grid(), image.element(), margin);
        copy_part(own, own, image.bytes().data(), padded->held(), padded->data(),
                  image.element().size);
    });
    padded->exchange();
    return padded->release();
}

TileWithBorder with_surroundings(const Image& image, Elements margin) {
    const Communicator& communicator = image.communicator();
    halo::Grid grid;
    static_cast<sextant::Grid&>(grid) = image.grid();
    grid.margin = margin;
    TileWithBorder made;
    if (communicator.size() == 1) {
        agree(communicator, [&] { made.pieces.push_back(sample_view(image)); });
        return made;
    }
    std::optional<Execution> execution;
    agree(communicator, [&] {
        made.pieces.push_back(sample_view(image));
        Bytes size = 0;
        for (const Tile& band : halo::frame_of(grid, communicator.rank()))
            size += band.elements() * image.element().size;
        made.around = Memory(size);
        Operator moved;
        moved.element = image.element();
        execution.emplace(communicator, halo::frame_exchange(grid, communicator.rank()), moved);
        execution->bind(0, image.bytes());
        execution->bind(1, made.around.bytes());
    });
    agree(communicator, [&] { execution->run(); });
    const std::byte* first = made.around.data();
    for (const Tile& band : halo::frame_of(grid, communicator.rank())) {
        kernel::SampleView piece = samples_of(image.element(), first);
        piece.tile = band;
        piece.stride = band.width;
        piece.image = image.shape();
        if (band.elements() > 0)
            made.pieces.push_back(piece);
        first += band.elements() * image.element().size;
    }
    return made;
}

} // namespace sextant::distributed
