// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/bodies.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

enum Product { zz, yy, xx, zy, zx, yx };

/// The sum of the squares below n.
Elements squares_below(Elements n) {
    return n % 2 == 0 ? n / 2 * (n - 1) * (2 * n - 1) / 3 : (n - 1) / 2 * n * (2 * n - 1) / 3;
}

/// The measures of the voxels begin … end − 1 of a row.
Body of_run(Elements z, Elements y, Elements begin, Elements end, const VolumeShape& volume) {
    const Elements voxels = end - begin, sum = voxels * (begin + end - 1) / 2;
    Body run;
    run.first = (z * volume.height + y) * volume.width + begin;
    run.voxels = voxels;
    run.low = {z, y, begin};
    run.high = {z, y, end - 1};
    run.sums = {voxels * z, voxels * y, sum};
    run.products = {voxels * z * z, voxels * y * y, squares_below(end) - squares_below(begin),
                    voxels * z * y, z * sum,        y * sum};
    run.contacts = voxels - 1;
    run.at_border = z == 0 || y == 0 || begin == 0 || z + 1 == volume.depth ||
                    y + 1 == volume.height || end == volume.width;
    return run;
}

template <class Sample>
void add_intensities(Body& body, const Sample* samples, Elements count) {
    for (Elements i = 0; i < count; ++i) {
        const auto sample = static_cast<double>(samples[i]);
        body.add_intensity(sample);
        body.least = sample < body.least ? sample : body.least;
        body.largest = sample > body.largest ? sample : body.largest;
    }
}

/// The first sample of a row.
template <class Sample>
const Sample* row_of(const ValueView& view, const Sample* first, Elements row) {
    return first + row / view.tile.height * view.next_plane + row % view.tile.height * view.stride;
}

} // namespace

void Body::add_intensity(double more) { // Knuth's exact sum of two numbers
    const double sum = intensity + more, part = sum - intensity;
    intensity_error += (intensity - (sum - part)) + (more - part);
    intensity = sum;
}

void Body::add(const Body& other) {
    if (other.voxels == 0 && other.contacts == 0)
        return;
    if (voxels == 0 && contacts == 0) {
        *this = other;
        return;
    }
    contacts += other.contacts;
    if (other.voxels == 0)
        return;
    if (voxels == 0) {
        const Elements own = contacts;
        *this = other;
        contacts = own;
        return;
    }
    if (other.first < first) {
        first = other.first;
        value = other.value;
    }
    voxels += other.voxels;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], other.low[axis]);
        high[axis] = std::max(high[axis], other.high[axis]);
        sums[axis] += other.sums[axis];
    }
    for (std::size_t i = 0; i < products.size(); ++i)
        products[i] += other.products[i];
    at_border = at_border || other.at_border;
    add_intensity(other.intensity);
    intensity_error += other.intensity_error;
    least = std::min(least, other.least);
    largest = std::max(largest, other.largest);
}

std::array<double, 3> Body::centroid() const {
    const auto count = static_cast<double>(voxels);
    return {static_cast<double>(sums[0]) / count, static_cast<double>(sums[1]) / count,
            static_cast<double>(sums[2]) / count};
}

/// Sums relative to the first corner of the box are small, so that their differences are precise.
std::array<double, 6> Body::covariance() const {
    constexpr std::pair<int, int> axes[] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    std::array<double, 6> moments{};
    const auto n = static_cast<double>(voxels);
    for (std::size_t i = 0; i < moments.size(); ++i) {
        const auto a = static_cast<std::size_t>(axes[i].first),
                   b = static_cast<std::size_t>(axes[i].second);
        const Elements sum_a = sums[a] - voxels * low[a], sum_b = sums[b] - voxels * low[b];
        const Elements product =
            products[i] - low[b] * sums[a] - low[a] * sums[b] + voxels * low[a] * low[b];
        moments[i] = static_cast<double>(product) / n -
                     static_cast<double>(sum_a) / n * (static_cast<double>(sum_b) / n);
    }
    return moments;
}

/// Jacobi's method on the 3x3 matrix of moments.
BodyAxes axes_of(const Body& body) {
    const std::array<double, 6> m = body.covariance();
    double a[3][3] = {{m[zz], m[zy], m[zx]}, {m[zy], m[yy], m[yx]}, {m[zx], m[yx], m[xx]}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    constexpr int most_sweeps = 50;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        if (a[0][1] == 0 && a[0][2] == 0 && a[1][2] == 0)
            break;
        for (const auto& [p, q] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
            const double ratio = std::abs(a[p][q]);
            if (ratio <= 1e-300 || ratio < 1e-18 * (std::abs(a[p][p]) + std::abs(a[q][q]))) {
                a[p][q] = a[q][p] = 0;
                continue;
            }
            const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
            const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1));
            const double c = 1 / std::hypot(t, 1), s = t * c;
            for (int k = 0; k < 3; ++k) {
                const double left = a[k][p], right = a[k][q];
                a[k][p] = c * left - s * right;
                a[k][q] = s * left + c * right;
            }
            for (int k = 0; k < 3; ++k) {
                const double upper = a[p][k], lower = a[q][k];
                a[p][k] = c * upper - s * lower;
                a[q][k] = s * upper + c * lower;
                const double left = v[k][p], right = v[k][q];
                v[k][p] = c * left - s * right;
                v[k][q] = s * left + c * right;
            }
        }
    }
    std::array<int, 3> order = {0, 1, 2};
    std::ranges::stable_sort(order, [&](int x, int y) { return a[x][x] > a[y][y]; });
    BodyAxes axes;
    for (std::size_t i = 0; i < 3; ++i) {
        const int k = order[i];
        axes.deviations[i] = std::sqrt(std::max(0., a[k][k]));
        std::array<double, 3> direction = {v[0][k], v[1][k], v[2][k]};
        const double longest = *std::ranges::max_element(
            direction, [](double x, double y) { return std::abs(x) < std::abs(y); });
        for (double& along : direction)
            along = longest < 0 ? -along : along;
        axes.directions[i] = direction;
    }
    return axes;
}

void check_measurable(const VolumeShape& shape) {
    const double most = static_cast<double>(std::max({shape.depth, shape.height, shape.width}));
    if (static_cast<double>(shape.depth) * static_cast<double>(shape.height) *
            static_cast<double>(shape.width) * most * most >=
        0x1p63)
        throw InvalidTask(fmt::format("a volume of {}x{}x{} voxels is too large for exact sums of "
                                      "squared coordinates in 64 bits",
                                      shape.depth, shape.height, shape.width));
}

void add_extents(const LabelledRuns& row, Elements z, Elements y, const VolumeShape& volume,
                 std::span<Extent> extents) {
    const bool edge = z == 0 || y == 0 || z == volume.depth - 1 || y == volume.height - 1;
    each_run(row, volume.width, [&](Elements begin, Elements end, Label label) {
        Extent& extent = extents[label - 1];
        extent.voxels += static_cast<std::uint64_t>(end - begin);
        extent.at_border |= edge || begin == 0 || end == volume.width ? 1U : 0U;
    });
}

void measure(const Labeller& labeller, Connection connection, const ValueView& input,
             Elements first_plane, const VolumeShape& volume, const ValueView* intensity,
             std::span<const Label> slots, std::span<Body> bodies) {
    const Elements height = input.tile.height, width = input.tile.width;
    const bool by_value = connection.sameness == Sameness::value;
    const Elements words = words_for(width);
    std::vector<std::uint64_t> both(static_cast<std::size_t>(words)), equal(both.size());
    const auto body = [&](Label label) -> Body* {
        const Label slot = slots[label - 1];
        return slot == 0 ? nullptr : &bodies[slot - 1];
    };
    // Voxels whose neighbour in an earlier row, straight up or to the front, is of the same
    // component.
    const auto add_contacts = [&](const LabelledRuns& runs, Elements row, Elements other) {
        const LabelledRuns before = labeller.runs_of(other);
        for (Elements word = 0; word < words; ++word)
            both[static_cast<std::size_t>(word)] = runs.inside[word] & before.inside[word];
        if (by_value) {
            std::visit(
                [&](const auto* first) {
                    bits_equal(row_of(input, first, row), row_of(input, first, other), width,
                               equal.data());
                },
                input.first);
            for (std::size_t word = 0; word < both.size(); ++word)
                both[word] &= equal[word];
        }
        each_run(runs, width, [&](Elements begin, Elements end, Label label) {
            if (Body* const all = body(label))
                all->contacts += count_bits(both.data(), begin, end);
        });
    };
    for (Elements row = 0; row < labeller.rows() && width > 0; ++row) {
        const Elements z = first_plane + row / height, y = row % height;
        const LabelledRuns runs = labeller.runs_of(row);
        each_run(runs, width, [&](Elements begin, Elements end, Label label) {
            Body* const all = body(label);
            if (!all)
                return;
            Body run = of_run(z, y, begin, end, volume);
            if (by_value)
                run.value = std::visit(
                    [&](const auto* first) { return value_code(row_of(input, first, row)[begin]); },
                    input.first);
            all->add(run);
            if (intensity)
                std::visit(
                    [&](const auto* first) {
                        add_intensities(*all, row_of(*intensity, first, row) + begin, end - begin);
                    },
                    intensity->first);
        });
        if (y > 0)
            add_contacts(runs, row, row - 1);
        if (row >= height)
            add_contacts(runs, row, row - height);
    }
}

} // namespace sextant::kernel
