// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/processors.hpp"

namespace sextant::simulate {

void Processors::begin(int rank, Work work, Seconds seconds) {
    Processor& mine = processor(rank);
    if (work == Work::message) {
        interrupt(mine);
        mine.handles_message = true;
        return world_.foresee(world_.now() + seconds, {rank, work});
    }
    mine.has_step = true;
    mine.step_left = seconds;
    resume(rank);
}

void Processors::end(const Stint& stint) {
    Processor& mine = processor(stint.rank);
    if (stint.work == Work::message) {
        mine.handles_message = false;
        world_.worked(stint.rank, Work::message);
        return resume(stint.rank);
    }
    if (!mine.works || stint.piece != mine.piece)
        return;
    mine.works = mine.has_step = false;
    world_.worked(stint.rank, Work::step);
}

void Processors::interrupt(Processor& mine) {
    if (!mine.works)
        return;
    mine.works = false;
    mine.step_left -= world_.now() - mine.resumed;
    ++mine.piece;
}

void Processors::resume(int rank) {
    Processor& mine = processor(rank);
    if (!mine.has_step || mine.works || mine.handles_message)
        return;
    mine.works = true;
    mine.resumed = world_.now();
    world_.foresee(mine.resumed + mine.step_left, {rank, Work::step, mine.piece});
}

} // namespace sextant::simulate
