# fish completion of fstune; made by fstune --completion fish
function __fstune_first
    test (count (commandline -opc)) -eq 1
end
function __fstune_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end
function __fstune_operand
    set -l words (commandline -opc)
    test (count $words) -eq 2; and contains -- $words[2] $argv
end
complete -c fstune -f
complete -c fstune -n __fstune_first -l version
complete -c fstune -n __fstune_first -l manual
complete -c fstune -n __fstune_first -l completion -x -a 'bash zsh fish'
complete -c fstune -s h -l help -d 'print the options'
{{commands}}
{{options}}
