// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/estimate.hpp"

#include "sextant/machine/interpolate.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

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

Value half(const Value& value) {
    return {value.median / 2, value.low / 2, value.high / 2, value.samples};
}

/// Scaled to one of `of` equal parts.
Value part_of(const Value& value, Bytes of) {
    const auto n = static_cast<double>(of);
    return {value.median / n, value.low / n, value.high / n, value.samples};
}

bool ordered(const Point& a, const Point& b) {
    return std::tie(a.bytes, a.block) < std::tie(b.bytes, b.block);
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
        const double before = measured.probe_before.median, after = measured.probe_after.median;
        if (std::max(before, after) > one_state * std::min(before, after))
            profile_.state = unsteady;
    }

    machine::Profile made() {
        add_work(); // lent messages are told from it
        for (const auto& [cell, series] : measured_.cells)
            add_message(cell, series);
        for (auto& [key, curve] : curves_) {
            add_empty(curve);
            std::sort(curve.points.begin(), curve.points.end(), ordered);
            if (curve.strategy == Strategy::lending)
                not_below_first(curve.points);
            link_.curves.push_back(std::move(curve));
        }
        std::sort(link_.gap.begin(), link_.gap.end(), ordered);
        if (!link_.curves.empty())
            profile_.links.push_back(std::move(link_));
        return std::move(profile_);
    }

  private:
    /// A round trip over the whole launch.
    Value trip(const Cell& cell) const {
        const auto found = measured_.cells.find(cell);
        return found == measured_.cells.end() ? Value{} : found->second.value(0);
    }
    Seconds empty() const { return empty_trip_.median / 2; }

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
        Value full = less(series.value(0), empty());
        if (cell.strategy == Strategy::lending) {
            const machine::Work* over = profile_.find_operator("over", "f32");
            if (!over)
                return;
            full = less(full, machine::at_pass(over->passes, cell.bytes / 16, 2).median);
        }
        curve(Path::full, cell.layout, cell.strategy)
            .points.push_back({cell.bytes, cell.block, full});
    }

    void add_stream(const Cell& cell, const Value& sent, const Value& received) {
        const bool nothing = is_empty_message(cell);
        const Bytes bytes = nothing ? 0 : cell.bytes, block = nothing ? 0 : cell.block;
        curve(Path::send, cell.layout, cell.strategy).points.push_back({bytes, block, sent});
        curve(Path::receive, cell.layout, cell.strategy).points.push_back({bytes, block, received});
        if (cell.layout == Layout::cc)
            link_.gap.push_back({bytes, block, sent.median > received.median ? sent : received});
        if (nothing)
            empty_stream_ = {sent, received};
    }

    /// No bytes have no layout.
    void add_empty(Curve& curve) {
        if (curve.strategy == Strategy::lending ||
            (!curve.points.empty() && curve.points.front().bytes == 0))
            return;
        if (curve.path == Path::full)
            curve.points.push_back({0, 0, half(empty_trip_)});
        else if (empty_stream_)
            curve.points.push_back(
                {0, 0, curve.path == Path::send ? empty_stream_->sent : empty_stream_->received});
    }

    /// What a long fold takes more or less hides the little that lending costs; never less than for
    /// the shortest.
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
                profile_.copies.push_back({cell.block == cell.bytes ? 0 : cell.block,
                                           part_of(series.value(0), cell.bytes),
                                           {}});
            } else if (cell.kind == Kind::pass) {
                add_pass(operators, cell, series);
            } else if (cell.kind == Kind::kernel) {
                add_pass(kernels, cell, series);
            }
        }
        for (auto& [key, work] : kernels)
            profile_.kernels.push_back(std::move(work));
        for (auto& [key, work] : operators) {
            if (!work.passes.empty()) // passes alone only say how much less those take
                profile_.operators.push_back(std::move(work)); // cells are ordered as passes are
        }
    }

    struct EmptyStream {
        Value sent, received;
    };

    const Measurements& measured_;
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

} // namespace sextant::calibrate
