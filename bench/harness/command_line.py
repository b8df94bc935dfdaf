# SPDX-License-Identifier: Apache-2.0
"""The values on a command line, checked before anything starts: a wrong one is named in one line, and the status is 2."""
import argparse
import re
import shutil

NUMBER = r"[0-9]+(?:\.[0-9]+)?"
HALF = "{0}(?:/{0})?"  # out/back


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"bench/{self.prog}: {message}\n")


def several(text, separator, each):
    return [each(word.strip()) for word in text.split(separator)]


def of_form(text, form, meant):
    if not re.fullmatch(HALF.format(f"(?:{form})"), text):
        raise argparse.ArgumentTypeError(f"'{text}' is not {meant}")
    return text


def rate(text):
    of_form(text, f"{NUMBER}[kMG]?", "a rate: 100M, or 1G/5M out and back")
    if any(float(each.rstrip("kMG")) == 0 for each in text.split("/")):
        raise argparse.ArgumentTypeError(f"'{text}' is no rate: nothing would come")
    return text


def delay(text):
    return of_form(text, f"{NUMBER}(?:us|ms|s)", "a time: 26ms")


def loss(text):
    return of_form(text, f"{NUMBER}%|0", "a share: 1%, or 1%/0 out and back")


def count(text):
    if not re.fullmatch("[0-9]+", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 on")
    return int(text)


def seconds(text):
    if not re.fullmatch(NUMBER, text) or float(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return float(text)


def one_of(known):
    def check(text):
        if text not in known:
            raise argparse.ArgumentTypeError(f"no such tool: {text}; there are {', '.join(known)}")
        return text

    return check


def require_program(parser, path):
    if shutil.which(str(path)) is None:
        parser.error(f"{path} is missing: build it, or name the build by UDTCAT_BENCH_BUILD")
