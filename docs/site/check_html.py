#!/usr/bin/env python3
"""Checks a built site:  check_html.py FOLDER

Every link and source of every page leads to a file and a heading of the site; nothing is loaded from another host; pictures have a text.
"""
import html.parser
import pathlib
import posixpath
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.ids, self.links, self.loads, self.bare = set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids |= {values[k] for k in ("id", "name") if values.get(k)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for key in ("src", "srcset") if tag != "link" else ("href",):
            if values.get(key) and values.get("rel") not in ("canonical", "prev", "next"):
                self.loads.append(values[key])
        if tag == "img" and not values.get("alt"):
            self.bare.append(values.get("src", ""))


def problems(root):
    pages = {str(p.relative_to(root)): Page(p.read_text(encoding="utf-8")) for p in sorted(root.rglob("*.html"))}
    for name, page in pages.items():
        yield from (f"{name}: a picture without a text: {src}" for src in page.bare)
        yield from (f"{name}: loaded from another host: {src}" for src in page.loads if "//" in src)
        for link in page.links + page.loads:
            path, _, anchor = link.partition("#")
            if "//" in link or link.startswith(("mailto:", "javascript:", "data:")) or name == "404.html":
                continue
            path = urllib.parse.unquote(path.partition("?")[0])
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if target in (".", "") or (root / target).is_dir():
                target = posixpath.normpath(posixpath.join(target, "index.html"))
            if not (root / target).exists():
                yield f"{name}: there is no {link}"
            elif anchor and target in pages and urllib.parse.unquote(anchor) not in pages[target].ids:
                yield f"{name}: {target} has no #{anchor}"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "every link leads somewhere, nothing is loaded from elsewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
