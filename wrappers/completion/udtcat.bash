# SPDX-License-Identifier: Apache-2.0
# bash: what may stand next in a command line of udtcat or udr, as the program says.

# Asks `udtcat --complete`, with `before` ahead of the words of the command line.
_udtcat_ask() {
  local program=$1 before=("${@:2}") words=() at=() glued='' word offer i
  # bash takes '=' and ':' for words of their own: `at` is where each whole word begins.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((${#words[@]} > 0)) && [[ $glued || $word == [=:]* ]]; then
      words[-1]+=$word
    else
      words+=("$word")
      at+=("$i")
    fi
    [[ $word == *[=:] ]] && glued=1 || glued=''
  done
  # Names in quotes and with ~ are known to the shell only; readline replaces what follows the last '=' or ':'.
  local current=${words[-1]}
  local part=${current##*[=:]}
  while IFS= read -r offer; do
    case $offer in
      :file)
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$part")
        ;;
      :directory)
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$part")
        ;;
      :host)
        if declare -F _known_hosts_real >/dev/null; then
          local earlier=("${COMPREPLY[@]}")
          _known_hosts_real -- "$part"
          COMPREPLY=("${earlier[@]}" "${COMPREPLY[@]}")
        else
          mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -A hostname -- "$part")
        fi
        ;;
      :command) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$part") ;;
      :inner*)
        local from=${at[${offer#:inner } - ${#before[@]}]}
        if declare -F _command_offset >/dev/null; then
          _command_offset "$from"
        elif ((from == COMP_CWORD)); then
          mapfile -t COMPREPLY < <(compgen -c -- "$part")
        fi
        ;;
      *) COMPREPLY+=("$offer") ;;
    esac
  done < <("$program" --complete "${before[@]}" "${words[@]}" 2>/dev/null)
}

_udtcat() { _udtcat_ask "$1"; }
_udr() { _udtcat_ask "${UDTCAT:-udtcat}" udr; }
complete -F _udtcat udtcat
complete -F _udr udr
