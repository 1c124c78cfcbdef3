// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/registration/stages/stages.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace sextant::registration {

namespace {

/// Two stations whose averages are registered; from < to.
struct StationPair {
    std::size_t from = 0, to = 0;
};

/// Returns the overlap of two windows of equal shape, as a fraction.
double overlap_of(const PixelArea& one, const PixelArea& other) {
    return static_cast<double>(common_area(one, other).shape.elements()) /
           static_cast<double>(one.shape.elements());
}

/// Returns the pairs of overlapping stations. Always includes, for each station, the pair with the
/// nearest earlier station, so that all stations are connected. Ordered by the later station.
std::vector<StationPair> pairs_of(std::span<const PixelArea> windows) {
    constexpr double least = .25;
    std::vector<StationPair> pairs;
    for (std::size_t to = 1; to < windows.size(); ++to) {
        std::size_t nearest = 0;
        double shortest = -1;
        for (std::size_t from = 0; from < to; ++from) {
            const double apart = std::hypot(static_cast<double>(windows[to].x - windows[from].x),
                                            static_cast<double>(windows[to].y - windows[from].y));
            if (shortest < 0 || apart < shortest) {
                shortest = apart;
                nearest = from;
            }
        }
        for (std::size_t from = 0; from < to; ++from) {
            if (from == nearest || overlap_of(windows[from], windows[to]) >= least)
                pairs.push_back({from, to});
        }
    }
    return pairs;
}

/// Registers the pairs of stations that are assigned to one rank.
class StationRegistration {
  public:
    StationRegistration(const SeriesContext& context, const Registered& registered,
                        std::uint32_t stage, const Stations& stations)
        : context_(context),
          registered_(registered),
          stage_(stage),
          stations_(stations),
          shape_(context.source.header().shape),
          team_(context.options.threads),
          registration_(shape_, 0, context.options.rigid, &team_),
          from_(shape_, 0, context.options.prefilter, &team_),
          to_(shape_, 0, context.options.prefilter, &team_),
          averages_(stations.frames.size()) {
        for (const std::size_t frame : stations.frames)
            windows_.push_back(window_of(registered.motions[frame], shape_, 1));
        pairs_ = pairs_of(windows_);
    }

    std::vector<UncertainMotion> run() {
        std::vector<StationLink> own;
        std::size_t next = 0;
        for (std::size_t station = 0; station < windows_.size(); ++station) {
            const std::vector<float> average = average_around(station);
            agree(context_.communicator, [&] {
                context_.step("register stations", static_cast<std::int64_t>(station),
                              std::ssize(windows_));
                if (is_needed(station))
                    averages_[station] = average;
                for (; next < pairs_.size() && pairs_[next].to == station; ++next) {
                    if (is_own(next))
                        own.push_back(linked(pairs_[next]));
                }
                release(next);
            });
        }
        std::vector<StationLink> links = all_gather_lists(context_.communicator, own);
        std::ranges::sort(links, {},
                          [](const StationLink& link) { return std::pair(link.to, link.from); });
        std::vector<double> frames(windows_.size());
        for (std::size_t i = 0; i < registered_.frames.size(); ++i)
            frames[stations_.nearest[i]] += registered_.contributes[i] != 0 ? 1 : 0;
        return correct_stations(windows_, frames, links);
    }

  private:
    bool is_own(std::size_t pair) const {
        const auto ranks = static_cast<std::size_t>(context_.communicator.size());
        return static_cast<int>(pair % ranks) == context_.communicator.rank();
    }

    /// True if this rank needs the average around a station.
    bool is_needed(std::size_t station) const {
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            if (is_own(i) && (pairs_[i].from == station || pairs_[i].to == station))
                return true;
        }
        return false;
    }

    /// Frees the averages that pairs from number `next` on do not need.
    void release(std::size_t next) {
        for (std::size_t station = 0; station < averages_.size(); ++station) {
            const bool later = std::any_of(pairs_.begin() + static_cast<std::ptrdiff_t>(next),
                                           pairs_.end(), [&](const StationPair& pair) {
                                               return pair.from == station || pair.to == station;
                                           });
            if (!later)
                averages_[station] = {};
        }
    }

    std::vector<float> average_around(std::size_t station) const {
        std::vector<std::int64_t> frames;
        for (std::size_t i = 0; i < registered_.frames.size(); ++i) {
            if (registered_.contributes[i] != 0 && stations_.nearest[i] == station)
                frames.push_back(registered_.frames[i]);
        }
        return average_of(context_, registered_, frames, transforms(registered_), windows_[station])
            .samples;
    }

    StationLink linked(const StationPair& pair) {
        const PixelArea &from = windows_[pair.from], &to = windows_[pair.to];
        const RigidMotion start{0, static_cast<double>(from.x - to.x),
                                static_cast<double>(from.y - to.y)};
        const auto frame_of = [&](std::size_t station) {
            return registered_.frames[stations_.frames[station]];
        };
        const TimedResult timed =
            timed_result(context_.ledger,
                         {Work::station, stage_, frame_of(pair.from), 0, frame_of(pair.to)}, [&] {
                             if (overlap_of(from, to) == 0) {
                                 RigidResult apart;
                                 apart.unrelated = true;
                                 return apart;
                             }
                             from_.fill(view_of(averages_[pair.from], shape_));
                             to_.fill(view_of(averages_[pair.to], shape_));
                             return registration_.refine(from_, to_, start);
                         });
        return {pair.from, pair.to, displacement(timed.result, from, to)};
    }

    /// Converts a registration of two windows to the displacement between the stations.
    UncertainMotion displacement(RigidResult found, const PixelArea& from,
                                 const PixelArea& to) const {
        // The largest displacement, in pixels, that errors of single frames can explain.
        constexpr double farthest = 6;
        const bool known = trusted(found) && found.converged;
        // The motion maps `from` to `to`; both are parts of the same image.
        found = from_window(found, from);
        found.motion.tx += static_cast<double>(to.x);
        found.motion.ty += static_cast<double>(to.y);
        const auto in_from = [&] {
            const RigidMotion there = in_window(found.motion, from);
            return rms_distance(
                there, {0, static_cast<double>(from.x), static_cast<double>(from.y)}, shape_);
        };
        const bool finite =
            std::all_of(found.uncertainty.covariance.begin(), found.uncertainty.covariance.end(),
                        [](double entry) { return std::isfinite(entry); });
        if (!known || !finite || found.uncertainty.alpha == 0 || in_from() > farthest)
            return {{}, unknown_covariance}; // the stations keep their positions
        return {found.motion, found.uncertainty.covariance};
    }

    const SeriesContext& context_;
    const Registered& registered_;
    std::uint32_t stage_;
    const Stations& stations_;
    ImageShape shape_;
    Team team_;
    RigidRegistration registration_;
    Pyramid from_, to_;
    std::vector<PixelArea> windows_;
    std::vector<StationPair> pairs_;
    /// By station; only the averages that this rank needs.
    std::vector<std::vector<float>> averages_;
};

} // namespace

std::vector<UncertainMotion> register_stations(const SeriesContext& context,
                                               const Registered& registered, std::int64_t reference,
                                               std::uint32_t stage) {
    const auto after = std::ranges::lower_bound(registered.frames, reference);
    const auto from = static_cast<std::size_t>(
        std::min(after - registered.frames.begin(), std::ssize(registered.frames) - 1));
    const Stations stations = choose_stations(registered.motions, registered.contributes, from,
                                              context.source.header().shape);
    std::optional<StationRegistration> registration;
    agree(context.communicator,
          [&] { registration.emplace(context, registered, stage, stations); });
    const std::vector<UncertainMotion> corrections = registration->run();
    std::vector<UncertainMotion> all;
    for (const std::size_t station : stations.nearest)
        all.push_back(corrections[station]);
    return all;
}

} // namespace sextant::registration
