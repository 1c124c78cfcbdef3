// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/core/units.hpp"

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Files that select the algorithms of MPI's collective operations: rules for Open MPI's component
// "tuned", which depend on the message size, or environment variables for MPICH.
namespace sextant::lab {

/// A collective operation of MPI whose algorithm a file can select.
struct TunedOperation {
    std::string_view name; ///< name in MPI's variables: "bcast"
    std::string_view call; ///< name of the MPI function: "MPI_Bcast"
    CollectiveKind what;
    int number;            ///< number in rules files of Open MPI
    bool counts_all_ranks; ///< true if the sizes in Open MPI's rules are those of the blocks of all
                           ///< ranks together
    bool combines;         ///< true for reductions
};

/// Returns the operations for which Open MPI uses rules files. Rules for scans have no effect in
/// Open MPI 4.1.
std::span<const TunedOperation> tuned_operations();
/// Returns the operation with this name. Throws InvalidTask if the name is unknown.
const TunedOperation& tuned_operation(std::string_view name);

/// An algorithm that an MPI library implements. Number 0 is the library's own choice.
struct MpiAlgorithm {
    std::string name = "default";
    int number = 0;
    int fanout = 0;    ///< number of chains; 0 if not applicable
    Bytes segment = 0; ///< segment size into which messages are divided; 0: not divided

    bool operator==(const MpiAlgorithm&) const = default;
    /// Returns the name with its parameters: "pipeline, segments of 8192".
    std::string text() const;
};

/// Selects an algorithm for a class of message sizes.
struct TuningRule {
    static constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();

    std::string_view operation; ///< a name of tuned_operations()
    /// The class: sizes of the whole message, or of the block of one rank or pair of ranks. `to` is
    /// excluded.
    Bytes from = 0, to = no_limit;
    MpiAlgorithm algorithm;

    bool operator==(const TuningRule&) const = default;
};

/// The content of a file.
struct TuningRules {
    std::string mpi;               ///< "Open MPI 4.1.4"; without a version if the file states none
    int ranks = 0;                 ///< 0 if the file does not state the number
    std::string origin;            ///< host, date and version of Sextant
    std::vector<TuningRule> rules; ///< ordered by operation, then by size; classes do not overlap
};

/// Returns the text of a file for the MPI that `rules.mpi` names. With Open MPI, rules apply only
/// to communicators of `rules.ranks` ranks; all others keep the defaults. With MPICH, a rule
/// applies to all message sizes and to communicators of all sizes.
std::string to_text(const TuningRules& rules);

/// Reads a file.
///
/// Input     the number of ranks for which rules are requested; 0: that for which the file was
///           written.
/// Throws    InvalidFile with the line and what was expected.
TuningRules read_rules(const std::string& path, int ranks);

/// Throws InvalidTask unless the file was written for this MPI and, if `ranks` is not 0, for this
/// number of ranks. A missing version or number of ranks in the file matches any.
void require_match(const TuningRules& rules, const std::string& path, const std::string& mpi,
                   int ranks);

/// An environment variable with which an MPI program uses a file of rules.
struct Variable {
    std::string name, value;
};
std::vector<Variable> environment_of(const TuningRules& rules, const std::string& path);

} // namespace sextant::lab
