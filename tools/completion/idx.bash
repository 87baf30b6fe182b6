# Bash completion of idx: subcommands, options and their values.

_idx_options() {
    case $1 in
        # OPTIONS
        dedup)
            echo --drop --clusters --json --pairs --resemble --shingle --ignore-common --contained --by --min-words --min-document-words --again --within --write --dropped --report --against --documents --partial -k --method \
                --representative --cap --format --include --exclude --text-field --id-field --title-field --date-field --score-field --main-text --max-text \
                --features --hashes --tokens --hash --ties --recipe --table --bits --min-features --strict --threads --memory --tmpdir \
                --progress --verbose -h --help
            ;;
    esac
}

# The values of an option; fails where they can't be listed.
_idx_values() {
    case $1:$2 in
        # VALUES
        dedup:--format) echo auto plain html man jsonl tsv warc fingerprints u64 npy ;;
        *:--method) echo components star ;;
        dedup:--by) echo document paragraph line ;;
        dedup:--representative) echo first most-documents smallest-id longest newest best ;;
        *:--representative) echo first most-documents smallest-id ;;
        *:--hash) echo xxh3 fnv1 fnv1a md5 ;;
        *:--ties) echo 0 1 ;;
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
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_idx_options "$command")" -- "$word")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -F _idx idx
