// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/interpolate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace sextant::machine {

namespace {

void require_points(std::span<const Point> points) {
    if (points.empty())
        throw std::invalid_argument("no points to interpolate between");
}

double between(double a, double b, double share) {
    return std::max(0.0, a + (b - a) * share);
}

Estimate mixed(const Estimate& a, const Estimate& b, double share) {
    return {between(a.median, b.median, share), between(a.low, b.low, share),
            between(a.high, b.high, share), a.extrapolated || b.extrapolated};
}

Estimate estimate_of(const Value& value) {
    return {value.median, value.low, value.high, false};
}

/// Returns the points with a given block length, and those with zero bytes.
std::vector<Point> series(std::span<const Point> points, Bytes block) {
    std::vector<Point> found;
    std::copy_if(points.begin(), points.end(), std::back_inserter(found),
                 [&](const Point& p) { return p.block == block || p.bytes == 0; });
    return found;
}

/// Returns the block lengths that were measured at two or more sizes.
std::vector<Bytes> measured_blocks(std::span<const Point> points) {
    std::map<Bytes, int> sizes;
    for (const Point& point : points) {
        if (point.bytes > 0)
            ++sizes[point.block];
    }
    std::vector<Bytes> blocks;
    for (const auto& [block, count] : sizes) {
        if (count > 1)
            blocks.push_back(block);
    }
    return blocks;
}

/// Interpolates by size alone. The result is flagged as extrapolated if `block` differs by more
/// than a factor of two from the block length of the point nearest in size.
Estimate by_nearest_size(std::span<const Point> points, Bytes bytes, Bytes block) {
    Estimate estimate = at_size(points, bytes);
    const Point* nearest = nullptr;
    for (const Point& point : points) {
        const auto off = [&](const Point& p) { return std::abs(p.bytes - bytes); };
        if (point.bytes > 0 && (!nearest || off(point) < off(*nearest)))
            nearest = &point;
    }
    if (nearest && (nearest->block > 2 * block || block > 2 * nearest->block))
        estimate.extrapolated = true;
    return estimate;
}

} // namespace

Estimate at_size(std::span<const Point> points, Bytes bytes) {
    require_points(points);
    // Outside the measured sizes, extrapolate the outermost segment; a single point gives a
    // constant.
    auto right = std::lower_bound(points.begin(), points.end(), bytes,
                                  [](const Point& p, Bytes size) { return p.bytes < size; });
    if (right != points.end() && right->bytes == bytes)
        return estimate_of(right->seconds);
    const bool outside = right == points.begin() || right == points.end();
    if (right == points.begin())
        ++right;
    if (right >= points.end())
        right = std::prev(points.end());
    auto left = right;
    while (left != points.begin() && left->bytes == right->bytes)
        --left;
    Estimate estimate = estimate_of(right->seconds);
    if (left->bytes != right->bytes) {
        const double share = static_cast<double>(bytes - left->bytes) /
                             static_cast<double>(right->bytes - left->bytes);
        estimate = mixed(estimate_of(left->seconds), estimate, share);
    }
    estimate.extrapolated = outside;
    return estimate;
}

Estimate at_size_and_block(std::span<const Point> points, Bytes bytes, Bytes block) {
    require_points(points);
    if (bytes == 0)
        return at_size(points, bytes);
    const std::vector<Bytes> blocks = measured_blocks(points);
    if (blocks.empty())
        return by_nearest_size(points, bytes, block);
    const auto of = [&](Bytes b) { return at_size(series(points, b), bytes); };
    const auto above = std::lower_bound(blocks.begin(), blocks.end(), block);
    if (above != blocks.end() && *above == block)
        return of(block);
    if (above == blocks.begin() || above == blocks.end()) {
        Estimate nearest = of(above == blocks.begin() ? blocks.front() : blocks.back());
        nearest.extrapolated = true;
        return nearest;
    }
    const auto low = static_cast<double>(*std::prev(above)), high = static_cast<double>(*above);
    const double share = std::log(static_cast<double>(block) / low) / std::log(high / low);
    return mixed(of(*std::prev(above)), of(*above), share);
}

namespace {

/// Returns the passes with a given number of operands, as points ordered by size.
std::vector<Point> series_of(std::span<const Pass> passes, int operands) {
    std::vector<Point> points;
    for (const Pass& pass : passes) {
        if (pass.operands == operands)
            points.push_back({pass.elements, pass.elements, pass.seconds});
    }
    return points;
}

std::vector<int> measured_operands(std::span<const Pass> passes) {
    std::set<int> counts;
    for (const Pass& pass : passes)
        counts.insert(pass.operands);
    return {counts.begin(), counts.end()};
}

} // namespace

Estimate at_pass(std::span<const Pass> passes, Elements elements, int operands) {
    const std::vector<int> counts = measured_operands(passes);
    if (counts.empty())
        throw std::invalid_argument("no passes to interpolate between");
    const auto of = [&](int count) { return at_size(series_of(passes, count), elements); };
    const bool outside = operands < counts.front() || operands > counts.back();
    Estimate estimate;
    if (counts.size() == 1) {
        const double share = (operands - 1.0) / std::max(1, counts.front() - 1);
        estimate = outside ? mixed({}, of(counts.front()), share) : of(counts.front());
    } else {
        auto above = std::lower_bound(counts.begin(), counts.end(), operands);
        if (above != counts.end() && *above == operands)
            return of(operands);
        above = std::clamp(above, counts.begin() + 1, counts.end() - 1);
        const int low = *std::prev(above), high = *above;
        estimate = mixed(of(low), of(high), static_cast<double>(operands - low) / (high - low));
    }
    estimate.extrapolated = estimate.extrapolated || outside;
    return estimate;
}

Line fitted_line(std::span<const Point> points) {
    require_points(points);
    const auto first = static_cast<double>(points.front().bytes);
    const double start = points.front().seconds.median;
    double products = 0, squares = 0;
    for (const Point& point : points) {
        const double x = static_cast<double>(point.bytes) - first, y = point.seconds.median;
        if (x == 0 || y <= 0)
            continue;
        products += x * (y - start) / (y * y);
        squares += x * x / (y * y);
    }
    const double slope = squares > 0 ? std::max(0.0, products / squares) : 0;
    return {std::max(0.0, start - slope * first), slope};
}

namespace {

std::optional<Seconds> moving(const Work* work, Bytes bytes, bool alone) {
    if (!work || bytes == 0)
        return work ? std::optional(0.0) : std::nullopt;
    const auto& passes = alone && !work->alone.empty() ? work->alone : work->passes;
    if (passes.empty())
        return work->seconds_per_element->median * static_cast<double>(bytes);
    return at_pass(passes, bytes, 1).median;
}

} // namespace

FileCosts::FileCosts(const Profile& machine)
    : read_(machine.find_kernel("read-file", "u8")),
      write_(machine.find_kernel("write-file", "u8")) {}

std::optional<Seconds> FileCosts::reading(Bytes bytes, bool alone) const {
    return moving(read_, bytes, alone);
}

std::optional<Seconds> FileCosts::writing(Bytes bytes, bool alone) const {
    return moving(write_, bytes, alone);
}

} // namespace sextant::machine
