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
    -k | --key-file | --peers | --pair | --allow | --config)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$current"))
      return
      ;;
    --protect) _udtcat_values 'private safe auth clear' "$current"; return ;;
    --cipher) _udtcat_values 'aes-256-gcm aes-128-gcm chacha20-poly1305' "$current"; return ;;
    --transport) _udtcat_values 'native libudt' "$current"; return ;;
    --congestion) _udtcat_values 'bbr udt fixed' "$current"; return ;;
    --memory | --total-memory) _udtcat_values '16MiB 64MiB 256MiB 1GiB 4GiB' "$current"; return ;;
    --stats) _udtcat_values 'json json:10s none' "$current"; return ;;
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
    --connect-timeout | --idle-timeout | --accept-timeout | --wait) _udtcat_values '3s 10s 40s 1m 10m' "$current"; return ;;
    -l | --listen | --to | --from | --exec) [[ $current == -* ]] || return ;;
  esac

  if [[ $current == -* ]]; then
    local all='--key-file --as --peer --peers --trust-first --protect --cipher --block --lanes --threads --flows --transport --congestion --memory --idle-timeout
      --verbose --quiet --stats --help'
    local short='-k -v -q -h' watched='--connect-timeout --progress --no-progress' listener='-l --listen -4 -6 --check'
    local forward='--to --from --wait --once --max-peers --max-sessions --max-streams --total-memory'
    local client='-p --parallelism -s --stripes --range --over --retries --clear-control'
    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
      'rsh '*) options="$all $watched --rate --why --port --udp-host --require-udp --push --remote-udtcat --ssh --daemon" ;;
      'rsh-daemon '*) options="$all $short $listener --rate --allow" ;;
      'bench '*)
        options="$all $short $watched -4 -6 --check --rate --seconds --json --port --udp-host --push --remote-udtcat --ssh"
        ;;
      'gridftp put') options="$all $short $watched $client --rate" ;;
      'gridftp get' | 'gridftp copy') options="$all $short $watched $client" ;;
      'gridftp serve')
        options="$all $short $watched $listener --rate --root --read-only --auth --anonymous-writable --third-party"
        ;;
      'gridftp gateway') options="$all $short $watched $listener $forward --rate" ;;
      'keygen '*) options='-h --help --pair' ;;
      'gridftp '*) options='-h --help' ;;
      'status '*) options='-h --help --json' ;;
      *)
        options="$all $short $watched $listener $forward --rate --exec --plain --send-only --recv-only --accept-timeout --why --config --version"
        ;;
    esac
    _udtcat_values "$options" "$current"
  elif ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W 'keygen status bench rsh rsh-daemon gridftp' -A hostname -- "$current"))
  elif ((COMP_CWORD == 2)) && [[ ${COMP_WORDS[1]} == gridftp ]]; then
    _udtcat_values 'get put copy serve gateway' "$current"
  elif [[ ${COMP_WORDS[1]} == gridftp ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}

complete -F _udtcat udtcat
