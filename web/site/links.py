#!/usr/bin/env python3
"""Checks the links of a site: every file, picture and anchor that a page names is there, and no page loads from another host.

    web/site/links.py FOLDER
"""

import collections, html.parser, pathlib, re, sys, urllib.parse

# The first page is the playground, whose script reads these short names.
PAPERS = pathlib.Path(__file__).parents[1] / "playground/page/lessons/papers.js"
FIGURES = {"start", *re.findall(r'^  "?([a-z0-9-]+)"?: \["', PAPERS.read_text(), re.M)}
LOADS = {("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("object", "data"), ("image", "href")}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.moved = set(), set(), set(), None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = {name: value for name, value in attributes if value is not None}
        self.ids.update(given[name] for name in ("id", "name") if name in given)
        if tag == "meta" and given.get("http-equiv") == "refresh":
            self.moved = re.split("url=", given["content"], flags=re.I)[1]
            self.links.add(self.moved)
        for name in ("href", "src", "data"):
            if (value := given.get(name)) is None or (name == "data" and tag != "object"):
                continue
            does_load = (tag, name) in LOADS or (tag == "link" and given.get("rel") not in ("canonical", "author", "license"))
            (self.loads if does_load else self.links).add(value)


def check(folder):
    pages, wrong, counts = {}, [], collections.Counter()

    def page(path):
        if path not in pages:
            pages[path] = Page(path.read_text(errors="replace"))
        return pages[path]

    def has(path, fragment):
        # A script reads the state in an address (`#L=6&o=2`), and the lines of a source (`lib.rs.html#18-20`).
        if "=" in fragment or (path.name.endswith(".rs.html") and re.fullmatch(r"\d+-\d+", fragment)):
            return True
        if path == folder / "index.html" and fragment in FIGURES:
            return True
        # rustdoc's pages of what is exported elsewhere lead there, with the anchor.
        moved = page(path).moved and (path.parent / page(path).moved).resolve()
        ids = page(moved).ids if moved and moved.is_file() else page(path).ids
        return bool({fragment, urllib.parse.unquote(fragment)} & ids)

    for path in sorted(folder.rglob("*.html")):
        here, name = page(path), path.relative_to(folder)
        # rustdoc's pages load lists of implementations that it may not have written.
        for link in sorted(here.links if name.parts[0] == "api" else here.links | here.loads):
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                counts["to other hosts"] += url.scheme in ("http", "https", "")
                if link in here.loads and url.scheme != "data":
                    wrong.append(f"{name} loads {link[:100]}")
                continue
            target = path
            if url.path:
                start = folder if url.path.startswith("/") else path.parent
                target = (start / urllib.parse.unquote(url.path).lstrip("/")).resolve()
                if url.path.startswith("/"):
                    wrong.append(f"{name} links to {link}, which is right at the root of a host only")
            if target.is_dir():
                target /= "index.html"
            counts["within"] += 1
            if not target.is_file() or not target.is_relative_to(folder):
                wrong.append(f"{name} links to {link}, which is not there")
            elif url.fragment and target.suffix == ".html" and not has(target, url.fragment):
                wrong.append(f"{name} links to {link}, and there is no such anchor")
    return len(pages), counts, wrong


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pages, counts, wrong = check(pathlib.Path(sys.argv[1]).resolve())
    if not counts["within"]:
        wrong.append("there is no link at all")
    for mistake in wrong:
        print(mistake, file=sys.stderr)
    print(f"{pages:,} pages, {counts['within']:,} links within, all there" if not wrong else f"{len(wrong):,} links are wrong")
    sys.exit(bool(wrong))
