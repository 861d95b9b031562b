    if [[ "$prev" == "=" && COMP_CWORD -ge 2 && "${COMP_WORDS[COMP_CWORD - 2]}" == --* ]]; then
        prev="${COMP_WORDS[COMP_CWORD - 2]}"
    elif [[ "$cur" == "=" && "$prev" == --* ]]; then
        cur=""
    fi
