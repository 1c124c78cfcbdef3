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

/// Messages in flight keep their rates until the new message is admitted, so they arrive slightly
/// too early: on a link with many messages, by at most a quarter of `together`.
int Sharing::start(const MessageInFlight& message, Seconds now) {
    if (links_.size() > 2 * links_kept_ + 1'000'000 || in_flight_ == 0)
        drop_old_links();
    Flow flow{.start = now,
              .left = message.bytes,
              .first = static_cast<std::uint32_t>(links_.size()),
              .message = count_};
    wires_.route(message.from, message.to, links_);
    flow.links = static_cast<std::uint32_t>(links_.size() - flow.first) & 0x7fff'ffff;
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
                const auto links = links_of(flow);
                flow.first = static_cast<std::uint32_t>(kept.size());
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
/// other, where their rates are set again.
Sharing::ComponentId Sharing::joined(ComponentId a, ComponentId b) {
    const auto messages = [&](ComponentId which) {
        return components_[which].open.size() + components_[which].waiting.size();
    };
    const ComponentId to = messages(a) >= messages(b) ? a : b, from = to == a ? b : a;
    Component &larger = components_[to], &smaller = components_[from];
    for (const int on : smaller.used) {
        if (load_of(on).component == from)
            load_of(on).component = to;
    }
    larger.affected = std::min(larger.affected, smaller.affected);
    if (!smaller.shares.empty())
        larger.affected = std::min(larger.affected, smaller.shares.front().rate_by_weight);
    const auto move = [](auto& list, auto& onto) {
        onto.insert(onto.end(), list.begin(), list.end());
    };
    move(smaller.used, larger.used);
    move(smaller.open, larger.open);
    move(smaller.waiting, larger.waiting);
    larger.gone += smaller.gone;
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
    component.next = component.admitted_at = component.affected = never;
    component.gone = component.settled = 0;
    component.shares.clear();
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
    if (component.gone > component.open.size())
        tidy(which);
    admit(which);
    release_empty_links(which);
    allot(component);
    if (component.open.empty())
        release(which);
    else
        schedule(which);
    return there_;
}

/// Removes messages that arrive at or shortly after the next event, in the order of their numbers.
/// They free their links now, but keep their arrival times.
void Sharing::dismiss(Component& component) {
    std::size_t first = component.shares.size();
    for (std::size_t i = first; i-- > 0;) {
        if (component.shares[i].dismissed <= component.next)
            first = i;
    }
    unsettle(component, first);
    const auto affected = component.open.begin() + static_cast<std::ptrdiff_t>(component.settled);
    const auto arrives = [&](Place place) { return open_[place].dismissed <= component.next; };
    const auto arrived =
        std::stable_partition(affected, component.open.end(), std::not_fn(arrives));
    for (auto place = arrived; place != component.open.end(); ++place) {
        const Flow& flow = open_[*place];
        there_.push_back({flow.message, flow.since + flow.left / flow.rate});
        take_off_links(flow);
        free_places_.push_back(*place);
    }
    component.open.erase(arrived, component.open.end());
    std::ranges::sort(there_, {}, &Arrival::message);
    component.gone += there_.size();
    in_flight_ -= there_.size();
}

/// Declares the rates of a share's messages, and all higher ones, invalid.
void Sharing::unsettle(Component& component, std::size_t first_share) {
    if (first_share >= component.shares.size())
        return;
    component.settled = component.shares[first_share].first;
    component.shares.resize(first_share);
}

void Sharing::take_off_links(const Flow& flow) {
    for (const int on : links_of(flow)) {
        left_of(on).bytes_per_second += flow.rate;
        Load& load = load_of(on);
        load.weight -= flow.weight;
        if (--load.messages == 0)
            emptied_.push_back(on);
    }
}

/// Removes accumulated rounding errors and links that a component no longer uses, and divides the
/// component if its messages no longer share links.
void Sharing::tidy(ComponentId which) {
    Component& component = components_[which];
    std::erase_if(component.used, [&](int on) { return load_of(on).component != which; });
    std::ranges::sort(component.used);
    component.used.erase(std::unique(component.used.begin(), component.used.end()),
                         component.used.end());
    for (const int on : component.used) {
        load_of(on).weight = 0;
        left_of(on).bytes_per_second = load_of(on).bytes_per_second;
    }
    for (const Place place : component.open) {
        for (const int on : links_of(open_[place])) {
            load_of(on).weight += open_[place].weight;
            left_of(on).bytes_per_second -= open_[place].rate;
        }
    }
    component.gone = 0;
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
    const std::vector<Share> shares = std::exchange(whole.shares, {});
    const std::size_t in_flight = whole.open.size(), settled = std::exchange(whole.settled, 0);
    whole.open.clear();
    whole.waiting.clear();
    auto share = shares.begin();
    std::vector<ComponentId> component_of(messages.size(), none); // by root
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        ComponentId& part = component_of[root(i)];
        if (part == none) {
            part = root(i) == 0 ? which : new_component();
            components_[part].admitted_at = whole.admitted_at;
            components_[part].next = whole.next;
            components_[part].affected = whole.affected;
        }
        Component& own = components_[part];
        if (share != shares.end() && share->first == i) {
            own.shares.push_back(*share++);
            own.shares.back().first = own.open.size();
        }
        own.settled += i < settled ? 1 : 0;
        (i < in_flight ? own.open : own.waiting).push_back(messages[i]);
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

void Sharing::admit(ComponentId which) {
    Component& component = components_[which];
    for (const Place place : component.waiting) {
        for (const int on : links_of(open_[place])) {
            load_of(on).weight += open_[place].weight;
            ++load_of(on).messages;
        }
    }
    for (const Place place : component.waiting) {
        for (const int on : links_of(open_[place])) {
            const Load& load = load_of(on);
            const double capacity = 1 / wires_.busy(on, 1, load.messages);
            component.affected = std::min(component.affected, capacity / load.weight);
        }
        component.open.push_back(place);
    }
    component.waiting.clear();
    component.admitted_at = never;
}

void Sharing::release_empty_links(ComponentId which) {
    for (const int on : emptied_) {
        const Load& load = load_of(on);
        if (load.messages > 0 || (load.component != which && load.component != none))
            continue;
        load_of(on) = {};
        left_of(on) = {};
    }
    emptied_.clear();
}

namespace {

/// Moves an entry of a heap down to its place. The lowest entry is the first one; each entry has
/// four below it, which are adjacent in memory.
template <class Entry>
void sink(std::vector<Entry>& heap, std::size_t at) {
    constexpr std::size_t arity = 4;
    const Entry moved = heap.empty() ? Entry() : heap[at];
    for (std::size_t next = arity * at + 1; next < heap.size(); next = arity * at + 1) {
        const std::size_t end = std::min(next + arity, heap.size());
        for (std::size_t other = next + 1; other < end; ++other)
            next = heap[other] < heap[next] ? other : next;
        if (moved < heap[next])
            break;
        heap[at] = heap[next];
        at = next;
    }
    if (!heap.empty())
        heap[at] = moved;
}

} // namespace

/// Lists the messages of a component that have no rate, by link, and the levels of these links.
void Sharing::list_unsettled(Component& component) {
    const std::span<const Place> unsettled = std::span(component.open).subspan(component.settled);
    touched_.clear();
    for (std::size_t i = 0; i < unsettled.size(); ++i) {
        prefetch(unsettled, i);
        Flow& flow = open_[unsettled[i]];
        flow.settled = 0;
        for (const int on : links_of(flow)) {
            Left& left = left_of(on);
            left.bytes_per_second += flow.rate;
            left.weight += flow.weight;
            if (left.messages++ == 0)
                touched_.push_back(on);
        }
    }
    levels_.clear();
    std::uint32_t listed = 0;
    for (const int on : touched_) {
        Load& load = load_of(on);
        Left& left = left_of(on);
        if (std::exchange(load.sharing, load.messages) != load.messages) {
            const double before =
                std::exchange(load.bytes_per_second, 1 / wires_.busy(on, 1, load.messages));
            left.bytes_per_second += load.bytes_per_second - before;
        }
        levels_.push_back(level_with(level_of(on), on));
        listed += static_cast<std::uint32_t>(left.messages);
        left.first = listed;
    }
    on_links_.resize(listed);
    for (std::size_t i = unsettled.size(); i-- > 0;) {
        for (const int on : links_of(open_[unsettled[i]]))
            on_links_[--left_of(on).first] = unsettled[i];
    }
    for (std::size_t i = levels_.size() / 4 + 1; i-- > 0;) // the others have none below them
        sink(levels_, i);
}

/// Sets the rates of messages in flight by max-min fair sharing, starting with the link that has
/// the lowest rate per weight. Rates below `affected`, and below those of the messages that have
/// arrived, do not change: messages with higher rates have no effect on them. A message that waited
/// to be admitted is credited with the bytes that it would have transferred at its new rate.
void Sharing::allot(Component& component) {
    const Seconds now = std::exchange(component.next, never);
    constexpr double rounding = 1e-9;
    const double affected = std::exchange(component.affected, never) * (1 - rounding);
    const auto first =
        std::ranges::lower_bound(component.shares, affected, {}, &Share::rate_by_weight);
    unsettle(component, static_cast<std::size_t>(first - component.shares.begin()));
    list_unsettled(component);
    const std::size_t all = component.open.size();
    component.open.resize(component.settled);
    while (component.open.size() < all) {
        const int link = static_cast<int>(static_cast<std::uint32_t>(levels_.front()));
        const double lowest = rate_by_weight(levels_.front());
        if (left_of(link).messages == 0) {
            levels_.front() = levels_.back();
            levels_.pop_back();
        } else if (const double level = level_of(link); level > lowest * (1 + rounding)) {
            levels_.front() = level_with(level, link);
        } else { // levels do not fall as messages are settled, except by rounding errors
            settle_all_on(link, lowest, now, component);
            continue;
        }
        sink(levels_, 0);
    }
    component.settled = all;
    for (const Share& share : component.shares)
        component.next = std::min(component.next, share.next);
}

/// Settles the messages on a link that have no rate, as one share.
void Sharing::settle_all_on(int link, double rate_by_weight, Seconds now, Component& component) {
    Share share{rate_by_weight, component.open.size()};
    for (std::size_t i = left_of(link).first; left_of(link).messages > 0; ++i) {
        prefetch(on_links_, i);
        Flow& flow = open_[on_links_[i]];
        if (flow.settled)
            continue;
        component.open.push_back(on_links_[i]);
        share.next = std::min(share.next, settle(flow, rate_by_weight * flow.weight, now));
        share.dismissed = std::min(share.dismissed, flow.dismissed);
    }
    component.shares.push_back(share);
}

/// Sets the rate of a message from `now` on, and returns its arrival time.
Seconds Sharing::settle(Flow& flow, double rate, Seconds now) {
    flow.left -= flow.rate == 0 ? rate * (now - flow.start) : flow.rate * (now - flow.since);
    flow.rate = rate;
    flow.since = now;
    flow.settled = 1;
    const Seconds there = now + flow.left / rate;
    flow.dismissed = there - together_ * (there - flow.start);
    for (const int on : links_of(flow)) {
        Left& left = left_of(on);
        left.bytes_per_second -= rate;
        left.weight = --left.messages == 0 ? 0 : left.weight - flow.weight;
    }
    return std::max(now, there);
}

bool Traffic::takes(int from, int to) {
    if (!wires_)
        return false;
    path_.clear();
    wires_->route(from, to, path_);
    return !path_.empty();
}

void Traffic::enter(StepOfRank send, int to, Bytes bytes, Seconds now) {
    if (!sharing_)
        sharing_.emplace(*wires_);
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
