// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/margins.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/halo/axis_exchange.hpp"

#include <cstring>
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
    agree(communicator_, [&] { execution_->run(); });
}

Padded PaddedTile::release() {
    execution_.reset();
    return std::move(padded_);
}

Padded with_margin(const Image& image, Elements margin) {
    const Communicator& communicator = image.communicator();
    const Tile own = image.tile();
    const Bytes row = own.width * image.element().size;
    std::optional<PaddedTile> padded;
    agree(communicator, [&] {
        padded.emplace(communicator, image.grid(), image.element(), margin);
        const Bytes stride = padded->held().width * image.element().size;
        for (Elements y = 0; y < own.height && own.width > 0; ++y)
            std::memcpy(padded->own() + y * stride, image.bytes().data() + y * row,
                        static_cast<std::size_t>(row));
    });
    padded->exchange();
    return padded->release();
}

} // namespace sextant::distributed
