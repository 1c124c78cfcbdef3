// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"

#include <bit>
#include <string>

namespace sextant::scan {

/// The values combined in a rank's result.
enum class Form {
    inclusive, ///< all values up to and including the rank's own
    exclusive, ///< all values before the rank's own; rank 0 has no result
    both
};

std::string_view name(Form form);

/// A scan: combine each rank's value with those of the ranks before it, in rank order.
struct Task {
    int ranks = 1;
    Elements elements = 1; ///< values per rank, each scanned across ranks separately
    Form form = Form::inclusive;
};

/// Parameters of an algorithm.
struct Tuning {
    int k = 0; ///< extra rounds of Ladner-Fischer, to save applications

    bool operator==(const Tuning&) const = default;
};

/// A rank's results: the combination of the values before its own (`before`), and that of the
/// values up to its own (`through`). Either is empty if it does not exist or was not requested.
struct Prefixes {
    Region before, through;
};

/// Throws InvalidTask unless there is at least one rank, a non-negative number of elements, and a
/// single form (not `both`, because a program has one result).
void check(const Task& task);

/// ⌈log2 n⌉ for n >= 1.
constexpr int ceil_log2(int n) {
    return std::bit_width(static_cast<unsigned>(n) - 1);
}

/// One rank's line in a prefix circuit: the values that it sends to other lines and receives from
/// them. Each value that a line computes has its own slot. Therefore no value is overwritten while
/// it is being sent, and no application waits for a send.
///
/// Circuits need not check bounds: sends to and receives from ranks that do not exist (below 0, or
/// from `ranks` on) do nothing.
class Line {
  public:
    /// Writes into `builder`; rounds are counted from `first_round`.
    Line(ProgramBuilder& builder, int ranks, int rank, int first_round = 0)
        : builder_(builder), ranks_(ranks), rank_(rank), first_round_(first_round) {}

    int ranks() const { return ranks_; }
    int rank() const { return rank_; }
    bool exists(int rank) const { return rank >= 0 && rank < ranks_; }

    /// Labels the following steps with a round.
    void round(int round) { builder_.round(first_round_ + round); }

    void give(int to, const Region& value);
    /// Receives the value of a rank into a new slot of the size of `like`; empty if the rank does
    /// not exist.
    Region receive(int from, const Region& like);
    /// Returns before ⊕ after.
    Region combine(const Region& before, const Region& after);
    /// Returns (the value of the sending rank) ⊕ value, or `value` if the rank does not exist.
    Region take(int from, const Region& value);

  private:
    ProgramBuilder& builder_;
    const int ranks_, rank_, first_round_;
};

/// Serial scan: each rank combines the value from its left neighbour with its own and passes the
/// result on. This takes the fewest applications, but all of them are dependent.
///
/// Input     this rank's value; the form needed on the last rank.
/// Output    the value from the left, and its combination with this rank's value (omitted on the
///           last rank if no result needs it).
/// Cost      p − 1 dependent applications, p − 1 in all.
/// Source    the definition
Prefixes serial(Line& line, const Region& value, Form at_last);

/// Kogge-Stone inclusive scan: in round i each rank sends its value to rank + 2^i and prepends the
/// value from rank − 2^i to its own. Also known as the Hillis-Steele or dissemination scan.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      ⌈log2 p⌉ dependent applications, the fewest; p ⌈log2 p⌉ − 2^⌈log2 p⌉ + 1 in all.
/// Source    Kogge and Stone, IEEE Trans. Comp. C-22(8), 1973, doi:10.1109/TC.1973.5009159
Region kogge_stone(Line& line, Region value);

/// Sklansky inclusive scan: ranks form scanned blocks of 1, 2, 4, … ranks. In each round the last
/// rank of every even block sends its value to all ranks of the next block.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      ⌈log2 p⌉ dependent applications, the fewest; in all, the number of one bits in the
///           numbers 0 … p − 1. A rank sends its value to up to p / 2 others at once.
/// Source    Sklansky, IRE Trans. Electronic Computers EC-9(2), 1960, doi:10.1109/TEC.1960.5219822
Region sklansky(Line& line, Region value);

/// Brent-Kung inclusive scan on a binary tree: on the way up, the last rank of each block of 2, 4,
/// 8, … ranks combines the values of the block; on the way down, it passes its result to the middle
/// rank of the next block.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      with n = rank + 1, up to ⌊log2 n⌋ + popcount n − 1 dependent applications, so 2 log2 p
///           − 2 at powers of two from 4 on; 2p − 1 − ⌊log2 p⌋ − popcount p in all.
/// Source    Brent and Kung, IEEE Trans. Comp. C-31(3), 1982, doi:10.1109/TC.1982.1675982
Region brent_kung(Line& line, Region value);

/// Han-Carlson inclusive scan: Kogge-Stone among the odd ranks, each of which first combines its
/// left neighbour's value with its own and finally passes its result to its right neighbour.
/// Compared with Kogge-Stone, it takes half the applications but one more round.
///
/// Input     this rank's value.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Cost      for p >= 3, max(1 + ⌈log2 ⌊p/2⌋⌉, 2 + ⌈log2 ⌊(p−1)/2⌋⌉) dependent applications; p − 1
///           and those of Kogge-Stone on ⌊p/2⌋ ranks in all.
/// Source    Han and Carlson, IEEE Symp. Computer Arithmetic, 1987, doi:10.1109/ARITH.1987.6158699
Region han_carlson(Line& line, Region value);

/// Ladner-Fischer inclusive scan LF_k. LF_0 scans the first half by LF_1 and the rest by LF_0, and
/// sends the last value of the first half to all of the rest. LF_k with k > 0 combines neighbours
/// in pairs, scans the pairs by LF_{k−1} and passes each result to the next pair's first member; an
/// odd rank left over is scanned with the pairs.
///
/// Input     this rank's value; k.
/// Output    the combination, in rank order, of the values of ranks 0 … rank.
/// Requires  k >= 0; otherwise throws InvalidTask.
/// Cost      at most ⌈log2 p⌉ + k dependent applications. In all, at p = 2^m and k <= m, 2 (1 +
///           2^−k) 2^m − Fibonacci(5 + m − k) − k + 1; with k = 0 at most 4p at any p.
/// Source    Ladner and Fischer, J. ACM 27(4), 1980, doi:10.1145/322217.322232
Region ladner_fischer(Line& line, const Region& value, int k);

/// Blelloch exclusive scan on a binary tree: on the way up, each node combines its children's
/// values. On the way down, each node passes its own prefix to its left child; it combines that
/// prefix with the left child's value and passes the result to its right child. The circuit never
/// combines the identity or a value that no result needs.
///
/// Input     this rank's value; `total`: true if the last rank also needs the total.
/// Output    the combination, in rank order, of the values of ranks 0 … rank − 1; at the last rank
///           also the total, if requested.
/// Cost      the same as Brent-Kung on p − 1 ranks: 2 (p − 1) − ⌈log2 p⌉ − popcount(p − 1)
///           applications. The total takes popcount(p − 1) more and is complete after ⌈log2 p⌉
///           dependent ones; computing the total by one application at the end would lengthen the
///           longest chain.
/// Source    Blelloch, IEEE Trans. Comp. 38(11), 1989, doi:10.1109/12.42122
Prefixes blelloch(Line& line, const Region& value, bool total);

} // namespace sextant::scan
