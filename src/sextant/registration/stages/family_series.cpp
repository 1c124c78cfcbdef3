// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/stages/stages.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace sextant::registration {

namespace {

/// Registers one rank's frames of a series with families of motions.
class Families {
  public:
    Families(const SeriesContext& context, const Registered& registered, std::int64_t reference,
             std::span<FrameRegistration> own)
        : context_(context),
          registered_(registered),
          reference_(reference),
          own_(own),
          shape_(context.source.header().shape),
          team_(context.options.threads),
          resampler_(context.source, &team_),
          moved_(shape_, 0, context.options.prefilter, &team_),
          others_(shape_, 0, context.options.prefilter, &team_),
          fit_(shape_, &team_) {}

    /// Fits a family to all of this rank's frames. `pass` is the number of the fit.
    std::vector<FamilyResult> fit_all(MotionFamily family, std::uint32_t pass) {
        const bool pair = registered_.frames.size() == 2;
        const MatchingAverage average =
            pair ? MatchingAverage()
                 : average_of(context_, registered_, registered_.contributing(),
                              transforms(registered_), matching_area(registered_, shape_));
        std::vector<FamilyResult> results(own_.size());
        agree(context_.communicator, [&] {
            if (pair) // register to the first frame of the pair, the reference
                others_.fill(view_of(whole_frame(context_.source, reference_), shape_));
            std::int64_t done = 0;
            for (std::size_t i = 0; i < own_.size(); ++i) {
                context_.step("fit motion models", done++, std::ssize(own_));
                if (!own_[i].left_out.empty() || (pair && own_[i].frame == reference_))
                    continue;
                const EntryName name{Work::family, pass, static_cast<std::int64_t>(family), 0,
                                     own_[i].frame};
                const auto timed = timed_result(context_.ledger, name, [&] {
                    moved_.fill(view_of(whole_frame(context_.source, own_[i].frame), shape_));
                    PixelArea window = area_of(shape_);
                    if (!pair) {
                        window = window_in(average.area, registered_.motion(own_[i].frame), shape_);
                        fill_others(average, window, own_[i].frame);
                    }
                    const AffineMotion start = start_of(own_[i].frame, pair);
                    return from_window(fit_.fit(others_, moved_, in_window(start, window), family),
                                       window);
                });
                results[i] = timed.result;
                own_[i].seconds += timed.seconds;
            }
        });
        return results;
    }

    /// Returns true if a fit is to be used instead of the rigid motion.
    static bool usable(const FamilyResult& result) {
        constexpr double least_overlap = .1; // same limit as trusted()
        return result.converged && result.overlap >= least_overlap && result.ncc > 0 &&
               std::isfinite(result.covariance.front());
    }

    FamilyChoice choose(const std::vector<FamilyResult>& results) const {
        std::vector<FamilyResult> evidence;
        for (std::size_t i = 0; i < own_.size(); ++i) {
            const FrameRegistration& frame = own_[i];
            if (frame.left_out.empty() && usable(results[i]) && !in_doubt(frame))
                evidence.push_back(results[i]);
        }
        return choose_family(all_gather_lists(context_.communicator, evidence), shape_);
    }

    /// Stores the results in this rank's frames. Collective.
    void take(const std::vector<FamilyResult>& results, MotionFamily family) {
        const bool pair = registered_.frames.size() == 2;
        const bool stretched = parameters_of(family) > parameters_of(MotionFamily::rigid);
        for (std::size_t i = 0; i < own_.size(); ++i) {
            FrameRegistration& frame = own_[i];
            if (!frame.left_out.empty())
                continue;
            if (pair && frame.frame == reference_) {
                frame.result.motion = {};
                frame.result.uncertainty = {};
                frame.affine = stretched ? std::optional(AffineMotion()) : std::nullopt;
                continue;
            }
            if (usable(results[i])) {
                take(results[i], frame);
                continue;
            }
            RigidMotion& motion = frame.result.motion;
            if (family == MotionFamily::translation)
                motion.alpha = 0;
            frame.affine = as_affine(motion);
            frame.result.converged = false;
        }
        if (stretched)
            restore_reference();
        for (FrameRegistration& frame : own_) {
            if (frame.affine) {
                frame.result.motion = nearest_rigid(*frame.affine);
                if (!stretched)
                    frame.affine.reset();
            }
        }
    }

  private:
    /// Uses a window of the average of all frames but `frame` as the image to register to.
    void fill_others(const MatchingAverage& average, const PixelArea& window, std::int64_t frame) {
        resample_others(context_, average, window, registered_, transforms(registered_), frame,
                        resampler_, samples_);
        others_.fill(view_of(samples_, shape_));
    }

    AffineMotion start_of(std::int64_t frame, bool pair) const {
        const Transform transform = transforms(registered_)(frame);
        const auto* const affine = std::get_if<AffineMotion>(&transform);
        const AffineMotion start = affine ? *affine : as_affine(std::get<RigidMotion>(transform));
        if (!pair)
            return start;
        return compose(start, inverse(as_affine(registered_.motion(reference_))));
    }

    static void take(const FamilyResult& result, FrameRegistration& frame) {
        frame.affine = result.motion;
        frame.result.uncertainty = uncertainty_of(result);
        frame.result.ncc_after = result.ncc;
        frame.result.overlap = std::min(1., result.overlap);
        frame.result.iterations += result.iterations;
        frame.result.converged = true;
        frame.result.misfit = result.misfit;
    }

    /// Removes the reference's stretch from all motions. Collective.
    void restore_reference() {
        std::vector<AffineMotion> own;
        for (const FrameRegistration& frame : own_) {
            if (frame.frame == reference_ && frame.affine)
                own.push_back(*frame.affine);
        }
        const std::vector<AffineMotion> found = all_gather_lists(context_.communicator, own);
        if (found.empty())
            return;
        const AffineMotion restored = inverse(stretch_of(found.front()));
        for (FrameRegistration& frame : own_) {
            if (frame.affine)
                frame.affine = compose(*frame.affine, restored);
        }
    }

    const SeriesContext& context_;
    const Registered& registered_;
    std::int64_t reference_;
    std::span<FrameRegistration> own_;
    ImageShape shape_;
    Team team_;
    Resampler resampler_;
    Pyramid moved_, others_;
    FamilyFit fit_;
    std::vector<float> samples_;
};

} // namespace

FamilyChoice register_by_family(const SeriesContext& context, const Registered& registered,
                                std::int64_t reference, std::span<FrameRegistration> own,
                                std::optional<MotionFamily> family) {
    FamilyChoice choice;
    std::optional<Families> families;
    agree(context.communicator, [&] { families.emplace(context, registered, reference, own); });
    std::vector<FamilyResult> results;
    if (family) {
        choice.family = *family;
        results = families->fit_all(*family, 1);
    } else {
        results = families->fit_all(MotionFamily::affine, 1);
        choice = families->choose(results);
        if (choice.family == MotionFamily::rigid)
            return choice;
        if (choice.family != MotionFamily::affine)
            results = families->fit_all(choice.family, 1);
    }
    families->take(results, choice.family);
    constexpr std::size_t pair = 2;
    if (parameters_of(choice.family) <= parameters_of(MotionFamily::rigid) ||
        registered.frames.size() == pair)
        return choice;
    // Fit again. The average of rigidly aligned frames was blurred towards the edges; the average
    // of stretched frames is sharp.
    const Registered stretched = gather_registered(context.communicator, own);
    agree(context.communicator, [&] { families.emplace(context, stretched, reference, own); });
    results = families->fit_all(choice.family, 2);
    families->take(results, choice.family);
    return choice;
}

} // namespace sextant::registration
