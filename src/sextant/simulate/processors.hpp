// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/simulate/play.hpp"

#include <functional>
#include <vector>

namespace sextant::simulate {

/// Work of a rank that ends at a time, if nothing interrupts it.
struct Stint {
    int rank = 0;
    Work work = Work::message;
    int piece = 0; ///< of its work on a step
};

/// What occupies ranks that have a processor each: messages interrupt a step, which then goes on
/// where it was.
class Processors {
  public:
    /// What processors need of the world they are in.
    struct World {
        std::function<Seconds()> now;
        /// At that time `end` is to be called.
        std::function<void(Seconds, const Stint&)> foresee;
        /// What a rank worked on has ended.
        std::function<void(int rank, Work)> worked;
    };

    Processors(std::size_t ranks, World world) : world_(std::move(world)), processors_(ranks) {}

    /// A rank works for so long, a message at a time and a step at a time.
    void begin(int rank, Work work, Seconds seconds);
    /// The time of a stint has come; nothing if it was interrupted.
    void end(const Stint& stint);

  private:
    struct Processor {
        bool handles_message = false;
        bool has_step = false, works = false; ///< on it; not while interrupted
        Seconds step_left = 0, resumed = 0;
        int piece = 0; ///< counts interruptions, after which an end that was foreseen does not come
    };

    Processor& processor(int rank) { return processors_[static_cast<std::size_t>(rank)]; }
    void interrupt(Processor& mine);
    void resume(int rank);

    const World world_;
    std::vector<Processor> processors_;
};

} // namespace sextant::simulate
