#!/usr/bin/env python3
"""Makes the source of a book from the documents, for mdbook.

    web/site/book.py FOLDER [--api]

Its chapters have the order of docs/README.md. What else of the repository a chapter links to gets a page of its own
below `files/`, so that every link leads somewhere on a site that knows no host. With --api the documentation of the
crates lies beside the book.
"""

import pathlib, posixpath, re, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What a file of the repository is called in the book, where it is not called as it is.
NAMES = {
    "README.md": "about.md",
    "docs/README.md": "index.md",
    "web/playground": "../index.html",  # the page itself
}
LANGUAGES = {".rs": "rust", ".c": "c", ".py": "python", ".sh": "bash", ".toml": "toml", ".json": "json", ".js": "js"}
CRATES = "https://docs.rs/loggp/latest/"
LINK = re.compile(r"(\]\()([^()\s]+)(\))")


def name_in_book(path):
    if path in NAMES:
        return NAMES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir():
        return f"files/{path}/index.md"
    if path.endswith("README.md"):
        return f"files/{path.removesuffix('README.md')}index.md"
    return f"files/{path}" if path.endswith(".md") or is_binary(path) else f"files/{path}.md"


def is_binary(path):
    try:
        (ROOT / path).read_text()
    except UnicodeDecodeError:
        return True
    return False


class Book:
    def __init__(self, folder, has_api):
        self.source, self.has_api = pathlib.Path(folder), has_api
        self.known = set(subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True).split("\n"))
        self.pages, self.wanted = set(), []

    def make(self):
        for path in sorted(name for name in self.known if name.startswith("docs/") and not name.endswith(".md")):
            self.copy(path)
        parts = self.parts()
        listed = {path for _, chapters in parts for _, path in chapters} | {"docs/README.md"}
        if missing := sorted(name for name in self.known if re.fullmatch(r"docs/.*\.md", name) and name not in listed):
            sys.exit(f"docs/README.md does not list {', '.join(missing)}")
        for path in ["README.md", *sorted(listed)]:
            self.add(path, self.with_links(path, (ROOT / path).read_text()))
        files = self.add_files()
        lines = ["# Summary", "", "[loggp](about.md)", "[Documents](index.md)", ""]
        for title, chapters in parts:
            lines += [f"# {title}", "", *(f"- [{name}]({name_in_book(path)})" for name, path in chapters), ""]
        lines += ["# Source", "", "- [Files that the documents name](files/index.md)"]
        lines += [f"  - [{path}]({name_in_book(path)})" for path in files]
        (self.source / "files").mkdir(exist_ok=True)
        listing = "".join(f"- [{path}]({posixpath.relpath(name_in_book(path), 'files')})\n" for path in files)
        (self.source / "files/index.md").write_text(f"# Files that the documents name\n\n{listing}")
        (self.source / "SUMMARY.md").write_text("\n".join(lines) + "\n")

    def parts(self):
        """Returns the groups of chapters, each with its title, in the order of docs/README.md."""
        parts, title = [], ""
        for line in (ROOT / "docs/README.md").read_text().splitlines():
            if group := re.match(r"\*\*(\w+)\*\*", line):
                title = group[1]
                parts.append((title, []))
            if table := re.match(r"\| ([^|]*[^| ]) \| \|$", line):
                parts.append((f"{title} {table[1]}", []))
            for name, target in re.findall(r"\[([^\]]+)\]\(([^)#]+\.md)\)", line):
                parts[-1][1].append((name[0].upper() + name[1:], f"docs/{target}"))
        return [(title, chapters) for title, chapters in parts if chapters]

    def place(self, path):
        target = self.source / name_in_book(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        self.pages.add(path)
        return target

    def add(self, path, text):
        self.place(path).write_text(text)

    def copy(self, path):
        shutil.copyfile(ROOT / path, self.place(path))

    def add_files(self):
        """Adds what chapters have linked to, and what that links to; returns the paths."""
        files = []
        while self.wanted:
            path = self.wanted.pop(0)
            if path in self.pages:
                continue
            if not (ROOT / path).is_dir() and is_binary(path):
                self.copy(path)
                continue
            self.add(path, self.page_of(path))
            files.append(path)
        return sorted(files)

    def page_of(self, path):
        file = ROOT / path
        if file.is_dir():
            inside = sorted({name.removeprefix(path + "/").split("/")[0] for name in self.known if name.startswith(path + "/")})
            links = "".join(f"- [{name}]({self.link(path, f'{path}/{name}')})\n" for name in inside)
            readme = f"{path}/README.md"
            text = self.with_links(readme, file.joinpath("README.md").read_text(), path) if readme in self.known else f"# {path}"
            return f"{text}\n\n{links}"
        text = file.read_text()
        if path.endswith(".md"):
            return self.with_links(path, text)
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
        return f"# {path}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text}{fence}\n"

    def link(self, page, path, anchor=""):
        """Returns the link from one page's place in the book to another's, whose page is made too."""
        if path not in self.pages and not path.startswith("docs/") and path not in NAMES:
            self.wanted.append(path)
        return posixpath.relpath(name_in_book(path), posixpath.dirname(name_in_book(page))) + anchor

    def with_links(self, path, text, page=None):
        """Returns a text of the repository with links for its page in the book."""
        page = page or path

        def mended(found):
            target, hash, anchor = found[2].partition("#")
            if self.has_api and found[2].startswith(CRATES):
                link = posixpath.relpath("../api/" + found[2].removeprefix(CRATES), posixpath.dirname(name_in_book(page)))
            elif re.match(r"[a-z]+:", found[2]) or not target:
                return found[0]
            else:
                to = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
                if to not in self.known and not any(name.startswith(to + "/") for name in self.known):
                    sys.exit(f"{path} links to {found[2]}, which is not there")
                link = self.link(page, to, hash + anchor)
            return found[1] + link + found[3]

        pieces = re.split(r"(^ *(`{3,}).*?^ *\2`*$)", text, flags=re.M | re.S)  # every third piece is a block of code, and then its fence
        return "".join(LINK.sub(mended, piece) if i % 3 == 0 else piece if i % 3 == 1 else "" for i, piece in enumerate(pieces))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    Book(sys.argv[1], "--api" in sys.argv).make()
