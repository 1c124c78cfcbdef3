// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/packing.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/pair/family_fit.hpp"
#include "sextant/registration/pair/row_fit.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/stages/stages.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr std::uint32_t row_passes = 3;

/// The comparison of a frame, after its row displacements are undone, with the average of the
/// others.
struct RowQuality {
    double ncc_after = 0, overlap = 0;
    Misfit misfit;
};

class RowSeries {
  public:
    RowSeries(const SeriesContext& context, std::span<FrameRegistration> own)
        : context_(context),
          own_(own),
          shape_(context.source.header().shape),
          team_(context.options.threads),
          resampler_(context.source, &team_),
          template_(shape_, {}, &team_),
          fit_(shape_, &team_) {}

    /// Compares this rank's frames with the average of the others.
    std::vector<RowEvidence> compare(const MatchingAverage& average, const Registered& registered,
                                     const RowPrior& prior, std::uint32_t pass) {
        std::vector<RowEvidence> evidence(own_.size());
        std::int64_t done = 0;
        for (std::size_t i = 0; i < own_.size(); ++i) {
            context_.step("register rows", done++, std::ssize(own_));
            if (!own_[i].left_out.empty())
                continue;
            const EntryName name{Work::rows, pass, 0, 0, own_[i].frame};
            if (auto known = stored_result(context_.ledger, name,
                                           [&](auto bytes) { return evidence_from(bytes); })) {
                evidence[i] = std::move(known->result);
                own_[i].seconds += known->seconds;
                continue;
            }
            Seconds seconds = 0;
            timed(seconds,
                  [&] { make(average, registered, prior, pass, own_[i].frame, evidence[i]); });
            own_[i].seconds += seconds;
            if (!context_.ledger)
                continue;
            Packer bytes;
            bytes.add(seconds);
            bytes.add(evidence[i]);
            context_.ledger->keep(name, bytes.bytes());
        }
        return evidence;
    }

    /// Sets the NCC, the overlap and the misfit of this rank's frames.
    void judge(const MatchingAverage& average, const Registered& registered) {
        Pyramid moved(shape_, 0, context_.options.prefilter, &team_);
        Pyramid others(shape_, 0, context_.options.prefilter, &team_);
        FamilyFit fit(shape_, &team_);
        std::int64_t done = 0;
        for (FrameRegistration& frame : own_) {
            context_.step("compare registered rows", done++, std::ssize(own_));
            if (!frame.left_out.empty())
                continue;
            const EntryName name{Work::rows, row_passes + 1, 0, 0, frame.frame};
            const auto [quality, seconds] = timed_result(context_.ledger, name, [&] {
                const PixelArea window =
                    window_in(average.area, registered.motion(frame.frame), shape_);
                resample_others(context_, average, window, registered, transforms(registered),
                                frame.frame, resampler_, shown_);
                others.fill(view_of(shown_, shape_));
                resampler_.resample(frame.frame, transforms(registered)(frame.frame), window,
                                    shown_);
                moved.fill(view_of(shown_, shape_));
                const FamilyResult found = fit.fit(others, moved, {}, MotionFamily::rigid);
                return RowQuality{found.ncc, found.overlap, found.misfit};
            });
            frame.result.ncc_after = quality.ncc_after;
            frame.result.overlap = std::min(1., quality.overlap);
            frame.result.misfit = quality.misfit;
            frame.seconds += seconds;
        }
    }

  private:
    void make(const MatchingAverage& average, const Registered& registered, const RowPrior& prior,
              std::uint32_t pass, std::int64_t frame, RowEvidence& evidence) {
        const PixelArea window = window_in(average.area, registered.motion(frame), shape_);
        resample_others(context_, average, window, registered, transforms(registered), frame,
                        resampler_, shown_);
        template_.fill(shown_);
        shown_ = whole_frame(context_.source, frame);
        RowMotion motion = motion_of(registered, frame);
        motion.motion = in_window(motion.motion, window);
        const int steps = pass == 1 ? 3 : 1; // later passes start near the result
        for (int step = 1; step <= steps; ++step) {
            evidence = fit_.compare(template_, shown_, motion);
            if (step == steps)
                break;
            RowEstimate estimate = solve_rows(evidence, prior, shape_);
            if (!estimate.determined)
                break;
            motion = std::move(estimate.motion);
        }
        evidence.motion = from_window(evidence.motion, window);
    }

    RowMotion motion_of(const Registered& registered, std::int64_t frame) const {
        const std::size_t index = registered.index(frame);
        if (!registered.rows.empty())
            return *registered.rows[index];
        const auto height = static_cast<std::size_t>(shape_.height);
        return {
            registered.motions[index], std::vector<float>(height), std::vector<float>(height), {}};
    }

    /// Deserialises evidence. Throws Error unless the bytes are the evidence of a frame of this
    /// height.
    Timed<RowEvidence> evidence_from(std::span<const std::byte> bytes) const {
        Unpacker rest(bytes);
        const auto seconds = rest.take<Seconds>();
        auto evidence = rest.take<RowEvidence>();
        if (std::ssize(evidence.rows) != shape_.height)
            throw Error("the rows are those of a frame of another height");
        return {std::move(evidence), seconds};
    }

    const SeriesContext& context_;
    std::span<FrameRegistration> own_;
    ImageShape shape_;
    Team team_;
    Resampler resampler_;
    RowTemplate template_;
    RowFit fit_;
    std::vector<float> shown_;
};

/// All-gathers the evidence of some frames of all ranks, in order. Collective.
std::vector<RowEvidence> gathered_evidence(const SeriesContext& context,
                                           const Registered& registered,
                                           std::span<const FrameRegistration> own,
                                           std::span<const RowEvidence> evidence) {
    constexpr std::size_t most_frames = 64;
    const std::size_t every = (registered.frames.size() + most_frames - 1) / most_frames;
    Packer of_rank;
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (!own[i].left_out.empty())
            continue;
        const std::size_t index = registered.index(own[i].frame);
        if (index % every == 0 && registered.contributes[index] != 0)
            of_rank.add(evidence[i]);
    }
    const std::vector<std::byte> bytes = all_gather_lists(context.communicator, of_rank.bytes());
    std::vector<RowEvidence> all;
    for (Unpacker rest(bytes); !rest.empty();)
        all.push_back(rest.take<RowEvidence>());
    return all;
}

/// Returns the number of columns that the flyback disturbs, estimated from these frames.
std::int64_t flyback_of(std::span<const RowEvidence> frames) {
    std::vector<ColumnErrors> sums;
    for (const RowEvidence& frame : frames) {
        sums.resize(frame.columns.size());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i].squares += frame.columns[i].squares;
            sums[i].count += frame.columns[i].count;
        }
    }
    return disturbed_columns(sums);
}

/// Returns the variance of row displacements that all frames have in common and that therefore look
/// like part of the specimen. It is the variance of the mean jitter over the frames, divided by 4:
/// the template's filter removes the fast changes from row to row, which have three quarters of the
/// variance.
double common_variance(const RowPrior& prior, const Registered& registered) {
    return prior.jitter / 4 / static_cast<double>(registered.contributing().size());
}

void take_estimate(RowEstimate estimate, const RowPrior& prior, double common,
                   FrameRegistration& frame) {
    if (estimate.determined) {
        frame.result.motion = estimate.motion.motion;
        frame.result.uncertainty = estimate.uncertainty;
    } else {
        frame.result.converged = false;
        const auto sigma = static_cast<float>(std::sqrt(prior.jitter));
        std::fill(estimate.motion.sigma.begin(), estimate.motion.sigma.end(), sigma);
        estimate.motion.motion = frame.result.motion;
    }
    double squares = 0;
    for (float& sigma : estimate.motion.sigma) {
        sigma = static_cast<float>(std::hypot(static_cast<double>(sigma), std::sqrt(common)));
        squares += static_cast<double>(sigma) * static_cast<double>(sigma);
    }
    const auto rows = static_cast<double>(estimate.motion.sigma.size());
    frame.row_fit = RowFitSummary{estimate.jitter, estimate.drift.x, estimate.drift.y,
                                  std::sqrt(squares / rows)};
    frame.rows = std::make_shared<const RowMotion>(std::move(estimate.motion));
}

} // namespace

std::optional<RegisteredRows> register_by_rows(const SeriesContext& context,
                                               const Registered& registered,
                                               std::span<FrameRegistration> own, bool rotates,
                                               bool if_any) {
    agree(context.communicator, [&] {
        if (registered.frames.size() < least_frames_of_rows)
            throw InvalidData(fmt::format(
                "scan_rows: {} frames can be registered, expected at least {}, because each is "
                "compared with the average of the others",
                registered.frames.size(), least_frames_of_rows));
    });
    std::int64_t flyback = 0; // number of disturbed columns found so far
    ChangedFrames source(
        context.source, [&](std::int64_t frame, Rows rows, std::span<float> samples) {
            without_columns(flyback, context.source.header().shape.width)(frame, rows, samples);
        });
    const SeriesContext gapped = with_source(context, source);
    const ImageShape shape = source.header().shape;
    const PixelArea area = matching_area(registered, shape);
    std::optional<RowSeries> series;
    agree(context.communicator, [&] { series.emplace(gapped, own); });
    RowPrior prior;
    prior.rotates = rotates;
    const std::vector<FrameRegistration> before(own.begin(), own.end());
    Registered current = registered;
    for (std::uint32_t pass = 1; pass <= row_passes; ++pass) {
        const MatchingAverage average =
            average_of(gapped, current, current.contributing(), transforms(current), area);
        std::vector<RowEvidence> evidence;
        agree(context.communicator,
              [&] { evidence = series->compare(average, current, prior, pass); });
        const std::vector<RowEvidence> some = gathered_evidence(gapped, current, own, evidence);
        prior = estimate_prior(some, prior, shape);
        if (if_any && prior.is_rigid()) {
            std::ranges::copy(before, own.begin());
            return std::nullopt;
        }
        flyback = std::max(flyback, flyback_of(some));
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (own[i].left_out.empty())
                take_estimate(ordered_rows(evidence[i], prior, shape), prior,
                              common_variance(prior, current), own[i]);
        }
        current = gather_registered(context.communicator, own);
    }
    const MatchingAverage average =
        average_of(gapped, current, current.contributing(), transforms(current), area);
    agree(context.communicator, [&] { series->judge(average, current); });
    return RegisteredRows{std::move(current), flyback};
}

} // namespace sextant::registration
