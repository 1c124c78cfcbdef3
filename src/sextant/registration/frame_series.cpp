// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/frame_series.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/error.hpp"
#include "sextant/prefix/scan.hpp"
#include "sextant/registration/consensus.hpp"
#include "sextant/registration/ledger.hpp"
#include "sextant/registration/pair_reader.hpp"
#include "sextant/registration/partition.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// The registration of frame `moved` to frame `reference`: a value of the scan.
struct Link {
    std::int64_t reference = 0, moved = 0;
    RigidResult result;
    Seconds seconds = 0; ///< spent on registrations of `moved`
};

/// The result of a frame registered to itself.
RigidResult itself() {
    RigidResult result;
    result.ncc_before = result.ncc_after = result.overlap = 1;
    result.converged = true;
    return result;
}

/// Registers a series, on one rank.
class Registering {
  public:
    Registering(const Communicator& communicator, FrameSource& source, SeriesLook look,
                const SeriesOptions& options, const SeriesHooks& hooks)
        : communicator_(communicator),
          source_(source),
          options_(options),
          hooks_(hooks),
          fit_(std::move(look.fit)),
          places_(std::move(look.mine)),
          share_(share_of(communicator.rank(), communicator.size(),
                          static_cast<std::int64_t>(look.frames.size()))) {}

    std::vector<FramePlace> run() {
        const std::vector<Link> neighbours = found_neighbours();
        take(prefix::scan(
            communicator_, std::span<const Link>(neighbours),
            [&](const Link& left, const Link& right) { return combined(left, right); },
            options_.scan));
        turn_to_reference();
        return std::move(places_);
    }

    std::vector<FramePlace> neighbours() {
        take(found_neighbours());
        return std::move(places_);
    }

  private:
    std::vector<Link> found_neighbours() {
        agree(communicator_, [&] {
            check();
            team_.emplace(options_.threads);
            reader_.emplace(source_, options_.rigid, options_.prefilter,
                            std::max(2, options_.farthest + 1), &*team_);
            link();
        });
        vote();
        std::vector<Link> neighbours;
        agree(communicator_, [&] { neighbours = chain(); });
        for (const Link& link : neighbours)
            place(link.moved).from_before = link.result.motion;
        return neighbours;
    }

    void check() const {
        if (options_.scan.threads != 1)
            throw InvalidTask(fmt::format("a series is registered on one thread a rank, not on {}",
                                          options_.scan.threads));
        if (options_.farthest < 1)
            throw InvalidTask(fmt::format("frames registered to {} before them, expected 1 or more",
                                          options_.farthest));
    }

    FramePlace& place(std::int64_t frame) {
        return places_[static_cast<std::size_t>(frame - share_.first)];
    }

    /// Registers each of this rank's frames to those before it.
    void link() {
        const auto farthest = static_cast<std::size_t>(options_.farthest);
        for (std::size_t moved = 1; moved < fit_.size(); ++moved) {
            if (!share_.has(fit_[moved]))
                continue;
            hooks_.progress("register neighbours", fit_[moved] - share_.first, share_.count());
            for (std::size_t back = std::min(farthest, moved); back >= 1; --back) {
                const std::int64_t reference = fit_[moved - back];
                const TimedResult timed =
                    timed_result(hooks_.ledger, {Work::link, 0, reference, 0, fit_[moved]},
                                 [&] { return reader_->align(reference, fit_[moved]); });
                const RigidResult& result = timed.result;
                links_.push_back({reference, fit_[moved], result, timed.seconds});
                seen_.push_back({moved - back, moved, result.motion, trusted(result)});
            }
        }
    }

    /// Places the frames; all ranks get the same result.
    void vote() {
        const std::vector<LinkSeen> all =
            all_gather_lists(communicator_, std::span<const LinkSeen>(seen_));
        votes_ = consensus(fit_.size(), all, source_.header().shape, options_.tolerance);
        for (std::size_t i = 0; i < fit_.size(); ++i) {
            if (votes_[i].place)
                placed_.push_back(i);
            if (!share_.has(fit_[i]))
                continue;
            if (!votes_[i].place)
                place(fit_[i]).left_out = "it resembles none of the frames beside it";
            place(fit_[i]).in_doubt = votes_[i].in_doubt();
        }
    }

    /// Returns, for each of this rank's frames, the link to the frame placed before it.
    std::vector<Link> chain() {
        std::vector<Link> neighbours;
        for (std::size_t i = 1; i < placed_.size(); ++i) {
            if (share_.has(fit_[placed_[i]]))
                neighbours.push_back(to_the_one_before(placed_[i - 1], placed_[i]));
        }
        return neighbours;
    }

    /// Returns the registration if the vote agrees, or else a new one that starts from the vote.
    Link to_the_one_before(std::size_t before, std::size_t moved) {
        const std::int64_t reference = fit_[before], frame = fit_[moved];
        const RigidMotion expected = compose(*votes_[moved].place, inverse(*votes_[before].place));
        Seconds spent = 0;
        const Link* found = nullptr;
        const auto of_frame = std::ranges::equal_range(links_, frame, {}, &Link::moved);
        for (const Link& link : of_frame) {
            spent += link.seconds;
            if (link.reference == reference &&
                rms_distance(link.result.motion, expected, source_.header().shape) <=
                    options_.tolerance)
                found = &link;
        }
        if (found && trusted(found->result))
            return {reference, frame, found->result, spent};
        place(frame).mended = true;
        const TimedResult timed =
            timed_result(hooks_.ledger, {Work::mended, 0, reference, 0, frame},
                         [&] { return reader_->refine(reference, frame, expected); });
        return {reference, frame, timed.result, spent + timed.seconds};
    }

    /// The operator ⊙ of the scan.
    Link combined(const Link& left, const Link& right) {
        if (left.moved != right.reference)
            throw std::logic_error("motions combined that are not neighbours");
        hooks_.progress("combine", right.moved - share_.first, share_.count());
        const RigidMotion start = compose(right.result.motion, left.result.motion);
        const TimedResult timed = timed_result(
            hooks_.ledger, {Work::combined, 0, left.reference, left.moved, right.moved},
            [&] { return reader_->refine(left.reference, right.moved, start); });
        Link link{left.reference, right.moved, {}, right.seconds + timed.seconds};
        link.result =
            refined_from(start, timed.result, left.result.ambiguous || right.result.ambiguous);
        return link;
    }

    /// Stores the results of this rank's frames.
    void take(const std::vector<Link>& links) {
        for (const std::size_t i : placed_) {
            if (share_.has(fit_[i]))
                place(fit_[i]).result = itself();
        }
        for (const Link& link : links) {
            place(link.moved).result = link.result;
            place(link.moved).seconds = link.seconds;
        }
    }

    void turn_to_reference() {
        if (!options_.reference)
            return;
        const std::int64_t reference = *options_.reference;
        agree(communicator_, [&] { check_reference(reference); });
        RigidMotion own;
        if (share_.has(reference))
            own = place(reference).result.motion;
        int holder = 0; // rank that has the reference
        while (!share_of(holder, communicator_.size(), frames()).has(reference))
            ++holder;
        const RigidMotion there = communicator_.all_gather(own)[static_cast<std::size_t>(holder)];
        if (fit_[placed_.front()] == reference)
            return;
        agree(communicator_, [&] {
            for (FramePlace& one : places_) {
                if (one.left_out.empty())
                    turn(one, reference, there);
            }
        });
    }

    std::int64_t frames() const { return source_.header().frames; }

    void check_reference(std::int64_t reference) {
        if (reference < 0 || reference >= frames())
            throw InvalidTask(fmt::format("{}: reference {}, expected 0 to {}", source_.path(),
                                          reference, frames() - 1));
        if (share_.has(reference) && !place(reference).left_out.empty())
            throw InvalidTask(fmt::format("{}: frame {} can be no reference: {}", source_.path(),
                                          reference, place(reference).left_out));
    }

    void turn(FramePlace& one, std::int64_t reference, const RigidMotion& there) {
        if (one.frame == reference) {
            one.result = itself();
            return;
        }
        hooks_.progress("register to the reference", one.frame - share_.first, share_.count());
        const RigidMotion start = compose(one.result.motion, inverse(there));
        const TimedResult timed =
            timed_result(hooks_.ledger, {Work::turned, 0, reference, 0, one.frame},
                         [&] { return reader_->refine(reference, one.frame, start); });
        one.result = refined_from(start, timed.result, one.result.ambiguous);
        one.seconds += timed.seconds;
    }

    const Communicator& communicator_;
    FrameSource& source_;
    const SeriesOptions& options_;
    const SeriesHooks& hooks_;
    const std::vector<std::int64_t> fit_; ///< frames not left out by the first pass
    std::vector<FramePlace> places_;
    const Share share_;
    std::optional<Team> team_;
    std::optional<PairReader> reader_;
    std::vector<Link> links_;         ///< this rank's, without a start, ordered by `moved`
    std::vector<LinkSeen> seen_;      ///< the same, as input to the vote
    std::vector<FrameVote> votes_;    ///< one per frame of fit_
    std::vector<std::size_t> placed_; ///< indices into fit_ of the frames that have a position
};

} // namespace

std::vector<FramePlace> register_series(const Communicator& communicator, FrameSource& source,
                                        SeriesLook look, const SeriesOptions& options,
                                        const SeriesHooks& hooks) {
    return Registering(communicator, source, std::move(look), options, hooks).run();
}

std::vector<FramePlace> register_neighbours(const Communicator& communicator, FrameSource& source,
                                            SeriesLook look, const SeriesOptions& options,
                                            const SeriesHooks& hooks) {
    return Registering(communicator, source, std::move(look), options, hooks).neighbours();
}

std::vector<FramePlace> register_series(const Communicator& communicator, FrameSource& source,
                                        const SeriesOptions& options) {
    return register_series(communicator, source, look_at_series(communicator, source, options),
                           options);
}

namespace {

struct Seen {
    FrameLook look;
    bool readable = false;
};

/// Looks at a frame, or records why it cannot be used.
Seen seen(PairReader& reader, FramePlace& place) {
    try {
        const FrameLook look = reader.look(place.frame);
        place.gaps = look.gaps;
        return {look, true};
    } catch (const UnusableFrame& why) {
        place.left_out = why.what();
    } catch (const InvalidFile& why) {
        place.left_out = why.what();
    }
    return {};
}

std::vector<Seen> look_at_mine(const Share& share, FrameSource& source,
                               const SeriesOptions& options, const SeriesHooks& hooks,
                               std::vector<FramePlace>& mine) {
    Team team(options.threads);
    PairReader reader(source, options.rigid, options.prefilter, 2, &team, options.offset);
    std::vector<Seen> all;
    for (std::int64_t frame = share.first; frame < share.last; ++frame) {
        hooks.progress("look at frames", frame - share.first, share.count());
        FramePlace& place = mine.emplace_back();
        place.frame = frame;
        all.push_back(seen(reader, place));
    }
    return all;
}

} // namespace

SeriesLook look_at_series(const Communicator& communicator, FrameSource& source,
                          const SeriesOptions& options, const SeriesHooks& hooks) {
    const std::int64_t frames = source.header().frames;
    const Share share = share_of(communicator.rank(), communicator.size(), frames);
    SeriesLook look;
    std::vector<Seen> mine;
    agree(communicator, [&] {
        if (frames < 1)
            throw InvalidTask(source.path() + ": a series without frames, expected at least one");
        mine = look_at_mine(share, source, options, hooks, look.mine);
    });
    const std::vector<Seen> all = all_gather_lists(communicator, std::span<const Seen>(mine));
    std::vector<FrameLook> readable;
    for (const Seen& frame : all) {
        look.frames.push_back(frame.look);
        if (frame.readable)
            readable.push_back(frame.look);
    }
    const UsualLook usual = usual_look(readable);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        const Seen& one = all[static_cast<std::size_t>(frame)];
        if (!one.readable)
            continue;
        const std::string fault = fault_of(one.look, usual, options.limits);
        if (fault.empty())
            look.fit.push_back(frame);
        if (share.has(frame))
            look.mine[static_cast<std::size_t>(frame - share.first)].left_out = fault;
    }
    return look;
}

} // namespace sextant::registration
