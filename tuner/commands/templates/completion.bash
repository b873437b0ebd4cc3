# bash completion of fstune; made by fstune --completion bash
_fstune()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local words='' kind=-W options='' operands=''
    COMPREPLY=()
    # bash parts --option=value at the sign.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case ${COMP_WORDS[1]}/$previous in
{{values}}
    */--completion) words='bash zsh fish' ;;
    *)
        case ${COMP_WORDS[1]} in
{{commands}}
        esac
        if ((COMP_CWORD == 1)); then
            words='{{names}}--help --version --manual --completion'
        elif [[ $current != -* && $COMP_CWORD == 2 && $operands ]]; then
            words=$operands
        else
            words=$options
        fi
        ;;
    esac
    if [[ $kind == -W ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen $kind -- "$current")
    fi
}
complete -F _fstune fstune
