// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"

#include <bit>
#include <string>

namespace sextant::scan {

/// Which values a rank ends up with.
enum class Form {
    inclusive, ///< the combination of the values up to its own
    exclusive, ///< of those before its own; rank 0, which has none, ends up with nothing
    both
};

std::string_view name(Form form);

/// What is asked: combine each rank's value with those of the ranks before it, in rank order.
struct Task {
    int ranks = 1;
    Elements elements = 1; ///< values a rank has, each scanned across the ranks on its own
    Form form = Form::inclusive;
};

/// The freedom an algorithm leaves.
struct Tuning {
    int k = 0; ///< Ladner-Fischer: rounds more than the fewest, to save applications

    bool operator==(const Tuning&) const = default;
};

/// What a rank knows after a scan: the combination of the values before its own, and of those up to
/// its own. Empty where there is none, or it was not asked for.
struct Prefixes {
    Region before, through;
};

/// Throws InvalidTask unless there are ranks, no negative number of elements, and one form: a
/// program has one result.
void check(const Task& task);

/// ⌈log2 n⌉ for n >= 1: the rounds in which n lines can meet, two at a time.
constexpr int ceil_log2(int n) {
    return std::bit_width(static_cast<unsigned>(n) - 1);
}

/// One rank's line in a prefix circuit: what it gives to other lines, and takes from them. Every
/// value that a line makes lies in a slot of its own, so none is overwritten while it is still
/// being sent, and no application waits for a send.
///
/// Other ranks may be named that do not exist, below 0 or from `ranks` on: nothing is given to
/// them and nothing taken, so that circuits need not look where they end.
class Line {
  public:
    /// Writes into `builder`; rounds are counted from `first_round`.
    Line(ProgramBuilder& builder, int ranks, int rank, int first_round = 0)
        : builder_(builder), ranks_(ranks), rank_(rank), first_round_(first_round) {}

    int ranks() const { return ranks_; }
    int rank() const { return rank_; }
    bool exists(int rank) const { return rank >= 0 && rank < ranks_; }

    /// A label for what follows.
    void round(int round) { builder_.round(first_round_ + round); }

    void give(int to, const Region& value);
    /// What a rank gives, as large as a value `like` it; nothing from a rank that does not exist.
    Region receive(int from, const Region& like);
    /// before ⊕ after.
    Region combine(const Region& before, const Region& after);
    /// What a rank gives ⊕ value; the value itself where the rank does not exist.
    Region take(int from, const Region& value);

  private:
    ProgramBuilder& builder_;
    const int ranks_, rank_, first_round_;
};

/// Serial scan: each rank combines what its left neighbour hands on with its own value, and hands
/// that on. The fewest applications, all one after another.
///
/// Input     this rank's value; the form that the last rank wants.
/// Output    what came from the left, and that combined with the value, unless this is the last
/// rank
///           and does not want it.
/// Cost      p − 1 dependent applications, p − 1 in all.
/// Source    the definition
Prefixes serial(Line& line, const Region& value, Form at_last);

/// Kogge-Stone inclusive scan: in round i each rank gives what it has to rank + 2^i and combines
/// what comes from rank − 2^i before it. Hillis and Steele's, and the dissemination scan.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      ⌈log2 p⌉ dependent applications, the fewest; p ⌈log2 p⌉ − 2^⌈log2 p⌉ + 1 in all.
/// Source    Kogge and Stone, IEEE Trans. Comp. C-22(8), 1973, doi:10.1109/TC.1973.5009159
Region kogge_stone(Line& line, Region value);

/// Sklansky inclusive scan: ranks lie in blocks of 1, 2, 4, … that have been scanned; in each round
/// the last rank of every even block gives what it has to all of the block after it.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      ⌈log2 p⌉ dependent applications, the fewest; in all one for each bit that is set in
///           the numbers 0 … p − 1. A rank gives its value to up to p / 2 others at once.
/// Source    Sklansky, IRE Trans. Electronic Computers EC-9(2), 1960, doi:10.1109/TEC.1960.5219822
Region sklansky(Line& line, Region value);

/// Brent-Kung inclusive scan: up a binary tree, whose inner nodes then hold the combinations of
/// their leaves, and down again, where each right child hands what it knows to the leaves between.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      with n = rank + 1, up to ⌊log2 n⌋ + popcount n − 1 dependent applications, so
///           2 log2 p − 2 at powers of two from 4 on; 2p − 1 − ⌊log2 p⌋ − popcount p in all.
/// Source    Brent and Kung, IEEE Trans. Comp. C-31(3), 1982, doi:10.1109/TC.1982.1675982
Region brent_kung(Line& line, Region value);

/// Han-Carlson inclusive scan: Kogge-Stone among the odd ranks, each of which first combines its
/// left neighbour's value with its own and at last hands what it knows to its right neighbour. Half
/// the applications for one more round.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      for p >= 3, max(1 + ⌈log2 ⌊p/2⌋⌉, 2 + ⌈log2 ⌊(p−1)/2⌋⌉) dependent applications;
///           p − 1 and those of Kogge-Stone on ⌊p/2⌋ ranks in all.
/// Source    Han and Carlson, IEEE Symp. Computer Arithmetic, 1987, doi:10.1109/ARITH.1987.6158699
Region han_carlson(Line& line, Region value);

/// Ladner-Fischer inclusive scan LF_k. LF_0 scans the first half by LF_1, the rest by LF_0, and
/// gives the last value of the first half to all of the rest. LF_k with k > 0 combines neighbours
/// in pairs, scans the pairs by LF_{k−1} and hands each result on to the next pair's first; an odd
/// rank left over is scanned with the pairs.
///
/// Input     this rank's value; k.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Requires  k >= 0; otherwise throws InvalidTask.
/// Cost      at most ⌈log2 p⌉ + k dependent applications. In all, at p = 2^m and k <= m,
///           2 (1 + 2^−k) 2^m − Fibonacci(5 + m − k) − k + 1; with k = 0 at most 4p at any p.
/// Source    Ladner and Fischer, J. ACM 27(4), 1980, doi:10.1145/322217.322232
Region ladner_fischer(Line& line, const Region& value, int k);

/// Blelloch exclusive scan: up a binary tree, where each node combines what its children hold, and
/// down again, where each hands its left child what lies before both, and its right child that
/// combined with the left one. Neither the identity, which lies before everything, nor what nobody
/// wants is ever combined.
///
/// Input     this rank's value; whether the last rank is to know the total.
/// Output    the combination, in rank order, of the values of ranks 0 … rank − 1; at the last rank
///           also the total, if asked for.
/// Cost      as Brent-Kung on p − 1 ranks, so 2 (p − 1) − ⌈log2 p⌉ − popcount(p − 1) applications.
///           The total is popcount(p − 1) more, and lies behind ⌈log2 p⌉ dependent ones: one alone
///           at the very end would make the longest chain longer.
/// Source    Blelloch, IEEE Trans. Comp. 38(11), 1989, doi:10.1109/12.42122
Prefixes blelloch(Line& line, const Region& value, bool total);

} // namespace sextant::scan
