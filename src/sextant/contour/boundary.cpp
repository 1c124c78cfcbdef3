// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contour/boundary.hpp"

#include <algorithm>

namespace sextant::contour {

namespace {

/// Leads crossings on, each once.
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

    /// Where a crossing goes on within these tiles, if it does.
    std::size_t next(std::size_t i) const {
        const Crossing* const found = find(all_, all_[i].end);
        const auto index = static_cast<std::size_t>(found - all_.data());
        return found && index != i ? index : none;
    }

    void follow_from(std::size_t first) {
        way_.clear();
        std::size_t i = first;
        while (i != none && state_[i] == State::unseen) {
            state_[i] = State::on_the_way;
            way_.push_back(i);
            i = next(i);
        }
        if (i != none && state_[i] == State::on_the_way)
            close(i);
        while (!way_.empty()) {
            const std::size_t last = way_.back();
            way_.pop_back();
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

    /// A contour that has come back to a crossing: its crossings lead to its smallest pixel.
    void close(std::size_t first) {
        const auto begin = std::find(way_.begin(), way_.end(), first);
        const std::vector<std::size_t> round(begin, way_.end());
        way_.erase(begin, way_.end());
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
    std::vector<std::size_t> way_;
};

} // namespace

const Crossing* find(std::span<const Crossing> crossings, Elements pixel) {
    const auto found = std::lower_bound(
        crossings.begin(), crossings.end(), pixel,
        [](const Crossing& crossing, Elements wanted) { return crossing.pixel < wanted; });
    return found != crossings.end() && found->pixel == pixel ? &*found : nullptr;
}

std::vector<Crossing> follow(std::span<const Boundary> lists) {
    std::vector<Crossing> all;
    for (const Boundary& list : lists)
        all.insert(all.end(), list.entries.begin(), list.entries.end());
    std::sort(all.begin(), all.end(),
              [](const Crossing& a, const Crossing& b) { return a.pixel < b.pixel; });
    return Following(std::move(all)).run();
}

Boundary merge(const Order& order, std::span<const Boundary> lists) {
    Boundary merged{joined_runs<Crossing>(lists), follow(lists)};
    std::erase_if(merged.entries, [&](const Crossing& crossing) {
        return merged.tiles.holds(order.position_of_pixel(crossing.before));
    });
    return merged;
}

} // namespace sextant::contour
