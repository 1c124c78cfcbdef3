// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/combined.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/partition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

struct Reach {
    double lowest = 0, highest = 0;
};

/// Returns the range of y coordinates to which the motion maps the rows. The extremes are at the
/// corners.
Reach reach(const RigidMotion& motion, Rows rows, ImageShape shape) {
    Reach found{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const std::int64_t x : {std::int64_t{0}, shape.width - 1}) {
        for (const std::int64_t y : {rows.first, rows.last - 1}) {
            const Point at =
                apply(motion, {static_cast<double>(x), static_cast<double>(y)}, centre(shape));
            found = {std::min(found.lowest, at.y), std::max(found.highest, at.y)};
        }
    }
    return found;
}

/// Returns a range that contains all y coordinates to which the displacement field maps the rows.
/// The extremes of u are at nodes, because u is interpolated between them.
Reach reach(const DisplacementField& field, Rows rows, ImageShape shape) {
    if (field.image != shape)
        throw InvalidTask(fmt::format(
            "the displacement field is for frames of {}x{} pixels, but the frames have {}x{}",
            field.image.width, field.image.height, shape.width, shape.height));
    const Elements first = std::min(rows.first / field.spacing, field.nodes.height - 1);
    const Elements last = std::min((rows.last - 1) / field.spacing + 1, field.nodes.height - 1);
    const auto [least, largest] =
        std::minmax_element(field.y.begin() + first * field.nodes.width,
                            field.y.begin() + (last + 1) * field.nodes.width);
    return {static_cast<double>(rows.first) + static_cast<double>(*least),
            static_cast<double>(rows.last - 1) + static_cast<double>(*largest)};
}

} // namespace

Point apply(const Transform& transform, Point x, ImageShape shape) {
    if (const auto* const field = std::get_if<DisplacementField>(&transform))
        return apply(*field, x);
    return apply(std::get<RigidMotion>(transform), x, centre(shape));
}

Point apply_inverse(const Transform& transform, Point y, ImageShape shape) {
    if (const auto* const field = std::get_if<DisplacementField>(&transform))
        return apply_inverse(*field, y);
    return apply(inverse(std::get<RigidMotion>(transform)), y, centre(shape));
}

Resampler::Resampler(FrameSource& source, Team* team) : source_(source), team_(team) {
    const ImageShape shape = source.header().shape;
    if (std::min(shape.width, shape.height) < 2)
        throw InvalidTask(fmt::format("{}: the frames have {}x{} pixels, expected at least 2x2",
                                      source.path(), shape.width, shape.height));
}

/// Reads the rows that interpolation between `lowest` and `highest` needs, at least two.
void Resampler::read(std::int64_t frame, double lowest, double highest) {
    const ImageShape shape = source_.header().shape;
    const auto row = [&](double y) {
        return static_cast<std::int64_t>(
            std::clamp(std::floor(y), 0., static_cast<double>(shape.height - 2)));
    };
    held_ = {row(lowest - 1), row(highest + 1) + 2}; // one more row on each side, for rounding
    samples_.resize(static_cast<std::size_t>(held_.count() * shape.width));
    source_.read_rows(frame, held_, samples_);
}

float Resampler::sample(Point at) const {
    const ImageShape shape = source_.header().shape;
    const auto inside = [](double place, std::int64_t size) {
        return place >= 0 && place <= static_cast<double>(size - 1);
    };
    if (!inside(at.x, shape.width) || !inside(at.y, shape.height))
        return std::numeric_limits<float>::quiet_NaN();
    const auto left = static_cast<std::int64_t>(at.x), top = static_cast<std::int64_t>(at.y);
    const double u = at.x - static_cast<double>(left), v = at.y - static_cast<double>(top);
    const float* const corner = samples_.data() + (top - held_.first) * shape.width + left;
    if (u == 0 && v == 0)
        return *corner;
    // Samples of weight 0 are skipped, so that NaN does not spread to neighbouring pixels.
    const auto between = [u](const float* pixel) {
        const auto left_of_it = static_cast<double>(pixel[0]);
        return u == 0 ? left_of_it : (1 - u) * left_of_it + u * static_cast<double>(pixel[1]);
    };
    const double above = between(corner);
    return static_cast<float>(v == 0 ? above : (1 - v) * above + v * between(corner + shape.width));
}

void Resampler::show(std::int64_t frame, const Transform& transform, Rows rows,
                     std::span<float> to) {
    const ImageShape shape = source_.header().shape;
    if (static_cast<Elements>(to.size()) != rows.count() * shape.width)
        throw std::logic_error("the size of the buffer differs from that of the requested rows");
    if (rows.count() == 0)
        return;
    const auto show_by = [&](const auto& phi, const auto& place) {
        const auto [lowest, highest] = reach(phi, rows, shape);
        read(frame, lowest, highest);
        const Bands bands(rows.count());
        run_parts(team_, bands.count(), [&](int band, int) {
            float* next = to.data() + bands.first(band) * shape.width;
            for (Elements row = bands.first(band); row < bands.first(band + 1); ++row) {
                const auto y = static_cast<double>(rows.first + row);
                for (std::int64_t x = 0; x < shape.width; ++x)
                    *next++ = sample(place(Point{static_cast<double>(x), y}));
            }
        });
    };
    if (const auto* const motion = std::get_if<RigidMotion>(&transform)) {
        const Point c = centre(shape);
        const double cosine = std::cos(motion->alpha), sine = std::sin(motion->alpha);
        show_by(*motion, [&, c](Point x) {
            return Point{cosine * (x.x - c.x) - sine * (x.y - c.y) + c.x + motion->tx,
                         sine * (x.x - c.x) + cosine * (x.y - c.y) + c.y + motion->ty};
        });
    } else {
        const auto& field = std::get<DisplacementField>(transform);
        show_by(field, [&](Point x) { return apply(field, x); });
    }
}

namespace {

/// Returns the median; for an even number of values, the mean of the middle two. Reorders the
/// values.
float middle_of(std::span<float> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return *middle;
    const float below = *std::max_element(values.begin(), middle);
    return static_cast<float>((static_cast<double>(below) + static_cast<double>(*middle)) / 2);
}

/// Accumulates the rows that are combined in one pass.
class Band {
  public:
    Band(Elements pixels, std::size_t frames, bool median, Team* team)
        : shown_(static_cast<std::size_t>(pixels)),
          sums_(shown_.size()),
          counts_(shown_.size()),
          values_(median ? shown_.size() * frames : 0),
          frames_(frames),
          team_(team) {}

    /// Buffer for the resampled rows of one frame, which add() then accumulates.
    std::span<float> shown() { return shown_; }

    void add() {
        for_each_pixel([&](std::size_t pixel) {
            if (!std::isfinite(shown_[pixel]))
                return;
            sums_[pixel] += static_cast<double>(shown_[pixel]);
            if (!values_.empty())
                values_[pixel * frames_ + counts_[pixel]] = shown_[pixel];
            ++counts_[pixel];
        });
    }

    /// Appends the results of the band's rows to `combined`.
    void finish(Combined& combined) {
        const std::size_t before = combined.mean.size();
        combined.mean.resize(before + shown_.size());
        combined.count.resize(before + shown_.size());
        if (!values_.empty())
            combined.median.resize(before + shown_.size());
        for_each_pixel([&](std::size_t pixel) {
            const std::size_t count = counts_[pixel];
            combined.count[before + pixel] = static_cast<float>(count);
            if (count == 0)
                return; // mean and median stay 0
            combined.mean[before + pixel] =
                static_cast<float>(sums_[pixel] / static_cast<double>(count));
            if (!values_.empty())
                combined.median[before + pixel] =
                    middle_of(std::span(values_).subspan(pixel * frames_, count));
        });
    }

  private:
    template <class Body>
    void for_each_pixel(const Body& body) {
        constexpr std::size_t at_a_time = 4096;
        const auto parts = static_cast<int>((shown_.size() + at_a_time - 1) / at_a_time);
        run_parts(team_, parts, [&](int part, int) {
            const std::size_t first = static_cast<std::size_t>(part) * at_a_time;
            for (std::size_t pixel = first; pixel < std::min(shown_.size(), first + at_a_time);
                 ++pixel)
                body(pixel);
        });
    }

    std::vector<float> shown_;
    std::vector<double> sums_;
    std::vector<std::uint32_t> counts_;
    std::vector<float> values_; ///< [pixel][frame], finite samples only
    std::size_t frames_;
    Team* team_;
};

/// Returns the memory that a band needs per pixel.
Bytes bytes_of_pixel(std::int64_t frames, bool median) {
    const Bytes sums = sizeof(float) + sizeof(double) + sizeof(std::uint32_t);
    return sums + (median ? frames * static_cast<Bytes>(sizeof(float)) : 0);
}

Combined combine_rows(FrameSource& source, std::span<const std::int64_t> frames,
                      const TransformOf& transform_of, Rows rows, const CombineOptions& options,
                      const RunControl& control) {
    const std::int64_t width = source.header().shape.width;
    const auto count = static_cast<std::int64_t>(frames.size());
    const std::int64_t step =
        std::max<std::int64_t>(1, options.memory / (bytes_of_pixel(count, options.median) * width));
    Team team(options.threads);
    Resampler resampler(source, &team);
    Combined combined;
    const auto pixels = static_cast<std::size_t>(rows.count() * width);
    combined.mean.reserve(pixels);
    combined.count.reserve(pixels);
    combined.median.reserve(options.median ? pixels : 0);
    const std::int64_t passes = (rows.count() + step - 1) / step;
    std::int64_t done = 0;
    for (std::int64_t first = rows.first; first < rows.last; first += step) {
        const Rows some{first, std::min(first + step, rows.last)};
        Band band(some.count() * width, frames.size(), options.median, &team);
        for (const std::int64_t frame : frames) {
            control.report(options.median ? "average and median" : "average", done++,
                           passes * count);
            control.check();
            resampler.show(frame, transform_of(frame), some, band.shown());
            band.add();
        }
        band.finish(combined);
    }
    return combined;
}

} // namespace

Bytes least_memory(std::int64_t frames, std::int64_t width, const CombineOptions& options) {
    return bytes_of_pixel(frames, options.median) * width;
}

Combined combine(const Communicator& communicator, FrameSource& source,
                 std::span<const std::int64_t> frames, const TransformOf& transform_of,
                 const CombineOptions& options, const RunControl& control) {
    const ImageShape shape = source.header().shape;
    Combined local;
    agree(communicator, [&] {
        const Bytes least =
            least_memory(static_cast<std::int64_t>(frames.size()), shape.width, options);
        if (options.memory < least)
            throw InvalidTask(fmt::format(
                "{} bytes of memory are too few for a row of {} frames, expected {} or more",
                options.memory, frames.size(), least));
        const Block block = block_of(communicator.rank(), communicator.size(), shape.height);
        RunControl own = control;
        if (communicator.rank() != 0)
            own.progress = {};
        local = combine_rows(source, frames, transform_of, {block.first, block.last}, options, own);
    });
    const auto all = [&](std::vector<float>& values) {
        const std::vector<float> own = std::move(values); // freed before the next list is gathered
        return all_gather_lists(communicator, std::span<const float>(own));
    };
    return {all(local.mean), all(local.median), all(local.count)};
}

} // namespace sextant::registration
