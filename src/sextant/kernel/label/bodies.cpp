// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/bodies.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

enum Product { zz, yy, xx, zy, zx, yx };

/// The sum of the squares below n.
Elements squares_below(Elements n) {
    return n % 2 == 0 ? n / 2 * (n - 1) * (2 * n - 1) / 3 : (n - 1) / 2 * n * (2 * n - 1) / 3;
}

/// True if all voxels of a row are at the border.
bool is_at_border(Elements z, Elements y, const VolumeShape& volume) {
    return z == 0 || z + 1 == volume.depth ||
           (!volume.of_rows && (y == 0 || y + 1 == volume.height));
}

/// Adds the voxels begin … end − 1 of a row.
void add_run(Body& body, Elements z, Elements y, Elements begin, Elements end,
             const VolumeShape& volume) {
    const Elements voxels = end - begin, sum = voxels * (begin + end - 1) / 2;
    if (body.voxels == 0)
        body = Body();
    body.RegionSize::add_run(z, y, begin, end, volume);
    body.products[zz] += voxels * z * z;
    body.products[yy] += voxels * y * y;
    body.products[xx] += squares_below(end) - squares_below(begin);
    body.products[zy] += voxels * z * y;
    body.products[zx] += z * sum;
    body.products[yx] += y * sum;
    body.contacts += voxels - 1;
    body.at_border =
        body.at_border || is_at_border(z, y, volume) || begin == 0 || end == volume.width;
}

template <class Sample>
void add_intensities(Body& body, const Sample* samples, Elements count) {
    if constexpr (std::is_same_v<Sample, std::uint64_t>) { // double would round these
        WideInteger sum = 0;
        for (Elements i = 0; i < count; ++i)
            sum += samples[i];
        const auto [low, high] = std::minmax_element(samples, samples + count);
        return body.add_integers(sum, *low, *high);
    }
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

struct TwoSum {
    double sum, error;
};

/// Knuth's exact sum of two numbers.
TwoSum two_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

struct RoundedInteger {
    double value;
    WideInteger rest;
};

RoundedInteger rounded(WideInteger exact) {
    const auto value = static_cast<double>(exact);
    return {value, exact - static_cast<WideInteger>(value)};
}

} // namespace

/// Adds a sum and its rounding error. Sums that exceed the range of double are scaled.
void Body::add_sum(double more, double error, bool is_scaled) {
    constexpr double scale = 0x1p-64;
    if ((is_scaled && !scaled) || (!is_scaled && !scaled && !std::isfinite(intensity + more) &&
                                   std::isfinite(intensity) && std::isfinite(more))) {
        intensity *= scale;
        intensity_error *= scale;
        scaled = true;
    }
    if (scaled && !is_scaled) {
        more *= scale;
        error *= scale;
    }
    const TwoSum sum = two_sum(intensity, more);
    intensity = sum.sum;
    intensity_error += sum.error + error;
}

/// Reduces the error to at most half a unit in the sum's last place. Sums of integers below 2¹⁰⁴
/// remain exact, because the errors that are added are integers below 2⁵³.
void Body::settle_sum() {
    if (!std::isfinite(intensity))
        return;
    const TwoSum sum = two_sum(intensity, intensity_error);
    intensity = sum.sum;
    intensity_error = sum.error;
}

void Body::add_intensity(double more) {
    add_sum(more, 0, false);
}

void Body::add_integers(WideInteger sum, WideInteger lowest, WideInteger highest) {
    const RoundedInteger all = rounded(sum), bottom = rounded(lowest), top = rounded(highest);
    add_sum(all.value, static_cast<double>(all.rest), false);
    settle_sum();
    add_extremes(bottom.value, static_cast<std::int16_t>(bottom.rest), top.value,
                 static_cast<std::int16_t>(top.rest));
}

void Body::shift_integers(WideInteger number) {
    const WideInteger lowest = integer_minimum() + number, highest = integer_maximum() + number;
    const WideInteger sum = integer_sum() + number * voxels;
    intensity = intensity_error = 0;
    least = std::numeric_limits<double>::infinity();
    largest = -least;
    add_integers(sum, lowest, highest);
}

/// Rounding to double preserves the order, so the remainders matter only if rounded values are
/// equal.
void Body::add_extremes(double lowest, std::int16_t lowest_rest, double highest,
                        std::int16_t highest_rest) {
    std::tie(least, least_rest) =
        std::min(std::pair(least, least_rest), std::pair(lowest, lowest_rest));
    std::tie(largest, largest_rest) =
        std::max(std::pair(largest, largest_rest), std::pair(highest, highest_rest));
}

void Body::add(const Body& other) {
    const Elements all_contacts = contacts + other.contacts;
    if (voxels == 0) {
        *this = other;
    } else if (other.voxels > 0) {
        value = other.first < first ? other.value : value;
        RegionSize::add(other);
        for (std::size_t i = 0; i < products.size(); ++i)
            products[i] += other.products[i];
        at_border = at_border || other.at_border;
        add_sum(other.intensity, other.intensity_error, other.scaled);
        settle_sum();
        add_extremes(other.least, other.least_rest, other.largest, other.largest_rest);
    }
    contacts = all_contacts;
}

Body Body::of_image() const {
    Body body = *this;
    static_cast<RegionSize&>(body) = RegionSize::of_image();
    std::swap(body.products[zz], body.products[yy]);
    std::swap(body.products[zx], body.products[yx]);
    return body;
}

/// Uses sums relative to the first corner of the box: they are small, so differences are precise.
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
        throw InvalidData(fmt::format("a volume of {}x{}x{} voxels is too large for exact sums of "
                                      "squared coordinates in 64 bits",
                                      shape.depth, shape.height, shape.width));
}

void add_extents(const LabelledRuns& row, Elements z, Elements y, const VolumeShape& volume,
                 std::span<Extent> extents) {
    const bool edge = is_at_border(z, y, volume);
    check_cancelled(volume.width);
    each_run(row, volume.width, [&](Elements begin, Elements end, Label label) {
        Extent& extent = extents[label - 1];
        extent.voxels += static_cast<std::uint64_t>(end - begin);
        extent.at_border |= edge || begin == 0 || end == volume.width ? 1U : 0U;
    });
}

namespace {

/// The bodies of components that have begun but not been passed on. Short components are passed on
/// soon, so that few bodies are open at a time and remain in the cache.
class OpenBodies {
  public:
    OpenBodies(std::span<const std::uint8_t> wanted, const TakeBody& take)
        : wanted_(wanted), take_(take), places_(wanted.size(), 0) {}

    /// Prefetches the entry that place() reads.
    void prefetch(Label label) const { __builtin_prefetch(&places_[label - 1]); }
    /// Returns the position of a component's body and prefetches the body; 0 if the component is
    /// not wanted. Components must begin in ascending order of labels.
    Label place(Label label) {
        Label& place = places_[label - 1];
        if (place == 0) {
            if (wanted_[label - 1] == 0)
                return 0;
            open_[0].push_back(label);
            if (free_.empty()) {
                bodies_.emplace_back();
                place = static_cast<Label>(bodies_.size());
            } else {
                place = free_.back();
                free_.pop_back();
                bodies_[place - 1].voxels = 0; // the first run sets the rest
            }
        }
        load(place);
        return place;
    }
    /// The body at a position; the reference is valid until the next call of place().
    Body& operator[](Label place) { return bodies_[place - 1]; }

    /// Passes on components that have ended: those without a voxel in plane z, the latest plane.
    void end_plane(Elements z) {
        for (std::size_t i = 0; i < most_planes.size(); ++i) {
            constexpr std::size_t ahead = 8;
            while (!open_[i].empty()) {
                if (open_[i].size() > ahead)
                    load(places_[open_[i][ahead] - 1]);
                const Label label = open_[i].front();
                const Body& body = bodies_[places_[label - 1] - 1];
                if (body.low[0] > z - most_planes[i])
                    break;
                open_[i].pop_front();
                if (body.high[0] < z)
                    pass(label, static_cast<int>(i));
                else
                    open_[i + 1].push_back(label);
            }
        }
    }

    /// Passes on all remaining components.
    void end() {
        for (std::size_t i = 0; i < open_.size(); ++i) {
            for (const Label label : open_[i])
                pass(label, static_cast<int>(i));
        }
    }

  private:
    void load(Label place) const {
        const char* const body = reinterpret_cast<const char*>(&bodies_[place - 1]);
        constexpr std::size_t line = 64;
        for (std::size_t i = 0; i < sizeof(Body); i += line)
            __builtin_prefetch(body + i, 1);
    }
    void pass(Label label, int sequence) {
        const Label place = places_[label - 1];
        take_(label, bodies_[place - 1], sequence);
        free_.push_back(place);
    }

    /// The maximum number of planes of a component, for each sequence but the last.
    static constexpr std::array<Elements, body_sequences - 1> most_planes = {1, 4, 16};

    const std::span<const std::uint8_t> wanted_;
    const TakeBody& take_;
    std::vector<Label> places_; // [label − 1]: position in bodies_, from 1; 0: none
    std::vector<Body> bodies_;
    std::vector<Label> free_;                            // unused positions
    std::array<std::deque<Label>, body_sequences> open_; // [sequence]: ascending
};

} // namespace

void measure(const Labeller& labeller, Connection connection, const ValueView& input,
             Elements first_plane, const VolumeShape& volume, const ValueView* intensity,
             std::span<const std::uint8_t> wanted, const TakeBody& take) {
    const Elements height = input.tile.height, width = input.tile.width;
    const bool by_value = connection.sameness == Sameness::value;
    const Elements words = words_for(width);
    std::vector<std::uint64_t> above(static_cast<std::size_t>(words)), front(above.size()),
        equal(above.size());
    OpenBodies bodies(wanted, take);
    struct Run {
        Elements begin, end;
        Label label; // later the position of its body
    };
    std::vector<Run> of_row;
    // Finds voxels whose neighbour in an earlier row, straight above or in front, belongs to the
    // same component.
    const auto find_contacts = [&](const LabelledRuns& runs, Elements row, Elements other,
                                   std::vector<std::uint64_t>& both) {
        const LabelledRuns before = labeller.runs_of(other);
        for (Elements word = 0; word < words; ++word)
            both[static_cast<std::size_t>(word)] = runs.inside[word] & before.inside[word];
        if (!by_value)
            return;
        std::visit(
            [&](const auto* first) {
                bits_equal(row_of(input, first, row), row_of(input, first, other), width,
                           equal.data());
            },
            input.first);
        for (std::size_t word = 0; word < both.size(); ++word)
            both[word] &= equal[word];
    };
    for (Elements row = 0; row < labeller.rows() && width > 0; ++row) {
        const Elements z = first_plane + row / height, y = row % height;
        const LabelledRuns runs = labeller.runs_of(row);
        check_cancelled(width);
        if (y > 0)
            find_contacts(runs, row, row - 1, above);
        if (row >= height)
            find_contacts(runs, row, row - height, front);
        // Three passes over the runs of a row, so that cache misses for their bodies overlap.
        of_row.clear();
        each_run(runs, width, [&](Elements begin, Elements end, Label label) {
            bodies.prefetch(label);
            of_row.push_back({begin, end, label});
        });
        for (Run& run : of_row)
            run.label = bodies.place(run.label);
        for (const Run& run : of_row) {
            const Elements begin = run.begin, end = run.end;
            if (run.label == 0)
                continue;
            Body& body = bodies[run.label];
            const bool begins = body.voxels == 0;
            add_run(body, z, y, begin, end, volume);
            if (by_value && begins)
                body.value = std::visit(
                    [&](const auto* first) { return value_code(row_of(input, first, row)[begin]); },
                    input.first);
            if (y > 0)
                body.contacts += count_bits(above.data(), begin, end);
            if (row >= height)
                body.contacts += count_bits(front.data(), begin, end);
            if (intensity)
                std::visit(
                    [&](const auto* first) {
                        add_intensities(body, row_of(*intensity, first, row) + begin, end - begin);
                    },
                    intensity->first);
        }
        if (y + 1 == height)
            bodies.end_plane(z);
    }
    bodies.end();
}

} // namespace sextant::kernel
