// SPDX-License-Identifier: BSD-3-Clause
// Each rank has a different number of values. The ranks number all values, compute their sum and
// collect them on rank 0. Run on four threads by `collective`, or by `mpirun -n 3 collective`.
#include "sextant/collective.hpp"

#include <cstdio>
#include <functional>
#include <vector>

using enum sextant::CollectiveKind;
using Values = std::vector<double>;

void run(const sextant::Communicator& communicator) {
    const int rank = communicator.rank();
    const sextant::Elements count = rank == 1 ? 0 : rank + 1; // rank 1 has no values
    const Values own(static_cast<std::size_t>(count), rank + .5);
    const auto sum = sextant::element_operator<double>("sum", std::plus());

    // Computes the number of values on all lower ranks; rank 0 gets no result.
    sextant::Collective numbering(communicator, {.kind = exclusive_scan, .counts = {1}, .op = sum});
    const Values counted{static_cast<double>(count)};
    const auto before = numbering.run<double>(counted); // may be called again when values change
    const double first = before.empty() ? 0 : before[0];

    sextant::Collective total(communicator, {.kind = all_reduce, .counts = {2}, .op = sum});
    const Values own_sums{counted[0], counted[0] * (rank + .5)};
    const auto sums = total.run<double>(own_sums);

    sextant::Collective collection(communicator, {gather, {count}, sizeof(double)});
    const auto all = collection.run<double>(own);
    if (rank == 0)
        std::printf("%zu values, sum %g, by %s\n", all.size(), sums[1],
                    total.plan().text().c_str());
    if (rank == communicator.size() - 1)
        std::printf("rank %d: values %g to %g\n", rank, first, first + counted[0] - 1);
}

int main() {
    sextant::launch(4, run);
}
