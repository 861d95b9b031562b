# Completion of tensorop for PowerShell: the program itself prints the candidates, without any it completes names of files.
Register-ArgumentCompleter -Native -CommandName tensorop -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.ToString() }
        })
    $at = @('completions', 'powershell')
    if ($wordToComplete -eq '') { $at += '--new-word' }
    & $words[0] @at '--' @words 2>$null | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
