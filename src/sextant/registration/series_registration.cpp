// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series_registration.hpp"

#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/core/cancellation.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/invalid_data.hpp"
#include "sextant/core/large_buffer.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/correct/changed_frames.hpp"
#include "sextant/registration/correct/shading.hpp"
#include "sextant/registration/live/live_registration.hpp"
#include "sextant/registration/series/checkpoint.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/stages/family_series.hpp"
#include "sextant/registration/stages/field_series.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/stages/row_series.hpp"
#include "sextant/registration/stages/station_series.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace sextant {

using namespace registration;

namespace {

constexpr int most_extra_stages = 3; ///< stages that may follow the requested ones

/// Parses a list of numbers and ranges such as "0-9,12". Returns true for the frames listed.
std::vector<bool> frames_listed(const std::string& list, std::int64_t frames) {
    std::vector<bool> listed(static_cast<std::size_t>(frames));
    const auto refusal = [&](const std::string& why) {
        return fmt::format(
            "frames {}: {}, expected sound, all, or a list such as 0-9,12 of frames 0 to {}", list,
            why, frames - 1);
    };
    const auto fail = [&](const std::string& why) { throw InvalidTask(refusal(why)); };
    const auto number = [&](std::string_view text) {
        std::int64_t value = 0;
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (failed != std::errc() || end != text.data() + text.size() || text.front() == '-')
            fail(fmt::format("\"{}\" is not a frame number", text));
        if (value >= frames)
            throw InvalidData(refusal(fmt::format("there is no frame {}", value)));
        return value;
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

/// Returns why the motion of a frame is in doubt.
std::string doubt_of(const FrameRegistration& frame) {
    if (frame.result.unrelated)
        return "the frame resembles its reference no more than noise";
    if (frame.in_doubt)
        return "registrations to the frames around it disagree";
    return "a registration to a frame next to it is ambiguous";
}

/// Returns the RMS standard deviation of positions in a frame.
double deviation_of_positions(const RigidResult& result, ImageShape shape) {
    const RigidUncertainty uncertainty = uncertainty_of_centre(result, shape);
    const double arm = std::hypot(static_cast<double>(shape.width),
                                  static_cast<double>(shape.height)) /
                       std::sqrt(12); // RMS distance of positions from the centre
    return std::hypot(uncertainty.tx, uncertainty.ty, uncertainty.alpha * arm);
}

/// Returns the median of the motions by which frames moved between two stages. It is the change of
/// the common reference.
RigidMotion common_motion(const std::vector<RigidMotion>& moves) {
    const auto median_of = [&](double RigidMotion::*parameter) {
        std::vector<double> values;
        for (const RigidMotion& move : moves)
            values.push_back(move.*parameter);
        return median(values);
    };
    return {median_of(&RigidMotion::alpha), median_of(&RigidMotion::tx),
            median_of(&RigidMotion::ty)};
}

std::string hash_of(std::span<const double> values) {
    return fmt::format("{:016x}", checksum_of(std::as_bytes(values)));
}

/// A hash of the frames' statistics, to recognise the series.
std::string fingerprint(const std::vector<FrameStatistics>& frames) {
    std::vector<double> values;
    for (const FrameStatistics& frame : frames)
        values.insert(values.end(),
                      {frame.mean, frame.least, frame.largest,
                       static_cast<double>(frame.at_largest), static_cast<double>(frame.gaps)});
    return hash_of(values);
}

/// A hash of statistics that depend on the positions of samples in a frame, and on the prefilter:
/// it tells a series from one whose frames are shifted or reflected.
std::string fingerprint_of_filtered(const std::vector<FrameStatistics>& frames) {
    std::vector<double> values;
    for (const FrameStatistics& frame : frames) {
        values.push_back(frame.deviation);
        values.insert(values.end(), frame.shading.begin(), frame.shading.end());
    }
    return hash_of(values);
}

/// Returns an upper bound of the disk space of a checkpoint with displacement fields: those of all
/// stages, including extra ones, with a margin of two stages.
Bytes disk_of_fields(const FrameHeader& series, int stages) {
    constexpr Bytes node = 3 * sizeof(float) + 1;
    return series.frames * nodes_of_fields(series.shape).elements() * node *
           (stages + 2 + (stages > 1 ? most_extra_stages : 0));
}

/// Forwards to another ledger and reports the time interval in which each result was computed: from
/// the lookup that did not find it until it is stored, on the same thread. Calls must be serialised
/// (GuardedLedger).
class TimedLedger : public Ledger {
  public:
    using Worked = decltype(RegistrationHooks::worked);

    TimedLedger(std::unique_ptr<Ledger> ledger, const Worked& worked)
        : ledger_(std::move(ledger)), worked_(worked) {}

    std::optional<std::vector<std::byte>> find(const EntryName& name) override {
        auto found = ledger_->find(name);
        began_[std::this_thread::get_id()] = now();
        return found;
    }
    void keep(const EntryName& name, std::span<const std::byte> bytes) override {
        ledger_->keep(name, bytes);
        worked_(name.work, began_[std::this_thread::get_id()], now());
    }
    void refresh() override { ledger_->refresh(); }

  private:
    static Seconds now() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }

    std::unique_ptr<Ledger> ledger_;
    const Worked& worked_;
    std::map<std::thread::id, Seconds> began_;
};

/// Chooses how threads are used: as requested, or as predicted. Whole frames are refused if their
/// memory would be large.
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

} // namespace

namespace {

/// Returns the family that is fitted in the last stage; none if it is to be chosen.
std::optional<MotionFamily> family_of(MotionModel model) {
    switch (model) {
    case MotionModel::translation:
        return MotionFamily::translation;
    case MotionModel::similarity:
        return MotionFamily::similarity;
    case MotionModel::affine:
        return MotionFamily::affine;
    default:
        return std::nullopt;
    }
}

MotionModel model_of(MotionFamily family) {
    constexpr MotionModel models[] = {MotionModel::translation, MotionModel::rigid,
                                      MotionModel::similarity, MotionModel::affine};
    return models[static_cast<std::size_t>(family)];
}

} // namespace

std::string describe_field_storage(const FrameHeader& series, int stages) {
    return fmt::format(
        "displacement fields of {} frames in {} stages need up to {} MiB on disk and {} MiB of "
        "memory during the scan",
        series.frames, stages, (disk_of_fields(series, stages) >> 20) + 1,
        (memory_of_scan(series.frames, series.shape) >> 20) + 1);
}

RegisteredFrames::RegisteredFrames(FrameSource& source, std::span<const std::int64_t> numbers,
                                   TransformOf transform_of, const PixelArea& area, int threads,
                                   const RunControl& control)
    : numbers_(numbers),
      transform_of_(std::move(transform_of)),
      team_(threads),
      resampler_(source, &team_),
      area_(area),
      control_(control) {}

Transform RegisteredFrames::transform(std::int64_t frame) {
    control_.check();
    return transform_of_(frame);
}

std::span<const float> RegisteredFrames::aligned(std::int64_t frame) {
    control_.report("write aligned frames", done_++, std::ssize(numbers_));
    resize_buffer(pixels_, static_cast<std::size_t>(area_.shape.elements()));
    resampler_.show(frame, transform(frame), area_, pixels_);
    return pixels_;
}

void RegisteredFrames::aligned(std::int64_t frame, const RowsShown& take) {
    control_.report("write aligned frames", done_++, std::ssize(numbers_));
    resampler_.show_rows(frame, transform(frame), area_, pixels_, take);
}

/// One run on one rank. All ranks agree on the outcome of each part, so that a failure on any rank
/// ends the run on all ranks with the same message.
class SeriesRegistration::Run {
  public:
    Run(const SeriesRegistration& what, const RegistrationHooks& hooks)
        : communicator_(what.communicator_),
          options_(what.options_),
          control_(what.control_),
          hooks_(hooks) {}

    RegistrationResult run(std::unique_ptr<FrameSource> source) {
        agree(communicator_, [&] { open(std::move(source)); });
        require_same_detector();
        SeriesInspection inspection;
        timed(result_.seconds.inspection, [&] { inspection = inspect_series(*context_); });
        end_inspection(inspection);
        warn_of_copies(inspection);
        content_ = fingerprint(inspection.statistics);
        timed(result_.seconds.inspection, [&] { flatten(inspection); });
        require_two(inspection.usable.size(), inspection.frames);
        open_ledger(inspection);
        try {
            register_inspected(std::move(inspection));
        } catch (const AgreedFailure&) {
            leave_checkpoint();
            throw;
        }
        ledger_.reset();
        agree(communicator_, [] {}); // all ranks have closed their files
        if (is_first() && has_checkpoint())
            Checkpoint::remove(options_.checkpoint);
        return std::move(result_);
    }

  private:
    bool is_first() const { return communicator_.rank() == 0; }
    bool has_checkpoint() const { return !options_.checkpoint.empty(); }
    bool nonrigid() const { return options_.model == MotionModel::nonrigid; }

    void register_inspected(SeriesInspection inspection) {
        timed(result_.seconds.registration, [&] { register_first(std::move(inspection)); });
        timed(result_.seconds.stages, [&] {
            while (needs_stage())
                refine(++result_.stages);
            fit_family();
            fit_rows();
        });
        const TransformOf found = transform_of(result_.stages);
        agree(communicator_, [&] {
            choose_averaged();
            choose_canvas(found);
        });
        timed(result_.seconds.average, [&] {
            result_.average = combined(found, true);
            find_resolution();
        });
        if (options_.recorded_mean)
            result_.recorded = combined([](std::int64_t) { return Transform(); }, false);
        gather_frames();
        gather_thread_use();
        result_.misfit = series_misfit();
        timed(result_.seconds.writing, [&] { agree(communicator_, [&] { write(); }); });
    }

    /// After a failure on all ranks: the same run can continue the checkpoint, unless it would fail
    /// again. It does not stop a run of another series.
    void leave_checkpoint() {
        ledger_.reset();
        if (!is_first() || !has_checkpoint())
            return;
        if (fails_again_)
            Checkpoint::remove(options_.checkpoint);
        else
            Checkpoint::mark_failed(options_.checkpoint);
    }

    /// Takes the source and checks the options before frames are inspected.
    void open(std::unique_ptr<FrameSource> source) {
        Centred centred = less_offset(std::move(source), OffsetFor::computation);
        source_ = std::move(centred.frames);
        result_.offset = centred.offset;
        correct();
        context_.emplace(SeriesContext{communicator_, *source_, options_, nullptr, control_,
                                       result_.offset, corrections_});
        plan_context_threads();
        const FrameHeader& header = source_->header();
        if (header.frames < 2)
            throw InvalidData(
                fmt::format("{} has {} frame{}{}, expected at least two to register",
                            source_->path(), header.frames, header.frames == 1 ? "" : "s",
                            header.hyperstack.channels > 1
                                ? fmt::format(" of {} channels", header.hyperstack.channels)
                                : ""));
        const std::int64_t reference = options_.reference.value_or(0);
        if (reference >= header.frames)
            throw InvalidData(fmt::format("reference {}: expected 0 to {}, as {} has {} frames",
                                          reference, header.frames - 1, source_->path(),
                                          header.frames));
        require_compatible(options_);
        if (options_.frames != "sound" && options_.frames != "all")
            frames_listed(options_.frames, header.frames);
        const Bytes least = least_memory(header.frames, header.shape.width, combine_options(true));
        constexpr Bytes mebibyte = 1 << 20;
        if (options_.memory < least)
            throw InvalidTask(fmt::format(
                "memory {:g} MiB is too little for a row of {} frames, expected {} MiB or more",
                static_cast<double>(options_.memory) / mebibyte, header.frames,
                (least + mebibyte - 1) / mebibyte));
        if (is_first() && nonrigid() && has_checkpoint())
            check_disk();
    }

    /// Chooses how the threads are used, for a new context.
    void plan_context_threads() {
        result_.thread_plan =
            plan_of(options_, source_->header(), static_cast<int>(communicator_.size()));
        context_->threads = result_.thread_plan;
        context_->used = &result_.thread_use;
    }

    /// Wraps the source in the corrections of its samples, if any are requested.
    void correct() {
        sample_ = source_->header().sample;
        if (!options_.despike.enabled && options_.detector.empty())
            return;
        auto corrected = std::make_unique<CorrectedFrames>(std::move(source_), result_.offset,
                                                           options_.detector, options_.despike);
        result_.offset = corrected->offset();
        corrections_ = corrected.get();
        detector_ = corrected->detector_hash();
        source_ = std::move(corrected);
    }

    void require_same_detector() const {
        const std::vector<std::uint64_t> hashes = communicator_.all_gather(detector_);
        agree(communicator_, [&] {
            if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) !=
                hashes.end())
                throw InvalidData("the ranks read different dark, gain or defect images, expected "
                                  "the same on all ranks");
        });
    }

    /// Reads the source without the corrections if the inspection has found nothing to correct.
    void end_inspection(SeriesInspection& inspection) {
        if (!corrections_)
            return;
        result_.defects = corrections_->defects();
        if (corrections_->needed()) {
            inspection.reader.reset(); // its frames have not been corrected
            return;
        }
        source_ = std::move(*corrections_).release();
        corrections_ = nullptr;
        context_.emplace(
            SeriesContext{communicator_, *source_, options_, nullptr, control_, result_.offset});
        plan_context_threads();
    }

    /// A camera that stalls repeats a frame, whose noise then is the same as well.
    void warn_of_copies(const SeriesInspection& inspection) {
        const auto& frames = inspection.statistics;
        std::int64_t copies = 0, first = 0;
        for (std::size_t i = 1; i < frames.size(); ++i) {
            if (frames[i].samples == 0 || !same_samples(frames[i - 1], frames[i]))
                continue;
            if (copies++ == 0)
                first = static_cast<std::int64_t>(i);
        }
        if (copies > 0)
            result_.warnings.push_back(fmt::format(
                "{} of {} frames equal the frame before them, the first of them is frame {}: they "
                "add no information, and deviations are stated as if their noise were independent",
                copies, frames.size(), first));
    }

    /// True if the shading of frames changes where they show the same part of the specimen. Rank 0
    /// decides.
    bool shading_changes(const SeriesInspection& inspection) {
        std::vector<Shading> shadings;
        for (const std::int64_t frame : inspection.usable)
            shadings.push_back(inspection.statistics[static_cast<std::size_t>(frame)].shading);
        const std::vector<TwoFrames> pairs = frames_of_other_shading(shadings);
        if (pairs.empty())
            return false;
        int changes = 0; // std::vector<bool> has no elements to gather
        agree(communicator_, [&] {
            if (!is_first())
                return;
            PairReader reader(*source_, options_.rigid, options_.prefilter, 2, nullptr,
                              result_.offset);
            for (const TwoFrames& pair : pairs) {
                control_.check();
                const std::int64_t first = inspection.usable[pair.first],
                                   second = inspection.usable[pair.second];
                const RigidResult found = reader.locate(first, second);
                changes =
                    changes || found.unrelated ||
                    registration::shading_changes(reader.pyramid(first), reader.pyramid(second),
                                                  found.motion, found.inverted);
            }
        });
        return communicator_.all_gather(changes).front() != 0;
    }

    /// Removes the frames' shading for registration if it changes in the series.
    void flatten(SeriesInspection& inspection) {
        result_.flattened =
            options_.flatten == Flattening::on ||
            (options_.flatten == Flattening::automatic && shading_changes(inspection));
        if (!result_.flattened)
            return;
        flattened_ = std::make_unique<ChangedFrames>(*source_, without_shading(*source_));
        context_.emplace(
            SeriesContext{communicator_, *flattened_, options_, nullptr, control_, result_.offset});
        plan_context_threads();
        inspection.reader.reset(); // its frames have shading
        SeriesInspection flat = inspect_series(*context_);
        for (std::size_t frame = 0; frame < flat.statistics.size(); ++frame) {
            inspection.statistics[frame].deviation = flat.statistics[frame].deviation;
            inspection.statistics[frame].mean = flat.statistics[frame].mean;
        }
        inspection.reader = std::move(flat.reader);
        inspection.team = std::move(flat.team);
    }

    void check_disk() const {
        std::error_code unknown;
        auto folder = std::filesystem::absolute(options_.checkpoint);
        while (!std::filesystem::exists(folder, unknown) && folder.has_relative_path())
            folder = folder.parent_path();
        const auto space = std::filesystem::space(folder, unknown);
        const FrameHeader& header = source_->header();
        const auto needed = static_cast<std::uintmax_t>(disk_of_fields(header, options_.stages));
        if (!unknown && space.available < needed)
            throw InvalidFile(options_.checkpoint,
                              fmt::format("{}, but only {} MiB of the disk are left",
                                          describe_field_storage(header, options_.stages),
                                          space.available >> 20));
    }

    /// Fails on every rank unless two of all frames are usable. Collective.
    void require_two(std::size_t usable, std::span<const FrameRegistration> own) {
        if (usable >= 2)
            return;
        fails_again_ = true;
        std::string reasons;
        for (const FrameRegistration& frame : own)
            reasons += frame.left_out + '\0';
        std::string all;
        for (const std::string& text : all_gather_texts(communicator_, reasons))
            all += text;
        agree(communicator_, [&] {
            std::vector<FrameRegistration> frames;
            for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) + 1) {
                FrameRegistration& frame = frames.emplace_back();
                frame.frame = std::ssize(frames) - 1;
                frame.left_out = all.substr(at, all.find('\0', at) - at);
            }
            if (hooks_.failed && communicator_.rank() == 0)
                hooks_.failed(frames);
            const auto bad = std::ranges::find_if(
                frames, [](const FrameRegistration& frame) { return !frame.left_out.empty(); });
            throw InvalidData(fmt::format(
                "{}: {} of {} frames could be registered; at least 2 are needed{}", source_->path(),
                usable == 0 ? "none" : "only 1", source_->header().frames,
                bad == frames.end() ? ""
                                    : fmt::format("; frame {}: {}", bad->frame, bad->left_out)));
        });
    }

    /// What recognises the series, whatever the options are.
    Checkpoint::Identity identity_of_series() const {
        const FrameHeader& header = source_->header();
        return {{"frames", std::to_string(header.frames)},
                {"shape", fmt::format("{}x{}", header.shape.width, header.shape.height)},
                {"samples", std::string(name(sample_))},
                {"detector", fmt::format("{:016x}", detector_)},
                {"content", content_}};
    }

    /// All on which the results in a checkpoint depend.
    Checkpoint::Identity identity_of(const Checkpoint::Identity& series,
                                     const std::vector<FrameStatistics>& statistics) const {
        Checkpoint::Identity identity = {{"sextant", version()}};
        const Checkpoint::Identity options =
            registration::identity_of(options_, options_without_effect_on_checkpoints());
        identity.insert(identity.end(), options.begin(), options.end());
        identity.emplace_back("association",
                              options_.reproducible
                                  ? fmt::format("reproducible on {} ranks", communicator_.size())
                                  : std::string("any"));
        identity.insert(identity.end(), series.begin(), series.end());
        identity.emplace_back("filtered content", fingerprint_of_filtered(statistics));
        return identity;
    }

    void open_ledger(const SeriesInspection& inspection) {
        if (has_checkpoint())
            open_checkpoint(inspection);
        else
            ledger_ = std::make_unique<FieldMemory>(communicator_);
        if (hooks_.worked)
            ledger_ = std::make_unique<TimedLedger>(std::move(ledger_), hooks_.worked);
        context_->ledger = ledger_.get();
    }

    void open_checkpoint(const SeriesInspection& inspection) {
        const std::string& folder = options_.checkpoint;
        const Checkpoint::Identity series = identity_of_series();
        const Checkpoint::Identity identity = identity_of(series, inspection.statistics);
        agree(communicator_, [&] {
            if (!is_first())
                return;
            std::error_code failed;
            std::filesystem::create_directory(folder, failed);
            if (failed)
                throw InvalidFile(folder, "cannot be created: " + failed.message());
            if (options_.restart)
                Checkpoint::remove(folder);
            else if (Checkpoint::remove_failed(folder, series))
                result_.warnings.push_back(fmt::format(
                    "{}: the checkpoint of a run of another series that failed was removed",
                    folder));
            Checkpoint::check(folder, identity);
        });
        agree(communicator_, [&] {
            auto checkpoint = std::make_unique<Checkpoint>(folder, communicator_.rank(), identity);
            result_.resumed = checkpoint->size();
            ledger_ = std::move(checkpoint);
            if (!flattened_ && (!corrections_ || corrections_->found_no_defects()))
                take_live_links(inspection);
            if (is_first() && result_.resumed > 0 && hooks_.resumed)
                hooks_.resumed(result_.resumed);
        });
    }

    /// Links made while the series was recorded are those of samples that are corrected by the
    /// detector's images alone. Frames with other corrections have other statistics.
    void take_live_links(const SeriesInspection& inspection) {
        FrameHeader recorded = source_->header();
        recorded.sample = sample_;
        auto ledger = std::make_unique<LedgerWithLinks>(
            std::move(ledger_), options_.checkpoint,
            conditions_of_links(options_, recorded, result_.offset, detector_), inspection.usable,
            inspection.statistics);
        result_.resumed += ledger->size();
        ledger_ = std::move(ledger);
    }

    /// Performs the first stage.
    void register_first(SeriesInspection inspection) {
        FieldSeries series;
        if (nonrigid()) {
            series = register_series_by_fields(*context_, std::move(inspection));
            own_ = series.frames;
        } else {
            own_ = register_series(*context_, std::move(inspection));
        }
        if ((inverted_ = of_one_contrast(*context_, own_)))
            context_.emplace(with_source(SeriesContext(*context_), *inverted_));
        leave_out_unrelated(own_);
        registered_ = gather_registered(communicator_, own_);
        require_two(registered_.frames.size(), own_);
        result_.reference =
            options_.reference.value_or(nonrigid() ? series.reference : reference_frame());
        if (!options_.reference && result_.reference != first_sound_frame())
            result_.reference_reason = "it is in the middle of the motion, and frames drift out of "
                                       "the view of the first one";
        if (!nonrigid())
            return;
        agree(communicator_, [&] {
            register_by_fields(*context_, whole_frame(context_->source, result_.reference),
                               result_.reference, own_, 1,
                               starts_from_motions(series, source_->header().shape));
        });
    }

    /// True if another stage was requested, or frames still move by more than their deviations.
    /// For two frames, the average of the others would be the other frame.
    bool needs_stage() {
        if (options_.stages == 1 || registered_.frames.size() == 2)
            return false;
        if (const PixelArea area = matched_area();
            too_large_for_matching(area, source_->header().shape)) {
            if (result_.stages == 1)
                result_.warnings.push_back(fmt::format(
                    "the frames extend over {}x{} pixels, too many for an average to which frames "
                    "could be registered: there is one stage only",
                    area.shape.width, area.shape.height));
            return false;
        }
        return result_.stages < options_.stages ||
               (frames_move_ && result_.stages < options_.stages + most_extra_stages);
    }

    /// Returns the frame that the others were registered to, whose motion is the identity.
    std::int64_t reference_frame() const {
        const auto at = std::ranges::find(registered_.motions, RigidMotion());
        return at == registered_.motions.end()
                   ? registered_.frames.front()
                   : registered_.frames[static_cast<std::size_t>(at - registered_.motions.begin())];
    }

    /// Collective.
    std::int64_t first_sound_frame() const {
        const auto own = std::ranges::find_if(own_, [](const FrameRegistration& frame) {
            return frame.left_out.empty() && frame.sound;
        });
        const std::vector<std::int64_t> all =
            communicator_.all_gather(own == own_.end() ? source_->header().frames : own->frame);
        return std::ranges::min(all);
    }

    void refine(int stage) {
        const auto number = static_cast<std::uint32_t>(stage);
        if (!nonrigid())
            correct_stations(number);
        const TransformOf before = transform_of(stage - 1);
        MatchingAverage average =
            average_of(*context_, registered_, registered_.contributing(), before, matched_area());
        agree(communicator_, [&] {
            if (nonrigid())
                register_to_average_by_fields(*context_, average, registered_,
                                              reference_of(stage - 1), result_.reference, before,
                                              own_, number);
            else
                register_to_average(*context_, std::move(average), registered_, own_, number);
        });
        add_covariances_of_stations();
        leave_out_unrelated(own_);
        Registered after = gather_registered(communicator_, own_);
        frames_move_ = any_moved(registered_, after);
        registered_ = std::move(after);
    }

    PixelArea matched_area() const {
        const ImageShape shape = source_->header().shape;
        return nonrigid() ? area_of(shape) : matching_area(registered_, shape);
    }

    /// If frames drift out of the view of the reference, registers the parts of the series to one
    /// another.
    void correct_stations(std::uint32_t stage) {
        of_station_.clear();
        if (matched_area() == area_of(source_->header().shape))
            return;
        const FrameCorrections corrections =
            register_stations(*context_, registered_, result_.reference, stage);
        for (std::size_t i = 0; i < registered_.frames.size(); ++i)
            registered_.motions[i] = compose(registered_.motions[i], corrections.frames[i].motion);
        for (FrameRegistration& frame : own_) {
            of_station_.emplace_back();
            if (!frame.left_out.empty())
                continue;
            const std::size_t index = registered_.index(frame.frame);
            frame.result.motion = registered_.motions[index];
            of_station_.back().covariance = corrections.frames[index].covariance;
        }
    }

    /// Adds the covariances of the stations to those of the frames around them, which are relative
    /// to the average nearby.
    void add_covariances_of_stations() {
        if (of_station_.empty())
            return;
        for (std::size_t i = 0; i < own_.size(); ++i) {
            if (!own_[i].left_out.empty())
                continue;
            RigidResult& result = own_[i].result;
            const UncertainMotion sum =
                compose({result.motion, result.uncertainty.covariance}, of_station_[i]);
            result.uncertainty = uncertainty_with(sum.covariance);
        }
    }

    /// True if a stage moved any frame that contributes to averages, relative to the others, by
    /// more than its deviation explains.
    bool any_moved(const Registered& before, const Registered& after) const {
        constexpr double deviations = 6, least = .1; // least: pixels
        const ImageShape shape = source_->header().shape;
        std::vector<RigidMotion> moves;
        for (const std::int64_t frame : after.frames)
            moves.push_back(compose(after.motion(frame), inverse(before.motion(frame))));
        if (moves.empty())
            return false;
        const RigidMotion common = common_motion(moves);
        int moved = 0;
        for (const FrameRegistration& frame : own_) {
            if (!frame.left_out.empty() || after.contributes[after.index(frame.frame)] == 0)
                continue;
            const double distance = rms_distance(moves[after.index(frame.frame)], common, shape);
            const double sigma = deviation_of_positions(frame.result, shape);
            moved += distance > std::max(deviations * sigma, least);
        }
        const std::vector<int> all = communicator_.all_gather(moved);
        return std::any_of(all.begin(), all.end(), [](int frames) { return frames > 0; });
    }

    /// Chooses the frames for the average and the median, and states why others are not averaged.
    void choose_averaged() {
        const bool all = options_.frames == "all", sound = options_.frames == "sound";
        if (sound && registered_.all_in_doubt)
            result_.warnings.push_back("the motions of all frames are in doubt; all are averaged");
        const std::vector<bool> listed =
            all || sound ? std::vector<bool>()
                         : frames_listed(options_.frames, source_->header().frames);
        const auto has = [&](std::int64_t frame) {
            if (all)
                return true;
            return sound ? registered_.contributes[registered_.index(frame)] != 0
                         : listed[static_cast<std::size_t>(frame)];
        };
        for (const std::int64_t frame : registered_.frames) {
            if (has(frame))
                averaged_.push_back(frame);
        }
        result_.not_averaged = std::ssize(registered_.frames) - std::ssize(averaged_);
        if (averaged_.empty())
            throw InvalidData(
                fmt::format("frames {}: none of them is registered", options_.frames));
        for (FrameRegistration& frame : own_) {
            if (frame.left_out.empty() && !has(frame.frame))
                frame.not_averaged = sound ? doubt_of(frame) : "not listed";
        }
    }

    /// Chooses the area of the result images.
    void choose_canvas(const TransformOf& transform_of) {
        const ImageShape shape = source_->header().shape;
        PixelArea& canvas = result_.canvas;
        canvas = area_of(shape);
        if (options_.canvas == Canvas::united) {
            canvas = covered_by_any(averaged_, transform_of, shape);
            if (canvas.shape.elements() > largest_canvas)
                throw InvalidTask(fmt::format("canvas union: the frames extend over {}x{} pixels, "
                                              "expected at most {} MiPixel; "
                                              "choose reference or common, or average fewer frames",
                                              canvas.shape.width, canvas.shape.height,
                                              largest_canvas >> 20));
        } else if (options_.canvas == Canvas::common) {
            const PixelArea common = covered_by_all(averaged_, transform_of, shape);
            if (common.shape.elements() > 0)
                canvas = common;
            else
                result_.warnings.push_back("canvas common: no pixel is covered by all frames, so "
                                           "the area of the reference is used");
        }
    }

    /// Fits a family of motions other than the rigid ones, if the model needs it.
    void fit_family() {
        result_.model = options_.model;
        if (options_.model == MotionModel::rigid || nonrigid())
            return;
        agree(communicator_, [&] {
            const PixelArea area = matched_area();
            fails_again_ = too_large_for_matching(area, source_->header().shape);
            if (fails_again_)
                throw InvalidTask(fmt::format(
                    "model {}: the frames extend over {}x{} pixels, too many for an average to "
                    "which frames could be registered; expected rigid",
                    name(options_.model), area.shape.width, area.shape.height));
        });
        const FamilyChoice choice = register_by_family(*context_, registered_, result_.reference,
                                                       own_, family_of(options_.model));
        result_.model = model_of(choice.family);
        result_.model_reason = choice.reason;
        if (choice.family != MotionFamily::rigid)
            add_covariances_of_stations();
        registered_ = gather_registered(communicator_, own_);
    }

    /// Registers the rows of frames, if requested.
    void fit_rows() {
        if (!options_.scan_rows)
            return;
        RegisteredRows rows = register_by_rows(*context_, registered_, own_,
                                               options_.model != MotionModel::translation);
        registered_ = std::move(rows.frames);
        result_.flyback = rows.flyback;
        if (result_.flyback > 0)
            without_flyback_ = std::make_unique<ChangedFrames>(
                *source_, without_columns(result_.flyback, source_->header().shape.width));
    }

    /// Returns the frames as they are shown in results.
    FrameSource& shown_frames() const {
        return without_flyback_ ? static_cast<FrameSource&>(*without_flyback_) : *source_;
    }

    /// Returns the transforms of all frames after a stage. Collective.
    TransformOf transform_of(int stage) {
        if (nonrigid())
            agree(communicator_, [&] { ledger_->refresh(); });
        return known_transform_of(stage);
    }

    /// Returns the transforms of all frames after a stage, without communication. The fields of all
    /// ranks must already be known.
    TransformOf known_transform_of(int stage) {
        if (!nonrigid())
            return transforms(registered_);
        return transforms_by_fields(*ledger_, reference_of(stage),
                                    static_cast<std::uint32_t>(stage));
    }

    /// Returns the reference of the fields of a stage.
    std::int64_t reference_of(int stage) const {
        return stage == 1 ? result_.reference : the_average;
    }

    Combined combined(const TransformOf& transform_of, bool median) {
        return combine(communicator_, shown_frames(), averaged_, transform_of,
                       combine_options(median), control_);
    }

    /// The area of averages.
    PixelArea shown_area() const {
        return result_.canvas.shape.elements() > 0 ? result_.canvas
                                                   : area_of(source_->header().shape);
    }

    /// Compares the averages of every second frame.
    void find_resolution() {
        std::array<std::vector<float>, 2> halves = std::exchange(result_.average.halves, {});
        if (is_first() && averaged_.size() > 1)
            result_.resolution =
                ring_correlation(halves[0], halves[1], ring_area(shown_area().shape).shape);
    }

    /// Returns the options of averages. Weighted averages bring frames to the level and contrast of
    /// the reference.
    CombineOptions combine_options(bool median) const {
        CombineOptions options;
        options.median = median;
        options.halves = median; // of the aligned average only
        options.memory = options_.memory;
        options.threads = options_.threads;
        options.area = shown_area();
        if (options_.average == AverageKind::plain)
            return options;
        const auto contrast_of = [&](std::int64_t frame) {
            return registered_.contrasts[registered_.index(frame)];
        };
        options.contributions.resize(1);
        if (averaged_.empty())
            return options;
        const auto& frames = registered_.frames;
        const bool has_reference =
            std::binary_search(frames.begin(), frames.end(), result_.reference);
        const FrameContrast to = contrast_of(has_reference ? result_.reference : averaged_.front());
        options.contributions.clear();
        for (const std::int64_t frame : averaged_) {
            const FrameContrast from = contrast_of(frame);
            const double gain = to.signal / from.signal;
            options.contributions.push_back(
                {to.level - result_.offset - gain * (from.level - result_.offset), gain,
                 from.weight()});
        }
        return options;
    }

    void gather_frames() {
        /// The part of a frame's result that has a fixed size.
        struct Numbers {
            std::int64_t frame;
            RigidResult result;
            std::optional<FieldFit> field;
            bool mended, in_doubt;
            std::int64_t gaps;
            Seconds seconds;
            RigidMotion from_before;
            bool sound;
            FrameContrast contrast;
            OutlierSummary outliers;
            std::optional<AffineMotion> affine;
            std::optional<RowFitSummary> row_fit;
        };
        std::vector<Numbers> own;
        std::string reasons;
        for (const FrameRegistration& frame : own_) {
            own.push_back({frame.frame, frame.result, frame.field, frame.mended, frame.in_doubt,
                           frame.gaps, frame.seconds, frame.from_before, frame.sound,
                           frame.contrast, frame.outliers, frame.affine, frame.row_fit});
            reasons += frame.left_out + '\0' + frame.not_averaged + '\0';
        }
        std::string all_reasons;
        for (const std::string& text : all_gather_texts(communicator_, reasons))
            all_reasons += text;
        std::size_t at = 0;
        const auto next_reason = [&] {
            const std::size_t end = all_reasons.find('\0', at);
            std::string reason = all_reasons.substr(at, end - at);
            at = end + 1;
            return reason;
        };
        for (const Numbers& one : all_gather_lists(communicator_, std::span<const Numbers>(own))) {
            std::string left_out = next_reason(), not_averaged = next_reason();
            result_.frames.push_back({one.frame,
                                      std::move(left_out),
                                      one.result,
                                      one.field,
                                      one.mended,
                                      one.in_doubt,
                                      one.gaps,
                                      one.seconds,
                                      one.from_before,
                                      one.sound,
                                      one.contrast,
                                      std::move(not_averaged),
                                      one.outliers,
                                      one.affine,
                                      {},
                                      one.row_fit});
        }
        for (std::size_t i = 0; i < registered_.rows.size(); ++i)
            result_.frames[static_cast<std::size_t>(registered_.frames[i])].rows =
                registered_.rows[i];
        count_inverted();
        summarise_rows();
    }

    /// States contrasts relative to the reference, and counts the inverted ones.
    void count_inverted() {
        const bool reference_is =
            result_.frames[static_cast<std::size_t>(result_.reference)].contrast.inverted();
        for (FrameRegistration& frame : result_.frames) {
            if (reference_is)
                frame.contrast.signal = -frame.contrast.signal;
            result_.inverted += frame.left_out.empty() && frame.contrast.inverted();
        }
    }

    /// States the RMS of the displacements of rows over the frames.
    void summarise_rows() {
        RowFitSummary sum;
        double count = 0;
        for (const FrameRegistration& frame : result_.frames) {
            if (!frame.row_fit)
                continue;
            ++count;
            const RowFitSummary& one = *frame.row_fit;
            sum.jitter += one.jitter * one.jitter;
            sum.drift_x += one.drift_x * one.drift_x;
            sum.drift_y += one.drift_y * one.drift_y;
            sum.sigma += one.sigma * one.sigma;
        }
        if (count == 0)
            return;
        const auto root = [count](double square) { return std::sqrt(square / count); };
        result_.rows =
            RowFitSummary{root(sum.jitter), root(sum.drift_x), root(sum.drift_y), root(sum.sigma)};
    }

    /// Adds the misfits of all frames that are not in doubt.
    SeriesMisfit series_misfit() const {
        std::vector<Misfit> misfits;
        for (const FrameRegistration& frame : result_.frames) {
            if (frame.left_out.empty() && !in_doubt(frame) && frame.result.misfit.smooth.slopes > 0)
                misfits.push_back(frame.result.misfit);
        }
        // With one stage, half of the noise is that of the reference.
        return misfit_of_series(misfits, result_.stages == 1 ? .5 : 0);
    }

    void gather_thread_use() {
        FrameThreadUse& all = result_.thread_use;
        const std::vector<FrameThreadUse::Scan> scans = communicator_.all_gather(all.scan);
        all.registrations =
            all_gather_lists(communicator_, std::span<const std::int64_t>(all.registrations));
        all.scan = {};
        for (const FrameThreadUse::Scan& own : scans) {
            all.scan.applications += own.applications;
            all.scan.stolen += own.stolen;
            all.scan.seconds = std::max(all.scan.seconds, own.seconds);
            all.scan.idle += own.idle;
        }
    }

    void write() {
        if (!is_first() || !hooks_.write)
            return;
        // Ranks that are threads of this process sleep until all is written, so their cores are
        // free.
        const int threads =
            options_.threads * (communicator_.shares_memory() ? communicator_.size() : 1);
        RegisteredFrames frames(shown_frames(), registered_.frames,
                                known_transform_of(result_.stages), result_.canvas, threads,
                                control_);
        hooks_.write(result_, frames);
    }

    const Communicator& communicator_;
    const RegistrationOptions& options_;
    const RunControl& control_;
    const RegistrationHooks& hooks_;
    std::unique_ptr<FrameSource> source_;
    Sample sample_ = Sample::f32;              ///< type of the recorded samples
    CorrectedFrames* corrections_ = nullptr;   ///< `source_`, if it corrects samples
    std::uint64_t detector_ = 0;               ///< hash of the images of the detector
    std::unique_ptr<ChangedFrames> flattened_; ///< `source_` without shading, if needed
    std::unique_ptr<FrameSource> inverted_;    ///< one of these, with inverted frames inverted
    std::unique_ptr<ChangedFrames>
        without_flyback_; ///< `source_` without disturbed columns, if any
    std::string content_; ///< recognises the frames, before their shading is removed
    std::optional<SeriesContext> context_;
    std::unique_ptr<Ledger> ledger_;
    std::vector<FrameRegistration> own_; ///< this rank's frames
    Registered registered_;
    /// Of the stations of this rank's frames, in the last stage; empty without stations.
    std::vector<UncertainMotion> of_station_;
    bool fails_again_ = false; ///< the run fails whenever it is repeated with these frames
    bool frames_move_ = false; ///< the last stage moved frames by more than their deviations
    std::vector<std::int64_t> averaged_; ///< the frames of the average and the median
    RegistrationResult result_;
};

SeriesRegistration::SeriesRegistration(Communicator communicator, RegistrationOptions options,
                                       RunControl control)
    : communicator_(scope_later(communicator, "SeriesRegistration")),
      options_(std::move(options)),
      control_(std::move(control)) {
    record_of(options_).check();
}

void SeriesRegistration::fail(const std::string& text) const {
    sextant::fail(communicator_, text);
}

RegistrationResult SeriesRegistration::run(std::unique_ptr<FrameSource> source,
                                           const RegistrationHooks& hooks) const {
    const CancellationScope cancellable(control_, communicator_.size());
    RegistrationOptions options = options_;
    require_same(communicator_, compared_options(options));
    return Run(*this, hooks).run(std::move(source));
}

} // namespace sextant
