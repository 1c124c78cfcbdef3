// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/campaign.hpp"

#include "sextant/calibrate/estimate.hpp"
#include "sextant/calibrate/rig.hpp"
#include "sextant/calibrate/this_machine.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <set>
#include <tuple>

namespace sextant::calibrate {

namespace {

using machine::Point;

double half_interval(const Point& point) {
    return (point.seconds.high - point.seconds.low) / 2;
}

/// True if the two sizes are so close that a protocol switch between them needs no bisection.
bool close(const Point& a, const Point& b) {
    return b.bytes - a.bytes <= 16 ||
           static_cast<double>(b.bytes) <= 1.05 * static_cast<double>(a.bytes);
}

bool off_the_line(const Point& before, const Point& at, const Point& after) {
    const double share = static_cast<double>(at.bytes - before.bytes) /
                         static_cast<double>(after.bytes - before.bytes);
    const double line =
        before.seconds.median + share * (after.seconds.median - before.seconds.median);
    return std::abs(at.seconds.median - line) >
           std::max(.05 * at.seconds.median, 3 * half_interval(at));
}

bool jumps(const Point& a, const Point& b) {
    return std::abs(b.seconds.median - a.seconds.median) >
           std::max({.1 * a.seconds.median, 3 * half_interval(a), 3 * half_interval(b)});
}

/// Returns the mean of two sizes, rounded to a multiple of `unit`. The mean is geometric, because
/// sizes span seven orders of magnitude.
Bytes between(Bytes a, Bytes b, Bytes unit) {
    const double middle = a == 0 ? static_cast<double>(b) / 2
                                 : std::sqrt(static_cast<double>(a) * static_cast<double>(b));
    return std::llround(middle / static_cast<double>(unit)) * unit;
}

} // namespace

std::vector<Bytes> sizes_wanted(std::span<const Point> points, Bytes unit) {
    std::set<Bytes> wanted;
    const auto halve = [&](const Point& a, const Point& b) {
        const Bytes middle = between(a.bytes, b.bytes, unit);
        if (!close(a, b) && middle > a.bytes && middle < b.bytes)
            wanted.insert(middle);
    };
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        if (!off_the_line(points[i - 1], points[i], points[i + 1]))
            continue;
        halve(points[i - 1], points[i]);
        halve(points[i], points[i + 1]);
    }
    return {wanted.begin(), wanted.end()};
}

std::vector<Bytes> switches_in(std::span<const Point> points) {
    std::vector<Bytes> switches;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        if (points[i].bytes > 0 && close(points[i], points[i + 1]) &&
            jumps(points[i], points[i + 1]))
            switches.push_back(points[i].bytes);
    }
    return switches;
}

namespace {

constexpr std::size_t least_samples = 12, most_samples = 400;

using machine::Point;

/// Identifies a curve: round trips of one layout, strategy and block length.
using Look = std::tuple<machine::Layout, machine::Strategy, Bytes>;

class Campaign {
  public:
    Campaign(Stopwatch& stopwatch, const CellLevels& levels, const CampaignOptions& options)
        : stopwatch_(stopwatch), levels_(levels), options_(options), random_(options.seed) {
        for (const std::vector<Cell>& level : levels) {
            for (const Cell& cell : level)
                known_.insert(cell);
        }
        share_ = options.budget / static_cast<double>(2 * known_.size() + 1);
    }

    Measurements run() {
        result_.probe_before = probe_state();
        for (const std::vector<Cell>& level : levels_)
            visit(level, &level == &levels_.front());
        while (!time_up()) {
            if (options_.patient)
                add_sizes();
            const std::vector<Cell> cells = open();
            if (cells.empty())
                break;
            visit(cheap_among(cells));
        }
        result_.probe_after = probe_state();
        return std::move(result_);
    }

  private:
    bool time_up() const { return stopwatch_.elapsed() >= options_.budget; }

    machine::Value probe_state() {
        const int bursts = options_.patient ? 4 : 1;
        Series state;
        for (int i = 0; i < bursts; ++i)
            take_burst(probe(), state);
        return state.value(0);
    }

    void take_burst(const Cell& cell, Series& series) {
        for (const Sample& sample : stopwatch_.burst(cell))
            series.add(sample);
    }

    /// True if the first burst of a cell may take longer than the time that is left, which matters
    /// only if the time is short.
    bool is_too_long(const Cell& cell) const {
        constexpr int repetitions = 6;
        return !options_.patient && result_.cells.count(cell) == 0 &&
               repetitions * first_guess(cell) > options_.budget - stopwatch_.elapsed();
    }

    /// Measures a burst of each cell for which there is time, or of `all` cells, in random order.
    void visit(std::vector<Cell> cells, bool all = false) {
        std::shuffle(cells.begin(), cells.end(), random_);
        for (const Cell& cell : cells) {
            if (time_up() && !all)
                return;
            if (is_too_long(cell) && !all)
                continue;
            const Seconds begin = stopwatch_.elapsed();
            take_burst(cell, result_.cells[cell]);
            spent_[cell] += stopwatch_.elapsed() - begin;
            if (options_.progress)
                options_.progress(stopwatch_.elapsed() / options_.budget);
        }
    }

    bool settled(const Series& series) const {
        return series.size() >= most_samples ||
               (series.size() >= least_samples && series.within(options_.ci));
    }

    std::vector<Cell> open() const {
        std::vector<Cell> cells;
        for (const Cell& cell : known_) {
            const auto found = result_.cells.find(cell);
            if (found == result_.cells.end() ? !is_too_long(cell) : !settled(found->second))
                cells.push_back(cell);
        }
        return cells;
    }

    /// The cells that have not used up their time limit. The limit doubles when no such cell is
    /// left, so messages of microseconds are timed far more often than messages of milliseconds.
    std::vector<Cell> cheap_among(const std::vector<Cell>& cells) {
        while (true) {
            std::vector<Cell> cheap;
            std::copy_if(cells.begin(), cells.end(), std::back_inserter(cheap),
                         [&](const Cell& cell) { return spent_[cell] <= share_; });
            if (!cheap.empty())
                return cheap;
            share_ *= 2;
        }
    }

    /// Adds the sizes at which curves of round trips need refinement. Streams of contiguous
    /// messages get the same sizes.
    void add_sizes() {
        constexpr std::size_t most_points = 48, most_strided_points = 16;
        for (const auto& [look, points] : curves()) {
            const auto& [layout, strategy, block] = look;
            const bool whole = layout == machine::Layout::cc;
            if (points.size() > (whole ? most_points : most_strided_points))
                continue;
            for (const Bytes bytes : sizes_wanted(points, whole ? 1 : block)) {
                if (!whole && bytes > most_rows * block)
                    continue;
                const Bytes length = whole ? bytes : block;
                known_.insert(strided(Kind::round_trip, layout, strategy, bytes, length));
                if (whole)
                    known_.insert(message(Kind::stream, bytes));
            }
        }
    }

    std::map<Look, std::vector<Point>> curves() const {
        std::map<Look, std::vector<Point>> curves;
        for (const auto& [cell, series] : result_.cells) {
            const bool lent = cell.strategy == machine::Strategy::lending;
            if (cell.kind != Kind::round_trip || lent || series.size() < least_samples)
                continue;
            const Bytes block = cell.layout == machine::Layout::cc ? 0 : cell.block;
            curves[{cell.layout, cell.strategy, block}].push_back(
                {cell.bytes, cell.block, series.value(0)});
        }
        for (auto& [look, points] : curves) {
            std::sort(points.begin(), points.end(),
                      [](const Point& a, const Point& b) { return a.bytes < b.bytes; });
        }
        return curves;
    }

    Stopwatch& stopwatch_;
    const CellLevels& levels_;
    const CampaignOptions& options_;
    std::mt19937 random_;
    std::set<Cell> known_;
    std::map<Cell, Seconds> spent_;
    Seconds share_ = 0; ///< time limit of a cell
    Measurements result_;
};

} // namespace

void Series::add(const Sample& sample) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
        all_[rank].push_back(sample.seconds[rank]);
        if (!sample.disturbed)
            kept_[rank].push_back(sample.seconds[rank]);
    }
}

const std::vector<double>& Series::of(int rank) const {
    return quiet() ? kept_[static_cast<std::size_t>(rank)] : all_[static_cast<std::size_t>(rank)];
}

machine::Value Series::value(int rank) const {
    const std::vector<double>& values = of(rank);
    // The time of a stream is the difference of two times, which noise can make negative.
    const auto sane = [](double seconds) { return std::max(0.0, seconds); };
    const Interval interval = interval_by_rank(values);
    return {sane(median(values)), sane(interval.low), sane(interval.high),
            static_cast<std::int64_t>(values.size())};
}

bool Series::within(double share) const {
    for (const int rank : {0, 1}) {
        const machine::Value value = this->value(rank);
        if (std::max(value.high - value.median, value.median - value.low) > share * value.median)
            return false;
    }
    return true;
}

Measurements measure(Stopwatch& stopwatch, const CellLevels& levels,
                     const CampaignOptions& options) {
    return Campaign(stopwatch, levels, options).run();
}

void with_rigs(const Communicator& communicator, Bytes memory,
               const std::function<void(Stopwatch&, machine::Link)>& body) {
    for (const Pair& pair : pairs_of(communicator)) {
        const bool own = communicator.rank() == 0 || communicator.rank() == pair.other;
        const Communicator two = communicator.split(own ? 0 : -1, communicator.rank());
        if (own) {
            Rig rig(two, memory);
            body(rig, pair.link);
        }
        communicator.barrier();
    }
}

machine::Profile measure_launch(const Communicator& communicator, const machine::Profile* earlier,
                                const CampaignOptions& options) {
    const bool threads = communicator.shares_memory();
    machine::Profile profile = describe_machine(threads ? "threads" : "mpi");
    CellOptions what;
    what.lending = threads;
    CampaignOptions part = options;
    part.budget /= static_cast<double>(pairs_of(communicator).size());
    with_rigs(communicator, what.memory, [&](Stopwatch& stopwatch, machine::Link link) {
        CellLevels levels = make_cells(what);
        if (const machine::LinkCosts* known = earlier ? earlier->find(link) : nullptr)
            levels = with_sizes_of(std::move(levels), *known);
        const machine::Profile costs = costs_of(measure(stopwatch, levels, part), link);
        add_costs(profile, costs, what.work);
        what.work = false;
    });
    return profile;
}

} // namespace sextant::calibrate
