# bash completion for udtcat: options, their values, hosts and files.

_udtcat_values() {
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_udtcat() {
  local current previous options
  current=${COMP_WORDS[COMP_CWORD]}
  previous=${COMP_WORDS[COMP_CWORD - 1]}
  # bash takes '=' for a word of its own.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi

  case $previous in
    -k | --key-file | --allow)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$current"))
      return
      ;;
    --protect) _udtcat_values 'private safe auth clear' "$current"; return ;;
    --cipher) _udtcat_values 'aes-256-gcm aes-128-gcm chacha20-poly1305' "$current"; return ;;
    --transport) _udtcat_values 'native libudt' "$current"; return ;;
    --congestion) _udtcat_values 'bbr udt cubic fixed' "$current"; return ;;
    --memory) _udtcat_values '16MiB 64MiB 256MiB 1GiB 4GiB' "$current"; return ;;
    --stats) _udtcat_values 'json none' "$current"; return ;;
    --block) _udtcat_values '4KiB 16KiB 64KiB 256KiB 1MiB' "$current"; return ;;
    --lanes) _udtcat_values '1 2 4 8 16 32 64' "$current"; return ;;
    --over) _udtcat_values 'tcp udt session' "$current"; return ;;
    --auth) _udtcat_values 'anonymous key' "$current"; return ;;
    -p | --parallelism | -s | --stripes) _udtcat_values '1 2 4 8 16' "$current"; return ;;
    --root)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -d -- "$current"))
      return
      ;;
    --flows) _udtcat_values '1 2 4 8 16' "$current"; return ;;
    --threads) _udtcat_values "$(seq 1 "$(nproc 2>/dev/null || echo 1)")" "$current"; return ;;
    --rate) _udtcat_values '10M 100M 1G 10G' "$current"; return ;;
    --connect-timeout | --idle-timeout | --accept-timeout) _udtcat_values '3s 10s 40s 1m 10m' "$current"; return ;;
    -l | --listen | --to | --from | --exec) [[ $current == -* ]] || return ;;
  esac

  if [[ $current == -* ]]; then
    options='-l --listen --to --from --exec -k --key-file --as --peer --protect --cipher --block --lanes --threads --flows --transport --congestion --memory --plain --send-only --recv-only
      --connect-timeout --idle-timeout --accept-timeout --rate -4 -6 -v --verbose -q --quiet --progress --no-progress --stats -h --help --version'
    local tuning='--protect --cipher --block --lanes --threads --flows --congestion --memory --rate --idle-timeout --stats -4 -6 -v --verbose -q --quiet -h --help'
    if [[ ${COMP_WORDS[1]} == rsh ]]; then
      options="--port --udp-host --connect-timeout --require-udp --push --remote-udtcat --ssh --daemon -k --key-file --as --peer $tuning"
    elif [[ ${COMP_WORDS[1]} == rsh-daemon ]]; then
      options="-l --listen -k --key-file --allow --as --peer $tuning"
    elif [[ ${COMP_WORDS[1]} == gridftp ]]; then
      options+=' -p --parallelism -s --stripes --range --over --retries --clear-control --root --read-only --auth --anonymous-writable
        --third-party'
    fi
    _udtcat_values "$options" "$current"
  elif ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W 'keygen rsh rsh-daemon gridftp' -A hostname -- "$current"))
  elif ((COMP_CWORD == 2)) && [[ ${COMP_WORDS[1]} == gridftp ]]; then
    _udtcat_values 'get put copy serve gateway' "$current"
  elif [[ ${COMP_WORDS[1]} == gridftp ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}

complete -F _udtcat udtcat
