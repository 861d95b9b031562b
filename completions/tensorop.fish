# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_tensorop_global_optspecs
    string join \n h/help V/version
end

function __fish_tensorop_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_tensorop_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_tensorop_using_subcommand
    set -l cmd (__fish_tensorop_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c tensorop -n "__fish_tensorop_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_needs_command" -s V -l version -d 'Print version'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "slice" -d 'Take a slice of a tensor (OpenVINO Slice-8)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "slice-scatter" -d 'Put updates into a slice of a tensor (OpenVINO SliceScatter-15)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "scatter-update" -d 'Put updates at indices of one axis (OpenVINO ScatterUpdate-3)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "scatter-nd" -d 'Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l start -d 'The first place on each axis: 0,1 or [0,1] or a file' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l stop -d 'The place before which to stop on each axis, as --start' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l step -d 'From one place to the next on each axis, as --start [default: 1 for each]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l axes -d 'The axes that start, stop and step are for, as --start [default: 0,1,..]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l at -d 'Slices in NumPy\'s notation, such as \'1:8:2, ..., ::-1\'' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l dtype -d 'The dtype of plain JSON, or what an ambiguous void is (bfloat16, ...)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l from -d 'The format of every operand that is not inline [default: by its content]' -r -f -a "npy\t'NumPy\'s .npy'
json\t'JSON'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -s o -l output -d 'Where to write [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l to -d 'The format of the output [default: by the name of FILE, else text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
json\t'One JSON object that reads back to the same bits'
text\t'What NumPy prints'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l edgeitems -d 'Items at each end of an axis that stay when it is elided' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l linewidth -d 'Characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l precision -d 'At most N digits after the point [default: as many as tell the value]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l threads -d 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l dry-run -d 'Make every check, print what would be done, write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -s q -l quiet -d 'Show no progress (else shown on a terminal if it takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l fill -d 'One value for every place addressed, instead of UPDATES' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l start -d 'The first place on each axis: 0,1 or [0,1] or a file' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l stop -d 'The place before which to stop on each axis, as --start' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l step -d 'From one place to the next on each axis, as --start [default: 1 for each]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l axes -d 'The axes that start, stop and step are for, as --start [default: 0,1,..]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l at -d 'Slices in NumPy\'s notation, such as \'1:8:2, ..., ::-1\'' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l dtype -d 'The dtype of plain JSON, or what an ambiguous void is (bfloat16, ...)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l from -d 'The format of every operand that is not inline [default: by its content]' -r -f -a "npy\t'NumPy\'s .npy'
json\t'JSON'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -s o -l output -d 'Where to write [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l to -d 'The format of the output [default: by the name of FILE, else text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
json\t'One JSON object that reads back to the same bits'
text\t'What NumPy prints'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l edgeitems -d 'Items at each end of an axis that stay when it is elided' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l linewidth -d 'Characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l precision -d 'At most N digits after the point [default: as many as tell the value]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l threads -d 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l dry-run -d 'Make every check, print what would be done, write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -s i -l in-place -d 'Change DATA, a .npy file, where it lies, instead of writing an output'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -s q -l quiet -d 'Show no progress (else shown on a terminal if it takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l fill -d 'One value for every place addressed, instead of UPDATES' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l axis -d 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l on-duplicate -d 'What to do about an index that occurs twice [default: last]' -r -f -a "last\t'The last one in index order wins'
error\t'Refuse, naming the earliest position that repeats one, and the one it repeats'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l dtype -d 'The dtype of plain JSON, or what an ambiguous void is (bfloat16, ...)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l from -d 'The format of every operand that is not inline [default: by its content]' -r -f -a "npy\t'NumPy\'s .npy'
json\t'JSON'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -s o -l output -d 'Where to write [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l to -d 'The format of the output [default: by the name of FILE, else text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
json\t'One JSON object that reads back to the same bits'
text\t'What NumPy prints'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l edgeitems -d 'Items at each end of an axis that stay when it is elided' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l linewidth -d 'Characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l precision -d 'At most N digits after the point [default: as many as tell the value]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l threads -d 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l dry-run -d 'Make every check, print what would be done, write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -s i -l in-place -d 'Change DATA, a .npy file, where it lies, instead of writing an output'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -s q -l quiet -d 'Show no progress (else shown on a terminal if it takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l fill -d 'One value for every place addressed, instead of UPDATES' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l reduction -d 'What to do with an old item and its update' -r -f -a "none\t'The update replaces the item'
add\t'Their sum'
mul\t'Their product'
max\t'The larger'
min\t'The smaller'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l opset -d 'The ONNX opset that decides which reductions and element types are legal' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l on-duplicate -d 'What to do about an index that occurs twice [default: last]' -r -f -a "last\t'The last one in index order wins'
error\t'Refuse, naming the earliest position that repeats one, and the one it repeats'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l dtype -d 'The dtype of plain JSON, or what an ambiguous void is (bfloat16, ...)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l from -d 'The format of every operand that is not inline [default: by its content]' -r -f -a "npy\t'NumPy\'s .npy'
json\t'JSON'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -s o -l output -d 'Where to write [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l to -d 'The format of the output [default: by the name of FILE, else text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
json\t'One JSON object that reads back to the same bits'
text\t'What NumPy prints'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l edgeitems -d 'Items at each end of an axis that stay when it is elided' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l linewidth -d 'Characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l precision -d 'At most N digits after the point [default: as many as tell the value]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l threads -d 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l dry-run -d 'Make every check, print what would be done, write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -s i -l in-place -d 'Change DATA, a .npy file, where it lies, instead of writing an output'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -s q -l quiet -d 'Show no progress (else shown on a terminal if it takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd completions help" -f -a "slice" -d 'Take a slice of a tensor (OpenVINO Slice-8)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd completions help" -f -a "slice-scatter" -d 'Put updates into a slice of a tensor (OpenVINO SliceScatter-15)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd completions help" -f -a "scatter-update" -d 'Put updates at indices of one axis (OpenVINO ScatterUpdate-3)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd completions help" -f -a "scatter-nd" -d 'Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd completions help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
