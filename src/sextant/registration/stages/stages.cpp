// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/stages/stages.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/series/frame_series.hpp"
#include "sextant/registration/series/inspection.hpp"
#include "sextant/registration/series/sums.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/stages/weak_frames.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// Maximum number of stages after the requested ones.
constexpr int most_extra_stages = 3, most_extra_stages_of_weak = 8;

/// Returns the median motion of frames between two stages, which is the motion of the common
/// reference.
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

/// The models of the families, in the order of MotionFamily.
constexpr MotionModel models_of_families[] = {MotionModel::translation, MotionModel::rigid,
                                              MotionModel::similarity, MotionModel::affine};

/// Returns the family that the last stage fits; nothing if the family is to be chosen.
std::optional<MotionFamily> family_of(MotionModel model) {
    const auto at = std::ranges::find(models_of_families, model);
    if (at == std::end(models_of_families))
        return std::nullopt;
    return static_cast<MotionFamily>(at - std::begin(models_of_families));
}

/// Returns the shape of the frames that are compared.
ImageShape matched_shape(const SeriesState& state) {
    return state.context->source.header().shape;
}

PixelArea matched_area(const SeriesState& state) {
    const ImageShape shape = matched_shape(state);
    return state.nonrigid() ? area_of(shape) : matching_area(state.registered, shape);
}

/// True if another stage was requested or frames still move by more than their deviations. False
/// for two frames, because the average of the others would be just the other frame.
bool needs_stage(SeriesState& state) {
    if (state.options.stages == 1 || state.registered.frames.size() == 2)
        return false;
    if (const PixelArea area = matched_area(state);
        too_large_for_matching(area, matched_shape(state))) {
        if (state.result.stages == 1)
            state.result.warnings.push_back(
                fmt::format("the frames extend over {}x{} pixels, which is too large for the "
                            "average that later stages need: only one stage is run",
                            area.shape.width, area.shape.height));
        return false;
    }
    const int most_extra =
        state.result.frames_per_sum > 0 ? most_extra_stages_of_weak : most_extra_stages;
    return state.result.stages < state.options.stages ||
           ((state.frames_move || pattern_turns(state)) &&
            state.result.stages < state.options.stages + most_extra);
}

/// Returns the reference: the frame whose motion is the identity.
std::int64_t reference_frame(const SeriesState& state) {
    const std::vector<RigidMotion>& motions = state.registered.motions;
    const auto at = std::ranges::find(motions, RigidMotion());
    const std::ptrdiff_t index = at == motions.end() ? 0 : at - motions.begin();
    return state.registered.frames[static_cast<std::size_t>(index)];
}

/// Collective.
std::int64_t first_sound_frame(const SeriesState& state) {
    const auto own = std::ranges::find_if(state.own, [](const FrameRegistration& frame) {
        return frame.left_out.empty() && frame.sound;
    });
    return std::ranges::min(state.communicator.all_gather(
        own == state.own.end() ? state.source->header().frames : own->frame));
}

/// If some frames do not overlap the reference enough, registers the averages around stations to
/// one another and corrects the motions. Collective.
void correct_stations(SeriesState& state, std::uint32_t stage) {
    state.of_station.clear();
    if (matched_area(state) == area_of(matched_shape(state)))
        return;
    const std::vector<UncertainMotion> corrections =
        register_stations(*state.context, state.registered, state.result.reference, stage);
    for (std::size_t i = 0; i < state.registered.frames.size(); ++i)
        state.registered.motions[i] = compose(state.registered.motions[i], corrections[i].motion);
    for (FrameRegistration& frame : state.own) {
        state.of_station.emplace_back();
        if (!frame.left_out.empty())
            continue;
        const std::size_t index = state.registered.index(frame.frame);
        frame.result.motion = state.registered.motions[index];
        state.of_station.back().covariance = corrections[index].covariance;
    }
}

/// Adds the covariances of the stations to those of the frames, because a frame's covariance is
/// relative to the average around its station.
void add_covariances_of_stations(SeriesState& state) {
    if (state.of_station.empty())
        return;
    for (std::size_t i = 0; i < state.own.size(); ++i) {
        if (!state.own[i].left_out.empty())
            continue;
        RigidResult& result = state.own[i].result;
        const UncertainMotion sum =
            compose({result.motion, result.uncertainty.covariance}, state.of_station[i]);
        result.uncertainty = uncertainty_with(sum.covariance);
    }
}

/// True if a stage moved any contributing frame, relative to the others, by more than its deviation
/// explains.
bool any_moved(const SeriesState& state, const Registered& before, const Registered& after) {
    constexpr double least = .1; // pixels
    // Weak frames take only one step per stage.
    const double deviations = state.result.frames_per_sum > 0 ? .25 : 6;
    const ImageShape shape = matched_shape(state);
    std::vector<RigidMotion> moves;
    for (const std::int64_t frame : after.frames)
        moves.push_back(compose(after.motion(frame), inverse(before.motion(frame))));
    if (moves.empty())
        return false;
    const RigidMotion common = common_motion(moves);
    int moved = 0;
    for (const FrameRegistration& frame : state.own) {
        if (!frame.left_out.empty() || after.contributes[after.index(frame.frame)] == 0)
            continue;
        const double distance = rms_distance(moves[after.index(frame.frame)], common, shape);
        const double sigma = deviation_of_positions(frame.result, shape);
        moved += distance > std::max(deviations * sigma, least);
    }
    return std::ranges::max(state.communicator.all_gather(moved)) > 0;
}

/// Returns the reference of a stage's displacement fields.
std::int64_t reference_of(const SeriesState& state, int stage) {
    return stage == 1 ? state.result.reference : the_average;
}

} // namespace

Bytes disk_of_fields(const FrameHeader& series, int stages) {
    constexpr Bytes node = 3 * sizeof(float) + 1;
    return series.frames * nodes_of_fields(series.shape).elements() * node *
           (stages + 2 + (stages > 1 ? most_extra_stages : 0));
}

TransformOf known_transform_of(SeriesState& state, int stage) {
    if (!state.nonrigid())
        return transforms(state.registered);
    return transforms_by_fields(*state.ledger, reference_of(state, stage),
                                static_cast<std::uint32_t>(stage));
}

TransformOf transform_of(SeriesState& state, int stage) {
    if (state.nonrigid())
        agree(state.communicator, [&] { state.ledger->refresh(); });
    return known_transform_of(state, stage);
}

namespace {

/// Finds the frames whose motion relative to a neighbour is outside the range of the search: half a
/// frame, the largest shift and the largest rotation. A frame is compared with the nearest frame
/// within the range on the side of the reference; the range grows with the number of frames between
/// the two.
std::vector<bool> out_of_range(const SeriesState& state) {
    const Registered& all = state.registered;
    const ImageShape shape = matched_shape(state);
    const double angle = state.options.rigid.most_rotation * std::numbers::pi / 180;
    const auto is_far = [&](std::size_t from, std::size_t to) {
        const RigidMotion motion = compose(all.motions[to], inverse(all.motions[from]));
        const auto steps = static_cast<double>(std::abs(all.frames[to] - all.frames[from]));
        const double farthest = state.options.rigid.most_shift.value_or(
            std::hypot(static_cast<double>(shape.width), static_cast<double>(shape.height)));
        // Negated, so that motions that are not numbers are outside the range.
        return !(std::abs(motion.alpha) <= angle * steps &&
                 std::hypot(motion.tx, motion.ty) <= farthest * steps &&
                 2 * std::abs(motion.tx) <= static_cast<double>(shape.width) * steps &&
                 2 * std::abs(motion.ty) <= static_cast<double>(shape.height) * steps);
    };
    std::vector<bool> far(all.frames.size());
    const auto first = static_cast<std::size_t>(
        std::ranges::lower_bound(all.frames, state.result.reference) - all.frames.begin());
    std::size_t last = first;
    const auto compare = [&](std::size_t frame) {
        far[frame] = is_far(last, frame);
        if (!far[frame])
            last = frame;
    };
    for (std::size_t frame = first + 1; frame < far.size(); ++frame)
        compare(frame);
    last = std::min(first, far.size() - 1);
    for (std::size_t frame = last; frame-- > 0;)
        compare(frame);
    return far;
}

/// Marks implausible frames, which then do not contribute to averages for matching. Collective.
void check_motions(SeriesState& state) {
    const std::vector<bool> far = out_of_range(state);
    const auto pixels = static_cast<double>(matched_shape(state).elements());
    int changed = 0;
    for (FrameRegistration& frame : state.own) {
        if (!frame.left_out.empty())
            continue;
        const RigidResult& result = frame.result;
        const bool implausible = far[state.registered.index(frame.frame)] ||
                                 is_lower_ncc(result.ncc_after, result.ncc_before,
                                              result.overlap * pixels, state.options.prefilter);
        changed |= implausible != frame.implausible;
        frame.implausible = implausible;
    }
    if (std::ranges::max(state.communicator.all_gather(changed)) > 0)
        state.registered = gather_registered(state.communicator, state.own);
}

void refine(SeriesState& state, int stage) {
    const auto number = static_cast<std::uint32_t>(stage);
    if (!state.nonrigid())
        correct_stations(state, number);
    const TransformOf before = transform_of(state, stage - 1);
    MatchingAverage average =
        average_of(*state.context, state.registered, state.registered.contributing(), before,
                   matched_area(state));
    agree(state.communicator, [&] {
        if (state.nonrigid())
            register_to_average_by_fields(*state.context, average, state.registered,
                                          reference_of(state, stage - 1), state.result.reference,
                                          before, state.own, number);
        else if (state.result.frames_per_sum == 0)
            register_to_average(*state.context, std::move(average), state.registered, state.own,
                                number);
    });
    if (state.result.frames_per_sum > 0)
        register_weak_to_average(*state.context, std::move(average), state.registered, state.own,
                                 number, state.result.frames_per_sum);
    add_covariances_of_stations(state);
    leave_out_unrelated(state.own);
    const Registered earlier =
        std::exchange(state.registered, gather_registered(state.communicator, state.own));
    check_motions(state);
    state.frames_move = any_moved(state, earlier, state.registered);
}

/// True if weak frames can be registered with the model. Other models have parameters that weak
/// frames do not determine.
bool suits_weak_frames(const RegistrationOptions& options) {
    return options.scan_rows != ScanRows::on &&
           (options.model == MotionModel::rigid || options.model == MotionModel::translation ||
            options.model == MotionModel::automatic);
}

/// True if pairs of frames determine the positions of enough frames: of half of the usable frames
/// or, if most frames show more noise than signal or are small, of nearly all, without doubt.
bool pairs_suffice(const Registered& registered, std::size_t usable, ImageShape shape) {
    std::vector<double> weights;
    for (const FrameContrast& contrast : registered.contrasts)
        weights.push_back(contrast.weight());
    const bool small = std::min(shape.width, shape.height) <= 32;
    if (!small && (weights.empty() || median(weights) >= 1))
        return 2 * registered.frames.size() >= usable;
    constexpr double nearly_all = .9;
    return !registered.all_in_doubt && static_cast<double>(registered.contributing().size()) >=
                                           nearly_all * static_cast<double>(usable);
}

/// Registers the frames to one another. If this does not suffice, because they carry too little
/// signal, registers sums of frames.
void register_by_pairs_or_sums(SeriesState& state) {
    const std::vector<std::int64_t> usable = state.inspection.usable;
    const std::vector<FrameStatistics> statistics = state.inspection.statistics;
    const std::vector<FrameRegistration> inspected = state.inspection.frames;
    state.own = register_series(*state.context, std::move(state.inspection));
    leave_out_unrelated(state.own);
    const Registered registered = gather_registered(state.communicator, state.own);
    if (pairs_suffice(registered, usable.size(), state.source->header().shape) ||
        !suits_weak_frames(state.options))
        return;
    const std::size_t placed = registered.all_in_doubt ? 0 : registered.contributing().size();
    SumsRegistration sums =
        register_sums(*state.context, usable, statistics, inspected, placed + 1);
    if (sums.size == 0)
        return;
    state.own = std::move(sums.frames);
    state.result.frames_per_sum = sums.size;
    state.result.reference = sums.reference;
}

} // namespace

void register_first(SeriesState& state) {
    FieldSeries series;
    if (state.nonrigid()) {
        series = register_series_by_fields(*state.context, std::move(state.inspection));
        state.own = series.frames;
    } else {
        register_by_pairs_or_sums(state);
    }
    if ((state.inverted = of_one_contrast(*state.context, state.own)))
        state.context.emplace(with_source(SeriesContext(*state.context), *state.inverted));
    leave_out_unrelated(state.own);
    state.registered = gather_registered(state.communicator, state.own);
    require_registered(state, state.registered.frames.size(), state.own);
    agree(state.communicator, [&] {
        for (const FrameRegistration& frame : state.own) {
            if (frame.frame == state.options.reference)
                require_reference(*state.context, frame);
        }
    });
    if (state.result.frames_per_sum == 0)
        state.result.reference = state.options.reference.value_or(
            state.nonrigid() ? series.reference : reference_frame(state));
    if (!state.options.reference && state.result.reference != first_sound_frame(state))
        state.result.reference_reason =
            "it is in the middle of a drift that leaves the view of the first frame";
    if (state.nonrigid())
        agree(state.communicator, [&] {
            register_by_fields(*state.context,
                               whole_frame(state.context->source, state.result.reference),
                               state.result.reference, state.own, 1,
                               starts_from_motions(series, matched_shape(state)));
        });
    check_motions(state);
}

void refine_stages(SeriesState& state) {
    while (needs_stage(state)) {
        if (pattern_turns(state))
            refine_pattern(state);
        refine(state, ++state.result.stages);
    }
    state.result.static_bias = state.result.static_bias || pattern_turns(state);
    require_registered(state, state.registered.frames.size(), state.own);
}

void fit_family(SeriesState& state) {
    state.result.model = state.options.model;
    if (state.options.model == MotionModel::rigid || state.nonrigid())
        return;
    if (state.result.frames_per_sum > 0) {
        if (state.options.model == MotionModel::automatic) {
            state.result.model = MotionModel::rigid;
            state.result.model_reason = "frames carry too little signal for other models";
        }
        return;
    }
    agree(state.communicator, [&] {
        const PixelArea area = matched_area(state);
        state.fails_again = too_large_for_matching(area, matched_shape(state));
        if (state.fails_again)
            throw InvalidTask(
                fmt::format("model {}: the frames extend over {}x{} pixels, which is too large for "
                            "the average that this model needs; expected rigid",
                            name(state.options.model), area.shape.width, area.shape.height));
    });
    const FamilyChoice choice =
        register_by_family(*state.context, state.registered, state.result.reference, state.own,
                           family_of(state.options.model));
    state.result.model = models_of_families[static_cast<std::size_t>(choice.family)];
    state.result.model_reason = choice.reason;
    if (choice.family != MotionFamily::rigid)
        add_covariances_of_stations(state);
    state.registered = gather_registered(state.communicator, state.own);
    check_motions(state);
}

SeriesMisfit series_misfit(const SeriesState& state) {
    std::vector<Misfit> own;
    for (const FrameRegistration& frame : state.own) {
        if (frame.left_out.empty() && frame.result.misfit.smooth.slopes > 0 &&
            state.registered.contributes[state.registered.index(frame.frame)] != 0)
            own.push_back(frame.result.misfit);
    }
    // With one stage, half of the noise comes from the common reference.
    return misfit_of_series(all_gather_lists(state.communicator, own),
                            state.result.stages == 1 ? .5 : 0);
}

namespace {

/// True if rows seem to jitter, and can be registered. Collective.
bool recognises_jitter(const SeriesState& state) {
    constexpr double least_deviations = 6;
    const bool is_rigid =
        state.result.model == MotionModel::rigid || state.result.model == MotionModel::translation;
    const ImageShape shape = matched_shape(state);
    if (!is_rigid || state.result.frames_per_sum > 0 ||
        state.registered.frames.size() < least_frames_of_rows ||
        shape != state.source->header().shape || too_large_for_matching(matched_area(state), shape))
        return false;
    const SeriesMisfit misfit = series_misfit(state);
    return misfit.significant && misfit.of_rows && misfit.deviations > least_deviations;
}

} // namespace

void fit_rows(SeriesState& state) {
    const ScanRows option = state.options.scan_rows;
    const bool recognised = option == ScanRows::automatic && recognises_jitter(state);
    if (option != ScanRows::on && !recognised)
        return;
    std::optional<RegisteredRows> rows =
        register_by_rows(*state.context, state.registered, state.own,
                         state.result.model != MotionModel::translation, recognised);
    if (!rows)
        return;
    state.result.jitter_recognised = recognised;
    state.registered = std::move(rows->frames);
    check_motions(state);
    state.result.flyback = rows->flyback;
    if (state.result.flyback > 0)
        state.without_flyback = std::make_unique<ChangedFrames>(
            state.shown_frames(),
            without_columns(state.result.flyback, state.source->header().shape.width));
}

void relate_to_whole_frames(SeriesState& state) {
    const ImageShape whole = state.source->header().shape;
    if (matched_shape(state) == whole)
        return;
    // A position relative to the centre of a frame is displaced by `offset` relative to the centre
    // of the compared rectangle.
    const PixelArea& box = state.matched->box;
    const Point of_frame = centre(whole), of_box = centre(box.shape);
    const RigidMotion offset{0, of_frame.x - of_box.x - static_cast<double>(box.x),
                             of_frame.y - of_box.y - static_cast<double>(box.y)};
    const auto related = [&](const auto& motion, const auto& to) {
        return compose(inverse(to), compose(motion, to));
    };
    for (FrameRegistration& frame : state.own) {
        frame.from_before = related(frame.from_before, offset);
        if (!frame.left_out.empty())
            continue;
        RigidResult& result = frame.result;
        const UncertainMotion motion = related(
            UncertainMotion{result.motion, result.uncertainty.covariance}, UncertainMotion{offset});
        result.motion = motion.motion;
        result.uncertainty = uncertainty_with(motion.covariance);
        if (frame.affine)
            frame.affine = related(*frame.affine, as_affine(offset));
    }
    state.registered = gather_registered(state.communicator, state.own);
}

} // namespace sextant::registration
