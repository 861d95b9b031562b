_tensorop_files() {
    local before=$IPREFIX file
    local -a members
    if compset -P '*.(npz|safetensors|safetensors.index.json):'; then
        file=${${(Q)${IPREFIX#$before}}%:}
        [[ -f ${file/#\~\//$HOME/} ]] || file=${file#*=}
        members=(${(f)"$(_call_program members tensorop info --members --sort name -- ${(q)${file/#\~\//$HOME/}} 2>/dev/null)"})
        compadd -V members -a members
    else
        _files || { compset -P 1 '*=' && _files }
    fi
}
