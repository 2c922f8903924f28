"""course.py: what the book adds to the Markdown of the course, which stays as GitHub shows it.

    side bar   the phases, each with the exercises of its page's table, in their order
    hints      a fold each; the next one shows when it is opened
    contract   what an exercise's header declares, by Breathe
    glossary   a word is linked where a page has it first
    numbers    bars below each table that has a column "Required"
    results    the student's own, from course_results: on the page, in the bars, in the side bar
    formulas   ```math as MathML, which browsers draw without a script
"""
import html
import json
import os
import re
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.c_like import CudaLexer
from sphinx import addnodes
from sphinx.errors import ConfigError

GLOSSARY = "docs/glossary"
ABOUT = ["docs/working", GLOSSARY, "docs/messages", "docs/grading", "docs/reports", "docs/softgpu", "emulator/README",
         "docs/measured", "docs/resnet18", "docs/results/h200/resnet18", "docs/results/h200/README", "docs/results/softgpu/README"]
INSTRUCTORS = ["docs/handout", "docs/class", "docs/results/class", "docs/cheating", "docs/report", "CONTRIBUTING"]


def exercise_of(docname):
    """211 for phase2_cuda_basics/211_matmul_tiled/README, None for other pages."""
    found = re.match(r"phase\w+/(\w+?)_\w+/README", docname)
    return found and found[1]


# --- the side bar ---------------------------------------------------------------------------------


def groups(root):
    """[(caption, pages)] in the order of the course, then what is about it; only what is there."""
    listed = []
    for phase in sorted(root.glob("phase*/README.md")):
        text, name = phase.read_text(), phase.parent.name
        exercises = re.findall(r"^\| \[.*?\]\((\w+)/README\.md\)", text, re.M)
        listed.append((text.partition("\n")[0].removeprefix("# "), [f"{name}/README"] +
                       [f"{name}/{folder}/README" for folder in exercises]))
    pages = [file.relative_to(root).with_suffix("").as_posix() for file in sorted((root / "docs").rglob("*.md"))]
    others = [page for page in pages if not exercise_of(page) and page not in ABOUT + INSTRUCTORS]
    listed += [("About", ABOUT + others), ("For instructors", INSTRUCTORS)]
    there = [(caption, [page for page in pages if (root / f"{page}.md").exists()]) for caption, pages in listed]
    return [group for group in there if group[1]]


def side_bar(root):
    return "".join(f"\n\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```"
                   for caption, pages in groups(root))


# --- hints and contracts --------------------------------------------------------------------------


def fold_hints(text):
    return re.sub(r"### (Hint \d+)\s+<details><summary>.*?</summary>",
                  r'<details class="hint"><summary>\1</summary>', text)


KINDS = ["define", "enum", "function", "struct", "typedef"]
OPTIONS = {"struct": ":members:\n:undoc-members:\n"}


def join_names(file):
    """Of "@param a, b" Sphinx would take a for the type of b, but for the blank."""
    tree = ElementTree.parse(file)
    for names in tree.iter("parameternamelist"):
        names[0].text = ",".join(name.text for name in names)
        del names[1:]
    tree.write(file)


def declared(xml):
    """(line, kind, name, header) of all that Doxygen found."""
    for file in sorted(Path(xml).glob("*.xml")):
        join_names(file)
        for node in ElementTree.parse(file).iter():
            if node.tag in ("memberdef", "compounddef") and node.get("kind") in KINDS:
                where = node.find("location")
                name = node.findtext("name") or node.findtext("compoundname")
                yield int(where.get("line")), node.get("kind"), name, where.get("file")


def contracts(root, xml):
    """{exercise: Markdown} of what its header has: a remark below the first line, and declarations."""
    everything, of = sorted(declared(xml)), {}
    for header in sorted(root.glob("phase*/*/*.h")):
        remark = header.read_text().partition("/*\n")[2].partition("*/")[0].partition("\n *\n")[2]
        here = {}
        for _, kind, name, file in everything:
            if root / file == header and not name.endswith("_H"):  # its guard
                here.setdefault(name, kind)  # an enum before the typedef of the same name
        of[header.parent.name.partition("_")[0]] = re.sub(r"^ \* ?", "", remark, flags=re.M) + "".join(
            f"\n\n```{{doxygen{kind}}} {name}\n{OPTIONS.get(kind, '')}```" for name, kind in here.items())
    return of


def add_contract(text, contract):
    return re.sub(r"^## Contract\n.*?(?=^## )", lambda section: f"{section[0]}{contract}\n\n", text, 1, re.M | re.S)


def read(app, docname, source):
    if docname == "README":
        source[0] += side_bar(app.srcdir)
    if exercise := exercise_of(docname):
        source[0] = add_contract(fold_hints(source[0]), app.contracts.get(exercise, ""))


# --- the glossary ---------------------------------------------------------------------------------

# Not only words of the field.
EVERYDAY = {"case", "event", "request"}


def anchor(word):
    return "word-" + word.lower().replace(" ", "-")


def words(root):
    """{heading: {word in small letters: its meaning}}"""
    of = {}
    for line in (root / f"{GLOSSARY}.md").read_text().splitlines():
        if line.startswith("## "):
            meanings = of.setdefault(line[3:], {})
        elif row := re.match(r"\| \*\*(.*)\*\* \| (.*) \|", line):
            meanings.update((word.lower(), row[2]) for word in row[1].split(", "))
    return of


def name_words(doctree):
    for word in doctree.findall(nodes.strong):
        word["ids"] += [anchor(part) for part in word.astext().split(", ")]


def is_prose(text):
    above, node = [], text
    while node := node.parent:
        above.append(node)
    kinds = tuple(type(node) for node in above)
    return nodes.paragraph in kinds and not any(isinstance(node, (
        nodes.reference, nodes.title, nodes.literal, nodes.table, addnodes.desc)) for node in above)


def link_words(app, doctree, docname):
    on_cpu = docname.startswith("phase1_")  # where a block is another thing
    left = {word: meaning for heading, of in app.words.items() if not (on_cpu and heading == "The GPU")
            for word, meaning in of.items() if word not in EVERYDAY}
    longest_first = sorted(map(re.escape, left), key=len, reverse=True)
    word = re.compile(rf"\b({'|'.join(longest_first)})(?:e?s)?\b", re.I)
    glossary = app.builder.get_relative_uri(docname, GLOSSARY)
    for text in [text for text in doctree.findall(nodes.Text) if is_prose(text)]:
        parts, end = [], 0
        for found in word.finditer(text):
            if meaning := left.pop(found[1].lower(), None):
                link = nodes.reference("", found[0], refuri=f"{glossary}#{anchor(found[1])}",
                                       reftitle=re.sub("[*`]", "", meaning), classes=["word"])
                parts += [nodes.Text(text[end:found.start()]), link]
                end = found.end()
        if parts:
            text.parent.replace(text, parts + [nodes.Text(text[end:])])


# --- numbers, and the student's own ---------------------------------------------------------------


def bars(required, values):
    """An SVG: a bar from 0 on for each (kind, name, value), a line where the requirement stands."""
    scale = 230 / (max([required] + [value for _, _, value in values]) or 1)
    line, rows = required * scale, ""
    for i, (kind, name, value) in enumerate(values):
        end = value * scale
        after = line if end <= line < end + 40 else end  # the number does not stand on the line
        rows += (f'<text y="{22 * i + 15}">{html.escape(name)}</text>'
                 f'<rect x="150" y="{22 * i + 4}" width="{end:.1f}" height="14" class="{kind}"/>'
                 f'<text x="{after + 156:.1f}" y="{22 * i + 15}">{value:.3g}</text>')
    height = 22 * len(values)
    return (f'<svg viewBox="0 0 440 {height}" role="img">{rows}'
            f'<path class="required" d="M{line + 150:.1f} 0v{height}"/></svg>')


def own_numbers(own):
    """{metric: what the student's kernel reached}, of those that were measured."""
    measured = [(test, test.get("ratio", test.get("counted"))) for test in
                (own.get("speeds") or []) + (own.get("traffic") or [])]
    return {test["metric"]: value for test, value in measured if value is not None and
            test["verdict"].partition(":")[0] in ("passed", "failed")}


def picture(row, is_speed, own):
    """Of one row of a page's table: Required, Reference, and, of counters, usual mistakes."""
    metric, required, reference, *others = [cell.astext() for cell in row.findall(nodes.entry)]
    values = [("reference", "the reference", float(reference))]
    if is_speed:
        values.append(("mistake", "the yardstick", 1.0))
    else:
        values += [("mistake", name, float(value)) for value, name in re.findall(r"([\d.]+) \((.*?)\)", others[0])]
    if metric in own:
        values.insert(0, ("yours", "yours", own[metric]))
    caption = f"<figcaption>{html.escape(metric)}: <b>{html.escape(required)}</b></figcaption>"
    return f'<figure class="numbers">{caption}{bars(float(required.split()[-1]), values)}</figure>'


def draw_numbers(doctree, own):
    for table in list(doctree.findall(nodes.table)):
        head, *rows = table.findall(nodes.row)
        if "Required" not in [cell.astext() for cell in head.findall(nodes.entry)]:
            continue
        pictures = [picture(row, head.astext().startswith("Speed"), own) for row in rows]
        table.parent.insert(table.parent.index(table) + 1, nodes.raw("", "".join(pictures), format="html"))


STATUS = {"passed": "passed", "failed": "failed", "build_failed": "did not build", "not_run": "not run"}


def points(own):
    return f"{own['points']:g}/{own['max_points']:g}" if own["max_points"] else "–"


def own_verdict(own):
    """A box below the title."""
    right = sum(case["status"] == "passed" for case in own["cases"])
    lines = [f"<b>Yours: {STATUS[own['status']]}</b>, {right} of {len(own['cases'])} cases right, "
             f"{points(own)} points."]
    if wrong := next((case for case in own["cases"] if case["status"] == "failed"), None):
        lines.append(f"<code>{html.escape(wrong['name'])}</code>: {html.escape(wrong['message'] or wrong['finding'])}")
    return nodes.raw("", f'<div class="own {own["status"]}">{"<br>".join(lines)}</div>', format="html")


def with_cases(record):
    """An entry of the history, which keeps the number of the cases and what the first wrong one said."""
    right, wrong = record["cases_passed"], record["cases"] - record["cases_passed"]
    name, _, words = record["entry"]["reason"].partition(": ")
    failed = {"status": "failed", "name": name, "message": words, "finding": ""}
    return {**record["entry"], "cases": [{"status": "passed"}] * right + [failed] * wrong}


def last_verdicts(history, submission):
    """{exercise: its last entry in the history}; a line that a crash cut short is passed over."""
    last = {}
    for line in history.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record["submission"] == submission and "entry" in record:
            last[str(record["entry"]["id"])] = with_cases(record)
    return last


def own_results(text, history, root):
    """{exercise: its entry of results.json, or its last one in the history}, of what was started."""
    try:
        own = json.loads(text) if text else {"submission": ".", "exercises": []}
        entries = last_verdicts(history, os.path.realpath(root / own["submission"]))
        entries.update((str(entry["id"]), entry) for entry in own["exercises"])
        return {name: entry for name, entry in entries.items() if entry["status"] in STATUS}
    except (ValueError, KeyError, TypeError):
        raise ConfigError("RESULTS is no results.json of the grader")


def resolved(app, doctree, docname):
    for image in doctree.findall(nodes.image):
        if image["uri"].startswith("docs/results/"):  # gnuplot's, black on white
            image["classes"].append("on-white")
    if docname == GLOSSARY:
        name_words(doctree)
        return
    link_words(app, doctree, docname)
    if exercise := exercise_of(docname):
        own = app.own.get(exercise)
        draw_numbers(doctree, own_numbers(own or {}))
        if own:
            title = next(doctree.findall(nodes.title))
            title.parent.insert(1, own_verdict(own))


def mark_side_bar(app, pagename, templatename, context, doctree):
    def mark(link):
        own = app.own.get(link[1])
        return f'{link[0]}&nbsp;<span class="own-mark {own["status"]}">{points(own)}</span>' if own else link[0]
    context["furo_navigation_tree"] = re.sub(r">(\w+) · [^<]*(?=</a>)", mark, context.get("furo_navigation_tree", ""))


# --- formulas, and the whole ----------------------------------------------------------------------


def formula(self, node):
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed_formula(self, node):
    self.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def start(app):
    root = Path(app.srcdir)
    app.contracts = contracts(root, app.config.breathe_projects["course"])
    app.words = words(root)
    app.own = own_results(app.config.course_results, app.config.course_history, root)


def setup(app):
    app.add_config_value("course_results", "", "html")
    app.add_config_value("course_history", "", "html")
    app.add_config_value("course_shown", [], "html")
    app.add_config_value("course_made_of", [], "env")
    app.add_lexer("c", CudaLexer)
    app.add_html_math_renderer("mathml", (formula, None), (displayed_formula, None))
    app.connect("builder-inited", start)
    app.connect("source-read", read)
    app.connect("doctree-resolved", resolved)
    app.connect("html-page-context", mark_side_bar, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
