#!/usr/bin/env python3
"""Makes a site's first page: the playground, and below it runs, each a picture that opens a page to look into it.

    web/site/gallery.py FOLDER LOGGP [--playground PAGE] [--api]
"""

import argparse, html, pathlib, shlex, string, subprocess

# A run's name, the arguments of `loggp timeline`, the part of which there is a picture, and what is to be seen there.
RUNS = [
    (
        "remap-naive", "remap short-naive --machine cm5 -P 16 --size 64", "",
        "Each of 16 processors has a block for each other one. All send to processor 0 first, then to 1, and so on. The "
        "network has room for two messages to a processor, so most senders stall: the orange.",
    ),
    (
        "remap-staggered", "remap short-staggered --machine cm5 -P 16 --size 64", "",
        "The same messages in another order: each processor begins with the one after itself. Nobody stalls.",
    ),
    (
        "fft", "fft short-staggered --machine cm5 -P 16 --size 256 --work charged", "",
        "An FFT by 16 processors: each computes, all exchange their points in one remap, and each computes on.",
    ),
    (
        "gauss", "gauss --machine myrinet -P 16 --size 1536 --work charged", "--from 100ms --until 106ms",
        "Gaussian elimination over Myrinet. A long message first asks its receiver, and its sender waits until the "
        "receiver has time: the pink and the black. The picture shows 6 ms of it.",
    ),
]
FIGURE = string.Template("""<figure>
<a href="timelines/$name.html"><img src="timelines/$name.svg" alt="Timeline of $title: $said" loading="lazy"></a>
<figcaption><h3><a href="timelines/$name.html">$title</a></h3>
<p>$text</p>
<p class="said">$said</p>
<pre tabindex="0"><code>loggp timeline $arguments</code></pre></figcaption>
</figure>
""")


def figure(timelines, loggp, name, arguments, part, text):
    """Makes a run's page and its picture; returns what the first page has of it."""
    command = [loggp, "timeline", *shlex.split(arguments)]
    made = subprocess.run([*command, "-o", timelines / f"{name}.html"], check=True, capture_output=True, text=True)
    subprocess.run([*command, *part.split(), "-o", timelines / f"{name}.svg"], check=True, capture_output=True)
    said = (made.stdout + made.stderr).splitlines()[0]
    title = (timelines / f"{name}.html").read_text().split("<title>")[1].split("</title>")[0]
    return FIGURE.substitute(name=name, title=title, text=text, said=html.escape(said), arguments=html.escape(arguments))


def first_page(page, gallery, has_api):
    """Returns a page with links to the rest of the site on top, and the gallery before its end."""
    here = pathlib.Path(__file__).parent
    text = page.read_text().replace("{colours}", (here.parents[1] / "crates/draw/src/page/parts/colours.css").read_text())
    api = ' <a href="api/loggp/index.html">Library</a>' if has_api else ""
    for mark, part in [
        ("</style>", (here / "first.css").read_text() + "</style>"),
        ("<body>", "<body>\n" + (here / "nav.html").read_text().replace("{api}", api)),
        ("<footer>", (here / "runs.html").read_text().replace("{gallery}", gallery) + "<footer>"),
    ]:
        assert text.count(mark) == 1, f"{page} has {mark} {text.count(mark)} times"
        text = text.replace(mark, part)
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("loggp")
    parser.add_argument("--playground", type=pathlib.Path, default=pathlib.Path(__file__).parent / "first.html")
    parser.add_argument("--api", action="store_true")
    given = parser.parse_args()
    timelines = given.folder / "timelines"
    timelines.mkdir(parents=True, exist_ok=True)
    gallery = "".join(figure(timelines, given.loggp, *run) for run in RUNS)
    (given.folder / "index.html").write_text(first_page(given.playground, gallery, given.api))


if __name__ == "__main__":
    main()
