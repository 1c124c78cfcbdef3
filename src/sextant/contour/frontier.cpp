// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/frontier.hpp"

#include <algorithm>
#include <numeric>

namespace sextant::contour {

namespace {

std::vector<BorderPixel> all_by_pixels(std::span<const Frontier> lists) {
    std::vector<BorderPixel> all;
    for (const Frontier& list : lists)
        all.insert(all.end(), list.entries.begin(), list.entries.end());
    std::sort(all.begin(), all.end(),
              [](const BorderPixel& a, const BorderPixel& b) { return a.pixel < b.pixel; });
    return all;
}

/// Unions of components, each known by its place among their smallest pixels.
class Joining {
  public:
    Joining(std::vector<BorderPixel> pixels, Elements width, Touch touch)
        : all_(std::move(pixels)), width_(width), corners_(touch == Touch::corners) {
        for (const BorderPixel& each : all_)
            smallest_.push_back(each.part.component());
        std::sort(smallest_.begin(), smallest_.end());
        smallest_.erase(std::unique(smallest_.begin(), smallest_.end()), smallest_.end());
        before_.resize(smallest_.size());
        std::iota(before_.begin(), before_.end(), std::size_t{0});
        marked_.resize(smallest_.size());
        for (const BorderPixel& each : all_)
            numbers_.push_back(number(each.part.component()));
    }

    std::vector<BorderPixel> run() {
        join_neighbours();
        for (std::size_t i = 0; i < all_.size(); ++i)
            marked_[root(numbers_[i])] |= all_[i].part.marked() ? 1 : 0;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            const std::size_t first = root(numbers_[i]);
            all_[i].part = {smallest_[first], marked_[first] != 0};
        }
        return std::move(all_);
    }

  private:
    std::size_t number(Elements component) const {
        return static_cast<std::size_t>(
            std::lower_bound(smallest_.begin(), smallest_.end(), component) - smallest_.begin());
    }

    std::size_t root(std::size_t i) {
        while (before_[i] != i)
            i = before_[i] = before_[before_[i]];
        return i;
    }

    void join_pair(std::size_t i, std::size_t j) {
        if (all_[i].value != all_[j].value || all_[i].value == 0)
            return;
        const std::size_t a = root(numbers_[i]), b = root(numbers_[j]);
        before_[std::max(a, b)] = std::min(a, b);
    }

    /// Each pixel with those behind it that it touches: to its right, and below.
    void join_neighbours() {
        std::size_t below = 0;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            const Elements pixel = all_[i].pixel, x = pixel % width_;
            const bool left = corners_ && x > 0, right = x + 1 < width_;
            if (right && i + 1 < all_.size() && all_[i + 1].pixel == pixel + 1)
                join_pair(i, i + 1);
            const Elements first = pixel + width_ - (left ? 1 : 0);
            const Elements last = pixel + width_ + (corners_ && right ? 1 : 0);
            while (below < all_.size() && all_[below].pixel < first)
                ++below;
            for (std::size_t j = below; j < all_.size() && all_[j].pixel <= last; ++j)
                join_pair(i, j);
        }
    }

    std::vector<BorderPixel> all_;
    const Elements width_;
    const bool corners_;
    std::vector<Elements> smallest_;            // pixels of components
    std::vector<std::size_t> before_, numbers_; // [component]: one joined with; [pixel]: which
    std::vector<std::uint8_t> marked_;
};

/// Whether a pixel touches one of the image outside of a run of tiles.
bool touches_outside(const Order& order, Run tiles, Elements pixel, Touch touch) {
    const Grid& grid = order.grid();
    const Elements x = pixel % grid.width, y = pixel / grid.width;
    for (Elements dy = -1; dy <= 1; ++dy) {
        for (Elements dx = -1; dx <= 1; ++dx) {
            const Elements i = x + dx, j = y + dy;
            const bool in_image = i >= 0 && i < grid.width && j >= 0 && j < grid.height;
            if (in_image && (touch == Touch::corners || dx == 0 || dy == 0) &&
                !tiles.holds(order.position(rank_at(grid, i, j))))
                return true;
        }
    }
    return false;
}

} // namespace

std::vector<BorderPixel> join(std::span<const Frontier> lists, Elements width, Touch touch) {
    return Joining(all_by_pixels(lists), width, touch).run();
}

Frontier merge(const Order& order, std::span<const Frontier> lists, Touch touch) {
    Frontier merged{joined_runs<BorderPixel>(lists), join(lists, order.grid().width, touch)};
    std::erase_if(merged.entries, [&](const BorderPixel& each) {
        return !touches_outside(order, merged.tiles, each.pixel, touch);
    });
    return merged;
}

} // namespace sextant::contour
