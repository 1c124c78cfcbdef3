// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"
#include "sextant/prefix/scan_forms.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/schedule/circuit.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <mutex>

#include "papers/experiments.hpp"
#include <fmt/format.h>

namespace sextant::papers {

namespace {

using scan::Form;

constexpr int ceil_log2(int n) {
    return scan::ceil_log2(n);
}

constexpr int floor_log2(int n) {
    return std::bit_width(static_cast<unsigned>(n)) - 1;
}

constexpr int ones(int n) {
    return std::popcount(static_cast<unsigned>(n));
}

Circuit counted(const std::string& name, int ranks, Form form, int k = 0) {
    const scan::Algorithm& row = scan::find(name);
    const scan::Task task{ranks, 1, form};
    return circuit(make_schedule(
        ranks, [&](int rank) { return scan::program(row, task, scan::Tuning{k}, rank); }));
}

/// The span and work of a circuit for any number of inputs. In the papers, n is a power of two.
struct CircuitFormula {
    const char* name;
    int (*span)(int n);
    int (*work)(int n);
};

int work_of_kogge_stone(int n) {
    return n * ceil_log2(n) - (1 << ceil_log2(n)) + 1;
}

int span_of_brent_kung(int n) {
    int longest = 0;
    for (int i = 1; i <= n; ++i)
        longest = std::max(longest, floor_log2(i) + ones(i) - 1);
    return longest;
}

int work_of_brent_kung(int n) {
    return n == 0 ? 0 : 2 * n - 1 - floor_log2(n) - ones(n);
}

/// Inclusive scans. An exclusive scan of n values is an inclusive scan of n − 1 values.
constexpr CircuitFormula formulas[] = {
    {"serial", [](int n) { return n - 1; }, [](int n) { return n - 1; }},
    {"kogge-stone", ceil_log2, work_of_kogge_stone},
    {"sklansky", ceil_log2,
     [](int n) {
         int work = 0;
         for (int rank = 0; rank < n; ++rank)
             work += ones(rank);
         return work;
     }},
    {"brent-kung", span_of_brent_kung, work_of_brent_kung},
    {"han-carlson",
     [](int n) {
         return n < 3 ? n - 1 : std::max(1 + ceil_log2(n / 2), 2 + ceil_log2((n - 1) / 2));
     },
     [](int n) { return n < 3 ? n - 1 : n - 1 + work_of_kogge_stone(n / 2); }},
    // Only the last rank needs the total, which takes popcount(n − 1) more applications.
    {"blelloch", [](int n) { return std::max(span_of_brent_kung(n - 1), ceil_log2(n)); },
     [](int n) { return work_of_brent_kung(n - 1) + ones(n - 1); }}};

Circuit formula(const CircuitFormula& row, int ranks, Form form) {
    const bool blelloch = std::string_view(row.name) == "blelloch";
    if (form == Form::inclusive)
        return {row.work(ranks), row.span(ranks)};
    if (blelloch)
        return {work_of_brent_kung(ranks - 1), span_of_brent_kung(ranks - 1)};
    return {row.work(ranks - 1), row.span(ranks - 1)};
}

void add_rows(Result& result, const std::string& label, const Circuit& theirs,
              const Circuit& ours) {
    result.rows.push_back({label + ", span", double(theirs.span), {double(ours.span)}});
    result.rows.push_back(
        {label + ", work", static_cast<double>(theirs.work), {static_cast<double>(ours.work)}});
}

/// True if every circuit has the span and work of its formula, in both forms, on 2 to `most` ranks.
bool formulas_hold(int most) {
    for (int ranks = 2; ranks <= most; ++ranks) {
        for (const CircuitFormula& row : formulas) {
            for (const Form form : {Form::inclusive, Form::exclusive}) {
                const Circuit theirs = formula(row, ranks, form),
                              ours = counted(row.name, ranks, form);
                if (theirs.span != ours.span || theirs.work != ours.work)
                    return false;
            }
        }
    }
    return true;
}

/// True if Ladner-Fischer circuits stay within the bounds for any number of inputs: ⌈log2 n⌉ + k
/// dependent applications and, for k = 0, fewer than 4 n in all.
bool ladner_fischer_is_bounded(int most) {
    for (int n = 2; n <= most; ++n) {
        for (const int k : {0, 1, 2}) {
            for (const Form form : {Form::inclusive, Form::exclusive}) {
                const Circuit found = counted("ladner-fischer", n, form, k);
                if (found.span > ceil_log2(n) + k || (k == 0 && found.work >= 4 * n))
                    return false;
            }
        }
    }
    return true;
}

int fibonacci(int n) {
    int a = 0, b = 1;
    for (; n > 0; --n)
        a = std::exchange(b, a + b);
    return a;
}

Result spans_and_work(Extent extent) {
    Result result{"applications of the operator: longest dependent chain (span) and total (work)",
                  {"counted"}};
    for (const int ranks : {16, 100, 256}) {
        for (const CircuitFormula& row : formulas) {
            for (const Form form : {Form::inclusive, Form::exclusive})
                add_rows(result, fmt::format("{}, {} ranks, {}", row.name, ranks, name(form)),
                         formula(row, ranks, form), counted(row.name, ranks, form));
        }
        for (const int k : {0, 1, 2}) {
            if (!std::has_single_bit(static_cast<unsigned>(ranks)))
                continue;
            const int m = floor_log2(ranks);
            const int work = 2 * (ranks + (ranks >> k)) - fibonacci(5 + m - k) - k + 1;
            add_rows(result, fmt::format("ladner-fischer, k = {}, {} ranks, inclusive", k, ranks),
                     {work, m + k}, counted("ladner-fischer", ranks, Form::inclusive, k));
        }
    }
    const bool equal =
        std::ranges::all_of(result.rows, [](const Row& row) { return *row.theirs == row.ours[0]; });
    const int most = extent == Extent::whole ? 130 : 40;
    result.claims = {{"every circuit has its published span and work", equal, "counted"},
                     {"the formulas hold for numbers of ranks that are not powers of two",
                      formulas_hold(most), fmt::format("counted for 2 to {} ranks", most)},
                     {"Ladner-Fischer circuits have at most log2 n + k dependent applications, and "
                      "with k = 0 fewer than 4 n in all",
                      ladner_fischer_is_bounded(most),
                      fmt::format("counted for 2 to {} ranks, in both forms", most)}};
    return result;
}

/// The spans and work of Table 3.1 of Copik's thesis. The thesis counts levels with a
/// synchronisation after each, the combination with the identity, and the total.
Result table_3_1(Extent) {
    Result result{"applications of the operator, inclusive; Blelloch: exclusive",
                  {"counted, levels in step", "counted"}};
    for (const int ranks : {16, 64, 256, 1024}) {
        const int log = floor_log2(ranks);
        const auto add = [&](const char* name, Form form, Circuit theirs, Circuit in_step) {
            const Circuit ours = counted(name, ranks, form);
            const std::string label = fmt::format("{}, {} ranks", name, ranks);
            result.rows.push_back(
                {label + ", span", double(theirs.span), {double(in_step.span), double(ours.span)}});
            result.rows.push_back(
                {label + ", work",
                 static_cast<double>(theirs.work),
                 {static_cast<double>(in_step.work), static_cast<double>(ours.work)}});
        };
        const auto same = [&](const char* name) { return counted(name, ranks, Form::inclusive); };
        add("serial", Form::inclusive, {ranks - 1, ranks - 1}, same("serial"));
        // Listings 3 and 4, level by level: all ranks synchronise after each level.
        Circuit blelloch, brent_kung;
        for (int distance = 1; distance < ranks; distance *= 2) { // upward phase
            blelloch.work += ranks / (2 * distance);
            brent_kung.work += ranks / (2 * distance);
            ++blelloch.span;
            ++brent_kung.span;
        }
        for (int distance = ranks / 2; distance >= 1; distance /= 2) { // downward phase
            blelloch.work += ranks / (2 * distance); // including combinations with the identity
            ++blelloch.span;
            const int right =
                ranks / (2 * distance) - 1; // the value is already in the root's right child
            brent_kung.work += right;
            brent_kung.span += right > 0 ? 1 : 0;
        }
        add("blelloch", Form::exclusive, {2 * (ranks - 1), 2 * log}, blelloch);
        add("brent-kung", Form::inclusive, {2 * ranks - 2 - log, 2 * log - 1}, brent_kung);
        add("kogge-stone", Form::inclusive, {ranks * log - ranks + 1, log}, same("kogge-stone"));
        add("sklansky", Form::inclusive, {ranks / 2 * log, log}, same("sklansky"));
    }
    bool in_step = true;
    for (const Row& row : result.rows)
        in_step = in_step && *row.theirs == row.ours[0];
    result.claims.push_back({"counted as in the listings, with the identity, the total and levels "
                             "in step, the table is exact",
                             in_step, "counted level by level"});
    return result;
}

/// Snir's theorem, and zero-deficiency (definition 3.4.1 of Copik's thesis).
Result snir_bound(Extent extent) {
    constexpr int ranks = 256;
    Result result{"span + work on 256 ranks, inclusive", {"2 n - 2", "counted"}};
    const double bound = 2 * ranks - 2;
    std::string zero;
    const auto add = [&](const std::string& label, std::optional<double> theirs, Circuit ours) {
        result.rows.push_back({label, theirs, {bound, static_cast<double>(ours.work) + ours.span}});
        if (ours.deficiency(ranks) == 0)
            zero += fmt::format("{}{}", zero.empty() ? "" : ", ", label);
    };
    for (const CircuitFormula& row : formulas) {
        const Circuit published = formula(row, ranks, Form::inclusive);
        add(row.name, static_cast<double>(published.work) + published.span,
            counted(row.name, ranks, Form::inclusive));
    }
    for (const int k : {0, 1, 2, 8})
        add(fmt::format("ladner-fischer, k = {}", k), std::nullopt,
            counted("ladner-fischer", ranks, Form::inclusive, k));
    bool holds = true;
    const int most = extent == Extent::whole ? 130 : 40;
    for (int n = 2; n <= most; ++n) {
        for (const scan::Algorithm& row : scan::catalogue()) {
            for (const scan::Tuning& tuning : row.tunings()) {
                const auto deficiency = [&](Form form) {
                    return counted(std::string(row.name), n, form, tuning.k)
                        .deficiency(form == Form::inclusive ? n : n - 1);
                };
                holds = holds && deficiency(Form::inclusive) >= 0 &&
                        (n < 3 || deficiency(Form::exclusive) >= 0);
            }
        }
    }
    result.claims = {{"span + work >= 2 n - 2", holds,
                      fmt::format("every circuit in both forms on 2 to {} ranks", most)},
                     {"a trivial example of zero-deficiency is the serial algorithm",
                      zero.find("serial") != std::string::npos, "of zero deficiency: " + zero}};
    return result;
}

/// A 2x2 matrix of integers modulo 2⁶⁴: an exact product that does not commute.
struct Matrix {
    std::uint64_t a, b, c, d;
    bool operator==(const Matrix&) const = default;
};

Matrix product(const Matrix& left, const Matrix& right) {
    return {left.a * right.a + left.b * right.c, left.a * right.b + left.b * right.d,
            left.c * right.a + left.d * right.c, left.c * right.b + left.d * right.d};
}

/// A segmented scan on threads, with one value per thread.
struct SegmentedRun {
    Elements lifted = 0;   ///< applications of the operator on pairs (starts, value)
    Elements products = 0; ///< applications that combine values
    bool right = true;     ///< true if each result equals that of the definition
};

SegmentedRun run_segmented(const std::string& algorithm, int ranks, int length) {
    std::vector<Matrix> values, expected;
    std::vector<std::uint8_t> starts;
    for (int i = 0; i < ranks; ++i) {
        const auto n = static_cast<std::uint64_t>(i);
        values.push_back({n + 1, 2 * n + 3, n * n + 5, 7});
        starts.push_back(i % length == 0 ? 1 : 0);
        expected.push_back(starts.back() != 0 ? values.back()
                                              : product(expected.back(), values.back()));
    }
    std::atomic<Elements> products = 0;
    std::atomic<bool> right = true;
    run_threads(ranks, [&](const Communicator& communicator) {
        const auto rank = static_cast<std::size_t>(communicator.rank());
        const std::vector<Matrix> found = prefix::segmented_scan(
            communicator, std::span<const Matrix>(values).subspan(rank, 1),
            std::span<const std::uint8_t>(starts).subspan(rank, 1),
            [&](const Matrix& left, const Matrix& other) {
                ++products;
                return product(left, other);
            },
            prefix::ScanOptions{.algorithm = algorithm});
        if (found.size() != 1 || !(found[0] == expected[rank]))
            right = false;
    });
    const scan::Algorithm& row = scan::find(algorithm);
    const scan::Series series(static_cast<std::size_t>(ranks), 1);
    const Schedule schedule = make_schedule(ranks, [&](int rank) {
        return scan::program(scan::find_strategy("scan-then-propagate"), series,
                             {row, row.tunings().front()}, rank);
    });
    return {circuit(schedule).work, products, right};
}

/// Segmented scans (definition 3.1.3 of Copik's thesis) by every circuit.
Result segmented(Extent) {
    constexpr int ranks = 16;
    Result result{"applications on 16 ranks", {"that combine values", "counted"}};
    bool right = true;
    for (const CircuitFormula& row : formulas) {
        for (const int length : {1, 5, 16}) {
            const SegmentedRun run = run_segmented(row.name, ranks, length);
            result.rows.push_back(
                {fmt::format("{}, segments of {}", row.name, length),
                 static_cast<double>(formula(row, ranks, Form::inclusive).work),
                 {static_cast<double>(run.products), static_cast<double>(run.lifted)}});
            right = right && run.right;
        }
    }
    result.claims = {{"every circuit computes the segmented sum of definition 3.1.3", right,
                      "products of integer matrices, which do not commute, on threads"}};
    return result;
}

constexpr Experiment experiments[] = {
    {"scan", "circuits", "span and work of prefix circuits",
     "counted in the schedules; formulas of Kogge and Stone 1973, Sklansky 1960, Brent and Kung "
     "1982, Han and Carlson 1987, Ladner and Fischer 1980 and Blelloch 1989, extended to any "
     "number of ranks; an exclusive scan of n values is an inclusive one of the first n - 1 "
     "values, whose results are sent to the next rank",
     "", spans_and_work, Basis::printed, Match::count},
    {"scan", "Table 3.1", "the table of Copik's thesis",
     "powers of two; in the first column, the thesis' listings are counted level by level, with a "
     "barrier after each level; in the second, this library's schedules",
     "Blelloch's circuit here never combines the identity, nor computes the total, which an "
     "exclusive scan does not need; counted with them, as in the first column, it has the span and "
     "work of the thesis",
     table_3_1, Basis::printed, Match::count},
    {"scan", "theorem 3.4.1", "Snir's lower bound, and the deficiency of circuits",
     "counted in the schedules; the paper's column is the sum of the formulas", "", snir_bound,
     Basis::printed, Match::count},
    {"scan", "definition 3.1.3", "segmented scans",
     "run on 16 threads with one value each, results compared with the definition; a segmented "
     "scan is a scan of pairs (starts, value), so its applications are those of the circuit; those "
     "that meet the start of a segment only copy a value",
     "", segmented, Basis::printed, Match::count}};

} // namespace

constinit const std::span<const Experiment> scan_papers = experiments;

} // namespace sextant::papers
