
use builtin;
use str;

set edit:completion:arg-completer[tensorop] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'tensorop'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'tensorop'= {
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand slice 'Take a slice of a tensor (OpenVINO Slice-8)'
            cand slice-scatter 'Put updates into a slice of a tensor (OpenVINO SliceScatter-15)'
            cand scatter-update 'Put updates at indices of one axis (OpenVINO ScatterUpdate-3)'
            cand scatter-nd 'Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18)'
            cand gather-nd 'Take the blocks at index tuples (ONNX GatherND 11, 12, 13, OpenVINO GatherND-8)'
            cand show 'Look at tensors: dtype and shape, then the items, or a picture of them'
            cand diff 'Compare tensors, or whole models: status 0 if they are the same, 1 if they differ'
            cand info 'Say what files hold: members, dtype, shape, size; with --json also format, order and where the data begins'
            cand convert 'Write tensors in another format, dtype or order'
            cand textconv 'Print what git diff should compare: for each tensor dtype, shape, hash, statistics and some items'
            cand completions 'Print a completion script for a shell'
            cand man 'Write the man pages'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tensorop;slice'= {
            cand --start 'The first place on each axis: 0,1 or [0,1] or a file'
            cand --stop 'The place before which to stop on each axis, as --start'
            cand --step 'From one place to the next on each axis, as --start [default: 1 for each]'
            cand --axes 'The axes that start, stop and step are for, as --start [default: 0,1,..]'
            cand --at 'Slices in NumPy''s notation, such as ''1:8:2, ..., ::-1'''
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand -o 'Where to write [default: text on standard output]'
            cand --output 'Where to write [default: text on standard output]'
            cand --to 'The format of the output [default: by the name of FILE, else text]'
            cand --byte-order 'The byte order of a .npy, .npz or .bin [default: that of DATA]'
            cand --metadata 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from'
            cand --chunks 'The places of each axis in a chunk of a .zarr, such as 64,64 [default: as DATA if it is Zarr, else whole rows of about 16 MiB]'
            cand --shards 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]'
            cand --codec 'What packs chunks: none, gzip[:L], zstd[:L] or blosc [default: as DATA, else zstd]'
            cand --threshold 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]'
            cand --edgeitems 'Items at each end of an axis that stay when it is elided'
            cand --linewidth 'Characters in a line'
            cand --precision 'At most N digits after the point [default: as many as tell the value]'
            cand --part 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder'
            cand --finish 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand --no-clobber 'Refuse to replace a file'
            cand --no-metadata 'Drop the metadata of the .safetensors files that the output is made from'
            cand --compress 'Deflate the members of a .npz'
            cand --dry-run 'Make every check, print what would be done, write nothing'
            cand --restart 'With --part: forget what is under way, and begin anew; for one process before the others'
            cand -q 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand --quiet 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;slice-scatter'= {
            cand --fill 'One value for every place addressed, instead of UPDATES'
            cand --start 'The first place on each axis: 0,1 or [0,1] or a file'
            cand --stop 'The place before which to stop on each axis, as --start'
            cand --step 'From one place to the next on each axis, as --start [default: 1 for each]'
            cand --axes 'The axes that start, stop and step are for, as --start [default: 0,1,..]'
            cand --at 'Slices in NumPy''s notation, such as ''1:8:2, ..., ::-1'''
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand -o 'Where to write [default: text on standard output]'
            cand --output 'Where to write [default: text on standard output]'
            cand --to 'The format of the output [default: by the name of FILE, else text]'
            cand --byte-order 'The byte order of a .npy, .npz or .bin [default: that of DATA]'
            cand --metadata 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from'
            cand --chunks 'The places of each axis in a chunk of a .zarr, such as 64,64 [default: as DATA if it is Zarr, else whole rows of about 16 MiB]'
            cand --shards 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]'
            cand --codec 'What packs chunks: none, gzip[:L], zstd[:L] or blosc [default: as DATA, else zstd]'
            cand --threshold 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]'
            cand --edgeitems 'Items at each end of an axis that stay when it is elided'
            cand --linewidth 'Characters in a line'
            cand --precision 'At most N digits after the point [default: as many as tell the value]'
            cand --part 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder'
            cand --finish 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand --no-clobber 'Refuse to replace a file'
            cand --no-metadata 'Drop the metadata of the .safetensors files that the output is made from'
            cand --compress 'Deflate the members of a .npz'
            cand --dry-run 'Make every check, print what would be done, write nothing'
            cand --restart 'With --part: forget what is under way, and begin anew; for one process before the others'
            cand -i 'Change DATA''s own file where it lies, instead of writing an output'
            cand --in-place 'Change DATA''s own file where it lies, instead of writing an output'
            cand -q 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand --quiet 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;scatter-update'= {
            cand --fill 'One value for every place addressed, instead of UPDATES'
            cand --axis 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)'
            cand --on-duplicate 'What to do about an index that occurs twice [default: last]'
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand -o 'Where to write [default: text on standard output]'
            cand --output 'Where to write [default: text on standard output]'
            cand --to 'The format of the output [default: by the name of FILE, else text]'
            cand --byte-order 'The byte order of a .npy, .npz or .bin [default: that of DATA]'
            cand --metadata 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from'
            cand --chunks 'The places of each axis in a chunk of a .zarr, such as 64,64 [default: as DATA if it is Zarr, else whole rows of about 16 MiB]'
            cand --shards 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]'
            cand --codec 'What packs chunks: none, gzip[:L], zstd[:L] or blosc [default: as DATA, else zstd]'
            cand --threshold 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]'
            cand --edgeitems 'Items at each end of an axis that stay when it is elided'
            cand --linewidth 'Characters in a line'
            cand --precision 'At most N digits after the point [default: as many as tell the value]'
            cand --part 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder'
            cand --finish 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand --no-clobber 'Refuse to replace a file'
            cand --no-metadata 'Drop the metadata of the .safetensors files that the output is made from'
            cand --compress 'Deflate the members of a .npz'
            cand --dry-run 'Make every check, print what would be done, write nothing'
            cand --restart 'With --part: forget what is under way, and begin anew; for one process before the others'
            cand -i 'Change DATA''s own file where it lies, instead of writing an output'
            cand --in-place 'Change DATA''s own file where it lies, instead of writing an output'
            cand -q 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand --quiet 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;scatter-nd'= {
            cand --fill 'One value for every place addressed, instead of UPDATES'
            cand --reduction 'What to do with an old item and its update'
            cand --opset 'The ONNX opset that decides which reductions and element types are legal'
            cand --on-duplicate 'What to do about an index that occurs twice [default: last]'
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand -o 'Where to write [default: text on standard output]'
            cand --output 'Where to write [default: text on standard output]'
            cand --to 'The format of the output [default: by the name of FILE, else text]'
            cand --byte-order 'The byte order of a .npy, .npz or .bin [default: that of DATA]'
            cand --metadata 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from'
            cand --chunks 'The places of each axis in a chunk of a .zarr, such as 64,64 [default: as DATA if it is Zarr, else whole rows of about 16 MiB]'
            cand --shards 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]'
            cand --codec 'What packs chunks: none, gzip[:L], zstd[:L] or blosc [default: as DATA, else zstd]'
            cand --threshold 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]'
            cand --edgeitems 'Items at each end of an axis that stay when it is elided'
            cand --linewidth 'Characters in a line'
            cand --precision 'At most N digits after the point [default: as many as tell the value]'
            cand --part 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder'
            cand --finish 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand --no-clobber 'Refuse to replace a file'
            cand --no-metadata 'Drop the metadata of the .safetensors files that the output is made from'
            cand --compress 'Deflate the members of a .npz'
            cand --dry-run 'Make every check, print what would be done, write nothing'
            cand --restart 'With --part: forget what is under way, and begin anew; for one process before the others'
            cand -i 'Change DATA''s own file where it lies, instead of writing an output'
            cand --in-place 'Change DATA''s own file where it lies, instead of writing an output'
            cand -q 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand --quiet 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;gather-nd'= {
            cand --batch-dims 'How many of the first axes are batches, the same in DATA and INDICES'
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand -o 'Where to write [default: text on standard output]'
            cand --output 'Where to write [default: text on standard output]'
            cand --to 'The format of the output [default: by the name of FILE, else text]'
            cand --byte-order 'The byte order of a .npy, .npz or .bin [default: that of DATA]'
            cand --metadata 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from'
            cand --chunks 'The places of each axis in a chunk of a .zarr, such as 64,64 [default: as DATA if it is Zarr, else whole rows of about 16 MiB]'
            cand --shards 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]'
            cand --codec 'What packs chunks: none, gzip[:L], zstd[:L] or blosc [default: as DATA, else zstd]'
            cand --threshold 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]'
            cand --edgeitems 'Items at each end of an axis that stay when it is elided'
            cand --linewidth 'Characters in a line'
            cand --precision 'At most N digits after the point [default: as many as tell the value]'
            cand --part 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder'
            cand --finish 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand --no-clobber 'Refuse to replace a file'
            cand --no-metadata 'Drop the metadata of the .safetensors files that the output is made from'
            cand --compress 'Deflate the members of a .npz'
            cand --dry-run 'Make every check, print what would be done, write nothing'
            cand --restart 'With --part: forget what is under way, and begin anew; for one process before the others'
            cand -q 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand --quiet 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;show'= {
            cand --at 'Show a part of each: slices in NumPy''s notation, such as ''1:8:2, ..., ::-1'''
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand --threshold 'Print ... for the middle of arrays of more than N items [default: 1000]'
            cand --edgeitems 'Items at each end of an axis that stay when it is elided'
            cand --linewidth 'Characters in a line'
            cand --precision 'At most N digits after the point [default: as many as tell the value]'
            cand -o 'Write the picture to a PNG file, one item a pixel'
            cand --output 'Write the picture to a PNG file, one item a pixel'
            cand --range 'The numbers that the darkest and the lightest colour stand for [default: the range of the finite items]'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand --all 'Print every item'
            cand --image 'Draw the last two axes of a tensor instead: numbers as colours, or the picture that bytes are'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;diff'= {
            cand --atol 'The largest absolute error that passes; GLOB=A of the tensors whose names match'
            cand --rtol 'The largest error relative to EXPECTED that passes, with --atol their sum; or GLOB=R'
            cand --ulp 'How many representable values apart still passes (0: +0 equals -0); or GLOB=N'
            cand --allow 'How many items of a tensor may fail: a number, or a share in per cent such as 0.1%'
            cand --min-cosine 'The least cosine of the angle between the flattened tensors'
            cand --min-snr 'The least signal to noise ratio, 10 log10(sum of EXPECTED^2 / sum of errors^2)'
            cand --min-psnr 'The least peak signal to noise ratio, 20 log10(range of EXPECTED / rmse)'
            cand --max-rmse 'The largest root mean square of the errors'
            cand --max-mean-abs 'The largest mean of |ACTUAL - EXPECTED|'
            cand --worst 'Show the N mismatches with the largest |ACTUAL - EXPECTED|, NaN and infinite ones before all, instead of the first'
            cand --max-mismatch 'How many mismatches to show, the first ones'
            cand --heatmap 'Draw |ACTUAL - EXPECTED| to a PNG file, as show --image does: over the last two axes, of the others the largest'
            cand --only 'Of whole containers take only tensors whose names match'
            cand --exclude 'Of whole containers leave out tensors whose names match, also of those that --only takes'
            cand --rename 'Give tensors of whole containers other names, such as ''model.*=*'''
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand --nan-differs 'NaNs of different bits differ'
            cand --ignore-dtype 'Compare values, whatever the dtypes'
            cand --map 'Draw in text where mismatches are dense, over the last two axes (of one tensor, below the report)'
            cand --accept 'Where ACTUAL does not pass, make it what is expected: EXPECTED is written anew'
            cand -q 'Print the verdict only, one line (with --json still the object); stops at the first mismatch'
            cand --summary 'Print the verdict only, one line (with --json still the object); stops at the first mismatch'
            cand --quiet 'Print the verdict only, one line (with --json still the object); stops at the first mismatch'
            cand --json 'Print one JSON object'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;info'= {
            cand --by-axis 'The statistics of each place of an axis; a negative N counts from the end'
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand --stats 'Smallest and largest item, mean, standard deviation, how many NaN, infinite and zero, the first NaN'
            cand --histogram 'How the finite items are distributed between the smallest and the largest, in at most ten bins'
            cand --hash 'SHA-256 of the tensor as a .npy file in C order and little-endian, as numpy.save writes it'
            cand --json 'Print a JSON array with one object for each tensor'
            cand --members 'Print only the names of the members, one a line'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;convert'= {
            cand --cast 'Convert the values to this dtype; GLOB=DTYPE those of the tensors whose names match'
            cand --order 'The order of the items in a .npy or .npz'
            cand --only 'Of whole containers take only tensors whose names match'
            cand --exclude 'Of whole containers leave out tensors whose names match, also of those that --only takes'
            cand --rename 'Give tensors of whole containers other names, such as ''model.*=*'''
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand -o 'Where to write [default: text on standard output]'
            cand --output 'Where to write [default: text on standard output]'
            cand --to 'The format of the output [default: by the name of FILE, else text]'
            cand --byte-order 'The byte order of a .npy, .npz or .bin [default: that of DATA]'
            cand --metadata 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from'
            cand --chunks 'The places of each axis in a chunk of a .zarr, such as 64,64 [default: as DATA if it is Zarr, else whole rows of about 16 MiB]'
            cand --shards 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]'
            cand --codec 'What packs chunks: none, gzip[:L], zstd[:L] or blosc [default: as DATA, else zstd]'
            cand --threshold 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]'
            cand --edgeitems 'Items at each end of an axis that stay when it is elided'
            cand --linewidth 'Characters in a line'
            cand --precision 'At most N digits after the point [default: as many as tell the value]'
            cand --part 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder'
            cand --finish 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand --lossy 'With --cast: truncate fractions and take the nearest integer the dtype has (0 for NaN); drop imaginary parts'
            cand --add 'With NAME=IN beside a whole container: add a tensor of a name that the container does not have'
            cand --no-clobber 'Refuse to replace a file'
            cand --no-metadata 'Drop the metadata of the .safetensors files that the output is made from'
            cand --compress 'Deflate the members of a .npz'
            cand --dry-run 'Make every check, print what would be done, write nothing'
            cand --restart 'With --part: forget what is under way, and begin anew; for one process before the others'
            cand -q 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand --quiet 'Show no progress (else shown on a terminal if it takes more than a second)'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;textconv'= {
            cand --dtype 'The dtype of operands that do not say theirs: JSON, CSV, void items'
            cand --from 'The format of every operand that is not inline [default: by its content, or .csv, .tsv]'
            cand --skip-rows 'Lines at the beginning of CSV and TSV to leave out, such as headings'
            cand --threads 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;completions'= {
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;man'= {
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'tensorop;help'= {
            cand slice 'Take a slice of a tensor (OpenVINO Slice-8)'
            cand slice-scatter 'Put updates into a slice of a tensor (OpenVINO SliceScatter-15)'
            cand scatter-update 'Put updates at indices of one axis (OpenVINO ScatterUpdate-3)'
            cand scatter-nd 'Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18)'
            cand gather-nd 'Take the blocks at index tuples (ONNX GatherND 11, 12, 13, OpenVINO GatherND-8)'
            cand show 'Look at tensors: dtype and shape, then the items, or a picture of them'
            cand diff 'Compare tensors, or whole models: status 0 if they are the same, 1 if they differ'
            cand info 'Say what files hold: members, dtype, shape, size; with --json also format, order and where the data begins'
            cand convert 'Write tensors in another format, dtype or order'
            cand textconv 'Print what git diff should compare: for each tensor dtype, shape, hash, statistics and some items'
            cand completions 'Print a completion script for a shell'
            cand man 'Write the man pages'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'tensorop;help;slice'= {
        }
        &'tensorop;help;slice-scatter'= {
        }
        &'tensorop;help;scatter-update'= {
        }
        &'tensorop;help;scatter-nd'= {
        }
        &'tensorop;help;gather-nd'= {
        }
        &'tensorop;help;show'= {
        }
        &'tensorop;help;diff'= {
        }
        &'tensorop;help;info'= {
        }
        &'tensorop;help;convert'= {
        }
        &'tensorop;help;textconv'= {
        }
        &'tensorop;help;completions'= {
        }
        &'tensorop;help;man'= {
        }
        &'tensorop;help;help'= {
        }
    ]
    $completions[$command]
}
