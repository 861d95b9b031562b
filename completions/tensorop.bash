# Completion of tensorop for bash: the program itself prints the candidates, without any bash completes names of files.
_tensorop() {
    local IFS=$'\n'
    COMPREPLY=($("${1/#\~\//$HOME/}" completions bash --line "${COMP_LINE:0:COMP_POINT}" --breaks "$COMP_WORDBREAKS" \
        -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null))
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -o default -F _tensorop tensorop
