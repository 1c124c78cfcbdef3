// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/refinement.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/ledger.hpp"
#include "sextant/registration/pair_reader.hpp"
#include "sextant/registration/partition.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

struct Head {
    ImageShape image, nodes;
    Elements spacing;
    SplineFitReport fit;
    Seconds seconds;
    std::uint64_t sigmas, knowns; ///< number of each: 0 or one per node
};

template <class Value>
void put(std::vector<std::byte>& bytes, std::span<Value> values) {
    const std::size_t before = bytes.size();
    bytes.resize(before + values.size_bytes());
    if (!values.empty())
        std::memcpy(bytes.data() + before, values.data(), values.size_bytes());
}

template <class Value>
void take(std::span<const std::byte>& bytes, std::span<Value> to) {
    if (bytes.size() < to.size_bytes())
        throw std::logic_error("a stored field is shorter than its header states");
    if (!to.empty())
        std::memcpy(to.data(), bytes.data(), to.size_bytes());
    bytes = bytes.subspan(to.size_bytes());
}

} // namespace

std::vector<std::byte> bytes_of(const StoredField& stored) {
    const DisplacementField& field = stored.field;
    const Head head{field.image,    field.nodes,        field.spacing,     stored.fit,
                    stored.seconds, field.sigma.size(), field.known.size()};
    std::vector<std::byte> bytes;
    put(bytes, std::span(&head, 1));
    put(bytes, std::span(field.x));
    put(bytes, std::span(field.y));
    put(bytes, std::span(field.sigma));
    put(bytes, std::span(field.known));
    return bytes;
}

StoredField field_from(std::span<const std::byte> bytes) {
    Head head;
    take(bytes, std::span(&head, 1));
    StoredField stored{
        {head.image, head.spacing, head.nodes, {}, {}, {}, {}}, head.fit, head.seconds};
    DisplacementField& field = stored.field;
    field.x.resize(field.count());
    field.y.resize(field.count());
    field.sigma.resize(head.sigmas);
    field.known.resize(head.knowns);
    take(bytes, std::span(field.x));
    take(bytes, std::span(field.y));
    take(bytes, std::span(field.sigma));
    take(bytes, std::span(field.known));
    return stored;
}

namespace {

kernel::SampleView view_of(std::span<const float> samples, ImageShape shape) {
    return {samples.data(), shape.width, {0, 0, shape.width, shape.height}, shape};
}

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

/// Returns an upper bound of the uncertainty of the rigid motion nearest to a field whose nodes
/// have standard deviation `sigma`. It is reached if the errors of all nodes agree.
RigidUncertainty uncertainty_at_most(double sigma, ImageShape shape) {
    const double arm = std::hypot(static_cast<double>(shape.width),
                                  static_cast<double>(shape.height)) /
                       std::sqrt(12); // RMS distance of positions from the centre
    const double alpha = sigma / arm;
    return {alpha, sigma, sigma, {alpha * alpha, 0, 0, 0, sigma * sigma, 0, 0, 0, sigma * sigma}};
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
    frame.result.uncertainty = uncertainty_at_most(frame.field->sigma, field.image);
    frame.seconds += stored.seconds;
}

/// Returns the identity field of the reference frame.
StoredField identity_field(ImageShape shape) {
    StoredField stored{{shape, kernel::cell_size, nodes_of_fields(shape), {}, {}, {}, {}}, {}, 0};
    const std::size_t nodes = stored.field.count();
    stored.field.x.resize(nodes);
    stored.field.y.resize(nodes);
    stored.field.sigma.resize(nodes);
    stored.field.known.assign(nodes, 1);
    stored.fit.ncc_before = stored.fit.ncc_after = stored.fit.overlap = 1;
    return stored;
}

StoredField found_field(Ledger& ledger, const EntryName& name) {
    const auto bytes = ledger.find(name);
    if (!bytes)
        throw CommunicationFailed(fmt::format(
            "the field of frame {} cannot be found: do all ranks see the same files?", name.moved));
    return field_from(*bytes);
}

} // namespace

const RigidMotion& Registered::motion(std::int64_t frame) const {
    const auto at = std::lower_bound(frames.begin(), frames.end(), frame);
    if (at == frames.end() || *at != frame)
        throw std::logic_error("the requested motion is of a frame that was left out");
    return motions[static_cast<std::size_t>(at - frames.begin())];
}

Registered gather_registered(const Communicator& communicator,
                             std::span<const FrameRegistration> own) {
    std::vector<std::int64_t> frames;
    std::vector<RigidMotion> motions;
    for (const FrameRegistration& frame : own) {
        if (!frame.left_out.empty())
            continue;
        frames.push_back(frame.frame);
        motions.push_back(frame.result.motion);
    }
    return {all_gather_lists(communicator, std::span<const std::int64_t>(frames)),
            all_gather_lists(communicator, std::span<const RigidMotion>(motions))};
}

void leave_out_unrelated(std::span<FrameRegistration> frames) {
    for (FrameRegistration& frame : frames) {
        if (frame.left_out.empty() && frame.result.unrelated)
            frame.left_out = fmt::format(
                "the overlap with the reference, {:.0f} % of a frame, has no higher NCC than noise",
                100 * frame.result.overlap);
    }
}

TransformOf transforms(const Registered& registered) {
    return [&registered](std::int64_t frame) -> Transform { return registered.motion(frame); };
}

TransformOf transforms_by_fields(Ledger& ledger, std::int64_t reference, std::uint32_t stage) {
    return [&ledger, reference, stage](std::int64_t frame) -> Transform {
        return found_field(ledger, {Work::field, stage, reference, 0, frame}).field;
    };
}

std::vector<float> whole_frame(FrameSource& source, std::int64_t frame) {
    std::vector<float> samples(static_cast<std::size_t>(source.header().shape.elements()));
    source.read_frame(frame, samples);
    return samples;
}

std::vector<float> average_of(const SeriesContext& context, const Registered& registered,
                              const TransformOf& transform_of) {
    Combined combined =
        combine(context.communicator, context.source, registered.frames, transform_of,
                {false, context.options.memory, context.options.threads}, context.control);
    for (std::size_t pixel = 0; pixel < combined.mean.size(); ++pixel) {
        if (combined.count[pixel] == 0)
            combined.mean[pixel] = std::numeric_limits<float>::quiet_NaN();
    }
    return std::move(combined.mean);
}

void register_to_average(const SeriesContext& context, std::span<const float> average,
                         std::span<FrameRegistration> own, std::uint32_t stage) {
    const RegistrationOptions& options = context.options;
    const ImageShape shape = context.source.header().shape;
    Team team(options.threads);
    Pyramid reference(shape, 0, options.prefilter, &team);
    reference.fill(view_of(average, shape));
    PairReader reader(context.source, options.rigid, options.prefilter, 2, &team);
    std::int64_t done = 0;
    for (FrameRegistration& frame : own) {
        context.step("register to the average", done++, std::ssize(own));
        if (!frame.left_out.empty())
            continue;
        const RigidMotion start = frame.result.motion;
        const TimedResult timed =
            timed_result(context.ledger, {Work::averaged, stage, 0, 0, frame.frame},
                         [&] { return reader.refine(reference, frame.frame, start); });
        frame.result = refined_from(start, timed.result, frame.result.ambiguous);
        frame.seconds += timed.seconds;
    }
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

void register_by_fields(const SeriesContext& context, std::span<const float> image,
                        std::int64_t reference, std::span<FrameRegistration> own,
                        std::uint32_t stage, const StartOf& start_of) {
    if (!context.ledger)
        throw std::logic_error("fields without storage");
    const RegistrationOptions& options = context.options;
    const ImageShape shape = context.source.header().shape;
    Team team(options.threads);
    NonrigidRegistration registration(shape, options.nonrigid, &team);
    std::vector<float> samples(image.size());
    std::int64_t done = 0;
    for (FrameRegistration& frame : own) {
        context.step("fields", done++, std::ssize(own));
        if (!frame.left_out.empty())
            continue;
        const EntryName name{Work::field, stage, reference, 0, frame.frame};
        if (const auto known = context.ledger->find(name)) {
            take(field_from(*known), options.prefilter, frame);
            continue;
        }
        StoredField stored = identity_field(shape);
        if (frame.frame != reference) {
            const auto begin = std::chrono::steady_clock::now();
            context.source.read_frame(frame.frame, samples);
            const NonrigidResult& result =
                registration.run(view_of(image, shape), view_of(samples, shape),
                                 start_of ? start_of(frame) : FieldStart(frame.result.motion));
            stored = {result.field, result.fit, 0};
            stored.seconds =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        }
        context.ledger->keep(name, bytes_of(stored));
        take(stored, options.prefilter, frame);
    }
}

} // namespace sextant::registration
