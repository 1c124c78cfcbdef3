// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/trace_clocks.hpp"
#include "sextant/registration/ledger.hpp"
#include "sextant/schedule/trace.hpp"

#include <array>
#include <vector>

namespace sextant::command {

/// A stretch in which a rank found results of one kind, with pauses that are too short to be seen.
struct WorkBar {
    int rank = 0;
    registration::Work work = registration::Work::link;
    std::int64_t results = 0;
    Seconds begin = 0, end = 0;
};

/// Bars of a rank in order, those of a kind put together that are no further apart than a pause.
std::vector<WorkBar> put_together(std::vector<WorkBar> bars, Seconds pause);

/// A ledger that passes everything on to another, and notes when each result was found: from
/// looking for it in vain to keeping it.
///
/// Memory    bounded: of many results neighbours are put together.
class WorkLog : public registration::Ledger {
  public:
    WorkLog(registration::Ledger& ledger, int rank);

    std::optional<std::vector<std::byte>> find(const registration::EntryName& name) override;
    void keep(const registration::EntryName& name, std::span<const std::byte> bytes) override;
    void refresh() override { ledger_.refresh(); }

    /// Times count from `origin` on, which is on the clock of the host.
    const std::vector<WorkBar>& bars() const { return bars_; }
    Seconds origin() const { return origin_; }
    /// Time spent on each kind, pauses not among it.
    const std::array<Seconds, registration::kinds_of_work>& busy() const { return busy_; }

  private:
    registration::Ledger& ledger_;
    const int rank_;
    const Seconds origin_;
    Seconds began_ = 0, pause_ = 0;
    std::vector<WorkBar> bars_;
    std::array<Seconds, registration::kinds_of_work> busy_{};
};

/// What all ranks did.
struct GatheredWork {
    std::vector<WorkBar> bars;
    std::array<Seconds, registration::kinds_of_work> busy{}; ///< of all ranks together
    int ranks = 1, clocks = 1;
    std::vector<ClockOffset> aligned; ///< how the clocks were

    /// The share of the ranks' time between the first and the last of this kind in which they did
    /// none of it; nothing where there was none.
    std::optional<double> idle(registration::Work work) const;
};

/// At rank 0; elsewhere without bars. Collective.
GatheredWork gather_work(const Communicator& communicator, const TraceClocks& clocks,
                         const WorkLog& log);

} // namespace sextant::command
