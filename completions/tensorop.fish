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
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "scatter-nd" -d 'Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18, OpenVINO ScatterNDUpdate-15)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "scatter-elements" -d 'Put or reduce updates at indices along an axis (ONNX ScatterElements 11 to 18, OpenVINO ScatterElementsUpdate-12)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "gather" -d 'Take places of one axis by their indices (OpenVINO Gather-1, -7, -8, ONNX Gather 1, 11, 13)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "gather-nd" -d 'Take blocks by their index tuples (ONNX GatherND 11, 12, 13, OpenVINO GatherND-8)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "gather-elements" -d 'Take items by their indices along an axis (ONNX GatherElements 11, 13, OpenVINO GatherElements-6)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "concat" -d 'Join tensors one after the other along an axis (ONNX Concat 4, 11, 13, OpenVINO Concat-1)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "transpose" -d 'Reorder the axes of a tensor (ONNX Transpose 1 to 25, OpenVINO Transpose-1)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "reshape" -d 'Give a tensor other dims (ONNX Reshape 5 to 25, Squeeze, Unsqueeze, Flatten; OpenVINO Reshape-1, Squeeze-0, Unsqueeze-0)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "pad" -d 'Add places before and behind the axes of a tensor (ONNX Pad 2 to 25, OpenVINO Pad-1, Pad-12)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "tile" -d 'Repeat the axes of a tensor (ONNX Tile 6, 13, OpenVINO Tile-1)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "roll" -d 'Move the places of axes on, the last ones to the beginning (OpenVINO Roll-7)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "broadcast" -d 'Repeat axes of one place, so that a tensor has another shape (ONNX Expand 8, 13, OpenVINO Broadcast-1, Broadcast-3)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "split" -d 'Cut an axis of a tensor into several outputs (ONNX Split 2 to 18, OpenVINO Split-1, VariadicSplit-1)'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "show" -d 'Print tensors: dtype and shape, then the items, or draw them as a picture'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "info" -d 'List the tensors of files: member, dtype, shape, size; with --json also format, order and offset of the data'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "diff" -d 'Compare tensors, or whole models: status 0 if they are the same, 1 if they differ'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "check" -d 'Run tests of operators (built in, ONNX\'s or your own), or check the outputs of another runtime'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "textconv" -d 'Print a text for git diff to compare: dtype, shape, hash, statistics and some items of each tensor'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "convert" -d 'Write tensors in another format, dtype or order'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "man" -d 'Write the man pages'
complete -c tensorop -n "__fish_tensorop_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l start -d 'The first place on each axis: 0,1 or [0,1] or a file' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l stop -d 'The place before which to stop on each axis, like --start' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l step -d 'The step from one place to the next on each axis, like --start [default: 1 for each]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l axes -d 'The axes of --start, --stop and --step, in the same notation [default: 0,1,..]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l at -d 'Slices in NumPy\'s notation, such as \'1:8:2, ..., ::-1\'' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l only -d 'From whole containers take only tensors whose names match' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l exclude -d 'From whole containers leave out tensors whose names match, also if --only takes them' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l fill -d 'One value for every addressed place, instead of UPDATES' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l where -d 'With --fill: replace only items that are nan, inf, finite, ==V, !=V, \'<V\', \'<=V\', \'>V\' or \'>=V\'' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l start -d 'The first place on each axis: 0,1 or [0,1] or a file' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l stop -d 'The place before which to stop on each axis, like --start' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l step -d 'The step from one place to the next on each axis, like --start [default: 1 for each]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l axes -d 'The axes of --start, --stop and --step, in the same notation [default: 0,1,..]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l at -d 'Slices in NumPy\'s notation, such as \'1:8:2, ..., ::-1\'' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -s i -l in-place -d 'Change DATA in its own file, instead of writing an output'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand slice-scatter" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l fill -d 'One value for every addressed place, instead of UPDATES' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l axis -d 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l on-duplicate -d 'The treatment of an index that occurs twice [default: last]' -r -f -a "last\t'The last one in index order wins'
error\t'Refuse: the error names the first repeated index and its earlier position'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -s i -l in-place -d 'Change DATA in its own file, instead of writing an output'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-update" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l fill -d 'One value for every addressed place, instead of UPDATES' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l reduction -d 'How to combine an old item with its update' -r -f -a "none\t'The update replaces the item'
add\t'Their sum'
sub\t'The old item minus the update (OpenVINO)'
mul\t'Their product'
max\t'The larger'
min\t'The smaller'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l opset -d 'The ONNX opset, which limits the reductions and element types [default: 18]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l on-duplicate -d 'The treatment of an index that occurs twice [default: last]' -r -f -a "last\t'The last one in index order wins'
error\t'Refuse: the error names the first repeated index and its earlier position'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -s i -l in-place -d 'Change DATA in its own file, instead of writing an output'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-nd" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l fill -d 'One value for every addressed place, instead of UPDATES' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l axis -d 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l reduction -d 'How to combine an old item with its updates' -r -f -a "none\t'The update replaces the item'
add\t'Their sum'
mul\t'Their product'
max\t'The larger'
min\t'The smaller'
mean\t'The mean of the item and all its updates'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l opset -d 'The ONNX opset, which limits the reductions and element types [default: any]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l on-duplicate -d 'The treatment of an index that occurs twice [default: last]' -r -f -a "last\t'The last one in index order wins'
error\t'Refuse: the error names the first repeated index and its earlier position'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l no-initial -d 'Leave the old items of DATA out of the reduction (OpenVINO\'s use_init_val=false)'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -s i -l in-place -d 'Change DATA in its own file, instead of writing an output'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand scatter-elements" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l axis -d 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l batch-dims -d 'The number of leading axes that are batches, the same in DATA and INDICES; if negative, it counts from INDICES\' rank' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l out-of-range -d 'The result of an index beyond the axis' -r -f -a "error\t'An error that names the first one, as in ONNX'
zero\t'Zeros: bytes of zero in any dtype, as in OpenVINO\'s Gather-8'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l batch-dims -d 'The number of leading axes that are batches, the same in DATA and INDICES' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-nd" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l axis -d 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand gather-elements" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l axis -d 'The axis: an integer from -rank to rank - 1, with --stack to rank (also [N], or a file with one integer) [default: 0]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l stack -d 'Join along a new axis, at position --axis of the output: from -rank - 1 to rank'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -s i -l in-place -d 'Append the other operands to the file of the first, a .npy file'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand concat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l axes -d 'The axes of DATA in the order of the output, such as 0,3,1,2 or a file [default: reversed]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand transpose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l shape -d 'The new dims, such as 2,-1 or a file; -1 is computed from the others, 0 is the dim of DATA there (Reshape)' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l squeeze -d 'Drop all dims of 1, or those of the given axes, as in --squeeze=0,-1 (Squeeze)' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l unsqueeze -d 'Add dims of 1 that become these axes of the output, such as 0,-1 (Unsqueeze)' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l flatten -d 'Join the axes before axis N to one, and the others to another (Flatten)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l allow-zero -d 'Let a 0 in --shape be a dim of 0 (ONNX\'s allowzero, OpenVINO\'s special_zero = false)'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -s i -l in-place -d 'Change only the dims in the header of DATA\'s own .npy file'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand reshape" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l before -d 'The number of places to add before each axis, such as 1,1 or a file; negative takes away' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l after -d 'The number of places to add behind each axis, such as 1,1 or a file; negative takes away' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l axes -d 'The axes of these numbers, such as 0,-1 or a file [default: all]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l mode -d 'The items of the new places' -r -f -a "constant\t'The value of --fill'
edge\t'The first or last place of the axis'
reflect\t'The axis mirrored, without its first or last place'
symmetric\t'The axis mirrored, with its first or last place'
wrap\t'The axis from its other end'"
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l fill -d 'The item of new places in mode constant [default: 0, false, an empty string, NaT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand pad" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l repeats -d 'The number of repetitions of each axis, 0 or more, such as 2,1 or a file' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand tile" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l shift -d 'The number of places to move each of --axes by, or one number for all, such as 1,-2 or a file' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l axes -d 'The axes that move, such as 0,-1 or a file [default: DATA as one axis, in C order]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand roll" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l shape -d 'The shape to repeat it to, such as 8,1024 or a file' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l axes -d 'The axis of the output that each axis of DATA is, in ascending order, such as 0,2 or a file [default: the last ones]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand broadcast" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l parts -d 'Cut into N parts of one length; the last ones are shorter if the dim is no multiple of N' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l lengths -d 'Cut into parts of these lengths, such as 2,-1,3 or a file; one may be -1: the rest' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l axis -d 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l names -d 'The names of the outputs in a container, such as q,k,v [default: numbers from 0]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand split" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l at -d 'Show a part of each: slices and single places in NumPy\'s notation, such as \'3, ..., ::2\'' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l only -d 'From whole containers take only tensors whose names match' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l exclude -d 'From whole containers leave out tensors whose names match, also if --only takes them' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -s o -l output -d 'Write the picture to a PNG file, with a pixel for each item' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l range -d 'The numbers for the darkest and the lightest colour [default: the range of the finite items]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l all -d 'Print every item'
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l image -d 'Draw the last two axes of a tensor: numbers as colours, or an image stored as bytes'
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -l rgb -d 'The last three axes are a picture in colours: [3, H, W], [4, H, W], [H, W, 3] or [H, W, 4] of uint8, or of floats from 0 to 1'
complete -c tensorop -n "__fish_tensorop_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l by-axis -d 'Print the statistics of each place along an axis; a negative N counts from the end' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l sort -d 'The order of the list [default: the order of the files, and of the tensors in each]' -r -f -a "name\t'The name: layers.2 before layers.10'
size\t'The size, the largest first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l only -d 'From whole containers take only tensors whose names match' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l exclude -d 'From whole containers leave out tensors whose names match, also if --only takes them' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l stats -d 'Print the smallest and largest item, mean, standard deviation, and the numbers of NaN, infinite and zero items'
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l explain -d 'With --stats: print the plan for reading the items and its cost, and read none'
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l histogram -d 'Draw the distribution of the finite items between the smallest and the largest, in at most ten bins'
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l hash -d 'Print the SHA-256 of the tensor as a .npy file in C order and little-endian, as numpy.save writes it'
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l tree -d 'Print names grouped at dots and slashes, with the tensors, items and bytes of each group'
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l json -d 'Print a JSON array with one object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l members -d 'Print only the names of the members, one on each line'
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l atol -d 'The largest absolute error that passes; or GLOB=A' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l rtol -d 'The largest error relative to EXPECTED that passes; with --atol their sum; or GLOB=R' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l ulp -d 'The most steps between representable values that pass (0: +0 equals -0); or GLOB=N' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l allow -d 'The number of items of a tensor that may fail, or their share in per cent such as 0.1%' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l min-cosine -d 'The least cosine of the angle between the flattened tensors, from -1 to 1; or GLOB=X' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l min-snr -d 'The least signal to noise ratio, 10 log10(sum of EXPECTED^2 / sum of errors^2); or GLOB=DB' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l min-psnr -d 'The least peak signal to noise ratio, 20 log10(range of EXPECTED / rmse); or GLOB=DB' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l max-rmse -d 'The largest root mean square of the errors; or GLOB=X' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l max-mean-abs -d 'The largest mean of |ACTUAL - EXPECTED|; or GLOB=X' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l worst -d 'Show the N mismatches with the largest |ACTUAL - EXPECTED| instead of the first; NaN and infinite ones come before all' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l max-mismatch -d 'Show the first N mismatches' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l sort -d 'The order of the lines in the report on several tensors, the worst first [default: snr]' -r -f -a "snr\t'Items that differ by NaN or infinity, then the lowest signal to noise ratio'
cosine\t'Items that differ by NaN or infinity, then the lowest cosine'
abs\t'Items that differ by NaN or infinity, then the largest |ACTUAL - EXPECTED|'
share\t'The largest share of mismatches'
name\t'The name, whatever the verdict: layers.2 before layers.10'"
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l limit -d 'The most lines of the report on several tensors [default: 40 on a terminal, otherwise all]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l heatmap -d 'Draw |ACTUAL - EXPECTED| to a PNG file like show --image: over the last two axes, the largest along the others' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l junit -d 'Also write the report to FILE as JUnit XML, which CI services show' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l shapes -d 'A JSON file with the dtype and shape of each file without a header, by its path in the folders' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l axes -d 'Compare ACTUAL with its axes in this order, as transpose --axes gives it; with GLOB=I only matching tensors' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l order -d 'A text file with the order of tensors for --first: a name on each line' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l only -d 'From whole containers take only tensors whose names match' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l exclude -d 'From whole containers leave out tensors whose names match, also if --only takes them' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l rename -d 'Give EXPECTED\'s tensors the names that they have in ACTUAL, such as \'model.*=*\'' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l nan-differs -d 'Treat NaNs of different bits as different'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l ignore-dtype -d 'Compare values, whatever the dtypes'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l metadata -d 'Count different metadata as a difference: attributes, fill values, dimension names, metadata of files'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l map -d 'Draw the density of mismatches as text, over the last two axes (for one tensor, below the report)'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l accept -d 'If ACTUAL does not pass, write EXPECTED again with the tensors of ACTUAL'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l golden -d 'Compare with a golden file, in a test: TENSOROP_UPDATE_GOLDEN=1 in the environment then does the same as --accept'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l dry-run -d 'With --accept: report the files that would be written, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -s q -l summary -l quiet -d 'Print one line: the verdict, the largest error, rmse, cosine and the limits that failed (with --json still the object)'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -s v -l verbose -d 'Name the files of folders that were skipped; the report only counts them'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l json -d 'Print one JSON object'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l explain -d 'Print the plan for reading the tensors and its cost, and compare nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l keywords -d 'Write options in the report as keyword arguments of Python, as in rtol=1e-5'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l first -d 'Stop at the first tensor in EXPECTED\'s order that does not pass, and report it alone'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l only-different -d 'Leave out tensors that are the same or within the tolerance, also with --json; the counts include them'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l only -d 'Take only tests whose id matches' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l exclude -d 'Leave out tests whose id matches, also if --only takes them' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l class -d 'Take only tests of these classes: must, choice, reject' -r -f -a "must\t'The specification defines the output'
choice\t'The specification is silent, and the output was decided here'
reject\t'The operator must refuse its inputs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l operator -d 'Take only tests of this operator, such as ScatterND' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l atol -d 'The largest absolute error that passes; with GLOB=A only for tests with matching ids' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l rtol -d 'The largest error relative to the expected item that passes; with --atol their sum; or GLOB=R' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l ulp -d 'The most steps between representable values that pass; or GLOB=N' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l min-tests -d 'The fewest tests that must pass' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l max-unsupported -d 'The most tests that may be unsupported [default: any number]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l expect -d 'The tests that are known to fail: a file of ids, one on each line' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l actual -d 'Run nothing: check the outputs of another runtime in DIR/ID/output.npy' -r -f -a "(__fish_complete_directories)"
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l save -d 'Write the outputs to DIR/ID/output.npy, or the message of a refusal to DIR/ID/refused' -r -f -a "(__fish_complete_directories)"
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l export -d 'Write the built-in tests to DIR, for runtimes in any language' -r -f -a "(__fish_complete_directories)"
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l layout -d 'The layout of the tests of --export' -r -f -a "npy\t'case.json and .npy files'
onnx\t'model.onnx and test_data_set_0, only for ONNX\'s operators'"
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l verdict -d 'List the tests with these verdicts: passed, failed, unsupported, broken [default: failed, broken; with --json all]' -r -f -a "passed\t'The result is the expected one'
failed\t'The result is another one, or is missing'
unsupported\t'The program does not have the operator, or something else that the test needs'
broken\t'The test cannot be read'"
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l junit -d 'Also write the report to FILE as JUnit XML, which CI services show' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l list -d 'Print the ids of the tests, one on each line, and run nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -l json -d 'Print one JSON object with all tests'
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -s q -l quiet -d 'Print only the counts'
complete -c tensorop -n "__fish_tensorop_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand textconv" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand textconv" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand textconv" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand textconv" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand textconv" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand textconv" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand textconv" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand textconv" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand textconv" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l cast -d 'Convert the values to this dtype; with GLOB=DTYPE only in tensors with matching names' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l order -d 'The order of the items in a .npy or .npz' -r -f -a "C\t'The last axis runs fastest'
F\t'The first axis runs fastest'"
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l max-shard-size -d 'With -o NAME.safetensors.index.json: the most bytes of items in a shard, such as 500MB [default: 5GB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l only -d 'From whole containers take only tensors whose names match' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l exclude -d 'From whole containers leave out tensors whose names match, also if --only takes them' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l rename -d 'Give tensors of whole containers other names, such as \'model.*=*\'' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l from -d 'The format of standard input or, if no operand is -, of every file [default: by content, or .csv, .tsv]' -r -f -a "npy\t'NumPy\'s .npy'
npz\t'NumPy\'s .npz, a ZIP archive of .npy'
safetensors\t'Hugging Face\'s .safetensors'
index\t'The index of safetensors in several files, as Hugging Face writes it'
pb\t'An ONNX TensorProto'
zarr\t'A Zarr store of version 3 or 2: a folder'
json\t'JSON, also that of KServe\'s version 2 protocol'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'"
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l skip-rows -d 'The number of lines to skip at the beginning of CSV and TSV, such as headings' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l delimiter -d 'The character between cells in CSV and TSV inputs, such as \';\'; \' \' is any number of blanks, and \'\\t\' a tab' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l missing -d 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l timeout -d 'Seconds that a server may take for its next byte [default: 30, or TENSOROP_TIMEOUT]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -s o -l output -d 'The output file [default: text on standard output]' -r -F
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l to -d 'The format of the output [default: by the name of FILE, or text]' -r -f -a "npy\t'NumPy\'s .npy, byte for byte as numpy.save'
npz\t'NumPy\'s .npz, not compressed, with fixed times'
safetensors\t'Hugging Face\'s .safetensors'
pb\t'An ONNX TensorProto with raw data'
zarr\t'A Zarr store of version 3: a folder of chunks'
json\t'One JSON object that reads back to the same bits, but for NaN'
csv\t'Cells between commas, a row a line'
tsv\t'Cells between tabs'
text\t'What NumPy prints'
raw\t'The items alone, in C order'"
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l byte-order -d 'The byte order of a .npy, .npz or .bin [default: that of DATA]' -r -f -a "little\t'The lowest byte first'
big\t'The highest byte first'"
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l metadata -d 'Add metadata to a .safetensors file, which also keeps the metadata of its .safetensors inputs' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l chunks -d 'The length of a .zarr chunk along each axis, such as 64,-1 (-1: all), or time=48,lat=-1 [default: as DATA if it is Zarr, otherwise whole rows of about 16 MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l shards -d 'The length of a shard (a file of several chunks) along each axis, like --chunks [default: as DATA, or no shards]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l codec -d 'The codec of chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, or zstd]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l dims -d 'The names of the axes, such as time,lat,lon [default: those of DATA]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l threshold -d 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, otherwise never]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l edgeitems -d 'The number of items at each end of an elided axis' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l linewidth -d 'The number of characters in a line' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l precision -d 'At most N digits after the point [default: as many as the value needs]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l part -d 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l finish -d 'With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l threads -d 'The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l memory -d 'The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]' -r -f
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l dtype -d 'The dtype of operands without their own: JSON, CSV, void items' -r -f -a "bool\t''
int8\t''
int16\t''
int32\t''
int64\t''
uint8\t''
uint16\t''
uint32\t''
uint64\t''
float16\t''
float32\t''
float64\t''
complex64\t''
complex128\t''
bfloat16\t''
float8_e5m2\t''
float8_e3m4\t''
float8_e4m3\t''
float8_e4m3b11fnuz\t''
float8_e4m3fn\t''
float8_e4m3fnuz\t''
float8_e5m2fnuz\t''
float8_e8m0fnu\t''
float6_e2m3fn\t''
float6_e3m2fn\t''
float4_e2m1fn\t''
int4\t''
uint4\t''
int2\t''
uint2\t''
float96\t''
float128\t''
complex192\t''
complex256\t''
int4x2\t''
uint4x2\t''
int2x4\t''
uint2x4\t''
float4_e2m1fnx2\t''"
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l lossy -d 'With --cast: truncate fractions, take the nearest integer of the dtype (0 for NaN), drop imaginary parts'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l saturate -d 'With --cast to floats: a finite item that is too large becomes the largest finite number of its sign'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l strict -d 'With --cast to floats: a finite item that would become infinite or NaN is an error, and nothing is written'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l add -d 'With NAME=IN and a whole container: allow a NAME that the container does not have'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l remove-old-shards -d 'With -o NAME.safetensors.index.json over an index: remove the shards that only the old index names'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l prefix-names -d 'From a folder of several containers: write the names FILE:NAME that its tensors have'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l no-sign-request -d 'Request objects of s3:// without credentials, even if some are set'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l no-clobber -d 'Refuse to replace a file'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l no-metadata -d 'Drop the metadata of .safetensors inputs'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l packed -d 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits (as int4x2, ... read them)'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l compress -d 'Deflate the members of a .npz'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l group -d 'Make a group for a single tensor, which has its name in the group'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l store-empty -d 'Also store chunks that hold only the fill value [default: those in the store of DATA]'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l dry-run -d 'Make every check, print what the run would do, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l explain -d 'Print the plan of the run, its cost and the next best plan, and write nothing'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l json -d 'With --explain: print the plan as JSON, an object for each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -l restart -d 'With --part: discard unfinished work and begin again; give it to one process before the others start'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -s q -l quiet -d 'Show no progress (shown on a terminal if the run takes more than a second)'
complete -c tensorop -n "__fish_tensorop_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "slice" -d 'Take a slice of a tensor (OpenVINO Slice-8)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "slice-scatter" -d 'Put updates into a slice of a tensor (OpenVINO SliceScatter-15)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "scatter-update" -d 'Put updates at indices of one axis (OpenVINO ScatterUpdate-3)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "scatter-nd" -d 'Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18, OpenVINO ScatterNDUpdate-15)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "scatter-elements" -d 'Put or reduce updates at indices along an axis (ONNX ScatterElements 11 to 18, OpenVINO ScatterElementsUpdate-12)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "gather" -d 'Take places of one axis by their indices (OpenVINO Gather-1, -7, -8, ONNX Gather 1, 11, 13)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "gather-nd" -d 'Take blocks by their index tuples (ONNX GatherND 11, 12, 13, OpenVINO GatherND-8)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "gather-elements" -d 'Take items by their indices along an axis (ONNX GatherElements 11, 13, OpenVINO GatherElements-6)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "concat" -d 'Join tensors one after the other along an axis (ONNX Concat 4, 11, 13, OpenVINO Concat-1)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "transpose" -d 'Reorder the axes of a tensor (ONNX Transpose 1 to 25, OpenVINO Transpose-1)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "reshape" -d 'Give a tensor other dims (ONNX Reshape 5 to 25, Squeeze, Unsqueeze, Flatten; OpenVINO Reshape-1, Squeeze-0, Unsqueeze-0)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "pad" -d 'Add places before and behind the axes of a tensor (ONNX Pad 2 to 25, OpenVINO Pad-1, Pad-12)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "tile" -d 'Repeat the axes of a tensor (ONNX Tile 6, 13, OpenVINO Tile-1)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "roll" -d 'Move the places of axes on, the last ones to the beginning (OpenVINO Roll-7)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "broadcast" -d 'Repeat axes of one place, so that a tensor has another shape (ONNX Expand 8, 13, OpenVINO Broadcast-1, Broadcast-3)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "split" -d 'Cut an axis of a tensor into several outputs (ONNX Split 2 to 18, OpenVINO Split-1, VariadicSplit-1)'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "show" -d 'Print tensors: dtype and shape, then the items, or draw them as a picture'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "info" -d 'List the tensors of files: member, dtype, shape, size; with --json also format, order and offset of the data'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "diff" -d 'Compare tensors, or whole models: status 0 if they are the same, 1 if they differ'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "check" -d 'Run tests of operators (built in, ONNX\'s or your own), or check the outputs of another runtime'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "textconv" -d 'Print a text for git diff to compare: dtype, shape, hash, statistics and some items of each tensor'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "convert" -d 'Write tensors in another format, dtype or order'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "man" -d 'Write the man pages'
complete -c tensorop -n "__fish_tensorop_using_subcommand help; and not __fish_seen_subcommand_from slice slice-scatter scatter-update scatter-nd scatter-elements gather gather-nd gather-elements concat transpose reshape pad tile roll broadcast split show info diff check textconv convert completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'

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
