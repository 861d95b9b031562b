
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'tensorop' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'tensorop'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'tensorop' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('slice', 'slice', [CompletionResultType]::ParameterValue, 'Take a slice of a tensor (OpenVINO Slice-8)')
            [CompletionResult]::new('slice-scatter', 'slice-scatter', [CompletionResultType]::ParameterValue, 'Put updates into a slice of a tensor (OpenVINO SliceScatter-15)')
            [CompletionResult]::new('scatter-update', 'scatter-update', [CompletionResultType]::ParameterValue, 'Put updates at indices of one axis (OpenVINO ScatterUpdate-3)')
            [CompletionResult]::new('scatter-nd', 'scatter-nd', [CompletionResultType]::ParameterValue, 'Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18, OpenVINO ScatterNDUpdate-15)')
            [CompletionResult]::new('scatter-elements', 'scatter-elements', [CompletionResultType]::ParameterValue, 'Put or reduce updates at indices along an axis (ONNX ScatterElements 11 to 18, OpenVINO ScatterElementsUpdate-12)')
            [CompletionResult]::new('gather', 'gather', [CompletionResultType]::ParameterValue, 'Take the places of one axis at indices (OpenVINO Gather-1, -7, -8, ONNX Gather 1, 11, 13)')
            [CompletionResult]::new('gather-nd', 'gather-nd', [CompletionResultType]::ParameterValue, 'Take the blocks at index tuples (ONNX GatherND 11, 12, 13, OpenVINO GatherND-8)')
            [CompletionResult]::new('gather-elements', 'gather-elements', [CompletionResultType]::ParameterValue, 'Take items at indices along an axis (ONNX GatherElements 11, 13, OpenVINO GatherElements-6)')
            [CompletionResult]::new('concat', 'concat', [CompletionResultType]::ParameterValue, 'Put tensors one after the other along an axis (ONNX Concat 4, 11, 13, OpenVINO Concat-1)')
            [CompletionResult]::new('transpose', 'transpose', [CompletionResultType]::ParameterValue, 'Put the axes of a tensor into another order (ONNX Transpose 1 to 25, OpenVINO Transpose-1)')
            [CompletionResult]::new('reshape', 'reshape', [CompletionResultType]::ParameterValue, 'Give a tensor other dims (ONNX Reshape 5 to 25, Squeeze, Unsqueeze, Flatten; OpenVINO Reshape-1, Squeeze-0, Unsqueeze-0)')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Look at tensors: dtype and shape, then the items, or a picture of them')
            [CompletionResult]::new('info', 'info', [CompletionResultType]::ParameterValue, 'Say what files hold: members, dtype, shape, size; with --json also format, order and where the data begins')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare tensors, or whole models: status 0 if they are the same, 1 if they differ')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Run tests of operators: tensorop''s own, ONNX''s, or those that another runtime has run')
            [CompletionResult]::new('textconv', 'textconv', [CompletionResultType]::ParameterValue, 'Print what git diff should compare: for each tensor dtype, shape, hash, statistics and some items')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Write tensors in another format, dtype or order')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write the man pages')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tensorop;slice' {
            [CompletionResult]::new('--start', '--start', [CompletionResultType]::ParameterName, 'The first place on each axis: 0,1 or [0,1] or a file')
            [CompletionResult]::new('--stop', '--stop', [CompletionResultType]::ParameterName, 'The place before which to stop on each axis, as --start')
            [CompletionResult]::new('--step', '--step', [CompletionResultType]::ParameterName, 'From one place to the next on each axis, as --start [default: 1 for each]')
            [CompletionResult]::new('--axes', '--axes', [CompletionResultType]::ParameterName, 'The axes that start, stop and step are for, as --start [default: 0,1,..]')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Slices in NumPy''s notation, such as ''1:8:2, ..., ::-1''')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Of whole containers take only tensors whose names match')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Of whole containers leave out tensors whose names match, also of those that --only takes')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;slice-scatter' {
            [CompletionResult]::new('--fill', '--fill', [CompletionResultType]::ParameterName, 'One value for every place addressed, instead of UPDATES')
            [CompletionResult]::new('--where', '--where', [CompletionResultType]::ParameterName, 'With --fill: only where an item is nan, inf, finite, ==V, !=V, ''<V'', ''<=V'', ''>V'' or ''>=V''')
            [CompletionResult]::new('--start', '--start', [CompletionResultType]::ParameterName, 'The first place on each axis: 0,1 or [0,1] or a file')
            [CompletionResult]::new('--stop', '--stop', [CompletionResultType]::ParameterName, 'The place before which to stop on each axis, as --start')
            [CompletionResult]::new('--step', '--step', [CompletionResultType]::ParameterName, 'From one place to the next on each axis, as --start [default: 1 for each]')
            [CompletionResult]::new('--axes', '--axes', [CompletionResultType]::ParameterName, 'The axes that start, stop and step are for, as --start [default: 0,1,..]')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Slices in NumPy''s notation, such as ''1:8:2, ..., ::-1''')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Change DATA''s own file where it lies, instead of writing an output')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Change DATA''s own file where it lies, instead of writing an output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;scatter-update' {
            [CompletionResult]::new('--fill', '--fill', [CompletionResultType]::ParameterName, 'One value for every place addressed, instead of UPDATES')
            [CompletionResult]::new('--axis', '--axis', [CompletionResultType]::ParameterName, 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)')
            [CompletionResult]::new('--on-duplicate', '--on-duplicate', [CompletionResultType]::ParameterName, 'What to do about an index that occurs twice [default: last]')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Change DATA''s own file where it lies, instead of writing an output')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Change DATA''s own file where it lies, instead of writing an output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;scatter-nd' {
            [CompletionResult]::new('--fill', '--fill', [CompletionResultType]::ParameterName, 'One value for every place addressed, instead of UPDATES')
            [CompletionResult]::new('--reduction', '--reduction', [CompletionResultType]::ParameterName, 'What to do with an old item and its update')
            [CompletionResult]::new('--opset', '--opset', [CompletionResultType]::ParameterName, 'The ONNX opset that decides which reductions and element types are legal [default: 18]')
            [CompletionResult]::new('--on-duplicate', '--on-duplicate', [CompletionResultType]::ParameterName, 'What to do about an index that occurs twice [default: last]')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Change DATA''s own file where it lies, instead of writing an output')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Change DATA''s own file where it lies, instead of writing an output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;scatter-elements' {
            [CompletionResult]::new('--fill', '--fill', [CompletionResultType]::ParameterName, 'One value for every place addressed, instead of UPDATES')
            [CompletionResult]::new('--axis', '--axis', [CompletionResultType]::ParameterName, 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)')
            [CompletionResult]::new('--reduction', '--reduction', [CompletionResultType]::ParameterName, 'What to do with an old item and its updates')
            [CompletionResult]::new('--opset', '--opset', [CompletionResultType]::ParameterName, 'The ONNX opset that decides which reductions and element types are legal [default: any]')
            [CompletionResult]::new('--on-duplicate', '--on-duplicate', [CompletionResultType]::ParameterName, 'What to do about an index that occurs twice [default: last]')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--no-initial', '--no-initial', [CompletionResultType]::ParameterName, 'Reduce the updates for a place without the item that DATA holds there (OpenVINO''s use_init_val=false)')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Change DATA''s own file where it lies, instead of writing an output')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Change DATA''s own file where it lies, instead of writing an output')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;gather' {
            [CompletionResult]::new('--axis', '--axis', [CompletionResultType]::ParameterName, 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)')
            [CompletionResult]::new('--batch-dims', '--batch-dims', [CompletionResultType]::ParameterName, 'How many of the first axes are batches, the same in DATA and INDICES; a negative number counts from INDICES'' rank')
            [CompletionResult]::new('--out-of-range', '--out-of-range', [CompletionResultType]::ParameterName, 'What an index is that names no place of the axis')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;gather-nd' {
            [CompletionResult]::new('--batch-dims', '--batch-dims', [CompletionResultType]::ParameterName, 'How many of the first axes are batches, the same in DATA and INDICES')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;gather-elements' {
            [CompletionResult]::new('--axis', '--axis', [CompletionResultType]::ParameterName, 'The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;concat' {
            [CompletionResult]::new('--axis', '--axis', [CompletionResultType]::ParameterName, 'The axis: an integer from -rank to rank - 1, with --stack to rank (also [N], or a file with one integer) [default: 0]')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--stack', '--stack', [CompletionResultType]::ParameterName, 'Along an axis of their own, which the output has at --axis: from -rank - 1 to rank')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Append the other operands to the first, a .npy file, where it lies')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Append the other operands to the first, a .npy file, where it lies')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;transpose' {
            [CompletionResult]::new('--axes', '--axes', [CompletionResultType]::ParameterName, 'The axis of DATA that each axis of the output is, such as 0,3,1,2 or a file [default: reversed]')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;reshape' {
            [CompletionResult]::new('--shape', '--shape', [CompletionResultType]::ParameterName, 'The new dims, such as 2,-1 or a file; -1 is what is left, 0 the dim of DATA there (Reshape)')
            [CompletionResult]::new('--squeeze', '--squeeze', [CompletionResultType]::ParameterName, 'Drop all dims of 1, or those of the axes that are given, as in --squeeze=0,-1 (Squeeze)')
            [CompletionResult]::new('--unsqueeze', '--unsqueeze', [CompletionResultType]::ParameterName, 'Add dims of 1 that become these axes of the output, such as 0,-1 (Unsqueeze)')
            [CompletionResult]::new('--flatten', '--flatten', [CompletionResultType]::ParameterName, 'Join the axes before axis N to one, and the others to another (Flatten)')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--allow-zero', '--allow-zero', [CompletionResultType]::ParameterName, 'Let a 0 in --shape be a dim of 0 (ONNX''s allowzero, OpenVINO''s special_zero = false)')
            [CompletionResult]::new('-i', '-i', [CompletionResultType]::ParameterName, 'Change the dims in the header of DATA''s own .npy file where it lies, and nothing else of it')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Change the dims in the header of DATA''s own .npy file where it lies, and nothing else of it')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;show' {
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Show a part of each: slices in NumPy''s notation, such as ''1:8:2, ..., ::-1''')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write the picture to a PNG file, one item a pixel')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the picture to a PNG file, one item a pixel')
            [CompletionResult]::new('--range', '--range', [CompletionResultType]::ParameterName, 'The numbers that the darkest and the lightest colour stand for [default: the range of the finite items]')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Print every item')
            [CompletionResult]::new('--image', '--image', [CompletionResultType]::ParameterName, 'Draw the last two axes of a tensor instead: numbers as colours, or the picture that bytes are')
            [CompletionResult]::new('--rgb', '--rgb', [CompletionResultType]::ParameterName, 'The last three axes are a picture in colours: [3, H, W], [4, H, W], [H, W, 3] or [H, W, 4] of uint8, or of floats from 0 to 1')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;info' {
            [CompletionResult]::new('--by-axis', '--by-axis', [CompletionResultType]::ParameterName, 'The statistics of each place of an axis; a negative N counts from the end')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--stats', '--stats', [CompletionResultType]::ParameterName, 'Smallest and largest item, mean, standard deviation, how many NaN, infinite and zero, the first NaN')
            [CompletionResult]::new('--histogram', '--histogram', [CompletionResultType]::ParameterName, 'How the finite items are distributed between the smallest and the largest, in at most ten bins')
            [CompletionResult]::new('--hash', '--hash', [CompletionResultType]::ParameterName, 'SHA-256 of the tensor as a .npy file in C order and little-endian, as numpy.save writes it')
            [CompletionResult]::new('--tree', '--tree', [CompletionResultType]::ParameterName, 'Print names grouped at dots and slashes, with the tensors, items and bytes of each group')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print a JSON array with one object for each tensor')
            [CompletionResult]::new('--members', '--members', [CompletionResultType]::ParameterName, 'Print only the names of the members, one a line')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;diff' {
            [CompletionResult]::new('--atol', '--atol', [CompletionResultType]::ParameterName, 'The largest absolute error that passes; GLOB=A of the tensors whose names match')
            [CompletionResult]::new('--rtol', '--rtol', [CompletionResultType]::ParameterName, 'The largest error relative to EXPECTED that passes, with --atol their sum; or GLOB=R')
            [CompletionResult]::new('--ulp', '--ulp', [CompletionResultType]::ParameterName, 'How many representable values apart still passes (0: +0 equals -0); or GLOB=N')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'How many items of a tensor may fail: a number, or a share in per cent such as 0.1%')
            [CompletionResult]::new('--min-cosine', '--min-cosine', [CompletionResultType]::ParameterName, 'The least cosine of the angle between the flattened tensors, from -1 to 1; or GLOB=X')
            [CompletionResult]::new('--min-snr', '--min-snr', [CompletionResultType]::ParameterName, 'The least signal to noise ratio, 10 log10(sum of EXPECTED^2 / sum of errors^2); or GLOB=DB')
            [CompletionResult]::new('--min-psnr', '--min-psnr', [CompletionResultType]::ParameterName, 'The least peak signal to noise ratio, 20 log10(range of EXPECTED / rmse); or GLOB=DB')
            [CompletionResult]::new('--max-rmse', '--max-rmse', [CompletionResultType]::ParameterName, 'The largest root mean square of the errors; or GLOB=X')
            [CompletionResult]::new('--max-mean-abs', '--max-mean-abs', [CompletionResultType]::ParameterName, 'The largest mean of |ACTUAL - EXPECTED|; or GLOB=X')
            [CompletionResult]::new('--worst', '--worst', [CompletionResultType]::ParameterName, 'Show the N mismatches with the largest |ACTUAL - EXPECTED|, NaN and infinite ones before all, instead of the first')
            [CompletionResult]::new('--max-mismatch', '--max-mismatch', [CompletionResultType]::ParameterName, 'How many mismatches to show, the first ones')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'What the worst of several tensors is, of which the report has a line each [default: snr]')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'How many lines the report on several tensors has at most [default: 40 on a terminal, else all]')
            [CompletionResult]::new('--heatmap', '--heatmap', [CompletionResultType]::ParameterName, 'Draw |ACTUAL - EXPECTED| to a PNG file, as show --image does: over the last two axes, of the others the largest')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Of whole containers take only tensors whose names match')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Of whole containers leave out tensors whose names match, also of those that --only takes')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--rename', '--rename', [CompletionResultType]::ParameterName, 'Give EXPECTED''s tensors the names that they have in ACTUAL, such as ''model.*=*''')
            [CompletionResult]::new('--nan-differs', '--nan-differs', [CompletionResultType]::ParameterName, 'NaNs of different bits differ')
            [CompletionResult]::new('--ignore-dtype', '--ignore-dtype', [CompletionResultType]::ParameterName, 'Compare values, whatever the dtypes')
            [CompletionResult]::new('--map', '--map', [CompletionResultType]::ParameterName, 'Draw in text where mismatches are dense, over the last two axes (of one tensor, below the report)')
            [CompletionResult]::new('--accept', '--accept', [CompletionResultType]::ParameterName, 'Where ACTUAL does not pass, make it what is expected: EXPECTED is written anew')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print the verdict in one line, with the largest error, rmse, cosine and what failed (with --json still the object)')
            [CompletionResult]::new('--summary', '--summary', [CompletionResultType]::ParameterName, 'Print the verdict in one line, with the largest error, rmse, cosine and what failed (with --json still the object)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print the verdict in one line, with the largest error, rmse, cosine and what failed (with --json still the object)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Name the files of folders that were left alone, which the report only counts')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Name the files of folders that were left alone, which the report only counts')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;check' {
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Take only tests whose id matches')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Leave out tests whose id matches, also of those that --only takes')
            [CompletionResult]::new('--class', '--class', [CompletionResultType]::ParameterName, 'Take only tests of these classes: must, choice, reject')
            [CompletionResult]::new('--atol', '--atol', [CompletionResultType]::ParameterName, 'The largest absolute error that passes')
            [CompletionResult]::new('--rtol', '--rtol', [CompletionResultType]::ParameterName, 'The largest error relative to what is expected that passes, with --atol their sum')
            [CompletionResult]::new('--ulp', '--ulp', [CompletionResultType]::ParameterName, 'How many representable values apart still passes')
            [CompletionResult]::new('--min-tests', '--min-tests', [CompletionResultType]::ParameterName, 'The fewest tests that must pass')
            [CompletionResult]::new('--actual', '--actual', [CompletionResultType]::ParameterName, 'Run nothing: judge what another runtime has written to DIR/ID/output.npy')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Write the outputs to DIR/ID/output.npy')
            [CompletionResult]::new('--export', '--export', [CompletionResultType]::ParameterName, 'Write the program''s own vectors as tests to DIR, for runtimes in any language')
            [CompletionResult]::new('--layout', '--layout', [CompletionResultType]::ParameterName, 'What the tests of --export look like')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'Print the ids of the tests, one a line, and run nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object with all tests')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print the counts alone')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print the counts alone')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;textconv' {
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;convert' {
            [CompletionResult]::new('--cast', '--cast', [CompletionResultType]::ParameterName, 'Convert the values to this dtype; GLOB=DTYPE those of the tensors whose names match')
            [CompletionResult]::new('--order', '--order', [CompletionResultType]::ParameterName, 'The order of the items in a .npy or .npz')
            [CompletionResult]::new('--max-shard-size', '--max-shard-size', [CompletionResultType]::ParameterName, 'With -o NAME.safetensors.index.json: the most bytes of items in a shard, such as 500MB [default: 5GB]')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Of whole containers take only tensors whose names match')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Of whole containers leave out tensors whose names match, also of those that --only takes')
            [CompletionResult]::new('--rename', '--rename', [CompletionResultType]::ParameterName, 'Give tensors of whole containers other names, such as ''model.*=*''')
            [CompletionResult]::new('--dtype', '--dtype', [CompletionResultType]::ParameterName, 'The dtype of operands that do not say theirs: JSON, CSV, void items')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The format of standard input, else of every operand that is not inline [default: by content, or .csv, .tsv]')
            [CompletionResult]::new('--skip-rows', '--skip-rows', [CompletionResultType]::ParameterName, 'Lines at the beginning of CSV and TSV to leave out, such as headings')
            [CompletionResult]::new('--missing', '--missing', [CompletionResultType]::ParameterName, 'Read empty cells, NA, N/A, null and nan of CSV and TSV as this value, such as nan or 0')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write [default: text on standard output]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The format of the output [default: by the name of FILE, else text]')
            [CompletionResult]::new('--byte-order', '--byte-order', [CompletionResultType]::ParameterName, 'The byte order of a .npy, .npz or .bin [default: that of DATA]')
            [CompletionResult]::new('--metadata', '--metadata', [CompletionResultType]::ParameterName, 'Set metadata of a .safetensors file; it keeps that of the .safetensors files it is made from')
            [CompletionResult]::new('--chunks', '--chunks', [CompletionResultType]::ParameterName, 'The places of each axis in a chunk of a .zarr, such as 64,-1 (-1: all) [default: as DATA if it is Zarr, else whole rows of about 16 MiB]')
            [CompletionResult]::new('--shards', '--shards', [CompletionResultType]::ParameterName, 'The places of each axis in a shard, a file of several chunks [default: as DATA, else no shards]')
            [CompletionResult]::new('--codec', '--codec', [CompletionResultType]::ParameterName, 'What packs chunks: none, gzip[:L], zstd[:L], blosc[:lz4|snappy|zlib|zstd[:L]], L a level [default: as DATA, else zstd]')
            [CompletionResult]::new('--dims', '--dims', [CompletionResultType]::ParameterName, 'The names of the axes, such as time,lat,lon [default: those of DATA]')
            [CompletionResult]::new('--threshold', '--threshold', [CompletionResultType]::ParameterName, 'Print ... for the middle of arrays of more than N items [default: 1000 on a terminal, else never]')
            [CompletionResult]::new('--edgeitems', '--edgeitems', [CompletionResultType]::ParameterName, 'Items at each end of an axis that stay when it is elided')
            [CompletionResult]::new('--linewidth', '--linewidth', [CompletionResultType]::ParameterName, 'Characters in a line')
            [CompletionResult]::new('--precision', '--precision', [CompletionResultType]::ParameterName, 'At most N digits after the point [default: as many as tell the value]')
            [CompletionResult]::new('--part', '--part', [CompletionResultType]::ParameterName, 'Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder')
            [CompletionResult]::new('--finish', '--finish', [CompletionResultType]::ParameterName, 'With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)')
            [CompletionResult]::new('--threads', '--threads', [CompletionResultType]::ParameterName, 'Threads at most [default: $TENSOROP_THREADS, else all cores up to 8]')
            [CompletionResult]::new('--lossy', '--lossy', [CompletionResultType]::ParameterName, 'With --cast: truncate fractions and take the nearest integer the dtype has (0 for NaN); drop imaginary parts')
            [CompletionResult]::new('--add', '--add', [CompletionResultType]::ParameterName, 'With NAME=IN beside a whole container: add a tensor of a name that the container does not have')
            [CompletionResult]::new('--no-clobber', '--no-clobber', [CompletionResultType]::ParameterName, 'Refuse to replace a file')
            [CompletionResult]::new('--no-metadata', '--no-metadata', [CompletionResultType]::ParameterName, 'Drop the metadata of the .safetensors files that the output is made from')
            [CompletionResult]::new('--packed', '--packed', [CompletionResultType]::ParameterName, 'Let items of 4 or 2 bits share the bytes of a .bin, the first in the low bits, as views read them (int4x2, ...)')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'Deflate the members of a .npz')
            [CompletionResult]::new('--group', '--group', [CompletionResultType]::ParameterName, 'Make a group of a single tensor, with the tensor in it under its name')
            [CompletionResult]::new('--store-empty', '--store-empty', [CompletionResultType]::ParameterName, 'Store chunks that hold only the fill value, too [default: those that DATA''s own store has]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Make every check, print what would be done, write nothing')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'With --part: forget what is under way, and begin anew; for one process before the others')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Show no progress (else shown on a terminal if it takes more than a second)')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;man' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'tensorop;help' {
            [CompletionResult]::new('slice', 'slice', [CompletionResultType]::ParameterValue, 'Take a slice of a tensor (OpenVINO Slice-8)')
            [CompletionResult]::new('slice-scatter', 'slice-scatter', [CompletionResultType]::ParameterValue, 'Put updates into a slice of a tensor (OpenVINO SliceScatter-15)')
            [CompletionResult]::new('scatter-update', 'scatter-update', [CompletionResultType]::ParameterValue, 'Put updates at indices of one axis (OpenVINO ScatterUpdate-3)')
            [CompletionResult]::new('scatter-nd', 'scatter-nd', [CompletionResultType]::ParameterValue, 'Put or reduce updates at index tuples (ONNX ScatterND 11, 13, 16, 18, OpenVINO ScatterNDUpdate-15)')
            [CompletionResult]::new('scatter-elements', 'scatter-elements', [CompletionResultType]::ParameterValue, 'Put or reduce updates at indices along an axis (ONNX ScatterElements 11 to 18, OpenVINO ScatterElementsUpdate-12)')
            [CompletionResult]::new('gather', 'gather', [CompletionResultType]::ParameterValue, 'Take the places of one axis at indices (OpenVINO Gather-1, -7, -8, ONNX Gather 1, 11, 13)')
            [CompletionResult]::new('gather-nd', 'gather-nd', [CompletionResultType]::ParameterValue, 'Take the blocks at index tuples (ONNX GatherND 11, 12, 13, OpenVINO GatherND-8)')
            [CompletionResult]::new('gather-elements', 'gather-elements', [CompletionResultType]::ParameterValue, 'Take items at indices along an axis (ONNX GatherElements 11, 13, OpenVINO GatherElements-6)')
            [CompletionResult]::new('concat', 'concat', [CompletionResultType]::ParameterValue, 'Put tensors one after the other along an axis (ONNX Concat 4, 11, 13, OpenVINO Concat-1)')
            [CompletionResult]::new('transpose', 'transpose', [CompletionResultType]::ParameterValue, 'Put the axes of a tensor into another order (ONNX Transpose 1 to 25, OpenVINO Transpose-1)')
            [CompletionResult]::new('reshape', 'reshape', [CompletionResultType]::ParameterValue, 'Give a tensor other dims (ONNX Reshape 5 to 25, Squeeze, Unsqueeze, Flatten; OpenVINO Reshape-1, Squeeze-0, Unsqueeze-0)')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Look at tensors: dtype and shape, then the items, or a picture of them')
            [CompletionResult]::new('info', 'info', [CompletionResultType]::ParameterValue, 'Say what files hold: members, dtype, shape, size; with --json also format, order and where the data begins')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare tensors, or whole models: status 0 if they are the same, 1 if they differ')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Run tests of operators: tensorop''s own, ONNX''s, or those that another runtime has run')
            [CompletionResult]::new('textconv', 'textconv', [CompletionResultType]::ParameterValue, 'Print what git diff should compare: for each tensor dtype, shape, hash, statistics and some items')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Write tensors in another format, dtype or order')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Write the man pages')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'tensorop;help;slice' {
            break
        }
        'tensorop;help;slice-scatter' {
            break
        }
        'tensorop;help;scatter-update' {
            break
        }
        'tensorop;help;scatter-nd' {
            break
        }
        'tensorop;help;scatter-elements' {
            break
        }
        'tensorop;help;gather' {
            break
        }
        'tensorop;help;gather-nd' {
            break
        }
        'tensorop;help;gather-elements' {
            break
        }
        'tensorop;help;concat' {
            break
        }
        'tensorop;help;transpose' {
            break
        }
        'tensorop;help;reshape' {
            break
        }
        'tensorop;help;show' {
            break
        }
        'tensorop;help;info' {
            break
        }
        'tensorop;help;diff' {
            break
        }
        'tensorop;help;check' {
            break
        }
        'tensorop;help;textconv' {
            break
        }
        'tensorop;help;convert' {
            break
        }
        'tensorop;help;completions' {
            break
        }
        'tensorop;help;man' {
            break
        }
        'tensorop;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
