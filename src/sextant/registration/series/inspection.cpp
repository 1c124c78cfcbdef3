// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/inspection.hpp"

#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/journal.hpp"
#include "sextant/core/text.hpp"
#include "sextant/registration/correct/shading.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/series/frame_series.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

struct Inspected {
    FrameStatistics statistics;
    bool readable = false;
};

/// Reads a frame and returns its statistics; if the frame is unusable, records the reason.
Inspected inspected(PairReader& reader, const CorrectedFrames* corrections,
                    FrameRegistration& frame) {
    try {
        const FrameStatistics statistics = reader.statistics(frame.frame);
        frame.gaps = corrections ? corrections->recorded_gaps(frame.frame) : statistics.gaps;
        return {statistics, true};
    } catch (const UnusableFrame& why) {
        frame.leave_out(Omission::unusable, why.what());
    } catch (const InvalidFile& why) {
        frame.leave_out(Omission::unreadable, why.what());
    }
    return {};
}

/// True if the displacement of odd rows is measured in a frame: one of up to 16 of the series.
bool measures_rows(const SeriesContext& context, std::int64_t frame) {
    constexpr std::int64_t most = 16;
    const Bidirectional& option = context.options.bidirectional;
    return option.enabled && !option.shift &&
           frame % ((context.source.header().frames + most - 1) / most) == 0;
}

std::vector<Inspected> inspect_block(const SeriesContext& context, const Block& block,
                                     SeriesInspection& inspection) {
    const RegistrationOptions& options = context.options;
    const FrameHeader& header = context.source.header();
    const PatternView view = pattern_view(header.shape, header.frames);
    const std::vector<std::int64_t> for_layers = frames_for_layers(header.frames, header.shape);
    inspection.team = std::make_shared<Team>(options.threads);
    PairReader reader(context.source, options.rigid, options.prefilter, context.cache,
                      inspection.team.get(), context.offset);
    std::vector<FrameRegistration>& frames = inspection.frames;
    std::vector<Inspected> all;
    for (std::int64_t frame = block.first; frame < block.last; ++frame) {
        context.step("inspect frames", frame - block.first, block.count());
        frames.emplace_back().frame = frame;
        all.push_back(inspected(reader, context.corrections, frames.back()));
        if (all.back().readable && std::ranges::binary_search(for_layers, frame)) {
            const std::vector<float> part = viewed_part(view, reader.pyramid(frame));
            inspection.viewed_frames.push_back(frame);
            inspection.views.insert(inspection.views.end(), part.begin(), part.end());
        }
        if (measures_rows(context, frame) && all.back().readable) {
            RowShiftMeter meter(context.source.header().shape);
            meter.add(reader.samples());
            inspection.rows.insert(inspection.rows.end(), meter.sums().begin(), meter.sums().end());
        }
    }
    return all;
}

/// All-gathers the outliers and blank lines, and stores those of this rank's frames. Frames with
/// blank lines are inspected again, with these lines as gaps. Collective.
void settle_corrections(const SeriesContext& context, SeriesInspection& inspection,
                        std::vector<Inspected>& own) {
    CorrectedFrames& corrections = *context.corrections;
    corrections.settle(context.communicator);
    agree(context.communicator, [&] {
        std::optional<PairReader> reader;
        for (std::size_t i = 0; i < own.size(); ++i) {
            FrameRegistration& frame = inspection.frames[i];
            frame.outliers = corrections.outliers(frame.frame);
            const std::int64_t blank = corrections.blank(frame.frame);
            if (!frame.left_out.empty() || blank == 0)
                continue;
            if (!reader)
                reader.emplace(context.source, context.options.rigid, context.options.prefilter,
                               std::make_shared<FrameCache>(2), inspection.team.get(),
                               context.offset);
            own[i] = inspected(*reader, &corrections, frame);
            frame.gaps += blank;
        }
    });
}

} // namespace

SeriesInspection inspect_series(const SeriesContext& context) {
    const Communicator& communicator = context.communicator;
    const std::int64_t frames = context.source.header().frames;
    const Block block = block_of(communicator.rank(), communicator.size(), frames);
    SeriesInspection inspection;
    std::vector<Inspected> own;
    agree(communicator, [&] {
        if (frames < 1)
            throw InvalidData(context.source.path() +
                              ": the series has no frames, expected at least one");
        own = inspect_block(context, block, inspection);
    });
    if (context.corrections)
        settle_corrections(context, inspection, own);
    const std::vector<Inspected> all = all_gather_lists(communicator, own);
    std::vector<FrameStatistics> readable;
    for (const Inspected& frame : all) {
        inspection.statistics.push_back(frame.statistics);
        if (frame.readable)
            readable.push_back(frame.statistics);
    }
    const double usual = usual_mean(readable);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        const Inspected& one = all[static_cast<std::size_t>(frame)];
        if (!one.readable)
            continue;
        const std::string fault = fault_of(one.statistics, usual, context.options.limits);
        if (fault.empty())
            inspection.usable.push_back(frame);
        else if (block.has(frame))
            inspection.frames[static_cast<std::size_t>(frame - block.first)].leave_out(
                Omission::unusable, fault);
    }
    return inspection;
}

std::vector<bool> frames_listed(const std::string& list, std::int64_t frames) {
    std::vector<bool> listed(static_cast<std::size_t>(frames));
    const auto refusal = [&](const std::string& why) {
        return fmt::format(
            "frames {}: {}, expected sound, all, or a list such as 0-9,12 of frames 0 to {}", list,
            why, frames - 1);
    };
    const auto fail = [&](const std::string& why) { throw InvalidTask(refusal(why)); };
    const auto number = [&](std::string_view text) {
        const auto value = parsed_number<std::int64_t>(text);
        if (!value || text.front() == '-')
            fail(fmt::format("\"{}\" is not a frame number", text));
        if (*value >= frames)
            throw InvalidData(refusal(fmt::format("there is no frame {}", *value)));
        return *value;
    };
    for (std::string_view rest = list;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view item = rest.substr(0, comma);
        const std::size_t dash = item.find('-');
        const std::int64_t first = number(item.substr(0, dash));
        const std::int64_t last =
            dash == std::string_view::npos ? first : number(item.substr(dash + 1));
        if (last < first)
            fail(fmt::format("the range {} ends before it begins", item));
        const auto begin = listed.begin() + first, end = listed.begin() + last + 1;
        if (const auto again = std::find(begin, end, true); again != end)
            fail(fmt::format("frame {} is listed twice", again - listed.begin()));
        std::fill(begin, end, true);
        if (comma == std::string_view::npos)
            return listed;
        rest.remove_prefix(comma + 1);
    }
}

CombineOptions averaging_options(const RegistrationOptions& options, const PixelArea& area,
                                 bool median) {
    CombineOptions averaging;
    averaging.median = median;
    averaging.halves = median; // only for the aligned average
    averaging.memory = options.memory;
    averaging.threads = options.threads;
    averaging.area = area;
    averaging.contributions.resize(options.average == AverageKind::plain ? 0 : 1);
    return averaging;
}

namespace {

/// Chooses the use of threads: the requested one, or the predicted fastest. The automatic choice
/// avoids whole frames if they need too much memory.
ThreadPlan plan_of(const RegistrationOptions& options, const FrameHeader& series, int ranks) {
    const bool fields = options.model == MotionModel::nonrigid;
    ThreadPlan plan = plan_threads(ranks, options.threads, series.frames,
                                   default_costs(series.shape, options.farthest, fields),
                                   scan_options(options), options.reproducible);
    constexpr Bytes most_memory = Bytes{256} << 20;
    const bool fits =
        options.threads * memory_of_frame_thread(series.shape, options.farthest + 1, fields) <=
        most_memory;
    if (options.thread_work == ThreadWork::frames) {
        plan.whole_frames = options.threads > 1;
        plan.steals = plan.whole_frames && ranks == 1 && !options.reproducible;
    } else if (options.thread_work == ThreadWork::rows || !fits) {
        plan.whole_frames = plan.steals = false;
    }
    return plan;
}

/// Creates the context for a source and chooses the use of threads.
void use(SeriesState& state, FrameSource& source, CorrectedFrames* corrections = nullptr) {
    state.result.thread_plan =
        plan_of(state.options, state.source->header(), static_cast<int>(state.communicator.size()));
    state.context.emplace(SeriesContext{state.communicator, source, state.options, nullptr,
                                        state.control, state.result.offset, corrections,
                                        state.result.thread_plan, &state.result.thread_use});
}

/// Wraps the source in CorrectedFrames if corrections are requested.
void correct(SeriesState& state) {
    state.sample = state.source->header().sample;
    if (!state.options.despike.enabled && state.options.detector.empty())
        return;
    auto corrected =
        std::make_unique<CorrectedFrames>(std::move(state.source), state.result.offset,
                                          state.options.detector, state.options.despike);
    state.result.offset = corrected->offset();
    state.corrections = corrected.get();
    state.detector = corrected->detector_hash();
    state.source = std::move(corrected);
}

void choose_pixels(SeriesState& state) {
    const RegistrationOptions& options = state.options;
    RegistrationResult& result = state.result;
    result.matched = area_of(state.source->header().shape);
    result.matched_pixels = result.matched.shape.elements();
    if (options.region.empty() && options.roi.empty())
        return;
    state.matched = matched_pixels(options.region, options.roi, *state.source,
                                   state.nonrigid() || options.scan_rows == ScanRows::on);
    result.matched = state.matched->box;
    result.matched_pixels = state.matched->pixels;
    if (state.is_first() && !state.matched->warning.empty())
        result.warnings.push_back(state.matched->warning);
}

/// Prepares the source, and checks the options before frames are inspected.
void open(SeriesState& state) {
    Centred centred = less_offset(std::move(state.source), OffsetFor::computation);
    state.source = std::move(centred.frames);
    state.result.offset = centred.offset;
    correct(state);
    use(state, *state.source, state.corrections);
    const FrameHeader& header = state.source->header();
    if (header.frames < 2)
        throw InvalidData(
            fmt::format("{} has {} frame{}{}, expected at least two to register",
                        state.source->path(), header.frames, header.frames == 1 ? "" : "s",
                        header.hyperstack.channels > 1
                            ? fmt::format(" of {} channels", header.hyperstack.channels)
                            : ""));
    const std::int64_t reference = state.options.reference.value_or(0);
    if (reference >= header.frames)
        throw InvalidData(fmt::format("reference {}: expected 0 to {}, as {} has {} frames",
                                      reference, header.frames - 1, state.source->path(),
                                      header.frames));
    require_compatible(state.options);
    choose_pixels(state);
    if (state.options.frames != "sound" && state.options.frames != "all")
        frames_listed(state.options.frames, header.frames);
    const Bytes least = least_memory(header.frames, header.shape.width,
                                     averaging_options(state.options, area_of(header.shape), true));
    constexpr Bytes mebibyte = 1 << 20;
    if (state.options.memory < least)
        throw InvalidTask(fmt::format(
            "memory {:g} MiB is too little for a row of {} frames, expected {} MiB or more",
            static_cast<double>(state.options.memory) / mebibyte, header.frames,
            (least + mebibyte - 1) / mebibyte));
}

void require_same_detector(const SeriesState& state) {
    const std::uint64_t hash = state.detector + (state.matched ? state.matched->hash : 0);
    const std::vector<std::uint64_t> hashes = state.communicator.all_gather(hash);
    agree(state.communicator, [&] {
        if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) != hashes.end())
            throw InvalidData("the ranks read different dark, gain, defect or mask images, "
                              "expected the same on all ranks");
    });
}

std::string hash_of(std::span<const double> values) {
    return fmt::format("{:016x}", checksum_of(std::as_bytes(values)));
}

/// Returns a hash of the frames' statistics that identifies the series.
std::string fingerprint(const std::vector<FrameStatistics>& frames) {
    std::vector<double> values;
    for (const FrameStatistics& frame : frames)
        values.insert(values.end(),
                      {frame.mean, frame.least, frame.largest,
                       static_cast<double>(frame.at_largest), static_cast<double>(frame.gaps)});
    return hash_of(values);
}

/// Removes the corrections from the source if the inspection found nothing to correct.
void end_inspection(SeriesState& state) {
    if (!state.corrections)
        return;
    state.result.defects = state.corrections->defects();
    if (const auto& better = state.corrections->better_gain())
        state.result.warnings.push_back("the gain image fits the frames better if it is " +
                                        better->text());
    if (state.corrections->needed()) {
        use(state, *state.source, state.corrections); // the cached frames are not corrected
        return;
    }
    const std::shared_ptr<FrameCache> cache = state.context->cache;
    state.source = std::move(*state.corrections).release();
    state.corrections = nullptr;
    use(state, *state.source);
    state.context->cache = cache;
}

/// Warns of identical consecutive frames. A camera that stalls repeats a frame, including its
/// noise.
void warn_of_copies(SeriesState& state) {
    const auto& frames = state.inspection.statistics;
    std::int64_t copies = 0, first = 0;
    for (std::size_t i = 1; i < frames.size(); ++i) {
        if (frames[i].samples == 0 || !same_samples(frames[i - 1], frames[i]))
            continue;
        if (copies++ == 0)
            first = static_cast<std::int64_t>(i);
    }
    if (copies > 0)
        state.result.warnings.push_back(fmt::format(
            "{} of {} frames are identical to the frame before them, the first is frame {}: they "
            "add no information, and standard deviations assume that their noise is independent",
            copies, frames.size(), first));
}

/// True if the shading changes between frames that show the same part of the specimen. Rank 0
/// decides. Collective.
bool shading_changes(const SeriesState& state) {
    const SeriesInspection& inspection = state.inspection;
    std::vector<Shading> shadings;
    for (const std::int64_t frame : inspection.usable)
        shadings.push_back(inspection.statistics[static_cast<std::size_t>(frame)].shading);
    const std::vector<TwoFrames> pairs = frames_of_other_shading(shadings);
    if (pairs.empty())
        return false;
    int changes = 0; // an int, because all_gather() cannot return std::vector<bool>
    agree(state.communicator, [&] {
        if (!state.is_first())
            return;
        PairReader reader(state.context->source, state.options.rigid, state.options.prefilter,
                          state.context->cache, nullptr, state.result.offset);
        for (const TwoFrames& pair : pairs) {
            state.control.check();
            const std::int64_t first = inspection.usable[pair.first],
                               second = inspection.usable[pair.second];
            const RigidResult found = reader.locate(first, second);
            changes = changes || found.unrelated ||
                      registration::shading_changes(reader.pyramid(first), reader.pyramid(second),
                                                    found.motion, found.inverted);
        }
    });
    return state.communicator.all_gather(changes).front() != 0;
}

/// Returns the displacement of odd rows; 0 if it is not significant. Collective.
/// Deterministic  the bits do not depend on ranks or threads.
RowShift displacement_of_rows(const SeriesState& state) {
    const std::vector<double> all = all_gather_lists(state.communicator, state.inspection.rows);
    RowShiftMeter meter(state.source->header().shape);
    const std::size_t length = meter.sums().size();
    for (std::size_t first = 0; first < all.size(); first += length)
        meter.add_sums(std::span(all).subspan(first, length));
    return meter.displacement().value_or(RowShift());
}

} // namespace

std::string fingerprint_of_filtered(const std::vector<FrameStatistics>& frames) {
    std::vector<double> values;
    for (const FrameStatistics& frame : frames) {
        values.push_back(frame.deviation);
        values.insert(values.end(), frame.shading.begin(), frame.shading.end());
    }
    return hash_of(values);
}

void require_registered(SeriesState& state, std::size_t registered,
                        std::span<const FrameRegistration> own) {
    const std::int64_t usable = state.usable;
    const double least = state.options.min_registered * static_cast<double>(usable);
    if (registered >= 2 && static_cast<double>(registered) >= least)
        return;
    state.fails_again = registered < 2;
    const std::vector<FrameRegistration> frames = gather_frames(state.communicator, own);
    agree(state.communicator, [&] {
        if (state.failed && state.is_first())
            state.failed(frames);
        const auto bad = std::ranges::find_if(
            frames, [](const FrameRegistration& frame) { return !frame.left_out.empty(); });
        const std::string count = registered == 0   ? "none"
                                  : registered == 1 ? "only 1"
                                                    : fmt::format("only {}", registered);
        const std::string needed =
            registered < 2 ? "at least 2 are needed"
                           : fmt::format("{:g} of the {} usable frames are needed "
                                         "(min_registered {:g})",
                                         std::ceil(least), usable, state.options.min_registered);
        throw InvalidData(fmt::format(
            "{}: {} of {} frames could be registered; {}{}", state.source->path(), count,
            state.source->header().frames, needed,
            bad == frames.end() ? "" : fmt::format("; frame {}: {}", bad->frame, bad->left_out)));
    });
}

void compare(SeriesState& state, FrameSource& frames) {
    use(state, frames);
    SeriesInspection& inspection = state.inspection;
    SeriesInspection again = inspect_series(*state.context);
    for (std::size_t frame = 0; frame < again.statistics.size(); ++frame) {
        FrameStatistics& statistics = inspection.statistics[frame];
        statistics.deviation = again.statistics[frame].deviation;
        statistics.mean = again.statistics[frame].mean;
        statistics.shading = again.statistics[frame].shading;
    }
    std::erase_if(inspection.usable, [&](std::int64_t frame) {
        return !std::ranges::binary_search(again.usable, frame);
    });
    for (std::size_t i = 0; i < inspection.frames.size(); ++i) {
        const FrameRegistration& one = again.frames[i];
        if (inspection.frames[i].left_out.empty() && !one.left_out.empty())
            inspection.frames[i].leave_out(one.omission,
                                           "in the part that is compared, " + one.left_out);
    }
    inspection.team = std::move(again.team);
    inspection.views = std::move(again.views);
    inspection.viewed_frames = std::move(again.viewed_frames);
}

void open_series(SeriesState& state) {
    agree(state.communicator, [&] { open(state); });
    require_same_detector(state);
}

void inspect_frames(SeriesState& state) {
    state.inspection = inspect_series(*state.context);
    end_inspection(state);
    warn_of_copies(state);
    state.content = fingerprint(state.inspection.statistics);
}

void align_rows(SeriesState& state) {
    const Bidirectional& option = state.options.bidirectional;
    RowShift found{option.shift.value_or(0), 0};
    if (option.enabled && !option.shift)
        found = displacement_of_rows(state);
    if (!option.enabled || found.shift == 0)
        return;
    state.result.bidirectional = found;
    state.unaligned = std::move(state.source);
    state.source = std::make_unique<ChangedFrames>(
        *state.unaligned, with_aligned_rows(found.shift, state.unaligned->header().shape.width));
    compare(state, *state.source);
}

void match_pixels(SeriesState& state) {
    if (!state.matched)
        return;
    state.matched_frames = matched_frames(*state.source, *state.matched);
    compare(state, *state.matched_frames);
}

void remove_shading(SeriesState& state) {
    state.result.flattened =
        state.options.flatten == Flattening::on ||
        (state.options.flatten == Flattening::automatic && shading_changes(state));
    if (state.result.flattened) {
        FrameSource& shaded = state.context->source;
        state.flattened = std::make_unique<ChangedFrames>(shaded, without_shading(shaded));
        compare(state, *state.flattened);
    }
    state.usable = std::ssize(state.inspection.usable);
    require_registered(state, state.inspection.usable.size(), state.inspection.frames);
}

} // namespace sextant::registration
