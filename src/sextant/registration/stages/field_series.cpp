// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/packing.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/series_workers.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/stages/stages.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// The fixed-size part of a link: the registration of frame `moved` to frame `reference`, without
/// the spline coefficients.
struct FieldHead {
    std::int64_t reference = 0, moved = 0;
    RigidResult result;
    Seconds seconds = 0; ///< time spent on registrations of `moved`
};

/// An element of the scan.
struct FieldLink {
    FieldHead head;
    SplineMotion motion;
};

std::vector<std::byte> bytes_of(const FieldLink& link) {
    Packer bytes;
    bytes.add(link.head);
    bytes.add(link.motion.coefficients);
    return bytes.bytes();
}

/// Returns the maximum size of a serialised link for frames of this shape.
Bytes most_bytes(ImageShape shape) {
    return static_cast<Bytes>(sizeof(FieldHead) + sizeof(std::uint64_t) +
                              most_coefficients(shape) * sizeof(float));
}

/// Returns outer∘inner. The result holds copies of both.
Displacement composed(const SplineMotion& outer, const SplineMotion& inner) {
    return [outer, inner](Point x) { return outer(inner(x)); };
}

/// Registers pairs of frames of a source with displacement fields. Used by one thread at a time.
struct FieldPairs {
    FieldPairs(FrameSource& frames, const NonrigidOptions& options, Team* team)
        : source(frames),
          registration(frames.header().shape, options, team),
          reference(static_cast<std::size_t>(frames.header().shape.elements())),
          moved(reference.size()) {}

    FrameSource& source;
    NonrigidRegistration registration;
    std::vector<float> reference, moved; ///< samples of the current pair
};

class FieldScan {
  public:
    FieldScan(const SeriesContext& context, std::vector<FrameRegistration> frames)
        : context_(context),
          communicator_(context.communicator),
          source_(context.source),
          options_(context.options),
          shape_(source_.header().shape),
          team_(options_.threads),
          workers_(context),
          frames_(std::move(frames)),
          motions_(frames_.size(), SplineMotion{{}, {}, nullptr, centre(shape_)}) {
        workers_.create([&](FrameSource& frames_of, bool shares_rows) {
            return std::make_unique<FieldPairs>(frames_of, options_.nonrigid,
                                                shares_rows ? &team_ : nullptr);
        });
    }

    FieldSeries run() {
        const std::vector<std::int64_t> placed = gather_sound().frames;
        const std::int64_t reference = reference_among(placed);
        std::vector<FieldLink> neighbours;
        agree(communicator_, [&] { neighbours = linked_neighbours(placed); });
        take(workers_.scanned(neighbours,
                              prefix::sized_slots<FieldLink>(
                                  most_bytes(shape_), bytes_of,
                                  [&](std::span<const std::byte> bytes) { return link_of(bytes); }),
                              true, [&](const FieldLink& left, const FieldLink& right) {
                                  return combined(left, right);
                              }));
        workers_.note_use();
        place_others();
        if (!placed.empty() && placed.front() != reference)
            change_reference(reference);
        return {std::move(frames_), std::move(motions_), reference};
    }

  private:
    static bool is_sound(const FrameRegistration& frame) {
        return frame.left_out.empty() && frame.sound;
    }

    /// Returns the requested reference. By default, returns the first sound frame, or the frame in
    /// the middle of the motion. Collective.
    std::int64_t reference_among(const std::vector<std::int64_t>& placed) const {
        std::vector<RigidMotion> own;
        for (const FrameRegistration& frame : frames_) {
            if (is_sound(frame))
                own.push_back(frame.from_before);
        }
        std::vector<RigidMotion> motions = all_gather_lists(communicator_, own);
        if (options_.reference || placed.empty())
            return options_.reference.value_or(0);
        for (std::size_t i = 1; i < motions.size(); ++i)
            motions[i] = compose(motions[i], motions[i - 1]);
        return placed[bases_of(motions, shape_).back() > 0 ? middle_of(motions, shape_) : 0];
    }

    /// All-gathers the sound frames, which the scan links. Collective.
    Registered gather_sound() const {
        std::vector<FrameRegistration> sound;
        std::copy_if(frames_.begin(), frames_.end(), std::back_inserter(sound), is_sound);
        return gather_registered(communicator_, sound);
    }

    /// Sets the motions of frames that are not sound: the rigid motion found before the scan,
    /// composed with the motion of the sound frame that they were registered to. Collective.
    void place_others() {
        const Registered sound = gather_sound();
        agree(communicator_, [&] {
            for (std::size_t i = 0; i < frames_.size(); ++i) {
                FrameRegistration& frame = frames_[i];
                if (!frame.left_out.empty() || frame.sound)
                    continue;
                const auto after =
                    std::upper_bound(sound.frames.begin(), sound.frames.end(), frame.frame);
                const std::int64_t by = after == sound.frames.begin() ? *after : *std::prev(after);
                frame.result.motion = compose(frame.from_before, sound.motion(by));
                motions_[i] = workers_.shared().registration.as_spline({frame.result.motion});
            }
        });
    }

    FieldLink link_of(std::span<const std::byte> bytes) const {
        Unpacker rest(bytes);
        FieldLink link{rest.take<FieldHead>(), {}};
        link.motion = {link.head.result.motion, rest.take<std::vector<float>>(), nullptr,
                       centre(shape_)};
        link.motion.grid = workers_.shared().registration.grid_of(link.motion.coefficients.size());
        if (!link.motion.grid)
            throw Error("a displacement field has a grid for frames of another shape");
        return link;
    }

    /// Returns the link from the ledger; if there is none, computes the link and stores it.
    template <class Find>
    FieldLink found_or_kept(const EntryName& name, const Find& find) {
        if (auto known =
                stored_result(context_.ledger, name, [&](auto bytes) { return link_of(bytes); }))
            return *std::move(known);
        FieldLink link = find();
        if (context_.ledger)
            context_.ledger->keep(name, bytes_of(link));
        return link;
    }

    /// Registers each of this rank's sound frames to the previous sound frame, on all threads if
    /// they take whole frames.
    std::vector<FieldLink> linked_neighbours(const std::vector<std::int64_t>& placed) {
        struct Neighbours {
            std::int64_t before;
            const FrameRegistration* frame;
        };
        std::vector<Neighbours> own;
        for (const FrameRegistration& frame : frames_) {
            const auto at = std::lower_bound(placed.begin(), placed.end(), frame.frame);
            if (is_sound(frame) && at != placed.begin())
                own.push_back({*std::prev(at), &frame});
        }
        std::vector<FieldLink> links(own.size());
        workers_.for_each(
            own.size(),
            [&](std::size_t i) {
                context_.step("fields of neighbours", own[i].frame->frame - frames_.front().frame,
                              std::ssize(frames_));
            },
            [&](std::size_t i, FieldPairs& pairs) {
                links[i] = linked(own[i].before, *own[i].frame, pairs);
            });
        return links;
    }

    FieldLink linked(std::int64_t before, const FrameRegistration& frame, FieldPairs& pairs) {
        return found_or_kept({Work::neighbour_field, 0, before, 0, frame.frame}, [&] {
            FieldLink link = registered(pairs, before, frame.frame, {frame.from_before});
            link.head.result.ambiguous = frame.result.ambiguous;
            link.head.seconds += frame.seconds;
            return link;
        });
    }

    /// The operator ⊙ of the scan. Thread-safe if threads steal.
    FieldLink combined(const FieldLink& left, const FieldLink& right) {
        if (left.head.moved != right.head.reference)
            throw std::logic_error("fields to be combined are not adjacent");
        if (workers_.on_caller())
            context_.step("combine fields", right.head.moved - frames_.front().frame,
                          std::ssize(frames_));
        return workers_.applied(left.head.reference,
                                [&](FieldPairs& pairs) { return combined_on(pairs, left, right); });
    }

    FieldLink combined_on(FieldPairs& pairs, const FieldLink& left, const FieldLink& right) {
        const std::int64_t reference = left.head.reference, moved = right.head.moved;
        return found_or_kept({Work::combined_field, 0, reference, left.head.moved, moved}, [&] {
            const FieldStart start = start_at(composed(right.motion, left.motion), shape_);
            FieldLink link = registered(pairs, reference, moved, start);
            if (!trusted(link.head.result)) {
                link.motion = pairs.registration.as_spline(start);
                link.head.result.motion = link.motion.motion;
                link.head.result.unrelated = true;
            }
            link.head.result.ambiguous = left.head.result.ambiguous || right.head.result.ambiguous;
            link.head.seconds += right.head.seconds;
            return link;
        });
    }

    FieldLink registered(FieldPairs& pairs, std::int64_t reference, std::int64_t moved,
                         const FieldStart& start) {
        FieldLink link{{reference, moved, {}, 0}, {}};
        timed(link.head.seconds, [&] {
            pairs.source.read_frame(reference, pairs.reference);
            pairs.source.read_frame(moved, pairs.moved);
            link.motion = pairs.registration.find(view_of(pairs.reference, shape_),
                                                  view_of(pairs.moved, shape_), start);
        });
        const SplineFitReport& fit = pairs.registration.report();
        RigidResult& result = link.head.result;
        result.motion = link.motion.motion;
        result.ncc_before = fit.ncc_before;
        result.ncc_after = fit.ncc_after;
        result.overlap = fit.overlap;
        result.iterations = fit.steps;
        result.converged = true;
        const double seen = fit.overlap * static_cast<double>(shape_.elements());
        result.unrelated = !(fit.ncc_after > ncc_of_noise(seen, options_.nonrigid.prefilter));
        return link;
    }

    std::size_t index_of(std::int64_t frame) const {
        return static_cast<std::size_t>(frame - frames_.front().frame);
    }

    /// Stores the scan's results for this rank's frames. The first sound frame has no link.
    void take(std::vector<FieldLink> links) {
        for (FieldLink& link : links) {
            FrameRegistration& frame = frames_[index_of(link.head.moved)];
            frame.result = link.head.result;
            frame.seconds = link.head.seconds;
            frame.result.motion = nearest_rigid(link.motion, shape_);
            motions_[index_of(link.head.moved)] = std::move(link.motion);
        }
    }

    /// Changes the reference to frame n: φ_{n,i} = φ_{0,i}∘φ_{0,n}⁻¹. Frames that were unrelated to
    /// the first frame may be related to the new reference, so `unrelated` is reset; they are
    /// registered to the new reference later.
    void change_reference(std::int64_t reference) {
        const SplineMotion there = broadcast_motion(reference);
        for (std::size_t i = 0; i < frames_.size(); ++i) {
            if (!frames_[i].left_out.empty())
                continue;
            const Displacement back = [&](Point y) {
                return motions_[i](inverted(there, there.motion, centre(shape_), y));
            };
            motions_[i] = workers_.shared().registration.as_spline(start_at(back, shape_));
            frames_[i].result.motion = motions_[i].motion;
            constexpr double least_overlap = .1; // same limit as trusted()
            RigidResult& result = frames_[i].result;
            result.overlap = predicted_overlap(result.motion, shape_);
            result.unrelated = result.overlap < least_overlap;
        }
    }

    /// Broadcasts the motion of a frame from the rank that has the frame.
    SplineMotion broadcast_motion(std::int64_t frame) {
        std::vector<std::byte> own;
        agree(communicator_, [&] {
            const bool here =
                !frames_.empty() && frame >= frames_.front().frame && frame <= frames_.back().frame;
            if (!here)
                return;
            const std::size_t index = index_of(frame);
            if (!frames_[index].left_out.empty())
                throw InvalidData(fmt::format("{}: frame {} cannot be the reference: {}",
                                              source_.path(), frame, frames_[index].left_out));
            FieldLink link{{}, motions_[index]};
            link.head.result.motion = link.motion.motion;
            own = bytes_of(link);
        });
        return link_of(all_gather_lists(communicator_, own)).motion;
    }

    const SeriesContext& context_;
    const Communicator& communicator_;
    FrameSource& source_;
    const RegistrationOptions& options_;
    ImageShape shape_;
    Team team_;
    SeriesWorkers<FieldPairs> workers_;
    std::vector<FrameRegistration> frames_;
    std::vector<SplineMotion> motions_; ///< one per entry of frames_
};

} // namespace

FieldSeries register_series_by_fields(const SeriesContext& context, SeriesInspection inspection) {
    std::vector<FrameRegistration> frames = register_neighbours(context, std::move(inspection));
    const std::unique_ptr<FrameSource> inverted = of_one_contrast(context, frames);
    const SeriesContext to_scan = inverted ? with_source(context, *inverted) : context;
    std::optional<FieldScan> scan;
    agree(context.communicator, [&] { scan.emplace(to_scan, std::move(frames)); });
    return scan->run();
}

StartOf starts_from_motions(const FieldSeries& series, ImageShape shape) {
    return [&series, shape](const FrameRegistration& frame) {
        const auto index = static_cast<std::size_t>(frame.frame - series.frames.front().frame);
        return start_at(series.motions[index], shape);
    };
}

Bytes memory_of_scan(std::int64_t frames, ImageShape shape) {
    constexpr Bytes copies = 3;
    return copies * frames * most_bytes(shape);
}

} // namespace sextant::registration
