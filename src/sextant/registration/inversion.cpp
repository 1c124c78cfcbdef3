// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/inversion.hpp"

#include "sextant/comm/communicator.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace sextant::registration {

namespace {

constexpr int most_rounds = 10;

/// The vote of registrations on the signs of the frames' contrasts.
class SignVote {
  public:
    SignVote(std::size_t frames, std::span<const LinkSeen> links)
        : signs_(frames), links_of_(frames), across_(frames) {
        for (const LinkSeen& link : links) {
            if (!link.trusted)
                continue;
            links_of_[link.reference].push_back(&link);
            links_of_[link.moved].push_back(&link);
            for (std::size_t frame = link.reference + 1; frame <= link.moved; ++frame)
                across_[frame].push_back(&link);
        }
    }

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
    static double weight(const LinkSeen& link) {
        constexpr double least = .1; // as in consensus()
        return (link.inverted ? -1 : 1) * std::clamp(link.lead, least, most_lead);
    }

    /// The weight for a positive sign of a frame, given the others; 0 is the sign of later frames
    /// at first.
    double for_positive(std::size_t frame) const {
        double sum = 0;
        for (const LinkSeen* link : links_of_[frame])
            sum += weight(*link) * signs_[link->moved == frame ? link->reference : link->moved];
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

    /// Lets all links across each place in the series vote on the sign of the frames after it,
    /// relative to those before.
    bool change_all_after() {
        bool changed = false;
        for (std::size_t frame = 1; frame < signs_.size(); ++frame) {
            double sum = 0;
            for (const LinkSeen* link : across_[frame])
                sum += weight(*link) * signs_[link->reference] * signs_[link->moved];
            if (sum >= 0)
                continue;
            for (std::size_t later = frame; later < signs_.size(); ++later)
                signs_[later] = -signs_[later];
            changed = true;
        }
        return changed;
    }

    std::vector<int> signs_;
    std::vector<std::vector<const LinkSeen*>> links_of_, across_;
};

FrameHeader header_of_inverted(FrameHeader header) {
    header.sample = Sample::f32;
    header.channels = 1;
    return header;
}

} // namespace

std::vector<std::uint8_t> inverted_frames(std::size_t frames, std::span<const LinkSeen> links) {
    return frames == 0 ? std::vector<std::uint8_t>() : SignVote(frames, links).result();
}

InvertedFrames::InvertedFrames(FrameSource& source, std::vector<double> levels)
    : FrameSource(source.path(), header_of_inverted(source.header())),
      source_(source),
      levels_(std::move(levels)) {}

void InvertedFrames::load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    samples_.resize(static_cast<std::size_t>(rows.count() * header().shape.width));
    source_.read_rows(frame, rows, samples_);
    const double level = levels_[static_cast<std::size_t>(frame)];
    if (!std::isnan(level)) {
        for (float& sample : samples_)
            sample = static_cast<float>(2 * level - static_cast<double>(sample));
    }
    std::memcpy(to.data(), samples_.data(), to.size());
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
    return std::make_unique<InvertedFrames>(context.source, std::move(levels));
}

} // namespace sextant::registration
