// SPDX-License-Identifier: BSD-3-Clause
// Builds an all-reduce by recursive doubling: in round i, each rank exchanges its sum with the rank
// whose number differs in bit i. Proves it, and writes it for `sextant prove`, `draw`, `predict`
// and `simulate`: example_schedule RANKS ELEMENTS FILE.json, with a power of two of ranks.
#include "sextant/schedule.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>

sextant::Program all_reduce(int ranks, sextant::Elements elements, int rank) {
    sextant::ProgramBuilder builder;
    sextant::Region sum = builder.input(elements);
    int round = 0;
    for (int distance = 1; distance < ranks; distance *= 2) {
        const int peer = rank ^ distance;
        const sextant::Region received = builder.scratch(elements);
        const sextant::Region next = builder.scratch(elements);
        builder.round(round++);
        builder.send(peer, sum);
        builder.receive(peer, received);
        if (peer < rank) // operands are combined in the order of the ranks
            builder.fold(next, {received, sum});
        else
            builder.fold(next, {sum, received});
        sum = next;
    }
    return builder.finish(sum);
}

int main(int argc, char** argv) try {
    if (argc != 4)
        throw std::runtime_error("expected RANKS ELEMENTS FILE.json");
    const int ranks = std::atoi(argv[1]);
    const sextant::Elements elements = std::atoll(argv[2]);
    if (ranks < 1 || (ranks & (ranks - 1)) != 0 || elements < 1)
        throw std::runtime_error("expected a power of two of ranks, and elements");
    const sextant::ScheduleFile file{
        .schedule = sextant::make_schedule(
            ranks, [&](int rank) { return all_reduce(ranks, elements, rank); }),
        .claim = sextant::CollectiveKind::all_reduce};
    const sextant::Proof proof = sextant::prove(file.schedule, sextant::claim_of(file));
    std::printf("%s, %lld messages\n", proof.holds() ? "proved" : proof.error.c_str(),
                static_cast<long long>(proof.messages));
    std::ofstream out(argv[3]);
    out << sextant::json_of(file);
    return out.flush() && proof.holds() ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
