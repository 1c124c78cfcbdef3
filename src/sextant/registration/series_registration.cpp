// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series_registration.hpp"

#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/registration/live/live_registration.hpp"
#include "sextant/registration/series/checkpoint.hpp"
#include "sextant/registration/series/inspection.hpp"
#include "sextant/registration/series/state.hpp"
#include "sextant/registration/series/static_steps.hpp"
#include "sextant/registration/stages/stages.hpp"

#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace sextant {

using namespace registration;

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
    resampler_.resample(frame, transform(frame), area_, pixels_);
    return pixels_;
}

void RegisteredFrames::aligned(std::int64_t frame, const ResampledRows& take) {
    control_.report("write aligned frames", done_++, std::ssize(numbers_));
    resampler_.resample_rows(frame, transform(frame), area_, pixels_, take);
}

namespace {

/// Throws InvalidFile if the disk has too little space for the displacement fields.
void require_space(const SeriesState& state) {
    std::error_code unknown;
    auto folder = std::filesystem::absolute(state.options.checkpoint);
    while (!std::filesystem::exists(folder, unknown) && folder.has_relative_path())
        folder = folder.parent_path();
    const auto space = std::filesystem::space(folder, unknown);
    const FrameHeader& header = state.source->header();
    const auto needed = static_cast<std::uintmax_t>(disk_of_fields(header, state.options.stages));
    if (!unknown && space.available < needed)
        throw InvalidFile(state.options.checkpoint,
                          fmt::format("{}, but only {} MiB are free on the disk",
                                      describe_field_storage(header, state.options.stages),
                                      space.available >> 20));
}

void check_disk(SeriesState& state) {
    agree(state.communicator, [&] {
        if (state.is_first() && state.nonrigid() && state.has_checkpoint())
            require_space(state);
    });
}

/// Returns the values that identify the series, independent of the options.
Checkpoint::Identity identity_of_series(const SeriesState& state) {
    const FrameHeader& header = state.source->header();
    return {{"frames", std::to_string(header.frames)},
            {"shape", fmt::format("{}x{}", header.shape.width, header.shape.height)},
            {"samples", std::string(name(state.sample))},
            {"detector", fmt::format("{:016x}", state.detector)},
            {"content", state.content}};
}

/// Returns everything that the results in a checkpoint depend on.
Checkpoint::Identity identity_of(const SeriesState& state, const Checkpoint::Identity& series) {
    Checkpoint::Identity identity = {{"sextant", version()}};
    const Checkpoint::Identity options =
        registration::identity_of(state.options, options_without_effect_on_checkpoints());
    identity.insert(identity.end(), options.begin(), options.end());
    identity.emplace_back("association",
                          state.options.reproducible
                              ? fmt::format("reproducible on {} ranks", state.communicator.size())
                              : std::string("any"));
    if (state.matched)
        identity.emplace_back("mask", fmt::format("{:016x}", state.matched->hash));
    identity.insert(identity.end(), series.begin(), series.end());
    identity.emplace_back("filtered content", fingerprint_of_filtered(state.inspection.statistics));
    return identity;
}

/// Links computed during recording are valid only for samples that are corrected by the detector
/// images alone. Frames with further corrections have different statistics, so their links are not
/// reused.
void take_live_links(SeriesState& state) {
    FrameHeader recorded = state.source->header();
    recorded.sample = state.sample;
    auto ledger = std::make_unique<LedgerWithLinks>(
        std::move(state.ledger), state.options.checkpoint,
        conditions_of_links(state.options, recorded, state.result.offset, state.detector),
        state.inspection.usable, state.inspection.statistics);
    state.result.resumed += ledger->size();
    state.ledger = std::move(ledger);
}

void open_checkpoint(SeriesState& state, const RegistrationHooks& hooks) {
    const std::string& folder = state.options.checkpoint;
    const Checkpoint::Identity series = identity_of_series(state);
    const Checkpoint::Identity identity = identity_of(state, series);
    agree(state.communicator, [&] {
        if (!state.is_first())
            return;
        std::error_code failed;
        std::filesystem::create_directory(folder, failed);
        if (failed)
            throw InvalidFile(folder, "cannot be created: " + failed.message());
        if (state.options.restart)
            Checkpoint::remove(folder);
        else if (Checkpoint::remove_failed(folder, series))
            state.result.warnings.push_back(fmt::format(
                "{}: the checkpoint of a failed run on another series was removed", folder));
        Checkpoint::check(folder, identity);
    });
    agree(state.communicator, [&] {
        auto checkpoint = std::make_unique<Checkpoint>(folder, state.communicator.rank(), identity);
        state.result.resumed = checkpoint->size();
        state.ledger = std::move(checkpoint);
        if (!state.flattened && !state.without_static && !state.matched && !state.unaligned &&
            state.inspection.usable.size() > 2 &&
            state.context->cache->finest() ==
                finest_of_links(state.options, state.source->header().shape) &&
            (!state.corrections || state.corrections->found_no_defects()))
            take_live_links(state);
        if (state.is_first() && state.result.resumed > 0 && hooks.resumed)
            hooks.resumed(state.result.resumed);
    });
}

/// Opens the ledger: the checkpoint if there is one, otherwise memory. Collective.
void open_ledger(SeriesState& state, const RegistrationHooks& hooks) {
    if (state.has_checkpoint())
        open_checkpoint(state, hooks);
    else
        state.ledger = std::make_unique<FieldMemory>(state.communicator);
    state.ledger->report_to(hooks.worked);
    state.context->ledger = state.ledger.get();
    state.has_ledger = true;
}

/// Closes the checkpoint after a failure on all ranks. Removes the checkpoint if a repeated run
/// would fail again; otherwise marks it as failed. A repeated run can resume a marked checkpoint,
/// and a run on another series is not blocked by it.
void leave_checkpoint(SeriesState& state) {
    state.ledger.reset();
    if (!state.is_first() || !state.has_checkpoint())
        return;
    if (state.fails_again)
        Checkpoint::remove(state.options.checkpoint);
    else
        Checkpoint::mark_failed(state.options.checkpoint);
}

/// A step of a run. All ranks agree on the outcome of each step, so that a failure on any rank ends
/// the run on all ranks with the same message.
struct RunStep {
    /// Counter that accumulates the step's time; may be null.
    Seconds RegistrationResult::Times::*time = nullptr;
    std::function<void(SeriesState&)> run;
};

/// Closes the ledger after a successful run and removes the checkpoint.
void close_ledger(SeriesState& state) {
    state.has_ledger = false;
    state.ledger.reset();
    agree(state.communicator, [] {}); // all ranks have closed their files
    if (state.is_first() && state.has_checkpoint())
        Checkpoint::remove(state.options.checkpoint);
}

} // namespace

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

/// Calls the write hook on rank 0 with the result and the registered frames.
void SeriesRegistration::write(SeriesState& state, const RegistrationHooks& hooks) {
    agree(state.communicator, [&] {
        if (!state.is_first() || !hooks.write)
            return;
        // Ranks that are threads of this process sleep until the result is written, so rank 0 can
        // use their cores.
        const int threads = state.options.threads *
                            (state.communicator.shares_memory() ? state.communicator.size() : 1);
        RegisteredFrames frames(state.shown_frames(), state.registered.frames,
                                known_transform_of(state, state.result.stages), state.result.canvas,
                                threads, state.control);
        hooks.write(state.result, frames);
    });
}

RegistrationResult SeriesRegistration::run(std::unique_ptr<FrameSource> source,
                                           const RegistrationHooks& hooks) const {
    const CancellationScope cancellable(control_, communicator_.size());
    RegistrationOptions options = options_;
    require_same(communicator_, compared_options(options));
    SeriesState state{communicator_, options_, control_, hooks.failed, std::move(source)};
    using Times = RegistrationResult::Times;
    const RunStep steps[] = {
        {nullptr, open_series},
        {nullptr, check_disk},
        {&Times::inspection, inspect_frames},
        {&Times::inspection, align_rows},
        {&Times::inspection, match_pixels},
        {&Times::inspection, remove_shading},
        {&Times::inspection, remove_static},
        {nullptr, [&](SeriesState& one) { open_ledger(one, hooks); }},
        {&Times::registration, register_first},
        {&Times::stages, refine_stages},
        {&Times::stages, fit_family},
        {&Times::stages, fit_rows},
        {nullptr, relate_to_whole_frames},
        {nullptr, choose_results},
        {&Times::average, average_frames},
        {nullptr, average_recorded},
        {nullptr, gather_results},
        {&Times::writing, [&](SeriesState& one) { write(one, hooks); }},
        {nullptr, close_ledger},
    };
    Seconds other = 0;
    try {
        for (const RunStep& step : steps)
            timed(step.time ? state.result.seconds.*step.time : other, [&] { step.run(state); });
    } catch (const AgreedFailure&) {
        if (state.has_ledger)
            leave_checkpoint(state);
        throw;
    }
    return std::move(state.result);
}

} // namespace sextant
