
function __fish_tensorop_file
    string match -r '^.*?\.(?:npz|safetensors|safetensors\.index\.json)(?=:)' -- (commandline -ct)
end

function __fish_tensorop_members
    set -l typed (__fish_tensorop_file)
    or return
    set -l file (string replace -r '^~/' "$HOME/" -- $typed)
    if not test -f $file
        set file (string replace -r '^[^=]*=' '' -- $file)
    end
    for name in (tensorop info --members --sort name -- $file 2>/dev/null)
        printf '%s:%s\n' $typed $name
    end
end

complete -k -c tensorop -n "not __fish_tensorop_needs_command; and __fish_tensorop_file >/dev/null" -f -a "(__fish_tensorop_members)"
