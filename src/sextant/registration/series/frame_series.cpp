// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/frame_series.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/equal_range.hpp"
#include "sextant/core/error.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/registration/correct/corrected_frames.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/series/consensus.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/pair_reader.hpp"
#include "sextant/registration/series/series_workers.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// The registration of frame `moved` to frame `reference`: an element of the scan.
struct Link {
    std::int64_t reference = 0, moved = 0;
    RigidResult result;
    Seconds seconds = 0; ///< time spent on registrations of `moved`
};

/// Returns the result of registering a frame to itself.
RigidResult identity_result() {
    RigidResult result;
    result.ncc_before = result.ncc_after = result.overlap = 1;
    result.converged = true;
    return result;
}

/// A frame with an unclear position is also registered to more distant sound frames: up to this
/// many frames farther than `farthest`.
constexpr int farther = 3;

/// Registers one rank's frames of a series.
class Registering {
  public:
    Registering(const SeriesContext& context, SeriesInspection inspection)
        : context_(context),
          communicator_(context.communicator),
          source_(context.source),
          options_(context.options),
          usable_(std::move(inspection.usable)),
          frames_(std::move(inspection.frames)),
          statistics_(std::move(inspection.statistics)),
          block_(block_of(communicator_.rank(), communicator_.size(),
                          static_cast<std::int64_t>(statistics_.size()))),
          team_(std::move(inspection.team)),
          reference_(context.options.reference) {}

    std::vector<FrameRegistration> run() {
        if (usable_.size() > 2)
            finest_ = context_.cache->finest();
        const std::vector<Link> neighbours = linked_neighbours();
        plan_segments();
        take(scanned(neighbours));
        register_others();
        if (has_segments())
            join_segments();
        else
            register_to_reference();
        if (placed_.size() == 2)
            register_pair();
        return finished();
    }

    std::vector<FrameRegistration> neighbours() {
        take(linked_neighbours());
        take(others_);
        return finished();
    }

  private:
    std::vector<FrameRegistration> finished() {
        workers_->note_use();
        context_.cache->clear();
        return std::move(frames_);
    }

    std::vector<Link> linked_neighbours() {
        agree(communicator_, [&] {
            if (!team_)
                team_ = std::make_shared<Team>(options_.threads);
            workers_.emplace(context_);
            make_readers(options_.contrast == ContrastSearch::automatic);
            link();
        });
        invert_frames();
        vote();
        if (std::any_of(votes_.begin(), votes_.end(),
                        [&](const FrameVote& vote) { return needs_more(vote); })) {
            agree(communicator_, [&] { link_farther(); });
            vote();
        }
        take_votes();
        forget_lost_reference();
        compare_contrasts();
        std::vector<Link> neighbours;
        agree(communicator_, [&] {
            neighbours = chain();
            link_others();
        });
        for (const std::vector<Link>* links :
             {&std::as_const(neighbours), &std::as_const(others_)}) {
            for (const Link& link : *links)
                frame_at(link.moved).from_before = link.result.motion;
        }
        return neighbours;
    }

    FrameRegistration& frame_at(std::int64_t frame) {
        return frames_[static_cast<std::size_t>(frame - block_.first)];
    }

    /// Creates the readers. With `inverts`, pairs may have opposite contrast. Frames with a level
    /// in `levels` (not NaN) are inverted.
    void make_readers(bool inverts) {
        RigidOptions options = options_.rigid;
        options.inverts = inverts;
        const auto cache = mirrored_at_.empty() && finest_ == context_.cache->finest()
                               ? context_.cache
                               : context_.cache->another(finest_);
        workers_->create([&](FrameSource& recorded, bool shares_rows) {
            FrameSource* source = &recorded;
            if (!mirrored_at_.empty())
                source = inverted_
                             .emplace_back(std::make_unique<ChangedFrames>(
                                 recorded, mirrored_at(mirrored_at_)))
                             .get();
            return std::make_unique<PairReader>(*source, options, options_.prefilter, cache,
                                                shares_rows ? &*team_ : nullptr);
        });
    }

    /// Calls body(i, reader) for each i below `items`. frame_of(i) is the frame to name in progress
    /// reports.
    template <class FrameOf, class Body>
    void for_each(std::string_view part, std::size_t items, const FrameOf& frame_of,
                  const Body& body) {
        workers_->for_each(
            items,
            [&](std::size_t item) {
                context_.step(part, frame_of(item) - block_.first, block_.count());
            },
            body);
    }

    /// Registers each of this rank's frames to at most `farthest` frames before it.
    void link() {
        std::vector<std::size_t> own;
        for (std::size_t moved = 1; moved < usable_.size(); ++moved) {
            if (block_.has(usable_[moved]))
                own.push_back(moved);
        }
        std::vector<std::vector<Link>> links(own.size());
        for_each(
            "register neighbours", own.size(), [&](std::size_t i) { return usable_[own[i]]; },
            [&](std::size_t i, PairReader& reader) { links[i] = links_of(own[i], reader); });
        for (std::size_t i = 0; i < own.size(); ++i) {
            std::size_t back = links[i].size();
            for (const Link& link : links[i]) {
                links_.push_back(link);
                let_vote(own[i] - back--, own[i], link.result);
            }
        }
    }

    void let_vote(std::size_t before, std::size_t moved, const RigidResult& result) {
        seen_.push_back({before, moved, result.motion, trusted(result),
                         std::min(result.lead.value_or(0), most_lead), result.inverted});
    }

    /// Decides which frames have the opposite contrast of the first frame and inverts them. Pairs
    /// that were registered with the wrong relative contrast are registered again.
    void invert_frames() {
        const bool any = std::any_of(seen_.begin(), seen_.end(), [](const LinkSeen& link) {
            return link.trusted && link.inverted;
        });
        const std::vector<int> ranks = communicator_.all_gather(int{any});
        if (std::count(ranks.begin(), ranks.end(), 1) == 0)
            return;
        frame_is_inverted_ = inverted_frames(
            usable_.size(), all_gather_lists(communicator_, std::span<const LinkSeen>(seen_)));
        agree(communicator_, [&] {
            mirrored_at_.assign(statistics_.size(), std::numeric_limits<double>::quiet_NaN());
            for (std::size_t i = 0; i < usable_.size(); ++i) {
                const auto frame = static_cast<std::size_t>(usable_[i]);
                if (frame_is_inverted_[i] != 0)
                    mirrored_at_[frame] = statistics_[frame].mean - context_.offset;
            }
            make_readers(false);
            link_again();
        });
    }

    /// Registers pairs again if their relative contrast was changed by the vote.
    void link_again() {
        std::vector<Link> links = std::move(links_);
        const std::vector<LinkSeen> seen = std::move(seen_);
        links_.clear();
        seen_.clear();
        std::vector<std::size_t> wrong;
        for (std::size_t i = 0; i < links.size(); ++i) {
            const bool opposite =
                frame_is_inverted_[seen[i].reference] != frame_is_inverted_[seen[i].moved];
            if (opposite != links[i].result.inverted)
                wrong.push_back(i);
            links[i].result.inverted = false;
        }
        for_each(
            "register neighbours again", wrong.size(),
            [&](std::size_t i) { return links[wrong[i]].moved; },
            [&](std::size_t i, PairReader& reader) {
                const LinkSeen& pair = seen[wrong[i]];
                links[wrong[i]] = linked(pair.reference, pair.moved, reader);
            });
        for (std::size_t i = 0; i < links.size(); ++i) {
            links_.push_back(links[i]);
            let_vote(seen[i].reference, seen[i].moved, links[i].result);
        }
    }

    /// Registers two frames, given by their indices in usable_, and adds the result to the vote.
    Link link(std::size_t before, std::size_t moved) {
        const Link found = linked(before, moved, workers_->shared());
        let_vote(before, moved, found.result);
        return found;
    }

    /// Registers two frames. Motions between frames that are not neighbours are used only in the
    /// vote, so they need not be exact.
    Link linked(std::size_t before, std::size_t moved, PairReader& reader) {
        const std::int64_t reference = usable_[before], frame = usable_[moved];
        const std::uint32_t pass = frame_is_inverted_.empty() ? 0 : 1;
        const TimedResult timed =
            timed_result(context_.ledger, {Work::link, pass, reference, 0, frame}, [&] {
                return is_exact(before, moved) ? reader.align(reference, frame)
                                               : reader.locate(reference, frame);
            });
        return {reference, frame, timed.result, timed.seconds};
    }

    static bool is_exact(std::size_t before, std::size_t moved) { return moved == before + 1; }

    bool is_clear(double lead) const { return lead >= options_.rigid.least_lead; }

    /// True if the links to the nearest frames do not determine the position of a frame.
    bool needs_more(const FrameVote& vote) const {
        return !vote.position || !is_clear(vote.lead) || !is_clear(vote.lead_across);
    }

    /// Registers this rank's frames with unclear positions to more distant sound frames on both
    /// sides.
    void link_farther() {
        std::vector<Link> more;
        for (std::size_t frame = 0; frame < usable_.size(); ++frame) {
            if (!block_.has(usable_[frame]))
                continue;
            const bool next_needs =
                frame + 1 < votes_.size() && !is_clear(votes_[frame + 1].lead_across);
            if (!needs_more(votes_[frame]) && !next_needs)
                continue;
            context_.step("register distant frames", usable_[frame] - block_.first, block_.count());
            for (const std::size_t other : sound_around(frame)) {
                const auto [before, moved] = std::minmax(frame, other);
                const Link found = link(before, moved);
                if (moved == frame)
                    more.push_back(found);
            }
        }
        links_.insert(links_.end(), more.begin(), more.end());
        std::ranges::stable_sort(links_, {}, &Link::moved);
    }

    /// Returns the sound frames near a frame that it has not been registered to: among the
    /// `farthest` + 3 nearest sound frames on each side.
    std::vector<std::size_t> sound_around(std::size_t frame) const {
        const auto farthest = static_cast<std::size_t>(options_.farthest);
        const std::size_t most = farthest + farther;
        std::vector<std::size_t> around;
        const auto consider = [&](std::size_t other, std::size_t& found) {
            if (!votes_[other].sound)
                return;
            ++found;
            if (std::max(frame, other) - std::min(frame, other) > farthest)
                around.push_back(other);
        };
        for (std::size_t found = 0, other = frame; other > 0 && found < most; --other)
            consider(other - 1, found);
        for (std::size_t found = 0, other = frame + 1; other < usable_.size() && found < most;
             ++other)
            consider(other, found);
        return around;
    }

    /// Registers a frame to up to `farthest` frames before it, starting with the farthest.
    std::vector<Link> links_of(std::size_t moved, PairReader& reader) {
        std::vector<Link> links;
        for (std::size_t back = std::min(static_cast<std::size_t>(options_.farthest), moved);
             back >= 1; --back) {
            links.push_back(linked(moved - back, moved, reader));
        }
        return links;
    }

    /// Determines the positions of the frames by vote, with the same result on all ranks.
    void vote() {
        std::vector<LinkSeen> all =
            all_gather_lists(communicator_, std::span<const LinkSeen>(seen_));
        // Remove duplicates: two ranks may have registered the same pair.
        const auto ends = [](const LinkSeen& link) {
            return std::pair(link.moved, link.reference);
        };
        std::ranges::stable_sort(all, {}, ends);
        const auto same = [&](const LinkSeen& a, const LinkSeen& b) { return ends(a) == ends(b); };
        all.erase(std::unique(all.begin(), all.end(), same), all.end());
        votes_ = consensus(usable_.size(), all, source_.header().shape, options_.tolerance,
                           options_.rigid.least_lead);
        trusted_links_.assign(usable_.size(), 0);
        for (const LinkSeen& one : all) {
            trusted_links_[one.reference] += one.trusted;
            trusted_links_[one.moved] += one.trusted;
        }
    }

    /// Marks this rank's frames according to the vote.
    void take_votes() {
        for (std::size_t i = 0; i < usable_.size(); ++i) {
            if (votes_[i].sound)
                placed_.push_back(i);
            if (!block_.has(usable_[i]))
                continue;
            if (!votes_[i].position)
                frame_at(usable_[i]).leave_out(Omission::unlike, why_unplaced(i));
            frame_at(usable_[i]).in_doubt = votes_[i].in_doubt;
            frame_at(usable_[i]).sound = votes_[i].sound;
        }
    }

    /// Ignores the requested reference if it has no position and most other frames have none
    /// either: then the frames are too weak to be registered to one another.
    void forget_lost_reference() {
        const auto is_reference = [&](std::size_t i) { return usable_[i] == *reference_; };
        if (reference_ && 2 * placed_.size() < usable_.size() &&
            std::ranges::none_of(placed_, is_reference))
            reference_.reset();
    }

    /// Estimates the levels and contrasts of the frames from the links that agree with the vote.
    void compare_contrasts() {
        const auto index_of = [&](std::int64_t frame) {
            return static_cast<std::size_t>(std::ranges::lower_bound(usable_, frame) -
                                            usable_.begin());
        };
        std::vector<ContrastLink> own;
        for (const Link& link : links_) {
            const std::size_t reference = index_of(link.reference), moved = index_of(link.moved);
            const auto &from = votes_[reference].position, &to = votes_[moved].position;
            if (trusted(link.result) && from && to &&
                rms_distance(link.result.motion, compose(*to, inverse(*from)),
                             source_.header().shape) <= options_.tolerance)
                own.push_back({reference, moved, link.result.ncc_after});
        }
        std::vector<double> deviations;
        for (const std::int64_t frame : usable_)
            deviations.push_back(statistics_[static_cast<std::size_t>(frame)].deviation);
        const std::vector<FrameContrast> contrasts = contrasts_of(
            deviations, all_gather_lists(communicator_, std::span<const ContrastLink>(own)));
        for (std::size_t i = 0; i < usable_.size(); ++i) {
            if (!block_.has(usable_[i]))
                continue;
            FrameContrast& contrast = frame_at(usable_[i]).contrast;
            contrast = contrasts[i];
            if (!frame_is_inverted_.empty() && frame_is_inverted_[i] != 0)
                contrast.signal = -contrast.signal;
            contrast.level = statistics_[static_cast<std::size_t>(usable_[i])].mean;
        }
    }

    std::string why_unplaced(std::size_t frame) const {
        if (trusted_links_[frame] > 0)
            return "this frame resembles only frames that resemble none of the others";
        return fmt::format("no frame within {} frames before and after resembles this frame",
                           options_.farthest + farther);
    }

    /// Returns, for each of this rank's sound frames, the link to the previous sound frame.
    std::vector<Link> chain() {
        std::vector<Link> neighbours;
        for (std::size_t i = 1; i < placed_.size(); ++i) {
            if (block_.has(usable_[placed_[i]]))
                neighbours.push_back(link_to_previous(placed_[i - 1], placed_[i],
                                                      !is_clear(votes_[placed_[i]].lead_across)));
        }
        return neighbours;
    }

    /// Returns the existing registration if it agrees with the vote; otherwise registers the frames
    /// again, starting at the voted motion.
    Link link_to_previous(std::size_t before, std::size_t moved, bool ambiguous) {
        const std::int64_t reference = usable_[before], frame = usable_[moved];
        RigidMotion expected = compose(*votes_[moved].position, inverse(*votes_[before].position));
        Seconds spent = 0;
        const Link* found = nullptr;
        for (const Link& link : equal_range(links_, frame, &Link::moved)) {
            spent += link.seconds;
            if (link.reference == reference &&
                rms_distance(link.result.motion, expected, source_.header().shape) <=
                    options_.tolerance)
                found = &link;
        }
        if (found && trusted(found->result)) {
            if (is_exact(before, moved)) {
                Link link{reference, frame, found->result, spent};
                link.result.ambiguous = ambiguous;
                return link;
            }
            expected = found->result.motion;
        } else {
            frame_at(frame).mended = true;
        }
        const TimedResult timed =
            timed_result(context_.ledger, {Work::mended, 0, reference, 0, frame},
                         [&] { return workers_->shared().refine(reference, frame, expected); });
        Link link{reference, frame, timed.result, spent + timed.seconds};
        link.result.ambiguous = ambiguous;
        return link;
    }

    /// Registers this rank's frames that have a position but are not sound. Each is registered to
    /// the last sound frame before it; if there is none, to the first sound frame.
    void link_others() {
        for (std::size_t i = 0; i < usable_.size(); ++i) {
            if (!block_.has(usable_[i]) || !votes_[i].position || votes_[i].sound)
                continue;
            const auto after = std::upper_bound(placed_.begin(), placed_.end(), i);
            const std::size_t sound = after == placed_.begin() ? *after : *std::prev(after);
            others_.push_back(link_to_previous(sound, i, true));
        }
    }

    /// Divides the sound frames into segments. Each frame of a segment overlaps the segment's base
    /// enough to be registered to it. If there are several segments and no reference is requested,
    /// the frame in the middle of the motion becomes the reference.
    void plan_segments() {
        const ImageShape shape = source_.header().shape;
        std::vector<RigidMotion> positions;
        for (const std::size_t i : placed_)
            positions.push_back(*votes_[i].position);
        bases_ = bases_of(positions, shape);
        if (has_segments() && !reference_)
            reference_ = usable_[placed_[middle_of(positions, shape)]];
    }

    bool has_segments() const { return !bases_.empty() && bases_.back() > 0; }

    /// Returns the index in placed_ of the last sound frame that is not after `frame`; 0 if there
    /// is none.
    std::size_t sound_before(std::int64_t frame) const {
        const auto after = std::ranges::upper_bound(placed_, frame, {},
                                                    [this](std::size_t i) { return usable_[i]; });
        return after == placed_.begin() ? 0 : static_cast<std::size_t>(after - placed_.begin()) - 1;
    }

    /// Returns the frame that the scan registers a frame to. A frame that is not sound belongs to
    /// the segment of the frames after it.
    std::int64_t base_of(std::int64_t frame) const {
        const std::size_t sound = sound_before(frame);
        const bool is_sound = usable_[placed_[sound]] == frame;
        const bool is_base = std::ranges::binary_search(bases_, sound);
        return usable_[placed_[!is_sound && is_base ? sound : bases_[sound]]];
    }

    /// Registers the frames of link_others() to the bases of their segments. Collective.
    void register_others() {
        struct Placed {
            std::int64_t frame;
            RigidResult result;
        };
        std::vector<Placed> own;
        for (const std::size_t i : placed_) {
            if (block_.has(usable_[i]))
                own.push_back({usable_[i], frame_at(usable_[i]).result});
        }
        const std::vector<Placed> all =
            all_gather_lists(communicator_, std::span<const Placed>(own));
        agree(communicator_, [&] {
            for (const Link& link : others_) {
                const auto sound =
                    std::ranges::lower_bound(all, link.reference, {}, &Placed::frame);
                const Link first{base_of(sound->frame), sound->frame, sound->result, 0};
                const Link whole = combined(first, link);
                frame_at(link.moved).result = whole.result;
                frame_at(link.moved).seconds = whole.seconds;
            }
        });
    }

    /// Scans the motions of neighbours.
    std::vector<Link> scanned(const std::vector<Link>& neighbours) {
        return workers_->scanned(
            neighbours, prefix::plain_slots<Link>(), false,
            [&](const Link& left, const Link& right) { return combined(left, right); });
    }

    /// The operator ⊙ of the scan. Thread-safe if threads take whole frames. A right operand that
    /// already starts at the base of its segment is returned unchanged.
    Link combined(const Link& left, const Link& right) {
        if (right.reference == base_of(right.moved))
            return right;
        if (left.moved != right.reference)
            throw std::logic_error("motions to be combined are not adjacent");
        if (workers_->on_caller())
            context_.step("combine", right.moved - block_.first, block_.count());
        const RigidMotion start = compose(right.result.motion, left.result.motion);
        const TimedResult timed = workers_->applied(left.reference, [&](PairReader& reader) {
            return timed_result(context_.ledger,
                                {Work::combined, 0, left.reference, left.moved, right.moved},
                                [&] { return reader.refine(left.reference, right.moved, start); });
        });
        Link link{left.reference, right.moved, {}, right.seconds + timed.seconds};
        link.result =
            refined_from(start, timed.result, left.result.ambiguous || right.result.ambiguous);
        return link;
    }

    /// Stores the results of this rank's frames.
    void take(const std::vector<Link>& links) {
        if (!placed_.empty() && block_.has(usable_[placed_.front()]))
            frame_at(usable_[placed_.front()]).result = identity_result();
        for (const Link& link : links) {
            frame_at(link.moved).result = link.result;
            frame_at(link.moved).seconds = link.seconds;
        }
    }

    /// A motion of a frame relative to the base of its segment.
    struct OfBase {
        std::int64_t frame = 0, base = 0;
        UncertainMotion motion;
    };

    /// Returns a frame's motion relative to its base; if the registration failed, the motion that
    /// the vote implies.
    OfBase of_base(const FrameRegistration& one) const {
        const std::int64_t base = base_of(one.frame);
        if (!one.result.unrelated)
            return {one.frame, base, {one.result.motion, one.result.uncertainty.covariance}};
        const RigidMotion expected = compose(position_of(one.frame), inverse(position_of(base)));
        return {one.frame, base, {expected, unknown_covariance}};
    }

    const RigidMotion& position_of(std::int64_t frame) const {
        const auto index = std::ranges::lower_bound(usable_, frame) - usable_.begin();
        return *votes_[static_cast<std::size_t>(index)].position;
    }

    /// Composes the motions across segments, then registers each frame to the reference if the two
    /// overlap enough. Collective.
    void join_segments() {
        const std::int64_t reference = *reference_;
        agree(communicator_, [&] { check_reference(reference); });
        std::vector<OfBase> own;
        for (const FrameRegistration& one : frames_) {
            const std::size_t sound = sound_before(one.frame);
            const bool is_base =
                usable_[placed_[sound]] == one.frame && std::ranges::binary_search(bases_, sound);
            if (one.frame == reference || is_base)
                own.push_back(of_base(one));
        }
        const std::vector<UncertainMotion> bases =
            motions_of_bases(all_gather_lists(communicator_, std::span<const OfBase>(own)),
                             reference, base_frames());
        agree(communicator_, [&] {
            place_by_segments(bases, reference);
            for_each(
                "register to the reference", frames_.size(),
                [&](std::size_t i) { return frames_[i].frame; },
                [&](std::size_t i, PairReader& reader) {
                    FrameRegistration& one = frames_[i];
                    if (!one.left_out.empty())
                        return;
                    if (predicted_overlap(one.result.motion, source_.header().shape) >=
                        direct_overlap)
                        register_to(one, reference, {}, reader);
                    else if (one.result.unrelated)
                        register_to_other_base(one, bases, reader);
                });
        });
    }

    /// Tries to register a frame to other bases after its registration to its own base failed. The
    /// base with the largest overlap comes first.
    void register_to_other_base(FrameRegistration& one, const std::vector<UncertainMotion>& bases,
                                PairReader& reader) {
        struct Choice {
            double overlap;
            std::int64_t frame;
            const UncertainMotion* motion;
        };
        constexpr double least_overlap = .2;
        constexpr std::ptrdiff_t most = 4;
        const std::vector<std::int64_t> numbers = base_frames();
        std::vector<Choice> choices;
        for (std::size_t i = 0; i < bases.size(); ++i) {
            const double overlap = predicted_overlap(
                compose(one.result.motion, inverse(bases[i].motion)), source_.header().shape);
            if (numbers[i] != one.frame && overlap >= least_overlap)
                choices.push_back({overlap, numbers[i], &bases[i]});
        }
        std::ranges::stable_sort(choices, std::greater<>(), &Choice::overlap);
        choices.resize(static_cast<std::size_t>(std::min(most, std::ssize(choices))));
        for (const Choice& base : choices) {
            const RigidMotion start = compose(one.result.motion, inverse(base.motion->motion));
            const TimedResult timed =
                timed_result(context_.ledger, {Work::to_reference, 1, base.frame, 0, one.frame},
                             [&] { return reader.refine(base.frame, one.frame, start); });
            one.seconds += timed.seconds;
            if (!trusted(timed.result))
                continue;
            const bool ambiguous = one.result.ambiguous;
            const UncertainMotion motion =
                compose(UncertainMotion{timed.result.motion, timed.result.uncertainty.covariance},
                        *base.motion);
            one.result = timed.result;
            one.result.ambiguous = ambiguous;
            one.result.motion = motion.motion;
            one.result.uncertainty = uncertainty_with(motion.covariance);
            return;
        }
    }

    /// Returns the frame numbers of the bases, in order.
    std::vector<std::int64_t> base_frames() const {
        std::vector<std::int64_t> bases;
        for (const std::size_t base : bases_) {
            if (bases.empty() || usable_[placed_[base]] != bases.back())
                bases.push_back(usable_[placed_[base]]);
        }
        return bases;
    }

    /// Returns the motions of the bases relative to the reference, in the order of the bases.
    ///
    /// Input     the motions of the bases and the reference relative to their bases; the bases.
    static std::vector<UncertainMotion> motions_of_bases(const std::vector<OfBase>& known,
                                                         std::int64_t reference,
                                                         const std::vector<std::int64_t>& bases) {
        std::vector<OfBase> chain = known; // the first base is its own base
        const auto found = std::ranges::lower_bound(known, reference, {}, &OfBase::frame);
        const OfBase of_reference = *found;
        const bool is_base = std::ranges::binary_search(bases, reference);
        if (!is_base)
            chain.erase(chain.begin() + (found - known.begin()));
        const std::int64_t begin = is_base ? reference : of_reference.base;
        const auto at = static_cast<std::size_t>(
            std::ranges::lower_bound(chain, begin, {}, &OfBase::frame) - chain.begin());
        std::vector<UncertainMotion> motions(chain.size());
        if (!is_base)
            motions[at] = inverse(of_reference.motion);
        for (std::size_t i = at + 1; i < chain.size(); ++i)
            motions[i] = compose(chain[i].motion, motions[i - 1]);
        for (std::size_t i = at; i > 0; --i)
            motions[i - 1] = compose(inverse(chain[i].motion), motions[i]);
        return motions;
    }

    /// Sets the motions of this rank's frames relative to the reference. A frame is ambiguous if
    /// any motion between adjacent groups of frames on the way to the reference is unclear.
    void place_by_segments(const std::vector<UncertainMotion>& motions, std::int64_t reference) {
        const std::vector<std::int64_t> bases = base_frames();
        // Number of unclear motions up to each sound frame.
        std::vector<std::size_t> unclear(placed_.size());
        for (std::size_t i = 1; i < placed_.size(); ++i)
            unclear[i] = unclear[i - 1] + !is_clear(votes_[placed_[i]].lead_across);
        const std::size_t of_reference = unclear[sound_before(reference)];
        for (FrameRegistration& one : frames_) {
            if (!one.left_out.empty())
                continue;
            if (one.frame == reference) {
                one.result = identity_result();
                continue;
            }
            const OfBase own = of_base(one);
            const auto base =
                static_cast<std::size_t>(std::ranges::lower_bound(bases, own.base) - bases.begin());
            const UncertainMotion motion = compose(own.motion, motions[base]);
            one.result.motion = motion.motion;
            one.result.uncertainty = uncertainty_with(motion.covariance);
            one.result.ambiguous = !one.sound || unclear[sound_before(one.frame)] != of_reference;
        }
    }

    void register_to_reference() {
        if (!reference_)
            return;
        const std::int64_t reference = *reference_;
        agree(communicator_, [&] { check_reference(reference); });
        RigidMotion own;
        if (block_.has(reference))
            own = frame_at(reference).result.motion;
        int holder = 0; // rank that has the reference
        while (!block_of(holder, communicator_.size(), source_.header().frames).has(reference))
            ++holder;
        const RigidMotion there = communicator_.all_gather(own)[static_cast<std::size_t>(holder)];
        if (usable_[placed_.front()] == reference)
            return;
        agree(communicator_, [&] {
            for_each(
                "register to the reference", frames_.size(),
                [&](std::size_t i) { return frames_[i].frame; },
                [&](std::size_t i, PairReader& reader) {
                    if (frames_[i].left_out.empty())
                        register_to(frames_[i], reference, there, reader);
                });
        });
    }

    /// Registers the only two sound frames on the finest level, because no stage will. Collective.
    void register_pair() {
        agree(communicator_, [&] {
            if (std::exchange(finest_, 0) == 0)
                return;
            make_readers(false);
            const std::int64_t reference = reference_.value_or(usable_[placed_.front()]);
            for (const std::size_t i : placed_) {
                if (block_.has(usable_[i]))
                    register_to(frame_at(usable_[i]), reference, {}, workers_->shared(), 2);
            }
        });
    }

    void check_reference(std::int64_t reference) {
        if (block_.has(reference))
            require_reference(context_, frame_at(reference));
    }

    /// `pass`: makes the names of results in the ledger distinct.
    void register_to(FrameRegistration& one, std::int64_t reference, const RigidMotion& there,
                     PairReader& reader, std::uint32_t pass = 0) {
        if (one.frame == reference) {
            one.result = identity_result();
            return;
        }
        const RigidMotion start = compose(one.result.motion, inverse(there));
        const TimedResult timed =
            timed_result(context_.ledger, {Work::to_reference, pass, reference, 0, one.frame},
                         [&] { return reader.refine(reference, one.frame, start); });
        one.result = refined_from(start, timed.result, one.result.ambiguous);
        one.seconds += timed.seconds;
    }

    const SeriesContext& context_;
    const Communicator& communicator_;
    FrameSource& source_;
    const RegistrationOptions& options_;
    const std::vector<std::int64_t> usable_; ///< frames that the inspection did not leave out
    std::vector<FrameRegistration> frames_;
    const std::vector<FrameStatistics> statistics_; ///< statistics of all frames
    const Block block_;
    std::shared_ptr<Team> team_;
    std::vector<std::uint8_t> frame_is_inverted_; ///< one per frame of usable_; empty if none is
    /// By frame, the level at which an inverted frame is mirrored, otherwise NaN; empty if none is.
    std::vector<double> mirrored_at_;
    /// Sources of the readers, if any frame is inverted.
    std::vector<std::unique_ptr<ChangedFrames>> inverted_;
    std::optional<SeriesWorkers<PairReader>> workers_;
    std::vector<Link> links_;         ///< this rank's links to nearby frames, ordered by `moved`
    std::vector<LinkSeen> seen_;      ///< links_ in the form that the vote uses
    std::vector<FrameVote> votes_;    ///< one per frame of usable_
    std::vector<int> trusted_links_;  ///< number of trusted links, by frame of usable_
    std::vector<std::size_t> placed_; ///< indices into usable_ of the sound frames
    /// For each sound frame, the index in placed_ of the base of its segment.
    std::vector<std::size_t> bases_;
    std::optional<std::int64_t> reference_; ///< empty: the first sound frame
    int finest_ = 0;                        ///< finest level of links and of the scan
    std::vector<Link> others_; ///< links from sound frames to this rank's frames that are not sound
};

} // namespace

void require_reference(const SeriesContext& context, const FrameRegistration& reference) {
    if (!reference.left_out.empty())
        throw InvalidData(fmt::format("{}: frame {} cannot be the reference: {}",
                                      context.source.path(), reference.frame, reference.left_out));
}

std::vector<FrameRegistration> register_series(const SeriesContext& context,
                                               SeriesInspection inspection) {
    return Registering(context, std::move(inspection)).run();
}

std::vector<FrameRegistration> register_neighbours(const SeriesContext& context,
                                                   SeriesInspection inspection) {
    return Registering(context, std::move(inspection)).neighbours();
}

std::unique_ptr<FrameSource> of_one_contrast(const SeriesContext& context,
                                             std::span<const FrameRegistration> own) {
    struct Inverted {
        std::int64_t frame;
        double level;
    };
    std::vector<Inverted> inverted;
    for (const FrameRegistration& frame : own) {
        if (frame.contrast.inverted())
            inverted.push_back({frame.frame, frame.contrast.level - context.offset});
    }
    const std::vector<Inverted> all =
        all_gather_lists(context.communicator, std::span<const Inverted>(inverted));
    if (all.empty())
        return nullptr;
    std::vector<double> levels(static_cast<std::size_t>(context.source.header().frames),
                               std::numeric_limits<double>::quiet_NaN());
    for (const Inverted& one : all)
        levels[static_cast<std::size_t>(one.frame)] = one.level;
    return std::make_unique<ChangedFrames>(context.source, mirrored_at(std::move(levels)));
}

} // namespace sextant::registration
