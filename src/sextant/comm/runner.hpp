// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/buffers.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/comm/folding.hpp"
#include "sextant/comm/messages.hpp"
#include "sextant/comm/tracing.hpp"
#include "sextant/comm/zero_copy.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/loans.hpp"
#include "sextant/schedule/walk.hpp"

#include <array>
#include <cstdint>
#include <exception>
#include <optional>

namespace sextant {

/// Runs a program on one rank. Must not be moved, because its members refer to each other.
class Execution::Runner {
  public:
    Runner(Communicator communicator, Program program, Operator op, ExecuteOptions options,
           std::vector<Kernel> kernels);

    void bind(int buffer, std::byte* memory, std::size_t bytes);
    void set_peers(std::span<const int> ranks);
    void run();
    void run_failed(std::exception_ptr failure);
    void start();
    void start_failed(std::exception_ptr failure);
    bool advance();
    bool over() const { return over_; }
    void rest();
    void finish();
    void abandon();

    const Program& program() const { return program_; }
    const Trace& trace() const { return tracer_.trace(); }
    const Sent& sent() const { return sent_; }
    std::span<const std::byte> result() const;

  private:
    void check_bound() const;
    void place_own();
    void place_messages();
    void open_or_wait(std::exception_ptr failure);
    void begin();
    void wait_for_opening();
    void fail(std::exception_ptr failure);
    void look();
    void end_run();
    void tell_failed(const std::exception_ptr& failure);
    void go_through();
    bool take_turn();
    bool lends(int step) const { return exchange_->lends(table_.message_of(step)); }
    bool may_start(int work) { return !fine() || delivery_.is_settled(step_at(work)); }
    std::vector<int>::iterator held_that_may_start();
    int next_work();
    bool finished() const { return walk_.done() && loans_out_ == 0; }

    bool pump();
    void pump_within_work();
    void start_messages();
    void start_message(int step);
    void send(int step);
    Bytes bytes_of(const Region& region) const;
    Bytes used_bytes(const Region& region) const;
    void copy_region(const Region& to, const Region& from);
    void complete_message(const Completion& completion);
    void check_bytes(int step, const Completion& completion) const;
    void take(int step, const Completion& completion);
    void take_code(int step, const Completion& completion);
    const kernel::SparseCode* read_code(int step, int message, std::span<const std::byte> came);
    bool encodes(int message) const { return encoding_ && encoding_->covers(message); }
    bool work();
    void do_work(int step);
    bool combine_some();
    bool fine() const { return !failure_ && failed_peer_ < 0; }
    void end();

    const Step& step_at(int step) const { return program_.steps[static_cast<std::size_t>(step)]; }

    const Communicator communicator_;
    const int rank_;
    Program program_;
    const std::vector<int> peers_; // the original program's peer of each step
    const std::shared_ptr<Workspace> workspace_;
    const Operator operator_;
    const std::function<void()> progress_; // called by folds and kernels
    const Dependences dependences_;
    const Loans loans_;
    Walk walk_;
    BufferAddresses places_;
    Borrowing borrowing_;
    const MessageTable table_;
    std::optional<Encoding> encoding_; // empty unless messages are compressed
    DirectDelivery delivery_;
    Folding folding_;
    Computing computing_;
    Tracer tracer_;
    const std::vector<Bytes> own_offsets_; // offset of each buffer in the workspace
    std::vector<bool> bound_;              // for each buffer: true if bound by the caller
    int workspace_version_ = 0;
    Comparison* const comparison_;
    bool receives_ = false;                     // true if the program has a receive step
    std::vector<int> sends_to_, receives_from_; // number of tags assigned, for each rank
    std::unique_ptr<Exchange> exchange_;
    bool any_lent_ = false;      // true if some message can be zero-copy
    bool moved_ = true;          // true if a buffer was bound since messages were placed
    std::vector<Blocks> blocks_; // blocks of the message being placed

    // State of the current run, or of the last one.
    bool over_ = true;
    bool opening_ = false;       // true if the start is delayed until the comparison ends
    std::exception_ptr outcome_; // error that `finish` throws
    int idle_ = 0;               // consecutive calls without progress
    // true if an operand has arrived since the last unsuccessful attempt to combine operands
    bool arrived_ = false;
    int loans_out_ = 0;     // zero-copy sends whose buffer has not been returned yet
    std::vector<int> held_; // computations waiting for their destination
    Sent sent_;
    std::exception_ptr failure_;           // error of this rank
    int failed_peer_ = -1;                 // peer that reported a failure
    std::exception_ptr transport_failure_; // raised during work, to be rethrown after it
    std::array<Completion, 64> completions_;
};

} // namespace sextant
