// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/sharing.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace sextant::model {

namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

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
      links_(static_cast<std::size_t>(wires.links)) {}

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
    std::erase_if(open_, [&](Way& way) {
        const Seconds rest = way.left / way.rate;
        const Seconds whole = now_ + rest - way.start;
        way.left -= way.rate * passed;
        if (rest > passed + together_ * whole)
            return false;
        there_.push_back({way.message, now_ + rest});
        return true;
    });
}

void Sharing::admit() {
    open_.insert(open_.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
    admitted_at_ = never;
}

/// Lists who is under way on each link, and what it has for them.
void Sharing::fill_links() {
    used_.clear();
    for (const Way& way : open_) {
        for (const int on : links_of(way)) {
            if (link(on).messages++ == 0)
                used_.push_back(on);
            link(on).weight += way.weight;
        }
    }
    std::size_t count = 0;
    for (const int on : used_) {
        Link& at = link(on);
        at.first = at.last = count;
        at.bytes_per_second = 1 / wires_.busy(on, 1, at.messages);
        count += static_cast<std::size_t>(at.messages);
    }
    on_links_.resize(count);
    for (std::size_t i = 0; i < open_.size(); ++i) {
        for (const int on : links_of(open_[i]))
            on_links_[link(on).last++] = i;
    }
}

/// Gives every message under way its rate: those of the link that has least for each first. Who
/// waited for its share makes up for it.
void Sharing::allot() {
    fill_links();
    std::vector<bool> settled(open_.size());
    const auto level_of = [&](int on) { return link(on).bytes_per_second / link(on).weight; };
    Levels levels;
    for (const int on : used_)
        levels.push({level_of(on), on});
    double reached = 0; // levels only rise, but for rounding
    while (!levels.empty()) {
        const Level lowest = levels.top();
        levels.pop();
        const Link at = link(lowest.link);
        if (at.messages == 0)
            continue;
        if (const double level = level_of(lowest.link);
            level > lowest.rate_by_weight * (1 + 1e-9)) {
            levels.push({level, lowest.link});
            continue;
        }
        reached = std::max(reached, lowest.rate_by_weight);
        for (std::size_t i = at.first; i < at.last; ++i) {
            if (const std::size_t on = on_links_[i]; !settled[on]) {
                settled[on] = true;
                settle(open_[on], reached * open_[on].weight);
            }
        }
    }
    for (const int on : used_)
        link(on) = {};
}

void Sharing::settle(Way& way, double rate) {
    if (way.rate == 0 && now_ > way.start)
        way.left -= rate * (now_ - way.start);
    way.rate = rate;
    for (const int on : links_of(way)) {
        link(on).bytes_per_second -= rate;
        link(on).weight -= way.weight;
        --link(on).messages;
    }
}

void Sharing::look_ahead() {
    next_ = never;
    for (const Way& way : open_)
        next_ = std::min(next_, now_ + std::max<Seconds>(0, way.left / way.rate));
}

} // namespace sextant::model
