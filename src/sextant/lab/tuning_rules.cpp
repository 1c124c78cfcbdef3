// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/tuning_rules.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace sextant::lab {

namespace {

constexpr TunedOperation operations[] = {
    {"bcast", "MPI_Bcast", CollectiveKind::broadcast, 7, false, false},
    {"scatter", "MPI_Scatter", CollectiveKind::scatter, 15, true, false},
    {"gather", "MPI_Gather", CollectiveKind::gather, 9, true, false},
    {"allgather", "MPI_Allgather", CollectiveKind::all_gather, 0, true, false},
    {"alltoall", "MPI_Alltoall", CollectiveKind::all_to_all, 3, true, false},
    {"reduce", "MPI_Reduce", CollectiveKind::reduce, 11, false, true},
    {"allreduce", "MPI_Allreduce", CollectiveKind::all_reduce, 2, false, true},
};

bool for_mpich(const TuningRules& rules) {
    return rules.mpi.starts_with("MPICH");
}

/// Returns the variable of MPICH for an operation: "MPIR_CVAR_BCAST_INTRA_ALGORITHM".
std::string variable_of(std::string_view operation) {
    std::string name = "MPIR_CVAR_";
    for (const char c : operation)
        name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name + "_INTRA_ALGORITHM";
}

std::string heading_of(const TuningRules& rules) {
    return fmt::format("# Algorithms of collective operations, chosen by sextant tune\n"
                       "# mpi: {}\n# ranks: {}\n# origin: {}\n",
                       rules.mpi, rules.ranks, rules.origin);
}

/// Returns one line of a rules file of Open MPI: message size, algorithm, fan-out, segment size.
std::string line_of(Bytes from, const MpiAlgorithm& algorithm) {
    return fmt::format("{} {} {} {}  # {}\n", from, algorithm.number, algorithm.fanout,
                       algorithm.segment, algorithm.text());
}

/// Returns the lines for the message sizes of one operation. Classes without a rule keep the
/// default.
std::string sizes_of(const TunedOperation& operation, const TuningRules& rules) {
    const Bytes unit = operation.counts_all_ranks ? rules.ranks : 1;
    std::vector<std::string> lines;
    Bytes next = 0; // end of the previous class
    MpiAlgorithm last;
    const auto add = [&](Bytes from, const MpiAlgorithm& algorithm) {
        if (lines.empty() || algorithm != last)
            lines.push_back(line_of(from, algorithm));
        last = algorithm;
    };
    for (const TuningRule& rule : rules.rules) {
        if (rule.operation != operation.name)
            continue;
        if (rule.from > next)
            add(next * unit, {});
        add(rule.from * unit, rule.algorithm);
        next = rule.to;
    }
    if (next != TuningRule::no_limit)
        add(next * unit, {});
    std::string text = fmt::format("{}  # sizes\n", lines.size());
    for (const std::string& line : lines)
        text += line;
    return text;
}

std::string open_mpi_text(const TuningRules& rules) {
    std::string text;
    int count = 0;
    for (const TunedOperation& operation : operations) {
        if (std::none_of(rules.rules.begin(), rules.rules.end(),
                         [&](const TuningRule& rule) { return rule.operation == operation.name; }))
            continue;
        ++count;
        // Open MPI also applies the first entry to smaller communicators and the last entry to
        // larger ones.
        text += fmt::format("{}  # {}\n3  # numbers of ranks\n", operation.number, operation.call);
        text += fmt::format("1\n1  # sizes\n{}", line_of(0, {}));
        text += fmt::format("{}  # ranks\n{}", rules.ranks, sizes_of(operation, rules));
        text += fmt::format("{}  # ranks or more\n1  # sizes\n{}", rules.ranks + 1, line_of(0, {}));
    }
    return fmt::format("# Use: mpirun --mca coll_tuned_use_dynamic_rules 1 --mca "
                       "coll_tuned_dynamic_rules_filename FILE\n{}  # operations\n",
                       count) +
           text;
}

std::string mpich_text(const TuningRules& rules) {
    std::string text = "# Use: . ./FILE, and then start the program\n";
    for (const TuningRule& rule : rules.rules)
        text += fmt::format("export {}={}\n", variable_of(rule.operation), rule.algorithm.name);
    return text;
}

} // namespace

std::span<const TunedOperation> tuned_operations() {
    return operations;
}

const TunedOperation& tuned_operation(std::string_view name) {
    return find_by_name<TunedOperation>("collective", name, operations);
}

std::string MpiAlgorithm::text() const {
    return segment > 0 ? fmt::format("{}, segments of {}", name, segment) : name;
}

std::string to_text(const TuningRules& rules) {
    return heading_of(rules) + (for_mpich(rules) ? mpich_text(rules) : open_mpi_text(rules));
}

namespace {

constexpr Bytes longest_rules = 1 << 20;

/// A word of a file, outside comments, with its line.
struct WordOfRules {
    std::string text;
    int line = 0;
};

/// Reads the words of a file, and the values in its heading.
class RulesReader {
  public:
    explicit RulesReader(const std::string& path) : path_(path) {
        std::istringstream file(read_text(path, longest_rules));
        int number = 0;
        for (std::string line; std::getline(file, line);) {
            ++number;
            const std::size_t comment = std::min(line.find('#'), line.size());
            take_heading(line.substr(comment), number);
            std::istringstream words(line.substr(0, comment));
            for (std::string word; words >> word;)
                words_.push_back({word, number});
        }
    }

    TuningRules& rules() { return rules_; }
    bool ended() const { return next_ == words_.size(); }
    bool has_exports() const { return !words_.empty() && words_.front().text == "export"; }

    [[noreturn]] void fail(const std::string& expected) const {
        if (ended())
            throw InvalidFile(path_, "ends early: expected " + expected);
        throw InvalidFile(path_, fmt::format("line {}: '{}', expected {}", words_[next_].line,
                                             printable(shortened(words_[next_].text)), expected));
    }
    const std::string& word(const std::string& expected) const {
        if (ended())
            fail(expected);
        return words_[next_].text;
    }
    void skip() { ++next_; }

    std::int64_t number(std::string_view what, std::int64_t least, std::int64_t most) {
        const std::string expected =
            least == most ? fmt::format("{} {}", what, least)
                          : fmt::format("{}, a number from {} to {}", what, least, most);
        const auto value = parsed_number<std::int64_t>(word(expected));
        if (!value || *value < least || *value > most)
            fail(expected);
        skip();
        return *value;
    }

  private:
    void take_heading(const std::string& comment, int line) {
        const auto value = [&](std::string_view key) -> std::optional<std::string> {
            if (!comment.starts_with(key))
                return std::nullopt;
            return comment.substr(key.size());
        };
        if (const auto mpi = value("# mpi: "))
            rules_.mpi = *mpi;
        else if (const auto origin = value("# origin: "))
            rules_.origin = *origin;
        else if (const auto ranks = value("# ranks: ")) {
            const auto count = parsed_number<int>(*ranks);
            if (!count || *count < 2)
                throw InvalidFile(path_, fmt::format("line {}: '{}', expected a number of ranks, "
                                                     "2 or more",
                                                     line, printable(shortened(*ranks))));
            rules_.ranks = *count;
        }
    }

    const std::string path_;
    TuningRules rules_;
    std::vector<WordOfRules> words_;
    std::size_t next_ = 0;
};

constexpr std::int64_t most_number = std::int64_t{1} << 40;

/// Reads the message sizes of one entry of Open MPI. Returns the rules for these sizes.
std::vector<TuningRule> read_sizes(RulesReader& reader) {
    std::vector<TuningRule> rules;
    const std::int64_t count = reader.number("the number of sizes", 1, 10000);
    for (std::int64_t i = 0; i < count; ++i) {
        const Bytes least = rules.empty() ? 0 : rules.back().from + 1;
        TuningRule rule;
        rule.from = rules.empty() ? reader.number("the first message size", 0, 0)
                                  : reader.number("a message size", least, most_number);
        rule.algorithm.number = static_cast<int>(reader.number("an algorithm", 0, 1000));
        rule.algorithm.fanout = static_cast<int>(reader.number("a fan-out", 0, 1 << 20));
        rule.algorithm.segment = reader.number("the size of segments", 0, 1 << 30);
        if (rule.algorithm.number > 0)
            rule.algorithm.name = fmt::format("algorithm {}", rule.algorithm.number);
        if (!rules.empty())
            rules.back().to = rule.from;
        rules.push_back(std::move(rule));
    }
    return rules;
}

/// Reads all entries of one operation. Returns the rules that Open MPI uses for this number of
/// ranks.
std::vector<TuningRule> read_operation(RulesReader& reader, int ranks) {
    std::vector<TuningRule> chosen;
    const std::int64_t count = reader.number("the number of communicator sizes", 1, 10000);
    std::int64_t last = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        last = reader.number("a communicator size", last + 1, 1 << 30);
        std::vector<TuningRule> rules = read_sizes(reader);
        if (i == 0 || last <= ranks)
            chosen = std::move(rules);
    }
    return chosen;
}

void read_open_mpi(RulesReader& reader, int ranks) {
    constexpr int most_operations = 64;
    const std::int64_t count = reader.number("the number of operations", 0, most_operations);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t number = reader.number("an operation", 0, most_operations);
        const auto operation =
            std::find_if(std::begin(operations), std::end(operations),
                         [&](const TunedOperation& each) { return each.number == number; });
        for (TuningRule& rule : read_operation(reader, ranks)) {
            if (operation == std::end(operations) || rule.algorithm.number == 0)
                continue;
            const Bytes unit = operation->counts_all_ranks ? std::max(ranks, 1) : 1;
            rule.operation = operation->name;
            rule.from = (rule.from + unit - 1) / unit;
            if (rule.to != TuningRule::no_limit)
                rule.to = (rule.to + unit - 1) / unit;
            reader.rules().rules.push_back(rule);
        }
    }
    if (!reader.ended())
        reader.fail("the end of the file");
}

void read_mpich(RulesReader& reader) {
    while (!reader.ended()) {
        if (reader.word("export") != "export")
            reader.fail("export VARIABLE=ALGORITHM");
        reader.skip();
        const std::string setting = reader.word("VARIABLE=ALGORITHM");
        const auto operation = std::find_if(
            std::begin(operations), std::end(operations), [&](const TunedOperation& each) {
                return setting.starts_with(variable_of(each.name) + "=");
            });
        if (operation == std::end(operations))
            reader.fail("the algorithm of a collective, such as " +
                        variable_of(operations[0].name) + "=binomial");
        TuningRule rule;
        rule.operation = operation->name;
        rule.algorithm.name = setting.substr(setting.find('=') + 1);
        if (rule.algorithm.name.empty() ||
            rule.algorithm.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") !=
                std::string::npos)
            reader.fail("the name of an algorithm after '='");
        reader.skip();
        reader.rules().rules.push_back(rule);
    }
}

} // namespace

TuningRules read_rules(const std::string& path, int ranks) {
    RulesReader reader(path);
    if (reader.rules().mpi.empty())
        reader.rules().mpi = reader.has_exports() ? "MPICH" : "Open MPI";
    if (for_mpich(reader.rules()))
        read_mpich(reader);
    else
        read_open_mpi(reader, ranks > 0 ? ranks : reader.rules().ranks);
    return reader.rules();
}

void require_match(const TuningRules& rules, const std::string& path, const std::string& mpi,
                   int ranks) {
    const bool states_version = rules.mpi != "MPICH" && rules.mpi != "Open MPI";
    if (states_version ? mpi != rules.mpi : !mpi.starts_with(rules.mpi))
        throw InvalidTask(fmt::format("{}: written for {}, but this MPI is {}: its algorithms may "
                                      "be numbered differently; run sextant tune again",
                                      path, rules.mpi, mpi));
    if (rules.ranks > 0 && ranks > 0 && rules.ranks != ranks)
        throw InvalidTask(fmt::format("{}: written for {} ranks, but the launcher starts {}", path,
                                      rules.ranks, ranks));
}

std::vector<Variable> environment_of(const TuningRules& rules, const std::string& path) {
    std::vector<Variable> variables;
    if (for_mpich(rules)) {
        for (const TuningRule& rule : rules.rules)
            variables.push_back({variable_of(rule.operation), rule.algorithm.name});
        return variables;
    }
    return {
        {"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
        {"OMPI_MCA_coll_tuned_dynamic_rules_filename", std::filesystem::absolute(path).string()}};
}

} // namespace sextant::lab
