# Bash completion of idx: subcommands, options and their values.

_idx_options() {
    case $1 in
        build)
            echo -k --scheme --max-bytes-per-fingerprint --block-size --bits --format --fingerprints \
                --id-type --by-id --recipe --skip-bad-lines --partial --shard --memory --tmpdir --threads --force --progress \
                -h --help
            ;;
        batch)
            echo -k --method --format --fingerprints --limit --max-documents --exists --threads --memory --tmpdir \
                --partial --disk --unpacked --progress --stream --bits --part -h --help
            ;;
        add)
            echo --if-new -k --limit --max-documents --format --first-id --fingerprints --skip-bad-lines --partial --compact \
                --threads -h --help
            ;;
        remove) echo --by-fingerprint --by-id --format --fingerprints --skip-bad-lines --partial --compact -h --help ;;
        compact) echo --all --growth --memory --threads --tmpdir --progress -h --help ;;
        merge) echo --memory --threads --force --progress -h --help ;;
        lookup)
            echo -k --text --documents --include --exclude --id --table --main-text --max-text --fingerprints --format --limit --max-documents \
                --exists --agree --partial --threads --disk --unpacked --refresh -h --help
            ;;
        clusters)
            echo -k --keep --drop --json --method --representative --cap --report --confirm --similarity --format \
                --include --exclude --text-field --id-field --main-text --max-text --threads --memory --tmpdir --progress --verbose -h --help
            ;;
        dedup)
            echo --drop --clusters --json --resemble --confirm --similarity --write --dropped --report --against --documents --partial -k --method \
                --representative --cap --format --include --exclude --text-field --id-field --title-field --date-field --score-field --main-text --max-text \
                --features --hashes --tokens --hash --ties --recipe --table --bits --min-features --strict --threads --memory --tmpdir \
                --progress --verbose -h --help
            ;;
        compare) echo --recipe --table --hash --ties --bits --main-text --max-text -h --help ;;
        distance) echo -k --fingerprints --bits -h --help ;;
        pairs) echo -k --documents --max-documents --fingerprints --memory --threads --progress -h --help ;;
        join) echo -k --documents --fingerprints --memory --threads --progress -h --help ;;
        serve)
            echo --listen --host --allow-origin --threads --connections --max-body --refresh --unpacked -k --writable \
                --token-file --documents --table --main-text -h --help
            ;;
        info) echo --format -h --help ;;
        verify) echo -h --help ;;
        dump) echo --fingerprints -h --help ;;
        plan) echo --count -k --scheme --measure --calibration --bits --block-size --max-bytes-per-fingerprint --format -h --help ;;
        fingerprint)
            echo --format --include --exclude --text-field --id-field --title-field --main-text --max-text --features --hashes --tokens \
                --hash --ties --recipe --bits --compare --table --train --min-features --strict --threads --progress \
                -h --help
            ;;
    esac
}

# The values of an option; fails where they can't be listed.
_idx_values() {
    case $1:$2 in
        add:--format | batch:--format | build:--format | remove:--format) echo auto tsv u64 npy ;;
        clusters:--format | fingerprint:--format) echo auto plain html man jsonl tsv warc ;;
        dedup:--format) echo auto plain html man jsonl tsv warc fingerprints u64 npy ;;
        lookup:--format) echo tsv json ;;
        info:--format | plan:--format) echo text json ;;
        batch:--method) echo auto probe merge stream ;;
        *:--scheme) echo auto 4 10 16 20 ;;
        *:--similarity) echo jaccard cosine ;;
        *:--method) echo components star ;;
        dedup:--representative) echo first most-documents smallest-id longest newest best ;;
        *:--representative) echo first most-documents smallest-id ;;
        *:--fingerprints) echo hex dec signed ;;
        *:--hash) echo xxh3 fnv1 fnv1a md5 ;;
        *:--ties) echo 0 1 ;;
        *:--id-type) echo text u64 none ;;
        *:--block-size) echo 128 256 512 1K 2K 4K ;;
        *) return 1 ;;
    esac
}

_idx() {
    local commands='add batch build clusters compact compare dedup distance dump fingerprint help info join lookup merge
        pairs plan remove serve verify'
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
