// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/loans.hpp"

#include <algorithm>
#include <optional>

namespace sextant {

namespace {

/// The offset of an operand in a message received into `regions`, if it is within one of them.
std::optional<Elements> offset_in_message(std::span<const Region> regions, const Region& operand) {
    Elements before = 0;
    for (const Region& region : regions) {
        if (covers(region, operand) && operand.contiguous()) {
            return before + operand.offset - region.offset;
        }
        before += region.elements();
    }
    return std::nullopt;
}

bool reads_in_place(const Step& step) {
    return step.verb == Verb::fold || step.reads_in_place;
}

/// The uses of a received message; none if one of them requires a copy.
std::vector<Loans::Use> uses_of(const Program& program, const Dependences& dependences, int step) {
    std::vector<Loans::Use> uses;
    const Step& receive = program.steps[static_cast<std::size_t>(step)];
    for (const Dependences::Edge& edge : dependences.after(step)) {
        if (edge.region == Dependences::commit)
            continue; // overwrites the received region, which is read at the sender
        if (!reads_in_place(program.steps[edge.step]))
            return {};
        const auto region = static_cast<std::uint32_t>(edge.region);
        // Another step has overwritten a part of the message.
        if (dependences.region_needs()[region] != 1)
            return {};
        const auto offset = offset_in_message(program.regions_of(receive), program.regions[region]);
        if (!offset)
            return {};
        uses.push_back({edge.step, region, *offset});
    }
    return uses;
}

/// Returns the only step that needs a fold's result, if this step sends exactly the result; else
/// -1.
int taker_of(const Program& program, const Dependences& dependences, int fold) {
    int taker = -1;
    for (const Dependences::Edge& edge : dependences.after(fold)) {
        if (edge.region == Dependences::commit)
            continue; // overwrites data that is no longer needed
        const Step& step = program.steps[edge.step];
        const auto region = static_cast<std::size_t>(edge.region);
        const bool takes_all =
            step.verb == Verb::send && step.count == 1 &&
            program.regions[region] == program.steps[static_cast<std::size_t>(fold)].to &&
            dependences.region_needs()[region] == 1;
        if (taker >= 0 || !takes_all)
            return -1;
        taker = static_cast<int>(edge.step);
    }
    return taker;
}

/// [step]: true if the step writes elements of the result.
std::vector<bool> writers_of_result(const Program& program, const Dependences& dependences) {
    std::vector<bool> writes(program.steps.size());
    for (const std::uint32_t step : dependences.result_writers())
        writes[step] = true;
    return writes;
}

/// Finds the sends whose elements are all computed by kernels and read by no other step.
class TakersOfMade {
  public:
    TakersOfMade(const Program& program, const Dependences& dependences,
                 const std::vector<bool>& in_result)
        : program_(program),
          dependences_(dependences),
          in_result_(in_result),
          takes_(program.steps.size()) {}

    std::vector<int> find() {
        std::vector<int> takers(program_.regions.size(), -1);
        each_made([&](std::uint32_t step, std::uint32_t made) { look_at(step, made); });
        each_made([&](std::uint32_t, std::uint32_t made) {
            const int send = only_reader_[made];
            if (send >= 0 && takes_all(send))
                takers[made] = send;
        });
        return takers;
    }

  private:
    /// The elements of a send that kernels compute.
    struct Takes {
        Elements elements = 0;           ///< number of elements computed by kernels
        std::vector<std::uint32_t> from; ///< steps that compute these elements
        bool shares = false;             ///< another step reads some of these elements
    };

    template <class Look>
    void each_made(Look&& look) {
        for (std::uint32_t i = 0; i < program_.steps.size(); ++i) {
            const Step& step = program_.steps[i];
            for (std::uint32_t m = 0; step.verb == Verb::compute && m < step.made; ++m)
                look(i, step.first + step.count + m);
        }
    }

    const Region& region(std::uint32_t at) const { return program_.regions[at]; }

    /// True if the step of an edge is a send of one contiguous, initially undefined region. Kernels
    /// may write the elements of such a region directly to the receiver's memory.
    bool may_take(const Dependences::Edge& edge) const {
        const Step& step = program_.steps[edge.step];
        const Region& read = region(static_cast<std::uint32_t>(edge.region));
        const Role role = program_.buffers[static_cast<std::size_t>(read.buffer)].role;
        return step.verb == Verb::send && step.count == 1 && read.contiguous() &&
               (role == Role::scratch || role == Role::output);
    }

    void look_at(std::uint32_t step, std::uint32_t made) {
        std::vector<std::uint32_t> readers;
        bool sends_it_whole = !in_result_[step];
        for (const Dependences::Edge& edge : dependences_.after(static_cast<int>(step))) {
            if (edge.region == Dependences::commit ||
                !overlap(region(static_cast<std::uint32_t>(edge.region)), region(made)))
                continue;
            readers.push_back(edge.step);
            sends_it_whole = sends_it_whole && may_take(edge) &&
                             covers(region(static_cast<std::uint32_t>(edge.region)), region(made));
        }
        for (const std::uint32_t reader : readers) {
            Takes& takes = takes_[reader];
            takes.shares = takes.shares || readers.size() > 1 || !sends_it_whole;
            takes.elements += region(made).elements();
            if (takes.from.empty() || takes.from.back() != step)
                takes.from.push_back(step);
        }
        only_reader_.resize(program_.regions.size(), -1);
        if (readers.size() == 1 && sends_it_whole)
            only_reader_[made] = static_cast<int>(readers[0]);
    }

    /// True if kernels compute all elements of a send. Counting suffices: if the number computed
    /// equals the number sent, and no other step writes there, no element is computed twice,
    /// because otherwise the send would read an undefined element.
    bool takes_all(int send) const {
        const auto at = static_cast<std::size_t>(send);
        const Takes& takes = takes_[at];
        const std::uint32_t sent = program_.steps[at].first;
        return !takes.shares && takes.elements == region(sent).elements() &&
               takes.from.size() == dependences_.region_needs()[sent];
    }

    const Program& program_;
    const Dependences& dependences_;
    const std::vector<bool>& in_result_;
    std::vector<Takes> takes_;     // by send step
    std::vector<int> only_reader_; // by region: the only step that reads it, or -1
};

} // namespace

bool is_room(const Program& program, const Dependences& dependences, int receive, Bytes usual,
             Bytes least) {
    const auto at = static_cast<std::size_t>(receive);
    const Step& step = program.steps[at];
    return step.verb == Verb::receive && step.count == 1 && dependences.needs()[at] == 0 &&
           program.bytes_of(step, usual) >= least;
}

Loans::Loans(const Program& program, const Dependences& dependences)
    : lendable_(program.steps.size()),
      takers_(program.steps.size(), -1),
      takes_folded_(program.steps.size()),
      first_(program.steps.size() + 1) {
    const std::vector<bool> in_result = writers_of_result(program, dependences);
    bool computes = false;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const int step = static_cast<int>(i);
        const Verb verb = program.steps[i].verb;
        lendable_[i] = verb == Verb::send && dependences.after(step).empty();
        const bool kept = in_result[i];
        computes = computes || verb == Verb::compute;
        if (verb == Verb::receive && !kept) {
            const std::vector<Use> uses = uses_of(program, dependences, step);
            uses_.insert(uses_.end(), uses.begin(), uses.end());
        }
        if (verb == Verb::fold && !kept)
            takers_[i] = taker_of(program, dependences, step);
        if (takers_[i] >= 0)
            takes_folded_[static_cast<std::size_t>(takers_[i])] = 1;
        first_[i + 1] = static_cast<std::uint32_t>(uses_.size());
    }
    if (!computes)
        return;
    made_takers_ = TakersOfMade(program, dependences, in_result).find();
    takes_made_.resize(program.steps.size());
    for (const int send : made_takers_) {
        if (send >= 0)
            takes_made_[static_cast<std::size_t>(send)] = 1;
    }
}

std::vector<std::uint32_t> Loans::made_for(int send) const {
    std::vector<std::uint32_t> regions;
    for (std::uint32_t region = 0; region < made_takers_.size(); ++region) {
        if (made_takers_[region] == send)
            regions.push_back(region);
    }
    return regions;
}

} // namespace sextant
