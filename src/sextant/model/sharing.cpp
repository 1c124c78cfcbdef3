// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/sharing.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace sextant::model {

namespace {

/// The part of its time by which a message may start or end early, so that shares change less
/// often.
constexpr double together = .02;

struct Level {
    double rate_by_weight;
    int link;
    bool operator>(const Level& other) const { return rate_by_weight > other.rate_by_weight; }
};

using Levels = std::priority_queue<Level, std::vector<Level>, std::greater<>>;

} // namespace

Sharing::Sharing(const machine::Wires& wires)
    : wires_(wires), links_(static_cast<std::size_t>(wires.links)) {}

std::span<const Seconds> Sharing::of(std::span<const Travelling> messages) {
    lay(messages);
    Seconds now = 0;
    while (!open_.empty() || !waiting_.empty()) {
        if (open_.empty())
            now = message(waiting_.back()).start;
        admit(now);
        allot();
        now += pass(now, waiting_.empty() ? std::numeric_limits<Seconds>::max()
                                          : message(waiting_.back()).start - now);
    }
    return times_;
}

/// Finds the way of each message. Who meets no link is there at once.
void Sharing::lay(std::span<const Travelling> messages) {
    ways_.clear();
    messages_.clear();
    times_.assign(messages.size(), 0);
    for (const Travelling& each : messages) {
        Way way{.first = ways_.size(), .start = each.start, .left = each.bytes};
        wires_.route(each.from, each.to, ways_);
        way.last = ways_.size();
        Seconds latency = 0;
        for (const int on : links_of(way)) {
            latency += wires_.latency ? wires_.latency(on) : 0;
            way.alone = std::max(way.alone, wires_.busy(on, each.bytes, 1));
        }
        way.weight = latency > 0 ? 1 / latency : 1;
        if (way.alone > 0)
            waiting_.push_back(static_cast<int>(messages_.size()));
        messages_.push_back(way);
    }
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [&](int a, int b) { return message(a).start > message(b).start; });
}

/// Puts on their way who may start.
void Sharing::admit(Seconds now) {
    while (!waiting_.empty()) {
        const Way& next = message(waiting_.back());
        if (next.start > now + together * next.alone)
            return;
        open_.push_back(waiting_.back());
        waiting_.pop_back();
    }
}

/// Lists who is under way on each link, and what it has for them.
void Sharing::fill_links() {
    used_.clear();
    for (const int each : open_) {
        Way& way = message(each);
        way.rate = 0;
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
    for (const int each : open_) {
        for (const int on : links_of(message(each)))
            on_links_[link(on).last++] = each;
    }
}

/// Gives every message under way its rate: those of the link that has least for each first.
void Sharing::allot() {
    fill_links();
    const auto level_of = [&](int on) { return link(on).bytes_per_second / link(on).weight; };
    Levels levels;
    for (const int on : used_)
        levels.push({level_of(on), on});
    double reached = 0; // levels only rise, but for rounding
    while (!levels.empty()) {
        const Level lowest = levels.top();
        levels.pop();
        const Link& at = link(lowest.link);
        if (at.messages == 0)
            continue;
        if (const double now = level_of(lowest.link); now > lowest.rate_by_weight * (1 + 1e-9)) {
            levels.push({now, lowest.link});
            continue;
        }
        reached = std::max(reached, lowest.rate_by_weight);
        for (std::size_t i = at.first; i < at.last; ++i) {
            if (Way& way = message(on_links_[i]); way.rate == 0)
                settle(way, reached * way.weight);
        }
    }
    for (const int on : used_)
        link(on) = {};
}

void Sharing::settle(Way& way, double rate) {
    way.rate = rate;
    for (const int on : links_of(way)) {
        link(on).bytes_per_second -= rate;
        link(on).weight -= way.weight;
        --link(on).messages;
    }
}

Seconds Sharing::soonest() const {
    Seconds least = std::numeric_limits<Seconds>::max();
    for (const int each : open_) {
        const Way& way = messages_[static_cast<std::size_t>(each)];
        least = std::min(least, way.left / way.rate);
    }
    return least;
}

/// Lets time pass until the next messages are there, but no more than this; how much.
Seconds Sharing::pass(Seconds now, Seconds most) {
    const Seconds passed = std::min(soonest(), most);
    std::erase_if(open_, [&](int each) {
        Way& way = message(each);
        const Seconds rest = way.left / way.rate;
        const Seconds whole = now + rest - way.start;
        way.left -= way.rate * passed;
        if (rest > passed + together * whole)
            return false;
        times_[static_cast<std::size_t>(each)] = whole;
        return true;
    });
    return passed;
}

} // namespace sextant::model
