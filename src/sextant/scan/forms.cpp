// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/forms.hpp"

namespace sextant::scan {

namespace {

/// From an inclusive algorithm what lies before a rank, where it wants that.
Prefixes shifted_right(ProgramBuilder& builder, const Stage& stage, int rank, const Region& value,
                       const Wanted& wanted) {
    const int last = stage.ranks - 1;
    const int members = matters(stage, last, wanted) ? stage.ranks : last;
    Prefixes own;
    if (rank < members) {
        Line circuit(builder, members, rank, stage.first_round);
        own = stage.algorithm.prefixes(circuit, value, stage.tuning, wanted(last));
    }
    Line line(builder, stage.ranks, rank, stage.first_round);
    line.round(stage.rounds() - 1);
    if (line.exists(rank + 1) && wanted(rank + 1) != Form::inclusive)
        line.give(rank + 1, own.through);
    if (wanted(rank) != Form::inclusive)
        own.before = line.receive(rank - 1, value);
    return own;
}

/// From an exclusive algorithm what reaches up to a rank, where it wants that. Rank 0 knows it.
Prefixes shifted_left(ProgramBuilder& builder, const Stage& stage, int rank, const Region& value,
                      const Wanted& wanted) {
    Line line(builder, stage.ranks, rank, stage.first_round);
    Prefixes own = stage.algorithm.prefixes(line, value, stage.tuning, wanted(stage.ranks - 1));
    line.round(stage.rounds() - 1);
    if (rank > 1 && wanted(rank - 1) != Form::exclusive)
        line.give(rank - 1, own.before);
    if (wanted(rank) == Form::exclusive)
        return own;
    if (rank == 0)
        own.through = value;
    else if (line.exists(rank + 1))
        own.through = line.receive(rank + 1, value);
    return own;
}

} // namespace

bool matters(const Stage& stage, int rank, const Wanted& wanted) {
    if (rank < stage.ranks - 1 || wanted(rank) == Form::inclusive)
        return true;
    return wanted(rank) == Form::both && stage.algorithm.native != Form::exclusive;
}

Prefixes scan_in_form(ProgramBuilder& builder, const Stage& stage, int rank, const Region& value,
                      const Wanted& wanted) {
    if (stage.algorithm.native == Form::inclusive)
        return shifted_right(builder, stage, rank, value, wanted);
    if (stage.algorithm.native == Form::exclusive)
        return shifted_left(builder, stage, rank, value, wanted);
    Line line(builder, stage.ranks, rank, stage.first_round);
    return stage.algorithm.prefixes(line, value, stage.tuning, wanted(stage.ranks - 1));
}

} // namespace sextant::scan
