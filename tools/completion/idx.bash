# Bash completion of idx: subcommands, options and their values.

_idx_options() {
    case $1 in
        # OPTIONS
    esac
}

# The values of an option; fails where they can't be listed.
_idx_values() {
    case $1:$2 in
        # VALUES
        *) return 1 ;;
    esac
}

_idx() {
    local commands='
        # COMMANDS
        help'
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} values
    COMPREPLY=()
    if [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
    if [ "$word" = = ]; then word=; fi

    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
    elif [ "$command" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "${commands/ help/}" -- "$word")
    elif values=$(_idx_values "$command" "$before"); then
        compopt -o filenames 2>/dev/null # so that the semicolons of recipes are quoted
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_idx_options "$command")" -- "$word")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -F _idx idx
