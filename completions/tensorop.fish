# Completion of tensorop for fish: the program itself prints the candidates, without any fish completes names of files.
function __tensorop_find
    set -l words (commandline -opc)
    set -g __tensorop_found ($words[1] completions fish -- $words (commandline -ct) 2>/dev/null)
    test -n "$__tensorop_found"
end
complete -c tensorop -k -f -n __tensorop_find -a '(printf "%s\n" $__tensorop_found)'
