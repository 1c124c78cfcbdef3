// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/validation.hpp"

#include "sextant/calibrate/campaign.hpp"
#include "sextant/calibrate/estimate.hpp"
#include "sextant/calibrate/rig.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/machine/interpolate.hpp"
#include "sextant/model/work_costs.hpp"
#include "sextant/planner/planner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <optional>
#include <random>

#include <fmt/format.h>

namespace sextant::calibrate {

namespace {

using machine::Layout;
using machine::Path;
using machine::Strategy;

/// Draws a size whose logarithm is uniform, so that each order of magnitude is equally likely.
std::int64_t draw(std::mt19937& random, double least, double most) {
    std::uniform_real_distribution<double> logarithm(std::log(least), std::log(most));
    return std::llround(std::exp(logarithm(random)));
}

Cell draw_tile(std::mt19937& random) {
    constexpr Bytes pixel = 16, most_bytes = Bytes{4} << 20;
    constexpr Bytes widths[] = {640, 800, 1024, 1600, 1920, 2048};
    constexpr Layout layouts[] = {Layout::cn, Layout::nc, Layout::nn};
    const Bytes width = widths[random() % std::size(widths)];
    const Bytes columns = draw(random, 1, static_cast<double>(width) / 2);
    const auto most_high = std::min<Bytes>(1024, most_bytes / (columns * pixel));
    const Bytes height = draw(random, 2, static_cast<double>(most_high));
    Cell cell = strided(Kind::round_trip, layouts[random() % std::size(layouts)],
                        Strategy::datatype, columns * height * pixel, columns * pixel);
    cell.row = width * pixel;
    return cell;
}

} // namespace

Seconds full_path(const Cell& cell, const machine::Profile& profile, machine::Link link) {
    const machine::LinkCosts* costs = profile.find(link);
    const machine::Curve* curve =
        costs ? machine::find(*costs, Path::full, cell.layout, cell.strategy) : nullptr;
    if (!curve) {
        throw InvalidTask(fmt::format("the profile of {} has no costs of whole messages with "
                                      "layout {}, strategy {} and link {}; calibrate with a "
                                      "longer --budget",
                                      profile.name, name(cell.layout), name(cell.strategy),
                                      name(link)));
    }
    return cell.layout == Layout::cc
               ? machine::at_size(curve->points, cell.bytes).median
               : machine::at_size_and_block(curve->points, cell.bytes, cell.block).median;
}

double HeldOut::error() const {
    return std::abs(predicted - measured) / measured;
}

std::vector<Cell> draw_held_out(unsigned seed, int contiguous, int strided) {
    std::mt19937 random(seed);
    std::vector<Cell> cells;
    for (int i = 0; i < contiguous; ++i)
        cells.push_back(message(Kind::round_trip, draw(random, 1, Bytes{8} << 20)));
    for (int i = 0; i < strided; ++i)
        cells.push_back(draw_tile(random));
    return cells;
}

std::vector<HeldOut> hold_out(Stopwatch& stopwatch, const std::vector<Cell>& cells,
                              const machine::Profile& profile, machine::Link link, int rounds) {
    std::vector<HeldOut> held;
    for (const Cell& cell : cells)
        held.push_back({cell, full_path(cell, profile, link), 0});
    std::vector<Series> series(cells.size());
    Series empty;
    std::vector<std::size_t> order(cells.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::mt19937 random(1);
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) {
            for (const Sample& sample : stopwatch.burst(cells[i]))
                series[i].add(sample);
        }
        for (const Sample& sample : stopwatch.burst(empty_trip()))
            empty.add(sample);
    }
    const Seconds answer = empty.value(0).median / 2;
    for (std::size_t i = 0; i < held.size(); ++i)
        held[i].measured = std::max(1e-12, series[i].value(0).median - answer);
    return held;
}

namespace {

machine::Link within_node(bool reads_all) {
    return reads_all ? machine::Link::same_process : machine::Link::same_node;
}

/// Runs of Direct-Send for images of one size.
class Frames {
  public:
    Frames(const Communicator& communicator, Elements pixels)
        : communicator_(communicator),
          task_(compositing::one_image_each(communicator.size(), pixels)),
          image_(communicator.memory(pixels * over_.element.size)) {
        constexpr std::byte translucent{0x3e}; // about .19
        std::ranges::fill(image_.bytes(), translucent);
        // Ranks use other memory between two frames, so the buffers of a run are not in their
        // caches.
        constexpr int many = 3;
        for (int i = 0; i < many; ++i) {
            runs_.emplace_back(communicator,
                               compositing::program(*direct_.algorithm, task_, direct_.tuning,
                                                    communicator.rank()),
                               over_);
            runs_.back().bind(0, std::as_const(image_).bytes());
        }
    }

    /// All ranks get the same times, so all end after the same run.
    std::vector<Seconds> measure(Seconds duration) {
        const std::size_t least_runs = duration < 5e-3 ? 4 : 12;
        std::vector<Seconds> times;
        for (Seconds spent = 0; spent < duration || times.size() < least_runs;
             spent += times.back()) {
            write_anew(image_.bytes());
            communicator_.barrier();
            const auto begin = std::chrono::steady_clock::now();
            runs_[times.size() % runs_.size()].run();
            const std::chrono::duration<double> own = std::chrono::steady_clock::now() - begin;
            const std::vector<Seconds> all = communicator_.all_gather(own.count());
            times.push_back(*std::max_element(all.begin(), all.end()));
        }
        // The scheduler needs some time to settle how ranks take turns.
        times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4));
        return times;
    }

    std::optional<Seconds> predict(planner::Planner& planner, const std::vector<int>& nodes,
                                   bool reads_all) const {
        return planner.seconds(task_, direct_,
                               {.operator_name = "over",
                                .element_name = "f32",
                                .element_size = over_.element.size,
                                .nodes = nodes,
                                .within_node = within_node(reads_all)});
    }

    Bytes bytes() const { return image_.size(); }

  private:
    const Communicator& communicator_;
    const Operator& over_ = kernel::find("over");
    const compositing::Configuration direct_{&compositing::find("direct-send"), {}};
    const compositing::Task task_;
    Memory image_;
    std::vector<Execution> runs_;
};

} // namespace

std::vector<TimedFrame> time_frames(const Communicator& communicator,
                                    const machine::Profile& profile, bool reads_all,
                                    std::span<const Elements> sizes, Seconds duration) {
    const std::vector<int> nodes = nodes_of(communicator);
    planner::Planner planner(profile);
    std::vector<TimedFrame> frames;
    for (const Elements pixels : sizes) {
        Frames runs(communicator, pixels);
        const std::vector<Seconds> times = runs.measure(duration);
        frames.push_back({runs.bytes(), runs.predict(planner, nodes, reads_all).value_or(0),
                          median(times), static_cast<std::int64_t>(times.size())});
    }
    return frames;
}

bool is_crowded(const machine::Profile& profile, std::span<const int> nodes, bool reads_all) {
    return model::crowd_of(profile, nodes, static_cast<int>(nodes.size()), within_node(reads_all))
        .takes_turns();
}

namespace {

void compare(std::vector<std::string>& all, const char* what, const std::string& then,
             const std::string& now) {
    if (!then.empty() && then != now)
        all.push_back(fmt::format("{}: {} in the profile, {} on this machine", what, then,
                                  now.empty() ? "none" : now));
}

/// The number of days from 1970 to a date such as "2026-01-02..."; empty for other formats.
std::optional<double> days(const std::string& date) {
    std::tm parts{};
    if (std::sscanf(date.c_str(), "%4d-%2d-%2d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday) !=
        3)
        return std::nullopt;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return static_cast<double>(timegm(&parts)) / 86400;
}

} // namespace

std::vector<std::string> differences(const machine::Profile& profile,
                                     const machine::Profile& here) {
    constexpr double old = 90;
    std::vector<std::string> all;
    compare(all, "host", profile.host, here.host);
    compare(all, "topology", profile.topology, here.topology);
    if (profile.cores > 0)
        compare(all, "cores", std::to_string(profile.cores), std::to_string(here.cores));
    compare(all, "transport", profile.transport, here.transport);
    compare(all, "MPI", profile.mpi, here.mpi);
    compare(all, "version of MPI", profile.mpi_version, here.mpi_version);
    const auto then = days(profile.origin.date), now = days(here.origin.date);
    if (then && now && *now - *then > old)
        all.push_back(fmt::format("age: the profile is {:.0f} days old, expected at most {:.0f}",
                                  *now - *then, old));
    return all;
}

std::string difference_of_state(const machine::Profile& profile, Seconds round_trip) {
    const Seconds then = profile.state_probe.median;
    if (then <= 0)
        return "state: the profile has no probe to compare with";
    if (is_state(then, round_trip))
        return "";
    return fmt::format("state: a round trip of 64 KiB took {:.2f} us, now it takes {:.2f} us",
                       then * 1e6, round_trip * 1e6);
}

bool is_state(Seconds of_state, Seconds round_trip) {
    return of_state <= 0 ||
           std::max(of_state, round_trip) <= one_state * std::min(of_state, round_trip);
}

Seconds probe_state(const Communicator& communicator, const Cell& cell) {
    constexpr Bytes memory = 4 << 20;
    constexpr int bursts = 5;
    const bool takes_part = communicator.rank() < 2;
    const Communicator pair = communicator.split(takes_part ? 0 : -1, 0);
    // Other programs can only lengthen a burst.
    Seconds fastest = takes_part ? std::numeric_limits<Seconds>::infinity() : 0;
    if (takes_part) {
        Rig rig(pair, memory);
        for (int i = 0; i < bursts; ++i) {
            Series series;
            for (const Sample& sample : rig.burst(cell))
                series.add(sample);
            fastest = std::min(fastest, series.value(0).median);
        }
    }
    communicator.barrier();
    return fastest;
}

Seconds probe_threads() {
    Seconds probed = 0;
    run_threads(2, [&](const Communicator& communicator) {
        const Seconds own = probe_state(communicator);
        if (communicator.rank() == 0)
            probed = own;
    });
    return probed;
}

} // namespace sextant::calibrate
