// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/simulation.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/model/event_queue.hpp"
#include "sextant/model/link_contention.hpp"
#include "sextant/simulate/platform.hpp"
#include "sextant/simulate/simulated_ranks.hpp"
#include "sextant/simulate/simulator_process.hpp"
#include "sextant/simulate/wormholes.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::simulate {

bool available() {
    return !simulator_path().empty();
}

std::string unavailable() {
    std::vector<std::string> folders;
    for (const std::filesystem::path& folder : machine::installation().programs)
        folders.push_back(folder);
    return fmt::format("{} is not in {}; it is built if libsimgrid-dev is installed",
                       simulator_name, fmt::join(folders, " or "));
}

Simulation simulate(const Question& question) {
    const std::string program = simulator_path();
    if (program.empty())
        throw Error(unavailable());
    if (std::error_code error; !std::filesystem::is_regular_file(question.platform, error))
        throw InvalidFile(question.platform, "is not a file");
    return ask(program, question);
}

namespace {

constexpr Elements work_of_event = 64; // for check_cancelled()

/// The longest time that a message may wait for rates to be recomputed, as a fraction of its
/// duration.
constexpr double together = .005;

/// Runs a SimulatedRun on Sextant's own simulated clock.
class Clock {
  public:
    Clock(const Question& question, const Platform& platform)
        : platform_(platform),
          wires_(wires_of(platform)),
          sharing_(wires_, together),
          core_of_(cores_of(question, platform)),
          processors_(static_cast<std::size_t>(question.schedule.ranks()),
                      {[this] { return now_; },
                       [this](Seconds time, const TimedWork& timed) {
                           foresee(time,
                                   timed.work == Work::message ? message_handled : step_worked,
                                   static_cast<std::uint32_t>(timed.rank));
                       },
                       [this](int rank, Work work) { play_.worked(rank, work); }}),
          play_(question, {[this] { return now_; },
                           [this](StepOfRank send, int to, Bytes) { this->send(send, to); },
                           [this](int rank, Work work, Seconds seconds) {
                               processors_.begin(rank, work, seconds);
                           }}) {
        for (int rank = 0; rank < question.schedule.ranks(); ++rank) {
            first_steps_.push_back(first_steps_.back() +
                                   static_cast<std::uint32_t>(play_.messages_of(rank).size()));
        }
        if (platform.wormhole_packet > 0)
            wormholes_.emplace(wires_, platform.wormhole_packet);
    }

    Simulation run() {
        play_.begin();
        while (happen_next())
            check_cancelled(work_of_event);
        return play_.finish();
    }

  private:
    enum Kind : std::uint32_t { setting_out, arriving, message_handled, step_worked };

    static std::vector<int> cores_of(const Question& question, const Platform& platform) {
        return place_on_cores(platform.network, question.order, question.schedule.ranks(),
                              question.platform);
    }

    int core(int rank) const { return core_of_[static_cast<std::size_t>(rank)]; }

    /// Steps are numbered from the first one of rank 0 on.
    std::uint32_t number_of(StepOfRank at) const {
        return first_steps_[static_cast<std::size_t>(at.rank)] +
               static_cast<std::uint32_t>(at.step);
    }
    StepOfRank step_of(std::uint32_t number) const {
        // Most ranks have about the same number of steps.
        std::size_t rank = std::size_t{number} * (first_steps_.size() - 1) / first_steps_.back();
        if (number < first_steps_[rank] || number >= first_steps_[rank + 1]) {
            const auto next = std::ranges::upper_bound(first_steps_, number);
            rank = static_cast<std::size_t>(next - first_steps_.begin()) - 1;
        }
        return {static_cast<int>(rank), static_cast<int>(number - first_steps_[rank])};
    }

    /// `what`: the number of the step that sends, or the rank that works. Schedules with more than
    /// 2^30 steps do not fit in memory.
    void foresee(Seconds time, Kind kind, std::uint32_t what) {
        foreseen_.push(time, what << 2 | kind);
    }

    bool happen_next() {
        const Seconds next = foreseen_.next(),
                      next_in_network = wormholes_ ? wormholes_->next() : sharing_.next();
        if (next_in_network < next) {
            for (const model::Arrival& each : wormholes_ ? wormholes_->pass() : sharing_.pass())
                foresee(std::max(now_, each.time), arriving,
                        travelling_[static_cast<std::size_t>(each.message)]);
            return true;
        }
        if (foreseen_.empty())
            return false;
        now_ = next;
        const std::uint32_t event = foreseen_.pop();
        happen(static_cast<Kind>(event & 3), event >> 2);
        return true;
    }

    void happen(Kind kind, std::uint32_t what) {
        switch (kind) {
        case setting_out:
            return set_out(step_of(what));
        case arriving:
            return play_.arrived(step_of(what));
        case message_handled:
            return processors_.end({static_cast<int>(what), Work::message});
        case step_worked:
            return processors_.end({static_cast<int>(what), Work::step});
        }
    }

    /// A message spends the latency of its links before it needs their capacity.
    void send(StepOfRank at, int to) {
        path_.clear();
        platform_.network.route(core(at.rank), core(to), path_);
        Seconds latency = 0;
        for (const int link : path_)
            latency += platform_.network.links[static_cast<std::size_t>(link)].latency;
        foresee(now_ + latency, path_.empty() ? arriving : setting_out, number_of(at));
    }

    void set_out(StepOfRank send) {
        const SimulatedRun::Message& sent = play_.message_of(send);
        const model::MessageInFlight message{core(send.rank), core(sent.mate().rank),
                                             static_cast<double>(sent.bytes)};
        if (wormholes_)
            wormholes_->start(message, now_);
        else
            sharing_.start(message, now_);
        travelling_.push_back(number_of(send));
    }

    const Platform& platform_;
    const machine::Wires wires_;
    model::Sharing sharing_; ///< used if there are no wormholes
    std::optional<Wormholes> wormholes_;
    const std::vector<int> core_of_;
    Processors processors_;
    model::EventQueue foreseen_;
    std::vector<std::uint32_t> first_steps_ = {0}; ///< by rank: the number of its first step
    std::vector<std::uint32_t>
        travelling_; ///< by message number of `sharing_`: the step that sends
    std::vector<int> path_;
    Seconds now_ = 0;
    SimulatedRun play_;
};

} // namespace

Simulation simulate_on_clock(const Question& question, const Platform& platform) {
    return Clock(question, platform).run();
}

Simulation simulate_on_clock(const Question& question) {
    return simulate_on_clock(question, read_platform(question.platform));
}

} // namespace sextant::simulate
