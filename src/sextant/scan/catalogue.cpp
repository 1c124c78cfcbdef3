// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/catalogue.hpp"

#include "sextant/core/text.hpp"
#include "sextant/scan/circuits.hpp"

#include <fmt/format.h>

namespace sextant::scan {

namespace {

std::vector<Tuning> nothing_to_tune() {
    return {Tuning{}};
}

int fewest_rounds(int ranks, const Tuning&) {
    return ceil_log2(ranks);
}

int up_and_down(int ranks, const Tuning&) {
    return 2 * ceil_log2(ranks);
}

/// Adapts a circuit that returns the inclusive result to the catalogue's interface.
template <Region (*circuit)(Line&, Region)>
Prefixes through(Line& line, const Region& value, const Tuning&, Form) {
    return {{}, circuit(line, value)};
}

constexpr Algorithm algorithms[] = {
    {"kogge-stone", "each rank combines with the ranks 1, 2, 4, ... positions before it",
     "Kogge and Stone 1973, doi:10.1109/TC.1973.5009159", Form::inclusive, nothing_to_tune,
     fewest_rounds, through<kogge_stone>},
    {"sklansky",
     "the last rank of each block sends to all ranks of the next block; block sizes double",
     "Sklansky 1960, doi:10.1109/TEC.1960.5219822", Form::inclusive, nothing_to_tune, fewest_rounds,
     through<sklansky>},
    {"brent-kung", "up-sweep and down-sweep of a binary tree",
     "Brent and Kung 1982, doi:10.1109/TC.1982.1675982", Form::inclusive, nothing_to_tune,
     up_and_down, through<brent_kung>},
    {"han-carlson", "Kogge-Stone among the odd ranks, with an exchange in pairs before and after",
     "Han and Carlson 1987, doi:10.1109/ARITH.1987.6158699", Form::inclusive, nothing_to_tune,
     [](int ranks, const Tuning&) { return ceil_log2(ranks) + 1; }, through<han_carlson>},
    {"ladner-fischer", "recursion by halves and pairs, at most k rounds more than the minimum",
     "Ladner and Fischer 1980, doi:10.1145/322217.322232", Form::inclusive,
     [] {
         return std::vector<Tuning>{{0}, {1}, {2}};
     },
     [](int ranks, const Tuning& tuning) { return ceil_log2(ranks) + tuning.k; },
     [](Line& line, const Region& value, const Tuning& tuning, Form) {
         return Prefixes{{}, ladner_fischer(line, value, tuning.k)};
     }},
    {"blelloch", "up-sweep of sums and down-sweep of exclusive prefixes in a binary tree",
     "Blelloch 1989, doi:10.1109/12.42122", Form::exclusive, nothing_to_tune, up_and_down,
     [](Line& line, const Region& value, const Tuning&, Form at_last) {
         return blelloch(line, value, at_last == Form::inclusive);
     }},
    {"serial", "each rank sends its prefix to the next rank", "the definition", Form::both,
     nothing_to_tune, [](int ranks, const Tuning&) { return ranks - 1; },
     [](Line& line, const Region& value, const Tuning&, Form at_last) {
         return serial(line, value, at_last);
     }},
};

/// Checks a rank's result, which should be operands [0, last) of every element. Returns a
/// description of the error, or "".
std::string judge(const std::vector<Symbol>& result, Elements elements, int last) {
    const Elements expected = last > 0 ? elements : 0;
    if (static_cast<Elements>(result.size()) != expected)
        return fmt::format("holds {} values, expected {}", result.size(), expected);
    for (std::size_t e = 0; e < result.size(); ++e) {
        const Symbol& is = result[e];
        if (!is.same_value({static_cast<Elements>(e), 0, last})) {
            return fmt::format("value {} combines operands [{}, {}) of value {}, expected [0, {})",
                               e, is.first, is.last, is.element, last);
        }
    }
    return "";
}

} // namespace

std::span<const Algorithm> catalogue() {
    return algorithms;
}

const Algorithm& find(std::string_view wanted) {
    return find_by_name<Algorithm>("scan", wanted, algorithms);
}

std::array<Form, 2> forms_of(const Algorithm& algorithm) {
    if (algorithm.native == Form::exclusive)
        return {Form::exclusive, Form::inclusive};
    return {Form::inclusive, Form::exclusive};
}

std::string to_text(const Algorithm& algorithm, const Tuning& tuning) {
    const bool tuned = algorithm.tunings().size() > 1;
    return tuned ? fmt::format("{}, k = {}", algorithm.name, tuning.k)
                 : std::string(algorithm.name);
}

Program program(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank) {
    check(task);
    ProgramBuilder builder;
    const Region value = builder.input(task.elements);
    const Stage stage{algorithm, tuning, task.ranks};
    const Prefixes own = scan_in_form(builder, stage, rank, value, [&](int) { return task.form; });
    return builder.finish(task.form == Form::inclusive ? own.through : own.before);
}

Claim claim(const Task& task) {
    Claim claim;
    claim.given = [](int rank, int, Elements e) { return Symbol{e, rank, rank + 1, 0}; };
    claim.wanted = [task](int rank, const std::vector<Symbol>& result) {
        const int last = task.form == Form::inclusive ? rank + 1 : rank;
        return judge(result, task.elements, last);
    };
    return claim;
}

namespace {

/// Derives the exclusive form of an inclusive algorithm, for ranks that need it.
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

/// Derives the inclusive form of an exclusive algorithm, for ranks that need it. Rank 0 already has
/// its inclusive result.
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
