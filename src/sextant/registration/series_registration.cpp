// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series_registration.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/checkpoint.hpp"
#include "sextant/registration/field_series.hpp"
#include "sextant/registration/frame_series.hpp"
#include "sextant/registration/refinement.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace sextant {

using namespace registration;

namespace {

/// A hash of the frames' statistics, to recognise the series.
std::string fingerprint(const std::vector<FrameStatistics>& frames) {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (const FrameStatistics& frame : frames) {
        for (const double value :
             {frame.mean, frame.least, frame.largest, static_cast<double>(frame.at_largest),
              static_cast<double>(frame.gaps)}) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            sum = (sum ^ bits) * 0x100000001b3;
            sum ^= sum >> 29;
        }
    }
    return fmt::format("{:016x}", sum);
}

/// Returns an upper bound of the disk space of a checkpoint with displacement fields: those of all
/// stages, with a margin of two stages.
Bytes disk_of_fields(const FrameHeader& series, int stages) {
    constexpr Bytes node = 3 * sizeof(float) + 1;
    return series.frames * nodes_of_fields(series.shape).elements() * node * (stages + 2);
}

/// Forwards to another ledger and reports the time interval in which each result was computed: from
/// the lookup that did not find it until it is stored.
class TimedLedger : public Ledger {
  public:
    using Worked = decltype(RegistrationHooks::worked);

    TimedLedger(std::unique_ptr<Ledger> ledger, const Worked& worked)
        : ledger_(std::move(ledger)), worked_(worked) {}

    std::optional<std::vector<std::byte>> find(const EntryName& name) override {
        auto found = ledger_->find(name);
        began_ = now();
        return found;
    }
    void keep(const EntryName& name, std::span<const std::byte> bytes) override {
        ledger_->keep(name, bytes);
        worked_(name.work, began_, now());
    }
    void refresh() override { ledger_->refresh(); }

  private:
    static Seconds now() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }

    std::unique_ptr<Ledger> ledger_;
    const Worked& worked_;
    Seconds began_ = 0;
};

} // namespace

std::string_view name(MotionModel model) {
    return model == MotionModel::rigid ? "rigid" : "nonrigid";
}

Record record_of(RegistrationOptions& options) {
    Record record;
    record.add("model", options.model,
               {{name(MotionModel::rigid), MotionModel::rigid},
                {name(MotionModel::nonrigid), MotionModel::nonrigid}},
               "NAME", "how frames move");
    record
        .add("reference", options.reference, "N",
             "reference frame; default: the first usable frame")
        .between(0, most_count);
    record
        .add("stages", options.stages, "N",
             "registration stages; each after the first uses the previous average")
        .between(1, 100);
    record.add("reproducible", options.reproducible,
               "produce the same bits in every run with the same number of ranks");
    record.add("recorded_mean", options.recorded_mean,
               "compute the mean of the frames as recorded");
    record.add("threads", options.threads, "N", "threads per rank, which share the rows of a frame")
        .between(1, 1024);
    record.add_memory("memory", options.memory, "memory per rank for the samples of a median");
    record
        .add("checkpoint", options.checkpoint, "FOLDER",
             "folder for checkpoint files, from which an interrupted run resumes")
        .by_rank();
    record.add("restart", options.restart, "discard the checkpoint of an earlier run");
    record
        .add("prefilter", options.prefilter, "PIXELS",
             "standard deviation of the Gaussian filter applied to frames")
        .between(0, 64);
    record
        .add("farthest", options.farthest, "N",
             "number of previous frames to which a frame is registered")
        .between(1, 1024);
    record
        .add("tolerance", options.tolerance, "PIXELS",
             "tolerance within which registrations to previous frames agree")
        .between(0, 1 << 20);
    return record;
}

Record record_of(const RegistrationResult& result) {
    const RegistrationResult::Times& seconds = result.seconds;
    return {
        {"reference", result.reference, "the frame that the others are registered to"},
        {"resumed", result.resumed, "number of results that this rank took from the checkpoint"},
        {"seconds",
         {{"look", seconds.inspection},
          {"register", seconds.registration},
          {"stages", seconds.stages},
          {"combine", seconds.average},
          {"write", seconds.writing}},
         "on this rank"}};
}

std::string describe_field_storage(const FrameHeader& series, int stages) {
    return fmt::format(
        "displacement fields of {} frames in {} stages need up to {} MiB on disk and {} MiB of "
        "memory during the scan",
        series.frames, stages, (disk_of_fields(series, stages) >> 20) + 1,
        (memory_of_scan(series.frames, series.shape) >> 20) + 1);
}

RegisteredFrames::RegisteredFrames(FrameSource& source, std::span<const std::int64_t> numbers,
                                   TransformOf transform_of, int threads, const RunControl& control)
    : numbers_(numbers),
      transform_of_(std::move(transform_of)),
      team_(threads),
      resampler_(source, &team_),
      shape_(source.header().shape),
      control_(control) {}

Transform RegisteredFrames::transform(std::int64_t frame) {
    control_.check();
    return transform_of_(frame);
}

std::span<const float> RegisteredFrames::aligned(std::int64_t frame) {
    control_.report("write aligned frames", done_++, std::ssize(numbers_));
    pixels_.resize(static_cast<std::size_t>(shape_.elements()));
    resampler_.show(frame, transform(frame), {0, shape_.height}, pixels_);
    return pixels_;
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
        SeriesInspection inspection;
        timed(result_.seconds.inspection, [&] { inspection = inspect_series(*context_); });
        agree(communicator_, [&] { require_two(inspection.usable.size(), inspection.frames); });
        open_ledger(inspection.statistics);
        timed(result_.seconds.registration, [&] { register_first(std::move(inspection)); });
        timed(result_.seconds.stages, [&] {
            for (int stage = 2; stage <= options_.stages; ++stage)
                refine(stage);
        });
        timed(result_.seconds.average,
              [&] { result_.average = combined(transform_of(options_.stages), true); });
        if (options_.recorded_mean)
            result_.recorded = combined([](std::int64_t) { return Transform(); }, false);
        gather_frames();
        timed(result_.seconds.writing, [&] { agree(communicator_, [&] { write(); }); });
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

    /// Takes the source and checks the options before frames are inspected.
    void open(std::unique_ptr<FrameSource> source) {
        Centred centred = less_offset(std::move(source));
        source_ = std::move(centred.frames);
        result_.offset = centred.offset;
        context_.emplace(
            SeriesContext{communicator_, *source_, options_, nullptr, control_, centred.offset});
        const FrameHeader& header = source_->header();
        if (header.frames < 2)
            throw InvalidTask(
                fmt::format("{} has {} frame{}{}, expected at least two to register",
                            source_->path(), header.frames, header.frames == 1 ? "" : "s",
                            header.hyperstack.channels > 1
                                ? fmt::format(" of {} channels", header.hyperstack.channels)
                                : ""));
        const std::int64_t reference = options_.reference.value_or(0);
        if (reference >= header.frames)
            throw InvalidTask(fmt::format("reference {}: expected 0 to {}, as {} has {} frames",
                                          reference, header.frames - 1, source_->path(),
                                          header.frames));
        const Bytes least = least_memory(header.frames, header.shape.width, {});
        constexpr Bytes mebibyte = 1 << 20;
        if (options_.memory < least)
            throw InvalidTask(fmt::format(
                "memory {:g} MiB is too little for a row of {} frames, expected {} MiB or more",
                static_cast<double>(options_.memory) / mebibyte, header.frames,
                (least + mebibyte - 1) / mebibyte));
        if (is_first() && nonrigid() && has_checkpoint())
            check_disk();
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

    void require_two(std::size_t usable, std::span<const FrameRegistration> own) const {
        if (usable >= 2)
            return;
        const auto bad = std::find_if(own.begin(), own.end(), [](const FrameRegistration& frame) {
            return !frame.left_out.empty();
        });
        throw InvalidTask(fmt::format(
            "{}: of {} frames, {} can be registered, expected at least two{}", source_->path(),
            source_->header().frames, usable,
            bad == own.end() ? "" : fmt::format("; frame {}: {}", bad->frame, bad->left_out)));
    }

    Checkpoint::Identity identity_of(const std::vector<FrameStatistics>& statistics) const {
        const FrameHeader& header = source_->header();
        return {
            {"sextant", version()},
            {"frames", std::to_string(header.frames)},
            {"shape", fmt::format("{}x{}", header.shape.width, header.shape.height)},
            {"samples", std::string(name(header.sample))},
            {"content", fingerprint(statistics)},
            {"model", std::string(name(options_.model))},
            {"reference", options_.reference ? std::to_string(*options_.reference) : "the first"},
            {"stages", std::to_string(options_.stages)},
            {"association", options_.reproducible
                                ? fmt::format("reproducible on {} ranks", communicator_.size())
                                : std::string("any")}};
    }

    void open_ledger(const std::vector<FrameStatistics>& statistics) {
        if (has_checkpoint())
            open_checkpoint(identity_of(statistics));
        else
            ledger_ = std::make_unique<FieldMemory>(communicator_);
        if (hooks_.worked)
            ledger_ = std::make_unique<TimedLedger>(std::move(ledger_), hooks_.worked);
        context_->ledger = ledger_.get();
    }

    void open_checkpoint(const Checkpoint::Identity& identity) {
        const std::string& folder = options_.checkpoint;
        agree(communicator_, [&] {
            if (!is_first())
                return;
            std::error_code failed;
            std::filesystem::create_directory(folder, failed);
            if (failed)
                throw InvalidFile(folder, "cannot be created: " + failed.message());
            if (options_.restart)
                Checkpoint::remove(folder);
            Checkpoint::check(folder, identity);
        });
        agree(communicator_, [&] {
            auto checkpoint = std::make_unique<Checkpoint>(folder, communicator_.rank(), identity);
            result_.resumed = checkpoint->size();
            ledger_ = std::move(checkpoint);
            if (is_first() && result_.resumed > 0 && hooks_.resumed)
                hooks_.resumed(result_.resumed);
        });
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
        leave_out_unrelated(own_);
        registered_ = gather_registered(communicator_, own_);
        agree(communicator_, [&] { require_two(registered_.frames.size(), own_); });
        result_.reference = options_.reference.value_or(registered_.frames.front());
        if (!nonrigid())
            return;
        agree(communicator_, [&] {
            register_by_fields(*context_, whole_frame(*source_, result_.reference),
                               result_.reference, own_, 1,
                               starts_from_motions(series, source_->header().shape));
        });
    }

    void refine(int stage) {
        const TransformOf before = transform_of(stage - 1);
        const std::vector<float> average = average_of(*context_, registered_, before);
        const auto number = static_cast<std::uint32_t>(stage);
        agree(communicator_, [&] {
            if (nonrigid())
                register_by_fields(*context_, average, the_average, own_, number,
                                   starts_from(before, source_->header().shape));
            else
                register_to_average(*context_, average, own_, number);
        });
        leave_out_unrelated(own_);
        registered_ = gather_registered(communicator_, own_);
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
        return transforms_by_fields(*ledger_, stage == 1 ? result_.reference : the_average,
                                    static_cast<std::uint32_t>(stage));
    }

    Combined combined(const TransformOf& transform_of, bool median) {
        return combine(communicator_, *source_, registered_.frames, transform_of,
                       {median, options_.memory, options_.threads}, control_);
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
        };
        std::vector<Numbers> own;
        std::string reasons;
        for (const FrameRegistration& frame : own_) {
            own.push_back({frame.frame, frame.result, frame.field, frame.mended, frame.in_doubt,
                           frame.gaps, frame.seconds, frame.from_before});
            reasons += frame.left_out + '\0';
        }
        std::string all_reasons;
        for (const std::string& text : all_gather_texts(communicator_, reasons))
            all_reasons += text;
        std::size_t at = 0;
        for (const Numbers& one : all_gather_lists(communicator_, std::span<const Numbers>(own))) {
            const std::size_t end = all_reasons.find('\0', at);
            result_.frames.push_back({one.frame, all_reasons.substr(at, end - at), one.result,
                                      one.field, one.mended, one.in_doubt, one.gaps, one.seconds,
                                      one.from_before});
            at = end + 1;
        }
    }

    void write() {
        if (!is_first() || !hooks_.write)
            return;
        RegisteredFrames frames(*source_, registered_.frames, known_transform_of(options_.stages),
                                options_.threads, control_);
        hooks_.write(result_, frames);
    }

    const Communicator& communicator_;
    const RegistrationOptions& options_;
    const RunControl& control_;
    const RegistrationHooks& hooks_;
    std::unique_ptr<FrameSource> source_;
    std::optional<SeriesContext> context_;
    std::unique_ptr<Ledger> ledger_;
    std::vector<FrameRegistration> own_; ///< this rank's frames
    Registered registered_;
    RegistrationResult result_;
};

SeriesRegistration::SeriesRegistration(Communicator communicator, RegistrationOptions options,
                                       RunControl control)
    : communicator_(std::move(communicator)),
      options_(std::move(options)),
      control_(std::move(control)) {
    record_of(options_).check();
}

RegistrationResult SeriesRegistration::run(std::unique_ptr<FrameSource> source,
                                           const RegistrationHooks& hooks) const {
    RegistrationOptions options = options_;
    require_same(communicator_, record_of(options));
    return Run(*this, hooks).run(std::move(source));
}

} // namespace sextant
