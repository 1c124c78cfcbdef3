// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/operation.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

std::vector<const Operation*> Commands::operations() const {
    std::vector<const Operation*> all;
    for (const Group& group : groups) {
        for (const Operation& operation : group.operations)
            all.push_back(&operation);
    }
    return all;
}

Record on_command_line(Record record) {
    for (Field& field : record.fields)
        field.on_command_line = true;
    return record;
}

bool is_list(const Field& field) {
    constexpr std::string_view scales = "SCALE"; // one number, or one per axis
    return field.kind == Field::Kind::integers || field.kind == Field::Kind::texts ||
           field.value_name.find(',') != std::string::npos || field.value_name.ends_with("LIST") ||
           field.value_name == scales;
}

namespace {

/// Splits values at commas. Not used for file names, which may contain commas.
std::vector<std::string> split_at_commas(const std::vector<std::string>& words) {
    std::vector<std::string> values;
    for (const std::string& word : words) {
        std::size_t begin = 0;
        for (std::size_t end = 0; end != word.npos; begin = end + 1) {
            end = word.find(',', begin);
            values.push_back(word.substr(begin, end - begin));
        }
    }
    return values;
}

void set_list(const Field& field, const std::vector<std::string>& words) {
    if (!field.is_positional && !field.is_file) {
        const std::string all = fmt::format("{}", fmt::join(words, ","));
        for (const std::string& value : split_at_commas(words)) {
            if (value.empty())
                throw InvalidTask(fmt::format(
                    "{} {}: a value is empty, expected values separated by single commas",
                    field.called(), all.empty() ? "''" : shortened(all)));
        }
    }
    if (field.kind != Field::Kind::texts)
        return field.set(fmt::format("{}", fmt::join(words, ",")));
    field.set_all(field.is_positional || field.is_file ? words : split_at_commas(words));
}

void set_one(const Field& field, const std::vector<std::string>& words) {
    if (words.size() > 1)
        throw InvalidTask(fmt::format("{} is given {} times", field.called(), words.size()));
    const std::string& word = words.front();
    if (word.empty() && !field.is_file && field.kind == Field::Kind::text)
        throw InvalidTask(
            fmt::format("{} is empty: expected {}", field.called(), field.value_name));
    field.set(word);
}

} // namespace

Call call_of(const Operation& operation, const Given& given) {
    for (const auto& [name, values] : given) {
        if (!operation.options.find(name))
            throw std::logic_error(fmt::format("{} has no field {}", operation.name, name));
    }
    Call call{.options = operation.options, .given = {}};
    for (const Field& field : call.options.fields) {
        const auto found = given.find(field.name);
        if (found == given.end() || found->second.empty()) {
            if (field.is_required)
                throw InvalidTask(fmt::format("{} is missing{}{}", field.called(),
                                              field.meaning.empty() ? "" : ": ", field.meaning));
            continue;
        }
        if (is_list(field))
            set_list(field, found->second);
        else
            set_one(field, found->second);
        if (field.kind != Field::Kind::flag || field.text() == "true")
            call.given.insert(field.name);
    }
    return call;
}

namespace {

bool is_number_list(std::string_view word) {
    for (std::size_t end = 0; end != word.npos;) {
        end = word.find(',');
        if (!parsed_number<double>(word.substr(0, end)))
            return false;
        word.remove_prefix(std::min(end, word.size() - 1) + 1);
    }
    return true;
}

class WordSplitter {
  public:
    explicit WordSplitter(const Operation& operation) : operation_(operation) {}

    CommandLine split(std::span<const std::string> words) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string& word = words[i];
            if (word == "--") { // all further words are arguments
                for (const std::string& argument : words.subspan(i + 1))
                    add_argument(argument);
                break;
            }
            if (word.size() < 2 || word[0] != '-' || is_number_list(word)) {
                add_word(word);
                continue;
            }
            last_ = open_ = nullptr;
            if (word == "--help" || word == "-h")
                line_.help = true;
            else if (add_option(word, i + 1 < words.size() ? &words[i + 1] : nullptr))
                ++i;
        }
        return std::move(line_);
    }

  private:
    std::vector<std::string>& values_of(const Field& field) { return line_.given[field.name]; }

    void note_mistake(const std::string& what) {
        if (line_.mistake.empty())
            line_.mistake = what;
    }

    std::string unknown_option(const std::string& word) const {
        std::vector<std::string> options = {"--help"};
        for (const Field& field : operation_.options.fields) {
            if (!field.is_positional)
                options.push_back(field.called());
        }
        const std::vector<std::string_view> names(options.begin(), options.end());
        return unknown_name("option", word, names);
    }

    /// Returns the option in a word such as --option=value or -ovalue; null if there is none.
    const Field* option_in(const std::string& word) const {
        for (const Field& field : operation_.options.fields) {
            const bool named = word[1] == '-' ? word.substr(0, word.find('=')) == field.called()
                                              : word[1] == field.option_letter;
            if (named && !field.is_positional)
                return &field;
        }
        return nullptr;
    }

    /// Returns true if the option takes the next word as its value.
    bool add_option(const std::string& word, const std::string* next) {
        const Field* const option = option_in(word);
        if (!option) {
            note_mistake(unknown_option(word));
            return false;
        }
        if (is_list(*option))
            last_ = option;
        std::vector<std::string>& values = values_of(*option);
        const std::size_t name = word[1] == '-' ? option->called().size() : 2;
        if (name < word.size()) {
            values.push_back(word.substr(name + (word[name] == '=')));
        } else if (option->kind == Field::Kind::flag) {
            values.emplace_back("true");
        } else if (!option->without_value.empty()) {
            values.push_back(option->without_value);
            open_ = option;
        } else {
            if (!next)
                throw InvalidTask(fmt::format("{} needs a value", option->called()));
            values.push_back(*next);
            return true;
        }
        return false;
    }

    /// Returns the positional argument that takes the next word; null if there is none. A list of
    /// further inputs, which is not required, takes no word that can be a value of an option.
    const Field* next_argument() const {
        for (const Field& field : operation_.options.fields) {
            const bool is_list = field.kind == Field::Kind::texts;
            const bool is_open = is_list ? field.is_required || (!last_ && !open_)
                                         : !line_.given.contains(field.name);
            if (field.is_positional && is_open)
                return &field;
        }
        return nullptr;
    }

    void add_argument(const std::string& word) {
        if (const Field* const argument = next_argument())
            values_of(*argument).push_back(word);
        else
            note_mistake(fmt::format("unexpected argument '{}'", word));
    }

    void add_word(const std::string& word) {
        if (open_ && !open_->choices.empty()) {
            const Field& option = *std::exchange(open_, nullptr);
            if (std::ranges::count(option.choices, word) > 0) {
                values_of(option).back() = word;
                return;
            }
        }
        const bool is_number = last_ && last_->kind != Field::Kind::texts && is_number_list(word);
        const bool is_input = next_argument() && !is_number && !(open_ && word == "-");
        if (!is_input && last_) {
            values_of(*last_).push_back(word);
            return;
        }
        if (!is_input && open_)
            values_of(*open_).back() = word;
        else
            add_argument(word);
        last_ = open_ = nullptr;
    }

    const Operation& operation_;
    CommandLine line_;
    const Field* last_ = nullptr; // the list option that takes further words
    const Field* open_ = nullptr; // the option whose optional value may be the next word
};

} // namespace

CommandLine split_words(const Operation& operation, std::span<const std::string> words) {
    return WordSplitter(operation).split(words);
}

int run_command(const Operation& operation, const Given& given, const std::string& program) {
    Call call = call_of(operation, given);
    call.program = program;
    return operation.run(call);
}

} // namespace sextant::command
