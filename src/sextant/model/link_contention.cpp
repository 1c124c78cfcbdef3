// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/link_contention.hpp"

#include "sextant/model/message.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

namespace sextant::model {

Sharing::Sharing(const machine::Wires& wires, double together)
    : wires_(wires),
      together_(together),
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
    if (links_.size() > 2 * links_kept_ + 1'000'000 || in_flight_ == 0)
        drop_old_links();
    Flow flow{.start = now, .left = message.bytes, .first = links_.size(), .message = count_};
    wires_.route(message.from, message.to, links_);
    flow.links = static_cast<std::uint32_t>(links_.size() - flow.first);
    Seconds latency = 0, patience = 0;
    for (const int on : links_of(flow)) {
        latency += wires_.latency ? wires_.latency(on) : 0;
        const double crowd = std::max(1., load_of(on).messages / 4.);
        patience = std::max(patience, crowd * wires_.busy(on, message.bytes, 1));
    }
    flow.weight = latency > 0 ? 1 / latency : 1;
    const ComponentId which = component_with(flow);
    Component& component = components_[which];
    component.waiting.push_back(place_for(flow));
    component.admitted_at = std::min(component.admitted_at, now + together_ * patience);
    if (component.admitted_at < component.next) {
        component.next = component.admitted_at;
        schedule(which);
    }
    ++in_flight_;
    return count_++;
}

/// Removes the paths of messages that have arrived.
void Sharing::drop_old_links() {
    std::vector<int> kept;
    for (const Component& component : components_) {
        for (const std::vector<Place>* places : {&component.open, &component.waiting}) {
            for (const Place place : *places) {
                Flow& flow = open_[place];
                if (flow.gone)
                    continue;
                const auto links = links_of(flow);
                flow.first = kept.size();
                kept.insert(kept.end(), links.begin(), links.end());
            }
        }
    }
    links_kept_ = kept.size();
    links_ = std::move(kept);
}

Sharing::Place Sharing::place_for(const Flow& flow) {
    if (free_places_.empty()) {
        open_.push_back(flow);
        return static_cast<Place>(open_.size() - 1);
    }
    const Place place = free_places_.back();
    free_places_.pop_back();
    open_[place] = flow;
    return place;
}

/// Returns the component of a new message: merges all components that use its links, and adds the
/// links that no component uses.
Sharing::ComponentId Sharing::component_with(const Flow& flow) {
    ComponentId which = none;
    for (const int on : links_of(flow)) {
        if (const ComponentId other = load_of(on).component; other != none && other != which)
            which = which == none ? other : joined(which, other);
    }
    if (which == none)
        which = new_component();
    for (const int on : links_of(flow)) {
        if (load_of(on).component == none) {
            load_of(on).component = which;
            components_[which].used.push_back(on);
        }
    }
    return which;
}

Sharing::ComponentId Sharing::new_component() {
    if (free_components_.empty()) {
        components_.emplace_back();
        return static_cast<ComponentId>(components_.size() - 1);
    }
    const ComponentId which = free_components_.back();
    free_components_.pop_back();
    return which;
}

/// Merges two components by moving the messages and links of the one with fewer messages to the
/// other.
Sharing::ComponentId Sharing::joined(ComponentId a, ComponentId b) {
    const auto messages = [&](ComponentId which) {
        return components_[which].open.size() + components_[which].waiting.size();
    };
    const ComponentId to = messages(a) >= messages(b) ? a : b, from = to == a ? b : a;
    Component &larger = components_[to], &smaller = components_[from];
    for (const int on : smaller.used)
        load_of(on).component = to;
    const auto move = [](auto& list, auto& onto) {
        onto.insert(onto.end(), list.begin(), list.end());
    };
    move(smaller.used, larger.used);
    move(smaller.open, larger.open);
    move(smaller.waiting, larger.waiting);
    larger.many_gone += smaller.many_gone;
    larger.admitted_at = std::min(larger.admitted_at, smaller.admitted_at);
    if (smaller.next < larger.next) {
        larger.next = smaller.next;
        schedule(to);
    }
    release(from);
    return to;
}

/// Makes a component with no messages available for reuse.
void Sharing::release(ComponentId which) {
    Component& component = components_[which];
    component.next = component.admitted_at = never;
    component.many_gone = 0;
    component.open.clear();
    component.waiting.clear();
    component.used.clear();
    free_components_.push_back(which);
    schedule(which);
}

/// Records a component's next event after it has changed.
void Sharing::schedule(ComponentId which) {
    Component& component = components_[which];
    ++component.version;
    if (component.next < never) {
        due_.push_back({component.next, which, component.version});
        std::push_heap(due_.begin(), due_.end(), std::greater<>());
    }
    while (!due_.empty() && due_.front().version != components_[due_.front().component].version) {
        std::pop_heap(due_.begin(), due_.end(), std::greater<>());
        due_.pop_back();
    }
}

std::span<const Arrival> Sharing::pass() {
    there_.clear();
    if (due_.empty())
        return there_;
    const ComponentId which = due_.front().component;
    Component& component = components_[which];
    dismiss(component);
    if (component.many_gone > component.open.size() / 2)
        tidy(which);
    admit(component);
    allot(component);
    if (component.open.empty())
        release(which);
    else
        schedule(which);
    return there_;
}

/// Removes messages that arrive at or shortly after the next event. They free their links now, but
/// keep their arrival times.
void Sharing::dismiss(Component& component) {
    for (const Place place : component.open) {
        const Flow& flow = open_[place];
        if (flow.dismissed > component.next)
            continue;
        there_.push_back({flow.message, flow.since + flow.left / flow.rate});
        take_off_links(place);
        ++component.many_gone;
    }
    in_flight_ -= there_.size();
}

/// Marks a message as arrived and removes its weight from its links. The lists of the links contain
/// the message until tidy(); readers of these lists skip it.
void Sharing::take_off_links(Place place) {
    for (const int on : links_of(open_[place])) {
        Load& load = load_of(on);
        load.weight -= open_[place].weight;
        --load.messages;
    }
    open_[place].dismissed = never;
    open_[place].gone = open_[place].settled = true;
}

/// Removes arrived messages from all lists of a component, and divides the component if its other
/// messages no longer share links.
void Sharing::tidy(ComponentId which) {
    Component& component = components_[which];
    for (const int on : component.used) {
        Load& load = load_of(on);
        std::erase_if(load.places, [&](Place place) { return open_[place].gone; });
        load.weight = 0;
    }
    std::erase_if(component.open, [&](Place place) {
        if (open_[place].gone)
            free_places_.push_back(place);
        return open_[place].gone;
    });
    for (const Place place : component.open) {
        for (const int on : links_of(open_[place]))
            load_of(on).weight += open_[place].weight;
    }
    component.many_gone = 0;
    divide(which);
}

/// Splits a component into its connected parts, which union-find over the links determines. The
/// first part keeps the number of the component. All parts keep its next event.
void Sharing::divide(ComponentId which) {
    Component& whole = components_[which];
    std::vector<Place> messages = whole.open;
    messages.insert(messages.end(), whole.waiting.begin(), whole.waiting.end());
    for (const int on : whole.used)
        load_of(on).component = none;
    // Union-find trees of messages. Meanwhile, `component` of a link is the first message on the
    // link.
    std::vector<std::uint32_t> parent(messages.size());
    const auto root = [&](std::uint32_t i) {
        while (parent[i] != i)
            i = parent[i] = parent[parent[i]];
        return i;
    };
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        parent[i] = i;
        for (const int on : links_of(open_[messages[i]])) {
            ComponentId& first = load_of(on).component;
            if (first == none)
                first = i;
            else if (const std::uint32_t a = root(first), b = root(i); a != b)
                parent[std::max(a, b)] = std::min(a, b);
        }
    }
    const std::vector<int> used = std::exchange(whole.used, {});
    const std::size_t in_flight = whole.open.size();
    whole.open.clear();
    whole.waiting.clear();
    std::vector<ComponentId> component_of(messages.size(), none); // by root
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        ComponentId& part = component_of[root(i)];
        if (part == none) {
            part = root(i) == 0 ? which : new_component();
            components_[part].admitted_at = whole.admitted_at;
            components_[part].next = whole.next;
        }
        (i < in_flight ? components_[part].open : components_[part].waiting).push_back(messages[i]);
    }
    for (const int on : used) {
        ComponentId& component = load_of(on).component;
        if (component != none) {
            component = component_of[root(component)];
            components_[component].used.push_back(on);
        }
    }
    for (const ComponentId part : component_of) {
        if (part != none && part != which)
            schedule(part);
    }
}

void Sharing::admit(Component& component) {
    for (const Place place : component.waiting) {
        for (const int on : links_of(open_[place])) {
            Load& load = load_of(on);
            if (load.places.empty() || load.places.back() != place)
                load.places.push_back(place); // once, even if the path lists the link repeatedly
            load.weight += open_[place].weight;
            ++load.messages;
        }
        open_[place].dismissed = never;
        component.open.push_back(place);
    }
    component.waiting.clear();
    component.admitted_at = never;
}

void Sharing::fill_links(Component& component) {
    std::erase_if(component.used, [&](int on) {
        Load& load = load_of(on);
        if (load.messages > 0) {
            if (std::exchange(load.sharing, load.messages) != load.messages)
                load.bytes_per_second = 1 / wires_.busy(on, 1, load.messages);
            left_of(on) = {load.bytes_per_second, load.weight, load.messages};
            return false;
        }
        load.places.clear();
        load.weight = 0;
        load.component = none;
        return true;
    });
}

/// Sets the rate of every message in flight by max-min fair sharing, starting with the link that
/// has the lowest rate per weight. A message that waited to be admitted is credited with the bytes
/// that it would have transferred at its new rate.
void Sharing::allot(Component& component) {
    const Seconds now = std::exchange(component.next, never);
    fill_links(component);
    for (const Place place : component.open)
        open_[place].settled = open_[place].gone;
    levels_.clear();
    for (const int on : component.used)
        levels_.push_back(level_with(level_of(on), on));
    std::make_heap(levels_.begin(), levels_.end(), std::greater<>());
    std::size_t unsettled = component.open.size() - component.many_gone;
    while (unsettled > 0) {
        std::pop_heap(levels_.begin(), levels_.end(), std::greater<>());
        const int link = static_cast<int>(static_cast<std::uint32_t>(levels_.back()));
        const double lowest = rate_by_weight(levels_.back());
        levels_.pop_back();
        if (left_of(link).messages == 0)
            continue;
        // Levels do not fall as messages are settled, except by rounding errors.
        if (const double level = level_of(link); level > lowest * (1 + 1e-9)) {
            levels_.push_back(level_with(level, link));
            std::push_heap(levels_.begin(), levels_.end(), std::greater<>());
            continue;
        }
        component.next = std::min(component.next, settle_all_on(link, lowest, now));
        unsettled -= unsettled_.size();
    }
}

/// Settles the messages on a link that have no new rate yet, and returns the earliest arrival time
/// among them. Prefetches the messages, because they are visited in random order and may not fit in
/// the caches.
Seconds Sharing::settle_all_on(int link, double rate_by_weight, Seconds now) {
    constexpr std::size_t flows_ahead = 12, links_ahead = 6;
    unsettled_.clear();
    std::ranges::copy_if(load_of(link).places, std::back_inserter(unsettled_),
                         [&](Place place) { return !open_[place].settled; });
    Seconds first = never;
    for (std::size_t i = 0; i < unsettled_.size(); ++i) {
        if (i + flows_ahead < unsettled_.size())
            __builtin_prefetch(&open_[unsettled_[i + flows_ahead]]);
        if (i + links_ahead < unsettled_.size())
            __builtin_prefetch(links_of(open_[unsettled_[i + links_ahead]]).data());
        Flow& flow = open_[unsettled_[i]];
        first = std::min(first, settle(flow, rate_by_weight * flow.weight, now));
    }
    return first;
}

/// Sets the rate of a message from `now` on, and returns its arrival time.
Seconds Sharing::settle(Flow& flow, double rate, Seconds now) {
    flow.left -= flow.rate == 0 ? rate * (now - flow.start) : flow.rate * (now - flow.since);
    flow.rate = rate;
    flow.since = now;
    flow.settled = true;
    const Seconds there = now + flow.left / rate;
    flow.dismissed = there - together_ * (there - flow.start);
    for (const int on : links_of(flow)) {
        Left& left = left_of(on);
        left.bytes_per_second -= rate;
        left.weight -= flow.weight;
        --left.messages;
    }
    return std::max(now, there);
}

Traffic::Traffic(const Question& question) {
    if (question.wires)
        sharing_.emplace(*question.wires);
}

bool Traffic::takes(int from, int to) {
    return sharing_ && sharing_->has_links(from, to);
}

void Traffic::enter(StepOfRank send, int to, Bytes bytes, Seconds now) {
    sharing_->start({send.rank, to, static_cast<double>(std::max<Bytes>(1, bytes))}, now);
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
