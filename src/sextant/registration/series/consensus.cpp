// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/consensus.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/registration/pair/banded_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::registration {

namespace {

constexpr int most_rounds = 10;

/// The assumed correlation between the errors of two links of a frame. Half of a link's noise comes
/// from the frame that both links share.
constexpr double correlation = .4;

/// Returns the weight of a link in a vote: its lead, but at least a small value, so that several
/// links without a lead still outvote a single one.
double weight(const LinkSeen& link) {
    constexpr double least = .1;
    return std::clamp(link.lead, least, most_lead);
}

/// Converts a signed sum of `links` leads to a normal deviate.
double deviate(double sum, int links) {
    return links == 0 ? 0 : sum / std::sqrt(links * (1 + (links - 1) * correlation));
}

/// The trusted links, indexed by frame.
struct LinksByFrame {
    LinksByFrame(std::size_t frames, std::span<const LinkSeen> links, bool with_inverted)
        : of(frames), across(frames) {
        for (const LinkSeen& link : links) {
            if (!link.trusted || (link.inverted && !with_inverted))
                continue;
            of[link.reference].push_back(&link);
            of[link.moved].push_back(&link);
            for (std::size_t frame = link.reference + 1; frame <= link.moved; ++frame)
                across[frame].push_back(&link);
        }
    }
    std::vector<std::vector<const LinkSeen*>> of;
    /// [frame]: links from an earlier frame to this frame or a later one.
    std::vector<std::vector<const LinkSeen*>> across;
};

std::size_t other_end(const LinkSeen& link, std::size_t frame) {
    return link.moved == frame ? link.reference : link.moved;
}

/// A motion that a link implies, and the link's weight.
struct Opinion {
    RigidMotion motion;
    double weight = 0;
};

/// The connected components of frames under links (union-find).
class Groups {
  public:
    explicit Groups(std::size_t frames) : parents_(frames) {
        std::iota(parents_.begin(), parents_.end(), std::size_t{0});
    }
    /// Returns the first frame of a group.
    std::size_t first(std::size_t frame) {
        while (parents_[frame] != frame)
            frame = parents_[frame] = parents_[parents_[frame]];
        return frame;
    }
    void join(std::size_t one, std::size_t other) {
        const auto [low, high] = std::minmax({first(one), first(other)});
        parents_[high] = low;
    }

  private:
    std::vector<std::size_t> parents_;
};

class Voting {
  public:
    Voting(std::size_t frames, std::span<const LinkSeen> links, ImageShape shape, double tolerance,
           double least_lead)
        : votes_(frames),
          links_(frames, links, false),
          shape_(shape),
          tolerance_(tolerance),
          least_lead_(least_lead) {
        for (std::size_t frame = 0; frame < frames; ++frame)
            sort_nearest_first(frame);
    }

    std::vector<FrameVote> result() {
        if (votes_.empty())
            return {};
        place_all();
        for (int round = 0; round < most_rounds; ++round) {
            const bool moved = move_where_outvoted();
            if (!shift_where_outvoted() && !moved)
                break;
        }
        begin_at_first();
        count_all();
        return std::move(votes_);
    }

  private:
    void sort_nearest_first(std::size_t frame) {
        const auto distance = [](const LinkSeen* link) { return link->moved - link->reference; };
        std::stable_sort(
            links_.of[frame].begin(), links_.of[frame].end(),
            [&](const LinkSeen* a, const LinkSeen* b) { return distance(a) < distance(b); });
    }

    /// Returns the positions of a frame that its links imply, one per link. `only_clear` omits
    /// links to frames that are not sound and have a smaller lead than this frame.
    std::vector<Opinion> candidates(std::size_t frame, bool only_clear = false) const {
        std::vector<Opinion> all;
        for (const LinkSeen* link : links_.of[frame]) {
            const FrameVote& other = votes_[other_end(*link, frame)];
            const bool clear = other.sound || other.lead >= votes_[frame].lead;
            if (other.position && (clear || !only_clear))
                all.push_back({compose(link->moved == frame ? link->motion : inverse(link->motion),
                                       *other.position),
                               weight(*link)});
        }
        return all;
    }

    bool near(const RigidMotion& one, const RigidMotion& other) const {
        return rms_distance(one, other, shape_) <= tolerance_;
    }

    double weight_at(const RigidMotion& motion, const std::vector<Opinion>& all) const {
        double sum = 0;
        for (const Opinion& one : all)
            sum += near(motion, one.motion) ? one.weight : 0;
        return sum;
    }

    /// Returns the motion with the largest total weight of agreeing opinions; in a tie, the first
    /// one.
    const RigidMotion& best(const std::vector<Opinion>& all) const {
        double most = -1;
        const RigidMotion* found = nullptr;
        for (const Opinion& one : all) {
            const double sum = weight_at(one.motion, all);
            if (sum > most) {
                most = sum;
                found = &one.motion;
            }
        }
        return *found;
    }

    /// Returns the opinions that differ from a motion.
    std::vector<Opinion> others(const RigidMotion& motion, const std::vector<Opinion>& all) const {
        std::vector<Opinion> different;
        std::copy_if(all.begin(), all.end(), std::back_inserter(different),
                     [&](const Opinion& one) { return !near(motion, one.motion); });
        return different;
    }

    /// Returns the lead of a motion over the best different motion.
    double lead_of(const RigidMotion& motion, const std::vector<Opinion>& all) const {
        const std::vector<Opinion> against = others(motion, all);
        if (against.empty())
            return deviate(weight_at(motion, all), static_cast<int>(all.size()));
        const RigidMotion& rival = best(against);
        const auto votes = std::count_if(all.begin(), all.end(), [&](const Opinion& one) {
            return near(motion, one.motion) || near(rival, one.motion);
        });
        return deviate(weight_at(motion, all) - weight_at(rival, against), static_cast<int>(votes));
    }

    /// Returns the largest group of linked frames, in order.
    std::vector<std::size_t> largest_group() const {
        Groups groups(votes_.size());
        for (const auto& links : links_.of) {
            for (const LinkSeen* link : links)
                groups.join(link->reference, link->moved);
        }
        std::vector<std::vector<std::size_t>> frames(votes_.size());
        for (std::size_t frame = 0; frame < votes_.size(); ++frame)
            frames[groups.first(frame)].push_back(frame);
        return *std::max_element(frames.begin(), frames.end(),
                                 [](const auto& a, const auto& b) { return a.size() < b.size(); });
    }

    /// Places the frames of the largest group in order, then the frames that are linked only to
    /// later frames.
    void place_all() {
        const std::vector<std::size_t> group = largest_group();
        votes_[group.front()].position = RigidMotion();
        std::size_t placed = 1;
        const auto place = [&](std::size_t frame) {
            if (votes_[frame].position)
                return;
            const std::vector<Opinion> all = candidates(frame);
            if (all.empty())
                return;
            votes_[frame].position = best(all);
            ++placed;
        };
        while (placed < group.size()) {
            std::for_each(group.begin(), group.end(), place);
            std::for_each(group.rbegin(), group.rend(), place);
        }
    }

    /// Lets all links vote on each frame. Returns true if any frame moved.
    bool move_where_outvoted() {
        bool moved = false;
        for (std::size_t frame = 0; frame < votes_.size(); ++frame) {
            std::optional<RigidMotion>& position = votes_[frame].position;
            if (!position)
                continue;
            const std::vector<Opinion> all = candidates(frame);
            if (all.empty())
                continue;
            const RigidMotion& better = best(all);
            if (weight_at(better, all) <= weight_at(*position, all))
                continue;
            position = better;
            moved = true;
        }
        return moved;
    }

    /// Returns, for each link across the boundary before `frame`, the motion by which the link
    /// would shift all frames from `frame` on. The motion is the identity if the link agrees with
    /// the positions.
    std::vector<Opinion> shifts(std::size_t frame, bool only_sound = false) const {
        std::vector<Opinion> all;
        for (const LinkSeen* link : links_.across[frame]) {
            const FrameVote &from = votes_[link->reference], &to = votes_[link->moved];
            if (from.position && to.position && (!only_sound || (from.sound && to.sound)))
                all.push_back(
                    {compose(compose(link->motion, *from.position), inverse(*to.position)),
                     weight(*link)});
        }
        return all;
    }

    /// Lets all links across each boundary between frames vote on the motion between the frames
    /// before and after it. Returns true if any frame moved.
    bool shift_where_outvoted() {
        bool moved = false;
        for (std::size_t frame = 1; frame < votes_.size(); ++frame) {
            const std::vector<Opinion> all = shifts(frame);
            if (all.empty())
                continue;
            const RigidMotion better = best(all);
            if (weight_at(better, all) <= weight_at({}, all))
                continue;
            for (std::size_t later = frame; later < votes_.size(); ++later) {
                if (votes_[later].position)
                    votes_[later].position = compose(better, *votes_[later].position);
            }
            moved = true;
        }
        return moved;
    }

    void begin_at_first() {
        const auto first = std::find_if(votes_.begin(), votes_.end(),
                                        [](const FrameVote& vote) { return vote.position; });
        const RigidMotion back = inverse(*first->position);
        first->position = RigidMotion();
        for (auto vote = first + 1; vote != votes_.end(); ++vote) {
            if (vote->position)
                vote->position = compose(*vote->position, back);
        }
    }

    /// Counts the votes twice, the second time without links to bad frames, so that bad frames do
    /// not make their neighbours doubtful.
    void count_all() {
        for (const bool only_clear : {false, true}) {
            std::vector<FrameVote> counted = votes_;
            for (std::size_t frame = 0; frame < votes_.size(); ++frame) {
                if (votes_[frame].position)
                    count(candidates(frame, only_clear), counted[frame]);
            }
            votes_ = std::move(counted);
        }
        const auto placed = std::ranges::count_if(
            votes_, [](const FrameVote& vote) { return vote.position.has_value(); });
        if (2 * std::ranges::count_if(votes_, &FrameVote::sound) < placed) {
            for (FrameVote& vote : votes_)
                vote.sound = vote.position.has_value();
        }
        bool first = true;
        for (std::size_t frame = 0; frame < votes_.size(); ++frame) {
            if (!votes_[frame].sound)
                continue;
            if (!first)
                votes_[frame].lead_across = lead_of({}, shifts(frame, true));
            first = false;
        }
    }

    void count(const std::vector<Opinion>& all, FrameVote& vote) const {
        if (all.empty()) {
            vote.sound = votes_.size() == 1;
            return;
        }
        vote.links = static_cast<int>(all.size());
        vote.agreeing = vote.links - static_cast<int>(others(*vote.position, all).size());
        vote.lead = lead_of(*vote.position, all);
        vote.sound = vote.lead >= least_lead_;
        vote.in_doubt = vote.agreeing < vote.links && !vote.sound;
    }

    std::vector<FrameVote> votes_;
    LinksByFrame links_;
    ImageShape shape_;
    double tolerance_, least_lead_;
};

} // namespace

std::vector<FrameVote> consensus(std::size_t frames, std::span<const LinkSeen> links,
                                 ImageShape shape, double tolerance, double least_lead) {
    return Voting(frames, links, shape, tolerance, least_lead).result();
}

namespace {

/// Weight of a link's equation log s_i = log s_j relative to its equation log s_i + log s_j = log
/// cov_ij.
constexpr double weight_of_alike = 1e-3;

/// Returns the logarithms of the signals; 0 for frames without links.
std::vector<double> logarithms_of_signals(std::span<const double> deviations,
                                          std::span<const ContrastLink> links) {
    std::size_t reach = 0;
    for (const ContrastLink& link : links)
        reach = std::max(reach, link.moved - link.reference);
    BandedMatrix normal(deviations.size(), reach), diagonal(deviations.size(), reach);
    std::vector<double> logarithms(deviations.size());
    for (std::size_t frame = 0; frame < deviations.size(); ++frame)
        diagonal.at(frame, frame) = 1;
    for (const ContrastLink& link : links) {
        const std::size_t i = link.reference, j = link.moved;
        const double sum = std::log(link.ncc * deviations[i] * deviations[j]);
        normal.at(i, i) += 1 + weight_of_alike;
        normal.at(j, j) += 1 + weight_of_alike;
        normal.at(i, j) += 1 - weight_of_alike;
        logarithms[i] += sum;
        logarithms[j] += sum;
    }
    BandedCholesky cholesky(deviations.size(), reach);
    constexpr double little = 1e-9; // makes the matrix positive definite if frames have no links
    if (!cholesky.factorise(1, normal, little, diagonal))
        return std::vector<double>(deviations.size());
    cholesky.solve(logarithms);
    return logarithms;
}

} // namespace

std::vector<FrameContrast> contrasts_of(std::span<const double> deviations,
                                        std::span<const ContrastLink> links) {
    std::vector<ContrastLink> usable;
    std::vector<char> linked(deviations.size());
    for (const ContrastLink& link : links) {
        if (!(link.ncc > 0 && deviations[link.reference] > 0 && deviations[link.moved] > 0))
            continue;
        usable.push_back(link);
        linked[link.reference] = linked[link.moved] = 1;
    }
    std::vector<FrameContrast> contrasts(deviations.size());
    if (usable.empty())
        return contrasts;
    const std::vector<double> logarithms = logarithms_of_signals(deviations, usable);
    std::vector<double> known;
    for (std::size_t frame = 0; frame < logarithms.size(); ++frame) {
        if (linked[frame])
            known.push_back(std::exp(logarithms[frame]));
    }
    const double typical = median(known);
    for (std::size_t frame = 0; frame < contrasts.size(); ++frame) {
        constexpr double least_noise = .05; // relative to the deviation
        const double deviation = deviations[frame] / typical;
        const double signal = linked[frame] ? std::exp(logarithms[frame]) / typical : 1;
        const double noise = std::sqrt(std::max(deviation * deviation - signal * signal, 0.));
        contrasts[frame].signal = signal;
        contrasts[frame].noise = std::max(noise, least_noise * std::max(deviation, signal));
    }
    return contrasts;
}

namespace {

/// Lets links vote on the signs of the frames' contrasts.
class SignVote {
  public:
    SignVote(std::size_t frames, std::span<const LinkSeen> links)
        : signs_(frames), links_(frames, links, true) {}

    std::vector<std::uint8_t> result() {
        for (std::size_t frame = 0; frame < signs_.size(); ++frame)
            signs_[frame] = for_positive(frame) < 0 ? -1 : 1;
        for (int round = 0; round < most_rounds; ++round) {
            const bool changed = change_outvoted();
            if (!change_all_after() && !changed)
                break;
        }
        std::vector<std::uint8_t> inverted;
        for (const int sign : signs_)
            inverted.push_back(sign == signs_.front() ? 0 : 1);
        return inverted;
    }

  private:
    static double signed_weight(const LinkSeen& link) {
        return link.inverted ? -weight(link) : weight(link);
    }

    /// Returns the weight of the votes for a positive sign of a frame, given the signs of the other
    /// frames. Frames without a sign yet (0) have no vote.
    double for_positive(std::size_t frame) const {
        double sum = 0;
        for (const LinkSeen* link : links_.of[frame])
            sum += signed_weight(*link) * signs_[other_end(*link, frame)];
        return sum;
    }

    bool change_outvoted() {
        bool changed = false;
        for (std::size_t frame = 0; frame < signs_.size(); ++frame) {
            if (signs_[frame] * for_positive(frame) >= 0)
                continue;
            signs_[frame] = -signs_[frame];
            changed = true;
        }
        return changed;
    }

    /// Lets all links across each boundary between frames vote on the relative sign of the frames
    /// before and after it. Returns true if any sign changed.
    bool change_all_after() {
        bool changed = false;
        for (std::size_t frame = 1; frame < signs_.size(); ++frame) {
            double sum = 0;
            for (const LinkSeen* link : links_.across[frame])
                sum += signed_weight(*link) * signs_[link->reference] * signs_[link->moved];
            if (sum >= 0)
                continue;
            for (std::size_t later = frame; later < signs_.size(); ++later)
                signs_[later] = -signs_[later];
            changed = true;
        }
        return changed;
    }

    std::vector<int> signs_;
    LinksByFrame links_;
};

} // namespace

std::vector<std::uint8_t> inverted_frames(std::size_t frames, std::span<const LinkSeen> links) {
    return frames == 0 ? std::vector<std::uint8_t>() : SignVote(frames, links).result();
}

} // namespace sextant::registration
