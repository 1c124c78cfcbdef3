// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/estimate.hpp"

#include "sextant/calibrate/campaign.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/machine/interpolate.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include <fmt/format.h>

namespace sextant::calibrate {

namespace {

using machine::Curve;
using machine::Layout;
using machine::Path;
using machine::Point;
using machine::Strategy;
using machine::Value;

Value less(const Value& value, Seconds by) {
    const auto at_least = [&](Seconds seconds) { return std::max(0.0, seconds - by); };
    return {at_least(value.median), at_least(value.low), at_least(value.high), value.samples};
}

Value at_most(const Value& value, Seconds most) {
    return {std::min(value.median, most), std::min(value.low, most), std::min(value.high, most),
            value.samples};
}

bool is_empty_message(const Cell& cell) {
    return cell.layout == Layout::cc && cell.bytes == 1;
}

class Costs {
  public:
    Costs(const Measurements& measured, machine::Link link)
        : measured_(measured), empty_trip_(trip(calibrate::empty_trip())) {
        profile_.state_probe = trip(probe());
        link_.link = link;
        smallest_exchange_.in_place = link != machine::Link::same_process;
        const double before = measured.probe_before.median, after = measured.probe_after.median;
        if (std::max(before, after) > one_state * std::min(before, after))
            profile_.state = unsteady;
    }

    machine::Profile made() {
        add_work(); // needed first: the cost of zero-copy messages is derived from it
        link_.start = start();
        for (const auto& [cell, series] : measured_.cells)
            add_message(cell, series);
        for (auto& [key, curve] : curves_) {
            add_empty(curve);
            std::ranges::sort(curve.points, {}, &Point::key);
            if (curve.strategy == Strategy::lending)
                not_below_first(curve.points);
            link_.curves.push_back(std::move(curve));
        }
        std::ranges::sort(link_.gap, {}, &Point::key);
        add_sending();
        if (!link_.curves.empty())
            profile_.links.push_back(std::move(link_));
        return std::move(profile_);
    }

  private:
    /// Returns the round-trip time of a cell, from its samples in the whole launch.
    Value trip(const Cell& cell) const {
        const auto found = measured_.cells.find(cell);
        return found == measured_.cells.end() ? Value{} : found->second.value(0);
    }
    Seconds empty() const { return empty_trip_.median / 2; }

    /// Returns the time of the fold of an exchange.
    Seconds fold_of(const Cell& exchange) const {
        const machine::Work* over = profile_.find_operator("over", "f32");
        return over ? machine::at_pass(over->passes, exchange.bytes / 16, 2).median : 0;
    }

    /// Returns the time that the smallest exchange takes beyond its message and its fold.
    std::optional<Value> start() const {
        if (measured_.cells.count(smallest_exchange_) == 0)
            return std::nullopt;
        return less(trip(smallest_exchange_), empty() + fold_of(smallest_exchange_));
    }

    /// Adds the time that an exchange takes beyond one message in the larger direction and the
    /// fold: sends and receives of one processor take turns as far as both of them copy. Large
    /// exchanges are also slowed down by memory, so that only their least excess counts.
    void add_sending() {
        constexpr Bytes large = Bytes{1} << 20, largest = 16 * large;
        const Curve* full = machine::find(link_, Path::full, Layout::cc, Strategy::contiguous);
        const Curve* send = machine::find(link_, Path::send, Layout::cc, Strategy::contiguous);
        if (!full || !send || !link_.start || link_.link != machine::Link::same_node)
            return;
        const auto alone = [&](Bytes bytes) {
            return machine::at_size(full->points, bytes).median;
        };
        link_.sending.push_back({0, 0, send->points.front().seconds});
        std::optional<double> least;
        for (const auto& [cell, series] : measured_.cells) { // by increasing size
            if (cell.strategy != Strategy::lending || cell.bytes <= smallest_exchange_.bytes)
                continue;
            const Value excess =
                less(series.value(0), alone(cell.bytes) + fold_of(cell) + link_.start->median);
            const Seconds most = 2 * machine::at_size(send->points, cell.bytes).median;
            if (cell.bytes < large)
                link_.sending.push_back({cell.bytes, cell.block, at_most(excess, most)});
            else
                least = std::min(least.value_or(1), excess.median / alone(cell.bytes));
        }
        for (const Bytes bytes : {large, largest}) {
            if (least)
                link_.sending.push_back({bytes, bytes, machine::exactly(*least * alone(bytes))});
        }
    }

    Curve& curve(Path path, Layout layout, Strategy strategy) {
        Curve& found = curves_[{path, layout, strategy}];
        found.path = path, found.layout = layout, found.strategy = strategy;
        return found;
    }

    void add_message(const Cell& cell, const Series& series) {
        if (cell.kind == Kind::stream)
            return add_stream(cell, series.value(0), series.value(1));
        if (cell.kind != Kind::round_trip || is_empty_message(cell))
            return;
        Value full = series.value(0);
        if (cell.strategy == Strategy::lending) {
            if (link_.link != machine::Link::same_process)
                return;
            full = less(full, fold_of(cell) + link_.start.value_or(Value{}).median);
        } else {
            full = less(full, empty());
        }
        curve(Path::full, cell.layout, cell.strategy)
            .points.push_back({cell.bytes, cell.block, full});
    }

    void add_stream(const Cell& cell, const Value& sent, const Value& received) {
        const bool nothing = is_empty_message(cell);
        if (!nothing && (sent.median <= 0 || received.median <= 0))
            return; // a difference of two times, of which one was interrupted
        const Bytes bytes = nothing ? 0 : cell.bytes, block = nothing ? 0 : cell.block;
        curve(Path::send, cell.layout, cell.strategy).points.push_back({bytes, block, sent});
        curve(Path::receive, cell.layout, cell.strategy).points.push_back({bytes, block, received});
        if (cell.layout == Layout::cc)
            link_.gap.push_back({bytes, block, sent.median > received.median ? sent : received});
        if (nothing)
            empty_stream_ = {sent, received};
    }

    /// Adds the point of the empty message, which is the same for every layout.
    void add_empty(Curve& curve) {
        if (curve.strategy == Strategy::lending ||
            (!curve.points.empty() && curve.points.front().bytes == 0))
            return;
        if (curve.path == Path::full)
            curve.points.push_back({0, 0, empty_trip_.times(.5)});
        else if (empty_stream_)
            curve.points.push_back(
                {0, 0, curve.path == Path::send ? empty_stream_->sent : empty_stream_->received});
    }

    /// Raises points below the first to its value: the noise of a long fold can exceed the small
    /// cost of a zero-copy message.
    static void not_below_first(std::vector<Point>& points) {
        for (Point& point : points) {
            point.seconds.median = std::max(point.seconds.median, points.front().seconds.median);
            point.seconds.high = std::max(point.seconds.high, point.seconds.median);
        }
    }

    using Works = std::map<std::pair<std::string, std::string>, machine::Work>;

    static void add_pass(Works& works, const Cell& cell, const Series& series) {
        machine::Work& work = works[{cell.operator_name, cell.element}];
        work.name = cell.operator_name, work.element = cell.element;
        (cell.alone ? work.alone : work.passes)
            .push_back({cell.elements, cell.operands, series.value(0)});
    }

    void add_work() {
        Works operators, kernels;
        for (const auto& [cell, series] : measured_.cells) {
            if (cell.kind == Kind::copy) {
                profile_.copies.push_back(
                    {cell.block, series.value(0).times(1 / static_cast<double>(cell.bytes)), {}});
            } else if (cell.kind == Kind::pass) {
                add_pass(operators, cell, series);
            } else if (cell.kind == Kind::kernel) {
                add_pass(kernels, cell, series);
            }
        }
        for (auto& [key, work] : kernels)
            profile_.kernels.push_back(std::move(work));
        for (auto& [key, work] : operators) {
            if (!work.passes.empty()) // skip work timed only with the other rank idle
                profile_.operators.push_back(std::move(work));
        }
    }

    struct EmptyStream {
        Value sent, received;
    };

    const Measurements& measured_;
    Cell smallest_exchange_ = lent(16);
    const Value empty_trip_;
    machine::Profile profile_;
    machine::LinkCosts link_;
    std::map<std::tuple<Path, Layout, Strategy>, Curve> curves_;
    std::optional<EmptyStream> empty_stream_;
};

} // namespace

machine::Profile costs_of(const Measurements& measurements, machine::Link link) {
    return Costs(measurements, link).made();
}

void add_costs(machine::Profile& profile, const machine::Profile& costs, bool with_work) {
    profile.links.insert(profile.links.end(), costs.links.begin(), costs.links.end());
    if (!with_work)
        return;
    profile.state = costs.state;
    profile.state_probe = costs.state_probe;
    profile.operators = costs.operators;
    profile.kernels = costs.kernels;
    profile.copies = costs.copies;
}

namespace {

using machine::Curve;
using machine::LinkCosts;
using machine::Pass;
using machine::Point;
using machine::Profile;
using machine::Value;
using machine::Work;

using Launches = std::vector<const Profile*>;

Value merged_value(const std::vector<Value>& values) {
    if (values.size() == 1)
        return values.front();
    std::vector<double> medians;
    std::int64_t samples = 0;
    for (const Value& value : values) {
        medians.push_back(value.median);
        samples += value.samples;
    }
    const Interval interval = interval_by_rank(medians);
    // The mean of the two middle values: with few launches, either one alone would be biased.
    const double middle = (median(medians) + quantile(medians, .5)) / 2;
    return {middle, interval.low, interval.high, samples};
}

/// The items of several launches, by key.
template <class Owner, class Item>
auto by_key(const std::vector<const Owner*>& owners, std::vector<Item> Owner::*items) {
    std::map<decltype(Item().key()), std::vector<const Item*>> groups;
    for (const Owner* owner : owners) {
        for (const Item& item : owner->*items)
            groups[item.key()].push_back(&item);
    }
    return groups;
}

/// Merges the rows of tables of several launches, without those that fewer than a third measured.
template <class Owner, class Row>
std::vector<Row> merged_rows(const std::vector<const Owner*>& owners, std::vector<Row> Owner::*rows,
                             Value Row::*value) {
    std::vector<Row> merged;
    for (const auto& [key, same] : by_key(owners, rows)) {
        if (3 * same.size() < owners.size())
            continue;
        std::vector<Value> values;
        for (const Row* row : same)
            values.push_back(row->*value);
        merged.push_back(*same.front());
        merged.back().*value = merged_value(values);
    }
    return merged;
}

LinkCosts merged_link(const std::vector<const LinkCosts*>& links) {
    LinkCosts merged;
    merged.link = links.front()->link;
    for (const auto& [key, curves] : by_key(links, &LinkCosts::curves)) {
        const auto& [path, layout, strategy] = key;
        merged.curves.push_back(
            {path, layout, strategy, {}, merged_rows(curves, &Curve::points, &Point::seconds)});
    }
    merged.gap = merged_rows(links, &LinkCosts::gap, &Point::seconds);
    merged.sending = merged_rows(links, &LinkCosts::sending, &Point::seconds);
    if (const Curve* whole = machine::find(merged, machine::Path::full, machine::Layout::cc,
                                           machine::Strategy::contiguous))
        merged.switches = switches_in(whole->points);
    return merged;
}

/// Merges the operators, or the kernels, of several launches.
std::vector<Work> merged_works(const Launches& launches, std::vector<Work> Profile::*which) {
    std::vector<Work> merged;
    for (const auto& [key, works] : by_key(launches, which)) {
        Work work{key.first, key.second, {}, {}, {}, {}};
        work.passes = merged_rows(works, &Work::passes, &Pass::seconds);
        work.alone = merged_rows(works, &Work::alone, &Pass::seconds);
        if (!work.passes.empty()) // skip work timed only with the other rank idle
            merged.push_back(std::move(work));
    }
    return merged;
}

/// Returns the launches during which the state did not change, or all launches if the state changed
/// in most of them.
Launches steady(std::span<const Profile> launches) {
    Launches all, steady;
    for (const Profile& launch : launches) {
        all.push_back(&launch);
        if (launch.state != unsteady)
            steady.push_back(&launch);
    }
    return 2 * steady.size() < all.size() ? all : steady;
}

/// Groups launches with similar probe times, the largest group first.
std::vector<Launches> states(Launches all) {
    std::sort(all.begin(), all.end(), [](const Profile* a, const Profile* b) {
        return a->state_probe.median < b->state_probe.median;
    });
    std::vector<Launches> groups;
    for (const Profile* launch : all) {
        const bool new_one =
            groups.empty() ||
            launch->state_probe.median > one_state * groups.back().back()->state_probe.median;
        if (new_one)
            groups.emplace_back();
        groups.back().push_back(launch);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Launches& a, const Launches& b) { return a.size() > b.size(); });
    return groups;
}

Profile merged_state(const Launches& launches) {
    Profile merged = **std::max_element(
        launches.begin(), launches.end(),
        [](const Profile* a, const Profile* b) { return a->origin.date < b->origin.date; });
    std::vector<Value> probes;
    for (const Profile* launch : launches)
        probes.push_back(launch->state_probe);
    merged.state.clear();
    merged.state_probe = merged_value(probes);
    merged.links.clear();
    for (const auto& [link, all] : by_key(launches, &Profile::links))
        merged.links.push_back(merged_link(all));
    merged.operators = merged_works(launches, &Profile::operators);
    merged.kernels = merged_works(launches, &Profile::kernels);
    merged.copies = merged_rows(launches, &Profile::copies, &machine::CopyRate::seconds_per_byte);
    return merged;
}

} // namespace

std::vector<Profile> merged(std::span<const Profile> launches) {
    if (launches.empty())
        throw std::invalid_argument("no launches to merge");
    std::vector<Launches> groups = states(steady(launches));
    if (groups.front().size() > 1)
        std::erase_if(groups, [](const Launches& group) { return group.size() == 1; });
    const std::size_t used =
        std::accumulate(groups.begin(), groups.end(), std::size_t{0},
                        [](std::size_t sum, const Launches& group) { return sum + group.size(); });
    std::vector<Profile> profiles;
    for (const Launches& group : groups) {
        Profile profile = merged_state(group);
        profile.origin.method =
            fmt::format("executor programs timed between two ranks; {} of {} launches used",
                        group.size(), launches.size());
        if (used < launches.size()) {
            profile.origin.method += fmt::format(
                ", {} excluded because the machine was in a different state or its state changed",
                launches.size() - used);
        }
        if (groups.size() > 1)
            profile.state = fmt::format("{} of {}", profiles.size() + 1, groups.size());
        profiles.push_back(std::move(profile));
    }
    return profiles;
}

} // namespace sextant::calibrate
