#compdef fstune
# zsh completion of fstune; made by fstune --completion zsh
_fstune()
{
    local -a choices
    if ((CURRENT == 2)); then
        choices=(
{{names}}
        )
        _describe command choices
        compadd -- --help --version --manual --completion
        return
    fi
    if [[ $words[2] == --completion ]]; then
        compadd bash zsh fish
        return
    fi
    shift words
    ((CURRENT--))
    case $words[1] in
{{commands}}
    esac
}
# Loaded from fpath the file is the function's body; sourced it only registers it.
if [[ $funcstack[1] == _fstune ]]; then
    _fstune "$@"
else
    compdef _fstune fstune
fi
