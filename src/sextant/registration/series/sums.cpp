// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/sums.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/series/inspection.hpp"
#include "sextant/registration/series/stations.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace sextant::registration {

namespace {

/// The division of the usable frames into groups of consecutive frames.
struct Groups {
    std::vector<std::int64_t> frames;
    std::size_t size = 0; ///< of each group; the last group also contains the remaining frames

    std::size_t count() const { return frames.size() / size; }
    std::span<const std::int64_t> group(std::size_t number) const {
        const std::span<const std::int64_t> rest = std::span(frames).subspan(number * size);
        return number + 1 == count() ? rest : rest.first(size);
    }
    std::size_t group_of(std::size_t index) const { return std::min(index / size, count() - 1); }
    /// The mean of the frame numbers of a group.
    double centre(std::size_t number) const {
        double sum = 0;
        for (const std::int64_t frame : group(number))
            sum += static_cast<double>(frame);
        return sum / static_cast<double>(group(number).size());
    }
};

/// Returns a series of the means of groups. A frame's own mean is replaced by `level`, so that
/// changes of brightness leave no steps at gaps. The source must outlive the result.
std::unique_ptr<FrameSource> means_of(FrameSource& source, const Groups& groups,
                                      std::vector<float> levels, float level) {
    FrameHeader header = as_grey_floats(source.header());
    header.frames = static_cast<std::int64_t>(groups.count());
    header.axes = {};
    const auto read = [&source, groups, levels = std::move(levels),
                       level](std::int64_t number, Rows rows, std::span<std::byte> to) {
        std::vector<float> samples(to.size() / sizeof(float));
        std::vector<double> sums(samples.size()), counts(samples.size());
        for (const std::int64_t frame : groups.group(static_cast<std::size_t>(number))) {
            source.read_rows(frame, rows, samples);
            for (std::size_t i = 0; i < samples.size(); ++i) {
                if (!std::isfinite(samples[i]))
                    continue;
                sums[i] +=
                    static_cast<double>(samples[i] - levels[static_cast<std::size_t>(frame)]);
                ++counts[i];
            }
        }
        for (std::size_t i = 0; i < samples.size(); ++i)
            samples[i] = counts[i] > 0 ? static_cast<float>(sums[i] / counts[i]) + level
                                       : std::numeric_limits<float>::quiet_NaN();
        std::memcpy(to.data(), samples.data(), to.size());
    };
    return std::make_unique<FrameSource>(source.path(), header, FrameReading{read});
}

/// The position of a group: the motion of its mean relative to the reference, inverted, so that the
/// shift is the position of the centre of the frames in the coordinates of the reference.
struct Placed {
    bool is = false;
    UncertainMotion position;
    double centre = 0;
};

/// Returns the position at a time, by linear interpolation between the nearest two groups with a
/// position, or extrapolation.
UncertainMotion position_at(std::span<const Placed> placed, double time) {
    const auto after =
        std::min(std::ranges::upper_bound(placed, time, {}, &Placed::centre), placed.end() - 1);
    const Placed &b = *after, &a = after == placed.begin() ? b : *std::prev(after);
    UncertainMotion at = b.position;
    if (placed.size() == 1)
        return at;
    const Placed& from = &a == &b ? placed[1] : a;
    const double v = (time - b.centre) / (from.centre - b.centre);
    for (double RigidMotion::*const p : {&RigidMotion::alpha, &RigidMotion::tx, &RigidMotion::ty})
        at.motion.*p += v * (from.position.motion.*p - b.position.motion.*p);
    return at;
}

/// Registers sums of one size.
SumsRegistration of_size(const SeriesContext& context, const Groups& groups,
                         std::span<const FrameStatistics> statistics,
                         std::span<const FrameRegistration> own) {
    const Communicator& communicator = context.communicator;
    std::vector<float> levels;
    for (const FrameStatistics& one : statistics)
        levels.push_back(static_cast<float>(one.mean - context.offset));
    const auto level = static_cast<float>(usual_mean(statistics) - context.offset);
    const auto means = means_of(context.source, groups, std::move(levels), level);
    RegistrationOptions options = context.options;
    options.reference.reset();
    options.contrast = ContrastSearch::same;
    const SeriesContext sums{communicator,   *means,  options, nullptr, context.control,
                             context.offset, nullptr, {},      nullptr};
    SumsRegistration found;
    found.size = static_cast<std::int64_t>(groups.size);
    SeriesInspection inspection = inspect_series(sums);
    if (inspection.usable.size() < 2)
        return found;
    std::vector<FrameRegistration> of_rank = register_series(sums, std::move(inspection));
    leave_out_unrelated(of_rank);
    std::vector<Placed> own_groups;
    for (const FrameRegistration& one : of_rank)
        own_groups.push_back(
            {one.left_out.empty() && !in_doubt(one),
             inverse(UncertainMotion{one.result.motion, one.result.uncertainty.covariance}),
             groups.centre(static_cast<std::size_t>(one.frame))});
    const std::vector<Placed> all = all_gather_lists(communicator, own_groups);
    std::vector<Placed> placed;
    std::ranges::copy_if(all, std::back_inserter(placed), &Placed::is);
    if (placed.size() < 2)
        return found;
    std::vector<std::int64_t> frames;
    for (std::size_t i = 0; i < groups.frames.size(); ++i) {
        if (all[groups.group_of(i)].is)
            frames.push_back(groups.frames[i]);
    }
    found.registered = frames.size();
    // Without a requested reference: the frame nearest to the reference of the sums.
    const auto centre_of_reference = std::ranges::find_if(
        placed, [](const Placed& one) { return one.position.motion == RigidMotion(); });
    found.reference = context.options.reference.value_or(
        centre_of_reference == placed.end() || centre_of_reference == placed.begin()
            ? frames.front()
            : *std::ranges::lower_bound(frames,
                                        static_cast<std::int64_t>(centre_of_reference->centre)));
    const auto motion_at = [&](std::int64_t frame) {
        return inverse(position_at(placed, static_cast<double>(frame)));
    };
    const RigidMotion to_reference = inverse(motion_at(found.reference).motion);
    found.frames.assign(own.begin(), own.end());
    for (FrameRegistration& frame : found.frames) {
        if (!frame.left_out.empty())
            continue;
        frame.sound = std::ranges::binary_search(frames, frame.frame);
        frame.in_doubt = !frame.sound;
        const UncertainMotion motion = motion_at(frame.frame);
        RigidResult& result = frame.result;
        result.motion =
            frame.frame == found.reference ? RigidMotion() : compose(motion.motion, to_reference);
        result.uncertainty = uncertainty_with(motion.covariance);
        result.overlap = predicted_overlap(result.motion, context.source.header().shape);
        result.converged = true;
        frame.contrast.level = statistics[static_cast<std::size_t>(frame.frame)].mean;
        frame.from_before = compose(motion.motion, inverse(motion_at(frame.frame - 1).motion));
    }
    return found;
}

} // namespace

SumsRegistration register_sums(const SeriesContext& context, std::span<const std::int64_t> usable,
                               std::span<const FrameStatistics> statistics,
                               std::span<const FrameRegistration> own, std::size_t at_least) {
    constexpr std::size_t smallest = 4;
    constexpr double nearly_all = .9;
    SumsRegistration best;
    for (Groups groups{{usable.begin(), usable.end()}, smallest}; groups.count() >= 2;
         groups.size *= 2) {
        SumsRegistration found = of_size(context, groups, statistics, own);
        if (found.registered >= at_least && found.registered > best.registered)
            best = std::move(found);
        if (static_cast<double>(best.registered) >= nearly_all * static_cast<double>(usable.size()))
            break;
    }
    return best;
}

} // namespace sextant::registration
