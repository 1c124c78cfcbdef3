// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/stages/refinement.hpp"

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/series/pair_reader.hpp"
#include "sextant/registration/series/stations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace sextant::registration {

namespace {

/// The filtered average of all frames but one. The filter is linear, so the filtered frame is
/// subtracted from the filtered average, instead of filtering each difference. Pyramids have their
/// two finest levels, which a registration without search uses.
class OthersPyramid {
  public:
    OthersPyramid(const SeriesContext& context, MatchingAverage average,
                  const Registered& registered, Team* team)
        : context_(context),
          average_(std::move(average)),
          registered_(registered),
          team_(team),
          shape_(context.source.header().shape),
          all_(average_.area.shape, default_levels(shape_), context.options.prefilter, team),
          others_(shape_, 0, context.options.prefilter, team) {
        all_.fill(view_of(average_.samples, average_.area.shape));
        std::vector<float>().swap(average_.samples); // only their pyramid is needed
    }

    /// Returns the window of the average of all frames that contribute.
    const Pyramid& all(const PixelArea& window) {
        if (window == average_.area)
            return all_;
        for (int level = 0; level < all_.levels(); ++level)
            copy(window, level);
        others_.set_gaps(all_.gaps());
        return others_;
    }

    /// Returns the window of the average of the frames other than one that contributes.
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
    /// Returns a window of a level of the average. Pixels of all levels are multiples of the grid
    /// of windows apart.
    kernel::FloatImage part_of(const PixelArea& window, int level) const {
        const kernel::FloatImage whole = all_.level(level);
        const Elements step = Elements{1} << level;
        const Elements x = (window.x - average_.area.x) / step,
                       y = (window.y - average_.area.y) / step;
        return {whole.row(y) + x, whole.stride, others_.level(level).shape};
    }

    void copy(const PixelArea& window, int level) {
        const kernel::FloatImage from = part_of(window, level);
        const kernel::Plane to = others_.plane(level);
        for (Elements y = 0; y < from.shape.height; ++y)
            std::copy_n(from.row(y), from.shape.width, to.first + y * to.stride);
    }

    /// Computes a level, and returns true if it has gaps.
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
        const auto least = static_cast<float>(least_coverage * (average_.total - one.weight));
        const Elements step = Elements{1} << level, width = average_.area.shape.width;
        const float* const first_weight = average_.weight.data() +
                                          (window.y - average_.area.y) * width +
                                          (window.x - average_.area.x);
        const Bands bands(shape.height);
        std::array<bool, Bands::most> gaps{};
        run_parts(team_, bands.count(), [&](int band, int) {
            const Elements first = bands.first(band), last = bands.first(band + 1);
            constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
            kernel::warp_rows(of_one, map, nothing, shape, first, last, to);
            bool any = false;
            for (Elements y = first; y < last; ++y) {
                float* const row = to.first + y * to.stride;
                const float* const sum = of_all.row(y);
                const float* const weights = first_weight + y * step * width;
                for (Elements x = 0; x < shape.width; ++x) {
                    const float own = gain * row[x] + offset, seen = weights[x * step];
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
    MatchingAverage average_;
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
    PairReader reader(context.source, options.rigid, options.prefilter, 2, &team);
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

} // namespace sextant::registration
