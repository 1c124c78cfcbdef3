// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/link_contention.hpp"

#include "sextant/model/message.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <queue>

namespace sextant::model {

namespace {

constexpr Seconds not_scheduled = std::numeric_limits<Seconds>::infinity();

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
      next_(not_scheduled),
      admitted_at_(not_scheduled),
      loads_(static_cast<std::size_t>(wires.links)),
      left_(static_cast<std::size_t>(wires.links)) {}

bool Sharing::has_links(int from, int to) {
    const std::size_t before = links_.size();
    wires_.route(from, to, links_);
    const bool any = links_.size() > before;
    links_.resize(before);
    return any;
}

/// Messages in flight keep their rates until the new message is admitted, so they arrive slightly
/// too early: on a link with many messages, by at most a quarter of `together`.
int Sharing::start(const MessageInFlight& message, Seconds now) {
    if (open_.empty() && waiting_.empty())
        links_.clear();
    Configuration configuration{
        .start = now, .left = message.bytes, .first = links_.size(), .message = count_};
    wires_.route(message.from, message.to, links_);
    configuration.links = static_cast<std::uint32_t>(links_.size() - configuration.first);
    Seconds latency = 0, patience = 0;
    for (const int on : links_of(configuration)) {
        latency += wires_.latency ? wires_.latency(on) : 0;
        const double crowd = std::max(1., load_of(on).messages / 4.);
        patience = std::max(patience, crowd * wires_.busy(on, message.bytes, 1));
    }
    configuration.weight = latency > 0 ? 1 / latency : 1;
    waiting_.push_back(configuration);
    admitted_at_ = std::min(admitted_at_, now + together_ * patience);
    next_ = std::min(next_, admitted_at_);
    return count_++;
}

std::span<const Arrival> Sharing::pass() {
    there_.clear();
    if (next_ == not_scheduled)
        return there_;
    dismiss();
    admit();
    allot();
    return there_;
}

/// Removes messages that arrive at or shortly after the next event: they free their links now and
/// keep their own arrival times.
void Sharing::dismiss() {
    for (std::size_t i = 0; i < open_.size(); ++i) {
        if (dismissed_[i] > next_)
            continue;
        const Configuration& configuration = open_[i];
        there_.push_back({configuration.message, now_ + configuration.left / configuration.rate});
        take_off_links(static_cast<Place>(i));
    }
    if (many_gone_ > open_.size() / 2)
        tidy();
}

/// Marks a message as arrived and removes its weight from its links. The lists of the links contain
/// it until tidy(); readers of the lists skip it.
void Sharing::take_off_links(Place place) {
    for (const int on : links_of(open_[place])) {
        Load& load = load_of(on);
        load.weight -= open_[place].weight;
        --load.messages;
    }
    dismissed_[place] = not_scheduled;
    gone_[place] = true;
    ++many_gone_;
}

/// Removes delivered messages from all lists.
void Sharing::tidy() {
    std::vector<Place> moved(open_.size());
    Place stay = 0;
    for (std::size_t i = 0; i < open_.size(); ++i) {
        if (gone_[i])
            continue;
        moved[i] = stay;
        dismissed_[stay] = dismissed_[i];
        open_[stay++] = open_[i];
    }
    std::erase_if(used_, [&](int on) {
        Load& load = load_of(on);
        std::erase_if(load.places, [&](Place place) { return gone_[place]; });
        load.weight = 0;
        for (Place& place : load.places) {
            place = moved[place];
            load.weight += open_[place].weight;
        }
        return load.places.empty();
    });
    open_.resize(stay);
    dismissed_.resize(stay);
    gone_.assign(stay, false);
    many_gone_ = 0;
}

void Sharing::admit() {
    for (const Configuration& configuration : waiting_) {
        for (const int on : links_of(configuration)) {
            Load& load = load_of(on);
            if (load.places.empty())
                used_.push_back(on);
            load.places.push_back(static_cast<Place>(open_.size()));
            load.weight += configuration.weight;
            ++load.messages;
        }
        open_.push_back(configuration);
        dismissed_.push_back(not_scheduled);
        gone_.push_back(false);
    }
    waiting_.clear();
    admitted_at_ = not_scheduled;
}

void Sharing::fill_links() {
    std::erase_if(used_, [&](int on) {
        Load& load = load_of(on);
        if (load.messages == 0)
            load = {};
        else
            left_of(on) = {1 / wires_.busy(on, 1, load.messages), load.weight, load.messages};
        return load.messages == 0;
    });
}

/// Sets the rate of every message in flight by max-min sharing, starting with the link that has
/// the lowest rate per weight. A message that waited to be admitted is credited with the bytes that
/// it would have transferred at its new rate.
void Sharing::allot() {
    const Seconds passed = next_ - now_;
    now_ = next_;
    next_ = not_scheduled;
    fill_links();
    settled_ = gone_;
    const auto level_of = [&](int on) { return left_of(on).bytes_per_second / left_of(on).weight; };
    Levels levels;
    for (const int on : used_)
        levels.push({level_of(on), on});
    double reached = 0; // levels cannot fall, except by rounding errors
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
        settle_all_on(lowest.link, reached, passed);
    }
}

/// Prefetches the messages, because they are visited in random order and may not fit in the caches.
void Sharing::settle_all_on(int link, double rate_by_weight, Seconds passed) {
    constexpr std::size_t way_ahead = 12, links_ahead = 6;
    unsettled_.clear();
    std::ranges::copy_if(load_of(link).places, std::back_inserter(unsettled_),
                         [&](Place place) { return !settled_[place]; });
    for (std::size_t i = 0; i < unsettled_.size(); ++i) {
        if (i + way_ahead < unsettled_.size())
            __builtin_prefetch(&open_[unsettled_[i + way_ahead]]);
        if (i + links_ahead < unsettled_.size())
            __builtin_prefetch(links_of(open_[unsettled_[i + links_ahead]]).data());
        const Place place = unsettled_[i];
        settled_[place] = true;
        settle(place, rate_by_weight * open_[place].weight, passed);
    }
}

void Sharing::settle(Place place, double rate, Seconds passed) {
    Configuration& configuration = open_[place];
    configuration.left -=
        configuration.rate == 0 ? rate * (now_ - configuration.start) : configuration.rate * passed;
    configuration.rate = rate;
    const Seconds there = now_ + configuration.left / rate;
    dismissed_[place] = there - together_ * (there - configuration.start);
    next_ = std::min(next_, std::max(now_, there));
    for (const int on : links_of(configuration)) {
        Left& left = left_of(on);
        left.bytes_per_second -= rate;
        left.weight -= configuration.weight;
        --left.messages;
    }
}

Traffic::Traffic(const Question& question) : question_(question) {
    if (question.wires)
        sharing_.emplace(*question.wires);
}

bool Traffic::takes(int from, int to) {
    return sharing_ && sharing_->has_links(node_of(question_, from), node_of(question_, to));
}

void Traffic::enter(StepOfRank send, int to, Bytes bytes, Seconds now) {
    sharing_->start({node_of(question_, send.rank), node_of(question_, to),
                     static_cast<double>(std::max<Bytes>(1, bytes))},
                    now);
    sends_.push_back(send);
}

Seconds Traffic::next() const {
    return sharing_ ? sharing_->next() : std::numeric_limits<Seconds>::infinity();
}

const std::vector<Traffic::Left>& Traffic::pass() {
    left_.clear();
    for (const Arrival& arrival : sharing_->pass())
        left_.push_back({sends_[static_cast<std::size_t>(arrival.message)], arrival.time});
    return left_;
}

} // namespace sextant::model
