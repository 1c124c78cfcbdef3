// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/contrast.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/registration/pair/banded_cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::registration {

namespace {

/// Weight of the equation log s_i = log s_j of a link, relative to log s_i + log s_j = log cov_ij.
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
    constexpr double little = 1e-9; // makes the matrix definite if frames have no links
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

constexpr int most_rounds_of_signs = 10;

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
        for (int round = 0; round < most_rounds_of_signs; ++round) {
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

} // namespace

std::vector<std::uint8_t> inverted_frames(std::size_t frames, std::span<const LinkSeen> links) {
    return frames == 0 ? std::vector<std::uint8_t>() : SignVote(frames, links).result();
}

} // namespace sextant::registration
