#compdef udtcat udr
# SPDX-License-Identifier: Apache-2.0
# zsh: what may stand next in a command line of udtcat or udr, as the program says.

local program=${(Q)words[1]} offer ret=1
local -a before offers
if [[ ${program:t} == udr ]]; then
  program=${UDTCAT:-udtcat}
  before=(udr)
fi
local -a lines=("${(@f)$("$program" --complete $before "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
# The program gives the values of --NAME=VALUE without the name.
[[ $PREFIX == --*=* ]] && compset -P '*='
for offer in $lines; do
  case $offer in
    :file) _files && ret=0 ;;
    :directory) _files -/ && ret=0 ;;
    :host) _hosts && ret=0 ;;
    :command) _command_names -e && ret=0 ;;
    :inner*)
      local from=$((${offer#:inner } - $#before + 1))
      shift $from words
      ((CURRENT -= from))
      _normal && ret=0
      return ret
      ;;
    *) offers+=("$offer") ;;
  esac
done
(($#offers)) && compadd -a offers && ret=0
return ret
