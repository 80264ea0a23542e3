// The house rules that a program can check, one function each.
#pragma once

#include <string>
#include <vector>

#include "source_file.hpp"

namespace latchkey::tidy {

/// Each says what is wrong as "path:line: sentence"; nothing to say means that the rule is kept.
using Findings = std::vector<std::string>;

Findings belongs_to_a_layer(const SourceFile& file);
Findings includes_go_downwards(const SourceFile& file);
Findings third_parties_stay_in_their_layers(const SourceFile& file);
Findings file_is_short(const SourceFile& file);
Findings lines_are_narrow(const SourceFile& file);
Findings header_is_included_once(const SourceFile& file);
Findings nothing_is_left_to_do(const SourceFile& file);
Findings failed_forks_are_noticed(const SourceFile& file);
Findings sleeps_say_why(const SourceFile& file);
Findings first_line_says_why(const SourceFile& file);
Findings comments_have_a_subject(const SourceFile& file);
Findings uses_no_private_word(const SourceFile& file);
Findings has_no_name_of_std(const SourceFile& file);
Findings is_marked(const SourceFile& file);  ///< as scripts/mark_sources.sh marks

// Looks at all files at once.
Findings folders_are_small(const std::vector<SourceFile>& files);
Findings names_stand_for_one_type(const std::vector<SourceFile>& files);

}  // namespace latchkey::tidy
