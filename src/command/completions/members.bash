_tensorop_members() {
    local word="${COMP_LINE:0:COMP_POINT}" typed file name begin kept
    word="${word##*[[:space:]]}"
    case "$word" in
        *.npz:*) typed="${word%%.npz:*}.npz" ;;
        *.safetensors:*) typed="${word%%.safetensors:*}.safetensors" ;;
        *.safetensors.index.json:*) typed="${word%%.safetensors.index.json:*}.safetensors.index.json" ;;
        *) return 1 ;;
    esac
    begin="${word#"$typed:"}"
    file="${typed/#\~\//$HOME/}"
    [[ -f "$file" || "$file" != *=* ]] || file="${file#*=}"
    file="${file/#\~\//$HOME/}"
    [[ -f "$file" ]] || return 1
    kept=""
    [[ "$COMP_WORDBREAKS" != *=* ]] || kept="${word%"${word##*=}"}"
    [[ "$COMP_WORDBREAKS" != *:* ]] || kept="${word%"${word##*[:=]}"}"
    while IFS= read -r name; do
        if [[ "$name" == "$begin"* ]]; then
            name="$typed:$name"
            printf -v name '%q' "${name#"$kept"}"
            COMPREPLY+=("$name")
        fi
    done < <("${1/#\~\//$HOME/}" info --members --sort name -- "$file" 2>/dev/null)
    return 0
}
