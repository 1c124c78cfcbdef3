// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/sharing.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace sextant::model {

namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();
constexpr auto gone = std::numeric_limits<std::uint32_t>::max();

struct Level {
    double rate_by_weight;
    int link;
    bool operator>(const Level& other) const { return rate_by_weight > other.rate_by_weight; }
};

using Levels = std::priority_queue<Level, std::vector<Level>, std::greater<>>;

} // namespace

Sharing::Sharing(const machine::Wires& wires, double together)
    : wires_(wires),
      together_(together),
      next_(never),
      admitted_at_(never),
      loads_(static_cast<std::size_t>(wires.links)),
      left_(static_cast<std::size_t>(wires.links)) {}

bool Sharing::has_links(int from, int to) {
    const std::size_t before = ways_.size();
    wires_.route(from, to, ways_);
    const bool any = ways_.size() > before;
    ways_.resize(before);
    return any;
}

int Sharing::start(const Travelling& message, Seconds now) {
    if (open_.empty() && waiting_.empty())
        ways_.clear();
    Way way{.message = count_, .first = ways_.size(), .start = now, .left = message.bytes};
    wires_.route(message.from, message.to, ways_);
    way.last = ways_.size();
    Seconds latency = 0;
    for (const int on : links_of(way)) {
        latency += wires_.latency ? wires_.latency(on) : 0;
        way.alone = std::max(way.alone, wires_.busy(on, message.bytes, 1));
    }
    way.weight = latency > 0 ? 1 / latency : 1;
    waiting_.push_back(way);
    admitted_at_ = std::min(admitted_at_, now + together_ * way.alone);
    next_ = std::min(next_, admitted_at_);
    return count_++;
}

std::span<const Arrival> Sharing::pass() {
    there_.clear();
    const Seconds until = next_;
    if (until == never)
        return there_;
    travel(until - now_);
    now_ = until;
    admit();
    allot();
    look_ahead();
    return there_;
}

/// Lets those under way travel on, and takes out who is there, or nearly: it
/// makes room for others, and is there in its time.
void Sharing::travel(Seconds passed) {
    std::vector<Place> moved(open_.size(), gone);
    std::size_t stay = 0;
    for (std::size_t i = 0; i < open_.size(); ++i) {
        Way& way = open_[i];
        const Seconds rest = way.left / way.rate;
        const Seconds whole = now_ + rest - way.start;
        way.left -= way.rate * passed;
        if (rest > passed + together_ * whole) {
            moved[i] = static_cast<Place>(stay);
            open_[stay++] = way;
        } else {
            there_.push_back({way.message, now_ + rest});
        }
    }
    if (stay == open_.size())
        return;
    open_.resize(stay);
    take_off_links(moved);
}

/// Most messages stay from one time to the next: lists of links are thinned, not made anew.
void Sharing::take_off_links(std::span<const Place> moved) {
    std::erase_if(used_, [&](int on) {
        Load& load = load_of(on);
        std::size_t stay = 0;
        load.weight = 0;
        for (const Place before : load.messages) {
            if (const Place now = moved[before]; now != gone) {
                load.messages[stay++] = now;
                load.weight += open_[now].weight;
            }
        }
        load.messages.resize(stay);
        return stay == 0;
    });
}

void Sharing::admit() {
    for (const Way& way : waiting_) {
        for (const int on : links_of(way)) {
            Load& load = load_of(on);
            if (load.messages.empty())
                used_.push_back(on);
            load.messages.push_back(static_cast<Place>(open_.size()));
            load.weight += way.weight;
        }
        open_.push_back(way);
    }
    waiting_.clear();
    admitted_at_ = never;
}

void Sharing::fill_links() {
    for (const int on : used_) {
        const Load& load = load_of(on);
        const auto messages = static_cast<int>(load.messages.size());
        left_of(on) = {1 / wires_.busy(on, 1, messages), load.weight, messages};
    }
}

/// Gives every message under way its rate: those of the link that has least for each first. Who
/// waited for its share makes up for it.
void Sharing::allot() {
    fill_links();
    std::vector<bool> settled(open_.size());
    const auto level_of = [&](int on) { return left_of(on).bytes_per_second / left_of(on).weight; };
    Levels levels;
    for (const int on : used_)
        levels.push({level_of(on), on});
    double reached = 0; // levels only rise, but for rounding
    while (!levels.empty()) {
        const Level lowest = levels.top();
        levels.pop();
        if (left_of(lowest.link).messages == 0)
            continue;
        if (const double level = level_of(lowest.link);
            level > lowest.rate_by_weight * (1 + 1e-9)) {
            levels.push({level, lowest.link});
            continue;
        }
        reached = std::max(reached, lowest.rate_by_weight);
        for (const Place message : load_of(lowest.link).messages) {
            if (!settled[message]) {
                settled[message] = true;
                settle(open_[message], reached * open_[message].weight);
            }
        }
    }
}

void Sharing::settle(Way& way, double rate) {
    if (way.rate == 0 && now_ > way.start)
        way.left -= rate * (now_ - way.start);
    way.rate = rate;
    for (const int on : links_of(way)) {
        Left& left = left_of(on);
        left.bytes_per_second -= rate;
        left.weight -= way.weight;
        --left.messages;
    }
}

void Sharing::look_ahead() {
    next_ = never;
    for (const Way& way : open_)
        next_ = std::min(next_, now_ + std::max<Seconds>(0, way.left / way.rate));
}

} // namespace sextant::model
