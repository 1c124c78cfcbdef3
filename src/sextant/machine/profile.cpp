// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/profile.hpp"

#include "sextant/core/statistics.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::machine {

namespace {

template <class Items, class Wanted>
auto* find_in(const Items& items, Wanted&& wanted) {
    const auto found = std::find_if(items.begin(), items.end(), wanted);
    return found == items.end() ? nullptr : &*found;
}

} // namespace

std::string_view name(Link link) {
    return link_names[static_cast<std::size_t>(link)];
}
std::string_view name(Path path) {
    return path_names[static_cast<std::size_t>(path)];
}
std::string_view name(Layout layout) {
    return layout_names[static_cast<std::size_t>(layout)];
}
std::string_view name(Strategy strategy) {
    return strategy_names[static_cast<std::size_t>(strategy)];
}
std::string_view name(Routing routing) {
    return routing_names[static_cast<std::size_t>(routing)];
}

const LinkCosts* Profile::find(Link link) const {
    return find_in(links, [&](const LinkCosts& l) { return l.link == link; });
}

namespace {

const Work* find_work(const std::vector<Work>& all, std::string_view wanted,
                      std::string_view element) {
    return find_in(
        all, [&](const Work& work) { return work.name == wanted && work.element == element; });
}

} // namespace

const Work* Profile::find_operator(std::string_view wanted, std::string_view element) const {
    return find_work(operators, wanted, element);
}

const Work* Profile::find_kernel(std::string_view wanted, std::string_view element) const {
    return find_work(kernels, wanted, element);
}

const Curve* find(const LinkCosts& link, Path path, Layout layout, Strategy strategy) {
    return find_in(link.curves,
                   [&](const Curve& c) { return c.key() == std::tuple(path, layout, strategy); });
}

namespace {

std::string what(const Point& point) {
    return point.block == point.bytes ? fmt::format("{} B", point.bytes)
                                      : fmt::format("{} B in {}", point.bytes, point.block);
}

void add_curves(std::vector<NamedValue>& values, const LinkCosts& link) {
    for (const Curve& curve : link.curves) {
        const std::string group = fmt::format("{} {} {} {}", name(link.link), name(curve.path),
                                              name(curve.layout), name(curve.strategy));
        for (const Point& point : curve.points)
            values.push_back({group, what(point), point.seconds});
    }
}

void add_work(std::vector<NamedValue>& values, const Work& work) {
    const std::string group = fmt::format("{} {}", work.name, work.element);
    const auto add = [&](const std::string& of, const std::vector<Pass>& passes) {
        for (const Pass& pass : passes)
            values.push_back(
                {of, fmt::format("{} of {}", pass.elements, pass.operands), pass.seconds});
    };
    add(group, work.passes);
    add(group + " alone", work.alone);
    if (work.seconds_per_element)
        values.push_back({group, "per element", *work.seconds_per_element});
}

/// Returns the larger distance from the median to an end of the interval, divided by the median.
double half_share(const Value& value) {
    const double half = std::max(value.high - value.median, value.median - value.low);
    return value.median > 0 ? half / value.median : 0;
}

} // namespace

void scale_times(Profile& profile, double messages, double work) {
    double factor = messages;
    const auto scale = [&](Value& value) { value = value.times(factor); };
    const auto scale_all = [&](auto& items) {
        for (auto& item : items)
            scale(item.seconds);
    };
    scale(profile.state_probe);
    for (LinkCosts& link : profile.links) {
        for (Curve& curve : link.curves)
            scale_all(curve.points);
        scale_all(link.gap);
        scale_all(link.sending);
        if (link.start)
            scale(*link.start);
    }
    factor = work;
    for (std::vector<Work>* works : {&profile.operators, &profile.kernels}) {
        for (Work& each : *works) {
            scale_all(each.passes);
            scale_all(each.alone);
            if (each.seconds_per_element)
                scale(*each.seconds_per_element);
        }
    }
    for (CopyRate& copy : profile.copies)
        scale(copy.seconds_per_byte);
}

std::vector<NamedValue> values_of(const Profile& profile) {
    std::vector<NamedValue> values;
    for (const LinkCosts& link : profile.links)
        add_curves(values, link);
    for (const Work& work : profile.operators)
        add_work(values, work);
    for (const Work& work : profile.kernels)
        add_work(values, work);
    for (const CopyRate& copy : profile.copies) {
        values.push_back({"copies", copy.block == 0 ? "whole" : fmt::format("in {} B", copy.block),
                          copy.seconds_per_byte});
    }
    return values;
}

Precision worth_of(const Profile& profile, double requested) {
    std::vector<double> halves;
    for (const NamedValue& value : values_of(profile))
        halves.push_back(half_share(value.value));
    if (halves.empty())
        return {};
    const auto wide =
        std::count_if(halves.begin(), halves.end(), [&](double half) { return half > requested; });
    return {static_cast<int>(halves.size()), static_cast<int>(wide), median(halves),
            quantile(halves, .9)};
}

} // namespace sextant::machine
