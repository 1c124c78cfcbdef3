// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/packing.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/pair_reader.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

struct Head {
    ImageShape image, nodes;
    Elements spacing;
    SplineFitReport fit;
    Seconds seconds;
};

} // namespace

std::vector<std::byte> bytes_of(const StoredField& stored) {
    const DisplacementField& field = stored.field;
    Packer bytes;
    bytes.add(Head{field.image, field.nodes, field.spacing, stored.fit, stored.seconds});
    for (const std::vector<float>* values : {&field.x, &field.y, &field.sigma})
        bytes.add(*values);
    bytes.add(field.known);
    return bytes.bytes();
}

StoredField field_from(std::span<const std::byte> bytes) {
    Unpacker rest(bytes);
    const auto head = rest.take<Head>();
    StoredField stored{
        {head.image, head.spacing, head.nodes, {}, {}, {}, {}}, head.fit, head.seconds};
    for (std::vector<float>* values : {&stored.field.x, &stored.field.y, &stored.field.sigma})
        *values = rest.take<std::vector<float>>();
    stored.field.known = rest.take<std::vector<std::uint8_t>>();
    return stored;
}

namespace {

FieldFit summary_of(const StoredField& stored) {
    const DisplacementField& field = stored.field;
    double known = 0, squares = 0;
    for (std::size_t node = 0; node < field.known.size(); ++node) {
        if (field.known[node] == 0)
            continue;
        ++known;
        squares += static_cast<double>(field.sigma[node]) * static_cast<double>(field.sigma[node]);
    }
    return {known / static_cast<double>(field.count()), known > 0 ? std::sqrt(squares / known) : 0,
            stored.fit.freedom};
}

void take(const StoredField& stored, double prefilter, FrameRegistration& frame) {
    const DisplacementField& field = stored.field;
    frame.result.motion = nearest_rigid([&field](Point x) { return apply(field, x); }, field.image);
    const double seen = stored.fit.overlap * static_cast<double>(field.image.elements());
    frame.result.unrelated = !(stored.fit.ncc_after > ncc_of_noise(seen, prefilter));
    frame.result.ncc_before = stored.fit.ncc_before;
    frame.result.ncc_after = stored.fit.ncc_after;
    frame.result.overlap = stored.fit.overlap;
    frame.result.iterations = stored.fit.steps;
    frame.field = summary_of(stored);
    frame.result.uncertainty = uncertainty_with(stored.fit.covariance);
    frame.result.misfit = {}; // discard the misfit of the rigid motion
    frame.seconds += stored.seconds;
}

/// Returns a zero field, for the reference frame.
StoredField identity_field(ImageShape shape) {
    StoredField stored{field_of_cells(shape), {}, 0};
    std::ranges::fill(stored.field.known, std::uint8_t{1});
    stored.fit.ncc_before = stored.fit.ncc_after = stored.fit.overlap = 1;
    return stored;
}

StoredField found_field(Ledger& ledger, const EntryName& name) {
    const auto bytes = ledger.find(name);
    if (!bytes)
        throw CommunicationFailed(fmt::format("the displacement field of frame {} cannot be found, "
                                              "expected the same files on all ranks",
                                              name.moved));
    return field_from(*bytes);
}

} // namespace

TransformOf transforms_by_fields(Ledger& ledger, std::int64_t reference, std::uint32_t stage) {
    return [&ledger, reference, stage](std::int64_t frame) -> Transform {
        return found_field(ledger, {Work::field, stage, reference, 0, frame}).field;
    };
}

StartOf starts_from(const TransformOf& fields, ImageShape shape) {
    return [&fields, shape](const FrameRegistration& frame) {
        return start_at([transform = fields(frame.frame),
                         shape](Point x) { return apply(transform, x, shape); },
                        shape);
    };
}

ImageShape nodes_of_fields(ImageShape frame) {
    const ImageShape cells = kernel::cells_of(frame);
    return {cells.width + 1, cells.height + 1};
}

namespace {

/// Returns the image that a frame is registered to. Valid until the next call.
using MakeImage = std::function<std::span<const float>()>;

/// Registers frames with displacement fields, each to its own image.
class FieldRegistration {
  public:
    FieldRegistration(const SeriesContext& context, std::int64_t reference, std::uint32_t stage,
                      Team& team)
        : context_(context),
          reference_(reference),
          stage_(stage),
          shape_(context.source.header().shape),
          registration_(shape_, context.options.nonrigid, &team),
          samples_(static_cast<std::size_t>(shape_.elements())) {
        if (!context.ledger)
            throw std::logic_error("displacement fields need a ledger");
    }

    /// Registers a frame unless its field is already stored.
    void run(FrameRegistration& frame, const MakeImage& make_image,
             const std::function<FieldStart()>& start) {
        use(frame, [&] {
            StoredField stored = identity_field(shape_);
            if (frame.frame == reference_)
                return stored;
            Seconds taken = 0;
            timed(taken, [&] {
                const std::span<const float> image = make_image();
                context_.source.read_frame(frame.frame, samples_);
                const NonrigidResult& result =
                    registration_.run(view_of(image, shape_), view_of(samples_, shape_), start());
                stored = {result.field, result.fit, 0};
            });
            stored.seconds = taken;
            return stored;
        });
    }

    /// Copies a frame's field from the previous stage.
    void copy(FrameRegistration& frame, std::int64_t reference_before) {
        use(frame, [&] {
            StoredField stored = found_field(
                *context_.ledger, {Work::field, stage_ - 1, reference_before, 0, frame.frame});
            stored.seconds = 0;
            return stored;
        });
    }

  private:
    template <class Make>
    void use(FrameRegistration& frame, const Make& make) {
        const EntryName name{Work::field, stage_, reference_, 0, frame.frame};
        if (const auto known = context_.ledger->find(name)) {
            take(field_from(*known), context_.options.prefilter, frame);
            return;
        }
        const StoredField stored = make();
        context_.ledger->keep(name, bytes_of(stored));
        take(stored, context_.options.prefilter, frame);
    }

    const SeriesContext& context_;
    std::int64_t reference_;
    std::uint32_t stage_;
    ImageShape shape_;
    NonrigidRegistration registration_;
    std::vector<float> samples_;
};

/// Returns the median prior strength of a stage's fields over some frames of all ranks, excluding
/// the frame `except`. Returns nothing if the frames determine no fields.
std::optional<double> usual_strength(Ledger& ledger, const Registered& registered,
                                     std::int64_t reference, std::uint32_t stage,
                                     std::int64_t except) {
    constexpr std::size_t some = 9;
    constexpr double least_freedom = 4;
    std::vector<double> strengths;
    const std::size_t frames = registered.frames.size(), used = std::min(frames, some);
    for (std::size_t i = 0; i < used; ++i) {
        const std::int64_t frame = registered.frames[i * frames / used];
        if (frame == except)
            continue;
        const SplineFitReport fit =
            found_field(ledger, {Work::field, stage, reference, 0, frame}).fit;
        if (fit.freedom >= least_freedom)
            strengths.push_back(fit.strength);
    }
    return strengths.empty() ? std::nullopt : std::optional(median(strengths));
}

/// Searches the whole range of motions for each of this rank's doubtful frames.
void settle_in_doubt(const SeriesContext& context, const MatchingAverage& average,
                     const Registered& registered, std::span<FrameRegistration> own,
                     std::uint32_t stage, Team& team) {
    const RegistrationOptions& options = context.options;
    const ImageShape shape = context.source.header().shape;
    std::optional<Pyramid> reference;
    std::optional<PairReader> reader;
    for (FrameRegistration& frame : own) {
        if (!frame.left_out.empty() || registered.contributes[registered.index(frame.frame)] != 0)
            continue;
        if (!reference) {
            reference.emplace(shape, 0, options.prefilter, &team);
            reference->fill(view_of(average.samples, shape));
            reader.emplace(context.source, options.rigid, options.prefilter, context.cache, &team);
        }
        settle(context, *reader, *reference, area_of(shape), stage, frame);
    }
}

} // namespace

void register_by_fields(const SeriesContext& context, std::span<const float> image,
                        std::int64_t reference, std::span<FrameRegistration> own,
                        std::uint32_t stage, const StartOf& start_of) {
    Team team(context.options.threads);
    FieldRegistration registration(context, reference, stage, team);
    std::int64_t done = 0;
    for (FrameRegistration& frame : own) {
        context.step("fields", done++, std::ssize(own));
        if (frame.left_out.empty())
            registration.run(
                frame, [&] { return image; },
                [&] { return start_of ? start_of(frame) : FieldStart(frame.result.motion); });
    }
}

void register_to_average_by_fields(const SeriesContext& context, const MatchingAverage& average,
                                   const Registered& registered, std::int64_t reference_before,
                                   std::int64_t first_reference, const TransformOf& before,
                                   std::span<FrameRegistration> own, std::uint32_t stage) {
    const RegistrationOptions& options = context.options;
    const ImageShape shape = context.source.header().shape;
    Team team(options.threads);
    settle_in_doubt(context, average, registered, own, stage, team);
    FieldRegistration registration(context, the_average, stage, team);
    Resampler resampler(context.source, &team);
    std::vector<float> others;
    const StartOf from_field = starts_from(before, shape);
    std::int64_t done = 0;
    for (FrameRegistration& frame : own) {
        context.step("fields", done++, std::ssize(own));
        if (!frame.left_out.empty())
            continue;
        const std::size_t index = registered.index(frame.frame);
        const bool contributes = registered.contributes[index] != 0;
        if (contributes && !is_one_of_several(registered, index)) {
            registration.copy(frame, reference_before);
            continue;
        }
        const bool settled = !contributes && !in_doubt(frame);
        registration.run(
            frame,
            [&] {
                resample_others(context, average, average.area, registered, before, frame.frame,
                                resampler, others);
                return std::span<const float>(others);
            },
            [&] {
                FieldStart start = settled ? FieldStart(frame.result.motion) : from_field(frame);
                start.gain = contribution_of(registered.contrasts[index], context.offset).gain;
                start.of_average = true;
                if (frame.frame == first_reference)
                    start.strength = usual_strength(*context.ledger, registered, reference_before,
                                                    stage - 1, first_reference);
                return start;
            });
    }
}

} // namespace sextant::registration
