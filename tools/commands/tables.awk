# tables.awk: makes of the tables NAME.txt what the command and its users read of options.
# usage: awk -v sources=FOLDER -v out=FOLDER -f tables.awk shared.txt NAME.txt…
#
# A table is the text of --help, with its options in place, one after the other:
#
#   == Heading of a group
#   * --limit N = COUNT &question->limit, .least = 1
#       print only the N nearest matches of each query; what -h leaves out
#       | What the man page says besides.
#
# The star is for options that -h shows. What follows `=` is the kind and the value of struct option_rule. Words in
# braces before it, {tsv json}, are the values that completions offer and, unless .names are given, those of a choice.
# `    - VALUE: text` describes one value. An option without a text has that of its name in shared.txt; what it has
# of `=`, braces and text for the man page replaces or follows what is there. In a text, `x` is a value.
#
# What options say of each other, and of inputs, is checked, and is in the help. Each list ends with `or`:
#
#       : needs --by paragraph/line or --write one of these has to be given as well; each of such lines holds
#       : excludes --json, --exists or QUERY   none of these can be given as well; QUERY is any operand that may be left out
#       : for tsv or npy                       the command reads no other input (arguments_fit_input)
#
# An option or a value that went is refused by a sentence that says what to write instead, and is in no help:
#
#   ! --method METHOD: idx clusters --method METHOD
#   ! --format u64: idx clusters FILE
#
# Made are, in `out`: help.c; options/NAME.h, the rules of the parser; the man pages, man/idx-NAME.1 of `sources` with
# the list of options in place of the comment OPTIONS; idx.1, with the commands of main.txt; and the completions.

BEGIN {
    help = out "/help.c"
    print "/* Made by tables.awk. */\n#include \"tools/shared/command.h\"" >help
    for (i = 2; i < ARGC; i++) if (ARGV[i] != "main.txt") commands = commands " " substr(ARGV[i], 1, length(ARGV[i]) - 4)
}

FNR == 1 {
    finish_command()
    command = FILENAME
    gsub(/.*\/|\.txt$/, "", command)
    group = after = pre = post = gone = ""
    count = 0
    split("", operands)
}
/^(Usage|   or): / { read_operands($0) }
command == "main" && /^  idx [a-z]+ .*   / {
    what = substr($0, match($0, /   +/) + RLENGTH)
    zsh_commands = zsh_commands "        '" $2 ":" what "'\n"
    if (is_command($2)) listed = listed ".It Cm " $2 "\n" capitalised(what, "; see") "\n.Xr idx-" $2 " 1 .\n"
}

/^== / { group = substr($0, 4); next }
/^! / { take_gone($0); next }
/^(\* )?--?[a-z][a-z-]*( [A-Z\/|]+)?( [{].*[}])?( = .*)?$/ { begin_option($0); next }
/^    / && count > 0 && !after { take_line(substr($0, 5)); next }
$0 == "" && count > 0 && !after { next }
count == 0 { pre = pre $0 "\n"; next }
{ if (!after) post = "\n"; after = 1; post = post $0 "\n" }

END {
    finish_command()
    write_completions()
    if (wrong) exit 1
}

function complain(sentence) { print command ".txt: " sentence >"/dev/stderr"; wrong = 1 }

# ---- Reading ----

# Begins the next option, by the line that has its name, argument, values and rule.
function begin_option(line,    n, at) {
    end_option()
    n = ++count
    after = 0
    usual[n] = sub(/^\* /, "", line)
    rule[n] = values[n] = text[n] = manual[n] = needs[n] = excludes[n] = inputs[n] = ""
    items[n] = 0
    grouped[n] = group
    if ((at = index(line, " = "))) { rule[n] = substr(line, at + 3); line = substr(line, 1, at - 1) }
    if ((at = index(line, " {"))) { values[n] = substr(line, at + 2); sub(/}$/, "", values[n]); line = substr(line, 1, at - 1) }
    at = index(line " ", " ")
    name[n] = substr(line, 1, at - 1)
    argument[n] = substr(line, at + 1)
}

# Takes a line below an option: of the man page behind |, the first one of a value behind -, what the option says of
# others or of inputs behind :, or a line that continues the text of the option or of its last value. shared.txt's lines
# are also stored as they are, for end_option.
function take_line(line,    n, i, colon) {
    n = count
    i = items[n]
    if (command == "shared") shared_lines[name[n]] = shared_lines[name[n]] line "\n"
    if (line ~ /^ *\|/) {
        sub(/^ *\| ?/, "", line)
        if (i > 0) item_manual[n, i] = item_manual[n, i] line "\n"
        else manual[n] = manual[n] line "\n"
    } else if (line ~ /^- /) {
        colon = index(line, ": ")
        i = ++items[n]
        item[n, i] = substr(line, 3, colon - 3)
        item_text[n, i] = substr(line, colon + 2)
        item_manual[n, i] = ""
    } else if (line ~ /^: /) {
        take_relation(n, line)
    } else {
        sub(/^ +/, "", line)
        if (i > 0) item_text[n, i] = join(item_text[n, i], line)
        else text[n] = join(text[n], line)
    }
}

function take_relation(n, line,    list) {
    list = line
    sub(/^: [a-z]+ /, "", list)
    if (line ~ /^: needs /) needs[n] = needs[n] (needs[n] == "" ? "" : "; ") list
    else if (line ~ /^: excludes /) excludes[n] = list
    else if (line ~ /^: for /) inputs[n] = list
    else complain(name[n] " says what there is not: " line)
}

# Takes an option, or a value of one, that went: "! --NAME VALUE: what to write instead".
function take_gone(line,    at, words) {
    at = index(line, ": ")
    split(substr(line, 3, at - 3), words, " ")
    gone = gone sprintf("{.name = \"%s\", .kind = OPTION_GONE%s, .instead = \"%s\"},\n", without_dashes(words[1]), \
                        words[2] ~ /^[a-z]/ ? ", .gone_value = \"" words[2] "\"" : "", substr(line, at + 2))
}

# Takes from shared.txt what the table does not say of the last option.
function end_option(    n, i, key, own, lines, total) {
    n = count
    key = name[n]
    if (n + 0 == 0) return
    if (command == "shared") {
        shared_argument[key] = argument[n]
        shared_values[key] = values[n]
        shared_rule[key] = rule[n]
        return
    }
    if (argument[n] == "") argument[n] = shared_argument[key]
    if (values[n] == "") values[n] = shared_values[key]
    if (rule[n] == "") rule[n] = shared_rule[key]
    if (text[n] == "") {
        own = manual[n]
        manual[n] = ""
        total = split(shared_lines[key], lines, "\n")
        for (i = 1; i < total; i++) take_line(lines[i])
        if (items[n] > 0) item_manual[n, items[n]] = item_manual[n, items[n]] own
        else manual[n] = manual[n] own
    }
    if (text[n] == "") complain(key " has no text, and none in shared.txt")
    if (rule[n] == "") complain(key " has no rule")
}

function join(one, other) { return one == "" ? other : one " " other }

# Notes the operands that the usage names, and what zsh offers for them.
function read_operands(usage,    words, n, i, word, place, number) {
    if (usage ~ /^Usage/) operand_actions = ""
    n = split(usage, words, " ")
    for (i = 4; i <= n; i++) {
        word = words[i]
        if (word ~ /^(\[OPTION|-|<|>)/ || words[i - 1] ~ /^-/) continue
        place = word ~ /…/ ? "*" : ++number ""
        gsub(/[^A-Z|]/, "", word)
        operands[word] = 1
        if (usage ~ /^Usage/) operand_actions = operand_actions zsh_line(place ":" tolower(word) ":" completion_of_name(word))
    }
}

# ---- One command, after its table was read ----

# Writes what is made of one table alone, and adds to the completions, which are of all.
function finish_command() {
    end_option()
    if (command == "" || command == "shared") return
    printf "const struct help help_%s = {", command >help
    print_string(pre list_help(0) post)
    if (command != "main") print_string(make_summary())
    else printf " NULL" >help
    print "};" >help
    print_manual(command == "main" ? "/man/idx.1" : "/man/idx-" command ".1")
    if (command == "main") return
    print_rules()
    add_completions()
}

# ---- --help and -h ----

# Returns how many characters of UTF-8 a text has, whose bytes awk counts.
function characters(text) { gsub(/[\200-\277]/, "", text); return length(text) }

function spaces(n) { return sprintf("%" n "s", "") }

# Returns lines of at most 116 columns that begin with `head`, and further ones with `indent` spaces.
function wrap(head, text, indent,    words, n, i, line, lines) {
    gsub(/`/, "", text)
    n = split(text, words, " ")
    line = head
    if (characters(head) >= indent - 1 && head ~ /-/) { lines = head "\n"; line = spaces(indent) }
    else line = head spaces(indent - characters(head))
    for (i = 1; i <= n; i++) {
        if (i > 1 && characters(line) + 1 + characters(words[i]) > 116) {
            lines = lines line "\n"
            line = spaces(indent) words[i]
        } else line = line (i > 1 ? " " : "") words[i]
    }
    return lines line "\n"
}

function head_of(n) { return "  " name[n] (argument[n] == "" ? "" : " " argument[n]) }

# Returns the options under their headings, or for -h those with a star, or all if none has one.
function list_help(briefly,    n, i, lines, before, width, starred) {
    for (n = 1; n <= count; n++) starred += usual[n]
    for (n = 1; n <= count; n++) {
        if (briefly) {
            if (usual[n] || !starred) lines = lines wrap(head_of(n), summary(n), 25)
            continue
        }
        if (grouped[n] != before) lines = lines (n > 1 ? "\n" : "") grouped[n] ":\n"
        before = grouped[n]
        lines = lines wrap(head_of(n), text[n] relations(n) (items[n] > 0 ? ":" : ""), 25)
        for (i = width = 0; i++ < items[n];) if (length(item[n, i]) > width) width = length(item[n, i])
        for (i = 1; i <= items[n]; i++) lines = lines wrap(spaces(25) item[n, i], item_text[n, i], 27 + width)
    }
    return lines
}

# Returns what an option says of others and of inputs, as the end of its text.
function relations(n) {
    return (needs[n] == "" ? "" : "; needs " needs[n]) (excludes[n] == "" ? "" : "; not with " excludes[n]) \
           (inputs[n] == "" ? "" : "; for " inputs[n])
}

# Returns the sentence of an option up to the first semicolon that is not in parentheses, with the values that it lists.
function summary(n,    sentence, i, parts, count) {
    count = split(text[n], parts, "; ")
    sentence = parts[1]
    for (i = 2; i <= count && sentence ~ /[(][^)]*$/; i++) sentence = sentence "; " parts[i]
    if (items[n] > 0) sentence = sentence ":"
    for (i = 1; i <= items[n]; i++)
        sentence = sentence (i == 1 ? " " : i == items[n] ? " or " : ", ") item[n, i]
    return sentence
}

# Returns the first paragraph of the help, the usual options, and the first three lines of its examples.
function make_summary(    first, lines, n, i, examples) {
    first = pre
    if ((n = index(first, "\n\n"))) first = substr(first, 1, n)
    n = split(pre post, lines, "\n")
    for (i = 1; i <= n && lines[i] !~ /^Example/; i++);
    for (n = 0; n < 4 && (n == 0 || lines[i] ~ /^  /); n++) examples = examples lines[i++] "\n"
    return first "\n" list_help(1) (count > 0 ? "\n" : "") examples \
           "\nThis is a summary; idx " command " --help prints the whole help.\n"
}

# Writes a string of C, and a comma.
function print_string(text,    lines, n, i) {
    gsub(/\\/, "\\\\&", text)
    gsub(/"/, "\\\\&", text)
    n = split(text, lines, "\n")
    for (i = 1; i < n; i++) printf "\n    \"%s\\n\"", lines[i] >help
    printf "," >help
}

# ---- The rules of the parser ----

# Writes the initialisers of struct option_rule. A choice has the table's values as its names, unless it says .names.
function print_rules(    file, n, kind, names) {
    file = out "/options/" command ".h"
    print "/* Made by tables.awk. */" >file
    for (n = 1; n <= count; n++) {
        kind = rule[n]
        sub(/ .*/, "", kind)
        names = values[n]
        gsub(/ /, "\", \"", names)
        names = kind == "CHOICE" && rule[n] !~ /\.names/ ? ", .names = (const char *const[]){\"" names "\", NULL}" : ""
        printf "{.name = \"%s\", .kind = OPTION_%s, .value =%s%s%s%s%s},\n", without_dashes(name[n]), kind,
               substr(rule[n], length(kind) + 1), names, list_member("needs", needs[n]),
               list_member("excludes", excludes[n]), list_member("inputs", inputs[n]) >file
    }
    printf "%s", gone >file
    close(file)
}

# Returns the initialiser of a member that is a list, which the table writes with `or`, and C with commas alone.
function list_member(member, list) {
    gsub(/ or /, ", ", list)
    return list == "" ? "" : ", ." member " = \"" list "\""
}

function without_dashes(word) { sub(/^--?/, "", word); return word }

# ---- The man page ----

# Copies a man page, with the list of options or commands in place of a comment.
function print_manual(name,    from, to, line, result) {
    from = sources name
    to = out name
    while ((result = (getline line <from)) > 0) {
        if (line == ".\\\" OPTIONS") print_list(to)
        else if (line == ".\\\" COMMANDS") printf "%s", listed >to
        else print line >to
    }
    close(from)
    close(to)
    if (result < 0) complain(from " can't be read")
}

# Writes the options of a man page: a list for each group, and within it one for the values of an option.
function print_list(to,    n, i, before) {
    for (n = 1; n <= count; n++) {
        if (n == 1 || grouped[n] != before) {
            if (n > 1) print ".El" >to
            if (grouped[n] != "") print ".Ss " grouped[n] >to
            print ".Bl -tag -width Ds" >to
        }
        before = grouped[n]
        print ".It Fl " substr(name[n], 2) (argument[n] == "" ? "" : " Ar " in_small_letters(argument[n])) >to
        printf "%s", mdoc(capitalised(text[n] relations(n), items[n] > 0 ? ":" : ".") "\n" manual[n], argument[n]) >to
        if (items[n] > 0) print ".Bl -tag -width Ds" >to
        for (i = 1; i <= items[n]; i++)
            printf ".It Cm %s\n%s", item[n, i], mdoc(capitalised(item_text[n, i], ".") "\n" item_manual[n, i], argument[n]) >to
        if (items[n] > 0) print ".El" >to
    }
    print ".El" >to
}

# Returns the name of an argument in small letters, but symbols such as N and I/N as they are.
function in_small_letters(word) { return length(word) > 1 && word !~ /\// ? tolower(word) : word }

function capitalised(text, end) { return toupper(substr(text, 1, 1)) substr(text, 2) end }

# Returns a text as mdoc: options, arguments, values in backquotes and references to pages become macros.
function mdoc(text, own,    lines, n, i, words, m, j, plain, result, word, tail) {
    n = split(text, lines, "\n")
    for (i = 1; i <= n; i++) {
        if (lines[i] ~ /^\./) { result = result flow(plain) lines[i] "\n"; plain = ""; continue }
        m = split(lines[i], words, " ")
        for (j = 1; j <= m; j++) {
            word = words[j]
            if (word ~ /^\(?`/) while (word !~ /`.*`/ && j < m) word = word " " words[++j]
            if (word == "idx" && is_command(words[j + 1])) {
                word = "idx-" words[++j]
                tail = word
                sub(/[.,;:)]+$/, "", word)
                word = word "(1)" substr(tail, length(word) + 1)
            }
            tail = macro(word, own)
            if (tail == "") { gsub(/\\/, "&e", word); plain = plain " " word; continue }
            result = result flow(plain) tail "\n"
            plain = ""
        }
    }
    return result flow(plain)
}

# Returns whether a word is another command than this one, whose page is another one.
function is_command(word) {
    sub(/[.,;:)]+$/, "", word)
    return word != command && index(commands " ", " " word " ") > 0
}

# Returns the macro that a word is in a man page, or nothing if it is a word like others. Punctuation around it becomes
# arguments of the macro: `head` and `tail`. `own` is the argument of the option that the text is about.
function macro(word, own,    tail, head) {
    if (match(word, /[.,;:?!)]+$/)) {
        if (!(word ~ /\([0-9]\)[.,;:?!)]*$/)) { tail = substr(word, RSTART); word = substr(word, 1, RSTART - 1) }
        else if (match(word, /\)[.,;:?!)]+$/)) { tail = substr(word, RSTART + 1); word = substr(word, 1, RSTART) }
    }
    gsub(/./, " &", tail)
    if (word ~ /^\(/) { head = "( "; word = substr(word, 2) }
    if (word ~ /^--?[a-z][a-z-]*$/) return ".Fl " head substr(word, 2) tail
    if (word ~ /^[a-z-]+\([0-9]\)$/) {
        sub(/[(]/, " ", word)
        sub(/[)]/, "", word)
        return ".Xr " head word tail
    }
    if (word ~ /^`[a-z0-9-]+`$/) return ".Cm " head substr(word, 2, length(word) - 2) tail
    if (word ~ /^`[^`]+`$/) return ".Ql " head substr(word, 2, length(word) - 2) tail
    if (word != "" && (word == own || word in operands)) return ".Ar " head in_small_letters(word) tail
    return ""
}

# Returns words as lines of at most 100 columns, none of which begins as a request of roff does.
function flow(text,    words, n, i, line, lines) {
    n = split(text, words, " ")
    for (i = 1; i <= n; i++) {
        if (line != "" && (length(line) + length(words[i]) > 99 || line ~ /[.]$/)) { lines = lines line "\n"; line = "" }
        if (line == "" && words[i] ~ /^[.']/) words[i] = "\\&" words[i]
        line = join(line, words[i])
    }
    return line == "" ? lines : lines line "\n"
}

# ---- Completions ----

# Adds the options of a command to the completions of bash and zsh.
function add_completions(    n, all, line) {
    for (n = 1; n <= count; n++) {
        all = all " " name[n]
        if (values[n] != "") bash_values = bash_values "        " command ":" name[n] ") echo '" values[n] "' ;;\n"
        line = line zsh_line((rule[n] ~ /^(TEXTS|INCLUDE|EXCLUDE)/ ? "*" : "") name[n] "[" description(n) "]" \
                            (argument[n] == "" ? "" : ":" in_small_letters(argument[n]) ":" completion_of_option(n)))
    }
    bash_options = bash_options "        " command ") echo" all " -h --help ;;\n"
    zsh = zsh "        " command ")\n            _arguments -S $help" line operand_actions "\n            ;;\n"
}

# Returns what the list of zsh has about an option: the summary up to a parenthesis or a value.
function description(n,    line) {
    line = summary(n)
    sub(/( [(]|: `).*/, "", line)
    gsub(/`/, "", line)
    gsub(/\[|\]/, "\\\\&", line)
    gsub(/'/, "’", line)
    return line
}

# Returns a specification of zsh on a line of its own.
function zsh_line(text) { return " \\\n                '" text "'" }

function completion_of_option(n) { return values[n] != "" ? "(" escaped(values[n]) ")" : completion_of_name(argument[n]) }

# Returns how zsh completes what a name in capitals stands for.
function completion_of_name(word) {
    return word ~ /^(INDEX|OTHER|OUTPUT|FOLDER)$/ ? "_files -/" : word ~ /FILE|PLACE|INPUT|QUERIES|^[AB]$/ ? "_files" : ""
}

function escaped(text) { gsub(/[:;]/, "\\\\&", text); return text }

# Copies the files of completions, with what was added for all commands in place of comments.
function write_completions(    file, line, from, i, names) {
    split("idx.bash _idx", names, " ")
    for (i = 1; i <= 2; i++) {
        from = sources "/completion/" names[i]
        file = out "/completion/" names[i]
        while ((getline line <from) > 0) {
            if (line ~ /# OPTIONS$/) printf "%s", (i == 1 ? bash_options : zsh) >file
            else if (line ~ /# VALUES$/) printf "%s", bash_values >file
            else if (line ~ /# COMMANDS$/) printf "%s", (i == 1 ? "       " commands "\n" : zsh_commands) >file
            else print line >file
        }
    }
}
