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

/// Extends measured rows beyond their sizes by those of the built-in machine, scaled by `ratios`;
/// `series` returns the number of the series of a row.
template <class Row, class Series>
void extend(std::vector<Row>& rows, const std::vector<Row>& built_in, const Ratios& ratios,
            const Series& series) {
    std::map<int, std::pair<std::int64_t, std::int64_t>> measured; // first and last size
    for (const Row& row : rows) {
        const std::int64_t size = row.key().first;
        measured.try_emplace(series(row), size, size).first->second.second = size;
    }
    for (Row row : built_in) {
        const std::int64_t size = row.key().first;
        const auto known = measured.find(series(row));
        if (known != measured.end() && size >= known->second.first && size <= known->second.second)
            continue;
        row.seconds = row.seconds.times(ratios.at(size));
        rows.push_back(row);
    }
    std::ranges::sort(rows, {}, &Row::key);
}

/// Adds the ratios of measured points to those of the built-in curve.
void add_ratios(Ratios& ratios, const machine::Curve& measured, const machine::Curve& built_in) {
    for (const machine::Point& point : measured.points)
        ratios.add(point.bytes, point.seconds.median,
                   machine::at_size(built_in.points, point.bytes).median);
}

/// Completes the curves of a link. Curves that were not measured are scaled by the ratios of whole
/// contiguous messages.
void complete_link(machine::LinkCosts& measured, const machine::LinkCosts& built_in) {
    Ratios usual; // of whole contiguous messages
    for (const machine::Curve& curve : measured.curves) {
        const machine::Curve* known =
            machine::find(built_in, curve.path, curve.layout, curve.strategy);
        if (known && curve.path == machine::Path::full &&
            curve.strategy == machine::Strategy::contiguous)
            add_ratios(usual, curve, *known);
    }
    for (const machine::Curve& known : built_in.curves) {
        auto curve = std::ranges::find(measured.curves, known.key(), &machine::Curve::key);
        if (curve == measured.curves.end())
            curve =
                measured.curves.insert(curve, {known.path, known.layout, known.strategy, {}, {}});
        Ratios ratios;
        add_ratios(ratios, *curve, known);
        extend(curve->points, known.points, ratios.empty() ? usual : ratios,
               [](const machine::Point&) { return 0; });
    }
}

/// True if the passes are too few for extrapolation.
bool is_at_one_size(const machine::Work& work) {
    return work.passes.empty() || work.passes.front().elements == work.passes.back().elements;
}

/// Completes the costs of work that was measured at too few sizes for extrapolation, or not at all,
/// by those of the built-in machine, which are scaled by the measured passes of `over`.
void complete_work(std::vector<machine::Work>& measured, const std::vector<machine::Work>& built_in,
                   const Ratios& ratios) {
    constexpr Elements usual = 1 << 16;
    for (const machine::Work& known : built_in) {
        auto work = std::ranges::find(measured, known.key(), &machine::Work::key);
        if (work == measured.end())
            work = measured.insert(work, {known.name, known.element, {}, {}, {}, {}});
        if (known.seconds_per_element && is_at_one_size(*work)) {
            work->passes.clear();
            work->seconds_per_element = known.seconds_per_element->times(ratios.at(usual));
        } else {
            extend(work->passes, known.passes, ratios,
                   [](const machine::Pass& pass) { return pass.operands; });
        }
    }
    std::erase_if(measured, [](const machine::Work& work) {
        return !work.seconds_per_element && is_at_one_size(work);
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
