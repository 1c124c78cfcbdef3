// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/model/model.hpp"
#include "sextant/schedule/program.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::planner {

/// The machine, ranks and elements that candidates are predicted for.
struct Setting {
    const machine::Profile& machine;
    Bytes element_size = 0;
    std::string operator_name = {}; ///< operator of the folds
    std::string element_name = "f32";
    bool folds_at_once = false;                     ///< as in model::Question
    std::span<const model::KernelUse> kernels = {}; ///< as in model::Question
    std::span<const int> nodes = {}; ///< as in model::Question; at least one entry per rank used
    const machine::Wires* wires = nullptr; ///< as in model::Question
    machine::Link within_node = machine::Link::same_node;
    double density = 1;
    bool coded = false;     ///< as in model::Question
    bool timeline = false;  ///< as in model::Question
    std::string model = {}; ///< empty: the most detailed model that the profile supports
    /// The total number of messages to evaluate before the remaining candidates are ranked by
    /// bounds alone. Default: about ten milliseconds of work for 64 ranks, a few seconds for
    /// thousands.
    std::optional<std::int64_t> most_messages = {};
};

/// The cost model named `requested`; if empty, the most detailed model for which the profile has
/// parameters: the first for which `predict` does not throw model::CannotExpress.
/// Throws    model::CannotExpress with each model's reason if none can describe `what`.
const model::Model& richest_model(const std::string& requested, std::string_view what,
                                  const std::function<void(const model::Model&)>& predict);

/// One rank's program, and peers that never wait: each peer has all of its data to send from the
/// start, and receives at once.
struct SingleRank {
    Schedule schedule;      ///< rank first, then its peers
    std::vector<int> ranks; ///< original numbers of the ranks in `schedule`
};

/// Isolates one rank with passive peers. With model::Question::least a model returns a lower bound
/// of the rank's time. Other predictions for this schedule are not bounds: a fold that gets its
/// operands early may combine them in more passes.
///
/// Cost      linear in the size of the program.
SingleRank alone(Program program, int rank);

/// Returns the program without the messages that receivers read in place (only the receivers are
/// charged for these), and without those that may be written directly into the receiver's memory.
/// `usual` as in Program::bytes_of.
Program without_loans(Program program, Bytes usual);

/// Predicts the times of candidates in a setting by a cost model. All functions may throw
/// model::CannotExpress.
class Predictor {
  public:
    /// Keeps a reference to the setting.
    explicit Predictor(const Setting& setting) : setting_(setting) {}

    /// Selects the model named by the setting; else the most detailed that can describe the program
    /// of `rank`. Must be called first; `what` appears in the error.
    void find_model(const Program& program, int rank, std::string_view what);
    bool has_model() const { return model_ != nullptr; }
    std::string_view model() const { return model_->name; }

    /// The time of a rank that never waits for others.
    struct Single {
        Seconds bound = 0;    ///< lower bound (model::least_time)
        Seconds expected = 0; ///< prediction with peers that have all their data from the start
    };
    Single single(Program program, int rank) const {
        return single(*model_, std::move(program), rank);
    }

    /// The prediction for all ranks, plus the time of preceding work.
    model::Prediction whole(const Candidate& candidate) const;

  private:
    model::Question question(const Schedule& schedule, std::span<const int> nodes) const;
    Seconds seconds(const model::Model& model, const SingleRank& alone, bool least) const;
    Single single(const model::Model& model, Program program, int rank) const;

    const Setting& setting_;
    const model::Model* model_ = nullptr;
};

} // namespace sextant::planner
