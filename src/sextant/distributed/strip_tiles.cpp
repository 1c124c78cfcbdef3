// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/strip_tiles.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/distributed/list_exchange.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"

#include <algorithm>
#include <utility>

namespace sextant::distributed {

Tile StripTiles::rows(int strip, Elements margin) const {
    const Tile first = tile(strip, 0), last = tile(strip, ranks() - 1);
    return kernel::grown({0, first.y, grid.width, last.y + last.height - first.y}, margin, image());
}

kernel::SampleView TopDownReader::read(const Tile& held) {
    const Bytes row = held.width * source_.element().size;
    Memory samples(held.height * row);
    Tile rest = held;
    const Elements end = held_.y + held_.height;
    if (held.x == held_.x && held.width == held_.width && held.y >= held_.y && held.y < end) {
        const Elements kept = std::min(end - held.y, held.height);
        std::copy_n(samples_.data() + (held.y - held_.y) * row, kept * row, samples.data());
        rest.y += kept;
        rest.height -= kept;
    }
    read_part(source_, rest,
              samples.bytes().subspan(static_cast<std::size_t>((rest.y - held.y) * row)));
    samples_ = std::move(samples);
    held_ = held;
    kernel::SampleView view = samples_of(source_.element(), samples_.data());
    view.stride = held.width;
    view.tile = held;
    view.image = source_.shape();
    return view;
}

BytePlane::BytePlane(const Communicator& communicator, const StripTiles& tiles,
                     const std::string& scratch)
    : communicator_(communicator), tiles_(tiles) {
    agree(communicator_, [&] {
        if (communicator_.rank() == 0)
            file_.emplace(scratch);
    });
}

std::vector<std::uint8_t> BytePlane::read(int strip, Elements margin) const {
    std::vector<std::vector<std::uint8_t>> to(static_cast<std::size_t>(communicator_.size()));
    agree(communicator_, [&] {
        if (!file_)
            return;
        const Tile rows = tiles_.rows(strip, margin);
        Memory read(rows.elements());
        file_->read(rows.y * rows.width, read.bytes());
        for (int rank = 0; rank < communicator_.size(); ++rank) {
            const Tile part = kernel::grown(tiles_.tile(strip, rank), margin, tiles_.image());
            std::vector<std::uint8_t>& made = to[static_cast<std::size_t>(rank)];
            made.resize(static_cast<std::size_t>(part.elements()));
            copy_part(part, rows, read.data(), part, std::as_writable_bytes(std::span(made)).data(),
                      1);
        }
    });
    return all_to_all_lists(communicator_, to).values;
}

void BytePlane::write(int strip, const std::vector<std::uint8_t>& own) {
    const std::vector<std::uint8_t> all = gather_lists(communicator_, own).values;
    agree(communicator_, [&] {
        if (!file_)
            return;
        const Tile rows = tiles_.rows(strip, 0);
        Memory made(rows.elements());
        const std::byte* from = std::as_bytes(std::span(all)).data();
        for (int rank = 0; rank < communicator_.size(); ++rank) {
            const Tile part = tiles_.tile(strip, rank);
            copy_part(part, part, from, rows, made.data(), 1);
            from += part.elements();
        }
        file_->write(rows.y * rows.width, made.bytes());
    });
}

} // namespace sextant::distributed
