// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/stages/refinement.hpp"

#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/pair_reader.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
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
    frame.result.misfit = {}; // that of the rigid motion
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

Contribution contribution_of(const FrameContrast& contrast, double offset) {
    const double gain = 1 / std::abs(contrast.signal); // the source inverts inverted frames
    return {-(contrast.level - offset) * gain, gain, contrast.weight()};
}

namespace {

/// True if a frame contributes to an average of more than two frames. Only then is it registered
/// again, to the average of the others.
bool is_one_of_several(const Registered& registered, std::size_t index) {
    return registered.contributes[index] != 0 &&
           std::count(registered.contributes.begin(), registered.contributes.end(), 1) > 2;
}

} // namespace

PixelArea matching_area(const Registered& registered, ImageShape shape) {
    const Elements grid = window_grid(shape);
    PixelArea area = area_of(shape);
    bool larger = false;
    for (std::size_t i = 0; i < registered.frames.size(); ++i) {
        if (registered.contributes[i] == 0)
            continue;
        larger |= predicted_overlap(registered.motions[i], shape) < direct_overlap;
        area = enclosing_area(area, window_of(registered.motions[i], shape, grid));
    }
    return larger ? area : area_of(shape);
}

bool too_large_for_matching(const PixelArea& area, ImageShape shape) {
    constexpr Elements pixels = Elements{1} << 27, frames = 16;
    return area.shape.elements() > pixels && area.shape.elements() > frames * shape.elements();
}

PixelArea window_in(const PixelArea& area, const RigidMotion& motion, ImageShape shape) {
    if (area == area_of(shape))
        return area;
    PixelArea window = window_of(motion, shape, window_grid(shape));
    window.x = std::clamp(window.x, area.x, area.x + area.shape.width - shape.width);
    window.y = std::clamp(window.y, area.y, area.y + area.shape.height - shape.height);
    return window;
}

MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           const TransformOf& transform_of) {
    return average_of(context, registered, registered.contributing(), transform_of,
                      area_of(context.source.header().shape));
}

MatchingAverage average_of(const SeriesContext& context, const Registered& registered,
                           std::span<const std::int64_t> frames, const TransformOf& transform_of,
                           const PixelArea& area) {
    MatchingAverage average;
    average.area = area;
    CombineOptions options{false, context.options.memory, context.options.threads};
    options.area = area;
    for (const std::int64_t frame : frames) {
        options.contributions.push_back(
            contribution_of(registered.contrasts[registered.index(frame)], context.offset));
        average.total += options.contributions.back().weight;
    }
    Combined combined = combine(context.communicator, context.source, frames, transform_of, options,
                                context.control);
    average.samples = std::move(combined.mean);
    average.weight = std::move(combined.weight);
    if (area != area_of(context.source.header().shape)) {
        constexpr double enough = 16;
        const float most = std::ranges::max(average.weight);
        average.total = std::min(average.total * enough / static_cast<double>(frames.size()),
                                 static_cast<double>(most));
    }
    const auto least = static_cast<float>(least_coverage * average.total);
    for (std::size_t pixel = 0; pixel < average.samples.size(); ++pixel) {
        if (average.weight[pixel] < least)
            average.samples[pixel] = std::numeric_limits<float>::quiet_NaN();
    }
    return average;
}

void subtract_own(const MatchingAverage& average, const PixelArea& window, const Contribution& own,
                  std::span<float> samples) {
    const double least = least_coverage * (average.total - own.weight);
    const PixelArea& area = average.area;
    for (std::int64_t y = 0; y < window.shape.height; ++y) {
        auto of_average = static_cast<std::size_t>((window.y + y - area.y) * area.shape.width +
                                                   window.x - area.x);
        float* const row = samples.data() + y * window.shape.width;
        for (std::int64_t x = 0; x < window.shape.width; ++x, ++of_average) {
            const double value = own.gain * static_cast<double>(row[x]) + own.offset;
            if (!std::isfinite(value)) {
                row[x] = average.samples[of_average];
                continue;
            }
            const auto weight = static_cast<double>(average.weight[of_average]);
            const double left = weight - own.weight;
            const double sum = weight * static_cast<double>(average.samples[of_average]);
            row[x] = left < least ? std::numeric_limits<float>::quiet_NaN()
                                  : static_cast<float>((sum - own.weight * value) / left);
        }
    }
}

void show_others(const SeriesContext& context, const MatchingAverage& average,
                 const PixelArea& window, const Registered& registered, std::int64_t frame,
                 Resampler& resampler, std::vector<float>& samples) {
    const std::size_t index = registered.index(frame);
    samples.resize(static_cast<std::size_t>(window.shape.elements()));
    if (registered.contributes[index] != 0) {
        resampler.show(frame, transforms(registered)(frame), window, samples);
        subtract_own(average, window, contribution_of(registered.contrasts[index], context.offset),
                     samples);
        return;
    }
    const PixelArea& area = average.area;
    for (std::int64_t y = 0; y < window.shape.height; ++y)
        std::copy_n(average.samples.begin() + (window.y + y - area.y) * area.shape.width +
                        window.x - area.x,
                    window.shape.width, samples.begin() + y * window.shape.width);
}

namespace {

/// The filtered average of all frames but one. The filter is linear, so the filtered frame is
/// subtracted from the filtered average, instead of filtering each difference. Pyramids have their
/// two finest levels, which a registration without search uses.
class OthersPyramid {
  public:
    OthersPyramid(const SeriesContext& context, MatchingAverage average,
                  const Registered& registered, Team* team)
        : context_(context),
          average_(std::move(average)),
          registered_(registered),
          team_(team),
          shape_(context.source.header().shape),
          all_(average_.area.shape, default_levels(shape_), context.options.prefilter, team),
          others_(shape_, 0, context.options.prefilter, team) {
        all_.fill(view_of(average_.samples, average_.area.shape));
        std::vector<float>().swap(average_.samples); // only their pyramid is needed
    }

    /// Returns the window of the average of all frames that contribute.
    const Pyramid& all(const PixelArea& window) {
        if (window == average_.area)
            return all_;
        for (int level = 0; level < all_.levels(); ++level)
            copy(window, level);
        others_.set_gaps(all_.gaps());
        return others_;
    }

    /// Returns the window of the average of the frames other than one that contributes.
    const Pyramid& without(std::int64_t frame, const PixelArea& window, const Pyramid& filtered) {
        const std::size_t index = registered_.index(frame);
        const Contribution one = contribution_of(registered_.contrasts[index], context_.offset);
        const RigidMotion motion = in_window(registered_.motions[index], window);
        bool gaps = false;
        for (int level = 0; level < std::min(2, all_.levels()); ++level)
            gaps |= subtract(one, motion, window, filtered, level);
        others_.set_gaps(gaps);
        return others_;
    }

  private:
    /// Returns a window of a level of the average. Pixels of all levels are multiples of the grid
    /// of windows apart.
    kernel::FloatImage part_of(const PixelArea& window, int level) const {
        const kernel::FloatImage whole = all_.level(level);
        const Elements step = Elements{1} << level;
        const Elements x = (window.x - average_.area.x) / step,
                       y = (window.y - average_.area.y) / step;
        return {whole.row(y) + x, whole.stride, others_.level(level).shape};
    }

    void copy(const PixelArea& window, int level) {
        const kernel::FloatImage from = part_of(window, level);
        const kernel::Plane to = others_.plane(level);
        for (Elements y = 0; y < from.shape.height; ++y)
            std::copy_n(from.row(y), from.shape.width, to.first + y * to.stride);
    }

    /// Computes a level, and returns true if it has gaps.
    bool subtract(const Contribution& one, const RigidMotion& motion, const PixelArea& window,
                  const Pyramid& filtered, int level) {
        const kernel::FloatImage of_all = part_of(window, level), of_one = filtered.level(level);
        const ImageShape shape = of_all.shape;
        const double unit = std::ldexp(1, level);
        const Point c = centre(shape_);
        const kernel::RigidMap map =
            map_of({motion.alpha, motion.tx / unit, motion.ty / unit}, {c.x / unit, c.y / unit});
        const kernel::Plane to = others_.plane(level);
        // A sample of the filtered frame contributes gain · sample + offset, in units of all_.
        const auto gain = static_cast<float>(one.gain / filtered.scale() * all_.scale());
        const auto offset = static_cast<float>(
            (one.gain * filtered.mean() + one.offset - all_.mean()) * all_.scale());
        const auto weight = static_cast<float>(one.weight);
        const auto least = static_cast<float>(least_coverage * (average_.total - one.weight));
        const Elements step = Elements{1} << level, width = average_.area.shape.width;
        const float* const first_weight = average_.weight.data() +
                                          (window.y - average_.area.y) * width +
                                          (window.x - average_.area.x);
        const Bands bands(shape.height);
        std::array<bool, Bands::most> gaps{};
        run_parts(team_, bands.count(), [&](int band, int) {
            const Elements first = bands.first(band), last = bands.first(band + 1);
            constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
            kernel::warp_rows(of_one, map, nothing, shape, first, last, to);
            bool any = false;
            for (Elements y = first; y < last; ++y) {
                float* const row = to.first + y * to.stride;
                const float* const sum = of_all.row(y);
                const float* const weights = first_weight + y * step * width;
                for (Elements x = 0; x < shape.width; ++x) {
                    const float own = gain * row[x] + offset, seen = weights[x * step];
                    const float left = seen - weight;
                    const float others =
                        left < least ? nothing : (seen * sum[x] - weight * own) / left;
                    row[x] = std::isnan(own) ? sum[x] : others;
                    any |= std::isnan(row[x]);
                }
            }
            gaps[static_cast<std::size_t>(band)] = any;
        });
        return std::any_of(gaps.begin(), gaps.end(), [](bool any) { return any; });
    }

    const SeriesContext& context_;
    MatchingAverage average_;
    const Registered& registered_;
    Team* team_;
    ImageShape shape_;
    Pyramid all_, others_;
};

/// Searches the whole range of motions for a frame in doubt. Returns true if the result is neither
/// ambiguous nor unrelated; the frame then has this motion and is not in doubt any more. `average`
/// is the part of the average in a window.
bool settle(const SeriesContext& context, PairReader& reader, const Pyramid& average,
            const PixelArea& window, std::uint32_t stage, FrameRegistration& frame) {
    const TimedResult timed =
        timed_result(context.ledger, {Work::averaged, stage, 0, 1, frame.frame},
                     [&] { return from_window(reader.align(average, frame.frame), window); });
    frame.seconds += timed.seconds;
    if (!trusted(timed.result) || timed.result.ambiguous)
        return false;
    frame.result = timed.result;
    frame.in_doubt = false;
    return true;
}

} // namespace

void register_to_average(const SeriesContext& context, MatchingAverage average,
                         const Registered& registered, std::span<FrameRegistration> own,
                         std::uint32_t stage) {
    const RegistrationOptions& options = context.options;
    const ImageShape shape = context.source.header().shape;
    Team team(options.threads);
    const PixelArea area = average.area;
    OthersPyramid references(context, std::move(average), registered, &team);
    PairReader reader(context.source, options.rigid, options.prefilter, 2, &team);
    std::int64_t done = 0;
    for (FrameRegistration& frame : own) {
        context.step("register to the average", done++, std::ssize(own));
        if (!frame.left_out.empty())
            continue;
        const std::size_t index = registered.index(frame.frame);
        const bool contributes = registered.contributes[index] != 0;
        if (contributes && !is_one_of_several(registered, index))
            continue;
        const RigidMotion start = frame.result.motion;
        const PixelArea window = window_in(area, start, shape);
        if (!contributes && settle(context, reader, references.all(window), window, stage, frame))
            continue;
        const TimedResult timed =
            timed_result(context.ledger, {Work::averaged, stage, 0, 0, frame.frame}, [&] {
                const Pyramid& reference =
                    contributes
                        ? references.without(frame.frame, window, reader.pyramid(frame.frame))
                        : references.all(window);
                return from_window(reader.refine(reference, frame.frame, in_window(start, window)),
                                   window);
            });
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

namespace {

/// The image to which a frame is registered; valid until the next call.
using ImageFor = std::function<std::span<const float>(const FrameRegistration& frame)>;

/// Registers frames by fields, each to its own image. Frames for which `is_done` returns true have
/// their field already.
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
            throw std::logic_error("fields without storage");
    }

    /// Registers a frame, unless its field is stored already.
    void run(FrameRegistration& frame, const ImageFor& image_for,
             const std::function<FieldStart()>& start) {
        use(frame, [&] {
            StoredField stored = identity_field(shape_);
            if (frame.frame == reference_)
                return stored;
            Seconds taken = 0;
            timed(taken, [&] {
                const std::span<const float> image = image_for(frame);
                context_.source.read_frame(frame.frame, samples_);
                const NonrigidResult& result =
                    registration_.run(view_of(image, shape_), view_of(samples_, shape_), start());
                stored = {result.field, result.fit, 0};
            });
            stored.seconds = taken;
            return stored;
        });
    }

    /// Copies the field of the previous stage.
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

/// The average of all frames but one, whose own samples are subtracted.
class OthersImage {
  public:
    OthersImage(const SeriesContext& context, const MatchingAverage& average,
                const Registered& registered, const TransformOf& transform_of, Team& team)
        : context_(context),
          average_(average),
          registered_(registered),
          transform_of_(transform_of),
          shape_(context.source.header().shape),
          resampler_(context.source, &team),
          others_(average.samples.size()) {}

    std::span<const float> without(std::int64_t frame) {
        const Contribution one =
            contribution_of(registered_.contrasts[registered_.index(frame)], context_.offset);
        // In bands, because the resampler holds the rows of the frame that it reads.
        constexpr Elements rows = 64;
        const Transform transform = transform_of_(frame);
        for (Elements y = 0; y < shape_.height; y += rows) {
            const PixelArea band{0, y, {shape_.width, std::min(rows, shape_.height - y)}};
            resampler_.show(frame, transform, band,
                            std::span(others_.data() + y * shape_.width,
                                      static_cast<std::size_t>(band.shape.elements())));
        }
        subtract_own(average_, area_of(shape_), one, others_);
        return others_;
    }

  private:
    const SeriesContext& context_;
    const MatchingAverage& average_;
    const Registered& registered_;
    const TransformOf& transform_of_;
    ImageShape shape_;
    Resampler resampler_;
    std::vector<float> others_;
};

/// Returns the median strength of the priors of fields of a stage, of some frames of all ranks
/// other than `except`; none if the frames determine no fields.
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

/// Searches the whole range of motions for this rank's frames in doubt.
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
            reader.emplace(context.source, options.rigid, options.prefilter, 2, &team);
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
                frame, [&](const FrameRegistration&) { return image; },
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
    OthersImage others(context, average, registered, before, team);
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
            [&](const FrameRegistration&) {
                return contributes ? others.without(frame.frame)
                                   : std::span<const float>(average.samples);
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
