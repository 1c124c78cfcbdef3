// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/schedule/program.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::planner {

/// The cost model that is asked for by name; where none is, the richest that the profile has
/// parameters for: the first of which `predict` does not throw model::CannotExpress.
/// Throws    model::CannotExpress with what each said, if none has words for `what`.
const model::Model& richest_model(const std::string& asked, std::string_view what,
                                  const std::function<void(const model::Model&)>& predict);

/// One rank's program among peers that wait for nothing: each has all it will send from the start,
/// and takes what comes at once.
struct Alone {
    Schedule schedule;      ///< the rank itself first, then its peers
    std::vector<int> ranks; ///< who they are
};

/// What the rank does by itself; model::Question::least asks for the time that it needs in any
/// case. What a model predicts of it otherwise is no bound: a fold that gets its operands early may
/// combine them in more passes.
///
/// Cost      that of the one program.
Alone alone(Program program, int rank);

/// The program without the messages that it lends where memory is shared: what those cost is their
/// receivers' affair. Also without those that their senders' folds or kernels may make where they
/// are wanted. `usual` as in Program::bytes_of.
Program without_loans(Program program, Bytes usual);

/// What a cost model says of candidates in a setting. All throw model::CannotExpress.
class Predictor {
  public:
    /// Keep the setting alive.
    explicit Predictor(const Setting& setting) : setting_(setting) {}

    /// The model that the setting asks for; else the richest that has words for what a rank does.
    /// To be called first; `what` for the error.
    void find_model(const Program& program, int rank, std::string_view what);
    bool has_model() const { return model_ != nullptr; }
    std::string_view model() const { return model_->name; }

    /// What a rank needs if nobody keeps it waiting.
    struct Single {
        Seconds bound = 0;    ///< in any case (model::least_time)
        Seconds expected = 0; ///< among peers that have all that they send from the start
    };
    Single single(Program program, int rank) const {
        return single(*model_, std::move(program), rank);
    }

    /// What all ranks take, with what passes before.
    model::Prediction whole(const Candidate& candidate) const;

  private:
    model::Question question(const Schedule& schedule, std::span<const int> nodes) const;
    Seconds seconds(const model::Model& model, Program program, int rank, bool least) const;
    Single single(const model::Model& model, Program program, int rank) const;

    const Setting& setting_;
    const model::Model* model_ = nullptr;
};

} // namespace sextant::planner
