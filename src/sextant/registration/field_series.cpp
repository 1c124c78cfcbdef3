// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/field_series.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/registration/ledger.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// The registration of frame `moved` to frame `reference`, without the coefficients.
struct FieldHead {
    std::int64_t reference = 0, moved = 0;
    RigidResult result;
    Seconds seconds = 0; ///< time spent on registrations of `moved`
};

/// A value of the scan.
struct FieldLink {
    FieldHead head;
    SplineMotion motion;
};

std::vector<std::byte> bytes_of(const FieldLink& link) {
    const auto numbers = std::as_bytes(std::span(link.motion.coefficients));
    std::vector<std::byte> bytes(sizeof(FieldHead) + numbers.size());
    std::memcpy(bytes.data(), &link.head, sizeof(FieldHead));
    std::copy(numbers.begin(), numbers.end(), bytes.begin() + sizeof(FieldHead));
    return bytes;
}

/// Returns outer∘inner, which holds copies of both.
Displacement composed(const SplineMotion& outer, const SplineMotion& inner) {
    return [outer, inner](Point x) { return outer(inner(x)); };
}

class FieldScan {
  public:
    FieldScan(const SeriesContext& context, std::vector<FrameRegistration> frames)
        : context_(context),
          communicator_(context.communicator),
          source_(context.source),
          options_(context.options),
          shape_(source_.header().shape),
          team_(options_.threads),
          registration_(shape_, options_.nonrigid, &team_),
          reference_(static_cast<std::size_t>(shape_.elements())),
          moved_(reference_.size()),
          frames_(std::move(frames)),
          motions_(frames_.size(), SplineMotion{{}, {}, nullptr, centre(shape_)}) {}

    FieldSeries run() {
        const std::vector<std::int64_t> placed = gather_sound().frames;
        std::vector<FieldLink> neighbours;
        agree(communicator_, [&] { neighbours = linked_neighbours(placed); });
        const auto capacity =
            static_cast<Bytes>(sizeof(FieldHead) + most_coefficients(shape_) * sizeof(float));
        take(prefix::scan(
            communicator_, std::span<const FieldLink>(neighbours),
            [&](const FieldLink& left, const FieldLink& right) { return combined(left, right); },
            prefix::sized_slots<FieldLink>(
                capacity, bytes_of,
                [&](std::span<const std::byte> bytes) { return link_of(bytes); }),
            scan_options(options_)));
        place_others();
        if (options_.reference && !placed.empty() && placed.front() != *options_.reference)
            change_reference(*options_.reference);
        return {std::move(frames_), std::move(motions_)};
    }

  private:
    static bool is_sound(const FrameRegistration& frame) {
        return frame.left_out.empty() && frame.sound;
    }

    /// Gathers the frames that are links of the scan. Collective.
    Registered gather_sound() const {
        std::vector<FrameRegistration> sound;
        std::copy_if(frames_.begin(), frames_.end(), std::back_inserter(sound), is_sound);
        return gather_registered(communicator_, sound);
    }

    /// Gives the other frames the rigid motion found before the scan, composed with that of the
    /// sound frame that they were registered to. Collective.
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
                motions_[i] = registration_.as_spline({frame.result.motion});
            }
        });
    }

    FieldLink link_of(std::span<const std::byte> bytes) const {
        FieldLink link;
        std::memcpy(&link.head, bytes.data(), sizeof(FieldHead));
        const auto numbers = bytes.subspan(sizeof(FieldHead));
        link.motion = {link.head.result.motion, std::vector<float>(numbers.size() / sizeof(float)),
                       nullptr, centre(shape_)};
        link.motion.grid = registration_.grid_of(link.motion.coefficients.size());
        std::memcpy(link.motion.coefficients.data(), numbers.data(), numbers.size());
        return link;
    }

    /// True if `bytes` is a serialised link on one of the control grids for these frames.
    bool is_link(std::span<const std::byte> bytes) const {
        if (bytes.size() < sizeof(FieldHead) || (bytes.size() - sizeof(FieldHead)) % sizeof(float))
            return false;
        return registration_.grid_of((bytes.size() - sizeof(FieldHead)) / sizeof(float)) != nullptr;
    }

    /// Returns the ledger's entry if it is a link; otherwise computes the link and stores it.
    template <class Find>
    FieldLink found_or_kept(const EntryName& name, const Find& find) {
        const auto known = context_.ledger ? context_.ledger->find(name) : std::nullopt;
        if (known && is_link(*known))
            return link_of(*known);
        FieldLink link = find();
        if (context_.ledger)
            context_.ledger->keep(name, bytes_of(link));
        return link;
    }

    /// Registers each of this rank's frames to the previous placed frame.
    std::vector<FieldLink> linked_neighbours(const std::vector<std::int64_t>& placed) {
        std::vector<FieldLink> links;
        for (const FrameRegistration& frame : frames_) {
            const auto at = std::lower_bound(placed.begin(), placed.end(), frame.frame);
            if (!is_sound(frame) || at == placed.begin())
                continue;
            const std::int64_t before = *std::prev(at);
            context_.step("fields of neighbours", frame.frame - frames_.front().frame,
                          std::ssize(frames_));
            links.push_back(found_or_kept({Work::neighbour_field, 0, before, 0, frame.frame}, [&] {
                FieldLink link = registered(before, frame.frame, {frame.from_before});
                link.head.result.ambiguous = frame.result.ambiguous;
                link.head.seconds += frame.seconds;
                return link;
            }));
        }
        return links;
    }

    /// The operator ⊙ of the scan.
    FieldLink combined(const FieldLink& left, const FieldLink& right) {
        if (left.head.moved != right.head.reference)
            throw std::logic_error("fields to be combined are not adjacent");
        context_.step("combine fields", right.head.moved - frames_.front().frame,
                      std::ssize(frames_));
        const std::int64_t reference = left.head.reference, moved = right.head.moved;
        return found_or_kept({Work::combined_field, 0, reference, left.head.moved, moved}, [&] {
            const FieldStart start = start_at(composed(right.motion, left.motion), shape_);
            FieldLink link = registered(reference, moved, start);
            if (!trusted(link.head.result)) {
                link.motion = registration_.as_spline(start);
                link.head.result.motion = link.motion.motion;
                link.head.result.unrelated = true;
            }
            link.head.result.ambiguous = left.head.result.ambiguous || right.head.result.ambiguous;
            link.head.seconds += right.head.seconds;
            return link;
        });
    }

    FieldLink registered(std::int64_t reference, std::int64_t moved, const FieldStart& start) {
        const auto begin = std::chrono::steady_clock::now();
        source_.read_frame(reference, reference_);
        source_.read_frame(moved, moved_);
        FieldLink link{{reference, moved, {}, 0},
                       registration_.find(view(reference_), view(moved_), start)};
        const SplineFitReport& fit = registration_.report();
        RigidResult& result = link.head.result;
        result.motion = link.motion.motion;
        result.ncc_before = fit.ncc_before;
        result.ncc_after = fit.ncc_after;
        result.overlap = fit.overlap;
        result.iterations = fit.steps;
        result.converged = true;
        const double seen = fit.overlap * static_cast<double>(shape_.elements());
        result.unrelated = !(fit.ncc_after > ncc_of_noise(seen, options_.nonrigid.prefilter));
        link.head.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return link;
    }

    kernel::SampleView view(const std::vector<float>& samples) const {
        return {samples.data(), shape_.width, {0, 0, shape_.width, shape_.height}, shape_};
    }

    std::size_t index_of(std::int64_t frame) const {
        return static_cast<std::size_t>(frame - frames_.front().frame);
    }

    /// Stores the scan's results for this rank's frames; the first placed frame has no link.
    void take(std::vector<FieldLink> links) {
        for (FieldLink& link : links) {
            FrameRegistration& frame = frames_[index_of(link.head.moved)];
            frame.result = link.head.result;
            frame.seconds = link.head.seconds;
            frame.result.motion = nearest_rigid(link.motion, shape_);
            motions_[index_of(link.head.moved)] = std::move(link.motion);
        }
    }

    /// Changes the reference to frame n: φ_{n,i} = φ_{0,i}∘φ_{0,n}⁻¹.
    void change_reference(std::int64_t reference) {
        const SplineMotion there = broadcast_motion(reference);
        for (std::size_t i = 0; i < frames_.size(); ++i) {
            if (!frames_[i].left_out.empty())
                continue;
            const Displacement back = [&](Point y) {
                return motions_[i](inverted(there, there.motion, centre(shape_), y));
            };
            motions_[i] = registration_.as_spline(start_at(back, shape_));
            frames_[i].result.motion = motions_[i].motion;
        }
    }

    /// Broadcasts the motion of a frame from the rank that has it.
    SplineMotion broadcast_motion(std::int64_t frame) {
        std::vector<float> own;
        std::vector<RigidMotion> rigid;
        agree(communicator_, [&] {
            const bool here =
                !frames_.empty() && frame >= frames_.front().frame && frame <= frames_.back().frame;
            if (!here)
                return;
            if (!frames_[index_of(frame)].left_out.empty())
                throw InvalidTask(fmt::format("{}: frame {} cannot be the reference: {}",
                                              source_.path(), frame,
                                              frames_[index_of(frame)].left_out));
            own = motions_[index_of(frame)].coefficients;
            rigid.push_back(motions_[index_of(frame)].motion);
        });
        SplineMotion motion{{},
                            all_gather_lists(communicator_, std::span<const float>(own)),
                            nullptr,
                            centre(shape_)};
        motion.motion =
            all_gather_lists(communicator_, std::span<const RigidMotion>(rigid)).front();
        motion.grid = registration_.grid_of(motion.coefficients.size());
        return motion;
    }

    const SeriesContext& context_;
    const Communicator& communicator_;
    FrameSource& source_;
    const RegistrationOptions& options_;
    ImageShape shape_;
    Team team_;
    NonrigidRegistration registration_;
    std::vector<float> reference_, moved_; ///< samples of the current pair
    std::vector<FrameRegistration> frames_;
    std::vector<SplineMotion> motions_; ///< one per entry of frames_
};

} // namespace

FieldSeries register_series_by_fields(const SeriesContext& context, SeriesInspection inspection) {
    std::vector<FrameRegistration> frames = register_neighbours(context, std::move(inspection));
    std::optional<FieldScan> scan;
    agree(context.communicator, [&] { scan.emplace(context, std::move(frames)); });
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
    return copies * frames *
           static_cast<Bytes>(sizeof(FieldHead) + most_coefficients(shape) * sizeof(float));
}

} // namespace sextant::registration
