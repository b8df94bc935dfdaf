# SPDX-License-Identifier: Apache-2.0
# fish: what may stand next in a command line of udtcat or udr, as the program says.

function __udtcat_offers --description 'asks udtcat --complete, with $argv[2..] ahead of the words of the command line'
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l option (string match --regex -- '^--[^=]+=' "$current")
    set -l value (string replace -- "$option" '' "$current")
    for offer in ($argv[1] --complete $argv[2..] $words[2..] "$current" 2>/dev/null)
        switch $offer
            case :file
                printf '%s\n' "$option"(__fish_complete_path "$value")
            case :directory
                printf '%s\n' "$option"(__fish_complete_directories "$value" '')
            case :host
                printf '%s\n' "$option"(__fish_print_hostnames)
            case :command
                printf '%s\n' "$option"(complete --do-complete "$value")
            case ':inner *'
                # From 0 on, after the program; fish counts from 1 on, and with the program.
                set -l from (math (string replace ':inner ' '' $offer) - (count $argv[2..]) + 2)
                complete --do-complete (string join -- ' ' (string escape -- $words[$from..]) "$current")
            case '*'
                printf '%s\n' "$option$offer"
        end
    end
end

complete --command udtcat --no-files --arguments '(__udtcat_offers (commandline --tokenize --cut-at-cursor --current-process)[1])'
complete --command udr --no-files --arguments '(set --query UDTCAT; and __udtcat_offers $UDTCAT udr; or __udtcat_offers udtcat udr)'
