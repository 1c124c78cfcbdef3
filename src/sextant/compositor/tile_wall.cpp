// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositor/tile_wall.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/compositor/declaration.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/image.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <numeric>
#include <string>

#include <fmt/format.h>

namespace sextant {

namespace {

constexpr const char* one_image_each =
    "each rank has one image per tile: expected an order of ranks, not of images";

std::string text_of(const Rectangle& area) {
    return fmt::format("{}x{}+{}+{}", area.width, area.height, area.left, area.top);
}

std::size_t hash_of(const std::vector<WallTile>& tiles) {
    std::string text;
    for (const WallTile& tile : tiles)
        text += fmt::format("{} {};", text_of(tile.area), tile.owner);
    return std::hash<std::string>()(text);
}

/// Throws InvalidTask if tiles are invalid or differ between ranks. `hashes`: one per rank.
void check_tiles(const std::vector<WallTile>& tiles, const std::vector<std::size_t>& hashes,
                 int ranks) {
    for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
        if (hashes[rank] != hashes[0])
            throw InvalidTask(fmt::format("rank {} has different tiles from rank 0", rank));
    }
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const auto& [area, owner] = tiles[t];
        if (area.empty())
            throw InvalidTask(fmt::format("tile {}: {} has no pixels", t, text_of(area)));
        if (is_too_large(area.shape())) {
            throw InvalidTask(
                fmt::format("tile {}: {} has more than {} pixels", t, text_of(area), most_pixels));
        }
        if (owner < 0 || owner >= ranks) {
            throw InvalidTask(fmt::format("tile {}: its owner is rank {}, expected 0 to {}", t,
                                          owner, ranks - 1));
        }
    }
}

/// The ranks that take part in a tile: its owner, and the ranks that draw in it.
std::vector<int> ranks_of(const WallTile& tile, const std::vector<Rectangle>& bounds) {
    std::vector<int> ranks;
    for (int rank = 0; rank < static_cast<int>(bounds.size()); ++rank) {
        if (rank == tile.owner || overlap(tile.area, bounds[static_cast<std::size_t>(rank)]))
            ranks.push_back(rank);
    }
    return ranks;
}

/// Maps each rank to its index among the tile's ranks, or to -1.
std::vector<int> numbers_of(const std::vector<int>& ranks, int all) {
    std::vector<int> numbers(static_cast<std::size_t>(all), -1);
    for (std::size_t i = 0; i < ranks.size(); ++i)
        numbers[static_cast<std::size_t>(ranks[i])] = static_cast<int>(i);
    return numbers;
}

} // namespace

bool overlap(const Rectangle& a, const Rectangle& b) {
    return !a.empty() && !b.empty() && a.left < b.left + b.width && b.left < a.left + a.width &&
           a.top < b.top + b.height && b.top < a.top + a.height;
}

TileWall::TileWall(Communicator communicator, std::vector<WallTile> tiles, Rectangle bounds,
                   CompositeOptions options)
    : communicator_(scope_of(communicator, "TileWall")),
      tiles_(std::move(tiles)),
      bounds_(bounds),
      compositors_(tiles_.size()),
      frames_(tiles_.size()),
      numbers_(tiles_.size()),
      options_(std::move(options)) {
    const std::vector<std::size_t> hashes = communicator_.all_gather(hash_of(tiles_));
    const std::vector<Rectangle> all = communicator_.all_gather(bounds_);
    agree(communicator_, [&] {
        check_tiles(tiles_, hashes, communicator_.size());
        check_background(options_.background);
        if (!options_.image_order.empty())
            throw InvalidTask(one_image_each);
        check_order(options_.order);
        operator_ = operator_of(options_);
    });
    order_.reserve(static_cast<std::size_t>(communicator_.size()));
    all_draw_.assign(order_.capacity(), 1);
    for (int tile = 0; tile < static_cast<int>(tiles_.size()); ++tile)
        make_compositor(tile, all);
    std::int64_t widest = 0;
    for (const WallTile& tile : tiles_)
        widest = std::max(widest, tile.area.width);
    empty_row_.resize(static_cast<std::size_t>(widest * operator_.element.size));
    operator_.fill_identity(empty_row_.data(), widest);
}

/// Collective over all ranks, including those outside the tile, so that all ranks are notified of a
/// failure.
void TileWall::make_compositor(int tile, const std::vector<Rectangle>& bounds) {
    const std::vector<int> ranks = ranks_of(at(tile), bounds);
    numbers_[static_cast<std::size_t>(tile)] = numbers_of(ranks, communicator_.size());
    list_numbers(tile, options_.order);
    CompositeOptions options = options_;
    options.order = order_;
    options.root =
        numbers_[static_cast<std::size_t>(tile)][static_cast<std::size_t>(at(tile).owner)];
    options.frames = 1; // a race cannot have several frames in flight
    const int rank = communicator_.rank();
    const bool takes_part = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    const Communicator group = communicator_.split(takes_part ? 0 : -1, rank);
    agree(communicator_, [&] {
        if (!takes_part)
            return;
        try {
            compositors_[static_cast<std::size_t>(tile)].emplace(group, at(tile).area.shape(),
                                                                 draws(tile) ? 1 : 0, options);
        } catch (const AgreedFailure& failure) {
            throw AgreedFailure(fmt::format("tile {}: {}", tile, failure.what()), failure.fault());
        }
    });
}

void TileWall::check_order(std::span<const int> order) const {
    const int ranks = communicator_.size();
    for (const int rank : order) {
        if (rank < 0 || rank >= ranks) {
            throw InvalidTask(
                fmt::format("visibility order names rank {}: expected 0 to {}", rank, ranks - 1));
        }
    }
}

/// Sets `order_` to the visibility order of a tile's ranks, by their numbers in the tile.
void TileWall::list_numbers(int tile, std::span<const int> order) {
    order_.clear();
    for (const int rank : order) {
        const int number = numbers_[static_cast<std::size_t>(tile)][static_cast<std::size_t>(rank)];
        if (number >= 0)
            order_.push_back(number);
    }
}

bool TileWall::draws(int tile) const {
    return overlap(at(tile).area, bounds_);
}

const Compositor* TileWall::compositor(int tile) const {
    const auto& found = compositors_[static_cast<std::size_t>(tile)];
    return found ? &*found : nullptr;
}

std::span<const Frame> TileWall::composite(std::span<const std::span<const std::byte>> images,
                                           const FrameOptions& frame) {
    const std::span<const int> order = frame.order.empty() ? options_.order : frame.order;
    asked_.clear();
    list_requests(order, frame.background ? frame.background : options_.background, all_draw_,
                  asked_);
    agree_on_frame(communicator_, asked_, [&] {
        check(images);
        check_order(order);
        check_background(frame.background);
        if (!frame.image_order.empty())
            throw InvalidTask(one_image_each);
    });
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        if (!compositors_[t])
            continue;
        list_numbers(static_cast<int>(t), order);
        compositors_[t]->start(draws(static_cast<int>(t)) ? images[t]
                                                          : std::span<const std::byte>(),
                               flight_, {}, {order_, frame.background});
    }
    std::exception_ptr failure;
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        try {
            if (compositors_[t])
                frames_[t] = compositors_[t]->wait(flight_);
        } catch (...) { // rethrown when the other tiles have ended
            if (!failure)
                failure = std::current_exception();
        }
    }
    if (failure)
        std::rethrow_exception(failure);
    return frames_;
}

void TileWall::fail(const std::string& text) {
    sextant::fail(communicator_, text);
}

void TileWall::check(std::span<const std::span<const std::byte>> images) const {
    const int rank = communicator_.rank();
    if (images.size() != tiles_.size()) {
        throw InvalidTask(fmt::format("rank {} passes images for {} tiles, expected {}", rank,
                                      images.size(), tiles_.size()));
    }
    for (int tile = 0; tile < static_cast<int>(tiles_.size()); ++tile) {
        const auto& image = images[static_cast<std::size_t>(tile)];
        const Bytes expected = at(tile).area.shape().elements() * operator_.element.size;
        if (static_cast<Bytes>(image.size()) != expected && (draws(tile) || !image.empty())) {
            throw InvalidTask(fmt::format("rank {}, tile {}: an image of {} bytes, expected {}",
                                          rank, tile, image.size(), expected));
        }
        if (!image.empty())
            check_empty_outside(tile, image);
    }
}

/// Compares the pixels of a row to the left and to the right of the bounds with empty pixels. Only
/// if a comparison fails, searches for the active pixel.
void TileWall::check_empty_outside(int tile, std::span<const std::byte> image) const {
    const Rectangle& area = at(tile).area;
    const auto size = static_cast<std::size_t>(operator_.element.size);
    const std::int64_t from = std::clamp(bounds_.left - area.left, std::int64_t{0}, area.width);
    const std::int64_t to = std::clamp(bounds_.left + bounds_.width - area.left, from, area.width);
    const auto require_empty = [&](std::int64_t y, std::int64_t first, std::int64_t last) {
        const std::byte* const row = image.data() + static_cast<std::size_t>(y * area.width) * size;
        const auto empty = [&](std::int64_t x, std::int64_t count) {
            return std::memcmp(row + static_cast<std::size_t>(x) * size, empty_row_.data(),
                               static_cast<std::size_t>(count) * size) == 0;
        };
        if (first >= last || empty(first, last - first))
            return;
        while (empty(first, 1))
            ++first;
        throw InvalidTask(fmt::format("rank {}, tile {}: pixel ({}, {}) of the wall is active, "
                                      "outside the declared bounds {}",
                                      communicator_.rank(), tile, area.left + first, area.top + y,
                                      text_of(bounds_)));
    };
    for (std::int64_t y = 0; y < area.height; ++y) {
        const std::int64_t on_wall = area.top + y;
        const bool beside =
            !bounds_.empty() && on_wall >= bounds_.top && on_wall < bounds_.top + bounds_.height;
        require_empty(y, 0, beside ? from : area.width);
        require_empty(y, beside ? to : area.width, area.width);
    }
}

} // namespace sextant
