// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/stages/refinement.hpp"

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/series/pair_reader.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/transform/canvas.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace sextant::registration {

std::vector<float> whole_frame(FrameSource& source, std::int64_t frame) {
    std::vector<float> samples(static_cast<std::size_t>(source.header().shape.elements()));
    source.read_frame(frame, samples);
    return samples;
}

Contribution contribution_of(const FrameContrast& contrast, double offset) {
    // Absolute value, because the source already inverts inverted frames.
    const double gain = 1 / std::abs(contrast.signal);
    return {-(contrast.level - offset) * gain, gain, contrast.weight()};
}

bool is_one_of_several(const Registered& registered, std::size_t index) {
    return registered.contributes[index] != 0 &&
           std::count(registered.contributes.begin(), registered.contributes.end(), 1) > 2;
}

/// Returns the RMS standard deviation of positions over a frame.
double deviation_of_positions(const RigidResult& result, ImageShape shape) {
    const RigidUncertainty uncertainty = uncertainty_of_centre(result, shape);
    const double arm = std::hypot(static_cast<double>(shape.width),
                                  static_cast<double>(shape.height)) /
                       std::sqrt(12); // RMS distance of positions from the centre
    return std::hypot(uncertainty.tx, uncertainty.ty, uncertainty.alpha * arm);
}

PixelArea matching_area(const Registered& registered, ImageShape shape) {
    const Elements grid = window_grid(shape);
    PixelArea area = area_of(shape);
    bool larger = false;
    for (std::size_t i = 0; i < registered.frames.size(); ++i) {
        if (registered.contributes[i] == 0)
            continue;
        larger |= predicted_overlap(registered.motions[i], shape) < direct_overlap;
        area = enclosing_area(area, window_of(registered.motions[i], shape, grid));
    }
    return larger ? area : area_of(shape);
}

bool too_large_for_matching(const PixelArea& area, ImageShape shape) {
    constexpr Elements pixels = Elements{1} << 27, frames = 16;
    return area.shape.elements() > pixels && area.shape.elements() > frames * shape.elements();
}

PixelArea window_in(const PixelArea& area, const RigidMotion& motion, ImageShape shape) {
    if (area == area_of(shape))
        return area;
    PixelArea window = window_of(motion, shape, window_grid(shape));
    window.x = std::clamp(window.x, area.x, area.x + area.shape.width - shape.width);
    window.y = std::clamp(window.y, area.y, area.y + area.shape.height - shape.height);
    return window;
}

MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           const TransformOf& transform_of) {
    return average_of(context, registered, registered.contributing(), transform_of,
                      area_of(context.source.header().shape));
}

MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           std::span<const std::int64_t> frames, const TransformOf& transform_of,
                           const PixelArea& area) {
    MatchingAverage average;
    average.area = area;
    CombineOptions options{false, context.options.memory, context.options.threads};
    options.area = area;
    options.count = false;
    for (const std::int64_t frame : frames) {
        options.contributions.push_back(
            contribution_of(registered.contrasts[registered.index(frame)], context.offset));
        average.total += options.contributions.back().weight;
    }
    Combined combined = combine(context.communicator, context.source, frames, transform_of, options,
                                context.control);
    average.samples = std::move(combined.mean);
    average.weight = std::move(combined.weight);
    if (area != area_of(context.source.header().shape)) {
        constexpr double enough = 16;
        const float most = std::ranges::max(average.weight);
        average.total = std::min(average.total * enough / static_cast<double>(frames.size()),
                                 static_cast<double>(most));
    }
    const auto least = static_cast<float>(least_coverage * average.total);
    for (std::size_t pixel = 0; pixel < average.samples.size(); ++pixel) {
        if (average.weight[pixel] < least)
            average.samples[pixel] = std::numeric_limits<float>::quiet_NaN();
    }
    return average;
}

namespace {

/// Removes a frame's contribution from an average. On input, `samples` is the frame resampled in a
/// window; on output, it is the average of the other frames in this window. Where the frame has no
/// data, the output is the whole average.
void subtract_own(const MatchingAverage& average, const PixelArea& window, const Contribution& own,
                  std::span<float> samples) {
    const double least = least_coverage * (average.total - own.weight);
    const PixelArea& area = average.area;
    for (std::int64_t y = 0; y < window.shape.height; ++y) {
        auto of_average = static_cast<std::size_t>((window.y + y - area.y) * area.shape.width +
                                                   window.x - area.x);
        float* const row = samples.data() + y * window.shape.width;
        for (std::int64_t x = 0; x < window.shape.width; ++x, ++of_average) {
            const double value = own.gain * static_cast<double>(row[x]) + own.offset;
            if (!std::isfinite(value)) {
                row[x] = average.samples[of_average];
                continue;
            }
            const auto weight = static_cast<double>(average.weight[of_average]);
            const double left = weight - own.weight;
            const double sum = weight * static_cast<double>(average.samples[of_average]);
            row[x] = left < least ? std::numeric_limits<float>::quiet_NaN()
                                  : static_cast<float>((sum - own.weight * value) / left);
        }
    }
}

} // namespace

void resample_others(const SeriesContext& context, const MatchingAverage& average,
                     const PixelArea& window, const Registered& registered,
                     const TransformOf& transform_of, std::int64_t frame, Resampler& resampler,
                     std::vector<float>& samples) {
    const std::size_t index = registered.index(frame);
    samples.resize(static_cast<std::size_t>(window.shape.elements()));
    if (registered.contributes[index] != 0) {
        // Resample in bands, because the resampler keeps the rows that it reads in memory.
        constexpr Elements rows = 64;
        const Transform transform = transform_of(frame);
        bool continued = false;
        for (Elements y = 0; y < window.shape.height; y += rows) {
            const PixelArea band{window.x,
                                 window.y + y,
                                 {window.shape.width, std::min(rows, window.shape.height - y)}};
            const auto to =
                std::span(samples).subspan(static_cast<std::size_t>(y * window.shape.width),
                                           static_cast<std::size_t>(band.shape.elements()));
            continued = resampler.resample(frame, transform, band, to, continued) || continued;
        }
        subtract_own(average, window, contribution_of(registered.contrasts[index], context.offset),
                     samples);
        return;
    }
    const PixelArea& area = average.area;
    for (std::int64_t y = 0; y < window.shape.height; ++y)
        std::copy_n(average.samples.begin() + (window.y + y - area.y) * area.shape.width +
                        window.x - area.x,
                    window.shape.width, samples.begin() + y * window.shape.width);
}

namespace {

/// An image of which most pixels equal their left neighbours, such as the weights of an average. It
/// takes much less memory than its pixels, and at most twice as much.
class ImageOfRuns {
  public:
    ImageOfRuns(std::span<const float> pixels, Elements width) {
        for (std::size_t first = 0; first < pixels.size();) {
            rows_.push_back(runs_.size());
            const std::size_t end = first + static_cast<std::size_t>(width);
            for (std::size_t i = first; i < end; ++i) {
                if (i == first || pixels[i] != pixels[i - 1])
                    runs_.push_back({static_cast<std::int32_t>(i - first), pixels[i]});
            }
            first = end;
        }
        rows_.push_back(runs_.size());
    }

    /// Writes every `step`-th pixel of a row from column `first` on.
    void copy(Elements row, Elements first, Elements step, std::span<float> to) const {
        auto run = rows_[static_cast<std::size_t>(row)];
        const auto last = rows_[static_cast<std::size_t>(row) + 1];
        for (float& pixel : to) {
            while (run + 1 < last && runs_[run + 1].first <= first)
                ++run;
            pixel = runs_[run].value;
            first += step;
        }
    }

  private:
    struct Run {
        std::int32_t first; ///< column
        float value;
    };
    std::vector<Run> runs_;
    std::vector<std::size_t> rows_; ///< index of the first run of each row; the number of runs
};

/// Computes the filtered average of all frames but one. The filter is linear, so the filtered frame
/// is subtracted from the filtered average; filtering each difference would be slower. Only the two
/// finest pyramid levels are computed, because a registration without search uses no others.
class OthersPyramid {
  public:
    OthersPyramid(const SeriesContext& context, MatchingAverage average,
                  const Registered& registered, Team* team)
        : context_(context),
          area_(average.area),
          total_(average.total),
          weight_(average.weight, average.area.shape.width),
          registered_(registered),
          team_(team),
          shape_(context.source.header().shape),
          all_(area_.shape, default_levels(shape_), context.options.prefilter, team),
          others_(shape_, 0, context.options.prefilter, team) {
        average.weight = {};
        all_.fill(view_of(average.samples, area_.shape));
    }

    /// Lends the memory of `others_` to the reader, which needs its samples only until without()
    /// writes to this memory. If the average is larger than a frame, all() also writes to it, so
    /// nothing is lent.
    void lend_memory(PairReader& reader) {
        if (area_ == area_of(shape_))
            reader.read_into({others_.plane(0).first, static_cast<std::size_t>(shape_.elements())});
    }

    /// Returns a window of the average of all contributing frames.
    const Pyramid& all(const PixelArea& window) {
        if (window == area_)
            return all_;
        for (int level = 0; level < all_.levels(); ++level)
            copy(window, level);
        others_.set_gaps(all_.gaps());
        return others_;
    }

    /// Returns a window of the average of all contributing frames but `frame`.
    const Pyramid& without(std::int64_t frame, const PixelArea& window, const Pyramid& filtered) {
        const std::size_t index = registered_.index(frame);
        const Contribution one = contribution_of(registered_.contrasts[index], context_.offset);
        const RigidMotion motion = in_window(registered_.motions[index], window);
        bool gaps = false;
        for (int level = 0; level < std::min(2, all_.levels()); ++level)
            gaps |= subtract(one, motion, window, filtered, level);
        others_.set_gaps(gaps);
        return others_;
    }

  private:
    /// Returns a window of one level of the average. Windows are aligned to a grid, so they start
    /// at a pixel on every level.
    kernel::FloatImage part_of(const PixelArea& window, int level) const {
        const kernel::FloatImage whole = all_.level(level);
        const Elements step = Elements{1} << level;
        const Elements x = (window.x - area_.x) / step, y = (window.y - area_.y) / step;
        return {whole.row(y) + x, whole.stride, others_.level(level).shape};
    }

    void copy(const PixelArea& window, int level) {
        const kernel::FloatImage from = part_of(window, level);
        const kernel::Plane to = others_.plane(level);
        for (Elements y = 0; y < from.shape.height; ++y)
            std::copy_n(from.row(y), from.shape.width, to.first + y * to.stride);
    }

    /// Computes one level. Returns true if the level has gaps.
    bool subtract(const Contribution& one, const RigidMotion& motion, const PixelArea& window,
                  const Pyramid& filtered, int level) {
        const kernel::FloatImage of_all = part_of(window, level), of_one = filtered.level(level);
        const ImageShape shape = of_all.shape;
        const double unit = std::ldexp(1, level);
        const Point c = centre(shape_);
        const kernel::RigidMap map =
            map_of({motion.alpha, motion.tx / unit, motion.ty / unit}, {c.x / unit, c.y / unit});
        const kernel::Plane to = others_.plane(level);
        // A sample of the filtered frame contributes gain · sample + offset, in units of all_.
        const auto gain = static_cast<float>(one.gain / filtered.scale() * all_.scale());
        const auto offset = static_cast<float>(
            (one.gain * filtered.mean() + one.offset - all_.mean()) * all_.scale());
        const auto weight = static_cast<float>(one.weight);
        const auto least = static_cast<float>(least_coverage * (total_ - one.weight));
        const Elements step = Elements{1} << level;
        const Bands bands(shape.height);
        std::array<bool, Bands::most> gaps{};
        run_parts(team_, bands.count(), [&](int band, int) {
            const Elements first = bands.first(band), last = bands.first(band + 1);
            constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
            kernel::warp_rows(of_one, map, nothing, shape, first, last, to);
            bool any = false;
            std::vector<float> weights(static_cast<std::size_t>(shape.width));
            for (Elements y = first; y < last; ++y) {
                float* const row = to.first + y * to.stride;
                const float* const sum = of_all.row(y);
                weight_.copy(window.y - area_.y + y * step, window.x - area_.x, step, weights);
                for (Elements x = 0; x < shape.width; ++x) {
                    const float own = gain * row[x] + offset;
                    const float seen = weights[static_cast<std::size_t>(x)];
                    const float left = seen - weight;
                    const float others =
                        left < least ? nothing : (seen * sum[x] - weight * own) / left;
                    row[x] = std::isnan(own) ? sum[x] : others;
                    any |= std::isnan(row[x]);
                }
            }
            gaps[static_cast<std::size_t>(band)] = any;
        });
        return std::any_of(gaps.begin(), gaps.end(), [](bool any) { return any; });
    }

    const SeriesContext& context_;
    PixelArea area_;     ///< of the average
    double total_;       ///< MatchingAverage::total
    ImageOfRuns weight_; ///< MatchingAverage::weight
    const Registered& registered_;
    Team* team_;
    ImageShape shape_;
    Pyramid all_, others_;
};

} // namespace

bool settle(const SeriesContext& context, PairReader& reader, const Pyramid& average,
            const PixelArea& window, std::uint32_t stage, FrameRegistration& frame) {
    const TimedResult timed =
        timed_result(context.ledger, {Work::averaged, stage, 0, 1, frame.frame},
                     [&] { return from_window(reader.align(average, frame.frame), window); });
    frame.seconds += timed.seconds;
    if (!trusted(timed.result) || timed.result.ambiguous)
        return false;
    frame.result = timed.result;
    frame.in_doubt = false;
    return true;
}

void register_to_average(const SeriesContext& context, MatchingAverage average,
                         const Registered& registered, std::span<FrameRegistration> own,
                         std::uint32_t stage) {
    const RegistrationOptions& options = context.options;
    const ImageShape shape = context.source.header().shape;
    Team team(options.threads);
    const PixelArea area = average.area;
    OthersPyramid references(context, std::move(average), registered, &team);
    PairReader reader(context.source, options.rigid, options.prefilter,
                      std::make_shared<FrameCache>(1), &team);
    references.lend_memory(reader);
    std::int64_t done = 0;
    for (FrameRegistration& frame : own) {
        context.step("register to the average", done++, std::ssize(own));
        if (!frame.left_out.empty())
            continue;
        const std::size_t index = registered.index(frame.frame);
        const bool contributes = registered.contributes[index] != 0;
        if (contributes && !is_one_of_several(registered, index))
            continue;
        const RigidMotion start = frame.result.motion;
        const PixelArea window = window_in(area, start, shape);
        if (!contributes && settle(context, reader, references.all(window), window, stage, frame))
            continue;
        const TimedResult timed =
            timed_result(context.ledger, {Work::averaged, stage, 0, 0, frame.frame}, [&] {
                const Pyramid& reference =
                    contributes
                        ? references.without(frame.frame, window, reader.pyramid(frame.frame))
                        : references.all(window);
                return from_window(reader.refine(reference, frame.frame, in_window(start, window)),
                                   window);
            });
        frame.result = refined_from(start, timed.result, frame.result.ambiguous);
        frame.seconds += timed.seconds;
    }
}

void for_each_with_others(const SeriesContext& context, MatchingAverage average,
                          const Registered& registered, std::span<FrameRegistration> own,
                          const std::function<void(const FrameAndOthers& one)>& body) {
    Team team(context.options.threads);
    const PixelArea area = average.area;
    OthersPyramid references(context, std::move(average), registered, &team);
    PairReader reader(context.source, context.options.rigid, context.options.prefilter,
                      std::make_shared<FrameCache>(1), &team);
    references.lend_memory(reader);
    std::int64_t done = 0;
    for (FrameRegistration& frame : own) {
        context.step("register to the average", done++, std::ssize(own));
        if (!frame.left_out.empty())
            continue;
        const PixelArea window =
            window_in(area, frame.result.motion, context.source.header().shape);
        const Pyramid& pyramid = reader.pyramid(frame.frame);
        const bool contributes = registered.contributes[registered.index(frame.frame)] != 0;
        body({frame,
              contributes ? references.without(frame.frame, window, pyramid)
                          : references.all(window),
              pyramid, window, &team});
    }
}

} // namespace sextant::registration
