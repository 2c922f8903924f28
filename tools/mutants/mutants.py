"""mutants.py SEED FILE...: the mutants of a solution's files, one a line, in an order that the seed draws:

    file TAB first line TAB number of lines TAB these lines TAB what takes their place

Only what a student writes is changed: the lines between SOLUTION markers, and the repaired side of
`#ifdef BROKEN`. universalmutator applies cuda.rules; two neighbouring statements that depend on each other are
exchanged here.
"""
import contextlib
import hashlib
import io
import os
import re
import sys

from universalmutator import mutator

RULES = os.path.join(os.path.dirname(__file__), "cuda.rules")
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PYTHON_COMMENT = re.compile(r"#[^\n]*")
# One that may be exchanged with its neighbour; of a declaration nobody sees it.
STATEMENT = re.compile(r"(?!(return|break|continue|case|default|for|else)\b|\w+ [\w*])[\w*(].*;$")

ASSIGNMENT = re.compile(r"(if \(.*\) )?(\*?(?:\w+(?:->|\.))*(\w+)(?:\[.*?\])*) (?:[-+*/%&|^]|<<|>>)?= (.*;)$")
ADDRESS = re.compile(r"[(,] ?&\w")


def lines_to_write(text):
    """The numbers, from 1 on, of the lines that a student writes."""
    found, inside, broken = set(), False, False
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"#ifn?def BROKEN", line):
            broken, inside = True, line.startswith("#ifndef")
        elif broken and line.startswith(("#else", "#endif")):
            broken, inside = line.startswith("#else"), line.startswith("#else")
        elif re.search(r"(/\*|#) (END )?SOLUTION\b", line):
            inside = "END SOLUTION" not in line
        elif inside:
            found.add(number)
    return found


def without_comments(text, comment):
    return comment.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text).split("\n")


def changed_by_rules(lines):
    # To universalmutator "{-" begins a comment.
    text = [line.rstrip().replace("{-", "{ -") + "\n" for line in lines]
    with contextlib.redirect_stdout(io.StringIO()):
        mutants = mutator.mutants_regexp(text, [RULES], ignorePatterns=[], ignoreStringOnly=True)
    for mutant in mutants:
        yield mutant[0], 1, mutant[1]


def depend(one, two):
    """Whether their order may matter: that of assignments does where one reads what the other writes."""
    first, second = ASSIGNMENT.match(one), ASSIGNMENT.match(two)
    if not first or not second or first[2] == second[2] or ADDRESS.search(one + two):
        return True
    return reads(first, second[3]) or reads(second, first[3])


def reads(assignment, name):
    condition, place, own_name, value = assignment.groups()
    return re.search(rf"\b{name}\b", f"{condition or ''} {place.replace(own_name, '', 1)} {value}") is not None


def exchanged(lines):
    for number, (one, two) in enumerate(zip(lines, lines[1:]), 1):
        indent = len(one) - len(one.lstrip())
        same_level = indent == len(two) - len(two.lstrip())
        one, two = one.strip(), two.strip()
        if one != two and same_level and STATEMENT.match(one) and STATEMENT.match(two) and depend(one, two):
            yield number, 2, two + " " + one


def mutants(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    wanted = lines_to_write(text)
    is_python = path.endswith(".py")
    lines = without_comments(text, PYTHON_COMMENT if is_python else C_COMMENT)
    found = list(changed_by_rules(lines)) + ([] if is_python else list(exchanged(lines)))
    for number, count, new in found:
        if set(range(number, number + count)) <= wanted:
            old = " ".join(line.strip() for line in lines[number - 1:number - 1 + count])
            yield path, str(number), str(count), old, new.strip()


def main():
    seed, files = sys.argv[1], sys.argv[2:]
    seen, rows = {}, []
    for path in files:
        for row in mutants(path):
            text = "\t".join((row[0], row[3], row[4]))
            seen[text] = seen.get(text, 0) + 1
            key = hashlib.sha256(f"{seed} {seen[text]} {text}".encode()).digest()
            rows.append((key, "\t".join(row)))
    for _, row in sorted(rows):
        print(row)


main()
