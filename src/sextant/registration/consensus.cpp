// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/consensus.hpp"

#include <algorithm>

namespace sextant::registration {

namespace {

constexpr int most_rounds = 10;

class Voting {
  public:
    Voting(std::size_t frames, std::span<const LinkSeen> links, ImageShape shape, double tolerance)
        : votes_(frames), links_of_(frames), shape_(shape), tolerance_(tolerance) {
        for (const LinkSeen& link : links) {
            if (!link.trusted)
                continue;
            links_of_[link.reference].push_back(&link);
            links_of_[link.moved].push_back(&link);
        }
        for (std::size_t frame = 0; frame < frames; ++frame)
            sort_nearest_first(frame);
    }

    std::vector<FrameVote> result() {
        if (votes_.empty())
            return {};
        place_one_after_another();
        for (int round = 0; round < most_rounds && move_where_outvoted(); ++round) {
        }
        begin_at_first();
        for (std::size_t frame = 0; frame < votes_.size(); ++frame)
            count(frame);
        return std::move(votes_);
    }

  private:
    void sort_nearest_first(std::size_t frame) {
        const auto distance = [](const LinkSeen* link) { return link->moved - link->reference; };
        std::stable_sort(
            links_of_[frame].begin(), links_of_[frame].end(),
            [&](const LinkSeen* a, const LinkSeen* b) { return distance(a) < distance(b); });
    }

    /// Returns the positions of a frame that its links imply, one per link.
    std::vector<RigidMotion> candidates(std::size_t frame) const {
        std::vector<RigidMotion> places;
        for (const LinkSeen* link : links_of_[frame]) {
            const bool moves = link->moved == frame;
            const auto& other = votes_[moves ? link->reference : link->moved].place;
            if (other)
                places.push_back(compose(moves ? link->motion : inverse(link->motion), *other));
        }
        return places;
    }

    std::ptrdiff_t agreeing(const RigidMotion& place, const std::vector<RigidMotion>& all) const {
        return std::count_if(all.begin(), all.end(), [&](const RigidMotion& other) {
            return rms_distance(place, other, shape_) <= tolerance_;
        });
    }

    /// Returns the candidate that most candidates agree with, the first one in a tie.
    const RigidMotion& best(const std::vector<RigidMotion>& all) const {
        return *std::max_element(all.begin(), all.end(),
                                 [&](const RigidMotion& a, const RigidMotion& b) {
                                     return agreeing(a, all) < agreeing(b, all);
                                 });
    }

    /// Returns the first frame of the largest group: the frame reached from most frames by
    /// following links to earlier frames.
    std::size_t beginning() const {
        std::vector<std::size_t> first_of(votes_.size()), sizes(votes_.size());
        for (std::size_t frame = 0; frame < votes_.size(); ++frame) {
            first_of[frame] = frame;
            for (const LinkSeen* link : links_of_[frame])
                first_of[frame] = std::min(first_of[frame], first_of[link->reference]);
            ++sizes[first_of[frame]];
        }
        return static_cast<std::size_t>(std::max_element(sizes.begin(), sizes.end()) -
                                        sizes.begin());
    }

    void place_one_after_another() {
        const std::size_t first = beginning();
        votes_[first].place = RigidMotion();
        for (std::size_t frame = first + 1; frame < votes_.size(); ++frame) {
            const std::vector<RigidMotion> all = candidates(frame);
            if (!all.empty())
                votes_[frame].place = best(all);
        }
    }

    /// Lets all links vote on each frame. Returns true if any frame moved.
    bool move_where_outvoted() {
        bool moved = false;
        for (std::size_t frame = 0; frame < votes_.size(); ++frame) {
            const std::vector<RigidMotion> all = candidates(frame);
            if (all.empty())
                continue;
            std::optional<RigidMotion>& place = votes_[frame].place;
            const RigidMotion& better = best(all);
            if (place && agreeing(better, all) <= agreeing(*place, all))
                continue;
            place = better;
            moved = true;
        }
        return moved;
    }

    void begin_at_first() {
        const auto first = std::find_if(votes_.begin(), votes_.end(),
                                        [](const FrameVote& vote) { return vote.place; });
        if (first == votes_.end())
            return;
        const RigidMotion back = inverse(*first->place);
        first->place = RigidMotion();
        for (auto vote = first + 1; vote != votes_.end(); ++vote) {
            if (vote->place)
                vote->place = compose(*vote->place, back);
        }
    }

    void count(std::size_t frame) {
        if (!votes_[frame].place)
            return;
        const std::vector<RigidMotion> all = candidates(frame);
        votes_[frame].links = static_cast<int>(all.size());
        votes_[frame].agreeing = static_cast<int>(agreeing(*votes_[frame].place, all));
    }

    std::vector<FrameVote> votes_;
    std::vector<std::vector<const LinkSeen*>> links_of_;
    ImageShape shape_;
    double tolerance_;
};

} // namespace

std::vector<FrameVote> consensus(std::size_t frames, std::span<const LinkSeen> links,
                                 ImageShape shape, double tolerance) {
    return Voting(frames, links, shape, tolerance).result();
}

} // namespace sextant::registration
