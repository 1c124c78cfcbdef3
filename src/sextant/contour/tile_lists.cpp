// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/tile_lists.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::contour {

Run joined_runs(std::span<const Run> runs) {
    Run joined = runs.front();
    for (const Run& run : runs.subspan(1)) {
        if (run.first != joined.last)
            throw std::logic_error(fmt::format("tiles [{}, {}) do not follow tiles [{}, {})",
                                               run.first, run.last, joined.first, joined.last));
        joined.last = run.last;
    }
    return joined;
}

void require_room(Elements entries, Elements most, Run run) {
    if (entries > most)
        throw std::logic_error(fmt::format("{} entries for tiles [{}, {}), expected at most {}",
                                           entries, run.first, run.last, most));
}

namespace {

template <class Entry>
std::vector<Entry> all_by_pixels(std::span<const TileList<Entry>> lists) {
    std::vector<Entry> all;
    for (const TileList<Entry>& list : lists)
        all.insert(all.end(), list.entries.begin(), list.entries.end());
    std::ranges::sort(all, {}, &Entry::pixel);
    return all;
}

/// Extends each crossing along its contour. Visits each crossing once.
class Following {
  public:
    explicit Following(std::vector<Crossing> crossings)
        : all_(std::move(crossings)), state_(all_.size(), State::unseen) {}

    std::vector<Crossing> run() {
        for (std::size_t i = 0; i < all_.size(); ++i)
            follow_from(i);
        return std::move(all_);
    }

  private:
    enum class State : std::uint8_t { unseen, on_the_way, done };
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    /// Returns the next crossing on the contour of crossing i, or `none` if these tiles do not
    /// contain it.
    std::size_t next(std::size_t i) const {
        const Crossing* const found = find(all_, all_[i].end);
        const auto index = static_cast<std::size_t>(found - all_.data());
        return found && index != i ? index : none;
    }

    void follow_from(std::size_t first) {
        path_.clear();
        std::size_t i = first;
        while (i != none && state_[i] == State::unseen) {
            state_[i] = State::on_the_way;
            path_.push_back(i);
            i = next(i);
        }
        if (i != none && state_[i] == State::on_the_way)
            close(i);
        while (!path_.empty()) {
            const std::size_t last = path_.back();
            path_.pop_back();
            if (i != none)
                lead_on(all_[last], all_[i]);
            state_[last] = State::done;
            i = last;
        }
    }

    static void lead_on(Crossing& crossing, const Crossing& next) {
        if (next.smallest < crossing.smallest) {
            crossing.smallest = next.smallest;
            crossing.to_smallest = crossing.links + next.to_smallest;
        }
        crossing.end = next.end;
        crossing.links += next.links;
    }

    /// Closes a contour that returns to crossing `first`: all its crossings now end at its smallest
    /// pixel.
    void close(std::size_t first) {
        const auto begin = std::find(path_.begin(), path_.end(), first);
        const std::vector<std::size_t> round(begin, path_.end());
        path_.erase(begin, path_.end());
        const std::size_t last =
            *std::min_element(round.begin(), round.end(), [&](std::size_t a, std::size_t b) {
                return all_[a].smallest < all_[b].smallest;
            });
        const auto at =
            static_cast<std::size_t>(std::find(round.begin(), round.end(), last) - round.begin());
        const Elements head = all_[last].smallest;
        Elements links = all_[last].to_smallest;
        for (std::size_t k = 0; k < round.size(); ++k) {
            Crossing& crossing = all_[round[(at + round.size() - k) % round.size()]];
            if (k > 0)
                links += crossing.links;
            crossing.end = crossing.smallest = head;
            crossing.links = crossing.to_smallest = links;
            state_[round[(at + round.size() - k) % round.size()]] = State::done;
        }
    }

    std::vector<Crossing> all_;
    std::vector<State> state_;
    std::vector<std::size_t> path_;
};

} // namespace

const Crossing* find(std::span<const Crossing> crossings, Elements pixel) {
    const auto found = std::lower_bound(
        crossings.begin(), crossings.end(), pixel,
        [](const Crossing& crossing, Elements wanted) { return crossing.pixel < wanted; });
    return found != crossings.end() && found->pixel == pixel ? &*found : nullptr;
}

std::vector<Crossing> follow(std::span<const Boundary> lists) {
    return Following(all_by_pixels(lists)).run();
}

Merger<Crossing> crossing_merger(Order order) {
    const auto enters = [order](Run tiles, const Crossing& crossing) {
        return !tiles.holds(order.position_of_pixel(crossing.before));
    };
    return {std::move(order), follow, enters};
}

namespace {

/// A union-find of components, numbered in the order of their smallest pixels.
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

    /// Joins each pixel with the later pixels that it touches: to the right, and below.
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
    std::vector<Elements> smallest_; // smallest pixel of each component
    std::vector<std::size_t> before_,
        numbers_; // parent of each component, and component of each pixel
    std::vector<std::uint8_t> marked_;
};

/// True if a pixel touches a pixel of the image outside a run of tiles.
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

Merger<BorderPixel> component_merger(Order order, Touch touch) {
    const auto join = [width = order.grid().width, touch](std::span<const Frontier> lists) {
        return Joining(all_by_pixels(lists), width, touch).run();
    };
    const auto touches = [order, touch](Run tiles, const BorderPixel& each) {
        return touches_outside(order, tiles, each.pixel, touch);
    };
    return {std::move(order), join, touches};
}

} // namespace sextant::contour
