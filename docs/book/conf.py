"""conf.py: how Sphinx makes a book of README.md and docs/. `make book` runs it, through tools/book.sh.
course.py does what Markdown alone cannot."""
import glob
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "../..")
sys.path.insert(0, here)

project = html_title = "From a C loop to a trained network"
extensions = ["myst_parser", "sphinx_copybutton", "breathe", "course"]

root_doc = "README"
include_patterns = ["README.md", "CONTRIBUTING.md", "docs/**.md", "emulator/README.md", "phase*/README.md", "phase*/*/README.md"]
# Other folders need not be looked through.
exclude_patterns = [name for name in os.listdir(root) if name not in (
    "README.md", "CONTRIBUTING.md", "docs", "emulator") and not name.startswith("phase")] + ["emulator/*/**"]

myst_heading_anchors = 3
myst_fence_as_directive = ["math"]
smartquotes_action = "D"  # dashes
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]  # "..." in a piece of code
breathe_projects = {"course": os.environ["COURSE_XML"]}
breathe_default_project = "course"
breathe_domain_by_extension = {"h": "c"}

html_theme = "furo"
html_static_path = ["course.css"]
html_css_files = ["course.css"]
html_extra_path = ["index.html"]
html_math_renderer = "mathml"
html_show_search_summary = False  # it would fetch pages, which a browser forbids for files
html_use_index = html_copy_source = html_show_copyright = html_show_sphinx = False


def texts(*patterns):
    return [open(file).read() for pattern in patterns for file in sorted(glob.glob(os.path.join(root, pattern)))]


# What every page depends on: all are written anew, or made anew, when it changes.
course_shown = texts("README.md", "phase?_*/README.md", "docs/glossary.md")
course_made_of = texts("phase?_*/*/*.h", "docs/book/course.py")
results = os.path.join(root, os.environ.get("RESULTS", "results/results.json"))


def text_of(path):
    return open(path, errors="replace").read() if os.path.isfile(path) else ""


course_results = text_of(results)
course_history = text_of(os.path.join(os.path.dirname(results), "history.jsonl"))
