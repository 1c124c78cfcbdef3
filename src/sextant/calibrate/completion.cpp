// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/completion.hpp"

#include "sextant/machine/interpolate.hpp"
#include "sextant/machine/profile_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace sextant::calibrate {

namespace {

/// The ratios of measured times to those of the built-in machine, by size.
class Ratios {
  public:
    void add(std::int64_t size, Seconds measured, Seconds built_in) {
        if (measured > 0 && built_in > 0)
            by_size_.emplace(std::log2(static_cast<double>(size) + 1), measured / built_in);
    }
    bool empty() const { return by_size_.empty(); }

    /// Interpolates in the logarithm of the size. Beyond the measured sizes, returns the ratio of
    /// the nearest one; 1 if nothing was measured.
    double at(std::int64_t size) const {
        if (empty())
            return 1;
        const double wanted = std::log2(static_cast<double>(size) + 1);
        const auto above = by_size_.lower_bound(wanted);
        if (above == by_size_.end() || above == by_size_.begin())
            return above == by_size_.end() ? by_size_.rbegin()->second : above->second;
        const auto below = std::prev(above);
        return std::lerp(below->second, above->second,
                         (wanted - below->first) / (above->first - below->first));
    }

  private:
    std::map<double, double> by_size_;
};

machine::Value times(const machine::Value& value, double factor) {
    return {value.median * factor, value.low * factor, value.high * factor, value.samples};
}

/// Extends a measured curve beyond its sizes by the built-in curve, scaled to the measured one;
/// `usual`: the ratios to use if nothing was measured.
void extend(machine::Curve& curve, const machine::Curve& built_in, const Ratios& usual) {
    std::vector<machine::Point>& points = curve.points;
    Ratios ratios;
    for (const machine::Point& point : points)
        ratios.add(point.bytes, point.seconds.median,
                   machine::at_size(built_in.points, point.bytes).median);
    const bool known = !points.empty();
    const Bytes first = known ? points.front().bytes : 0, last = known ? points.back().bytes : 0;
    for (const machine::Point& point : built_in.points) {
        const double factor = (ratios.empty() ? usual : ratios).at(point.bytes);
        if (!known || point.bytes < first || point.bytes > last)
            points.push_back({point.bytes, point.block, times(point.seconds, factor)});
    }
    std::sort(points.begin(), points.end(),
              [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
}

/// Completes the curves of a link. Curves that were not measured are scaled by the ratios of whole
/// contiguous messages.
void complete_link(machine::LinkCosts& measured, const machine::LinkCosts& built_in) {
    const auto find = [](auto& costs, const machine::Curve& like) {
        return std::find_if(costs.curves.begin(), costs.curves.end(), [&](const auto& curve) {
            return curve.path == like.path && curve.layout == like.layout &&
                   curve.strategy == like.strategy;
        });
    };
    Ratios usual; // of whole contiguous messages
    for (const machine::Curve& curve : measured.curves) {
        const auto known = find(built_in, curve);
        if (curve.path != machine::Path::full || known == built_in.curves.end() ||
            curve.strategy != machine::Strategy::contiguous)
            continue;
        for (const machine::Point& point : curve.points)
            usual.add(point.bytes, point.seconds.median,
                      machine::at_size(known->points, point.bytes).median);
    }
    for (const machine::Curve& curve : built_in.curves) {
        auto found = find(measured, curve);
        if (found == measured.curves.end()) {
            measured.curves.push_back({curve.path, curve.layout, curve.strategy, {}, {}});
            found = std::prev(measured.curves.end());
        }
        extend(*found, curve, usual);
    }
}

/// Extends the passes of an operator like a curve, for each number of operands.
void extend(machine::Work& work, const machine::Work& built_in, const Ratios& ratios) {
    std::map<int, std::pair<Elements, Elements>> measured; // first and last size, by operands
    for (const machine::Pass& pass : work.passes) {
        auto& [first, last] = measured.try_emplace(pass.operands, pass.elements, 0).first->second;
        last = pass.elements;
    }
    for (const machine::Pass& pass : built_in.passes) {
        const auto known = measured.find(pass.operands);
        if (known == measured.end() || pass.elements < known->second.first ||
            pass.elements > known->second.second)
            work.passes.push_back(
                {pass.elements, pass.operands, times(pass.seconds, ratios.at(pass.elements))});
    }
    std::sort(work.passes.begin(), work.passes.end(), [](const auto& a, const auto& b) {
        return std::pair(a.elements, a.operands) < std::pair(b.elements, b.operands);
    });
}

/// Completes the costs of work that was measured at too few sizes for extrapolation, or not at all,
/// by those of the built-in machine, which are scaled by the measured passes of `over`.
void complete_work(std::vector<machine::Work>& measured, const std::vector<machine::Work>& built_in,
                   const Ratios& ratios) {
    constexpr Elements usual = 1 << 16;
    for (const machine::Work& known : built_in) {
        const auto found = std::find_if(measured.begin(), measured.end(), [&](const auto& own) {
            return own.name == known.name && own.element == known.element;
        });
        machine::Work& work =
            found == measured.end()
                ? measured.emplace_back(machine::Work{known.name, known.element, {}, {}, {}, {}})
                : *found;
        if (known.seconds_per_element &&
            (work.passes.empty() || work.passes.front().elements == work.passes.back().elements)) {
            work.passes.clear();
            work.seconds_per_element = times(*known.seconds_per_element, ratios.at(usual));
        } else {
            extend(work, known, ratios);
        }
    }
    std::erase_if(measured, [](const machine::Work& work) {
        return !work.seconds_per_element &&
               (work.passes.empty() || work.passes.front().elements == work.passes.back().elements);
    });
}

} // namespace

void complete(machine::Profile& measured, bool with_work) {
    const machine::Profile& built_in = machine::built_in();
    for (machine::LinkCosts& link : measured.links) {
        if (const machine::LinkCosts* known = built_in.find(link.link))
            complete_link(link, *known);
    }
    if (!with_work)
        return;
    const machine::Work& over = *built_in.find_operator("over", "f32");
    Ratios ratios;
    if (const machine::Work* own = measured.find_operator("over", "f32")) {
        for (const machine::Pass& pass : own->passes) {
            if (pass.operands == 2)
                ratios.add(pass.elements, pass.seconds.median,
                           machine::at_pass(over.passes, pass.elements, 2).median);
        }
    }
    complete_work(measured.operators, built_in.operators, ratios);
    complete_work(measured.kernels, built_in.kernels, ratios);
    if (measured.copies.empty())
        measured.copies = built_in.copies;
}

} // namespace sextant::calibrate
